"""Classes that the model never answers, on rows of its sample that were left out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, Severity, listed, percent
from naively.inspection.diagnosis.left_out import LeftOutRows

_FEWEST = 10.0  # rows of the class in the sample
_COMMON = 0.5  # of an equal share: the model should answer such a class sometimes,
_CHANCE = 4.0  # standard errors: if columns tell it, so that its rows make it more probable


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
    common = never[rows[never] >= _COMMON * rows.sum() / n_classes]
    severity: Severity = "high" if any(_is_told(judged, int(k)) for k in common) else "medium"
    yield Finding("never predicted", severity, seen, advice, classes=labels, figure=share)


def _is_told(judged: LeftOutRows, k: int) -> bool:
    """Whether rows of a class make it more probable than other rows do, beyond chance."""
    p, own = np.exp(judged.log_p[:, k]), judged.codes == k
    sides = p[own], p[~own]
    error = sum(side.var() / side.size for side in sides) ** 0.5
    return bool(sides[0].mean() - sides[1].mean() > _CHANCE * error)
