r"""The joint log-probability of a row with some of its cells changed.

Where a model is a sum over columns, so is the change,

.. math:: \log p(x', k) = c_k + \sum_{j \text{ unchanged}} v_{kj}(x_j)
          + \sum_{j \text{ changed}} v_{kj}(x'_j)

and the columns that stay are added up once. With interactions, whole rows are scored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import TEXT
from naively.data.rows import Rows
from naively.data.types import Floats
from naively.estimators.decisions import decide
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.prediction import labels_of, values_of
from naively.estimators.validation import Checked
from naively.families.forms import Lines, Quadratics

_CELLS = 1 << 21  # of changed rows that are scored together


class ChangedRow:
    """A row of a model, and what is answered for it once cells are changed.

    Parameters
    ----------
    estimator : SummaryClassifier
        Fitted.
    table : Rows
        The row, with the codes and words of the model.
    """

    def __init__(self, estimator: SummaryClassifier, table: Rows) -> None:
        self.estimator, self.model = estimator, estimator.model_
        schema = self.model.schema
        one = table[:1]
        self.numbers = one.array()[0]
        self.codes = np.array([column[0] for column in one.code_columns], np.float64)
        self.texts = one.texts
        self.cells = dict(zip(schema.numbers, self.numbers.tolist(), strict=True))
        self.cells |= dict(zip(schema.categories, self.codes.tolist(), strict=True))
        self._number_at = {j: i for i, j in enumerate(schema.numbers)}
        self._category_at = {j: i for i, j in enumerate(schema.categories)}
        splits = all(
            term.family.kind is TEXT or hasattr(term.form, "column") for term in self.model.terms
        )
        self.is_sum = self.model.interactions is None and splits
        found = self.model.contributions(self._table({}, 1))
        self._constant, self._values = self.model.constant, found.values[0]
        self._total = self._constant + self._values.sum(axis=1)

    def joint(self, changes: dict[int, Floats]) -> Floats:
        """Return the joint log-probability by class, for each line of the changed cells.

        It lacks what all classes share.
        """
        n = _length(changes)
        if not self.is_sum:
            out = np.empty((n, self.model.classes.size))
            step = max(1, _CELLS // self.model.schema.n_columns)
            for rows in (slice(start, start + step) for start in range(0, n, step)):
                some = {j: cells[rows] for j, cells in changes.items()}
                table = self._table(some, len(out[rows]))
                out[rows] = self.model.score(table, n_jobs=self.estimator.n_jobs)
            return out
        total = np.tile(self._without([*changes]), (n, 1))
        for j, cells in changes.items():
            total += self.model.column_contributions(j, cells)
        return total

    def _without(self, columns: list[int]) -> Floats:
        """Return the sum of the constant and of all columns but some."""
        if np.isfinite(self._total).all():
            found: Floats = self._total - self._values[:, columns].sum(axis=1)
            return found
        kept = np.ones(self._values.shape[1], dtype=bool)
        kept[columns] = False
        return np.asarray(self._constant + self._values[:, kept].sum(axis=1))

    def promising(self, columns: list[int], spread: Floats, most: int) -> list[int]:
        """Return those columns whose terms move the odds of classes most, at most so many.

        Numbers are moved by their spread to either side; columns of categories come first.
        """
        if len(columns) <= most:
            return columns
        low, high = self.numbers - spread, self.numbers + spread
        if self.model.schema.counted is not None:
            low = np.maximum(low, 0.0)
        moves = zip(self.model.schema.numbers, np.stack([self.numbers, low, high]).T, strict=True)
        found = self.model.contributions(self._table(dict(moves), 3)).values
        change = (found[1:] - found[0])[:, :, : self.model.schema.n_columns]
        moved = np.nan_to_num(np.ptp(change, axis=1).max(axis=0))
        moved[list(self.model.schema.categories)] = np.inf
        order = sorted(columns, key=lambda j: -moved[j])
        return order[:most]

    def answers(self, joint: Floats) -> NDArray[Any]:
        """Return the answers for joint log-probabilities, by costs and refusal if there are any."""
        classes = self.model.classes
        costs, reject = (getattr(self.estimator, name, None) for name in ("costs", "reject"))
        if costs is None and reject is None:
            return classes[joint.argmax(axis=1)]
        top = joint.max(axis=1, keepdims=True)
        p = np.exp(joint - np.where(np.isfinite(top), top, 0.0))
        return decide(p / p.sum(axis=1, keepdims=True), classes, costs, reject)

    def predicted(self, changes: dict[int, Floats]) -> NDArray[Any]:
        """Return the answers of the model itself, for each line."""
        return labels_of(self.estimator, self._checked(changes, _length(changes)))

    def probabilities(self, changes: dict[int, Floats]) -> Floats:
        """Return the probabilities of the model itself, for each line."""
        checked = self._checked(changes, _length(changes))
        return np.asarray(values_of(self.estimator, "proba", checked), np.float64)

    def between_roots(self, j: int, spread: float, k: int) -> Floats:
        """Return a number between any two where class k and another are equally probable.

        By formula, as one cell changes, for columns whose terms are quadratic or straight; there
        are none for others. So no interval is too narrow to be found.
        """
        forms = [term.form for term, _ in self.model.by_column[j]]
        if not (self.is_sum and all(map(_is_polynomial, forms))):
            return np.empty(0)
        f = self.joint({j: self.cells[j] + spread * np.array([-1.0, 0.0, 1.0])})
        with np.errstate(all="ignore"):  # of classes that are impossible, and of no root
            a, b, c = (f[0] + f[2]) / 2 - f[1], (f[2] - f[0]) / 2, f[1]
            a, b, c = a - a[k], b - b[k], c - c[k]
            root = np.sqrt(b * b - 4 * a * c)
            q = -0.5 * (b + np.copysign(root, b))
            found = self.cells[j] + spread * np.concatenate([q / a, c / q])
        found = np.unique(found[np.isfinite(found)])
        return np.asarray((found[1:] + found[:-1]) / 2)

    def _checked(self, changes: dict[int, Floats], n: int) -> Checked:
        return Checked(self._table(changes, n), None, np.dtype(np.float64), self.model.schema)

    def _table(self, changes: dict[int, Floats], n: int) -> Rows:
        """Return copies of the row with cells changed, as the scorer of the model takes them."""
        numbers, codes = np.tile(self.numbers, (n, 1)), np.tile(self.codes, (n, 1))
        for j, cells in changes.items():
            if j in self._number_at:
                numbers[:, self._number_at[j]] = cells
            else:
                codes[:, self._category_at[j]] = cells
        model, texts = self.model, None
        if self.texts is not None:
            texts = self.texts[np.zeros(n, np.intp)]
        categories = () if model.coded else model.vocabularies
        shape = n, model.schema.n_columns
        return Rows(shape, numbers, codes.astype(np.int32), categories, texts, model.words)


def _length(changes: dict[int, Floats]) -> int:
    """Return how many lines of changed cells there are; without a change, one."""
    return len(next(iter(changes.values()))) if changes else 1


def _is_polynomial(form: Any) -> bool:
    """Whether a form is a polynomial of degree 2 at most, wherever the cell is."""
    is_line = isinstance(form, Lines) and form.step is None and form.lowest == -np.inf
    return is_line or isinstance(form, Quadratics)
