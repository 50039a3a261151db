r"""What each term of a model adds to each class, for rows: what a model is, taken apart.

.. math:: \log p(x, k) = \log p(k) + b_k + \sum_t v_{kt}(x)

where t goes over the columns (all terms of a column are one) and the interactions. Terms are those
that the scorer adds up, weights and centring included, so that nothing is estimated or sampled.

Of sparse rows, only columns that some row holds have a term of their own; what the others add, all
of them 0, is one term.

Examples
--------
>>> from naively import GaussianNB
>>> model = GaussianNB().fit([[0.0, 1.0], [2.0, 3.0], [7.0, 1.0], [9.0, 3.0]], [0, 0, 1, 1])
>>> found = contributions(model.model_, np.array([[6.0, 2.0]]))
>>> found.names, found.values.round(2).tolist()
(('column 0', 'column 1'), [[[-13.42, -0.92], [-2.92, -0.92]]])
>>> np.abs(found.joint - model.predict_joint_log_proba([[6.0, 2.0]])).max() < 1e-12
np.True_
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.exceptions import NaivelyError
from naively.forms import Lines, WordLines, columns_of
from naively.model import Model
from naively.scorer import check_not_negative
from naively.sparse import SparseRows

__all__ = ["ZEROS", "Contributions", "TermScorer", "contributions", "finished"]

Floats = NDArray[np.float64]

ZEROS = "all other columns (0)"  # the term of columns that no row of a sparse table holds
_ROWS = 1024  # that are looked at together: they stay in the cache
_MOST = 1 << 30  # numbers that contributions may have: 8 GiB


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each term adds to each class.

    Attributes
    ----------
    names : tuple of str
        The terms: columns, then interactions.
    columns : ndarray of int of shape (n_terms,)
        The place of each term's column in the schema; -1 for terms of several columns.
    log_prior, bias : ndarray of shape (n_classes,)
        What is added to every row.
    values : ndarray of shape (n_rows, n_classes, n_terms)
        What the terms add.
    """

    names: tuple[str, ...]
    columns: NDArray[np.intp]
    log_prior: Floats
    bias: Floats
    values: Floats

    @property
    def joint(self) -> Floats:
        """The joint log-probability of each row and class: the sum of all."""
        total: Floats = self.values.sum(axis=2) + (self.log_prior + self.bias)
        return total


class _Source(NamedTuple):
    """A form of columns of numbers: where its columns are in a table, and which terms they are."""

    form: Any
    at: Sequence[int]
    terms: Sequence[int]

    def singles(self) -> list[tuple[Any, int, int]]:
        """Return the form of each column, with its places."""
        places = enumerate(zip(self.at, self.terms, strict=True))
        return [(self.form.column(i), at, t) for i, (at, t) in places]


