"""Columns that hold one value only, or none: they contribute nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, listed
from naively.statistics import Documents, Occurrences


def constant_columns(evidence: Evidence) -> Iterator[Finding]:
    """Find columns without any cell, and columns whose cells are all equal."""
    summary, schema = evidence.summary, evidence.summary.schema
    empty = list(schema.undecided)
    constant: list[int] = []
    if schema.counted is not None:
        kind = Documents if schema.counted == "documents" else Occurrences
        never = np.flatnonzero(~summary[kind].values[:, : schema.n_columns].any(axis=0))
        yield from _one(
            evidence, never.tolist(), "never occur in any row", "never occurs in any row"
        )
    else:
        whole = summary.moments.pooled()
        equal = np.sqrt(whole.m2) <= np.finfo(np.float64).eps * np.sqrt(whole.weight) * np.abs(
            whole.mean
        )
        for j, weight, is_equal in zip(schema.numbers, whole.weight, equal, strict=True):
            if not weight > 0:
                empty.append(j)
            elif is_equal:
                constant.append(j)
    for place, j in enumerate(schema.categories):
        held = np.count_nonzero(summary.tally(place).any(axis=0))
        if held < 2:
            (constant if held else empty).append(j)
    yield from _one(evidence, sorted(empty), "hold no cell at all", "holds no cell at all")
    yield from _one(evidence, sorted(constant), "hold one value only", "holds one value only")


def _one(evidence: Evidence, columns: list[int], they: str, it: str) -> Iterator[Finding]:
    if not columns:
        return
    names = tuple(evidence.names[j] for j in columns)
    many = f"Columns {listed(names)} {they}, so that they contribute nothing."
    seen = (
        many
        if len(names) > 1
        else f"{evidence.column(columns[0])} {it}, so that it contributes nothing."
    )
    advice = "Leave them out." if len(names) > 1 else "Leave it out."
    yield Finding("constant", "low", seen, advice, names, figure=float(len(names)))
