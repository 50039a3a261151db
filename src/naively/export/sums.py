r"""A model as the sum that it maximises, in numbers that other languages can work with.

.. math:: c_k + \sum_t w_{kt} \Big(g_t(x, k) - \frac{1}{K} \sum_l g_t(x, l)\Big)

where :math:`c_k` is a constant of each class and each :math:`g_t` is one of the forms. Quadratics
and Students are written alike, as curves of :math:`z = s\,(x - \mu)`; only there are weights that
differ between classes not folded into the numbers. What is the same for all classes changes
neither labels nor probabilities, and may be left out.

Squares of Quadratics are written in units of :math:`2^{512}`, that is, differences in units of
:math:`2^{256}`. A power of two costs no accuracy, and leaves room above: the square of a distance
of 1e154 standard deviations is more than a float64 holds, and in PostgreSQL or BigQuery that is an
error. Bounds on each column take care of the rest: a cell beyond `lowest` or `highest`, more than
1e220 of the smallest standard deviation away, counts as being there. Beside weights that differ, or
in Students, that is 1e150 of the smallest length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import NUMBER
from naively.data.labels import is_text
from naively.data.schema import Schema
from naively.data.types import Floats, Places
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.families.forms import FunctionSums, Lines, Pieces, Quadratics, Students
from naively.families.joint_forms import JointForms
from naively.model.model import Model
from naively.model.terms import Term

UNIT = 2.0**256
SQUARE_UNIT = UNIT**2
_FAR = 1e150  # lengths: the square of more would overflow
IMPOSSIBLE = 1e300  # times cells that a class never had, less the fewest: SQL has no infinity
_LARGEST = 8e307  # the difference of two such numbers is a float64
_MOST_OF_A_LINE = 1e300  # as in the kernel


@dataclass(frozen=True)
class Curves:
    """A - B g(z^2) with z = s (x - mu), by column and class; g is log(1 + z^2), or z^2 itself."""

    at: Places  # the columns, as places among those of numbers
    A: Floats
    B: Floats
    mu: Floats
    s: Floats
    # where classes have different weights: terms are centred over the classes before
    weight: Floats | None
    logarithmic: bool

    @classmethod
    def of_quadratics(cls, at: Sequence[int], form: Quadratics) -> Curves:
        """Take the root of B into s."""
        s = np.sqrt(np.abs(form.B)) * (1.0 if form.s is None else form.s)
        return cls(np.array(at), form.A, np.sign(form.B), form.mu, s, form.weight, False)._known()

    @classmethod
    def of_students(cls, at: Sequence[int], form: Students) -> Curves:
        """Take a form as it is."""
        return cls(np.array(at), form.A, form.B, form.mu, form.s, form.weight, True)._known()

    def _known(self) -> Curves:
        """Return the columns that contribute, with zeros for a class that does not."""
        given = self.A, self.B, self.mu, self.s
        known = ~np.isnan(sum(given))
        rows = known.any(axis=1)
        A, B, mu, s = (np.where(known, array, 0.0)[rows] for array in given)
        weight = None if self.weight is None else self.weight[rows]
        return Curves(self.at[rows], A, B, mu, s, weight, self.logarithmic)

    @property
    def is_plain(self) -> bool:
        """Whether these are squares that only add up: then rows may be very far."""
        return not self.logarithmic and self.weight is None and bool((self.B >= 0).all())

    def bounded(self, n_columns: int) -> tuple[Curves, Floats, Floats]:
        """Return curves, and the ends of each column within which no square overflows."""
        far = _FAR * UNIT / np.sqrt(n_columns) if self.is_plain else _FAR
        apart = np.ptp(self.mu, axis=1, keepdims=True)
        s = np.minimum(self.s, far / np.maximum(apart, 1e-300 * far))
        reach = power_of_ten(far / np.maximum(s.max(axis=1), far / _LARGEST))
        low, high = self.mu.min(axis=1) - reach, self.mu.max(axis=1) + reach
        return replace(self, s=s), np.maximum(low, -_LARGEST), np.minimum(high, _LARGEST)


@dataclass(frozen=True)
class LineColumns:
    """Lines, and the columns that they are of."""

    at: Places
    form: Lines


@dataclass(frozen=True)
class PieceColumns:
    """Pieces, and the columns that they are of; equal knots have equal values."""

    at: Places
    form: Pieces

    @classmethod
    def of(cls, at: Sequence[int], form: Pieces) -> PieceColumns:
        """Return the columns that contribute: whose values are not the same for all classes."""
        rows = np.ptp(form.values, axis=2).any(axis=1)
        knots = np.clip(form.knots, -_LARGEST, _LARGEST)
        return cls(np.array(at)[rows], Pieces(knots[rows], form.values[rows]))


@dataclass(frozen=True)
class CategoryTable:
    """Values of the categories of one column, by category and class; the last for any other.

    Where a class never had a category its value is 0, and -1 is counted. Beside a number as large
    as to rule the class out, the other terms would lose their digits.
    """

    at: int
    categories: NDArray[Any]
    values: Floats
    misses: Floats | None = None  # of the same shape; None where all are 0


@dataclass(frozen=True)
class Sum:
    """The numbers of a model, and which columns hold numbers or categories."""

    classes: NDArray[Any]
    schema: Schema
    constant: Floats
    curves: list[Curves]
    lines: list[LineColumns]
    pieces: list[PieceColumns]
    tables: list[CategoryTable]
    # lowest and highest: bounds of each column of numbers, then of those that are computed:
    # directions have places behind the columns of numbers
    lowest: Floats
    highest: Floats
    # whether categories are the codes 0, 1, 2, ...: cells are numbers, of which the whole part
    # counts
    coded: bool = False
    # The forms of several cells. Those of directions are among the curves and pieces.
    joint: JointForms | None = None
    # Functions of cells, as the places among columns of numbers, names and periods. Their values
    # have places behind the directions.
    functions: tuple[tuple[int, str, float], ...] = ()

    @classmethod
    def of(cls, estimator: SummaryClassifier) -> Sum:
        """Read the numbers off a fitted estimator, or raise where it cannot be exported.

        >>> from naively import NaiveBayes
        >>> model = NaiveBayes(calibration=None).fit([["Ulm"], ["Bonn"]], ["no", "yes"])
        >>> [table.categories.tolist() for table in Sum.of(model).tables]
        [['Bonn', 'Ulm']]
        """
        model = estimator.model_
        for name in ("costs", "reject"):
            if getattr(estimator, name, None) is not None:
                raise NaivelyError(
                    f"{name} cannot be exported; got {getattr(estimator, name)!r}. Export a model "
                    f"of {name}=None, and decide by its probabilities."
                )
        if model.schema.texts:
            name = model.schema.name(model.schema.texts[0])
            raise NaivelyError(
                f"a model of text cannot be exported: {name} would be cut into other words "
                "elsewhere. Leave the column out, or predict where naively runs: in memory, on "
                "files, with Dask or Spark."
            )
        numbers = [term for term in model.terms if term.family.kind is NUMBER]
        n_directions = model.interactions.n_directions if model.interactions else 0
        n_given = len(model.schema.numbers) + n_directions
        functions: dict[tuple[int, str, float], int] = {}
        parts = [p for term in numbers for p in _parts(term, model.schema, functions, n_given)]
        parts = [part for part in [*parts, *_computed(model)] if part.at.size]
        lines = [part for part in parts if isinstance(part, LineColumns)]
        lowest, highest = _bounds_of_lines(n_given + len(functions), lines)
        curves = []
        for part in parts:
            if isinstance(part, Curves):
                curve, low, high = part.bounded(lowest.size)
                lowest[part.at] = np.maximum(lowest[part.at], low)
                highest[part.at] = np.minimum(highest[part.at], high)
                curves.append(curve)
        return cls(
            classes=plain_labels(model.classes),
            schema=model.schema,
            constant=model.constant,
            curves=curves,
            lines=lines,
            pieces=[part for part in parts if isinstance(part, PieceColumns)],
            tables=_tables(model),
            lowest=lowest,
            highest=highest,
            coded=model.coded,
            joint=None if model.interactions is None else model.interactions.form,
            functions=tuple(functions),
        )

    @property
    def is_of_numbers(self) -> bool:
        """Whether a term reads a number, be it computed."""
        return bool(self.curves or self.lines or self.pieces)

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

    @property
    def is_strict(self) -> bool:
        """Whether a category may rule a class out."""
        return any(table.misses is not None for table in self.tables)

    @property
    def has_squares(self) -> bool:
        """Whether rows may be so far away that a joint is infinite."""
        return not all(curves.logarithmic for curves in self.curves)

    @property
    def offset(self) -> Floats:
        """The joint of a row without holes, but for the squares that a far row would add."""
        return self.constant + sum(c.A.sum(axis=0) for c in self.curves if c.is_plain)


_WRITTEN: dict[type, Callable[[Sequence[int], Any], Curves | LineColumns | PieceColumns]] = {
    Quadratics: Curves.of_quadratics,
    Students: Curves.of_students,
    Lines: lambda at, form: LineColumns(np.array(at), form),
    Pieces: PieceColumns.of,
}


def _parts(
    term: Term, schema: Schema, functions: dict[tuple[int, str, float], int], n_given: int
) -> list[Curves | LineColumns | PieceColumns]:
    """Return the forms of a term; functions of cells get places behind those that are given."""
    form = term.form
    if isinstance(form, FunctionSums):
        found = []
        for name, period, part in form.parts:
            every = [(i, name, period) for i in term.at]
            at = [functions.setdefault(one, n_given + len(functions)) for one in every]
            found.append(_WRITTEN[type(part)](at, part))
        return found
    if type(form) not in _WRITTEN:
        raise NaivelyError(
            f"the family {term.family.name!r} of {schema.name(term.columns[0])} cannot be "
            "exported: it has no form that can be written. Give the column another family."
        )
    return [_WRITTEN[type(form)](term.at, form)]


def _computed(model: Model) -> list[Curves | LineColumns | PieceColumns]:
    """Return the forms of directions, whose places are behind the columns of numbers."""
    if model.interactions is None or model.interactions.canonical is None:
        return []
    n = len(model.schema.numbers)
    terms = model.interactions.canonical.terms
    return [_WRITTEN[type(t.form)]([n + i for i in t.at], t.form) for t in terms]


def _bounds_of_lines(n_columns: int, lines: list[LineColumns]) -> tuple[Floats, Floats]:
    most = np.full(n_columns, _LARGEST)
    for line in lines:
        steepest = np.abs(line.form.B).max(axis=1, initial=1.0)
        most[line.at] = np.minimum(most[line.at], _MOST_OF_A_LINE / steepest)
    return -most, most


def _tables(model: Model) -> list[CategoryTable]:
    tables: list[CategoryTable] = []
    if model.tables is None:
        return tables
    values, misses = model.tables.exceptions() or (model.tables, None)
    for i, known in enumerate(model.vocabularies):
        check_categories(known, model.schema.name(model.schema.categories[i]))
        missed = None if misses is None else -misses.table(i)
        tables.append(CategoryTable(i, known, values.table(i), missed))
    return tables


# --- Labels, texts and numbers as other languages can hold them -----------------------------------


_LARGEST_INTEGER = 2**53  # beyond, not every integer is a float64


def power_of_ten(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round down to a number that reads well.

    >>> power_of_ten(np.array([0.03, 250.0]))
    array([1.e-02, 1.e+02])
    """
    return np.array([float(f"1e{n:.0f}") for n in np.floor(np.log10(values))])


