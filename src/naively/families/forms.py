r"""Forms: what is left of a family once its parameters are known, with the weights folded in.

There are six for the cells of a column, by class,

=========== ====================================== =======================
Quadratics  :math:`A - B (x - \mu)^2`              Gaussian
Students    :math:`A - B \log(1 + s^2 (x-\mu)^2)`  StudentT
Lines       :math:`A + B x`                        Poisson, Bernoulli, counts
Pieces      straight lines between knots           Histogram, any curve
Tables      a number for each category             Categorical
WordLines   :math:`B x` over the words of a text   Text
=========== ====================================== =======================

and sums of those, each of a function of the cell: `FunctionSums`. Three forms of several cells are
in `joint_forms`. Whatever scores rows knows forms and no family: the kernel, SQL, ONNX, the page of
a report. A missing cell adds nothing, and neither does a column and class of which a number is NaN.

Where the classes have different weights, a term is centred over the classes before it is weighted,

.. math:: w_k \Big( \log f(x \mid k) - \frac{1}{K} \sum_l \log f(x \mid l) \Big)

so that a term which is the same for all classes contributes nothing, whatever its weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.functions import function_values, gammaln, special
from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.errors import NaivelyError

_MAX_COUNT = 1e300  # beyond, it is taken as this one, as in the kernel
_BLOCK_CELLS = 1 << 18


def weighted(terms: Floats, weight: Floats) -> Floats:
    """Return terms by class, the last axis, times their weights; centred if those differ.

    >>> weighted(np.array([1.0, 3.0]), np.array([2.0, 2.0]))
    array([2., 6.])
    >>> weighted(np.array([1.0, 3.0]), np.array([2.0, 0.5]))
    array([-2. ,  0.5])
    """
    if _are_equal(weight):
        return terms * weight
    return (terms - terms.mean(axis=-1, keepdims=True)) * weight


def columns_of(X: Any, at: Sequence[int]) -> Any:
    """Return some columns of an array, or of a list of columns; X itself for all of them."""
    if isinstance(X, list):
        return X if len(at) == len(X) else [X[j] for j in at]
    return X if len(at) == X.shape[1] else X[:, at]


def as_array(X: Any) -> Floats:
    """Return an array, or a list of columns, as an array of float64."""
    return np.asarray(np.column_stack(X) if isinstance(X, list) else X, dtype=np.float64)


def _finite(X: Any) -> Floats | None:
    """Return the same; None if there is infinity in it."""
    x = as_array(X)
    return None if np.isinf(x).any() else x


def without_infinity(terms: Floats, axis: int) -> Floats:
    """Replace minus infinity by the least term of any class; by 0 where all are infinite.

    >>> without_infinity(np.array([[-np.inf, -1.0, -2.0], [-np.inf] * 3]), axis=1)
    array([[-2., -1., -2.],
           [ 0.,  0.,  0.]])
    """
    possible = terms > -np.inf
    if possible.all():
        return terms
    least = np.min(terms, axis=axis, keepdims=True, initial=np.inf, where=possible)
    return np.where(possible, terms, np.where(least < np.inf, least, 0.0))


def _are_equal(weight: Floats) -> bool:
    """Whether all classes, the last axis, have the same weights."""
    return bool((weight == weight[..., :1]).all())


def _folded(A: Floats, B: Floats, weight: Floats) -> tuple[Floats, Floats, Floats | None]:
    """Return A and B by column, times their weights, and those weights that are not in them."""
    if (weight != 1).any():
        weight = np.ascontiguousarray(weight.T)
        if _are_equal(weight):
            return weight * A.T, weight * B.T, None
        return np.ascontiguousarray(A.T), np.ascontiguousarray(B.T), weight
    return np.ascontiguousarray(A.T), np.ascontiguousarray(B.T), None


class Form(Protocol):
    """Something that adds terms to a table of rows and classes."""

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms of some rows, given as an array or as columns; False at infinity."""

    def each(self, X: NDArray[Any], n_classes: int) -> Iterator[Floats]:
        """Yield the terms of column after column, each of shape (n_rows, n_classes)."""


class _ByColumn:
    """A form whose arrays have a line for each column."""

    def column(self, i: int) -> Any:
        """Return the form of one column."""
        return self.some(slice(i, i + 1))

    def some(self, at: Any) -> Any:
        """Return the form of some columns."""
        own: Any = self  # every form is a dataclass, and may keep what it has computed
        parts = ((name, getattr(self, name)) for name in own.__dataclass_fields__)
        return type(self)(**{k: v[at] if isinstance(v, np.ndarray) else v for k, v in parts})

    def each(self, X: NDArray[Any], n_classes: int) -> Iterator[Floats]:
        """Yield the terms of column after column, each of shape (n_rows, n_classes)."""
        for i in range(X.shape[1]):
            joint = np.zeros((len(X), n_classes))
            self.column(i).add(X[:, i : i + 1], joint)
            yield joint


