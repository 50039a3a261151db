"""Families that do not fit the cells of their columns."""

from __future__ import annotations

from collections.abc import Iterator

from naively.estimators.gaussian_nb import GaussianNB
from naively.inspection.diagnosis.better_family import better_family
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, Severity, Skipped, percent
from naively.inspection.diagnosis.fits import Fit

_CHANCE = 0.001  # of all columns and classes together
_DISTANCES: tuple[tuple[float, Severity], ...] = ((0.2, "high"), (0.1, "medium"), (0.05, "low"))
_MOST = 20  # columns for which other families are tried
_SMOOTHED = {  # what to do where the family fits but for the smoothing of GaussianNB
    "global": "GaussianNB adds a share of the largest variance of all columns to each, which is "
    'too much for this one. Use GaussianNB(smoothing="column").',
    "column": "Smoothing makes it too wide. Use a smaller var_smoothing.",
}


def poor_fits(evidence: Evidence) -> Iterator[Finding | Skipped]:
    """Find columns whose cells are distributed otherwise than their family says."""
    fits = evidence.fits
    if not fits:
        yield Skipped("family", _why_none(evidence))
        return
    worst: dict[int, Fit] = {}
    for fit in fits:
        unlikely = fit.p_value * len(fits) < _CHANCE
        if unlikely and (fit.place not in worst or worst[fit.place].distance < fit.distance):
            worst[fit.place] = fit
    for rank, fit in enumerate(sorted(worst.values(), key=lambda fit: -fit.distance)):
        severity = next((severity for least, severity in _DISTANCES if fit.distance >= least), None)
        if severity is None:
            return
        p = min(1.0, fit.p_value * len(fits))
        seen = (
            f"{evidence.column(fit.place)} is not distributed as {fit.family!r} says, most of all "
            f"in class {fit.label!r}: the share of rows below some value is off by up to "
            f"{percent(fit.distance)} ({fit.n_rows:,.0f} rows, p = {p:.1g})."
        )
        advice = _advice(evidence, fit) if rank < _MOST else "Give it another family."
        at = (fit.column,), (fit.label,)
        yield Finding("family", severity, seen, advice, *at, figure=fit.distance, p_value=p)


def _advice(evidence: Evidence, fit: Fit) -> str:
    """Say which family fits better, and how to ask for it."""
    schema, moments = evidence.summary.schema, evidence.summary.moments
    family = better_family(fit, list(schema.numbers).index(fit.place), moments, evidence.sample)
    column = fit.place if schema.names is None else fit.column
    call = f"{type(family).__name__}()"
    if family.name == fit.family and isinstance(evidence.estimator, GaussianNB):
        return _SMOOTHED[evidence.estimator.smoothing]
    what = f"{call}, as it is by default," if family.name == fit.family else call
    return f"Use {what} for {column!r}: NaiveBayes(families={{{column!r}: {call}}})."


def _why_none(evidence: Evidence) -> str:
    if evidence.is_counted:
        return "counts are described all together, by a family without a distribution function."
    if not len(evidence.summary.schema.numbers):
        return "there is no column of numbers; categories and words may have any shares."
    return "no class has enough rows in the sample, or its families have no distribution function."
