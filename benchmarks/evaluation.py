"""Cross-validation beside scikit-learn's `cross_val_score`, of its own GaussianNB or of our models.

Ours computes every figure of an evaluation, theirs the accuracy of each fold, which must be the
same; or nearly, where the edges of histograms are those of each fold's training rows. Where theirs
would take an hour, it fits some of its models, and its time is scaled up to all of them: ``fits``
tells how many of how many.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from benchmarks.tables import Columns, Options, mark, seconds
from benchmarks.timing import Times, race
from benchmarks.workloads import Data, clouds, mixed
from naively import GaussianNB, NaiveBayes
from naively.evaluation import Evaluation, evaluate

__all__ = ["COLUMNS", "WORKS", "Work", "measure"]

_THEIRS = "cross_val_score"


class Work(NamedTuple):
    """Folds of some rows; ``fits`` of them are timed for scikit-learn, all where it is None.

    The accuracies of folds may differ by ``apart``: by a row in a million, where two classes tie.
    """

    name: str
    data: Callable[[], Data]
    folds: Any
    bar: float
    fits: int | None = None
    ours: Any = GaussianNB()
    theirs: Any = SklearnGaussianNB()
    apart: float = 2e-5


WORKS = [
    Work("10 folds, 1,000,000 x 50, 10 classes", lambda: clouds(1_000_000, 50, 10), 10, 50),
    Work(
        "leave-one-out, 10,000 x 20, 5 classes",
        lambda: clouds(10_000, 20, 5),
        "leave-one-out",
        1000,
        fits=200,
    ),
    Work(
        "10 folds of NaiveBayes, 200,000 x 30 mixed, 3 classes",
        lambda: mixed(200_000, 20, 10, 3),
        10,
        4,
        ours=NaiveBayes(),
        theirs=NaiveBayes(),
        apart=5e-3,
    ),
]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the time of each work, once the accuracies agree."""
    for work in WORKS:
        if options.only in work.name:
            yield _measured(work, options)
            gc.collect()


def _measured(work: Work, options: Options) -> dict[str, Any]:
    X, y = work.data()
    n_fits = work.folds if work.fits is None else y.size
    rows = None if work.fits is None else np.linspace(0, y.size - 1, work.fits).astype(int)
    splits = work.folds if rows is None else [_all_but(row, y.size) for row in rows]
    works = {
        "naively": partial(evaluate, work.ours, X, y, folds=work.folds),
        _THEIRS: partial(cross_val_score, work.theirs, X, y, cv=splits),
    }
    agree = partial(_agree, y=y, rows=rows, apart=work.apart)
    times = race(works, agree, rounds=options.rounds, patience=options.patience)
    ours, theirs = times["naively"], _scaled(times[_THEIRS], n_fits / (work.fits or n_fits))
    ratio = theirs.median / ours.median
    return {
        "work": work.name,
        "bytes": getattr(X, "nbytes", None) or int(X.memory_usage(deep=True).sum()),
        "ours": ours._asdict(),
        "theirs": theirs._asdict(),
        "fits": [work.fits or n_fits, n_fits],
        "ratio": ratio,
        "ratio_of_best": theirs.best / ours.best,
        "bar": work.bar,
        "met": ratio >= work.bar,
    }


def _all_but(row: int, n_rows: int) -> tuple[Any, Any]:
    return np.delete(np.arange(n_rows), row), np.array([row])


def _agree(answers: dict[str, Any], y: Any, rows: Any, apart: float) -> None:
    """Compare the accuracy of each fold, or whether each of the rows left out is right."""
    ours: Evaluation = answers["naively"]
    if rows is None:
        assert_allclose(ours.fold_accuracy, answers[_THEIRS], rtol=0, atol=apart)
    else:
        assert_array_equal((ours.labels == y)[rows], answers[_THEIRS] == 1)


def _scaled(times: Times, factor: float) -> Times:
    return times._replace(best=times.best * factor, median=times.median * factor)


COLUMNS: Columns = {
    "work": lambda r: r["work"],
    "naively": lambda r: seconds(r["ours"]["median"]),
    "`cross_val_score`": lambda r: seconds(r["theirs"]["median"]),
    "fits of it timed": lambda r: f"{r['fits'][0]:,} of {r['fits'][1]:,}",
    "times as fast": lambda r: f"{r['ratio']:.3g}",
    "by best runs": lambda r: f"{r['ratio_of_best']:.3g}",
    "goal": lambda r: f"{r['bar']:.3g}",
    "met": lambda r: mark(r["met"]),
}
