"""Whether probabilities are as often right as they say, with calibration and without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, Severity

_HIGH, _MEDIUM = 0.15, 0.06  # calibration error
_CHANCE = 1.0  # over the root of the number of rows: what chance may explain; twice, for high


class CalibrationFigures(NamedTuple):
    """Log loss and expected calibration error on rows left out, without calibration and with."""

    loss_before: float
    loss_after: float
    error_before: float
    error_after: float
    n_rows: int


def figures_of(evidence: Evidence) -> CalibrationFigures:
    """Judge the model with and without calibration, on the same rows of its sample."""
    n = min(evidence.before.codes.size, evidence.after.codes.size)
    before, after = evidence.before.first(n), evidence.after.first(n)
    errors = before.calibration_error, after.calibration_error
    return CalibrationFigures(before.log_loss, after.log_loss, *errors, n)


def poor_calibration(evidence: Evidence) -> Iterator[Finding]:
    """Find probabilities that are too sure of themselves, or too little."""
    found = figures_of(evidence)
    error, loss = found.error_before, found.loss_before
    if evidence.is_calibrated:
        error, loss = found.error_after, found.loss_after
    chance = _CHANCE / found.n_rows**0.5
    if error < _MEDIUM + chance:
        return
    figures = (
        f"the calibration error is {error:.3f} and the log loss {loss:.3f} on {found.n_rows:,} "
        "rows, each predicted from all others"
    )
    if evidence.is_calibrated:
        seen = f"Calibrated probabilities are not as often right as they say: {figures}."
        advice = "Trust the order of the classes more than their probabilities."
    else:
        seen = (
            f"Probabilities are not as often right as they say: {figures}. With calibration they "
            f"are {found.error_after:.3f} and {found.loss_after:.3f}."
        )
        advice = 'Use calibration="temperature", or "weights" where the estimator has it.'
    severity: Severity = "high" if error >= _HIGH + 2 * chance else "medium"
    yield Finding("calibration", severity, seen, advice, figure=error)
