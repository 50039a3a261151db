"""Threads: any number of them gives the same bits, forks are safe, and nothing is written to."""

import os
import signal
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from naively import GaussianNB, NaivelyError

N_ROWS, N_COLUMNS = 100_003, 60  # enough for a dozen blocks of work, the last one shorter


@pytest.fixture(scope="module")
def data():
    """Rows around 1e3, so that sums in another order have other bits, and their labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=N_ROWS)
    return 1e3 + rng.standard_normal((N_ROWS, N_COLUMNS)) + y[:, np.newaxis] / 10, y


def with_missing_cells(X):
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    return X


KINDS = {
    "rows": lambda X: X,
    "short floats": lambda X: X.astype(np.float32),
    "columns": np.asfortranarray,
    "integers": lambda X: X.astype(np.int16),
    "missing cells": with_missing_cells,
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "a frame": lambda X: pd.DataFrame(X, columns=[f"x{j}" for j in range(N_COLUMNS)]),
}
WEIGHTS = {
    "unweighted": None,
    "weighted": np.random.default_rng(2).random(N_ROWS),
}


def answers(model, X):
    return [model.predict(X), model.predict_proba(X), model.score_samples(X)]


def same_bits(arrays, others):
    return all(a.tobytes() == b.tobytes() for a, b in zip(arrays, others, strict=True))


def test_the_data_are_worth_many_threads(data):
    """Another order of the rows has other bits, so that equal bits say something."""
    X, y = data
    model, shuffled = GaussianNB().fit(X, y), GaussianNB().fit(X[::-1], y[::-1])
    assert model.summary_ != shuffled.summary_


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_threads_do_not_change_a_bit_of_what_is_learned(data, kind, weights):
    X, y = kind(data[0]), data[1]
    models = [GaussianNB(n_jobs=n).fit(X, y, weights) for n in (1, 2, 3, 7, None, -1)]
    assert all(model.summary_ == models[0].summary_ for model in models[1:])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_threads_do_not_change_a_bit_of_any_answer(data, kind):
    X, y = kind(data[0]), data[1]
    alone = GaussianNB(n_jobs=1).fit(X, y)
    expected = answers(alone, X)
    for n_jobs in (2, 3, 7):
        assert same_bits(answers(alone.set_params(n_jobs=n_jobs), X), expected)


@pytest.mark.parametrize("kind", ["rows", "columns", "missing cells"])
def test_threads_leave_user_data_as_they_are(data, kind):
    X, y, weights = KINDS[kind](data[0]), data[1].copy(), WEIGHTS["weighted"].copy()
    before = [array.tobytes() for array in (X, y, weights)]
    answers(GaussianNB(n_jobs=7).fit(X, y, weights), X)
    assert [array.tobytes() for array in (X, y, weights)] == before


def test_data_that_cannot_be_written_are_read(data):
    X, y = data[0].view(), data[1].view()
    X.flags.writeable = y.flags.writeable = False
    assert GaussianNB(n_jobs=3).fit(X, y).summary_ == GaussianNB().fit(*data).summary_


def test_infinity_in_any_block_is_named_whatever_the_threads(data):
    X, y = data[0].copy(), data[1]
    X[70_001, 3] = np.inf
    for n_jobs in (1, 2, 7):
        with pytest.raises(NaivelyError, match=r"column 3 holds infinity \(first at row 70001\)"):
            GaussianNB(n_jobs=n_jobs).fit(X, y)


def test_models_fitted_at_the_same_time_do_not_meet(data):
    X, y = data
    expected = GaussianNB(n_jobs=1).fit(X, y)
    proba = expected.predict_proba(X[:1000])

    def work(n_jobs):
        model = GaussianNB(n_jobs=n_jobs).fit(X, y)
        return model.summary_ == expected.summary_, model.predict_proba(X[:1000])

    with ThreadPoolExecutor(4) as pool:
        for same, answer in pool.map(work, [1, 2, 3, 7, 1, 2, 3, 7]):
            assert same
            assert np.array_equal(answer, proba)


def test_one_model_answers_several_threads_at_once(data):
    X, y = data
    model = GaussianNB(n_jobs=2).fit(X, y)
    expected = model.predict_proba(X)
    with ThreadPoolExecutor(4) as pool:
        for answer in pool.map(lambda _: model.predict_proba(X), range(8)):
            assert np.array_equal(answer, expected)


def status_of_child(work):
    """Run work in a forked child and return its exit status; a child that hangs is ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other libraries' threads may live
        child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            os._exit(0 if work() else 1)
        except BaseException:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_fork_after_use_learns_and_answers_the_same(data):
    X, y = data
    model = GaussianNB(n_jobs=3).fit(X, y)
    expected = answers(model, X)

    def work():
        again = GaussianNB(n_jobs=3).fit(X, y)
        return again.summary_ == model.summary_ and same_bits(answers(model, X), expected)

    assert status_of_child(work) == 0
    assert same_bits(answers(model, X), expected)
