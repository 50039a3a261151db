"""What a fitted classifier says of rows: labels, probabilities, how well it did."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score

from naively import labels
from naively._threads import block_slices, map_blocks
from naively.engines.arrays import raise_not_finite
from naively.estimators._anywhere import anywhere
from naively.estimators._validation import Checked, check_known, check_labels, check_weights
from naively.exceptions import NaivelyError
from naively.summary import Schema, Summary

__all__ = ["Answering"]

_MOST_BLOCKS = 64


class Answering:
    """The methods that ask a model that was read off a summary."""

    summary_: Summary
    n_features_in_: int
    n_jobs: int | None
    _dtype: np.dtype[Any]

    @property
    @abstractmethod
    def classes_(self) -> NDArray[Any]:
        """Labels, sorted."""

    @abstractmethod
    def _model(self) -> Any:
        """Return the model, read off the summary by the parameters as they are now."""

    @abstractmethod
    def _check(self, X: Any, known: Schema | None) -> Checked:
        """Make rows readable; they must have the columns that are known, if any are."""

    @anywhere
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row; of equals, the first.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Rows; the term of a missing cell is left out.
        """
        model, checked = self._model(), self._check(X, self.summary_.schema)
        classes = self.summary_.classes
        out = np.empty(checked.table.shape[0], dtype=classes.dtype)

        def label(table: Any, out: NDArray[Any]) -> bool:
            at = np.empty(out.size, dtype=np.int64)
            finite: bool = model.kernel.labels(table, at)
            classes.take(at, out=out, mode="clip")  # "raise" would copy
            return finite

        self._score(label, checked, out)
        return out

    @anywhere
    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """Return log p(x, k) = log p(k) + log p(x | k) of each row and class."""
        return self._values("joint", X)

    @anywhere
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return log p(k | x) of each row and class."""
        return self._values("log_proba", X)

    @anywhere
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return p(k | x) of each row and class: finite, between 0 and 1, of sum 1."""
        return self._values("proba", X)

    @anywhere
    def score_samples(self, X: Any) -> NDArray[Any]:
        """Return log p(x) of each row: the lower, the less the row is like any seen."""
        return self._values("evidence", X)[:, 0]

    def predict_one(self, row: Any) -> Any:
        """Return the class of one row, in microseconds.

        Parameters
        ----------
        row : array-like of shape (n_columns,), or dict
            Numbers, in order or by column name. None and NaN are missing cells.
        """
        model = self._model()
        at = model.kernel.label_one(self._row(row))
        if at < 0:
            self._raise_infinite_row(row)
        return model.classes[at]

    def predict_proba_one(self, row: Any) -> NDArray[np.float64]:
        """Return p(k | x) of one row, one number per class.

        Parameters
        ----------
        row : array-like of shape (n_columns,), or dict
            Numbers, in order or by column name. None and NaN are missing cells.
        """
        model = self._model()
        out = np.empty((1, len(model.classes)))
        if not model.kernel.proba(self._row(row)[np.newaxis], out):
            self._raise_infinite_row(row)
        return out[0]

    def accuracy(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose predicted class is the true one; `score` is the same."""
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    def loss(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        r"""Return the mean negative log-likelihood of the true class.

        .. math:: -\frac{1}{n} \sum_i \log p(y_i \mid x_i)

        It is infinite where a true class has probability 0, as a label that was never seen has.
        """
        log_proba = self.predict_log_proba(X)
        present, codes = labels.encode(check_labels(self, y, log_proba.shape[0]))
        check_known(present, labels.union(present, self.classes_))
        known = np.isin(present, self.classes_)
        at = np.where(known, labels.positions(present, self.classes_), 0)[codes]
        terms = np.where(known[codes], log_proba[np.arange(at.size), at], -np.inf)
        weights = check_weights(log_proba, sample_weight)
        if weights is not None:
            terms, weights = terms[weights > 0], weights[weights > 0]
        return -float(np.average(terms.astype(np.float64), weights=weights))

    # --- inside -------------------------------------------------------------------------------

    def _values(self, want: str, X: Any) -> NDArray[Any]:
        model, checked = self._model(), self._check(X, self.summary_.schema)
        n_values = 1 if want == "evidence" else len(model.classes)
        dtype = np.result_type(checked.dtype, self._dtype)
        out = np.empty((checked.table.shape[0], n_values), dtype=dtype)
        self._score(getattr(model.kernel, want), checked, out)
        return out

    def _score(self, score: Any, checked: Checked, out: NDArray[Any]) -> None:
        table = checked.table
        n_rows, n_columns = table.shape
        blocks = block_slices(n_rows, n_columns, most=_MOST_BLOCKS)
        if not all(map_blocks(lambda rows: score(table[rows], out[rows]), blocks, self.n_jobs)):
            raise_not_finite(table, self.summary_.schema)

    def _row(self, row: Any) -> NDArray[np.float64]:
        if isinstance(row, dict):
            row = self._row_of_dict(row)
        values = np.ascontiguousarray(row, dtype=np.float64)
        if values.shape != (self.n_features_in_,):
            raise NaivelyError(
                f"a row must have {self.n_features_in_} numbers; got shape {values.shape}."
            )
        return values

    def _row_of_dict(self, row: dict[str, Any]) -> list[Any]:
        names = self.summary_.schema.names
        if names is None:
            raise NaivelyError(
                "a dict needs column names, and the model was fitted on an array without any. "
                "Fit on a data frame, or give the row as a list."
            )
        try:
            return [row[name] for name in names]
        except KeyError as absent:
            raise NaivelyError(
                f"the row has no column {absent.args[0]!r}. Use None for a missing cell."
            ) from None

    def _raise_infinite_row(self, row: Any) -> None:
        raise_not_finite(self._row(row)[np.newaxis], self.summary_.schema)
