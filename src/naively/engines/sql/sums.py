"""The query for sums of differences from a number near the mean: see `column_sums`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._optional import need
from naively.engines.sql.selection import Selection, finite

__all__ = ["sums_query", "with_grain"]

ibis = need("ibis", "reading tables inside a database", extra="sql")

_GRAIN, _TINY = 1e-130, 1e-110  # see `with_grain`


def sums_query(rows: Selection, columns: NDArray[np.intp], centres: list[float] | None) -> Any:
    """Return a query for the sums of some columns; without centres, c is the mean of each class."""
    names = [f"x{i}" for i in columns]
    table = rows.select(names)
    aggregates: dict[str, Any] = {}
    if centres is None:
        means = {f"c{x}": finite(table[x], table[x]).mean() for x in names}
        table = table.join(table.group_by("y").aggregate(**means), "y")
        aggregates |= {c: table[c].min() for c in means}
        aggregates |= {f"present{x}": table[x].count() for x in names}
        differences = {f"d{x}": _with_care(table[x], table[f"c{x}"]) for x in names}
    else:
        pairs = zip(names, centres, strict=True)
        differences = {f"d{x}": _quickly(table[x], c) for x, c in pairs}
    table = table.mutate(**differences)
    aggregates["n"] = table.count()
    if rows.weight is not None:
        usable = table.w.between(0.0, float(np.finfo(np.float64).max))
        aggregates |= {"good": usable.sum(), "w": table.w.sum()}
    for x in names:
        aggregates |= _aggregates(table, x, rows.weight is not None)
    return table.group_by("y").aggregate(**aggregates)


def _aggregates(table: Any, x: str, weighted: bool) -> dict[str, Any]:
    d = table[f"d{x}"]
    if not weighted:
        return {f"used{x}": d.count(), f"s{x}": d.sum(), f"q{x}": (d * d).sum()}
    w = table.w
    return {
        f"used{x}": d.count(),
        f"v{x}": d.notnull().ifelse(w, ibis.null()).sum(),
        f"s{x}": (w * d).sum(),
        f"q{x}": (w * (d * d)).sum(),
    }


def _quickly(x: Any, c: float) -> Any:
    return x - c if abs(c) > _TINY else with_grain(x - c)


def _with_care(x: Any, c: Any) -> Any:
    return finite(x, with_grain(x - c))


def with_grain(d: Any) -> Any:
    """Make differences below 1e-146 zero, and leave others as they are.

    PostgreSQL takes it for an error if the square of a small number becomes 0. Numbers near a c
    that is not tiny itself do not differ from it by so little.
    """
    return d + _GRAIN - _GRAIN
