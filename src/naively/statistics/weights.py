"""Tables of weights, which add as numbers do: of classes, of categories, and of bins.

>>> a, b = Tallies(np.array([[1.0, 2.0]])), Tallies(np.array([[0.0, 1.0]]))
>>> a + b - a == b
True
>>> ClassWeight(np.array([2.0, 1.0])) + ClassWeight(np.array([0.0, 1.0]))
ClassWeight([2., 2.])
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.schema import Schema
from naively.data.tensors import Tensors, UnsoundError
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.statistics.axes import Axes, Move, placed
from naively.statistics.statistic import Block, ColumnMove, Table

_MAX_LISTED = 100  # classes whose weights are added up one by one


@dataclass(frozen=True, eq=False, repr=False)
class Weights(Table):
    """Sums of weights by class, the first axis, and by whatever is counted.

    It obeys the laws of every statistic, most of them exactly where weights are whole numbers.
    """

    counted: ClassVar[str]  # what messages call it

    def __add__(self, other: Self) -> Self:
        return type(self)(self.values + other.values)

    def __sub__(self, other: Self) -> Self:
        rest = remaining(self.values, other.values)
        if np.min(rest, initial=0.0) < 0:
            raise NaivelyError(
                f"cannot subtract: {self.counted} would have a weight below zero. "
                "Subtract only what was added."
            )
        return type(self)(rest)

    def __mul__(self, factor: float) -> Self:
        with np.errstate(over="ignore", invalid="ignore"):  # the weight of classes is checked
            return type(self)(self.values * factor)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({np.array2string(self.values, separator=', ')})"

    def plus(self, other: Self, own: Move, its: Move) -> Self:
        values = self._placed(own)
        values[slice(None) if its.classes is None else its.classes] += other.values
        return type(self)(values)

    @classmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Self:
        return cls(tensors.weights(cls.name, cls.shape(schema, axes)))


def remaining(a: Floats, b: Floats) -> Floats:
    """Return a - b, and 0 where that is but the rounding of weights; below 0 it is an error.

    >>> remaining(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 2.0]))
    array([ 0., -1.])
    """
    rest: Floats = a - b
    rounding = np.where(rest > 0, 8 * np.finfo(float).eps, 1e-10)  # as the kernel's
    rest[np.abs(rest) <= rounding * a] = 0.0
    return rest


class ClassWeight(Weights):
    """The weight of the rows of each class: their number, where rows are not weighted.

    Weights of shape (n_classes,), whose sum is finite.
    """

    name: ClassVar[str] = "class_weight"
    counted: ClassVar[str] = "a class"

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        return (axes.classes.size,)

    @classmethod
    def measure(cls, block: Block) -> Self:
        weight = block.sums.class_weight
        check_weight(weight)
        return cls(weight)

    def __add__(self, other: Self) -> Self:
        check_weight(self.values, other.values)
        return super().__add__(other)

    def __mul__(self, factor: float) -> Self:
        scaled = super().__mul__(factor)
        check_weight(scaled.values)
        return scaled

    def plus(self, other: Self, own: Move, its: Move) -> Self:
        check_weight(self.values, other.values)
        return super().plus(other, own, its)

    def with_columns(self, move: ColumnMove) -> Self:
        return self

    def by_class(self, axes: Axes) -> Floats:
        return self.values[:, np.newaxis]

    @classmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Self:
        weight = super().from_tensors(tensors, schema, axes)
        if not np.isfinite(weight.values.sum()):
            raise UnsoundError("the weight of all classes together is too large for float64")
        return weight


def check_weight(*class_weights: Floats) -> None:
    """Raise where the weight of all rows together is too large for float64."""
    if not isfinite(sum(map(_total, class_weights))):
        raise NaivelyError(
            "the weights of all rows must add up to less than 1.8e308; got more. Rescale them."
        )


def _total(weights: Floats) -> float:
    """Return the sum, which may be infinite: Python says nothing of that, and is quick for few."""
    if weights.size < _MAX_LISTED:
        return sum(weights.tolist())
    with np.errstate(over="ignore"):
        return float(np.add.reduce(weights))


class Tallies(Weights):
    """The weight of each category of each column: of shape (n_classes, n_categories of all).

    >>> towns = Axes(np.array(["no", "yes"]), (np.array(["Bonn", "Ulm"]),))
    >>> Tallies(np.array([[0.0, 2.0], [1.0, 0.0]])).by_class(towns)
    array([[2.],
           [1.]])
    """

    name: ClassVar[str] = "tallies"
    counted: ClassVar[str] = "a category"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        return bool(schema.categories)

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        return axes.classes.size, axes.starts[-1]

    @classmethod
    def measure(cls, block: Block) -> Self:
        values = np.zeros(cls.shape(block.schema, block.axes))
        starts = np.array(block.axes.starts)
        _kernel.tally(block.rows.codes, block.classes, block.weights, starts, values)
        return cls(values)

    def moved(self, move: Move) -> Self:
        still = move.classes is None and move.vocabularies is None
        return self if still else type(self)(self._placed(move))

    def plus(self, other: Self, own: Move, its: Move) -> Self:
        entries = its.entries
        if entries is None:
            return super().plus(other, own, its)
        values = self._placed(own)
        classes = np.arange(len(values)) if its.classes is None else its.classes
        values[np.ix_(classes, entries)] += other.values
        return type(self)(values)

    def with_columns(self, move: ColumnMove) -> Self:
        values = np.zeros((len(self.values), move.axes_after.starts[-1]))
        to, of = move.axes_after.starts, move.axes_before.starts
        for i, j in zip(*move.categories(), strict=True):
            values[:, to[i] : to[i + 1]] = self.values[:, of[j] : of[j + 1]]
        return type(self)(values)

    def by_class(self, axes: Axes) -> Floats:
        return np.stack([self.values[:, i:j].sum(axis=1) for i, j in pairwise(axes.starts)], axis=1)

    def seen(self, axes: Axes) -> list[NDArray[np.bool_]]:
        return np.split(self.values.any(axis=0), axes.starts[1:-1])

    def _placed(self, move: Move) -> Floats:
        values, entries = super()._placed(move), move.entries
        return values if entries is None else placed(values, entries, move.after.starts[-1], 1)


class Bins(Weights):
    """The weight of cells between the schema's edges: (n_classes, n_numbers, n_bins)."""

    name: ClassVar[str] = "bins"
    counted: ClassVar[str] = "a bin"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        return schema.edges is not None

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        return axes.classes.size, len(schema.numbers), schema.n_bins

    @classmethod
    def measure(cls, block: Block) -> Self:
        values, edges = np.zeros(cls.shape(block.schema, block.axes)), block.schema.edge_array
        if values.size:
            _kernel.tally_bins(block.rows.numbers, block.classes, block.weights, edges, values)
        return cls(values)

    def with_columns(self, move: ColumnMove) -> Self:
        values = np.zeros((len(self.values), len(move.after.numbers), move.after.n_bins))
        to, of = move.numbers()
        if of and self.values.shape[2]:
            values[:, to] = self.values[:, of]
        return type(self)(values)

    def by_class(self, axes: Axes) -> Floats:
        return self.values.sum(axis=2)
