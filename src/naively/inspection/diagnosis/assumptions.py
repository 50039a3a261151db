"""Findings of what naive Bayes assumes: that families fit, and that columns are independent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from naively.estimators.gaussian_nb import GaussianNB
from naively.inspection.diagnosis.distributions import Fit, better_family
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import (
    Finding,
    Severity,
    Skipped,
    listed,
    percent,
    severity_of,
)

_CHANCE = 0.001  # that a family fits, of all columns and classes together
_DISTANCES: tuple[tuple[float, Severity], ...] = ((0.2, "high"), (0.1, "medium"), (0.05, "low"))
_MAX_ADVISED = 20  # columns for which other families are tried
MIN_STRENGTH = 0.5  # of a pair of columns
_STRENGTHS: tuple[tuple[float, Severity], ...] = ((0.9, "high"), (MIN_STRENGTH, "medium"))
_LESS_SEVERE: dict[Severity, Severity] = {"high": "medium", "medium": "low", "low": "low"}
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
        severity = severity_of(fit.distance, _DISTANCES)
        if severity is None:
            return
        p = min(1.0, fit.p_value * len(fits))
        seen = (
            f"{evidence.column(fit.place)} is not distributed as {fit.family!r} says, most of all "
            f"in class {fit.label!r}: the share of rows below some value is off by up to "
            f"{percent(fit.distance)} ({fit.n_rows:,.0f} rows, p = {p:.1g})."
        )
        advice = _family_advice(evidence, fit) if rank < _MAX_ADVISED else "Give it another family."
        at = (fit.column,), (fit.label,)
        yield Finding("family", severity, seen, advice, *at, figure=fit.distance, p_value=p)


def _family_advice(evidence: Evidence, fit: Fit) -> str:
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
    schema = evidence.summary.schema
    if schema.counted is not None:
        return "counts are described all together, by a family without a distribution function."
    if not len(schema.numbers):
        return "there is no column of numbers; categories and words may have any shares."
    return "no class has enough rows in the sample, or its families have no distribution function."


def dependent_columns(evidence: Evidence) -> Iterator[Finding | Skipped]:
    """Find groups of columns that depend on each other, given the class."""
    schema = evidence.summary.schema
    if schema.texts:
        yield Skipped("dependence", "of columns of text, words are not compared with each other.")
    dependence = evidence.dependence
    if dependence.left_out:
        yield Skipped(
            "dependence",
            f"of {schema.n_columns:,} columns, {dependence.left_out:,} were left out: those in "
            "which classes differ least, or that the fewest rows hold.",
        )
    groups = dependence.clusters(MIN_STRENGTH)
    pairs = [(dependence.strongest(group), group) for group in groups]
    for pair, group in sorted(pairs, key=lambda one: -one[0].strength):
        names = tuple(evidence.names[dependence.columns[i]] for i in group)
        how = f"a correlation of {pair.correlation:.2f}"
        if np.isnan(pair.correlation) or abs(pair.correlation) < pair.strength - 0.1:
            how = f"a mutual information of {pair.information:.2f} nats"
        a, b = evidence.names[pair.a], evidence.names[pair.b]
        most = f", most of all {a!r} and {b!r}" if len(group) > 2 else ""
        seen = (
            f"Columns {listed(names)} depend on each other within classes{most}: {how}. They say "
            f"as much as {dependence.effective(group):.1f} independent columns; naive Bayes counts "
            f"{len(group)}."
        )
        severity = severity_of(pair.strength, _STRENGTHS)
        assert severity is not None
        advice = (
            'Use NaiveBayes(), whose calibration="weights" and interactions allow for it; or leave '
            "all but one out."
        )
        if evidence.is_calibrated:
            severity = _LESS_SEVERE[severity]
            advice = "Calibration allows for it. Leave columns out if you want a simpler model."
        yield Finding(
            "dependence",
            severity,
            seen,
            advice,
            names,
            figure=pair.strength,
            p_value=pair.p_value,
        )
