"""What every statistic is: a frozen value that adds, in one registry.

A statistic is a table, class first, of what was measured of rows. It obeys, up to the rounding that
its own file states::

    a + zero == a == zero + a;  a + b ~ b + a;  (a + b) + c ~ a + (b + c)
    (a + b) - b ~ a;  a - a == zero;  2 * a ~ a + a;  0 * a == zero

`Summary` holds statistics by their type and knows none of them: it asks a schema which are
measured, unites the labels, and lets each statistic move and add.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.tensors import Tensors
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.statistics.axes import Axes, Move, placed

_MAX_TASKS = 64


class NotFiniteError(Exception):
    """A cell is infinite, or a sum too large; whoever knows all rows says where."""


class TooLargeError(NaivelyError):
    """A statistic would not be finite.

    It says ``at`` which class and column of numbers, and the largest ``mean`` there of what was
    added.
    """

    def __init__(self, values: Floats, *means: Floats) -> None:
        self.at = tuple(np.argwhere(~np.isfinite(values).all(axis=0))[0].tolist())
        self.mean = max((mean[self.at] for mean in means), key=abs)
        super().__init__("a variance would exceed the range of float64. Rescale the numbers.")


def check_factor(factor: float) -> None:
    """Raise for what no statistic can be multiplied by."""
    if not (factor >= 0 and np.isfinite(factor)):
        raise NaivelyError(f"a factor must be finite and >= 0; got {factor!r}.")


class ColumnMove(NamedTuple):
    """Which columns become which: some are chosen, or undecided ones are decided."""

    # before and after: the columns as they were, and as they are to be
    before: Schema
    after: Schema
    origin: Any  # for each column, which one it was
    # axes_before and axes_after: their labels. A column of which nothing was measured before has an
    # empty vocabulary.
    axes_before: Axes
    axes_after: Axes

    def numbers(self) -> tuple[list[int], list[int]]:
        """Return places among the columns of numbers after, and where those stood before."""
        return self._pairs(self.before.numbers, self.after.numbers)

    def categories(self) -> tuple[list[int], list[int]]:
        """Return the same of the columns of categories."""
        return self._pairs(self.before.categories, self.after.categories)

    def texts(self) -> tuple[list[int], list[int]]:
        """Return the same of the columns of text."""
        return self._pairs(self.before.texts, self.after.texts)

    def _pairs(self, before: Sequence[int], after: Sequence[int]) -> tuple[list[int], list[int]]:
        place = {j: i for i, j in enumerate(before)}
        to = [i for i, j in enumerate(after) if self.origin[j] in place]
        return to, [place[self.origin[after[i]]] for i in to]


class Statistic(ABC):
    """A value that was measured: it adds, subtracts, scales, and moves with its labels.

    Attributes
    ----------
    name : str
        What its tensors are called in a file.
    whole : bool
        Whether sparse rows are measured all at once, and not block by block.
    """

    name: ClassVar[str]
    whole: ClassVar[bool] = False

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        """Whether a schema asks for it."""
        return True

    @classmethod
    @abstractmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        """Return what `zero` needs to know."""

    @classmethod
    @abstractmethod
    def zero(cls, *shape: int) -> Self:
        """Nothing seen."""

    @classmethod
    @abstractmethod
    def measure(cls, block: Block) -> Self:
        """Measure some rows: the one place where the statistic meets data."""

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    @abstractmethod
    def __mul__(self, factor: float) -> Self: ...

    def __rmul__(self, factor: float) -> Self:
        return self * factor

    @abstractmethod
    def moved(self, move: Move) -> Self:
        """Return the same once its labels went to other places."""

    def plus(self, other: Self, own: Move, its: Move) -> Self:
        """Return the sum of two that stand on different axes, each once it moved.

        Law: ``a.plus(b, own, its) == a.moved(own) + b.moved(its)``. A statistic overrides it where
        that takes one copy instead of two.
        """
        return self.moved(own) + other.moved(its)

    def absorbed(self, other: Self) -> Self:
        """Return the sum; this one is given up, so that its memory may become that of the sum."""
        return self + other

    @abstractmethod
    def with_columns(self, move: ColumnMove) -> Self:
        """Return what was measured of some columns; nothing, where nothing was."""

    @abstractmethod
    def by_class(self, axes: Axes) -> Floats:
        """Return weights, class first, none of which exceeds the weight of its class."""

    def total_by_class(self, axes: Axes) -> Floats:
        """Return all that is held of each class, which is 0 for a class without rows."""
        return self.by_class(axes).sum(axis=1)

    def seen(self, axes: Axes) -> list[NDArray[np.bool_]] | None:
        """Return which labels of each vocabulary have weight; None if this does not tell."""
        return None

    def seen_words(self, axes: Axes) -> list[NDArray[np.bool_]] | None:
        """Return which words of each column of text have weight; None if this does not tell."""
        return None

    @abstractmethod
    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the whole content as arrays, by names that begin with this one's."""

    @classmethod
    @abstractmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Self:
        """Return what `tensors` was told of, having checked every number."""


