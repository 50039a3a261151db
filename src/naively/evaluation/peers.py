"""scikit-learn's GaussianNB, on tables that hold more than numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import naive_bayes

from naively.engines.memory.tables import read, schema_of
from naively.errors import NaivelyError
from naively.evaluation.table_matrix import numbers_of


class GaussianNB(naive_bayes.GaussianNB):  # type: ignore[misc]
    """It reads the columns of numbers, and means of the training rows where cells are missing."""

    def fit(self, X: Any, y: ArrayLike) -> GaussianNB:
        """Learn from rows and their labels."""
        self.schema_ = schema_of(X)
        if not self.schema_.numbers:
            raise NaivelyError(
                "scikit-learn's GaussianNB takes numbers, and there is no such column."
            )
        table = numbers_of(read(X, self.schema_))
        present = ~np.isnan(table)
        sums = np.where(present, table, 0.0).sum(axis=0)
        self.means_ = sums / np.maximum(present.sum(axis=0), 1)
        super().fit(self._filled(table), y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return super().predict(self._filled(numbers_of(read(X, self.schema_))))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log p(k | x) of each row and class; `predict_proba` is its exponential."""
        return super().predict_log_proba(self._filled(numbers_of(read(X, self.schema_))))

    def _filled(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(np.isnan(table), self.means_, table)
