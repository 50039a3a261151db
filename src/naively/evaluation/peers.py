"""scikit-learn's GaussianNB, on tables that hold more than numbers."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import naive_bayes

from naively.engines import frames
from naively.engines.tables import schema_of
from naively.exceptions import NaivelyError

__all__ = ["GaussianNB"]


class GaussianNB(naive_bayes.GaussianNB):  # type: ignore[misc]
    """It reads the columns of numbers, and means of the training rows where cells are missing."""

    def fit(self, X: Any, y: ArrayLike) -> GaussianNB:
        """Learn from rows and their labels."""
        self.numbers_ = list(schema_of(X).numbers)
        if not self.numbers_:
            raise NaivelyError(
                "scikit-learn's GaussianNB takes numbers, and there is no such column."
            )
        table = _numbers(X, self.numbers_)
        present = ~np.isnan(table)
        sums = np.where(present, table, 0.0).sum(axis=0)
        self.means_ = sums / np.maximum(present.sum(axis=0), 1)
        super().fit(self._filled(table), y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return super().predict(self._filled(_numbers(X, self.numbers_)))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log p(k | x) of each row and class; `predict_proba` is its exponential."""
        return super().predict_log_proba(self._filled(_numbers(X, self.numbers_)))

    def _filled(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(np.isnan(table), self.means_, table)


def _numbers(X: Any, at: list[int]) -> NDArray[np.float64]:
    """Return some columns as one array; missing cells are NaN."""
    if not frames.is_frame(X):
        cells = np.asarray(X, dtype=object)[:, at]
        return np.where(cells == None, np.nan, cells).astype(np.float64)  # noqa: E711
    native = nw.from_native(X, eager_only=True)
    columns = [native[:, j].cast(nw.Float64).to_numpy() for j in at]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
