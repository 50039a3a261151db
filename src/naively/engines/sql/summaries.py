"""Summarize a table inside its database.

Moments are sums: see `naively.engines.sql.moments`. Tallies of categories are grouped counts:

    SELECT y, c0, c1, COUNT(*) FROM rows GROUP BY GROUPING SETS ((y, c0), (y, c1))

is one scan for many columns; in databases without grouping sets, each column has a query of its
own. A row of the result belongs to the column that is not NULL: cells that are NULL are not
counted. All else is measured here, of rows that come as a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    floats,
    select_rows,
    streamed,
    view,
)
from naively.errors import NaivelyError, need
from naively.statistics import STATISTICS, ClassWeight, Moments, Statistic, Tallies
from naively.statistics.axes import Axes
from naively.statistics.summary import Summary

ibis = need("ibis", "reading tables inside a database", extra="sql")

_IN_DATABASE = {ClassWeight, Moments, Tallies}  # what is measured there


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
    300 columns are read 300 at a time. Categories take one more scan; in SQLite, one each.

    The rest is streamed as Arrow batches, once, and measured here: where the schema asks for a
    sample, for histograms, functions or products of columns, where numbers are counts, and where
    there are columns of text, since no database cuts text into words.
    """
    rows = select_rows(table, target, columns, weight, schema)
    measured = {kind for kind in STATISTICS if kind.is_measured(rows.schema)}
    if not measured <= _IN_DATABASE:
        return _streamed(rows)
    classes, class_weight, values = measure_moments(rows)
    categories, tallies = tally(rows, classes)
    statistics: list[Statistic] = [ClassWeight(class_weight), Moments(values)]
    statistics += [Tallies(tallies)] if rows.schema.categories else []
    summary = Summary.of(rows.schema, Axes(classes, categories), *statistics)
    return summary.ordered(empty_classes=False)


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


# --- Tallies of categories: grouped counts --------------------------------------------------------


_MAX_KEYS = 60  # keys of one query: Spark takes no more than 63
_MAX_COUNTS = 1_000_000  # that are fetched: a column of more values hardly holds categories
_WITH_SETS = {"duckdb", "postgres", "bigquery", "snowflake", "spark", "databricks"}


def tally(
    rows: Selection, classes: NDArray[Any]
) -> tuple[tuple[NDArray[Any], ...], NDArray[np.float64]]:
    """Return the categories of each column, and their weights by class, side by side."""
    keys = [f"c{i}" for i in range(len(rows.schema.categories))]
    table = rows.select(keys)
    columns: list[tuple[NDArray[Any], NDArray[np.float64]]] = []
    for some in (keys[i : i + _MAX_KEYS] for i in range(0, len(keys), _MAX_KEYS)):
        for query in count_queries(table, some, dialect_of(rows.table)):
            counted = [key for key in some if key in query.columns]
            result = execute(exact(query.limit(_MAX_COUNTS + 1), counted))
            columns += _counted(rows, result, counted, classes)
    weights = [np.zeros((classes.size, 0)), *(weights for _, weights in columns)]
    return tuple(categories for categories, _ in columns), np.hstack(weights)


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


def _counted(
    rows: Selection, result: Any, keys: Sequence[str], classes: NDArray[Any]
) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
    """Yield the categories of each key, sorted, and their weights by class."""
    if len(result) > _MAX_COUNTS:
        raise NaivelyError(
            f"categories must be few; got more than {_MAX_COUNTS} in {rows.schema.n_columns} "
            "columns. Leave out columns that identify rows: columns=[...]."
        )
    at, n = class_places(result, classes), floats(result, "n")
    for key in keys:
        values = exact_cells(result[key], rows.values[key].type())
        there = np.array([value is not None for value in values], dtype=bool)
        cells = values[there].tolist()
        first = next(iter(cells), "")
        array = text_array if isinstance(first, str) else number_array
        known = np.array(cells) if isinstance(first, bool) else array(cells)
        categories, codes = np.unique(known, return_inverse=True)
        weights = np.zeros((classes.size, categories.size))
        weights[at[there], codes] = n[there]
        yield categories, weights
