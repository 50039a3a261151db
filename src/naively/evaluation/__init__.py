"""How good is it? The metrics of one classifier, and several of them side by side."""

from naively.evaluation.compare import compare
from naively.evaluation.comparison import Comparison, Timing
from naively.evaluation.estimates import METRICS, Estimate
from naively.evaluation.evaluate import evaluate
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.peer_comparison import PeerComparison

__all__ = [
    "METRICS",
    "Comparison",
    "Estimate",
    "Evaluation",
    "PeerComparison",
    "Timing",
    "compare",
    "evaluate",
]
