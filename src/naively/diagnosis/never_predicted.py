"""Classes that the model never answers, on rows of its sample that were left out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from naively.diagnosis.evidence import Evidence
from naively.diagnosis.finding import Finding, Severity, listed, percent

__all__ = ["never_predicted"]

_FEWEST = 10.0  # rows of the class in the sample
_COMMON = 0.5  # of an equal share: the model should answer such a class sometimes


def never_predicted(evidence: Evidence) -> Iterator[Finding]:
    """Find classes that are never the most probable one."""
    judged, n_classes = evidence.judged, len(evidence.classes)
    rows = np.bincount(judged.codes, judged.weight, n_classes)
    answers = np.bincount(judged.predicted, judged.weight, n_classes)
    never = np.flatnonzero((rows >= _FEWEST) & (answers == 0))
    if not never.size:
        return
    labels = tuple(evidence.classes[k] for k in never)
    share, own = float(rows[never].sum() / rows.sum()), np.isin(judged.codes, never)
    of_truth = np.exp(judged.log_p[own, judged.codes[own]])
    p = percent(float(judged.weight[own] @ of_truth / rows[never].sum()))
    if several := never.size > 1:
        what, they = f"Classes {listed(labels)} are", "Their mean probability there is"
    else:
        what, they = f"Class {labels[0]!r} is", "Its mean probability there is"
    seen = f"{what} never predicted, though {percent(share)} of the rows are of "
    seen += f"{'them' if several else 'it'}. {they} {p}."
    advice = "Give larger priors to what must be found, or add columns that tell it from the rest."
    common = rows[never].max() >= _COMMON * rows.sum() / n_classes
    severity: Severity = "high" if common else "medium"
    yield Finding("never predicted", severity, seen, advice, classes=labels, figure=share)
