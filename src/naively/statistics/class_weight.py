"""The weight of the rows of each class: their number, where rows are not weighted.

>>> ClassWeight(np.array([2.0, 1.0])) + ClassWeight(np.array([0.0, 1.0]))
ClassWeight([2., 2.])
"""

from __future__ import annotations

from math import isfinite
from typing import ClassVar, Self

import numpy as np

from naively.axes import Axes, Move
from naively.exceptions import NaivelyError
from naively.rows import Block
from naively.schema import Schema
from naively.statistics.statistic import ColumnMove, Floats
from naively.statistics.weights import Weights
from naively.tensors import Tensors, UnsoundError

__all__ = ["ClassWeight", "check_weight"]

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
