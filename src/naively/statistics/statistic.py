"""What every statistic is: a frozen value that adds, one file for each, in one registry.

A statistic is a table, class first, of what was measured of rows. It obeys, up to the rounding that
its own file states::

    a + zero == a == zero + a;  a + b ~ b + a;  (a + b) + c ~ a + (b + c)
    (a + b) - b ~ a;  a - a == zero;  2 * a ~ a + a;  0 * a == zero

`Summary` holds statistics by their type and knows none of them: it asks a schema which are
measured, unites the labels, and lets each statistic move and add.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively.data.axes import Axes, Move
from naively.data.rows import Block
from naively.data.schema import Schema
from naively.data.tensors import Tensors
from naively.data.types import Floats
from naively.errors import NaivelyError


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
        """Return places among the columns of categories after, and where those stood before."""
        return self._pairs(self.before.categories, self.after.categories)

    def texts(self) -> tuple[list[int], list[int]]:
        """Return places among the columns of text after, and where those stood before."""
        return self._pairs(self.before.texts, self.after.texts)

    def _pairs(self, before: Any, after: Any) -> tuple[list[int], list[int]]:
        place = {j: i for i, j in enumerate(before)}
        found = [(i, place[self.origin[j]]) for i, j in enumerate(after) if self.origin[j] in place]
        return [i for i, _ in found], [i for _, i in found]


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
