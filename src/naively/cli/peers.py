"""scikit-learn's GaussianNB, on tables that hold more than numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import naive_bayes

from naively._optional import need
from naively.engines.columns import as_array

__all__ = ["GaussianNB", "numbers_of"]


def numbers_of(table: Any) -> list[str]:
    """Return the columns of numbers of a ``pyarrow.Table``."""
    types = need("pyarrow", "reading columns", extra="files").types
    kinds = zip(table.column_names, table.schema.types, strict=True)
    return [name for name, kind in kinds if types.is_integer(kind) or types.is_floating(kind)]


class GaussianNB(naive_bayes.GaussianNB):  # type: ignore[misc]
    """It reads the columns of numbers, and means of the training rows where cells are missing."""

    def fit(self, X: Any, y: ArrayLike) -> GaussianNB:
        """Learn from rows and their labels."""
        table = as_array(X.select(numbers_of(X)))
        present = ~np.isnan(table)
        sums = np.where(present, table, 0.0).sum(axis=0)
        self.means_ = sums / np.maximum(present.sum(axis=0), 1)
        super().fit(self._filled(table), y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return super().predict(self._read(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log p(k | x) of each row and class; `predict_proba` is its exponential."""
        return super().predict_log_proba(self._read(X))

    def _read(self, X: Any) -> Any:
        return X if isinstance(X, np.ndarray) else self._filled(as_array(X.select(numbers_of(X))))

    def _filled(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(np.isnan(table), self.means_, table)
