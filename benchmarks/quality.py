r"""How good the probabilities are, on real tables, beside those of other libraries.

Stratified 5-fold cross-validation, all contestants on the same folds and in turns; `--repeat 2`
asks for the first two of the folds. The log
loss of a row is :math:`-\log p(y)`, p being at least the rounding of 1, 2.2e-16, as scikit-learn's
`log_loss` has it. The Brier score is summed over classes; the calibration error (ECE) has 15 bins.
Seconds are those of the processor, of one thread, of `fit` and `predict_proba` on one fold, the
median of folds. `quality_means` and `quality_bars` sum it up, and `quality_figures` draws it.

Tables of even places in the list of names are for tuning; the others are looked at when something
is released, and at no other time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from statistics import mean, median
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality_peers import (
    CATBOOST,
    CONTESTANTS,
    LIGHTGBM,
    LOGISTIC,
    NAIVELY,
    NAIVELY_ALONE,
    contestants,
    prepared,
)
from benchmarks.quality_tables import TABLES, Table
from benchmarks.tables import Columns, Options

__all__ = ["COLUMNS", "TUNING", "described", "judged", "measure", "summed_up"]

_FOLDS = 5
_LEAST = np.finfo(np.float64).eps
_BINS = 15  # of the calibration error
TUNING = sorted(table.name for table in TABLES)[::2]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield what each contestant makes of each table."""
    for table in TABLES:
        if options.only in table.name:
            X, y = table.load()
            classes = np.unique(y)
            models = {name: CONTESTANTS[name] for name in contestants(X, classes.size)}
            yield described(table, X, classes) | judged(X, y, models, options.rounds)


def judged(
    X: pd.DataFrame, y: Any, models: dict[str, Any], most_folds: int = _FOLDS
) -> dict[str, dict[str, float]]:
    """Return the means over folds, and the median time of a fold, of each contestant."""
    classes, codes = np.unique(y, return_inverse=True)
    frames = {name: prepared(name, X) for name in models}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in models}
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    for train, test in islice(folds.split(X, codes), most_folds):
        for name, frame in frames.items():
            model = models[name](frame)
            found[name].append(_of_fold(model, frame, codes, train, test, classes.size))
    return {name: summed_up(each) for name, each in found.items()}


def summed_up(folds: list[dict[str, float]]) -> dict[str, float]:
    """Return the means of folds, and the median of their times."""
    return {
        what: (median if what == "seconds" else mean)([fold[what] for fold in folds])
        for what in folds[0]
    }


def _of_fold(
    model: Any, X: pd.DataFrame, codes: Any, train: Any, test: Any, n_classes: int
) -> dict[str, float]:
    """Return log loss, accuracy, Brier score, calibration error and seconds of one fold."""
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


def described(table: Table, X: pd.DataFrame, classes: Any) -> dict[str, Any]:
    """Return the name of a table, where it comes from, and how large it is."""
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
    """Return what writes a figure; nothing where a contestant was not asked."""
    return lambda r: f"{r[name][what]:.3f}" if name in r else ""


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
    **{
        f"accuracy: {name}": _figure("accuracy", name)
        for name in (NAIVELY, NAIVELY_ALONE, LOGISTIC, LIGHTGBM, CATBOOST)
    },
}
