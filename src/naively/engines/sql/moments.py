"""The moments of all columns of numbers, in up to three queries.

The first estimates the means, the second sums differences from them, and the third repeats that
with the means of each class, for the columns where it matters. Wide tables are read some columns at
a time. Each result has the number of rows of each class, which shows if the table has changed
meanwhile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import encode
from naively.data.types import Floats
from naively.engines.column_sums import ColumnSums
from naively.engines.sql.tables import LARGEST, Selection, class_places, execute, finite, floats
from naively.errors import NaivelyError, need

ibis = need("ibis", "reading tables inside a database", extra="sql")

_FIRST_ROWS = 1 << 14  # rows that the means are estimated from, and that are added up one by one
_MAX_BUCKETS, _MAX_SUMS = 256, 100_000  # of a query over more rows, and about of its result
_MAX_COLUMNS = 300  # columns of one query: PostgreSQL gives at most 1664 results, SQLite 2000
_CHANGED = "a table must not change while it is read; {}. Repeat the call, or read a copy."


def measure_moments(rows: Selection) -> tuple[NDArray[Any], Floats, Floats]:
    """Return classes, their weights, and weight, mean, m2 and rest of the columns of numbers."""
    means, n_buckets = _first_look(rows, np.arange(len(rows.schema.numbers)))
    careful = ~np.isfinite(means)
    quick = np.flatnonzero(~careful)
    found = _read(rows, n_buckets, quick, means[quick])
    values = np.zeros((4, found.classes.size, means.size))
    careful[quick] = found.doubtful()
    values[:, :, quick[~careful[quick]]] = found.moments()[:, :, ~careful[quick]]
    if careful.any():
        again = _read(rows, n_buckets, np.flatnonzero(careful), None, found)
        _check_finite(rows, np.flatnonzero(careful), again)
        values[:, :, careful] = again.moments()
    if not np.isfinite(values).all():
        raise NaivelyError(
            "weights times squares must fit into float64; got larger ones. "
            "Rescale the weights or the columns."
        )
    return found.classes, found.weight, values


def _groups(columns: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return columns in groups that fit into one query."""
    return [columns[i : i + _MAX_COLUMNS] for i in range(0, columns.size, _MAX_COLUMNS)]


