r"""How good the probabilities are, on real tables: log loss and accuracy beside scikit-learn's.

Stratified 5-fold cross-validation, all contestants on the same folds and in turns. The log
loss of a row is :math:`-\log p(y)`, p being at least the rounding of 1, 2.2e-16, as scikit-learn's
`log_loss` has it. The Brier score is summed over classes; the calibration error (ECE) has 15 bins.
Seconds are those of the processor, of one thread, of `fit` and `predict_proba` on one fold, the
median of folds. `quality_bars` sums it up.

Tables of even places in the list of names are for tuning; the others are looked at when something
is released, and at no other time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from statistics import mean, median
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality_peers import (
    CATBOOST,
    CONTESTANTS,
    GRADIENT_BOOSTING,
    LIGHTGBM,
    LOGISTIC,
    NAIVELY,
    SKLEARN_NB,
    prepared,
)
from benchmarks.quality_tables import TABLES, Table
from benchmarks.tables import Columns, Options

__all__ = ["COLUMNS", "TUNING", "measure"]

_FOLDS = 5
_LEAST = np.finfo(np.float64).eps
_BINS = 15  # of the calibration error
TUNING = sorted(table.name for table in TABLES)[::2]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield what each contestant makes of each table."""
    for table in TABLES:
        if options.only in table.name:
            yield _measured(table, repeats=min(options.rounds, 2))


def _measured(table: Table, repeats: int) -> dict[str, Any]:
    X, y = table.load()
    classes, codes = np.unique(y, return_inverse=True)
    frames = {name: prepared(name, X) for name in CONTESTANTS}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in CONTESTANTS}
    for repeat in range(repeats):
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=repeat)
        for train, test in folds.split(X, codes):
            for name, frame in frames.items():
                judged = _judged(name, frame, codes, train, test, classes.size)
                found[name].append(judged)
    return _described(table, X, classes) | {
        name: {
            what: (median if what == "seconds" else mean)([fold[what] for fold in folds])
            for what in folds[0]
        }
        for name, folds in found.items()
    }


def _judged(
    name: str, X: pd.DataFrame, codes: Any, train: Any, test: Any, n_classes: int
) -> dict[str, float]:
    """Return log loss, accuracy, Brier score, calibration error and seconds of one fold."""
    model = CONTESTANTS[name](X)
    fitted, asked, truth = X.iloc[train], X.iloc[test], codes[test]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a peer has not converged
        start = process_time()
        p = model.fit(fitted, codes[train]).predict_proba(asked)
        seconds = process_time() - start
    assert p.shape == (truth.size, n_classes)
    assert np.allclose(p.sum(axis=1), 1.0)
    right = p.argmax(axis=1) == truth
    return {
        "loss": float(-np.log(np.maximum(p[np.arange(truth.size), truth], _LEAST)).mean()),
        "accuracy": float(right.mean()),
        "brier": float(((p - np.eye(n_classes)[truth]) ** 2).sum(axis=1).mean()),
        "ece": _calibration_error(p.max(axis=1), right),
        "seconds": seconds,
    }


def _calibration_error(sure: Any, right: Any) -> float:
    """Return the mean distance between how sure and how often right, over bins."""
    bins = np.minimum((sure * _BINS).astype(int), _BINS - 1)
    gaps = np.abs(np.bincount(bins, right - sure, _BINS))
    return float(gaps.sum() / sure.size)


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


def _figure(what: str, name: str) -> Any:
    """Return what writes a figure; nothing where a contestant has not been recorded."""
    return lambda r: f"{r[name][what]:.3f}" if name in r else ""


def _ratio(name: str) -> Any:
    return lambda r: f"{r[NAIVELY]['seconds'] / r[name]['seconds']:.2g}" if name in r else ""


COLUMNS: Columns = {
    "table": lambda r: r["table"],
    "from": lambda r: r["package"],
    "rows": lambda r: f"{r['rows']:,}",
    "numbers": lambda r: str(r["numbers"]),
    "categories": lambda r: str(r["categories"]),
    "missing": lambda r: f"{r['missing']:,}",
    "classes": lambda r: str(r["classes"]),
    "for tuning": lambda r: "yes" if r["table"] in TUNING else "",
    **{f"log loss: {name}": _figure("loss", name) for name in CONTESTANTS},
    **{f"accuracy: {name}": _figure("accuracy", name) for name in (NAIVELY, SKLEARN_NB, LOGISTIC)},
    **{f"accuracy: {name}": _figure("accuracy", name) for name in (GRADIENT_BOOSTING, CATBOOST)},
    **{f"time of {name}'s": _ratio(name) for name in (LOGISTIC, LIGHTGBM, CATBOOST)},
}
