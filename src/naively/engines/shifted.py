r"""Summaries that travel before they are added: their means are differences from an origin.

Where numbers lie far from zero, as 1e8 plus noise, a mean in float64 has lost the digits in which
the means of two partitions differ. So a partition's means are kept as differences from numbers
near them, and two such summaries meet at one origin:

.. math:: \bar x_b - o_a = (\bar x_b - o_b) + (o_b - o_a)

where the last difference, of numbers near each other, has next to no rounding. What was cut into
many partitions then has the variances of the whole to the last digits.

>>> import numpy as np
>>> from naively.engines.arrays import summarize
>>> X, y = np.array([[1e9 + 0.1], [1e9 + 0.2], [1e9 + 0.3]]), np.array([0, 0, 0])
>>> a, b, c = (shifted(X[i : i + 1], y[i : i + 1], schema=Schema(1)) for i in range(3))
>>> summarize(X, y).moments.m2.round(9), (a + b + c).total.moments.m2.round(9)
(array([[0.01999999]]), array([[0.01999999]]))
>>> (a.total + b.total + c.total).moments.m2.round(9)
array([[0.01999997]])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel, labels
from naively.engines.arrays import Table
from naively.engines.mixed import measure
from naively.engines.tables import Mixed, read
from naively.sample import EVERYTHING
from naively.schema import Schema
from naively.stats import Moments
from naively.summary import Summary

__all__ = ["Shifted", "measure_shifted", "origin_of", "shifted"]

_PLACES, _ROWS = 8, 128  # where to look for an origin, and at how many rows
_FARTHEST = 1e170  # beyond, the square of one unit in the last place is too large for a float64


@dataclass(frozen=True, eq=False)
class Shifted:
    """A summary whose means are differences from an origin.

    Attributes
    ----------
    origin : ndarray of shape (n_classes, n_numbers)
        Numbers near the means.
    summary : Summary
        Its means are differences from the origin.
    """

    origin: NDArray[np.float64]
    summary: Summary

    @classmethod
    def zero(cls, schema: Schema) -> Shifted:
        """Return the summary of no rows."""
        return cls(np.zeros((0, len(schema.numbers))), Summary.zero(schema))

    def __add__(self, other: Shifted) -> Shifted:
        a, b = self.summary, other.summary
        classes = labels.union(a.classes, b.classes)
        at, there = labels.positions(a.classes, classes), labels.positions(b.classes, classes)
        origin = np.zeros((classes.size, a.moments.weight.shape[1]))
        origin[there] = other.origin
        origin[at] = np.where(a.moments.weight > 0, self.origin, origin[at])
        return Shifted(origin, self._at(origin[at]) + other._at(origin[there]))

    @property
    def total(self) -> Summary:
        """The summary as everybody knows it."""
        return self._at(np.zeros_like(self.origin))

    def _at(self, origin: NDArray[np.float64]) -> Summary:
        """Return the summary with means as differences from another origin."""
        values = np.array(self.summary.moments.values)
        np.add(values[1], self.origin - origin, out=values[1], where=values[0] > 0)
        return replace(self.summary, moments=Moments(values))


def shifted(
    X: Any, y: ArrayLike, *, schema: Schema, sample_weight: ArrayLike | None = None
) -> Shifted:
    """Summarize rows by their labels, by one thread.

    Parameters
    ----------
    X : data frame or array
        Rows.
    y : array-like of shape (n_rows,)
        Labels.
    schema : Schema
        What to measure.
    sample_weight : array-like of shape (n_rows,), optional
        Weights.
    """
    classes, codes = labels.encode(y)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return measure_shifted(read(X, schema), schema, classes, codes, weights)


def measure_shifted(
    table: Mixed,
    schema: Schema,
    classes: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    bound: int = EVERYTHING,
) -> Shifted:
    """Summarize what the kernel reads, by one thread; only rows of a lesser hash are sampled."""
    origin = np.zeros((classes.size, table.numbers.shape[1]))
    if codes.size == table.shape[0]:
        origin = origin_of(table.numbers, codes, classes.size)
    summary = measure(table, schema, classes, codes, weights, 1, origin, bound)
    return Shifted(origin[labels.positions(summary.classes, classes)], summary)


def origin_of(numbers: Table, codes: NDArray[np.int32], n_classes: int) -> NDArray[np.float64]:
    """Return the means of a few rows, and of the whole column where a class is not among them."""
    n_rows, n_columns = numbers.shape
    weight, values = np.zeros(n_classes), np.zeros((3, n_classes, n_columns))
    for start in range(0, n_rows, max(_ROWS, -(-n_rows // _PLACES))):
        rows = slice(start, start + _ROWS)
        _kernel.summarize(numbers[rows], codes[rows], None, weight, values)
    cells, mean, _ = values
    if not np.isfinite(values).all():
        return np.zeros_like(mean)  # what is infinite will be found, and named
    mean = np.where(np.abs(mean) < _FARTHEST, mean, 0.0)
    column = (cells * mean).sum(axis=0) / np.maximum(cells.sum(axis=0), 1.0)
    return np.where(cells > 0, mean, column)