def _first_look(rows: Selection, columns: NDArray[np.intp]) -> tuple[Floats, int]:
    """Return the means of the first rows, and in how many buckets all rows are added up.

    A mean is NaN where a column has no cells there, or odd ones.
    """
    means, n_buckets = np.full(columns.size, np.nan), 1
    for some in _groups(columns):
        table = rows.select(f"x{i}" for i in some).limit(_FIRST_ROWS)
        aggregates = {"n": table.count(), "classes": table.y.nunique()}
        for i in some:
            x = table[f"x{i}"]
            known = finite(x, x)
            mean = (known.count() == x.count()).ifelse(known.mean(), ibis.null())
            aggregates[f"c{i}"] = mean
        result = execute(table.aggregate(**aggregates))
        means[some] = [floats(result, f"c{i}")[0] for i in some]
        if floats(result, "n")[0] == _FIRST_ROWS:
            sums = floats(result, "classes")[0] * some.size
            n_buckets = int(np.clip(_MAX_SUMS // max(sums, 1.0), 1, _MAX_BUCKETS))
    return means, n_buckets


def _read(
    rows: Selection,
    n_buckets: int,
    columns: NDArray[np.intp],
    c: Floats | None,
    before: ColumnSums | None = None,
) -> ColumnSums:
    """Return the sums of columns, of differences from c; None to read them with care.

    Fifteen digits of c survive any database's reading of them.
    """
    parts: list[ColumnSums] = []
    for g, some in enumerate(_groups(columns) or [columns]):
        centres = None
        if c is not None:
            centres = [float(f"{value:.15g}") for value in c[g * _MAX_COLUMNS :][: some.size]]
        result = execute(sums_query(rows, some, centres, n_buckets))
        parts.append(_sums(rows, result, some, centres, before or next(iter(parts), None)))
    return ColumnSums.side_by_side(parts)


def _sums(
    rows: Selection,
    result: Any,
    columns: NDArray[np.intp],
    centres: list[float] | None,
    before: ColumnSums | None,
) -> ColumnSums:
    """Arrange the result of a query by class and column."""
    classes = _classes(rows, result) if before is None else before.classes
    at, n = class_places(result, classes), floats(result, "n")
    weighted = rows.weight is not None
    if weighted:
        _check_weights(rows, n - np.nan_to_num(floats(result, "good")))

    def by_class(values: Floats) -> Floats:
        out = np.zeros((classes.size, *values.shape[1:]))
        np.add.at(out, at, values)
        return out

    def by_column(what: str) -> Floats:
        there = [f"{what}x{i}" if f"{what}x{i}" in result else f"usedx{i}" for i in columns]
        cells = [floats(result, name) for name in there]
        return np.array(cells).reshape(columns.size, at.size).T

    counts = by_column("used")

    def added(what: str) -> Floats:
        return by_class(np.where(counts > 0, by_column(what), 0.0))  # the sum of nothing is NULL

    used, s, q = by_class(counts), added("s"), added("q")
    v = added("v") if weighted else used
    c = np.zeros(s.shape)
    if centres is not None:
        c[:] = centres
    else:
        scale = np.ones(s.shape)
        c[at], scale[at] = np.nan_to_num(by_column("c")), np.nan_to_num(by_column("u"), nan=1.0)
        s, q = s / scale, q / scale / scale
    present = by_class(by_column("present"))
    weight = by_class(floats(result, "w" if weighted else "n"))
    found = ColumnSums(classes, by_class(n), weight, present, used, v, s, q, c)
    if before is not None and not np.array_equal(before.rows, found.rows):
        change = f"got {before.rows.sum():.0f} rows, then {found.rows.sum():.0f}"
        raise NaivelyError(_CHANGED.format(change))
    return found


def _classes(rows: Selection, result: Any) -> NDArray[Any]:
    """Return the labels, sorted, or raise where some are missing."""
    target, missing = rows.target, result["y"].isna().to_numpy(dtype=bool)
    if missing.any():
        n = floats(result, "n")[missing].sum()
        raise NaivelyError(
            f"labels must not be missing; got {n:.0f} rows without one in column {target!r}. "
            f"Leave them out: table.filter(table[{target!r}].notnull())."
        )
    if not len(result):
        return np.empty(0, dtype=str if rows.values["y"].type().is_string() else np.int64)
    return encode(result["y"].tolist())[0]


def _check_weights(rows: Selection, bad: Floats) -> None:
    if bad.any():
        raise NaivelyError(
            f"weights must be finite and >= 0; got {bad.sum():.0f} rows where column "
            f"{rows.weight!r} is not, or NULL."
        )


def _check_finite(rows: Selection, columns: NDArray[np.intp], found: ColumnSums) -> None:
    """Raise where cells that were not added up are infinite, and not just NaN, which is missing.

    A comparison with the reciprocal is false for NaN in every database.
    """
    for some in _groups(columns[(found.present != found.used).any(axis=0)]):
        table = rows.select(f"x{i}" for i in some)
        if rows.weight is not None:
            table = table.filter(table.w > 0)
        aggregates = {}
        for i in some:
            x = table[f"x{i}"]
            large = (x.abs() > LARGEST).ifelse(1.0 / x, ibis.null())
            aggregates[f"x{i}"] = (large.abs() < 1.0).sum()
        result = execute(table.aggregate(**aggregates))
        for i in some:
            if (n := floats(result, f"x{i}")[0]) > 0:
                raise NaivelyError(
                    f"{rows.name(i)} holds infinity, or numbers beyond {LARGEST:g} (in {n:.0f} "
                    "rows); naive Bayes needs finite numbers. NULL and NaN mean missing."
                )


# --- The query ------------------------------------------------------------------------------------


# PostgreSQL takes it for an error if the square of a small number becomes 0.
_SMALLEST_DIFFERENCE = 1e-140
_TINY, _SCALE = 1e-100, 1e190  # differences below the first are multiplied by the second


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
            f"u{x}": (value.abs().max() < _TINY).ifelse(_SCALE, 1.0) for x, value in numbers.items()
        }
        table = table.join(table.group_by("y").aggregate(**known), "y")
        aggregates |= {name: table[name].min() for name in known}
        unsure = names
        differences = {f"d{x}": _with_care(table[x], table[f"c{x}"], table[f"u{x}"]) for x in names}
    else:
        pairs = list(zip(names, centres, strict=True))
        differences = {f"d{x}": _quickly(table[x], c) for x, c in pairs}
        unsure = [x for x, c in pairs if abs(c) <= _TINY]
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
    return (
        d
        if abs(c) > _TINY
        else ((x == c) | (d.abs() > _SMALLEST_DIFFERENCE)).ifelse(d, ibis.null())
    )


def _with_care(x: Any, c: Any, scale: Any) -> Any:
    return finite(x, _not_tiny((x - c) * scale))


def _not_tiny(d: Any) -> Any:
    """Make differences zero whose squares would underflow, and leave others as they are."""
    return (d.abs() > _SMALLEST_DIFFERENCE).ifelse(d, 0.0)
