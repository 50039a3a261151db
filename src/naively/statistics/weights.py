"""Tables of weights, which add as numbers do: `ClassWeight`, `Tallies` and `Bins` are such tables.

>>> from naively.statistics import Tallies
>>> a, b = Tallies(np.array([[1.0, 2.0]])), Tallies(np.array([[0.0, 1.0]]))
>>> a + b - a == b
True

The weight of the rows of each class: their number, where rows are not weighted.

>>> ClassWeight(np.array([2.0, 1.0])) + ClassWeight(np.array([0.0, 1.0]))
ClassWeight([2., 2.])
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naively.data.axes import Axes, Move, placed
from naively.data.rows import Block
from naively.data.schema import Schema
from naively.data.tensors import Tensors, UnsoundError
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.statistics.statistic import ColumnMove, Statistic


@dataclass(frozen=True, eq=False, repr=False)
class Weights(Statistic):
    """Weights by class, the first axis, and by whatever is counted.

    It obeys the laws of every statistic, most of them exactly where weights are whole numbers.
    """

    values: Floats  # (n_classes, ...): sums of the weights of what was seen

    counted: ClassVar[str]  # what messages call it

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @classmethod
    def zero(cls, *shape: int) -> Self:
        """Nothing seen."""
        return cls(np.zeros(shape))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.values + other.values)

    def __sub__(self, other: Self) -> Self:
        rest = remaining(self.values, other.values)
        if np.min(rest, initial=0.0) < 0:
            msg = f"cannot subtract: {self.counted} would have a weight below zero. "
            raise NaivelyError(msg + "Subtract only what was added.")
        return type(self)(rest)

    def __mul__(self, factor: float) -> Self:
        with np.errstate(over="ignore", invalid="ignore"):  # the weight of classes is checked
            return type(self)(self.values * factor)

    __rmul__ = __mul__

    def __getitem__(self, at: Any) -> Self:
        """Take some of the classes."""
        return type(self)(np.ascontiguousarray(self.values[at]))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({np.array2string(self.values, separator=', ')})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (np.array(self.values),)

    def moved(self, move: Move) -> Self:
        """Return the same once classes went to other places."""
        return self if move.classes is None else type(self)(self._placed(move))

    def plus(self, other: Self, own: Move, its: Move) -> Self:
        """Add another in one copy."""
        values = self._placed(own)
        if its.classes is None:
            values += other.values
        else:
            values[its.classes] += other.values
        return type(self)(values)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the weights."""
        return {self.name: self.values}

    @classmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Self:
        """Return the weights, each finite and not below 0."""
        return cls(tensors.weights(cls.name, cls.shape(schema, axes)))

    def _placed(self, move: Move) -> Floats:
        """Return a copy with each class in its new place."""
        if move.classes is None:
            return self.values.copy()
        return placed(self.values, move.classes, move.after.classes.size)


def remaining(a: Floats, b: Floats) -> Floats:
    """Return a - b, and 0 where that is but the rounding of weights; below 0 it is an error.

    >>> remaining(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 2.0]))
    array([ 0., -1.])
    """
    rest: Floats = a - b
    rounding = np.where(rest > 0, 8 * np.finfo(float).eps, 1e-10)  # as the kernel's
    rest[np.abs(rest) <= rounding * a] = 0.0
    return rest


# --- The weight of the rows of each class -------------------------------------------------------


_FEW = 100  # classes whose weights are added up one by one


class ClassWeight(Weights):
    """Weights of shape (n_classes,), whose sum is finite."""

    name: ClassVar[str] = "class_weight"
    counted: ClassVar[str] = "a class"

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        """Return the number of classes."""
        return (axes.classes.size,)

    @classmethod
    def measure(cls, block: Block) -> Self:
        """Add up the weights of rows."""
        found = block.sums.class_weight
        check_weight(found)
        return cls(found)

    def __add__(self, other: Self) -> Self:
        check_weight(self.values, other.values)
        return super().__add__(other)

    def __mul__(self, factor: float) -> Self:
        scaled = super().__mul__(factor)
        check_weight(scaled.values)
        return scaled

    __rmul__ = __mul__

    def plus(self, other: Self, own: Move, its: Move) -> Self:
        """Add another in one copy."""
        check_weight(self.values, other.values)
        return super().plus(other, own, its)

    def with_columns(self, move: ColumnMove) -> Self:
        """Rows weigh the same, whatever their columns."""
        return self

    def by_class(self, axes: Axes) -> Floats:
        """Return the weights themselves."""
        return self.values[:, np.newaxis]

    @classmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Self:
        """Return the weights, whose sum must be finite."""
        found = super().from_tensors(tensors, schema, axes)
        if not np.isfinite(found.values.sum()):
            raise UnsoundError("the weight of all classes together is too large for float64")
        return found


def check_weight(*class_weights: Floats) -> None:
    """Raise where the weight of all rows together is too large for float64."""
    if not isfinite(sum(map(_total, class_weights))):
        raise NaivelyError(
            "the weights of all rows must add up to less than 1.8e308; got more. Rescale them."
        )


def _total(weights: Floats) -> float:
    """Return the sum, which may be infinite: Python says nothing of that, and is quick for few."""
    if weights.size < _FEW:
        return sum(weights.tolist())
    with np.errstate(over="ignore"):
        return float(np.add.reduce(weights))
