"""How good is it? The metrics of one classifier, several side by side, and the best of many."""

from naively.evaluation.compare import Comparison, PeerComparison, Timing, compare
from naively.evaluation.evaluate import evaluate
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.judgement import Judgement, Metric
from naively.evaluation.metrics import METRICS, Estimate
from naively.evaluation.tune import tune
from naively.evaluation.tuning import Tuning

__all__ = [
    "METRICS",
    "Comparison",
    "Estimate",
    "Evaluation",
    "Judgement",
    "Metric",
    "PeerComparison",
    "Timing",
    "Tuning",
    "compare",
    "evaluate",
    "tune",
]
