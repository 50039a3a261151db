"""How good is it? The figures of one classifier, and two of them side by side."""

from naively.evaluation.compare import compare
from naively.evaluation.comparison import Comparison
from naively.evaluation.evaluate import evaluate
from naively.evaluation.evaluation import Evaluation

__all__ = ["Comparison", "Evaluation", "compare", "evaluate"]