@dataclass(frozen=True)
class Quadratics(_ByColumn):
    """A - B (s (x - mu))^2, by column and class."""

    A: Floats
    B: Floats
    mu: Floats
    # a scale for variances so small or large that B alone would be no ordinary float64
    s: Floats | None = None
    # weights that are not folded into A and B, since they differ between the classes
    weight: Floats | None = None

    @classmethod
    def of(
        cls, A: Floats, B: Floats, mu: Floats, weight: Floats, s: Floats | None = None
    ) -> Quadratics:
        """Fold weights in; every array has shape (n_classes, n_columns)."""
        A, B, rest = _folded(A, B, weight)
        s = None if s is None else np.ascontiguousarray(s.T)
        return cls(A, B, np.ascontiguousarray(mu.T), s, rest)

    @property
    def is_plain(self) -> bool:
        """Whether squares are only subtracted: the kernel has a model of its own for these."""
        return self.weight is None and bool(np.fmin.reduce(self.B, axis=None, initial=1.0) > 0)

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms."""
        return _kernel.add_quadratics(X, self.A, self.B, self.mu, joint, self.weight, self.s)


@dataclass(frozen=True)
class Students(_ByColumn):
    """A - B log(1 + s^2 (x - mu)^2), by column and class; weights as those of `Quadratics`."""

    A: Floats
    B: Floats
    mu: Floats
    s: Floats
    weight: Floats | None = None

    @classmethod
    def of(cls, A: Floats, B: Floats, mu: Floats, s: Floats, weight: Floats) -> Students:
        """Fold weights in; every array has shape (n_classes, n_columns)."""
        A, B, rest = _folded(A, B, weight)
        return cls(A, B, np.ascontiguousarray(mu.T), np.ascontiguousarray(s.T), rest)

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms."""
        return _kernel.add_students(X, self.A, self.B, self.mu, self.s, joint, self.weight)


@dataclass(frozen=True)
class Lines(_ByColumn):
    """A + B x, by column and class, for cells that are not below the lowest."""

    A: Floats
    B: Floats
    lowest: float = -np.inf  # cells below it contribute nothing
    # By column, how much -log x! counts. All classes share it, so only the joint log-probability
    # and the evidence need it.
    carrier: Floats | None = None
    # cells above it are 1, and others 0; None where they are what they are
    step: float | None = None
    # by column, the r of log Gamma(x + r) / Gamma(r), which the carrier has beside -log x!
    size: Floats | None = None

    @classmethod
    def of(
        cls,
        A: Floats,
        B: Floats,
        weight: Floats,
        *,
        lowest: float,
        counts: bool = False,
        size: Floats | None = None,
    ) -> Lines:
        """Fold weights in; every array has shape (n_classes, n_columns)."""
        known = ~np.isnan(A + B)
        A, B = (weighted(np.where(known, part, 0.0).T, weight.T) for part in (A, B))
        carrier = np.where(known.any(axis=0), weight[0], 0.0) if counts else None
        if not _are_equal(weight.T):
            carrier = None  # centred terms have lost it
        given = None if size is None else np.where(np.isnan(size), 1.0, size)
        return cls(np.ascontiguousarray(A), np.ascontiguousarray(B), lowest, carrier, size=given)

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms, without the carrier."""
        if isinstance(X, SparseRows):
            return self._add_sparse(X, joint)
        if self.step is not None:
            return self._add_above(X, self.step, joint)
        return _kernel.add_lines(X, self.A, self.B, self.lowest, joint)

    def _add_sparse(self, X: SparseRows, joint: Floats) -> bool:
        """Add the terms of zeros, and what cells add to those: B x, and -A where missing."""
        joint += self.of_zeros  # no line of sparse rows has a lowest cell
        problem = _kernel.add_sparse_lines(X, self.A, self.B, self.step, joint)
        if problem is not None and problem[0] == "place":
            raise NaivelyError(
                "X must be a valid sparse matrix; got a column beyond its last in row "
                f"{problem[1]}."
            )
        return problem is None

    def _add_above(self, X: Any, step: float, joint: Floats) -> bool:
        """Add A + B of cells above a step, and A of others that are present."""
        n_columns = len(X) if isinstance(X, list) else X.shape[1]
        some = max(1, _BLOCK_CELLS // max(1, n_columns))
        for start in range(0, len(joint), some):
            rows = slice(start, start + some)
            x = _finite([part[rows] for part in X] if isinstance(X, list) else X[rows])
            if x is None:
                return False
            above = np.where(np.isnan(x), np.nan, x > step)
            _kernel.add_lines(above, self.A, self.B, -np.inf, joint[rows])
        return True

    @cached_property
    def of_zeros(self) -> Floats:
        """The terms of a row of zeros, added up, by class."""
        return np.asarray(self.A.sum(axis=0))

    def add_carrier(self, X: Any, joint: Floats) -> None:
        """Add what all classes share."""
        if self.carrier is None:
            return
        x = as_array(X)
        counts = np.where(x < self.lowest, 0.0, np.minimum(np.nan_to_num(x, nan=0.0), _MAX_COUNT))
        if self.size is None:
            shared = gammaln(counts + 1)
        else:  # by the beta function: the difference of two logarithms would lose digits
            shared = special.betaln(self.size, counts + 1) + np.log(counts + self.size)
            shared[(x < self.lowest) | np.isnan(x)] = 0.0
        joint -= (shared @ self.carrier)[:, np.newaxis]

    def each(self, X: NDArray[Any], n_classes: int) -> Iterator[Floats]:
        """Yield the terms of column after column, with the carrier."""
        for i, joint in enumerate(super().each(X, n_classes)):
            self.column(i).add_carrier(X[:, i : i + 1], joint)
            yield joint


@dataclass(frozen=True)
class Pieces(_ByColumn):
    """Values at knots, by column, knot and class; straight lines between them, flat beyond."""

    knots: Floats
    values: Floats

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms."""
        return _kernel.add_pieces(X, self.knots, self.values, joint)


