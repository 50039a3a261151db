r"""Counts: how often entries occur in each class, or in how many rows.

Entries are the columns of numbers, where the schema says that those are counts, and then the words
of each column of text.

.. math:: N_{kj} = \sum_{i \in k} w_i x_{ij}, \qquad D_{kj} = \sum_{i \in k} w_i [x_{ij} > t]

Sums of whole numbers are exact. Adding a few rows to a large table costs what they hold, not
classes times entries: their cells wait beside the table until somebody reads it, or until they are
many. Missing cells are skipped, and counted apart where rows are counted.

Examples
--------
>>> a = Occurrences((1, 3), (np.array([[1.0, 0.0, 2.0]]), ()))
>>> cells = CellBatch(np.array([0, 0], np.int32), np.array([2, 2]), np.array([5.0, 1.0]))
>>> (a + Occurrences((1, 3), (None, (cells,)))).values
array([[1., 0., 8.]])

How cells are counted: into a table of sums, or as a list of cells where they are few.

Rows are grouped by class, and a thread owns whole classes: the same bits on any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.axes import Axes, Move, placed
from naively.data.rows import Block, rows_by_class
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.tensors import Tensors
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.statistics.statistic import ColumnMove, Statistic, check_factor
from naively.statistics.weights import remaining


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
    measure_name: ClassVar[str]

    def __post_init__(self) -> None:
        if self.parts[0] is not None:
            self.parts[0].flags.writeable = False

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        """Return the numbers of classes and of entries."""
        return axes.classes.size, entry_starts(schema, axes)[-1]

    @classmethod
    def zero(cls, *shape: int) -> Self:
        """Nothing counted, which takes no memory."""
        n_classes, n_entries = shape
        return cls((n_classes, n_entries))

    @classmethod
    def measure(cls, block: Block) -> Self:
        """Count the cells of rows."""
        n_classes, n_entries = cls.shape(block.schema, block.axes)
        return cls((n_classes, n_entries), counted(block, cls.measure_name))

    @property
    def values(self) -> Floats:
        """The table, with all cells added to it."""
        table, batches = self.parts
        if table is None or batches or table.dtype != np.float64:
            table = np.zeros(self.width) if table is None else table.astype(np.float64)
            for batch in batches:
                _kernel.add_listed(*batch, table)
            if batches and not np.isfinite(table).all():
                raise too_large()
            table.flags.writeable = False
            object.__setattr__(self, "parts", (table, ()))  # the same value
        return table

    def _keys(self, batch: CellBatch) -> NDArray[np.int64]:
        return batch.classes.astype(np.int64) * self.width[1] + batch.entries

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
        if its is None and not more:
            return type(self)(self.width, self.parts)  # which does not own its table
        if table is None and not batches:
            return type(self)(other.width, other.parts)
        if table is None or its is None:
            return self._with(its if table is None else table, (*batches, *more))
        with np.errstate(over="ignore"):
            total = self.values + (other.values if more else its)
        if not np.isfinite(total).all():
            raise too_large()
        return self._of(total)

    def absorbed(self, other: Self) -> Self:
        """Return the sum, in the table of this one where `absorbed` made that table itself."""
        (table, batches), (its, more) = self.parts, other.parts
        if table is None or not self.__dict__.get("_own_table"):
            found = self + other
            made = all(found.parts[0] is not given for given in (None, table, its))
            object.__setattr__(found, "_own_table", made)
            return found
        table.flags.writeable = True
        for batch in (*batches, *more):
            _kernel.add_listed(*batch, table)
        if its is not None:
            with np.errstate(over="ignore"):
                np.add(table, its, out=table)
        if its is not None or any(batch.values.max() > HEAVY for batch in more):
            check_finite(table)
        found = self._of(table)
        object.__setattr__(found, "_own_table", True)
        return found

    def _with(self, table: Floats | None, batches: tuple[CellBatch, ...]) -> Self:
        """Return the sum of a table and cells; batches of similar sizes become one."""
        kept = list(batches)
        while len(kept) > 1 and kept[-2].values.size <= 2 * kept[-1].values.size:
            last = kept.pop()
            kept[-1] = joined([kept[-1], last])
        found = type(self)(self.width, (table, tuple(kept)))
        n_cells = sum(batch.values.size for batch in kept)
        if FEW * n_cells >= self.width[0] * self.width[1]:
            _ = found.values
        return found

    def _of(self, values: Floats) -> Self:
        return type(self)(self.width, (values, ()))

    def __sub__(self, other: Self) -> Self:
        table, batches = other.parts
        if table is not None or not batches:
            rest = remaining(self.values, other.values)
            self._check_rest(rest)
            return self._of(rest)
        batch = joined(batches)
        keys, inverse = np.unique(self._keys(batch), return_inverse=True)
        taken = np.bincount(inverse, batch.values).astype(np.float64)
        values = self.values.copy()
        rest = remaining(values.reshape(-1)[keys], taken)
        self._check_rest(rest)
        values.reshape(-1)[keys] = rest
        return self._of(values)

    @staticmethod
    def _check_rest(rest: Floats) -> None:
        if np.min(rest, initial=0.0) < 0:
            raise NaivelyError(
                "cannot subtract: a count would go below zero. Subtract only what was added."
            )

    def __mul__(self, factor: float) -> Self:
        check_factor(factor)
        if factor == 0 or self._is_nothing:
            return self.zero(*self.width)
        with np.errstate(over="ignore"):
            scaled = self.values * factor
        if factor > 1 and not np.isfinite(scaled).all():
            raise too_large()
        return self._of(scaled)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or self.width != other.width:
            return False
        if self._is_nothing and other._is_nothing:
            return True
        return np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({np.array2string(self.values, separator=', ')})"

    def __reduce__(self) -> tuple[Any, ...]:
        values = None if self.is_zero else np.array(self.values)
        return type(self), (self.width, (values, ()))

    def moved(self, move: Move) -> Self:
        """Return the same once classes and words went to other places."""
        words = move.word_entries
        if move.classes is None and words is None:
            return self
        entries, n_entries = None, self.width[1]
        if words is not None:
            counted = n_entries - move.before.word_starts[-1]
            entries = np.concatenate([np.arange(counted), np.where(words < 0, -1, words + counted)])
            n_entries = counted + move.after.word_starts[-1]
        width = move.after.classes.size, n_entries
        table, batches = self.parts
        if table is not None and move.classes is not None:
            table = placed(table, move.classes, width[0])
        if table is not None and entries is not None:
            table = placed(table, entries, width[1], axis=1)
        return type(self)(
            width, (table, tuple(_moved(batch, move.classes, entries) for batch in batches))
        )

    def with_columns(self, move: ColumnMove) -> Self:
        """Return the counts of some columns."""
        width = self.shape(move.after, move.axes_after)
        if self.is_zero:
            return self.zero(*width)
        values, before = np.zeros(width), self.values
        if move.after.counted:
            to, of = move.numbers()
            values[:, to] = before[:, of]
        after = entry_starts(move.after, move.axes_after)[-len(move.axes_after.words) - 1 :]
        starts = entry_starts(move.before, move.axes_before)[-len(move.axes_before.words) - 1 :]
        for i, j in zip(*move.texts(), strict=True):
            values[:, after[i] : after[i + 1]] = before[:, starts[j] : starts[j + 1]]
        return type(self)((width[0], width[1]), (values, ()))

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the table; nothing, where nothing was counted."""
        return {} if self.is_zero else {self.name: self.values}

    @classmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Self:
        """Return the counts, each finite and not below 0."""
        width = cls.shape(schema, axes)
        if cls.name not in tensors:
            return cls.zero(*width)
        return cls((width[0], width[1]), (tensors.weights(cls.name, width), ()))


