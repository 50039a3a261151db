r"""How important each column is: how much better the model predicts with it alone than without.

.. math::

    \mathrm{importance}_j = 1 - \frac{\sum_i w_i \sum_k (p_{-i}(k \mid x_{ij}) - [k = y_i])^2}
                                     {\sum_i w_i \sum_k (p(k) - [k = y_i])^2}

is the part of the Brier score of the priors that a column alone takes away: 0 where it tells
nothing (or misleads), 1 where it tells the class. :math:`p_{-i}` is the model without row i, in
closed form (`Family.left_out`), so that a text that differs in every row tells nothing. It sees any
family, and the weights: a column that repeats another may have a weight of 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.forms import without_infinity
from naively.reports.columns import rows_at
from naively.reports.inputs import Given
from naively.term import Term
from naively.text_rows import TextRows

__all__ = ["importance"]

Floats = NDArray[np.float64]

_MOST_ROWS, _FEWEST_ROWS = 1000, 50
_MOST_CELLS = 1 << 25  # rows times classes times columns, of all rows
_BLOCK = 1 << 21  # and of those that are scored together


@dataclass(frozen=True)
class _JudgedRows:
    """Some rows with their classes and weights; `left_out` says whether the model knows them."""

    numbers: Floats
    categories: NDArray[np.int32]
    codes: NDArray[np.int32]
    weight: Floats
    left_out: bool
    texts: TextRows | None = None

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, at: Any) -> _JudgedRows:
        texts = None if self.texts is None else self.texts[at]
        cells = self.numbers[at], self.categories[at]
        return _JudgedRows(*cells, self.codes[at], self.weight[at], self.left_out, texts)

    def terms(self, term: Term) -> Floats:
        """Return log f of shape (n, K, number of columns)."""
        if not self.left_out:
            return term.log_density(self.numbers, self.categories, self.texts)
        rows: Any = self  # it has all that is read
        terms, own = term.among_others(rows), term.left_out(rows)
        terms[np.arange(len(self)), self.codes] = own
        return without_infinity(terms, axis=1)


def importance(given: Given) -> Floats:
    """Return the importance of each column, from 0 to 1."""
    model, n_columns = given.fitted.model_, given.schema.n_columns
    rows = _some_rows(given)
    start, error = 0.0, np.zeros(n_columns)
    for part in _parts(rows, given.n_classes * max(1, n_columns)):
        truth = np.eye(given.n_classes)[part.codes]
        start += _brier(np.broadcast_to(model.prior, truth.shape), truth, part.weight)
        for j, term in _terms_by_column(part, model.terms).items():
            error[j] += _brier(_posterior(model.log_prior + term), truth, part.weight)
    error[list(given.schema.undecided)] = start  # without a term, as uncertain as before
    if not start > 0:
        return np.zeros(n_columns)
    return np.clip(1 - error / start, 0.0, 1.0)


def _terms_by_column(rows: _JudgedRows, terms: Sequence[Term]) -> dict[int, Floats]:
    total: dict[int, Any] = {}
    for term in terms:
        found = rows.terms(term)
        found = term.weight * (found - found.mean(axis=1, keepdims=True))
        for i, j in enumerate(term.columns):
            total[j] = total.get(j, 0.0) + found[:, :, i]
    return total


def _some_rows(given: Given) -> _JudgedRows:
    """Return rows of the model's own sample, else of those that were given."""
    n_rows, n_columns = given.table.shape
    most = min(_MOST_ROWS, _MOST_CELLS // (given.n_classes * max(1, n_columns)))
    most = max(_FEWEST_ROWS, most)
    sample = given.fitted.summary_.sample
    if sample is not None and len(sample):
        cells = sample.numbers, sample.categories
        return _JudgedRows(*cells, sample.codes, sample.weight, True, sample.texts)[:most]
    at = np.arange(n_rows)
    if n_rows > most:
        at = np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))
    numbers = rows_at(given.table.numbers, at, range(given.table.numbers.shape[1]))
    codes = rows_at(given.table.codes, at, range(given.table.codes.shape[1])).astype(np.int32)
    texts = None if given.table.texts is None else given.table.texts[at]
    learned = given.learned_from_rows
    return _JudgedRows(numbers, codes, given.codes[at], np.ones(at.size), learned, texts)


def _parts(rows: _JudgedRows, cells_of_a_row: int) -> Iterator[_JudgedRows]:
    step = max(1, _BLOCK // cells_of_a_row)
    for at in range(0, len(rows), step):
        yield rows[at : at + step]


def _posterior(joint: Floats) -> Floats:
    p: Floats = np.exp(joint - joint.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def _brier(p: Floats, truth: Floats, weight: Floats) -> float:
    return float(weight @ np.square(p - truth).sum(axis=1))
