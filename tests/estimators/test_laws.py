"""Laws that every estimator obeys: how its rows came does not matter, and what is kept is all."""

import pickle

import numpy as np
import pytest

import naively
from naively import BernoulliNB, NaiveBayes
from naively.families import Text
from tests.estimators.streams import CASES, Case, assert_close, bags, holes, mixed, numbers

TEXT = {"hashed": Text(hashed=2**10), "text": Text()}
LAWFUL = {name: case for name, case in CASES.items() if case.rows is not mixed}
LAWFUL |= {
    "BernoulliNB, above 1": Case(BernoulliNB, bags, {"binarize": 1.0}),
    "BernoulliNB, binary": Case(BernoulliNB, holes, {"binarize": None}),
} | {
    f"NaiveBayes, {name}, {how}": Case(
        NaiveBayes, mixed, {"families": {"note": text}, "calibration": how}
    )
    for name, text in TEXT.items()
    for how in (None, "temperature")
}
N = 60


@pytest.fixture(params=LAWFUL.values(), ids=LAWFUL)
def case(request):
    return request.param


@pytest.fixture
def table(case):
    rows, labels = case.draw(N, ["no", "perhaps", "yes"])
    return case.table(rows), labels


def assert_same(case, model, other, X):
    """Counts are added exactly, numbers with little rounding."""
    if case.rows in (numbers, mixed) or case.kind is NaiveBayes or model.calibration:
        assert_close(model.summary_, other.summary_, 1e-11)
        near = 1e-9 if model.calibration is None else 1e-7
    else:
        assert model.summary_ == other.summary_
        near = 0.0
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), rtol=0, atol=near)


def test_batches_in_any_split_and_order_are_one_fit(case, table):
    X, y = table
    at = np.random.default_rng(0).permutation(N)
    model, whole = case.make(), case.make().fit(X, y)
    for part in np.split(at, [3, 4, 30]):
        model.partial_fit(X.iloc[part], y[part], classes=np.unique(y))
        model.predict(X[:5])
    assert_same(case, model, whole, X)


def test_rows_that_are_forgotten_were_never_there(case, table):
    X, y = table
    model = case.make().fit(X, y).forget(X[:20], y[:20])
    assert_same(case, model, case.make().fit(X[20:], y[20:]), X)


def test_sites_add_up_without_moving_rows(case, table):
    X, y = table
    model, whole = case.make(), case.make().fit(X, y)
    for i in range(3):
        model.update(case.make().fit(X[i::3], y[i::3]).summary_)
    assert_same(case, model, whole, X)
    again = case.kind.from_summary(model.summary_, **model.get_params())
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_old_batches_fade_and_new_classes_come(case, table):
    X, y = table
    model = case.make(decay=0.5, open_classes=True)
    for label in ("yes", "no", "perhaps"):
        model.partial_fit(X[y == label], y[y == label])
    weights = np.array([0.5, 1.0, 0.25])[np.unique(y, return_inverse=True)[1]]
    assert_same(case, model, case.make().fit(X, y, sample_weight=weights), X)


def test_weights_are_repetitions_and_weight_zero_is_absence(case, table):
    X, y = table
    weights = np.resize([1, 0, 2, 1], N)
    at = np.repeat(np.arange(N), weights)
    model = case.make().fit(X, y, sample_weight=weights.astype(float))
    assert_same(case, model, case.make().fit(X.iloc[at], y[at]), X)


def test_a_model_is_saved_and_pickled_and_goes_on(case, table, tmp_path):
    X, y = table
    model = case.make().fit(X, y)
    model.save(tmp_path / "model")
    for again in (naively.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert type(again) is case.kind
        assert again.summary_ == model.summary_
        assert again.get_params().keys() == model.get_params().keys()
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.partial_fit(X, y).class_count_.sum() == 2 * N