class Occurrences(Counts):
    """How often entries occur: sums of counts."""

    name: ClassVar[str] = "occurrences"
    measure_name: ClassVar[str] = "occurrences"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        """Whether the schema says that counts are added up, or there is text."""
        return schema.counted == "occurrences" or bool(schema.texts)

    def by_class(self, axes: Axes) -> Floats:
        """Return nothing: a row may hold an entry many times."""
        return np.empty((self.width[0], 0))

    def total_by_class(self, axes: Axes) -> Floats:
        """Return the counts of all entries."""
        return np.zeros(self.width[0]) if self.is_zero else self.values.sum(axis=1)


class Documents(Counts):
    """In how many rows entries are above the schema's threshold."""

    name: ClassVar[str] = "documents"
    measure_name: ClassVar[str] = "documents"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        """Whether the schema says that rows are counted, or there is text."""
        return schema.counted == "documents" or bool(schema.texts)

    def by_class(self, axes: Axes) -> Floats:
        """Return the weight of the rows that hold each entry."""
        return np.empty((self.width[0], 0)) if self.is_zero else self.values

    def seen_words(self, axes: Axes) -> list[NDArray[np.bool_]] | None:
        """Return which words have weight; hashed ones keep their places."""
        if not axes.words:
            return None
        sizes = [words.size for words in axes.words]
        first = self.width[1] - sum(sizes)
        seen = np.split(self.values[:, first:].any(axis=0), np.cumsum(sizes)[:-1])
        hashed = [words.width is not None for words in axes.words]
        return [mask | is_hashed for mask, is_hashed in zip(seen, hashed, strict=True)]


class MissingCells(Documents):
    """In how many rows entries are missing, which are as a rule none."""

    name: ClassVar[str] = "missing"
    measure_name: ClassVar[str] = "missing"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        """Whether rows are counted in which numbers are above a threshold."""
        return schema.counted == "documents"


def _moved(
    batch: CellBatch, classes: NDArray[Any] | None, entries: NDArray[Any] | None
) -> CellBatch:
    to_classes = batch.classes if classes is None else classes[batch.classes].astype(np.int32)
    to_entries = batch.entries if entries is None else entries[batch.entries]
    kept = (to_classes >= 0) & (to_entries >= 0)
    if kept.all():
        return CellBatch(to_classes, to_entries, batch.values)
    return CellBatch(to_classes[kept], to_entries[kept], batch.values[kept])


# --- How cells are counted ----------------------------------------------------------------------


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
