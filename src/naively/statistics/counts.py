r"""Counts: how often entries occur in each class, or in how many rows.

Entries are the columns of numbers, where the schema says that those are counts, and then the words
of each column of text.

.. math:: N_{kj} = \sum_{i \in k} w_i x_{ij}, \qquad D_{kj} = \sum_{i \in k} w_i [x_{ij} > t]

Sums of whole numbers are exact. Adding a few rows to a large table costs what they hold, not
classes times entries: their cells wait beside the table until somebody reads it, or until they are
many. Missing cells are skipped, and counted apart where rows are counted.

Rows are grouped by class, and a thread owns whole classes: the same bits on any number of threads.

Examples
--------
>>> a = Occurrences((1, 3), (np.array([[1.0, 0.0, 2.0]]), ()))
>>> cells = CellBatch(np.array([0, 0], np.int32), np.array([2, 2]), np.array([5.0, 1.0]))
>>> (a + Occurrences((1, 3), (None, (cells,)))).values
array([[1., 0., 8.]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.tensors import Tensors
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.statistics.axes import Axes, Move, placed
from naively.statistics.statistic import (
    Block,
    ColumnMove,
    Statistic,
    check_factor,
    rows_by_class,
)
from naively.statistics.weights import remaining

LARGEST_COUNT = 1e290  # as in the kernel: sums of greater ones would be infinite
_HEAVY_WEIGHT = 1e15  # weights beyond may make sums infinite
_PLACES_PER_CELL = 8  # of a table, at least, where cells are kept as they are
_SMALL_PLACES = 4096  # of a table that is always filled at once
_THREADED_CELLS = 1 << 19


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

    @staticmethod
    def joined(batches: Sequence[CellBatch]) -> CellBatch:
        """Return several batches as one."""
        columns: Any = zip(*batches, strict=True)
        return CellBatch(*map(np.concatenate, columns))

    def moved(self, classes: NDArray[Any] | None, entries: NDArray[Any] | None) -> CellBatch:
        """Return the cells in other places, without those at -1."""
        to_classes = self.classes if classes is None else classes[self.classes].astype(np.int32)
        to_entries = self.entries if entries is None else entries[self.entries]
        kept = (to_classes >= 0) & (to_entries >= 0)
        return CellBatch(to_classes[kept], to_entries[kept], self.values[kept])


Parts = tuple[NDArray[Any] | None, tuple[CellBatch, ...]]
"""A table of sums, or None if it is zero; and cells that are still to be added to it."""


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Statistic):
    """Weights by class and entry: a table, and cells that have not been added to it so far.

    Parameters
    ----------
    width : tuple of int
        The numbers of classes and of entries.
    parts : tuple
        The table, of float64 or smaller numbers, or None if it is zero; and batches of cells.
    """

    width: tuple[int, int]
    parts: Parts = (None, ())

    whole: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.parts[0] is not None:
            self.parts[0].flags.writeable = False

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        return axes.classes.size, _entry_starts(schema, axes)[-1]

    @classmethod
    def zero(cls, *shape: int) -> Self:
        n_classes, n_entries = shape
        return cls((n_classes, n_entries))  # which takes no memory

    @classmethod
    def measure(cls, block: Block) -> Self:
        n_classes, n_entries = cls.shape(block.schema, block.axes)
        return cls((n_classes, n_entries), _counted(block, cls.name, n_classes, n_entries))

    @property
    def values(self) -> Floats:
        """The table, with all cells added to it."""
        table, batches = self.parts
        if table is None or batches or table.dtype != np.float64:
            table = np.zeros(self.width) if table is None else table.astype(np.float64)
            for batch in batches:
                _kernel.add_listed(*batch, table)
            _check_finite(table)
            table.flags.writeable = False
            object.__setattr__(self, "parts", (table, ()))  # the same value
        return table

    @property
    def _is_nothing(self) -> bool:
        return self.parts[0] is None and not self.parts[1]

    @property
    def is_zero(self) -> bool:
        """Whether nothing was counted."""
        table, batches = self.parts
        return not batches and (table is None or not table.any())

    def __add__(self, other: Self) -> Self:
        (table, batches), (its, more) = self.parts, other.parts
        if other._is_nothing:
            return type(self)(self.width, self.parts)  # which does not own its table
        if self._is_nothing:
            return type(self)(other.width, other.parts)
        if table is None or its is None:
            return self._with(its if table is None else table, (*batches, *more))
        with np.errstate(over="ignore"):
            total = self.values + (other.values if more else its)
        return self._of(_check_finite(total))

    def absorbed(self, other: Self) -> Self:
        """Return the sum, in the table of this one where `absorbed` made that table itself."""
        (table, _), (its, more) = self.parts, other.parts
        if table is None or not self.__dict__.get("_own_table"):
            total = self + other
            made = all(total.parts[0] is not given for given in (None, table, its))
        else:
            table.flags.writeable, made = True, True
            for batch in (*self.parts[1], *more):
                _kernel.add_listed(*batch, table)
            if its is not None:
                with np.errstate(over="ignore"):
                    np.add(table, its, out=table)
            if its is not None or any(batch.values.max() > _HEAVY_WEIGHT for batch in more):
                _check_finite(table)
            total = self._of(table)
        object.__setattr__(total, "_own_table", made)
        return total

    def _with(self, table: Floats | None, batches: tuple[CellBatch, ...]) -> Self:
        """Return the sum of a table and cells; batches of similar sizes become one."""
        kept = list(batches)
        while len(kept) > 1 and kept[-2].values.size <= 2 * kept[-1].values.size:
            kept[-2:] = [CellBatch.joined(kept[-2:])]
        total = type(self)(self.width, (table, tuple(kept)))
        n_cells = sum(batch.values.size for batch in kept)
        if _PLACES_PER_CELL * n_cells >= self.width[0] * self.width[1]:
            _ = total.values
        return total

    def _of(self, values: Floats) -> Self:
        return type(self)(self.width, (values, ()))

    def __sub__(self, other: Self) -> Self:
        table, batches = other.parts
        if table is not None or not batches:
            return self._of(_rest(self.values, other.values))
        batch = CellBatch.joined(batches)
        keys = batch.classes.astype(np.int64) * self.width[1] + batch.entries
        distinct, inverse = np.unique(keys, return_inverse=True)
        taken = np.bincount(inverse, batch.values).astype(np.float64)
        values = self.values.copy()
        values.reshape(-1)[distinct] = _rest(values.reshape(-1)[distinct], taken)
        return self._of(values)

    def __mul__(self, factor: float) -> Self:
        check_factor(factor)
        if factor == 0 or self._is_nothing:
            return self.zero(*self.width)
        with np.errstate(over="ignore"):
            return self._of(_check_finite(self.values * factor))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or self.width != other.width:
            return False
        both_are_nothing = self._is_nothing and other._is_nothing
        return both_are_nothing or np.array_equal(self.values, other.values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({np.array2string(self.values, separator=', ')})"

    def __reduce__(self) -> tuple[Any, ...]:
        values = None if self.is_zero else np.array(self.values)
        return type(self), (self.width, (values, ()))

    def moved(self, move: Move) -> Self:
        words = move.word_entries
        if move.classes is None and words is None:
            return self
        entries, (n_classes, n_entries) = None, (move.after.classes.size, self.width[1])
        if words is not None:
            n_numbers = n_entries - move.before.word_starts[-1]
            places = np.where(words < 0, -1, words + n_numbers)
            entries = np.concatenate([np.arange(n_numbers), places])
            n_entries = n_numbers + move.after.word_starts[-1]
        table, batches = self.parts
        if table is not None and move.classes is not None:
            table = placed(table, move.classes, n_classes)
        if table is not None and entries is not None:
            table = placed(table, entries, n_entries, axis=1)
        moved = tuple(batch.moved(move.classes, entries) for batch in batches)
        return type(self)((n_classes, n_entries), (table, moved))

    def with_columns(self, move: ColumnMove) -> Self:
        n_classes, n_entries = self.shape(move.after, move.axes_after)
        if self.is_zero:
            return self.zero(n_classes, n_entries)
        values, before = np.zeros((n_classes, n_entries)), self.values
        if move.after.counted:
            to, of = move.numbers()
            values[:, to] = before[:, of]
        after = _entry_starts(move.after, move.axes_after)[-len(move.axes_after.words) - 1 :]
        starts = _entry_starts(move.before, move.axes_before)[-len(move.axes_before.words) - 1 :]
        for i, j in zip(*move.texts(), strict=True):
            values[:, after[i] : after[i + 1]] = before[:, starts[j] : starts[j + 1]]
        return type(self)((n_classes, n_entries), (values, ()))

    def tensors(self) -> dict[str, NDArray[Any]]:
        return {} if self.is_zero else {self.name: self.values}

    @classmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Self:
        width = cls.shape(schema, axes)
        if cls.name not in tensors:
            return cls.zero(*width)
        return cls((width[0], width[1]), (tensors.weights(cls.name, width), ()))


class Occurrences(Counts):
    """How often entries occur: sums of counts."""

    name: ClassVar[str] = "occurrences"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        return schema.counted == "occurrences" or bool(schema.texts)

    def by_class(self, axes: Axes) -> Floats:
        return np.empty((self.width[0], 0))  # a row may hold an entry many times

    def total_by_class(self, axes: Axes) -> Floats:
        return np.zeros(self.width[0]) if self.is_zero else self.values.sum(axis=1)


class Documents(Counts):
    """In how many rows entries are above the schema's threshold."""

    name: ClassVar[str] = "documents"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        return schema.counted == "documents" or bool(schema.texts)

    def by_class(self, axes: Axes) -> Floats:
        return np.empty((self.width[0], 0)) if self.is_zero else self.values

    def seen_words(self, axes: Axes) -> list[NDArray[np.bool_]] | None:
        if not axes.words:
            return None
        sizes = [words.size for words in axes.words]
        first = self.width[1] - sum(sizes)
        seen = np.split(self.values[:, first:].any(axis=0), np.cumsum(sizes)[:-1])
        hashed = [words.width is not None for words in axes.words]  # they keep their places
        return [mask | is_hashed for mask, is_hashed in zip(seen, hashed, strict=True)]


