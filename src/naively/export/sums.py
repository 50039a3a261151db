r"""A model of any columns as the sum that it maximises, in the shapes that exporters write.

.. math:: c_k + \sum_t w_{kt} \Big(g_t(x, k) - \frac{1}{K} \sum_l g_t(x, l)\Big)

where :math:`c_k` is a constant of each class and each :math:`g_t` has one of four shapes:

.. math::

    A - B \log(1 + z^2) \text{ or } A - B z^2, \quad z = s\,(x - \mu), \qquad A + B x, \qquad
    \text{pieces of straight lines}, \qquad \text{a table of categories}

Only in the first are the weights not folded into the numbers. What is the same for all classes
changes neither labels nor probabilities, and may be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.exceptions import NaivelyError
from naively.export.terms import Fitted, check_text, plain_labels, power_of_ten
from naively.families import forms
from naively.families.bernoulli import Bernoulli
from naively.families.forms import Quadratics, Students, weighed
from naively.families.poisson import Poisson
from naively.labels import is_text
from naively.schema import Schema

__all__ = ["Curves", "Lines", "Pieces", "Sum", "Table"]

Floats = NDArray[np.float64]

_FAR = 1e150  # lengths: the square of more would overflow
_IMPOSSIBLE = -1e9  # the term of a class that never had a category: SQL has no infinity
_LARGEST = 8e307  # the difference of two such numbers is a float64
_SMALLEST = 1e-150
_MOST_OF_A_LINE = 1e300  # as in the families
_LARGEST_INTEGER = 2**53  # beyond, not every integer is a float64


@dataclass(frozen=True)
class Curves:
    """A - B g(z^2) with z = s (x - mu), by column and class; g is log(1 + z^2), or z^2 itself.

    Attributes
    ----------
    at : array of int
        The columns, as places among those of numbers.
    weight : array or None
        Where classes have different weights: terms are centred over the classes before.
    """

    at: NDArray[np.intp]
    A: Floats
    B: Floats
    mu: Floats
    s: Floats
    weight: Floats | None
    logarithmic: bool

    @classmethod
    def of(cls, at: list[int], form: Students | Quadratics) -> Curves:
        """Return the columns that say something, with zeros for a class that does not."""
        if isinstance(form, Students):
            given = form.A, form.B, form.mu, form.s
        else:
            given = form.A, np.sign(form.B), form.mu, np.sqrt(np.abs(form.B))
        known = ~np.isnan(sum(given))
        says = known.any(axis=1)
        A, B, mu, s = (np.where(known, array, 0.0)[says] for array in given)
        weight = None if form.weight is None else form.weight[says]
        s = np.minimum(s, _FAR / np.maximum(np.ptp(mu, axis=1, keepdims=True), _SMALLEST))
        return cls(np.array(at)[says], A, B, mu, s, weight, isinstance(form, Students))

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the ends of each column within which no square overflows."""
        reach = power_of_ten(_FAR / np.maximum(self.s.max(axis=1), _FAR / _LARGEST))
        return self.mu.min(axis=1) - reach, self.mu.max(axis=1) + reach


