r"""How good the probabilities are, on real tables: log loss and accuracy beside scikit-learn's.

Stratified 5-fold cross-validation, all contestants on the same folds and in turns. The log
loss of a row is :math:`-\log p(y)`, p being at least the rounding of 1, 2.2e-16, as scikit-learn's
`log_loss` has it. Seconds are those of `fit` and `predict_proba` on one fold, the median of folds.
`quality_bars` sums it up.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from statistics import mean, median
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality_peers import (
    CONTESTANTS,
    GRADIENT_BOOSTING,
    LOGISTIC,
    NAIVELY,
    SKLEARN_NB,
    prepared,
)
from benchmarks.quality_tables import TABLES, Table
from benchmarks.tables import Columns, Options

__all__ = ["COLUMNS", "measure"]

_FOLDS = 5
_LEAST = np.finfo(np.float64).eps


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield what each contestant makes of each table."""
    for table in TABLES:
        if options.only in table.name:
            yield _measured(table, repeats=min(options.rounds, 2))


def _measured(table: Table, repeats: int) -> dict[str, Any]:
    X, y = table.load()
    classes, codes = np.unique(y, return_inverse=True)
    frames = {name: prepared(name, X) for name in CONTESTANTS}
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in CONTESTANTS}
    for repeat in range(repeats):
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=repeat)
        for train, test in folds.split(X, codes):
            for name, frame in frames.items():
                judged = _judged(name, frame, codes, train, test, classes.size)
                found[name].append(judged)
    return _described(table, X, classes) | {
        name: {"loss": mean(loss), "accuracy": mean(accuracy), "seconds": median(seconds)}
        for name, (loss, accuracy, seconds) in ((n, zip(*f, strict=True)) for n, f in found.items())
    }


def _judged(
    name: str, X: pd.DataFrame, codes: Any, train: Any, test: Any, n_classes: int
) -> tuple[float, float, float]:
    """Return log loss, accuracy and seconds of one fold."""
    model = CONTESTANTS[name](X)
    fitted, asked, truth = X.iloc[train], X.iloc[test], codes[test]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a peer has not converged
        start = perf_counter()
        p = model.fit(fitted, codes[train]).predict_proba(asked)
        seconds = perf_counter() - start
    assert p.shape == (truth.size, n_classes)
    assert np.allclose(p.sum(axis=1), 1.0)
    loss = -np.log(np.maximum(p[np.arange(truth.size), truth], _LEAST)).mean()
    return float(loss), float((p.argmax(axis=1) == truth).mean()), seconds


def _described(table: Table, X: pd.DataFrame, classes: Any) -> dict[str, Any]:
    numbers = sum(X[name].dtype.kind in "iuf" for name in X)
    return {
        "table": table.name,
        "package": table.package,
        "rows": X.shape[0],
        "numbers": numbers,
        "categories": X.shape[1] - numbers,
        "missing": int(X.isna().to_numpy().sum()),
        "classes": int(classes.size),
    }


def _losses(name: str) -> Any:
    return lambda r: f"{r[name]['loss']:.3f}"


def _accuracies(name: str) -> Any:
    return lambda r: f"{r[name]['accuracy']:.3f}"


def _ratio(name: str) -> Any:
    return lambda r: f"{r[NAIVELY]['seconds'] / r[name]['seconds']:.2g}"


COLUMNS: Columns = {
    "table": lambda r: r["table"],
    "from": lambda r: r["package"],
    "rows": lambda r: f"{r['rows']:,}",
    "numbers": lambda r: str(r["numbers"]),
    "categories": lambda r: str(r["categories"]),
    "missing": lambda r: f"{r['missing']:,}",
    "classes": lambda r: str(r["classes"]),
    **{f"log loss: {name}": _losses(name) for name in CONTESTANTS},
    **{f"accuracy: {name}": _accuracies(name) for name in (NAIVELY, SKLEARN_NB, LOGISTIC)},
    f"accuracy: {GRADIENT_BOOSTING}": _accuracies(GRADIENT_BOOSTING),
    f"time of {LOGISTIC}'s": _ratio(LOGISTIC),
    f"time of {GRADIENT_BOOSTING}'s": _ratio(GRADIENT_BOOSTING),
}
