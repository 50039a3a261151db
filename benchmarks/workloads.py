"""Seeded data: a Gaussian cloud per class, in any form that people keep tables in."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FORMS", "Data", "clouds", "formed", "mixed", "with_missing"]

_ROWS_AT_ONCE = 10_000


class Data(NamedTuple):
    """Rows and their labels."""

    X: Any
    y: NDArray[np.int64]


@lru_cache(maxsize=1)  # works on the same rows follow each other; the last rows are let go
def clouds(n_rows: int, n_columns: int, n_classes: int) -> Data:
    """Draw class means from N(0, 1), and rows around them from N(mean, 1)."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(n_classes, n_columns))
    y = rng.integers(n_classes, size=n_rows)
    y[:n_classes] = np.arange(n_classes)  # every class is there
    X = np.empty((n_rows, n_columns))
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        rng.standard_normal(out=X[rows])
        X[rows] += mean[y[rows]]
    return Data(X, y)


def mixed(n_rows: int, n_numbers: int, n_texts: int, n_classes: int) -> Data:
    """Return a data frame: columns of numbers, and of text with 2, 4, 8, ... words."""
    X, y = clouds(n_rows, n_numbers, n_classes)
    rng, frame = np.random.default_rng(2), _pandas(0.3 * X)
    for j in range(n_texts):
        words = np.array([f"word {i}" for i in range(2 << j)], dtype=object)
        often = rng.random(n_rows) < 0.2  # a word that the class likes
        frame[f"t{j}"] = words[
            np.where(often, y, rng.integers(words.size, size=n_rows)) % words.size
        ]
    return Data(frame, y)


def with_missing(X: NDArray[np.float64], share: float = 0.1) -> NDArray[np.float64]:
    """Copy X with that share of its cells replaced by NaN."""
    rng = np.random.default_rng(1)
    X = X.copy()
    for start in range(0, X.shape[0], _ROWS_AT_ONCE):
        block = X[start : start + _ROWS_AT_ONCE]
        block[rng.random(block.shape) < share] = np.nan
    return X


def _pandas(X: NDArray[np.float64]) -> Any:
    import pandas

    return pandas.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})


def _polars(X: NDArray[np.float64]) -> Any:
    import polars

    return polars.DataFrame({f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])})


FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "Fortran order": np.asfortranarray,
    "pandas frame": _pandas,
    "polars frame": _polars,
}


def formed(form: str, data: Data) -> Data:
    """Keep the rows in another form."""
    return Data(FORMS[form](data.X), data.y)