@dataclass(frozen=True)
class Lines:
    """A + B x by column and class, for cells that are not below the lowest."""

    at: NDArray[np.intp]
    A: Floats
    B: Floats
    lowest: float

    @classmethod
    def of(cls, at: list[int], form: forms.Terms, column: str) -> Lines:
        r"""Write a family as lines.

        Of the Poisson's :math:`x \log \lambda - \lambda - \log x!`, the last is the same for all
        classes.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            if type(form.family) is Poisson:
                lowest, A, B = 0.0, -form.parameters.rate, np.log(form.parameters.rate)
            elif type(form.family) is Bernoulli:
                lowest, A = -_MOST_OF_A_LINE, np.log1p(-form.parameters.p)
                B = np.log(form.parameters.p) - A
            else:
                raise NaivelyError(
                    f"the family {form.family.name!r} of {column} cannot be exported: its formula "
                    "is its own. Give the column another family."
                )
        known = ~np.isnan(A + B)
        A, B = (weighed(np.where(known, array, 0.0).T, form.weight.T) for array in (A, B))
        return cls(np.array(at), A, B, lowest)


@dataclass(frozen=True)
class Pieces:
    """Values at knots, by column, knot and class; equal knots have equal values."""

    at: NDArray[np.intp]
    knots: Floats
    values: Floats

    @classmethod
    def of(cls, at: list[int], form: forms.Pieces) -> Pieces:
        """Return the columns that say something: whose values are not the same for all classes."""
        says = np.ptp(form.values, axis=2).any(axis=1)
        knots = np.clip(form.knots, -_LARGEST, _LARGEST)
        return cls(np.array(at)[says], knots[says], form.values[says])


@dataclass(frozen=True)
class Table:
    """Values of the categories of one column, by category and class; the last for any other."""

    at: int
    categories: NDArray[Any]
    values: Floats


@dataclass(frozen=True)
class Sum:
    """The numbers of a model, and which columns hold numbers or categories.

    Attributes
    ----------
    lowest, highest : array
        Bounds of each column of numbers: a cell beyond, more than 1e150 of the smallest length
        away, counts as being there.
    coded : bool
        Whether categories are the codes 0, 1, 2, ...: cells are numbers, of which the whole part
        counts.
    """

    classes: NDArray[Any]
    schema: Schema
    constant: Floats
    curves: list[Curves]
    lines: list[Lines]
    pieces: list[Pieces]
    tables: list[Table]
    lowest: Floats
    highest: Floats
    coded: bool = False

    @classmethod
    def of(cls, estimator: Fitted) -> Sum:
        """Read the numbers off a fitted estimator.

        >>> from naively import NaiveBayes
        >>> model = NaiveBayes(calibration=None).fit([["Ulm"], ["Bonn"]], ["no", "yes"])
        >>> [table.categories.tolist() for table in Sum.of(model).tables]
        [['Bonn', 'Ulm']]
        """
        summary, model = estimator.summary_, estimator._model()
        schema, scorer = summary.schema, model.kernel
        parts = [_part(at, form, schema.name(schema.numbers[at[0]])) for at, form in scorer.numbers]
        curves = [part for part in parts if isinstance(part, Curves) and part.at.size]
        lines = [part for part in parts if isinstance(part, Lines)]
        lowest, highest = _bounds(len(schema.numbers), curves, lines)
        return cls(
            classes=plain_labels(summary.classes),
            schema=schema,
            constant=scorer.constant,
            curves=curves,
            lines=lines,
            pieces=[part for part in parts if isinstance(part, Pieces) and part.at.size],
            tables=_tables(scorer.categories, model.categories, schema),
            lowest=lowest,
            highest=highest,
            coded=model.coded,
        )

    @property
    def names(self) -> tuple[str, ...] | None:
        """What the columns are called."""
        return self.schema.names

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return self.schema.n_columns

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Which classes have a probability at all."""
        return np.isfinite(self.constant)


def _part(at: list[int], form: Any, column: str) -> Curves | Lines | Pieces:
    if isinstance(form, Students | Quadratics):
        return Curves.of(at, form)
    return Pieces.of(at, form) if isinstance(form, forms.Pieces) else Lines.of(at, form, column)


def _bounds(n_columns: int, curves: list[Curves], lines: list[Lines]) -> tuple[Floats, Floats]:
    lowest, highest = np.full(n_columns, -_LARGEST), np.full(n_columns, _LARGEST)
    for curve in curves:
        low, high = curve.bounds()
        lowest[curve.at] = np.maximum(lowest[curve.at], low)
        highest[curve.at] = np.minimum(highest[curve.at], high)
    for line in lines:
        lowest[line.at] = np.maximum(lowest[line.at], -_MOST_OF_A_LINE)
        highest[line.at] = np.minimum(highest[line.at], _MOST_OF_A_LINE)
    return lowest, highest


def _tables(form: Any, categories: tuple[NDArray[Any], ...], schema: Schema) -> list[Table]:
    tables = []
    for i, known in enumerate(categories):
        _check_categories(known, schema.name(schema.categories[i]))
        values = np.maximum(form.values[form.offsets[i] : form.offsets[i + 1]], _IMPOSSIBLE)
        tables.append(Table(i, known, values))
    return tables


def _check_categories(categories: NDArray[Any], column: str) -> None:
    if is_text(categories):
        for category in categories.tolist():
            check_text(category, f"categories of {column}")
    elif categories.dtype.kind in "iu" and (np.abs(categories) > _LARGEST_INTEGER).any():
        raise NaivelyError(
            f"categories of {column} must be integers up to 2^53 to be exported; got larger ones. "
            "Make them text."
        )
