"""Findings of classes and their probabilities: rare, never predicted, badly calibrated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from naively.data.types import Floats
from naively.evaluation.judgement import Judgement
from naively.evaluation.metrics import METRICS
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, Severity, listed, percent

_RARE_ROWS = 10.0  # rows of a class are few, or
_RARE_SHARE = 0.005  # of all rows, and
_NOT_MANY_ROWS = 50.0
_MIN_ROWS = 10.0  # of a class in the sample that is to be predicted
_COMMON_SHARE = 0.5  # of an equal share: the model should answer such a class sometimes,
_CHANCE_ERRORS = 4.0  # standard errors: if columns tell it, so that its rows make it more probable
_HIGH_ERROR, _MEDIUM_ERROR = 0.15, 0.06  # of calibration
_CHANCE = 1.0  # over the root of the number of rows: what chance may explain; twice, for high


def rare_classes(evidence: Evidence) -> Iterator[Finding]:
    """Find classes that were never seen, seen once, or hardly ever."""
    weight = evidence.summary.class_weight
    small = weight < _RARE_SHARE * weight.sum()
    few = (weight < _RARE_ROWS) | ((weight < _NOT_MANY_ROWS) & small)
    never = "no row was seen; the rows of all classes describe it"
    once = "one row was seen, so that the spread of its columns is a guess"
    yield from _rare(evidence, weight == 0, "medium", never)
    yield from _rare(evidence, (weight > 0) & (weight <= 1), "medium", once)
    rare = few & (weight > 1)
    low, high = weight[rare].min(initial=np.inf), weight[rare].max(initial=0.0)
    rows = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    hardly = f"only {rows} of {weight.sum():,.10g} rows were seen"
    yield from _rare(evidence, rare, "low", hardly)


def _rare(evidence: Evidence, mask: Any, severity: Severity, what: str) -> Iterator[Finding]:
    labels = tuple(evidence.classes[k] for k in np.flatnonzero(mask))
    if not labels:
        return
    several = len(labels) > 1
    of = f"each of the classes {listed(labels)}" if several else f"class {labels[0]!r}"
    it = "them" if several else "it"
    advice = f"Collect more rows of {it}, or join {it} with another class."
    least = float(evidence.summary.class_weight[mask].min())
    yield Finding("rare class", severity, f"Of {of}, {what}.", advice, classes=labels, figure=least)


def never_predicted(evidence: Evidence) -> Iterator[Finding]:
    """Find classes that are never the most probable one, on rows of the sample left out."""
    judged, n_classes = evidence.judged, len(evidence.classes)
    weight, p = _parts(judged)
    rows = np.bincount(judged.truth, weight, n_classes)
    answers = np.bincount(judged.predicted, weight, n_classes)
    never = np.flatnonzero((rows >= _MIN_ROWS) & (answers == 0))
    if not never.size:
        return
    labels = tuple(evidence.classes[k] for k in never)
    share, own = float(rows[never].sum() / rows.sum()), np.isin(judged.truth, never)
    mean_p = percent(float(weight[own] @ p[own, judged.truth[own]] / rows[never].sum()))
    if several := never.size > 1:
        what, they = f"Classes {listed(labels)} are", "Their mean probability there is"
    else:
        what, they = f"Class {labels[0]!r} is", "Its mean probability there is"
    seen = f"{what} never predicted, though {percent(share)} of the rows are of "
    seen += f"{'them' if several else 'it'}. {they} {mean_p}."
    advice = "Give larger priors to what must be found, or add columns that tell it from the rest."
    common = never[rows[never] >= _COMMON_SHARE * rows.sum() / n_classes]
    severity: Severity = "high" if any(_is_told(judged, int(k)) for k in common) else "medium"
    yield Finding("never predicted", severity, seen, advice, classes=labels, figure=share)


def _is_told(judged: Judgement, k: int) -> bool:
    """Whether rows of a class make it more probable than other rows do, beyond chance."""
    p, own = _parts(judged)[1][:, k], judged.truth == k
    sides = p[own], p[~own]
    error = sum(side.var() / side.size for side in sides) ** 0.5
    return bool(sides[0].mean() - sides[1].mean() > _CHANCE_ERRORS * error)


def _parts(judged: Judgement) -> tuple[Floats, Floats]:
    """Return the weights and the probabilities, which rows that were left out have."""
    assert judged.weight is not None
    assert judged.probabilities is not None
    return judged.weight, judged.probabilities


class CalibrationFigures(NamedTuple):
    """Log loss and expected calibration error on rows left out, without calibration and with."""

    loss_before: float
    loss_after: float
    error_before: float
    error_after: float
    n_rows: int


def figures_of(evidence: Evidence) -> CalibrationFigures:
    """Judge the model with and without calibration, on the same rows of its sample."""
    n = min(evidence.before.truth.size, evidence.after.truth.size)
    some = np.arange(n)
    before, after = evidence.before[some], evidence.after[some]
    loss, error = METRICS["loss"].of, METRICS["calibration_error"].of
    return CalibrationFigures(
        loss_before=loss(before).value,
        loss_after=loss(after).value,
        error_before=error(before).value,
        error_after=error(after).value,
        n_rows=n,
    )


def poor_calibration(evidence: Evidence) -> Iterator[Finding]:
    """Find probabilities that are too sure of themselves, or too little."""
    figures = figures_of(evidence)
    error, loss = figures.error_before, figures.loss_before
    if evidence.is_calibrated:
        error, loss = figures.error_after, figures.loss_after
    chance = _CHANCE / figures.n_rows**0.5
    if error < _MEDIUM_ERROR + chance:
        return
    what = (
        f"the calibration error is {error:.3f} and the log loss {loss:.3f} on {figures.n_rows:,} "
        "rows, each predicted from all others"
    )
    if evidence.is_calibrated:
        seen = f"Calibrated probabilities are not as often right as they say: {what}."
        advice = "Trust the order of the classes more than their probabilities."
    else:
        seen = (
            f"Probabilities are not as often right as they say: {what}. With calibration they "
            f"are {figures.error_after:.3f} and {figures.loss_after:.3f}."
        )
        advice = 'Use calibration="temperature", or "weights" where the estimator has it.'
    severity: Severity = "high" if error >= _HIGH_ERROR + 2 * chance else "medium"
    yield Finding("calibration", severity, seen, advice, figure=error)
