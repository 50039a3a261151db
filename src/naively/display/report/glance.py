"""The columns of a page at a glance: their kind, their distinct cells, and the first rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import is_missing
from naively.display.report.categories import shortened
from naively.display.report.columns import Ranges
from naively.display.report.inputs import Given
from naively.engines.memory.frames import cells_of
from naively.engines.memory.tables import columns_of

_MOST_COUNTED = 100_000  # rows whose cells are counted
_FIRST = 5
_MOST_COLUMNS = 20  # of the first rows
_MOST_LETTERS = 80  # of a cell


def counted_rows(given: Given) -> NDArray[np.intp]:
    """Return the rows whose cells are counted: all, or some drawn at random."""
    n_rows = given.codes.size
    if n_rows <= _MOST_COUNTED:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, _MOST_COUNTED, replace=False))


def add_facts(
    given: Given, ranges: Ranges, described: list[dict[str, Any]], *, show_rows: bool
) -> None:
    """Add to each column its kind, how many cells are distinct, and of numbers the most frequent.

    Where rows are not to be shown, neither is a number of a row.
    """
    rows, texts = counted_rows(given), given.table.texts
    some = given.table[rows]
    numbers = dict(zip(given.schema.numbers, some.array().T, strict=True))
    codes = dict(zip(given.schema.categories, some.code_columns, strict=True))
    for column in described:
        j = column["index"]
        column["kind"], column["distinct"] = _kind(given, ranges, j), 0
        if j in numbers:
            column |= _counted(numbers[j], show_value=show_rows)
        elif j in codes:
            column["distinct"] = _n_distinct(codes[j][codes[j] >= 0])
        elif texts is not None and j in given.schema.texts:
            hashes = texts.hashes[rows, given.schema.texts.index(j)]
            column["distinct"] = _n_distinct(hashes[hashes != 0])


def _n_distinct(cells: NDArray[Any]) -> int:
    return int(np.unique(cells).size)


def _kind(given: Given, ranges: Ranges, j: int) -> str:
    schema = given.schema
    if j in schema.categories:
        known = given.fitted.summary_.categories[schema.categories.index(j)]
        return "boolean" if known.dtype.kind == "b" else "category"
    if j in schema.numbers:
        place = schema.numbers.index(j)
        whole = ranges.whole[place] and not np.isnan(ranges.least[place])
        return "whole number" if whole else "number"
    return "text" if j in schema.texts else "empty"


def _counted(cells: NDArray[np.float64], *, show_value: bool) -> dict[str, Any]:
    """Count the distinct cells; the most frequent is one that occurs twice at least.

    >>> _counted(np.array([1.0, 3.0, 3.0, np.nan]), show_value=True)
    {'distinct': 2, 'frequent': 3.0, 'share': 0.6666666666666666}
    """
    values, times = np.unique(cells[~np.isnan(cells)], return_counts=True)
    found: dict[str, Any] = {"distinct": values.size}
    if show_value and times.size and times.max() > 1:
        most = int(times.argmax())
        found |= {"frequent": float(values[most]), "share": float(times[most] / times.sum())}
    return found


def first_rows(given: Given, at: list[int]) -> dict[str, Any]:
    """Return the first rows, of the columns of the page in the order of the table."""
    columns, shown = columns_of(given.X, given.schema), sorted(at)[:_MOST_COLUMNS]
    cells = [[_cell(cell) for cell in cells_of(columns[j][:_FIRST])] for j in shown]
    return {"columns": shown, "cells": cells, "classes": given.codes[:_FIRST]}


def _cell(cell: Any) -> float | str | None:
    """Write a cell: a number of as many digits as one reads, or a text.

    >>> _cell(1 / 3), _cell(True), _cell(None), _cell("x" * 200)[-3:]
    (0.333333, 'True', None, 'xx…')
    """
    if is_missing(cell):
        return None
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return float(f"{cell:.6g}")
    return shortened(str(cell), _MOST_LETTERS)
