"""Columns of other families: categories beside scikit-learn's, and a mixed table beside numbers."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import CategoricalNB as SklearnCategoricalNB

from benchmarks.contests import Contest
from benchmarks.speed import COLUMNS, records
from benchmarks.tables import Options
from benchmarks.workloads import clouds
from naively import CategoricalNB, GaussianNB, NaiveBayes

__all__ = ["COLUMNS", "WORKS", "measure"]

_ROWS, _CLASSES = 1_000_000, 10
SKLEARN, NUMBERS = "scikit-learn", "GaussianNB on 50 float64 columns"


class Work(NamedTuple):
    """A contest, and how many times as fast as each peer it must be."""

    name: str
    contest: Callable[[], Contest]
    bars: dict[str, float | None]


def _codes() -> tuple[Any, Any]:
    """Draw codes of ten categories whose shares depend on the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(_CLASSES, size=_ROWS)
    X = (rng.integers(10, size=(_ROWS, 50)) * rng.random((_ROWS, 50))).astype(np.int64)
    X[:, ::5] = (X[:, ::5] + y[:, np.newaxis]) % 10
    return X, y


def _fit_codes() -> Contest:
    X, y = _codes()
    works = {"naively": lambda: CategoricalNB().fit(X, y)}
    works[SKLEARN] = lambda: SklearnCategoricalNB().fit(X, y)

    def agree(models: dict[str, Any]) -> None:
        ours, theirs = models["naively"], models[SKLEARN]
        for mine, their in zip(ours.feature_log_prob_, theirs.feature_log_prob_, strict=True):
            assert_allclose(mine, their, rtol=1e-12)

    return Contest(works, agree, X.nbytes)


def _predict_codes() -> Contest:
    X, y = _codes()
    models = {"naively": CategoricalNB().fit(X, y), SKLEARN: SklearnCategoricalNB().fit(X, y)}
    works = {name: partial(model.predict, X) for name, model in models.items()}
    return Contest(works, lambda a: assert_array_equal(a["naively"], a[SKLEARN]), X.nbytes)


def _fit_mixed() -> Contest:
    import pandas

    X, y = clouds(_ROWS, 50, _CLASSES)
    frame = pandas.DataFrame({f"x{j}": X[:, j].copy() for j in range(40)})
    towns = np.array(["Ulm", "Bonn", "Jena", "Trier", "Mainz"])
    for j in range(10):
        codes = (X[:, 40 + j] > 0) + (y % 3)
        frame[f"c{j}"] = pandas.Categorical.from_codes(codes, categories=towns)
    works = {
        "naively": lambda: NaiveBayes(calibration=None).fit(frame, y),
        NUMBERS: lambda: GaussianNB().fit(X, y),
    }

    def agree(models: dict[str, Any]) -> None:
        mixed, plain = (models[name].summary_ for name in ("naively", NUMBERS))
        assert_allclose(mixed.moments.mean, plain.moments.mean[:, :40], rtol=1e-9, atol=1e-12)
        assert_array_equal(mixed.tally(0).sum(axis=1), plain.class_weight)

    return Contest(works, agree, 40 * 8 * _ROWS + 10 * _ROWS)


WORKS = [
    Work("CategoricalNB, fit, 1,000,000 x 50 codes, 10 classes", _fit_codes, {SKLEARN: 20}),
    Work("CategoricalNB, predict, same", _predict_codes, {SKLEARN: 20}),
    Work("NaiveBayes(calibration=None), fit, 40 float64 + 10 categories", _fit_mixed,
         {NUMBERS: 1 / 3}),
]  # fmt: skip


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Hold every contest, and yield one record for each peer in it."""
    for work in WORKS:
        if options.only in work.name:
            yield from records(work.name, work.contest(), work.bars, options)
            gc.collect()
