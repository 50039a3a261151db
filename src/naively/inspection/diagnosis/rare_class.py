"""Classes of few rows: little is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, Severity, listed

_FEW = 10.0  # rows, or
_FEW_SHARE = 0.005  # of all rows, and
_NOT_MANY = 50.0


def rare_classes(evidence: Evidence) -> Iterator[Finding]:
    """Find classes that were never seen, seen once, or hardly ever."""
    weight = evidence.summary.class_weight
    few = (weight < _FEW) | ((weight < _NOT_MANY) & (weight < _FEW_SHARE * weight.sum()))
    never = "no row was seen; the rows of all classes describe it"
    once = "one row was seen, so that the spread of its columns is a guess"
    yield from _one(evidence, weight == 0, "medium", never)
    yield from _one(evidence, (weight > 0) & (weight <= 1), "medium", once)
    rare = few & (weight > 1)
    low, high = weight[rare].min(initial=np.inf), weight[rare].max(initial=0.0)
    rows = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    hardly = f"only {rows} of {weight.sum():,.10g} rows were seen"
    yield from _one(evidence, rare, "low", hardly)


def _one(evidence: Evidence, mask: Any, severity: Severity, what: str) -> Iterator[Finding]:
    labels = tuple(evidence.classes[k] for k in np.flatnonzero(mask))
    if not labels:
        return
    several = len(labels) > 1
    of = f"each of the classes {listed(labels)}" if several else f"class {labels[0]!r}"
    it = "them" if several else "it"
    advice = f"Collect more rows of {it}, or join {it} with another class."
    least = float(evidence.summary.class_weight[mask].min())
    yield Finding("rare class", severity, f"Of {of}, {what}.", advice, classes=labels, figure=least)
