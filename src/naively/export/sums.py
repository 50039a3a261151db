r"""A model as the sum that it maximises, in numbers that other languages can work with.

.. math:: c_k + \sum_t w_{kt} \Big(g_t(x, k) - \frac{1}{K} \sum_l g_t(x, l)\Big)

where :math:`c_k` is a constant of each class and each :math:`g_t` is one of the forms. Quadratics
and Students are written alike, as curves of :math:`z = s\,(x - \mu)`; only there are weights that
differ between classes not folded into the numbers. What is the same for all classes changes
neither labels nor probabilities, and may be left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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

IMPOSSIBLE = 1e300  # times cells that a class never had, less the fewest: SQL has no infinity


class Curves(NamedTuple):
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
    def of(cls, at: Places, form: Quadratics | Students) -> Curves:
        """Return the columns that contribute, with zeros for a class that does not.

        Of squares, the root of B becomes a part of s.
        """
        B, logarithmic = form.B, isinstance(form, Students)
        s: Any = form.s
        if not logarithmic:
            B, s = np.sign(B), np.sqrt(np.abs(B)) * (1.0 if s is None else s)
        known = ~np.isnan(form.A + B + form.mu + s)
        rows = known.any(axis=1)
        A, B, mu, s = (np.where(known, n, 0.0)[rows] for n in (form.A, B, form.mu, s))
        weight = None if form.weight is None else form.weight[rows]
        return cls(at[rows], A, B, mu, s, weight, logarithmic)


class LineColumns(NamedTuple):
    """Lines, and the columns that they are of."""

    at: Places
    form: Lines


class PieceColumns(NamedTuple):
    """Pieces, and the columns that they are of; equal knots have equal values."""

    at: Places
    form: Pieces

    @classmethod
    def of(cls, at: Places, form: Pieces) -> PieceColumns:
        """Return the columns that contribute: whose values are not the same for all classes."""
        rows = np.ptp(form.values, axis=2).any(axis=1)
        return cls(at[rows], Pieces(form.knots[rows], form.values[rows]))


class CategoryTable(NamedTuple):
    """Values of the categories of one column, by category and class; the last for any other.

    Where a class never had a category its value is 0, and -1 is counted. Beside a number as large
    as to rule the class out, the other terms would lose their digits.
    """

    at: int
    categories: NDArray[Any]
    values: Floats
    misses: Floats | None = None  # of the same shape; None where all are 0


_WRITTEN: dict[type, Any] = {
    Quadratics: Curves.of,
    Students: Curves.of,
    Lines: LineColumns,
    Pieces: PieceColumns.of,
}


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
    # whether categories are the codes 0, 1, 2, ...: cells are numbers, of which the whole part
    # counts
    coded: bool
    # The forms of several cells. Those of directions are among the curves and pieces: their places
    # are behind the columns of numbers.
    joint: JointForms | None
    # Functions of cells, as the places among columns of numbers, names and periods. Their values
    # have places from `n_given` on, behind the directions.
    functions: tuple[tuple[int, str, float], ...]
    n_given: int

    @classmethod
    def of(cls, estimator: SummaryClassifier) -> Sum:
        """Read the numbers off a fitted estimator, or raise where it cannot be exported.

        >>> from naively import NaiveBayes
        >>> model = NaiveBayes(calibration=None).fit([["Ulm"], ["Bonn"]], ["no", "yes"])
        >>> [table.categories.tolist() for table in Sum.of(model).tables]
        [['Bonn', 'Ulm']]
        """
        model = estimator.model_
        _check_written(estimator, model)
        joint = model.interactions
        n_numbers = len(model.schema.numbers)
        n_given = n_numbers + (0 if joint is None else joint.n_directions)
        functions: dict[tuple[int, str, float], int] = {}
        parts: list[Any] = []
        for term in model.terms:
            if isinstance(term.form, FunctionSums):
                for name, period, form in term.form.parts:
                    every = [(i, name, period) for i in term.at]
                    at = [functions.setdefault(one, n_given + len(functions)) for one in every]
                    parts.append(_WRITTEN[type(form)](np.array(at), form))
            elif term.family.kind is NUMBER:
                parts.append(_WRITTEN[type(term.form)](np.array(term.at), term.form))
        if joint is not None and joint.canonical is not None:
            parts += [
                _WRITTEN[type(term.form)](np.array(term.at) + n_numbers, term.form)
                for term in joint.canonical.terms
            ]
        parts = [part for part in parts if part.at.size]
        return cls(
            classes=plain_labels(model.classes),
            schema=model.schema,
            constant=model.constant,
            curves=[part for part in parts if isinstance(part, Curves)],
            lines=[part for part in parts if isinstance(part, LineColumns)],
            pieces=[part for part in parts if isinstance(part, PieceColumns)],
            tables=_tables(model),
            coded=model.coded,
            joint=None if joint is None else joint.form,
            functions=tuple(functions),
            n_given=n_given,
        )

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Which classes have a probability at all."""
        return np.isfinite(self.constant)

    @property
    def is_strict(self) -> bool:
        """Whether a category may rule a class out."""
        return any(table.misses is not None for table in self.tables)


def _check_written(estimator: SummaryClassifier, model: Model) -> None:
    """Raise where a model has what no other language can compute."""
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
    for term in model.terms:
        if term.family.kind is NUMBER and type(term.form) not in {*_WRITTEN, FunctionSums}:
            raise NaivelyError(
                f"the family {term.family.name!r} of {model.schema.name(term.columns[0])} cannot "
                "be exported: it has no form that can be written. Give the column another family."
            )


def _tables(model: Model) -> list[CategoryTable]:
    tables: list[CategoryTable] = []
    if model.tables is None:
        return tables
    values, misses = model.tables.exceptions() or (model.tables, None)
    for i, known in enumerate(model.vocabularies):
        _check_categories(known, model.schema.name(model.schema.categories[i]))
        missed = None if misses is None else -misses.table(i)
        tables.append(CategoryTable(i, known, values.table(i), missed))
    return tables


# --- Labels and texts as other languages can hold them --------------------------------------------


_LARGEST_INTEGER = 2**53  # beyond, not every integer is a float64


def plain_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels of a type that other languages have."""
    kind = classes.dtype.kind
    if is_text(classes):
        check_texts(classes.tolist(), "labels")
        return classes
    if kind not in "iubf":
        raise NaivelyError(
            "only labels that are strings, integers, booleans or floats can be exported; "
            f"got dtype {classes.dtype}."
        )
    fits = kind == "i" or (kind == "u" and classes.max(initial=0) <= np.iinfo(np.int64).max)
    return classes.astype(np.int64 if fits else {"u": "uint64", "b": "bool", "f": "float64"}[kind])


def check_texts(texts: Sequence[str], what: str) -> None:
    """Raise where a text cannot be written: a zero byte, or half of a surrogate pair."""
    for text in texts:
        if "\0" in text:
            raise NaivelyError(f"{what} must not hold a zero byte to be exported; got {text!r}.")
        try:
            text.encode()
        except UnicodeEncodeError:
            message = f"{what} must be Unicode text to be exported; got {text!r}."
            raise NaivelyError(message) from None


def _check_categories(categories: NDArray[Any], column: str) -> None:
    """Raise where categories cannot be written: as texts, or as integers that floats hold."""
    if is_text(categories):
        check_texts(categories.tolist(), f"categories of {column}")
    elif categories.dtype.kind in "iu" and (np.abs(categories) > _LARGEST_INTEGER).any():
        raise NaivelyError(
            f"categories of {column} must be integers up to 2^53 to be exported; got larger ones. "
            "Make them text."
        )
