r"""Forms: what the kernel adds up for a family, with the weights of its terms folded in.

Many families are few functions of a cell once their parameters are known,

.. math::

    A - B \log(1 + s^2 (x - \mu)^2), \qquad A - B (x - \mu)^2, \qquad
    \text{pieces of straight lines}, \qquad \text{a table of categories}

and each has its loop in the kernel. A family that is none of them, or is rare, is added up by its
own `log_density`.

Where the classes have different weights, a term is centred over the classes before it is weighed,

.. math:: w_k \Big( \log f(x \mid k) - \frac{1}{K} \sum_l \log f(x \mid l) \Big)

so that what says the same of all classes says nothing, whatever its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from naively import _kernel

__all__ = [
    "Form",
    "Pieces",
    "Quadratics",
    "Students",
    "Tables",
    "Terms",
    "weighed",
    "without_infinity",
]

Floats = NDArray[np.float64]


def weighed(terms: Floats, weight: Floats) -> Floats:
    """Return terms by class, the last axis, times their weights; centred if those differ.

    >>> weighed(np.array([1.0, 3.0]), np.array([2.0, 2.0]))
    array([2., 6.])
    >>> weighed(np.array([1.0, 3.0]), np.array([2.0, 0.5]))
    array([-2. ,  0.5])
    """
    if (weight == weight[..., :1]).all():
        return terms * weight
    return (terms - terms.mean(axis=-1, keepdims=True)) * weight


def without_infinity(terms: Floats, axis: int) -> Floats:
    """Put the least term of any class in the place of minus infinity; 0 where all are.

    >>> without_infinity(np.array([[-np.inf, -1.0, -2.0], [-np.inf] * 3]), axis=1)
    array([[-2., -1., -2.],
           [ 0.,  0.,  0.]])
    """
    possible = terms > -np.inf
    if possible.all():
        return terms
    least = np.min(terms, axis=axis, keepdims=True, initial=np.inf, where=possible)
    return np.where(possible, terms, np.where(least < np.inf, least, 0.0))


def _split(weight: Floats) -> tuple[Floats, Floats | None]:
    """Return weights that can be folded into the terms, and those that cannot, by column."""
    weight = np.ascontiguousarray(weight.T)
    if (weight == weight[:, :1]).all():
        return weight, None
    return np.ones_like(weight), weight


class Form(Protocol):
    """Something that adds terms to a table of rows and classes."""

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms of some rows, given as an array or as columns; False at infinity."""


@dataclass(frozen=True)
class Students:
    """A - B log(1 + s^2 (x - mu)^2), by column and class; weights where they are not in A and B."""

    A: Floats
    B: Floats
    mu: Floats
    s: Floats
    weight: Floats | None = None

    @classmethod
    def of(cls, A: Floats, B: Floats, mu: Floats, s: Floats, weight: Floats) -> Students:
        """Fold weights of shape (n_classes, n_columns), as all else here has, into the form."""
        folded, rest = _split(weight)
        mu, s = np.ascontiguousarray(mu.T), np.ascontiguousarray(s.T)
        return cls(folded * A.T, folded * B.T, mu, s, rest)

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms."""
        return _kernel.add_students(X, self.A, self.B, self.mu, self.s, joint, self.weight)


@dataclass(frozen=True)
class Quadratics:
    """A - B (x - mu)^2, by column and class; weights where they are not in A and B."""

    A: Floats
    B: Floats
    mu: Floats
    weight: Floats | None = None

    @classmethod
    def of(cls, A: Floats, B: Floats, mu: Floats, weight: Floats) -> Quadratics:
        """Fold weights of shape (n_classes, n_columns), as all else here has, into the form."""
        folded, rest = _split(weight)
        return cls(folded * A.T, folded * B.T, np.ascontiguousarray(mu.T), rest)

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms."""
        return _kernel.add_quadratics(X, self.A, self.B, self.mu, joint, self.weight)


@dataclass(frozen=True)
class Pieces:
    """Values at knots, by column, knot and class; straight lines between them, flat beyond."""

    knots: Floats
    values: Floats

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms."""
        return _kernel.add_pieces(X, self.knots, self.values, joint)


@dataclass(frozen=True)
class Tables:
    """Values of categories, column after column, by category and class."""

    offsets: NDArray[np.int64]
    values: Floats

    @classmethod
    def of(cls, tables: Sequence[Floats]) -> Tables:
        """Put the tables of several columns, of shape (n_categories, n_classes), together."""
        offsets = np.cumsum([0, *(len(table) for table in tables)])
        return cls(offsets, np.ascontiguousarray(np.concatenate(tables)))

    def exceptions(self) -> tuple[Tables, Tables] | None:
        """Return the tables without minus infinity, and a 1 for each; None if there is none.

        Where every class is impossible, what is left is the classes with the fewest cells that
        they never had, and those cells contribute nothing.
        """
        impossible = self.values == -np.inf
        if not impossible.any():
            return None
        rest = np.where(impossible, 0.0, self.values)
        return Tables(self.offsets, rest), Tables(self.offsets, impossible.astype(np.float64))

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms of codes."""
        _kernel.add_tables(X, self.offsets, self.values, joint)
        return True


@dataclass(frozen=True)
class Terms:
    """What a family itself says, times the weights, of shape (n_classes, n_columns)."""

    family: Any
    parameters: Any
    weight: Floats

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms."""
        x = np.column_stack(X) if isinstance(X, list) else X
        x = np.asarray(x, dtype=np.float64)
        if np.isinf(x).any():
            return False
        terms = self.family.log_density(x, self.parameters).transpose(0, 2, 1)
        joint += weighed(terms, self.weight.T).sum(axis=1)
        return True
