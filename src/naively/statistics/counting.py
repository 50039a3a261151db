"""How cells are counted: into a table of sums, or as a list of cells where they are few.

Rows are grouped by class, and a thread owns whole classes: the same bits on any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively._threads import map_blocks
from naively.axes import Axes
from naively.exceptions import NaivelyError
from naively.rows import Block, rows_by_class
from naively.schema import Schema
from naively.sparse import SparseRows

__all__ = ["FEW", "HEAVY", "LARGEST_COUNT", "CellBatch", "NotACountError", "Parts", "check_finite"]
__all__ += ["counted", "entry_starts", "joined", "too_large"]

Floats = NDArray[np.float64]

FEW = 8  # times as many places in a table as cells: then cells are kept as they are
_SMALL = 4096  # places of a table that is always filled at once
_WORTH_THREADS = 1 << 19  # cells
LARGEST_COUNT = 1e290  # as in the kernel: sums of greater ones would be infinite
HEAVY = 1e15  # weights beyond may make sums infinite


class NotACountError(Exception):
    """A cell is no count; whoever knows all rows says where.

    Attributes
    ----------
    problem : {"negative", "infinite", "place"}
        What is wrong; "place" where a matrix is unsound.
    row : int
        The row, among those that were measured.
    """

    def __init__(self, problem: str, row: int) -> None:
        super().__init__(problem, row)
        self.problem, self.row = problem, row


class CellBatch(NamedTuple):
    """Cells that are still to be added: their classes, entries and values."""

    classes: NDArray[np.int32]
    entries: NDArray[np.int64]
    values: Floats


class _Given(NamedTuple):
    """What the kernel is told of the rows of a table."""

    classes: NDArray[np.int32]
    weights: Floats | None
    measure: str
    threshold: float
    is_distinct: bool  # no place is twice in a row, and all cells are above the threshold


Parts = tuple[NDArray[Any] | None, tuple[CellBatch, ...]]
"""A table of sums, or None if it is zero; and cells that are still to be added to it."""


def entry_starts(schema: Schema, axes: Axes) -> list[int]:
    """Return where the entries of the numbers, and of each column of text, begin; and the end.

    >>> entry_starts(Schema(3, counted="documents"), Axes(np.array(["a"])))
    [0, 3]
    """
    counted = len(schema.numbers) if schema.counted else 0
    return [*([0] if schema.counted else []), *(counted + at for at in axes.word_starts)]


def counted(block: Block, measure: str) -> Parts:
    """Count the cells of rows, of all entries.

    Parameters
    ----------
    block : Block
        The rows.
    measure : {"occurrences", "documents", "missing"}
        What is added up: cells, rows in which they are above the threshold, or missing ones.
    """
    starts = entry_starts(block.schema, block.axes)
    shape = block.axes.classes.size, starts[-1]
    tables = block.entries
    n_texts = 0 if block.texts is None else len(block.texts.columns)
    given = [
        _Given(block.classes, block.weights, measure, block.schema.threshold, is_text)
        for is_text in [False] * (len(tables) - n_texts) + [True] * n_texts
    ]
    if shape[0] * shape[1] > max(_SMALL, FEW * sum(map(_n_cells, tables))):
        batches = list(map(_listed, tables, given, starts))
        return None, tuple(batch for batch in batches if batch.values.size)
    out = np.zeros(shape)
    for table, its, at in zip(tables, given, starts, strict=False):
        _count(table, its, out, at, block.n_jobs)
    if block.weights is not None and block.weights.max(initial=0.0) > HEAVY:
        check_finite(out)
    return (out, ()) if measure != "missing" or out.any() else (None, ())


def _count(table: Any, given: _Given, out: Floats, at: int, n_jobs: int | None) -> None:
    """Add the cells of a table to the line of sums of each class."""
    if not isinstance(table, SparseRows):
        _check(_kernel.count_table(table, *given[:-1], out, at))
        return
    if table.n_cells < _WORTH_THREADS:
        _check(_kernel.count_sparse(table, *given, out, at))
        return
    found = map_blocks(
        lambda rows: _kernel.count_sparse(table, *given, out, at, rows),
        rows_by_class(given.classes, len(out)),
        n_jobs,
    )
    _check(min((problem for problem in found if problem), key=lambda p: p[1], default=None))


def _listed(table: Any, given: _Given, at: int) -> CellBatch:
    """Return the cells of few rows as they are."""
    rows = table if isinstance(table, SparseRows) else SparseRows.of_dense(_array(table))
    n = rows.n_cells
    found = CellBatch(np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n))
    problem, n = _kernel.list_sparse(rows, *given, *found, at)
    _check(problem)
    check_finite(found.values[:n])
    if n == rows.n_cells:
        return found
    return CellBatch(found.classes[:n].copy(), found.entries[:n].copy(), found.values[:n].copy())


def joined(batches: Sequence[CellBatch]) -> CellBatch:
    """Return several batches as one."""
    columns: Any = zip(*batches, strict=True)
    return CellBatch(*map(np.concatenate, columns))


def _n_cells(table: Any) -> int:
    if isinstance(table, SparseRows):
        return table.n_cells
    return sum(map(len, table)) if isinstance(table, list) else table.size


def _array(table: Any) -> NDArray[Any]:
    return np.column_stack(table) if isinstance(table, list) else table


def _check(problem: tuple[str, int] | None) -> None:
    if problem is not None:
        raise NotACountError(*problem)


def check_finite(sums: Floats) -> None:
    """Raise where a sum is too large for float64."""
    if not np.isfinite(sums).all():
        raise too_large()


def too_large() -> NaivelyError:
    """Return the error of sums that are beyond every float64."""
    return NaivelyError(
        "counts must add up to less than 1.8e308; got more. Rescale them, or the weights. Nothing "
        "was changed."
    )
