"""Summarize a table inside its database.

Moments are sums: see `naively.engines.sql.moments`. Tallies of categories, and of numbers in
bins, are grouped counts:

    SELECT y, k0, k1, COUNT(*) FROM rows GROUP BY GROUPING SETS ((y, k0), (y, k1))

is one scan for many keys; in databases without grouping sets, each key has a query of its own. A
row of the result belongs to the key that is not NULL: cells that are NULL are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import number_array, text_array
from naively.data.schema import Schema
from naively.engines.dialects import Spelling
from naively.engines.sql.moments import measure_moments
from naively.engines.sql.tables import (
    Selection,
    class_places,
    dialect_of,
    exact,
    exact_cells,
    execute,
    finite,
    floats,
    select_rows,
    streamed,
    view,
)
from naively.errors import NaivelyError, need
from naively.statistics import Bins, ClassWeight, FunctionMoments, Moments, Statistic, Tallies
from naively.statistics.axes import Axes
from naively.statistics.summary import Summary

ibis = need("ibis", "reading tables inside a database", extra="sql")


def summarize(
    table: Any,
    *,
    target: str,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    schema: Schema | None = None,
) -> Summary:
    """Summarize a table inside its database: sums and counts leave it, or rows as a stream.

    Parameters
    ----------
    table : ibis Table
        Any table expression: a table, a view, a file that DuckDB reads, a filter or join of those.
    target : str
        The column of labels: strings, integers or booleans, none of them NULL.
    columns : sequence of str, optional
        The columns to learn from; None for all others. Booleans are categories, and so is text
        that its first 2,000 cells do not show to be sentences.
    weight : str, optional
        A column of weights, finite and >= 0.
    schema : Schema, optional
        What to measure, where it has been agreed upon; by default, what the types say.

    Notes
    -----
    Numbers take one scan, and a second one of those columns in which a class is far from all
    others: see `naively.engines.column_sums` for the formula and its rounding. Tables of more than
    300 columns are read 300 at a time. Categories, and bins between the schema's edges, take one
    more scan; in SQLite, one each.

    The rest is streamed as Arrow batches, once, and measured here: where the schema asks for a
    sample or for products of columns, where numbers are counts, and where there are columns of
    text, since no database cuts text into words.
    """
    rows = select_rows(table, target, columns, weight, schema)
    asked = rows.schema
    if asked.texts or asked.counted or asked.sample or asked.centres is not None:
        return _streamed(rows)
    classes, class_weight, values = measure_moments(rows)
    categories, tallies, bins = tally(rows, classes)
    axes = Axes(classes, categories)
    n = len(rows.schema.numbers)
    moments = Moments(np.ascontiguousarray(values[:, :, :n]))
    found: list[Statistic] = [ClassWeight(class_weight), moments]
    if rows.schema.functions:
        found.append(FunctionMoments(np.ascontiguousarray(values[:, :, n:])))
    found += [Tallies(tallies)] if rows.schema.categories else []
    found += [Bins(bins)] if rows.schema.edges is not None else []
    return Summary.of(rows.schema, axes, *found).ordered(empty_classes=False)


def _streamed(rows: Selection) -> Summary:
    """Summarize rows that come as a stream of Arrow batches."""
    from naively.engines import files

    schema = rows.schema
    kinds = (("x", schema.numbers), ("c", schema.categories), ("t", schema.texts))
    plain = {j: f"{kind}{i}" for kind, columns in kinds for i, j in enumerate(columns)}
    names = schema.names or tuple(f"column {j}" for j in range(schema.n_columns))
    named = {names[j]: rows.values[plain[j]] for j in range(schema.n_columns) if j in plain}
    named |= {names[j]: rows.table[names[j]] for j in schema.undecided}
    named |= {rows.target: rows.values["y"]}
    if rows.weight is not None:
        named[rows.weight] = rows.values["w"]
    batches = streamed(rows.table.select(**named))
    return files.summarize(
        batches, target=rows.target, weight=rows.weight, schema=replace(schema, names=names)
    )


# --- Tallies of categories, and of numbers in bins: grouped counts --------------------------------


_WIDTH = 60  # keys of one query: Spark takes no more than 63
_MOST = 1_000_000  # counts that are fetched: a column of more values hardly holds categories
_WITH_SETS = {"duckdb", "postgres", "bigquery", "snowflake", "spark", "databricks"}

Counts = dict[str, tuple[NDArray[np.intp], list[Any], NDArray[np.float64]]]


def tally(
    rows: Selection, classes: NDArray[Any]
) -> tuple[tuple[NDArray[Any], ...], NDArray[np.float64], NDArray[np.float64]]:
    """Return the categories of each column, their weights by class, and those of bins."""
    schema = rows.schema
    table, keys = _keyed(rows)
    counts: Counts = {}
    for some in (keys[i : i + _WIDTH] for i in range(0, len(keys), _WIDTH)):
        for query in count_queries(table, some, dialect_of(rows.table)):
            few = exact(query.limit(_MOST + 1), [key for key in query.columns if key[0] == "c"])
            counts |= _counted(rows, execute(few), classes)
    bins = np.zeros((classes.size, len(schema.numbers), schema.n_bins))
    for i in range(len(schema.numbers) if schema.n_bins else 0):
        at, found, weight = counts[f"b{i}"]
        bins[at, i, np.array(found, dtype=np.intp)] = weight
    columns = [_column(*counts[f"c{i}"], classes.size) for i in range(len(schema.categories))]
    tallies = [weights for _, weights in columns]
    joined = np.hstack([np.zeros((classes.size, 0)), *tallies])
    return tuple(categories for categories, _ in columns), joined, bins


def count_queries(table: Any, keys: Sequence[str], dialect: str) -> list[Any]:
    """Return queries for the weight of each class and each value of each key."""
    weight = table.w.sum() if "w" in table.columns else table.count()
    if dialect not in _WITH_SETS or len(keys) == 1:
        return [table.group_by(["y", key]).aggregate(n=weight) for key in keys]
    name = Spelling(dialect).name
    y, names = name("y"), [name(key) for key in keys]
    counted = f"SUM({name('w')})" if "w" in table.columns else "COUNT(*)"
    sets = ", ".join(f"({y}, {key})" for key in names)
    kinds = table.schema()
    return [
        view(
            table,
            lambda source: (
                f"SELECT {y}, {', '.join(names)}, {counted} AS {name('n')} "
                f"FROM {name(source)} GROUP BY GROUPING SETS ({sets})"
            ),
            {**{key: kinds[key] for key in ("y", *keys)}, "n": weight.type()},
        )
    ]


def _keyed(rows: Selection) -> tuple[Any, list[str]]:
    """Return a table of keys and their names: ``c0``, ... of categories, ``b0``, ... of bins."""
    schema = rows.schema
    numbers = [f"x{i}" for i in range(len(schema.numbers) if schema.n_bins else 0)]
    categories = [f"c{i}" for i in range(len(schema.categories))]
    table = rows.select([*numbers, *categories])
    bins = {
        f"b{i}": finite(table[x], _bin(table[x], schema.edges[i], 0))
        for i, x in enumerate(numbers)
        if schema.edges is not None
    }
    if bins:
        table = table.mutate(**bins).drop(*numbers)
    return table, [*categories, *bins]


def _bin(x: Any, edges: Sequence[float], first: int) -> Any:
    """Return the bin of x, by halving: the number of edges that are less than x."""
    if not edges:
        return ibis.literal(first, "int32")
    half = len(edges) // 2
    below = _bin(x, edges[:half], first)
    above = _bin(x, edges[half + 1 :], first + half + 1)
    if not np.isfinite(edges[half]):
        return below if edges[half] > 0 else above
    return (x <= edges[half]).ifelse(below, above)


def _counted(rows: Selection, result: Any, classes: NDArray[Any]) -> Counts:
    """Return for each key the places of classes, the key's values, and weights."""
    if len(result) > _MOST:
        raise NaivelyError(
            f"categories must be few; got more than {_MOST} in {rows.schema.n_columns} columns. "
            "Leave out columns that identify rows: columns=[...]."
        )
    at, n = class_places(result, classes), floats(result, "n")
    counts: Counts = {}
    for key in result.columns.drop(["y", "n"]):
        values = exact_cells(result[key], rows.values[key].type() if key[0] == "c" else None)
        there = np.array([value is not None for value in values], dtype=bool)
        counts[key] = at[there], values[there].tolist(), n[there]
    return counts


def _column(
    at: NDArray[np.intp], values: list[Any], weight: NDArray[np.float64], n_classes: int
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the categories, sorted, and their weights by class."""
    if not values:
        return np.empty(0, dtype=str), np.zeros((n_classes, 0))
    if isinstance(values[0], bool):
        found = np.array(values)
    else:
        found = (text_array if isinstance(values[0], str) else number_array)(values)
    categories, codes = np.unique(found, return_inverse=True)
    weights = np.zeros((n_classes, categories.size))
    weights[at, codes] = weight
    return categories, weights
