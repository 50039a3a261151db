"""Rows as the kernel reads them: numbers, codes, words, and whose each is; and blocks of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.axes import Axes
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.text.rows import TextRows
from naively.data.text.words import Words
from naively.data.threads import map_blocks
from naively.data.types import Floats

_MOST_TASKS = 64
_CELLS = 1 << 20  # of sparse rows that are made dense at a time


class Table(Protocol):
    """What the kernel reads: an array, or columns, of which rows can be sliced."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def __getitem__(self, rows: slice, /) -> Any: ...


class Columns:
    """Columns of equal length, as a table; each is an array, or becomes one when it is sliced."""

    def __init__(self, columns: list[Any], n_rows: int) -> None:
        self.columns, self.shape = columns, (n_rows, len(columns))

    def __getitem__(self, rows: slice) -> list[NDArray[Any]] | NDArray[Any]:
        if not self.columns:  # a list of none would not say how many rows there are
            return np.empty((len(range(*rows.indices(self.shape[0]))), 0))
        return [column[rows] for column in self.columns]


class DenseBlocks:
    """Sparse rows that become an array when some are sliced."""

    def __init__(self, rows: SparseRows) -> None:
        self.rows, self.shape = rows, rows.shape

    def __getitem__(self, rows: slice) -> NDArray[np.float64]:
        return self.rows.dense(rows)

    def slices(self) -> list[slice]:
        """Cut the rows into blocks of bounded memory."""
        step = max(1, _CELLS // max(1, self.shape[1]))
        return [slice(start, start + step) for start in range(0, self.shape[0], step)]


@dataclass(frozen=True)
class Rows:
    """Columns of numbers, of codes with the categories that they mean, and of text."""

    shape: tuple[int, int]  # rows and columns, of all kinds
    numbers: Any  # columns of numbers; NaN is missing. They may be `SparseRows`
    codes: Any  # columns of codes; a negative one is missing
    # the categories of each column of codes, in the order of the codes
    categories: tuple[NDArray[Any], ...]
    texts: TextRows | None = None  # columns of text; None where there are none
    words: tuple[Words, ...] = ()  # the words of each of them

    @classmethod
    def of_numbers(cls, numbers: Table) -> Rows:
        """Return a table of numbers alone."""
        n_rows, n_columns = numbers.shape
        return cls((n_rows, n_columns), numbers, np.empty((n_rows, 0), np.int32), ())

    @classmethod
    def of_columns(
        cls,
        shape: tuple[int, int],
        numbers: Table | list[Any],
        encoded: Sequence[tuple[NDArray[Any], NDArray[Any]]],
        texts: TextRows | None = None,
        words: tuple[Words, ...] = (),
    ) -> Rows:
        """Return a table of columns of numbers, of codes with their categories, and of text."""
        if isinstance(numbers, list):
            numbers = Columns(numbers, shape[0])
        codes = Columns([codes for codes, _ in encoded], shape[0])
        categories = tuple(categories for _, categories in encoded)
        return cls(shape, numbers, codes, categories, texts, words)

    @property
    def has_sparse(self) -> bool:
        """Whether there are sparse numbers or words, which are counted all at once."""
        return self.is_sparse or self.texts is not None

    @property
    def is_sparse(self) -> bool:
        """Whether only cells that are not zero are held of the numbers."""
        return isinstance(self.numbers, SparseRows)

    @property
    def cells_per_row(self) -> int:
        """How many cells a row has: of sparse rows, how many are held of one on average."""
        n_rows, n_words = max(1, self.shape[0]), 0
        if self.texts is not None:
            n_words = sum(column.n_cells for column in self.texts.columns) // n_rows
        if not isinstance(self.numbers, SparseRows):
            return self.shape[1] + n_words
        return len(self.categories) + self.numbers.n_cells // n_rows + n_words

    def __getitem__(self, rows: slice) -> Rows:
        """Return some rows: arrays or lists of columns, which the kernel reads."""
        count = len(range(*rows.indices(self.shape[0])))
        shape = (count, self.shape[1])
        texts = None if self.texts is None else self.texts[rows]
        cells = self.numbers[rows], self.codes[rows]
        return Rows(shape, *cells, self.categories, texts, self.words)


class Targets(NamedTuple):
    """Whose the rows are: the classes, the code of each row's class, and the rows' weights."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None


class NotFiniteError(Exception):
    """A cell is infinite, or a sum too large; whoever knows all rows says where."""


class KernelSums(NamedTuple):
    """What one call of the kernel adds up: the weight of each class, and the moments."""

    class_weight: Floats
    moments: Floats


@dataclass(frozen=True)
class Block:
    """Some rows to be measured, and how."""

    numbers: Any
    codes: Any
    classes: NDArray[np.int32]  # the place of each row's class on the axis of classes
    weights: Floats | None
    schema: Schema
    axes: Axes
    # for each column of categories, the hashes of their names, where a sample is drawn
    category_hashes: list[NDArray[np.uint64]]
    bound: int  # only rows of a lesser hash are sampled
    untyped: bool  # whether classes may turn out to be one: see `Sample`
    n_jobs: int | None = 1  # threads of a statistic that is measured of all rows at once
    texts: TextRows | None = None  # columns of text

    @property
    def entries(self) -> list[Any]:
        """The tables of counts: of numbers, where those are counts, and of words."""
        numbers = [self.numbers] if self.schema.counted else []
        return numbers if self.texts is None else [*numbers, *self.texts.columns]

    @property
    def sums(self) -> KernelSums:
        """The sums of all columns of numbers, which two statistics share.

        A `cached_property` would do, but in Python 3.11 it lets one thread in at a time.
        """
        kept: dict[str, KernelSums] = self.__dict__
        if "_sums" in kept:
            return kept["_sums"]
        n_classes, numbers = self.axes.classes.size, self.numbers
        if self.schema.counted is not None:  # then there are no moments of numbers
            numbers = np.empty((self.classes.size, 0))
        shape = (4, n_classes, 0 if self.schema.counted else len(self.schema.numbers))
        found = KernelSums(np.zeros(n_classes), np.zeros(shape))
        if isinstance(numbers, SparseRows):
            found = self._sparse_sums(numbers)
        elif not _kernel.summarize(numbers, self.classes, self.weights, *found):
            raise NotFiniteError
        kept["_sums"] = found
        return found

    def _sparse_sums(self, numbers: SparseRows) -> KernelSums:
        """Return the sums of sparse rows: a thread owns whole classes."""
        n_classes = self.axes.classes.size
        weight = np.bincount(self.classes, self.weights, n_classes).astype(np.float64, copy=False)
        values = np.zeros((4, n_classes, numbers.n_columns))
        found = map_blocks(
            lambda rows: _kernel.add_sparse_moments(
                numbers, self.classes, self.weights, weight, rows, values
            ),
            rows_by_class(self.classes, n_classes),
            self.n_jobs,
        )
        if any(found):
            raise NotFiniteError
        return KernelSums(weight, values)


def rows_by_class(codes: NDArray[np.int32], n_classes: int) -> list[NDArray[np.uint32]]:
    """Return the numbers of rows, class by class, in as many parts as threads may take.

    >>> rows_by_class(np.array([1, 0, 1], np.int32), 2)
    [array([1], dtype=uint32), array([0, 2], dtype=uint32)]
    """
    order, ends = np.empty(codes.size, np.uint32), np.empty(n_classes + 1, np.int64)
    _kernel.group_rows(codes, n_classes, order, ends)
    edges = np.linspace(0, n_classes, min(n_classes, _MOST_TASKS) + 1).astype(int).tolist()
    return [order[ends[i] : ends[j]] for i, j in pairwise(edges)]
