"""The one loop that measures: every statistic that a schema asks for, in one pass over row blocks.

>>> from naively.data.rows import Rows, Targets
>>> rows = Rows.of_numbers(np.array([[1.0], [3.0]]))
>>> measure(rows, Targets(np.array(["a"]), np.zeros(2, np.int32)), Schema(1)).moments
Moments(weight=[[2.]], mean=[[2.]], m2=[[2.]])
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.threads import block_slices, map_blocks
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.statistics import (
    STATISTICS,
    Bins,
    ClassWeight,
    Documents,
    Moments,
    Occurrences,
    Sample,
    Statistic,
    Tallies,
)
from naively.statistics.axes import Axes
from naively.statistics.counts import LARGEST_COUNT, NotACountError
from naively.statistics.sample import EVERYTHING, hashes_of
from naively.statistics.statistic import Block, NotFiniteError, TooLargeError
from naively.statistics.summary import Summary

_MAX_BLOCKS = 16
_MOMENTS_BYTES = 1 << 24  # bytes that the blocks' moments may take
_TALLIES_BYTES = 1 << 27  # bytes that the blocks' tallies and bins may take
_ONE_BLOCK_CELLS = 1 << 19  # cells, which are one block
_DENSE_CELLS = 1 << 20  # of sparse rows that are made dense at a time
_LOOKED_AT_ROWS = 4096  # rows that are looked through at a time for infinity


def measure(
    rows: Rows,
    targets: Targets,
    schema: Schema,
    *,
    n_jobs: int | None = None,
    bound: int = EVERYTHING,
    untyped: bool = False,
    sample: Sample | None = None,
    without: Collection[type[Statistic]] = (),
) -> Summary:
    """Summarize rows that the kernel can read.

    Classes that have no weight are left out where rows have weights, and otherwise kept. Threads
    do not change a bit. ``bound`` and ``untyped`` are as in `Block`; a sample of these rows may
    have been drawn already. Statistics that are left out are zero.
    """
    drawn = sample is not None and bool(schema.sample)
    gone = {*without, Sample} if drawn else {*without}
    kinds = [kind for kind in STATISTICS if kind not in gone and kind.is_measured(schema)]
    axes = Axes(targets.classes, rows.categories, rows.words).checked(schema)
    measured = _measured(rows, targets, schema, axes, kinds, n_jobs, bound, untyped)
    found = dict(zip(kinds, measured, strict=True))
    if sample is not None and drawn:
        found[Sample] = sample
    return Summary.of(schema, axes, *found.values()).ordered(empty_classes=targets.weights is None)


def measure_sample(
    rows: Rows, targets: Targets, schema: Schema, *, n_jobs: int | None = None
) -> Sample:
    """Return a sample of rows alone; its codes are those of the rows."""
    axes = Axes(targets.classes, rows.categories, rows.words)
    (sample,) = _measured(rows, targets, schema, axes, [Sample], n_jobs, EVERYTHING, False)
    assert isinstance(sample, Sample)
    return sample


def _measured(
    rows: Rows,
    targets: Targets,
    schema: Schema,
    axes: Axes,
    kinds: Sequence[type[Statistic]],
    n_jobs: int | None,
    bound: int,
    untyped: bool,
) -> list[Statistic]:
    """Measure statistics block by block, and add the blocks up in their order."""
    n_rows = rows.shape[0]
    if targets.codes.size != n_rows:
        raise NaivelyError(
            f"X and y must be equally long; got {n_rows} rows and {targets.codes.size} labels."
        )
    weights = None if targets.weights is None else checked_weights(targets.weights, n_rows)
    hashes = [hashes_of(column) for column in rows.categories] if Sample in kinds else []

    def measured(
        at: slice, kinds: Sequence[type[Statistic]], n_jobs: int | None = 1
    ) -> list[Statistic]:
        given = None if weights is None else weights[at]
        part = rows[at].dense() if is_dense and kinds is not whole else rows[at]
        classes = targets.codes[at]
        block = Block(part, classes, given, schema, axes, hashes, bound, untyped, n_jobs)
        try:
            return [kind.measure(block) for kind in kinds]
        except NotACountError as error:
            raise NotACountError(error.problem, error.row + (at.start or 0)) from None

    every, is_dense = slice(n_rows), rows.is_sparse and not schema.counted
    n_columns = rows.shape[1] if is_dense else rows.cells_per_row
    whole: Sequence[type[Statistic]] = ()
    try:
        if n_rows * n_columns < _ONE_BLOCK_CELLS:
            return measured(every, kinds)
        whole = [kind for kind in kinds if _is_whole(kind, rows, schema)]
        parts = [kind for kind in kinds if kind not in whole]
        blocks = block_slices(n_rows, n_columns, _most_blocks(schema, axes))
        if is_dense:
            step = max(1, _DENSE_CELLS // max(1, n_columns))
            blocks = [slice(start, start + step) for start in range(0, n_rows, step)]
        sums = reduce(_added, map_blocks(lambda at: measured(at, parts), blocks, n_jobs))
        at_once = measured(every, whole, n_jobs)
        found = dict(zip([*parts, *whole], [*sums, *at_once], strict=True))
        return [found[kind] for kind in kinds]
    except NotACountError as error:
        raise not_a_count(rows, schema, error) from None
    except (NotFiniteError, TooLargeError):
        pass
    raise_not_finite(rows, schema)
    raise AssertionError  # it never returns


def _is_whole(kind: type[Statistic], rows: Rows, schema: Schema) -> bool:
    """Whether a statistic is measured of all rows at once: what costs as much as cells are held."""
    if rows.is_sparse and not schema.counted and kind in (ClassWeight, Moments):
        return True
    return kind.whole and rows.has_sparse


def _added(a: list[Statistic], b: list[Statistic]) -> list[Statistic]:
    return list(map(add, a, b))


def _most_blocks(schema: Schema, axes: Axes) -> int:
    """Return how many blocks there may be, so that their results stay small beside the rows."""
    n_classes, n_numbers = axes.classes.size, len(schema.numbers)
    moments = 0 if schema.counted else 32 * n_classes * n_numbers
    tables = [k for k in (Tallies, Bins, Occurrences, Documents) if k.is_measured(schema)]
    size = 8 * sum(int(np.prod(kind.shape(schema, axes))) for kind in tables)
    size += 0 if schema.centres is None else 4 * n_classes * n_numbers**2
    most = max(1, min(_MAX_BLOCKS, _MOMENTS_BYTES // (moments + 1)))
    return min(most, max(2, _TALLIES_BYTES // (size + 1)))


def checked_weights(weights: Floats, n_rows: int) -> Floats:
    """Return weights that are one per row, finite and not negative."""
    if weights.shape != (n_rows,):
        raise NaivelyError(
            f"there must be one weight per row ({n_rows}); got shape {weights.shape}."
        )
    bad = ~((weights >= 0) & np.isfinite(weights))
    if bad.any():
        at = int(np.argmax(bad))
        raise NaivelyError(
            f"weights must be finite and >= 0; got sample_weight[{at}]={weights[at]}."
        )
    return np.ascontiguousarray(weights)


def not_a_count(rows: Rows, schema: Schema, error: NotACountError) -> NaivelyError:
    """Return the error of a cell that is no count: it names the row, the column and the cell."""
    i = error.row
    if error.problem == "place":
        return NaivelyError(
            f"X must be a valid sparse matrix; got a column beyond its last in row {i}."
        )
    cells = rows[i : i + 1].array()[0]
    bad = (cells < 0) if error.problem == "negative" else np.abs(cells) > LARGEST_COUNT
    j = int(np.argmax(bad))
    said, infinite = "Too large a number in", np.isinf(cells[j])
    if error.problem == "negative" or infinite:
        said = "Infinity in" if infinite else "Negative values in data passed to"
    return NaivelyError(
        f"{said} X: counts must be >= 0 and below {LARGEST_COUNT:g}; got {cells[j]:g} in row {i}, "
        f"{schema.name(schema.numbers[j])}. NaN is allowed and means missing."
    )


def raise_not_finite(rows: Rows, schema: Schema) -> None:
    """Raise an error that names the infinite cell, or the column whose variance overflows."""
    column, largest = 0, 0.0
    for row_numbers, columns, cells in filter(lambda part: part[2].size, _cells_of(rows)):
        at = int(np.argmax(np.isinf(cells)))
        if np.isinf(cells[at]):
            raise NaivelyError(
                f"{schema.name(schema.numbers[columns[at]])} holds infinity (first at row "
                f"{row_numbers[at]}); naive Bayes needs finite numbers. "
                "NaN is allowed and means missing."
            )
        at = int(np.argmax(np.nan_to_num(np.abs(cells))))
        if abs(cells[at]) > abs(largest):
            column, largest = int(columns[at]), float(cells[at])
    raise NaivelyError(
        f"{schema.name(schema.numbers[column])} holds numbers so large that their variance "
        f"exceeds the range of float64, such as {largest:g}. Rescale it, or the weights."
    )


def _cells_of(rows: Rows) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Yield the row, the column and the value of all cells of numbers; of dense ones, in parts."""
    if isinstance(X := rows.numbers, SparseRows):
        yield X.row_numbers, X.places[X.cells], X.values[X.cells]
        return
    for start in range(0, len(rows), _LOOKED_AT_ROWS):
        cells = rows[start : start + _LOOKED_AT_ROWS].array().T
        columns, row_numbers = np.indices(cells.shape).reshape(2, -1)
        yield row_numbers + start, columns, cells.reshape(-1)
