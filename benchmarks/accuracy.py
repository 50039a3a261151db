r"""Correct digits of a variance: naively's, scikit-learn's and NumPy's against the exact one.

.. math:: -\log_{10} |\hat \sigma^2 - \sigma^2| / \sigma^2

The exact one comes from `statistics.pvariance`, which adds fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2, log10
from statistics import pvariance
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import peer, present
from benchmarks.tables import Columns, Options

__all__ = ["CASES", "COLUMNS", "measure"]

_MOST_DIGITS = 16.0


class Case(NamedTuple):
    """Numbers from N(offset, spread), learned at once or in batches of a thousand."""

    name: str
    offset: float
    spread: float = 1.0
    dtype: str = "float64"
    rows: int = 100_000
    in_batches: bool = False


CASES = [
    Case("offset 0", 0.0),
    Case("offset 1e4", 1e4),
    Case("offset 1e8", 1e8),
    Case("offset 1e15", 1e15),
    Case("spread 1e-150", 0.0, spread=1e-150),
    Case("spread 1e150", 0.0, spread=1e150),
    Case("offset 0, in batches", 0.0, in_batches=True),
    Case("offset 1e8, in batches", 1e8, in_batches=True),
    Case("float32, offset 0", 0.0, dtype="float32"),
    Case("float32, offset 1e3, 2,000,000 rows", 1e3, dtype="float32", rows=2_000_000),
    Case("float32, offset 1e4", 1e4, dtype="float32"),
    Case("float32, offset 1e4, in batches", 1e4, dtype="float32", in_batches=True),
    Case("int16, spread 5e3", 0.0, spread=5e3, dtype="int16"),
]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the correct digits of every case."""
    for case in CASES:
        if options.only not in case.name:
            continue
        X = _numbers(case)
        exact = pvariance(X[:, 0].tolist())
        found = {"NumPy": float(X.var(axis=0)[0])}
        for name in present("naively", "scikit-learn"):
            found[name] = _variance(name, X, case.in_batches)
        digits = {name: _digits(value, exact) for name, value in found.items()}
        assert digits["naively"] >= _guaranteed(X[:, 0], exact), (case, digits)
        yield {"case": case.name, "exact": exact, "found": found, "digits": digits}


def _numbers(case: Case) -> NDArray[Any]:
    """Draw a table of four columns, as tables have several: NumPy adds up a lone one better."""
    X = np.random.default_rng(2).normal(case.offset, case.spread, (case.rows, 4))
    return X.astype(case.dtype)


def _variance(name: str, X: NDArray[Any], in_batches: bool) -> float:
    """Return the variance of the first column, learned without smoothing."""
    y = np.zeros(X.shape[0], dtype=int)
    model = peer(name).module.GaussianNB(var_smoothing=0.0)
    step = 1000 if in_batches else X.shape[0]
    for start in range(0, X.shape[0], step):
        model.partial_fit(X[start : start + step], y[start : start + step], classes=[0])
    if name == "naively":  # the attributes have X's type, the summary is float64
        moments = model.summary_.moments
        return float(moments.m2[0, 0] / moments.weight[0, 0])
    return float(model.var_[0, 0])


def _guaranteed(x: NDArray[Any], exact: float) -> float:
    r"""Return the digits of the error bound :math:`4 \epsilon \log_2 n (1 + \mu / \sigma)`.

    The last factor is the condition number of adding variances whose means are float64.
    """
    condition = 1 + abs(x.mean(dtype=np.float64)) / exact**0.5
    return -log10(4 * np.finfo(float).eps * log2(x.size) * condition)


def _digits(value: float, exact: float) -> float:
    error = abs(value - exact) / exact
    return _MOST_DIGITS if error == 0 else max(0.0, min(_MOST_DIGITS, -log10(error)))


COLUMNS: Columns = {
    "case": lambda r: r["case"],
    "exact variance": lambda r: f"{r['exact']:.6g}",
    "naively": lambda r: f"{r['digits']['naively']:.1f}",
    "scikit-learn": lambda r: f"{r['digits'].get('scikit-learn', float('nan')):.1f}",
    "`numpy.var`": lambda r: f"{r['digits']['NumPy']:.1f}",
}