class TermScorer:
    """Evaluates the terms of a model one by one, by the forms that its scorer adds up.

    Parameters
    ----------
    model : Model
        What scores rows.
    table : Table, Rows or SparseRows
        The rows that are asked about, all of them: of sparse ones, which columns they hold.
    """

    def __init__(self, model: Model, table: Any) -> None:
        self.model = model
        schema, joint = model.schema, model.interactions
        names = schema.names or [f"column {j}" for j in range(schema.n_columns)]
        held = _held(model, getattr(table, "numbers", table))
        self._held = held
        at = range(schema.n_columns) if held is None else held.tolist()
        singles = (*(str(names[j]) for j in at), *(() if held is None else (ZEROS,)))
        self.names = singles if joint is None else (*singles, *joint.names(schema, names))
        self.columns = np.full(len(self.names), -1, np.intp)
        self.columns[: len(at)] = at
        self._n_singles = len(singles)
        if held is None:
            terms = [term for term in model.terms if term.family.kind == "number"]
            sources = [_Source(term.form, term.at, term.columns) for term in terms]
        else:
            sources = self._split(held)
        self._whole = [source for source in sources if not hasattr(source.form, "column")]
        apart = (source for source in sources if hasattr(source.form, "column"))
        self._singles = [single for source in apart for single in source.singles()]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of terms and of classes."""
        return len(self.names), self.model.classes.size

    def room(self, n_rows: int) -> Floats:
        """Return memory for the contributions of rows, by row, term and class.

        In memory terms are first: each is written in one go.
        """
        n_terms, n_classes = self.shape
        if n_rows * n_terms * n_classes > _MOST:
            raise NaivelyError(
                f"the contributions of {n_terms:,} terms to {n_classes:,} classes in {n_rows:,} "
                f"rows would need {8e-9 * n_rows * n_terms * n_classes:,.0f} GB. "
                "Explain fewer rows at a time."
            )
        return np.empty((n_terms, n_rows, n_classes)).transpose(1, 0, 2)

    def write(self, table: Any, out: Floats) -> bool:
        """Write the contributions of some rows to what `room` returned for them; False at infinity.

        Parameters
        ----------
        table : Table, Rows or SparseRows
            Rows as the scorer of the model takes them.
        out : ndarray of shape (n_rows, n_terms, n_classes)
            Where they are written.
        """
        out[...] = 0.0
        numbers, codes = getattr(table, "numbers", table), getattr(table, "codes", None)
        x = self._dense(numbers)
        if x.dtype.kind == "f" and np.isinf(x).any():
            return False
        for form, at, t in self._singles:
            form.add(x[:, at : at + 1], out[:, t])
            if isinstance(form, Lines):
                form.add_carrier(x[:, at : at + 1], out[:, t])
        for source in self._whole:
            each = source.form.each(columns_of(x, source.at), out.shape[2])
            for t, value in zip(source.terms, each, strict=True):
                out[:, t] += value
        self._add_others(table, codes, out)
        if self._held is not None:
            out[:, self._held.size] += self._of_zeros
        self._add_interactions(numbers, codes, out)
        return True

    def _add_others(self, table: Any, codes: Any, out: Floats) -> None:
        """Add the terms of categories and of texts."""
        for term in self.model.terms:
            form: Any = term.form
            if term.family.kind == "category":
                column = codes[term.at] if isinstance(codes, list) else codes[:, term.at]
                if self.model.coded:
                    check_not_negative(column)
                form.add(column[:, np.newaxis], out[:, term.columns[0]])
            elif isinstance(form, WordLines):
                form.add(table.texts.columns[term.at], out[:, term.columns[0]])

    def _add_interactions(self, numbers: Any, codes: Any, out: Floats) -> None:
        joint = self.model.interactions
        if joint is None:
            return
        x = numbers.dense() if isinstance(numbers, SparseRows) else numbers
        each = joint.form.each(x, codes, len(out), out.shape[2])
        for t, value in enumerate(each, self._n_singles):
            out[:, t] += value

    def _dense(self, numbers: Any) -> NDArray[Any]:
        """Return an array of the columns of numbers, or of those that sparse rows hold."""
        if isinstance(numbers, list):
            return np.column_stack(numbers)
        if not isinstance(numbers, SparseRows):
            return np.asarray(numbers)
        if self._held is None:
            return numbers.dense()
        places = np.full(numbers.n_columns, -1, np.intp)
        places[self._held] = np.arange(self._held.size)
        return numbers.moved(places, self._held.size).dense()

    def _split(self, held: NDArray[np.intp]) -> list[_Source]:
        """Split the forms into those of columns that are held, and the sums of the others."""
        self._of_zeros = np.zeros(self.model.classes.size)
        place = np.full(self.model.schema.n_columns, -1, np.intp)
        place[held] = np.arange(held.size)
        sources = []
        for term in self.model.terms:
            form: Any = term.form
            at = place[np.asarray(term.columns)]
            own = at[at >= 0].tolist()
            sources.append(_Source(form.some(at >= 0), own, own))
            zeros = np.zeros((1, int((at < 0).sum())))
            form.some(at < 0).add(zeros, self._of_zeros[np.newaxis])
        return sources


def contributions(model: Model, table: Any) -> Contributions:
    """Return what each term of a model adds to each class, for some rows.

    Parameters
    ----------
    model : Model
        What an estimator read off its summary: ``estimator.model_``.
    table : ndarray, Rows or SparseRows
        Rows as the scorer of the model takes them: codes are those of the model's categories,
        and words have its places.
    """
    scorer = TermScorer(model, table)
    found = scorer.room(table.shape[0])
    for start in range(0, len(found), _ROWS):
        rows = slice(start, min(start + _ROWS, len(found)))
        if not scorer.write(table[rows], found[rows]):
            raise NaivelyError("rows must hold finite numbers; got infinity. NaN means missing.")
    return finished(scorer, found)


def finished(scorer: TermScorer, found: Floats) -> Contributions:
    """Return contributions that a scorer has written, class before term."""
    model = scorer.model
    values = found.transpose(0, 2, 1)
    return Contributions(scorer.names, scorer.columns, model.log_prior, model.bias, values)


def _held(model: Model, numbers: Any) -> NDArray[np.intp] | None:
    """Return the columns that sparse rows hold; None where all columns have terms of their own."""
    if not isinstance(numbers, SparseRows):
        return None
    if not all(hasattr(term.form, "some") for term in model.terms):  # a form of the user's own
        return None
    places: NDArray[np.intp] = np.unique(numbers.places[numbers.cells]).astype(np.intp)
    return places
