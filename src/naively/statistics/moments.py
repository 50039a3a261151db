r"""Moments: weight, mean and squared deviations of the cells of every class and column.

`Moments` holds, for every class and column, the weight of the cells seen, their mean and the
sum of their squared deviations from it, ``m2``. Two of them add by the formula of Chan, Golub
and LeVeque,

.. math::

    w = w_a + w_b, \qquad
    \bar x = \bar x_a + \delta \frac{w_b}{w}, \qquad
    m_2 = m_{2,a} + m_{2,b} + \delta^2 \frac{w_a w_b}{w}

where :math:`\delta = \bar x_b - \bar x_a`, which never subtracts large sums of squares, and
removal is its inverse. Far from zero, as at 1e8 plus noise, means in float64 have lost the digits
in which they differ; what rounding takes from a mean is therefore kept beside it, as its ``rest``.

A sum is weight times mean, so that families of counts read `Moments` too.

Examples
--------
>>> import numpy as np
>>> a = Moments.of(weight=2.0, mean=1.0, m2=2.0)  # the numbers 0 and 2
>>> b = Moments.of(weight=1.0, mean=4.0, m2=0.0)  # the number 4
>>> a + b
Moments(weight=3., mean=2., m2=8.)
>>> a + b - b == a
True

References
----------
T. F. Chan, G. H. Golub, R. J. LeVeque (1979), Updating formulae and a pairwise algorithm for
computing sample variances.

D. E. Knuth (1969), The Art of Computer Programming 2, 4.2.2: the error of a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel
from naively.data.functions import function_values
from naively.data.schema import Schema
from naively.data.tensors import Tensors, UnsoundError
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.statistics.axes import Axes, Move
from naively.statistics.statistic import (
    Block,
    ColumnMove,
    NotFiniteError,
    Table,
    TooLargeError,
    check_factor,
)

_LARGEST_MEAN = 1e150  # its square is still a float64


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Table):
    """Weight, mean, sum of squared deviations and rest, elementwise over any shape.

    Laws, each a test of the same name::

        a + zero == a == zero + a            adding nothing changes nothing, bit for bit
        a + b ~ b + a                        to a few ulp
        (a + b) + c ~ a + (b + c)            to a few ulp
        (a + b) - b ~ a                      to ulps of a + b; a - a == zero, exactly
        2 * a ~ a + a;  0 * a == zero

    It is a monoid with cancellation, not a group: there is no ``-a``, and ``a - b`` raises
    where a weight would go below zero.

    Parameters
    ----------
    values : array of shape (4, ...)
        Weight, mean, m2 and rest. Where the weight is zero, so are the others.

    Examples
    --------
    >>> from naively import summarize
    >>> from naively.statistics import Moments
    >>> moments = summarize([[1.0], [3.0], [5.0]], ["a", "a", "b"])[Moments]
    >>> moments.mean.tolist(), moments.m2.tolist()
    ([[2.0], [5.0]], [[2.0], [0.0]])
    """

    name: ClassVar[str] = "moments"
    class_axis: ClassVar[int] = 1

    @classmethod
    def of(cls, weight: ArrayLike, mean: ArrayLike, m2: ArrayLike) -> Self:
        """Put three arrays together; rounding has taken nothing from the means."""
        return cls(np.stack(np.broadcast_arrays(weight, mean, m2, 0.0)).astype(np.float64))

    @classmethod
    def zero(cls, *shape: int) -> Self:
        return cls(np.zeros((4, *shape)))

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        return schema.counted is None

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        return axes.classes.size, 0 if schema.counted else len(schema.numbers)

    @classmethod
    def measure(cls, block: Block) -> Self:
        found = block.sums.moments
        if not np.isfinite(found).all():
            raise NotFiniteError
        return cls(found)

    @property
    def weight(self) -> NDArray[np.float64]:
        """Sum of the weights of the cells seen."""
        return self.values[0]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Weighted mean; 0 where nothing was seen."""
        return self.values[1]

    @property
    def m2(self) -> NDArray[np.float64]:
        """Weighted sum of squared deviations from the mean."""
        return self.values[2]

    @property
    def rest(self) -> NDArray[np.float64]:
        """What rounding took from the mean: the two together are it, to twice the digits."""
        return self.values[3]

    @property
    def is_far(self) -> bool:
        """Whether the square of a mean might exceed every float64."""
        return _kernel.largest_mean(self.values) > _LARGEST_MEAN

    def __add__(self, other: Self) -> Self:
        values = self.values.copy()
        if not _kernel.add(values, other.values):
            raise TooLargeError(values, self.mean, other.mean)
        return type(self)(values)

    def __sub__(self, other: Self) -> Self:
        values = self.values.copy()
        finite = _kernel.subtract(values, other.values)
        if not (finite and np.min(values[[0, 2]], initial=0.0) >= 0):
            msg = "cannot subtract: a weight or a variance would go below zero. "
            raise NaivelyError(msg + "Subtract only what was added.")
        return type(self)(values)

    def __mul__(self, factor: float) -> Self:
        check_factor(factor)
        with np.errstate(over="ignore"):
            values = np.stack([self.weight * factor, self.mean, self.m2 * factor, self.rest])
        values[:, values[0] == 0] = 0.0  # a weight may underflow
        if not np.isfinite(values).all():
            raise TooLargeError(values, self.mean)
        return type(self)(values)

    def plus(self, other: Self, own: Move, its: Move) -> Self:
        values, at = self._placed(own), its.classes
        classes: Any = at
        if at is not None and at.size == 1:
            classes = slice(at[0], at[0] + 1)  # it is read in place
        part = values if at is None else np.ascontiguousarray(values[:, classes])
        finite = _kernel.add(part, other.values)
        if at is not None:
            values[:, classes] = part
        if not finite:
            raise TooLargeError(values, self.moved(own).mean, other.moved(its).mean)
        return type(self)(values)

    def with_columns(self, move: ColumnMove) -> Self:
        values = np.zeros((4, self.values.shape[1], len(move.after.numbers)))
        to, of = move.numbers()
        values[:, :, to] = self.values[:, :, of]
        return type(self)(values)

    def by_class(self, axes: Axes) -> Floats:
        return self.weight

    @classmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Self:
        values = tensors.take(cls.name, np.float64, (4, *cls.shape(schema, axes)))
        if not np.isfinite(values).all():
            raise UnsoundError("it holds numbers that are not finite")
        if values[[0, 2]].min(initial=0.0) < 0:
            raise UnsoundError("a weight or a sum of squares is negative")
        if (values[1:, values[0] == 0] != 0).any():
            raise UnsoundError("a mean or a sum of squares has no weight")
        if not (np.abs(values[3]) <= np.finfo(np.float64).eps * np.abs(values[1])).all():
            raise UnsoundError("the rest of a mean is more than rounding can take")
        return cls(values)

    def __repr__(self) -> str:
        weight, mean, m2 = (np.array2string(v, separator=", ") for v in self.values[:3])
        return f"{type(self).__name__}(weight={weight}, mean={mean}, m2={m2})"

    def pooled(self) -> Self:
        r"""Add up the first axis: the moments of all classes together.

        .. math:: m_2 = \sum_k m_{2,k} + \sum_k w_k (\bar x_k - \bar x)^2
        """
        values = np.empty((4, *self.values.shape[2:]))
        _kernel.pool(self.values, values)
        return type(self)(values)


