"""Tuning beside scikit-learn's `GridSearchCV` of its own GaussianNB, which refits every candidate.

Both score the same values of ``var_smoothing`` by log loss on the same folds. All scores must agree
to 1e-9, and so must the winner. `GridSearchCV` runs once; ours several times. Both have one thread,
so that CPU time, which other processes hardly disturb, is what they would take alone: it decides.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from benchmarks.quiet import Others
from benchmarks.tables import Columns, Options, mark, seconds
from benchmarks.workloads import Data
from naively import GaussianNB, tune
from naively.results import Tuning

__all__ = ["COLUMNS", "WORKS", "Work", "measure"]

_GRID = {"var_smoothing": np.logspace(-9, 0, 100)}


class Work(NamedTuple):
    """Rows to tune a model on."""

    name: str
    n_rows: int
    n_columns: int
    n_classes: int
    folds: int = 10
    bar: float = 100.0


WORKS = [Work("100 candidates, 10 folds, 100,000 x 50, 10 classes", 100_000, 50, 10)]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the time of each work, once scores and winners agree."""
    for work in WORKS:
        if options.only in work.name:
            yield _measured(work, options.rounds)
            gc.collect()


def _measured(work: Work, rounds: int) -> dict[str, Any]:
    X, y = _rows(work)
    ours, found = [], tune(GaussianNB(n_jobs=1), X, y, grid=_GRID, folds=work.folds)
    with Others() as others:
        for _ in range(rounds):
            start, cpu = perf_counter(), process_time()
            tune(GaussianNB(n_jobs=1), X, y, grid=_GRID, folds=work.folds)
            ours.append((perf_counter() - start, process_time() - cpu))
    search = GridSearchCV(
        SklearnGaussianNB(), _GRID, scoring="neg_log_loss", cv=work.folds, refit=False
    )
    start, cpu = perf_counter(), process_time()
    search.fit(X, y)
    theirs = perf_counter() - start, process_time() - cpu
    difference = _agree(found, search)
    clock, all_threads = (median(times) for times in zip(*ours, strict=True))
    ratios = theirs[0] / clock, theirs[1] / all_threads
    return {
        "work": work.name,
        "ours": {"clock": clock, "cpu": all_threads, "quiet": others.share < 0.05},
        "theirs": {"clock": theirs[0], "cpu": theirs[1]},
        "ratio": ratios[0],
        "cpu_ratio": ratios[1],
        "largest_difference": difference,
        "winner": found.best_params,
        "bar": work.bar,
        "met": ratios[1] >= work.bar,
    }


def _rows(work: Work) -> Data:
    """Draw classes that overlap; half of the columns nearly repeat the others."""
    rng = np.random.default_rng(0)
    half = work.n_columns // 2
    mean = 0.2 * rng.normal(size=(work.n_classes, half))
    y = rng.integers(work.n_classes, size=work.n_rows)
    X = rng.normal(size=(work.n_rows, half)) + mean[y]
    return Data(np.hstack([X, X + 0.3 * rng.normal(size=X.shape)]), y)


def _agree(ours: Tuning, theirs: GridSearchCV) -> float:
    """Compare the score of each candidate in each fold, and the winner."""
    results = theirs.cv_results_
    expected = np.array([results[f"split{f}_test_score"] for f in range(ours.scores.shape[1])]).T
    assert_allclose(-ours.scores, expected, rtol=0, atol=1e-9)
    assert ours.best_params == theirs.best_params_
    return float(np.abs(ours.scores + expected).max())


COLUMNS: Columns = {
    "work": lambda r: r["work"],
    "naively (CPU)": lambda r: seconds(r["ours"]["cpu"]),
    "`GridSearchCV` (CPU)": lambda r: seconds(r["theirs"]["cpu"]),
    "times as fast": lambda r: f"{r['cpu_ratio']:.3g}",
    "by the clock": lambda r: f"{r['ratio']:.3g}",
    "largest difference of a score": lambda r: f"{r['largest_difference']:.1g}",
    "goal": lambda r: f"{r['bar']:.3g}",
    "met": lambda r: mark(r["met"]),
}
