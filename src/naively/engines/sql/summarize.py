"""Summarize a table inside its database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from naively.data.axes import Axes
from naively.data.schema import Schema
from naively.engines.sql.execute import streamed
from naively.engines.sql.moments import measure_moments
from naively.engines.sql.products import measure_scatter
from naively.engines.sql.sample import draw
from naively.engines.sql.selection import Selection, select_rows
from naively.engines.sql.tallies import tally
from naively.statistics import Bins, ClassWeight, FunctionMoments, Moments, Statistic, Tallies
from naively.statistics.summary import Summary


def summarize(
    table: Any,
    *,
    target: str,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    schema: Schema | None = None,
) -> Summary:
    """Summarize a table inside its database: sums and counts leave it, and a sample if wanted.

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
    more scan; in SQLite, one each. Where the schema has centres, products of columns take a scan
    for every 600 of them: see `naively.engines.sql.products`.

    Where the schema asks for a sample, up to ``schema.sample`` rows leave the database, drawn at
    random: see `naively.engines.sql.sample`.

    No database cuts text into words: a table with columns of text, or whose schema says that
    numbers are counts, is streamed as Arrow batches, once, and measured here.
    """
    rows = select_rows(table, target, columns, weight, schema)
    if rows.schema.texts or rows.schema.counted:
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
    if rows.schema.centres is not None:
        found.append(measure_scatter(rows, classes, class_weight, moments))
    found += [draw(rows, axes)] if rows.schema.sample else []
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