@dataclass(frozen=True, eq=False, repr=False)
class Table(Statistic):
    """A statistic that is one array, of which one axis is that of the classes."""

    values: Floats

    class_axis: ClassVar[int] = 0

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @classmethod
    def zero(cls, *shape: int) -> Self:
        return cls(np.zeros(shape))

    def __getitem__(self, at: Any) -> Self:
        """Take some of the classes."""
        at = (slice(None), at) if self.class_axis else at
        return type(self)(np.ascontiguousarray(self.values[at]))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and np.array_equal(self.values, other.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (np.array(self.values),)

    def moved(self, move: Move) -> Self:
        return self if move.classes is None else type(self)(self._placed(move))

    def tensors(self) -> dict[str, NDArray[Any]]:
        return {self.name: self.values}

    def _placed(self, move: Move) -> Floats:
        """Return a copy with each class in its new place."""
        if move.classes is None:
            return self.values.copy()
        return placed(self.values, move.classes, move.after.classes.size, self.class_axis)


# --- What is measured ---------------------------------------------------------------------------


class KernelSums(NamedTuple):
    """What one call of the kernel adds up: the weight of each class, and the moments."""

    class_weight: Floats
    moments: Floats


@dataclass(frozen=True)
class Block:
    """Some rows to be measured, and how."""

    rows: Rows
    classes: NDArray[np.int32]  # the place of each row's class on the axis of classes
    weights: Floats | None
    schema: Schema
    axes: Axes
    # for each column of categories, the hashes of their names, where a sample is drawn
    category_hashes: list[NDArray[np.uint64]]
    bound: int  # only rows of a lesser hash are sampled
    untyped: bool  # whether classes may turn out to be one: see `Sample`
    n_jobs: int | None = 1  # threads of a statistic that is measured of all rows at once

    @property
    def sums(self) -> KernelSums:
        """The sums of all columns of numbers, which two statistics share.

        A `cached_property` would do, but in Python 3.11 it lets one thread in at a time.
        """
        cache: dict[str, Any] = self.__dict__
        if "_sums" not in cache:
            cache["_sums"] = self._measured_sums()
        sums: KernelSums = cache["_sums"]
        return sums

    def _measured_sums(self) -> KernelSums:
        n_classes, numbers = self.axes.classes.size, self.rows.numbers
        if self.schema.counted is not None:  # then there are no moments of numbers
            numbers = np.empty((self.classes.size, 0))
        elif isinstance(numbers, SparseRows):
            return self._sparse_sums(numbers)
        n_numbers = 0 if self.schema.counted else len(self.schema.numbers)
        sums = KernelSums(np.zeros(n_classes), np.zeros((4, n_classes, n_numbers)))
        if not _kernel.summarize(numbers, self.classes, self.weights, *sums):
            raise NotFiniteError
        return sums

    def _sparse_sums(self, numbers: SparseRows) -> KernelSums:
        """Return the sums of sparse rows: a thread owns whole classes."""
        n_classes = self.axes.classes.size
        weight = np.bincount(self.classes, self.weights, n_classes).astype(np.float64, copy=False)
        values = np.zeros((4, n_classes, numbers.n_columns))
        overflows = map_blocks(
            lambda rows: _kernel.add_sparse_moments(
                numbers, self.classes, self.weights, weight, rows, values
            ),
            rows_by_class(self.classes, n_classes),
            self.n_jobs,
        )
        if any(overflows):
            raise NotFiniteError
        return KernelSums(weight, values)


def rows_by_class(codes: NDArray[np.int32], n_classes: int) -> list[NDArray[np.uint32]]:
    """Return the numbers of rows, class by class, in as many parts as threads may take.

    >>> rows_by_class(np.array([1, 0, 1], np.int32), 2)
    [array([1], dtype=uint32), array([0, 2], dtype=uint32)]
    """
    order, ends = np.empty(codes.size, np.uint32), np.empty(n_classes + 1, np.int64)
    _kernel.group_rows(codes, n_classes, order, ends)
    edges = np.linspace(0, n_classes, min(n_classes, _MAX_TASKS) + 1).astype(int).tolist()
    return [order[ends[i] : ends[j]] for i, j in pairwise(edges)]
