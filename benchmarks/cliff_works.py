"""The cliffs: work of extreme sizes, with bars for time and memory.

Each function makes its data and returns the work, or the work and that of scikit-learn.
Add a function, and a row to `CLIFFS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from naively import GaussianNB, NaiveBayes

__all__ = ["CLIFFS", "Cliff"]

Work: TypeAlias = Callable[[], Any]


class Cliff(NamedTuple):
    """Work, and its bars: seconds, times the time of the peer, bytes beyond the data."""

    name: str
    works: Callable[[], Work | tuple[Work, Work]]
    seconds: float | None = None
    times: float | None = None
    memory: float | None = None


def _many_classes() -> Work:
    rng = np.random.default_rng(0)
    y = rng.integers(10_000, size=50_000)
    X = rng.normal(size=(10_000, 5))[y] + rng.normal(size=(50_000, 5))
    return lambda: NaiveBayes().fit(X, y)


def _many_columns(n_rows: int, n_columns: int) -> Work:
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, n_columns))
    X[:, ::10] += 0.5 * y[:, np.newaxis]
    return lambda: NaiveBayes().fit(X, y)


def _new_classes(estimator: Any) -> Work:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1, 5))

    def learn() -> None:
        model = estimator()
        for k in range(2000):
            model.partial_fit(X[k], [k])

    return learn


CLIFFS = [
    Cliff("NaiveBayes, fit, 10,000 classes x 50,000 rows x 5 columns", _many_classes, 10),
    Cliff("NaiveBayes, fit, 50,000 columns x 200 rows", lambda: _many_columns(200, 50_000), 20),
    Cliff("NaiveBayes, fit, 5,000 columns x 500 rows", lambda: _many_columns(500, 5_000), 5),
    Cliff("GaussianNB, partial_fit, 2,000 new classes one by one",
          lambda: _new_classes(lambda: GaussianNB(open_classes=True)), 1),
    Cliff("NaiveBayes(calibration=None), partial_fit, 2,000 new classes one by one",
          lambda: _new_classes(lambda: NaiveBayes(calibration=None, open_classes=True)), 1),
]  # fmt: skip