@dataclass(frozen=True)
class Tables(_ByColumn):
    """Values of categories, column after column, by category and class; the last is for others."""

    offsets: NDArray[np.int64]
    values: Floats

    @classmethod
    def of(cls, tables: Sequence[Floats]) -> Tables:
        """Join the tables of several columns, each of shape (n_categories, n_classes)."""
        offsets = np.cumsum([0, *(len(table) for table in tables)])
        return cls(offsets, np.ascontiguousarray(np.concatenate(tables)))

    def table(self, i: int) -> Floats:
        """Return the values of the i-th column."""
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    def column(self, i: int) -> Tables:
        """Return the form of one column."""
        return Tables.of([self.table(i)])

    def exceptions(self) -> tuple[Tables, Tables] | None:
        """Return the tables without minus infinity, and a 1 for each; None if there is none.

        Where every class is impossible, the classes with the fewest impossible cells remain, and
        those cells contribute nothing.
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
class WordLines:
    """The sum of B x over the words of a document: lines of columns that are held sparsely."""

    B: Floats  # (n_words, n_classes): what a word adds
    # Whether x is one over the root of how many words the document has; else it is how often the
    # document has the word
    presence: bool
    known: NDArray[np.bool_] | None = None  # (n_words,): the words that count; None for all

    def add(self, X: SparseRows, joint: Floats) -> bool:
        """Add the terms of documents."""
        if not self.presence:
            _kernel.add_sparse_lines(X, None, self.B, None, joint)
            return True
        terms = np.zeros_like(joint)
        _kernel.add_sparse_lines(X, None, self.B, 0.0, terms)
        terms *= self.scale(X)[:, np.newaxis]
        joint += terms
        return True

    def each(self, X: Any, n_classes: int) -> Iterator[Floats]:
        """Yield the terms, which are of one column."""
        joint = np.zeros((len(X), n_classes))
        self.add(X, joint)
        yield joint

    def scale(self, X: SparseRows) -> Floats:
        """Return what a word of each document counts."""
        if not self.presence:
            return np.ones(len(X))
        values = X.values[X.cells].astype(np.int64)
        if self.known is not None:
            values[~self.known[X.places[X.cells]]] = 0
        ends = np.concatenate([[0], np.cumsum(values)])[X.starts - X.starts[0]]
        return 1 / np.sqrt(np.maximum(np.diff(ends), 1))


FORMS: tuple[type[Form], ...] = (Quadratics, Students, Lines, Pieces, Tables, WordLines)


# --- Forms of functions of a cell ---------------------------------------------------------------


class FunctionPart(NamedTuple):
    """A function by its name and period, and the form of its values."""

    function: str
    period: float
    form: Any


@dataclass(frozen=True)
class FunctionSums(_ByColumn):
    r"""A sum of forms, each of a function of the cell, for some columns.

    .. math:: \sum_f g_f(f(x))

    where f are some of `naively.data.functions` and :math:`g_f` are forms. A cell for which a
    function has no value adds nothing.
    """

    parts: tuple[FunctionPart, ...]

    def some(self, at: Any) -> FunctionSums:
        """Return the form of some columns."""
        return FunctionSums(tuple(p._replace(form=p.form.some(at)) for p in self.parts))

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms of some rows, given as an array or as columns; False at infinity."""
        x = _finite(X)
        return x is not None and all(
            form.add(function_values(name, x, period), joint) for name, period, form in self.parts
        )
