r"""What every family is: a formula, the statistic it needs, and how a row is taken out again.

A model is the line

.. math:: \log p(y) + \sum_i \log f_i(x_i \mid y)

and a family is one :math:`f`. Its fields say how parameters are read off a statistic; it holds
nothing that was learned.

Every family keeps three promises. A missing cell contributes nothing: its terms are 0. A class
without a cell in a column has the distribution of the column in all classes together. Every finite
cell has a finite term; only `Categorical(alpha=0)` makes a class impossible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.functions import ColumnFunction
from naively.data.kinds import CATEGORY, NUMBER, TEXT, Kind
from naively.data.schema import Schema
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.forms import Form, as_array, weighted
from naively.statistics import FunctionMoments, Moments, Statistic
from naively.statistics.summary import Summary

_BLOCK_TERMS = 30_000
_NUMERIC = {float, int, type(None)}  # of the fields that are numbers, or None, by default
_LEAST_VARIANCE = 2.0**-1040  # of less, squares in float64 have lost too many digits
ROUNDING = 1e-12  # of sums of the same weights
FARTHEST = 1e300  # a cell or a product; terms of cells beyond would overflow

_TOO_LARGE = (
    "holds numbers so large, or weights so small, that its variance exceeds the range of float64. "
    "Rescale them."
)
_TOO_SMALL = (
    "holds numbers, or weights, so small that float64 has no digits for its variance (below "
    "1e-313). Multiply them by a power of ten."
)

Codes: TypeAlias = NDArray[np.integer[Any]]

_CELLS_OF_KIND: dict[Kind, Callable[[Any, Any, Any, Any], Any]] = {
    NUMBER: lambda x, codes, texts, at: x if len(at) == x.shape[1] else x[:, at],
    CATEGORY: lambda x, codes, texts, at: codes[:, at],
    TEXT: lambda x, codes, texts, at: texts.columns[at],
}


class Family(ABC):
    """A distribution of cells given the class.

    Families of numbers take tables of shape (n, d) with NaN for missing cells; their statistics
    and parameters have shape (K, d, ...). Families of categories take one column of codes of
    shape (n,) with -1 for missing cells.

    A family of counts, such as `naively.families.entries`, describes all columns of a table of
    counts at once, by one term of one weight: then terms have shape (n, K) or (n,), too.
    """

    name: ClassVar[str]  # what `NaiveBayes(families=...)` calls it
    kind: ClassVar[Kind] = NUMBER  # what a column must be
    reads: ClassVar[type[Statistic]] = Moments  # what must have been measured: see `statistic_of`
    functions: Any = ()  # the functions of cells whose moments it reads, by name and period
    cells: ClassVar[str] = "numbers"  # which cells have these functions, in words
    oracle: ClassVar[str]  # its name in scipy.stats, which tests compare it with
    # the smallest and the largest cell that it knows
    support: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    discrete: ClassVar[bool] = False  # whether cells are whole numbers
    candidate: ClassVar[bool] = False  # whether ``families="best"`` tries it
    # how far the form may be from the log density; 0 where they differ by rounding alone
    error: ClassVar[float] = 0.0
    has_prior: ClassVar[bool] = True  # whether class probabilities are added to its terms
    is_joint: ClassVar[bool] = False  # whether all columns are one term, of one weight
    positive: ClassVar[tuple[str, ...]] = ()  # fields that must be > 0 and finite
    # how far below the greatest term of any class calibration lets the term of a class be
    floor: ClassVar[float] = 1e3

    def __init_subclass__(cls) -> None:
        """Drop the form of the parent where a family has a formula of its own."""
        super().__init_subclass__()
        cls.kind = Kind.named(cls.kind)
        if {"log_density", "log_term"} & vars(cls).keys() and "form" not in vars(cls):
            cls.form = Family.form  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        """Raise where a number was given something else, or is not positive where it must be."""
        for name, value in vars(self).items():
            default = getattr(type(self), name, "")
            if value is default or type(default) not in _NUMERIC or _is_number(value):
                continue
            or_none = ", or None" if default is None else ""
            raise NaivelyError(
                f"{name} of {type(self).__name__} must be a number{or_none}; got {value!r}."
            )
        for name in self.positive:
            if not 0 < getattr(self, name) < np.inf:
                raise NaivelyError(f"{name} must be > 0 and finite; got {getattr(self, name)!r}.")

    def statistic_of(self, summary: Summary, columns: Sequence[int], at: Any) -> Any:
        """Return what was measured of some columns.

        Columns of numbers come together, by their places in the schema and among all columns of
        numbers. One of categories or of text comes alone; then ``at`` is one place.
        """
        if self.functions:
            return _function_moments(summary, self, columns, at)
        moments = summary.moments
        if len(at) == len(summary.schema.numbers):
            return moments
        return Moments(np.ascontiguousarray(moments.values[:, :, at]))

    def check_measured(self, schema: Schema, columns: Sequence[int]) -> None:
        """Raise where a summary of this schema does not hold what the family reads of columns."""
        measured = set(schema.functions)
        for j in columns if self.functions else ():
            if not all(ColumnFunction(j, *f) in measured for f in self.functions):
                raise NaivelyError(
                    f"the family {self.name!r} of {schema.name(j)} reads "
                    f"{', '.join(name for name, _ in self.functions)} of its cells, which the "
                    "summary does not hold. Give the column another family, or measure it again."
                )

    def cells_of(self, numbers: Any, codes: Any, texts: Any, at: Any) -> Any:
        """Return the cells of columns by their places: of numbers a table, of others a column."""
        return _CELLS_OF_KIND[self.kind](numbers, codes, texts, at)

    @abstractmethod
    def parameters(self, statistic: Any, prior: Any = None) -> Any:
        """Read the parameters off a statistic, class first.

        The prior is read off the same statistic, all classes together, unless it is given: the
        parameters of a statistic carry theirs as ``parameters.prior``.
        """

    @abstractmethod
    def log_density(self, x: Any, parameters: Any) -> Floats:
        """Return log f(x | k) of shape (n, K, d), or (n, K) for a column of categories."""

    @abstractmethod
    def left_out(
        self, x: Any, codes: Codes, weights: Floats, statistic: Any, parameters: Any
    ) -> Floats:
        """Return log f(x | own class) had each row not been seen: of shape (n, d), or (n,).

        Law: it is ``log_density`` of ``parameters(statistic of the other rows, prior)``. The
        prior stays as it is: there a row is one among all rows of the column, and it changes the
        prior of all classes alike.
        """

    @property
    def n_terms(self) -> int:
        """How many terms, and so weights, a column has."""
        return 1

    @property
    def tells_seen_rows(self) -> bool:
        """Whether terms of seen rows differ from those of the form, in classes not their own."""
        return type(self).among_others is not Family.among_others

    def uncalibrated(self) -> Family:
        """Return the family of a model without calibration."""
        return self

    def among_others(self, x: Any, weights: Floats, parameters: Any) -> Floats:
        """Return log f(x | k) of rows that were seen, in classes that are not their own."""
        return self.log_density(x, parameters)

    def cdf(self, x: Floats, codes: Codes, parameters: Any) -> Floats | None:
        """Return P(X <= x | own class) of each cell, of shape (n, d); None where nobody wrote it.

        It is NaN where a cell is missing, or its column contributes nothing.
        """
        return None

    def form(self, parameters: Any, weight: Floats) -> Form:
        """Return one of `naively.families.forms`: the terms times weights of shape (K, d).

        Law: it adds ``weighted(log_density, weight)``, summed over columns. A family without such a
        form is added up by its `log_density`, in memory alone: it can be neither exported nor
        saved.
        """
        return OwnTerms(self, parameters, weight)


class MomentFamily(Family):
    """A family that is read off weight, mean and m2 of each class by itself, and what all share.

    It says what all classes share, what a class is beside it, and the log density of a cell. How
    parameters are read, and how a row is taken out again, is the same for all of them.
    """

    @abstractmethod
    def prior_of(self, moments: Moments) -> Any:
        """Read off what all classes share: parameters have it as ``prior``."""

    @abstractmethod
    def read(self, weight: Floats, mean: Floats, m2: Floats, prior: Any) -> Any:
        """Return the parameters of classes, or for each row those of its class without it."""

    @abstractmethod
    def log_term(self, x: Floats, parameters: Any) -> Floats:
        """Return the log density of cells, which broadcast with the parameters; 0 if missing."""

    def values(self, x: Floats) -> Floats:
        """Return what the moments are of: the cells, or functions of them."""
        return x

    def moments_of(self, statistic: Moments) -> Moments:
        """Return the moments that parameters are read off."""
        return statistic

    def parameters(self, statistic: Moments, prior: Any = None) -> Any:
        """Read the parameters of classes, and what they share unless it is given."""
        moments = self.moments_of(statistic)
        prior = self.prior_of(moments) if prior is None else prior
        return self.read(moments.weight, moments.mean, moments.m2, prior)

    def log_density(self, x: Floats, parameters: Any) -> Floats:
        """Return the log density of each cell in each class."""
        return in_blocks(
            lambda rows: self.log_term(self.values(x[rows])[:, np.newaxis], parameters), len(x)
        )

    def left_out(
        self,
        x: Floats,
        codes: Codes,
        weights: Floats,
        statistic: Any,
        parameters: Any,
        at: Any = None,
    ) -> Floats:
        """Return the log density of each cell, or of those at other places, by the other rows."""
        values = self.moments_of(statistic).values
        n_cells = int(np.prod(values.shape[2:]))  # of a row
        flat = Moments(values.reshape(*values.shape[:2], n_cells))

        def block(rows: slice) -> Floats:
            own = self.values(x[rows])
            cells = np.ascontiguousarray(own.reshape(len(own), n_cells))
            rest = moments_without(cells, codes[rows], weights[rows], flat)
            weight, mean, m2 = (part.reshape(own.shape) for part in rest)
            without = self.read(weight, mean, m2, parameters.prior)
            return self.log_term(own if at is None else at[rows], without)

        return in_blocks(block, len(x))


def only_function(statistic: Moments) -> Moments:
    """Return the moments of the one function that a family reads."""
    return Moments(np.ascontiguousarray(statistic.values[:, :, 0]))


def _is_number(value: Any) -> bool:
    """Whether a value is a real number, and an integer is not beyond every float64."""
    try:
        return isinstance(value, Real) and float(value) is not None
    except OverflowError:
        return False


@dataclass(frozen=True)
class OwnTerms:
    """The terms of a family that has none of the forms, times weights of shape (K, d)."""

    family: Family
    parameters: Any
    weight: Floats

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms of some rows, given as an array or as columns; False at infinity."""
        x = as_array(X)
        if np.isinf(x).any():
            return False
        terms = self.family.log_density(x, self.parameters).transpose(0, 2, 1)
        joint += weighted(terms, self.weight.T).sum(axis=1)
        return True

    def each(self, X: NDArray[Any], n_classes: int) -> Iterator[Floats]:
        """Yield the terms of column after column, each of shape (n_rows, n_classes)."""
        terms = self.family.log_density(X, self.parameters).transpose(2, 0, 1)
        yield from np.ascontiguousarray(weighted(terms, self.weight.T[:, np.newaxis]))


