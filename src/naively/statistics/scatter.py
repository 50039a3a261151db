r"""Scatter: products of all pairs of columns of numbers, around the mean of each class.

.. math:: d_j = x_j - c_j, \qquad \bar d_k = \frac1{N_k} \sum_{i \in k} w_i d_i, \qquad
          C_k = \sum_{i \in k} w_i (d_i - \bar d_k)(d_i - \bar d_k)^T

where c are the schema's centres, which were fixed before, and :math:`d_j = 0` where a cell is
missing: it counts as the centre. Two of them add by the formula of Chan, Golub and LeVeque,

.. math:: C = C_a + C_b + \frac{w_a w_b}{w_a + w_b}\,\delta \delta^T, \qquad
          \delta = \bar d_b - \bar d_a

and removal is its inverse. Means are those of differences from a centre near them, so that none of
their digits are lost far from zero.

Examples
--------
>>> ends = Scatter(np.array([2.0]), np.array([[1.0, 2.0]]), np.array([[2.0, 4.0, 8.0]]))
>>> middle = Scatter(np.array([1.0]), np.array([[1.0, 2.0]]), np.zeros((1, 3)))
>>> ends + middle
Scatter(weight=[3.], mean=[[1., 2.]], products=[[2., 4., 8.]])
>>> ends + middle - middle == ends
True

References
----------
T. F. Chan, G. H. Golub, R. J. LeVeque (1979), Updating formulae and a pairwise algorithm for
computing sample variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.schema import Schema
from naively.data.tensors import Tensors, UnsoundError
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.statistics.axes import Axes, Move, placed
from naively.statistics.statistic import (
    Block,
    ColumnMove,
    NotFiniteError,
    Statistic,
    TooLargeError,
    check_factor,
)
from naively.statistics.weights import remaining

_ROUNDING = 1e-8  # of a sum of squares, that removal may leave below zero
_MEAN_ROUNDING = 1e-13
_PARTS = ("weight", "mean", "products")


@dataclass(frozen=True, eq=False, repr=False)
class Scatter(Statistic):
    """Weight, mean and products of each class. Where the weight is zero, so are the others.

    Parameters
    ----------
    weight : array of shape (n_classes,)
        Of the rows.
    mean : array of shape (n_classes, p)
        Of differences from the schema's centres.
    products : array of shape (n_classes, p (p + 1) / 2)
        The columns (0, 0), (0, 1), ..., (1, 1), (1, 2), ...
    """

    weight: Floats
    mean: Floats
    products: Floats

    name: ClassVar[str] = "scatter"

    def __post_init__(self) -> None:
        for part in self._parts:
            part.flags.writeable = False

    @property
    def _parts(self) -> tuple[Floats, Floats, Floats]:
        return self.weight, self.mean, self.products

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        return schema.centres is not None

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        return axes.classes.size, len(schema.numbers)

    @classmethod
    def zero(cls, *shape: int) -> Scatter:
        n_classes, p = shape
        products = np.zeros((n_classes, p * (p + 1) // 2))
        return cls(np.zeros(n_classes), np.zeros((n_classes, p)), products)

    @classmethod
    def measure(cls, block: Block) -> Scatter:
        n_classes, p = cls.shape(block.schema, block.axes)
        found = np.zeros(n_classes), np.zeros((n_classes, p)), np.zeros((n_classes, _triangle(p)))
        centres = np.array(block.schema.centres, dtype=np.float64)
        _kernel.scatter(block.rows.numbers, block.classes, block.weights, centres, *found)
        if not all(np.isfinite(part).all() for part in found):
            raise NotFiniteError
        return cls(*found)

    def within(self, at: Any) -> Floats:
        """Return the products of some columns as matrices: of shape (n_classes, p, p)."""
        places = pairs_of(self.mean.shape[1])[np.ix_(at, at)]
        return self.products[:, places]

    def __add__(self, other: Scatter) -> Scatter:
        return self._with(other, np.arange(self.weight.size))

    def _with(self, other: Scatter, places: NDArray[np.intp]) -> Scatter:
        """Add another whose classes are some of these."""
        weight, mean, products = (part.copy() for part in self._parts)
        if not _kernel.add_scatter(weight, mean, products, *other._parts, places):
            raise _too_large(mean, products)
        return Scatter(weight, mean, products)

    def __sub__(self, other: Scatter) -> Scatter:
        w = remaining(self.weight, other.weight)
        changes = (w > 0) & (other.weight > 0)
        share = np.divide(other.weight, w, out=np.zeros_like(w), where=changes)
        with np.errstate(over="ignore", invalid="ignore"):
            delta = np.where(changes[:, np.newaxis], self.mean - other.mean, 0.0)
            mean = self.mean + delta * share[:, np.newaxis]
            C = self.products - (other.products + _products(delta, self.weight * share))
        mean[w == 0], C[w == 0] = 0.0, 0.0
        squares = np.diagonal(pairs_of(mean.shape[1]))
        noise = self._noise(other, 1 + share[:, np.newaxis], self.products[:, squares])
        finite = np.isfinite(mean).all() and np.isfinite(C).all()
        if not (finite and (w >= 0).all() and (C[:, squares] >= -noise).all()):
            msg = "cannot subtract: a weight or a sum of squares would go below zero. "
            raise NaivelyError(msg + "Subtract only what was added.")
        C[:, squares] = np.maximum(C[:, squares], 0.0)
        return Scatter(w, mean, C)

    def _noise(self, other: Scatter, magnified: Floats, before: Floats) -> Floats:
        """Return how far below zero rounding may take a sum of squares: as of `Moments`.

        Moving means by e under a weight w moves it by 2 e sqrt(w m2) + e^2 w.
        """
        e = _MEAN_ROUNDING * np.minimum(np.abs(self.mean), np.abs(other.mean))
        w = self.weight[:, np.newaxis] * magnified
        noise: Floats = _ROUNDING * magnified * before + 2 * e * np.sqrt(w * before) + e * e * w
        return noise

    def __mul__(self, factor: float) -> Scatter:
        check_factor(factor)
        weight, gone = self.weight * factor, self.weight * factor == 0  # a weight may underflow
        with np.errstate(over="ignore"):
            products = self.products * factor
        mean = self.mean.copy()
        mean[gone], products[gone] = 0.0, 0.0
        if not np.isfinite(products).all():
            raise _too_large(mean, products)
        return Scatter(weight, mean, products)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scatter) and all(map(np.array_equal, self._parts, other._parts))

    def __repr__(self) -> str:
        parts = zip(_PARTS, self._parts, strict=True)
        texts = [f"{name}={np.array2string(part, separator=', ')}" for name, part in parts]
        return f"Scatter({', '.join(texts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Scatter, tuple(map(np.array, self._parts))

    def moved(self, move: Move) -> Scatter:
        if move.classes is None:
            return self
        size = move.after.classes.size
        return Scatter(*(placed(part, move.classes, size) for part in self._parts))

    def plus(self, other: Scatter, own: Move, its: Move) -> Scatter:
        whole = self.moved(own)
        return whole + other if its.classes is None else whole._with(other, its.classes)

    def with_columns(self, move: ColumnMove) -> Scatter:
        found = Scatter.zero(self.weight.size, len(move.after.numbers))
        mean, products = found.mean.copy(), found.products.copy()
        to, of = move.numbers()
        mean[:, to] = self.mean[:, of]
        after, before = pairs_of(mean.shape[1]), pairs_of(self.mean.shape[1])
        products[:, after[np.ix_(to, to)]] = self.products[:, before[np.ix_(of, of)]]
        return Scatter(self.weight, mean, products)

    def by_class(self, axes: Axes) -> Floats:
        return self.weight[:, np.newaxis]

    def tensors(self) -> dict[str, NDArray[Any]]:
        return {f"{self.name}.{name}": getattr(self, name) for name in _PARTS}

    @classmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Scatter:
        n_classes, p = cls.shape(schema, axes)
        weight = tensors.weights("scatter.weight", (n_classes,))
        mean = tensors.take("scatter.mean", np.float64, (n_classes, p))
        products = tensors.take("scatter.products", np.float64, (n_classes, _triangle(p)))
        if not (np.isfinite(mean).all() and np.isfinite(products).all()):
            raise UnsoundError("it holds numbers that are not finite")
        if products[:, np.diagonal(pairs_of(p))].min(initial=0.0) < 0:
            raise UnsoundError("a sum of squares is negative")
        if mean[weight == 0].any() or products[weight == 0].any():
            raise UnsoundError("a mean or a sum of products has no weight")
        return cls(weight, mean, products)


@lru_cache(maxsize=64)
def _columns_of_pairs(p: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(p)


def _triangle(p: int) -> int:
    return p * (p + 1) // 2


@lru_cache(maxsize=64)
def pairs_of(p: int) -> NDArray[np.intp]:
    """Return the place of each pair of columns among the products: of shape (p, p).

    >>> pairs_of(2)
    array([[0, 1],
           [1, 2]])
    """
    places = np.empty((p, p), np.intp)
    i, j = _columns_of_pairs(p)
    places[i, j] = places[j, i] = np.arange(i.size)
    places.flags.writeable = False
    return places


def _products(delta: Floats, factor: Floats) -> Floats:
    """Return the products of columns (K, p) in the order of pairs, times a factor for each row."""
    i, j = _columns_of_pairs(delta.shape[1])
    found: Floats = delta[:, i] * (factor[:, np.newaxis] * delta)[:, j]
    return found


def _too_large(mean: Floats, products: Floats) -> TooLargeError:
    """Return the error of products that would not be finite."""
    lines = products[:, pairs_of(mean.shape[1])].sum(axis=2)  # of each column, with all others
    return TooLargeError(np.stack([mean, lines]), mean)