class MissingCells(Documents):
    """In how many rows entries are missing, which are as a rule none."""

    name: ClassVar[str] = "missing"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        return schema.counted == "documents"


# --- How cells are counted ----------------------------------------------------------------------


class _Rule(NamedTuple):
    """What the kernel is told of the rows of a table, and of what is added up of them."""

    classes: NDArray[np.int32]
    weights: Floats | None
    measure: str  # cells ("occurrences"), rows of those above the threshold, or "missing" ones
    threshold: float
    is_distinct: bool  # no place is twice in a row, and all cells are above the threshold


def _entry_starts(schema: Schema, axes: Axes) -> list[int]:
    """Return where the entries of the numbers, and of each column of text, begin; and the end.

    >>> _entry_starts(Schema(3, counted="documents"), Axes(np.array(["a"])))
    [0, 3]
    """
    n_numbers = len(schema.numbers) if schema.counted else 0
    return [*([0] if schema.counted else []), *(n_numbers + at for at in axes.word_starts)]


def _counted(block: Block, measure: str, n_classes: int, n_entries: int) -> Parts:
    """Count the cells of rows, of all entries: into a table, or as a list where they are few."""
    rows, schema = block.rows, block.schema
    texts = () if rows.texts is None else rows.texts.columns
    n_cells = sum(column.n_cells for column in texts)
    if schema.counted:
        n_cells += rows.numbers.n_cells if rows.is_sparse else len(rows) * len(schema.numbers)
    are_few = n_classes * n_entries > max(_SMALL_PLACES, _PLACES_PER_CELL * n_cells)
    numbers = [(rows.sparse() if are_few else rows.numbers, False)] if schema.counted else []
    triples = [
        (table, _Rule(block.classes, block.weights, measure, schema.threshold, is_text), at)
        for (table, is_text), at in zip(
            [*numbers, *((column, True) for column in texts)],
            _entry_starts(schema, block.axes),
            strict=False,
        )
    ]
    if are_few:
        batches = [_listed(*triple) for triple in triples]
        return None, tuple(batch for batch in batches if batch.values.size)
    sums = np.zeros((n_classes, n_entries))
    for table, rule, at in triples:
        _add_counts(table, rule, sums, at, block.n_jobs)
    if block.weights is not None and block.weights.max(initial=0.0) > _HEAVY_WEIGHT:
        _check_finite(sums)
    return (sums, ()) if measure != "missing" or sums.any() else (None, ())