def sum_and_rest(
    a: NDArray[np.float64], b: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a sum and, exactly, what rounding took from it (Knuth, 1969).

    >>> sum_and_rest(np.array([1e8]), np.array([1e-9]))
    (array([1.e+08]), array([1.e-09]))
    """
    found = a + b
    of_b = found - a
    return found, (a - (found - of_b)) + (b - of_b)


class FunctionMoments(Moments):
    """Moments of functions of cells, such as log x: of shape (4, n_classes, n_functions).

    The schema says which: see `naively.data.functions`. A cell for which a function has no value
    counts as missing, so that the weight says how many cells have one. Rounding differs from one
    processor to another: so do the last digits of a logarithm.
    """

    name: ClassVar[str] = "function_moments"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        return bool(schema.functions)

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        return axes.classes.size, len(schema.functions)

    @classmethod
    def measure(cls, block: Block) -> FunctionMoments:
        n_classes, n_functions = cls.shape(block.schema, block.axes)
        place, numbers = {j: i for i, j in enumerate(block.schema.numbers)}, block.rows.numbers
        values = []
        for column, name, period in block.schema.functions:
            if (i := place.get(column)) is None:  # no cell of the column has been seen
                values.append(np.full(block.classes.size, np.nan))
                continue
            cells = numbers[i] if isinstance(numbers, list) else numbers[:, i]
            values.append(function_values(name, cells, period))
        found = np.zeros((4, n_classes, n_functions))
        classes, weights = block.classes, block.weights
        if not _kernel.summarize(values, classes, weights, np.zeros(n_classes), found):
            raise NotFiniteError
        return cls(found)

    def with_columns(self, move: ColumnMove) -> FunctionMoments:
        before = {function: i for i, function in enumerate(move.before.functions)}
        values = np.zeros((4, self.values.shape[1], len(move.after.functions)))
        for i, function in enumerate(move.after.functions):
            origin = function._replace(column=move.origin[function.column])
            if origin in before:
                values[:, :, i] = self.values[:, :, before[origin]]
        return FunctionMoments(values)
