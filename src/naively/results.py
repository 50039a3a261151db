"""What functions return: evaluations, comparisons, explanations, and the like.

>>> from naively import diagnose, GaussianNB
>>> from naively.results import Diagnosis
>>> isinstance(diagnose(GaussianNB().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1])), Diagnosis)
True
"""

from naively.display.report import Report
from naively.evaluation import Comparison, Evaluation, Tuning
from naively.inspection.diagnosis import Diagnosis
from naively.inspection.drifts import Drift
from naively.inspection.explanations import Explanation
from naively.inspection.importance import Importance

__all__ = [
    "Comparison",
    "Diagnosis",
    "Drift",
    "Evaluation",
    "Explanation",
    "Importance",
    "Report",
    "Tuning",
]