def _add_counts(table: Any, rule: _Rule, sums: Floats, at: int, n_jobs: int | None) -> None:
    """Add the cells of a table to the line of sums of each class."""
    if not isinstance(table, SparseRows):
        problems = [_kernel.count_table(table, *rule[:-1], sums, at)]
    elif table.n_cells < _THREADED_CELLS:
        problems = [_kernel.count_sparse(table, *rule, sums, at)]
    else:
        problems = map_blocks(
            lambda rows: _kernel.count_sparse(table, *rule, sums, at, rows),
            rows_by_class(rule.classes, len(sums)),
            n_jobs,
        )
    if any(problems):
        raise NotACountError(*min((problem for problem in problems if problem), key=lambda p: p[1]))


def _listed(rows: SparseRows, rule: _Rule, at: int) -> CellBatch:
    """Return the cells of few rows as they are."""
    n = rows.n_cells
    batch = CellBatch(np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n))
    problem, n = _kernel.list_sparse(rows, *rule, *batch, at)
    if problem:
        raise NotACountError(*problem)
    _check_finite(batch.values[:n])
    if n == rows.n_cells:
        return batch
    return CellBatch(batch.classes[:n].copy(), batch.entries[:n].copy(), batch.values[:n].copy())


def _rest(a: Floats, b: Floats) -> Floats:
    """Return a - b, or raise where that is below 0."""
    rest = remaining(a, b)
    if np.min(rest, initial=0.0) < 0:
        raise NaivelyError(
            "cannot subtract: a count would go below zero. Subtract only what was added."
        )
    return rest


def _check_finite(sums: Floats) -> Floats:
    """Return sums, or raise where one is too large for float64."""
    if not np.isfinite(sums).all():
        raise NaivelyError(
            "counts must add up to less than 1.8e308; got more. Rescale them, or the weights. "
            "Nothing was changed."
        )
    return sums