def _function_moments(
    summary: Summary, family: Family, columns: Sequence[int], at: Sequence[int]
) -> Moments:
    """Return the moments of functions, by class, function and column; raise where one has none."""
    measured = {function: i for i, function in enumerate(summary.schema.functions)}
    places = [[measured[ColumnFunction(j, *f)] for j in columns] for f in family.functions]
    moments = Moments(summary[FunctionMoments].values[:, :, places])
    seen = summary.moments.weight[:, at].sum(axis=0)
    lost = seen - moments.weight.sum(axis=0).min(axis=0)
    if (lost > ROUNDING * seen).any():
        i = int(np.argmax(lost > ROUNDING * seen))
        raise NaivelyError(
            f"cells of the family {family.name!r} must be {family.cells}; got others in "
            f"{summary.schema.name(columns[i])} (their weight is {lost[i]:g}). Give the column "
            "another family, such as 'student_t', or make these cells missing."
        )
    return moments


class SpreadError(NaivelyError):
    """The variance of a column of a family's table is nothing that float64 can hold."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what, at)
        self.what, self.at = what, at

    def __str__(self) -> str:
        return f"column {self.at} {self.what}"


def in_blocks(terms: Callable[[slice], Floats], n_rows: int) -> Floats:
    """Return the terms of all rows, of some at a time: what they need stays in the cache."""
    step = max(1, _BLOCK_TERMS // max(1, terms(slice(0, 1)).size))
    if n_rows <= step:
        return terms(slice(None))
    return np.concatenate([terms(slice(at, at + step)) for at in range(0, n_rows, step)])


def check_spread(moments: Moments, whole: Moments, epsilon: Floats | float = 0.0) -> None:
    """Raise where float64 cannot hold the variance of a column, all classes together.

    Above what smoothing adds to the variances, epsilon, differences may be as small as they are.
    """
    raise_spread(~np.isfinite(whole.m2), _TOO_LARGE)
    tiny = (whole.m2 < _LEAST_VARIANCE * whole.weight) & (epsilon < _LEAST_VARIANCE)
    if not tiny.any():
        return
    seen = moments.weight > 0
    lowest = np.min(moments.mean, axis=0, initial=np.inf, where=seen)
    highest = np.max(moments.mean, axis=0, initial=-np.inf, where=seen)
    raise_spread(tiny & (highest > lowest), _TOO_SMALL)


def raise_spread(bad: NDArray[np.bool_], what: str = _TOO_LARGE) -> None:
    """Raise where a column, the last axis, has a variance that float64 cannot hold."""
    if bad.any():
        raise SpreadError(what, int(np.argwhere(bad)[0][-1]))


def moments_without(
    x: Floats, codes: Codes, weights: Floats, moments: Moments
) -> tuple[Floats, Floats, Floats]:
    r"""Return weight, mean and m2 of each row's own class without the row, of shape (n, d).

    .. math::

        w' = w - w_i, \qquad
        \bar x' = \bar x + (\bar x - x) \frac{w_i}{w'}, \qquad
        m_2' = m_2 - (\bar x - x)^2 \frac{w\,w_i}{w'}

    All are 0 where nothing is left. What a missing cell leaves is meaningless.
    """
    out = np.empty((3, *x.shape))
    _kernel.moments_without(x, codes.astype(np.int32, copy=False), weights, moments.values, out)
    return out[0], out[1], out[2]
