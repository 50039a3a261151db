"""Processors with narrower registers give the same answers, bit for bit."""

import numpy as np
import pytest

from naively import GaussianNB, NaiveBayes, _kernel
from naively.statistics import Scatter


@pytest.fixture(params=[256, 0], ids=["256 bits", "older processors"])
def narrower(request):
    """Return a function that calls another one with narrower registers."""

    def call(function):
        before = _kernel.limit_registers(request.param)
        try:
            return function()
        finally:
            _kernel.limit_registers(before)

    return call


def tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 21)) * np.logspace(-3, 3, 21) + np.linspace(-1e4, 1e4, 21)
    holes = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    return {
        "rows": X,
        "columns": np.asfortranarray(X),
        "floats": X.astype(np.float32),
        "columns of floats": np.asfortranarray(X, dtype=np.float32),
        "missing": holes,
        "every other row": np.repeat(X, 2, axis=0)[::2],
        "wide": np.hstack([X] * 7),
        "one column": X[:, :1],
        "few rows": X[:3],
    }


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("n_classes", [2, 3, 5, 8, 11])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_narrower_registers_change_no_bit(narrower, name, n_classes, weighted):
    X = tables()[name]
    rng = np.random.default_rng(1)
    y = np.arange(len(X)) % min(n_classes, len(X))
    w = rng.choice([0.0, 0.5, 3.0], len(X)) if weighted else None
    if weighted:
        w[: n_classes + 1] = 1.0

    def answers():
        model = GaussianNB().fit(X, y, sample_weight=w)
        moments = model.summary_.moments
        found = [moments.weight, moments.mean, moments.m2, moments.rest, model.predict(X)]
        return [*found, model.predict_proba(X), model.predict_log_proba(X), model.score_samples(X)]

    for expected, found in zip(answers(), narrower(answers), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["rows", "columns", "floats", "missing"])
def test_narrower_registers_change_no_bit_of_products(narrower, name):
    X = tables()[name]
    y = np.arange(len(X)) % 3

    def products():
        return NaiveBayes().fit(X, y).summary_[Scatter].products

    np.testing.assert_array_equal(narrower(products), products())


def test_narrower_registers_change_no_bit_of_far_rows(narrower):
    X = tables()["rows"]
    model = GaussianNB().fit(X, np.arange(len(X)) % 3)
    far = np.where(np.random.default_rng(2).random(X.shape) < 0.01, 1e200, X)

    def answers():
        return [model.predict(far), model.predict_proba(far), model.score_samples(far)]

    for expected, found in zip(answers(), narrower(answers), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_registers_are_never_wider_than_the_processor_has():
    before = _kernel.limit_registers(0)
    try:
        _kernel.limit_registers(1 << 20)
        assert _kernel.limit_registers(before) == max(before, 0)
    finally:
        _kernel.limit_registers(before)
