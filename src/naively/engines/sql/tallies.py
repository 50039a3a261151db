"""Tallies of categories, and of numbers in bins: grouped counts.

    SELECT y, k0, k1, COUNT(*) FROM rows GROUP BY GROUPING SETS ((y, k0), (y, k1))

is one scan for many keys; in databases without grouping sets, each key has a query of its own. A
row of the result belongs to the key that is not NULL: cells that are NULL are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import number_array, text_array
from naively.engines.sql.dialects import Spelling
from naively.engines.sql.execute import class_places, exact, exact_cells, execute, floats
from naively.engines.sql.selection import Selection, finite
from naively.engines.sql.views import dialect_of, view
from naively.errors import NaivelyError, need

ibis = need("ibis", "reading tables inside a database", extra="sql")

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
