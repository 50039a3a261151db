"""Classes that the model never answers, on rows of its sample that were left out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from naively.diagnosis.evidence import Evidence
from naively.diagnosis.finding import Finding, Severity, percent

__all__ = ["never_predicted"]

_FEWEST = 10.0  # rows of the class in the sample
_COMMON = 0.5  # of an equal share: the model should answer such a class sometimes


def never_predicted(evidence: Evidence) -> Iterator[Finding]:
    """Find classes that are never the most probable one."""
    judged, n_classes = evidence.judged, len(evidence.classes)
    rows = np.bincount(judged.codes, judged.weight, n_classes)
    answers = np.bincount(judged.predicted, judged.weight, n_classes)
    for k in np.flatnonzero((rows >= _FEWEST) & (answers == 0)).tolist():
        share, own = float(rows[k] / rows.sum()), judged.codes == k
        p = float(judged.weight[own] @ np.exp(judged.log_p[own, k]) / rows[k])
        label = evidence.classes[k]
        seen = (
            f"Class {label!r} is never predicted, though {percent(share)} of the rows are of it. "
            f"Its mean probability there is {percent(p)}."
        )
        advice = (
            "Give it a larger prior if it must be found, or add columns that tell it from the "
            "others."
        )
        severity: Severity = "high" if share >= _COMMON / n_classes else "medium"
        yield Finding("never predicted", severity, seen, advice, classes=(label,), figure=share)