def plain_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels of a type that other languages have."""
    kind = classes.dtype.kind
    if is_text(classes):
        for label in classes.tolist():
            check_text(label, "labels")
        return classes
    if kind not in "iubf":
        raise NaivelyError(
            "only labels that are strings, integers, booleans or floats can be exported; "
            f"got dtype {classes.dtype}."
        )
    fits = kind == "i" or (kind == "u" and classes.max(initial=0) <= np.iinfo(np.int64).max)
    return classes.astype(np.int64 if fits else {"u": "uint64", "b": "bool", "f": "float64"}[kind])


def check_text(text: str, what: str) -> None:
    """Raise where a text cannot be written: a zero byte, or half of a surrogate pair."""
    if "\0" in text:
        raise NaivelyError(f"{what} must not hold a zero byte to be exported; got {text!r}.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NaivelyError(f"{what} must be Unicode text to be exported; got {text!r}.") from None


def check_categories(categories: NDArray[Any], column: str) -> None:
    """Raise where categories cannot be written: as texts, or as integers that floats hold."""
    if is_text(categories):
        for category in categories.tolist():
            check_text(category, f"categories of {column}")
    elif categories.dtype.kind in "iu" and (np.abs(categories) > _LARGEST_INTEGER).any():
        raise NaivelyError(
            f"categories of {column} must be integers up to 2^53 to be exported; got larger ones. "
            "Make them text."
        )
