"""The query for sums of differences from a number near the mean: see `column_sums`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.engines.sql.selection import Selection, finite
from naively.errors import need

ibis = need("ibis", "reading tables inside a database", extra="sql")

_SMALLEST = 1e-140  # PostgreSQL takes it for an error if the square of a small number becomes 0
TINY, SCALE = 1e-100, 1e190  # differences below TINY are multiplied by SCALE


def sums_query(
    rows: Selection, columns: NDArray[np.intp], centres: list[float] | None, n_buckets: int = 1
) -> Any:
    """Return a query for the sums of some columns; without centres, c is the mean of each class.

    Rows are added up in buckets, by lot: rounding errors, which have one sign in a column of few
    values, grow within a bucket only.
    """
    names = [f"x{i}" for i in columns]
    table = rows.select(names)
    aggregates: dict[str, Any] = {}
    if centres is None:
        numbers = {x: finite(table[x], table[x]) for x in names}
        known = {f"c{x}": value.mean() for x, value in numbers.items()}
        known |= {
            f"u{x}": (value.abs().max() < TINY).ifelse(SCALE, 1.0) for x, value in numbers.items()
        }
        table = table.join(table.group_by("y").aggregate(**known), "y")
        aggregates |= {name: table[name].min() for name in known}
        unsure = names
        differences = {f"d{x}": _with_care(table[x], table[f"c{x}"], table[f"u{x}"]) for x in names}
    else:
        pairs = list(zip(names, centres, strict=True))
        differences = {f"d{x}": _quickly(table[x], c) for x, c in pairs}
        unsure = [x for x, c in pairs if abs(c) <= TINY]
    aggregates |= {f"present{x}": table[x].count() for x in unsure}
    by_lot = {"b": (ibis.random() * n_buckets).floor().cast("int64")} if n_buckets > 1 else {}
    table = table.mutate(**differences, **by_lot)
    aggregates["n"] = table.count()
    if rows.weight is not None:
        usable = table.w.between(0.0, float(np.finfo(np.float64).max))
        aggregates |= {"good": usable.sum(), "w": table.w.sum()}
    for x in names:
        aggregates |= _aggregates(table, x, rows.weight is not None)
    return table.group_by(["y", *by_lot]).aggregate(**aggregates)


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
    """Return x - c; NULL where the square would underflow, so that x is read with care.

    Numbers near a c that is not tiny itself do not differ from it by so little.
    """
    d = x - c
    return d if abs(c) > TINY else ((x == c) | (d.abs() > _SMALLEST)).ifelse(d, ibis.null())


def _with_care(x: Any, c: Any, scale: Any) -> Any:
    return finite(x, not_tiny((x - c) * scale))


def not_tiny(d: Any) -> Any:
    """Make differences zero whose squares would underflow, and leave others as they are."""
    return (d.abs() > _SMALLEST).ifelse(d, 0.0)
