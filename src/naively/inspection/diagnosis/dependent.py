"""Columns that depend on each other within classes: what they say is counted several times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from naively.inspection.diagnosis.dependence import Dependence, DependentPair
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, Severity, Skipped, listed

LEAST = 0.5  # strength of a pair
_STRENGTHS: tuple[tuple[float, Severity], ...] = ((0.9, "high"), (LEAST, "medium"))
_LESS: dict[Severity, Severity] = {"high": "medium", "medium": "low", "low": "low"}


def dependent_columns(evidence: Evidence) -> Iterator[Finding | Skipped]:
    """Find groups of columns that depend on each other, given the class."""
    schema = evidence.summary.schema
    if schema.texts:
        yield Skipped("dependence", "of columns of text, words are not compared with each other.")
    found = evidence.dependence
    if found.left_out:
        yield Skipped(
            "dependence",
            f"of {schema.n_columns:,} columns, {found.left_out:,} were left out: those in which "
            "classes differ least, or that the fewest rows hold.",
        )
    pairs = [(found.strongest(group), group) for group in found.clusters(LEAST)]
    for pair, group in sorted(pairs, key=lambda one: -one[0].strength):
        yield _finding(evidence, found, group, pair)


def _finding(
    evidence: Evidence, found: Dependence, group: list[int], pair: DependentPair
) -> Finding:
    names = tuple(evidence.names[found.columns[i]] for i in group)
    how = f"a correlation of {pair.correlation:.2f}"
    if np.isnan(pair.correlation) or abs(pair.correlation) < pair.strength - 0.1:
        how = f"a mutual information of {pair.information:.2f} nats"
    a, b = evidence.names[pair.a], evidence.names[pair.b]
    most = f", most of all {a!r} and {b!r}" if len(group) > 2 else ""
    seen = (
        f"Columns {listed(names)} depend on each other within classes{most}: {how}. They say as "
        f"much as {found.effective(group):.1f} independent columns; naive Bayes counts "
        f"{len(group)}."
    )
    severity = next(severity for least, severity in _STRENGTHS if pair.strength >= least)
    if evidence.is_calibrated:
        severity = _LESS[severity]
        advice = "Calibration allows for it. Leave columns out if you want a simpler model."
    else:
        advice = (
            'Use NaiveBayes(), whose calibration="weights" and interactions allow for it; or leave '
            "all but one out."
        )
    return Finding(
        "dependence", severity, seen, advice, names, figure=pair.strength, p_value=pair.p_value
    )
