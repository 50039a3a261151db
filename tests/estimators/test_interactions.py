"""`NaiveBayes(interactions=...)`: what columns say together."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes, load, summarize
from naively.errors import NaivelyError
from naively.model.interactions import INTERACTIONS


def _frame(n=400, seed=0, K=3):
    """Columns of which only several together tell the class."""
    rng = np.random.default_rng(seed)
    a, b, noise = rng.normal(size=(3, n))
    town = rng.choice(["Ulm", "Bonn", "Kiel"], size=n)
    score = (a - b > 0.3).astype(int) + ((a * noise > 0) & (town != "Ulm")) * (K > 2)
    frame = pd.DataFrame({"a": a + 2 * noise, "b": b + 2 * noise, "c": noise, "town": town})
    frame.loc[::11, "b"] = np.nan
    frame.loc[::13, "town"] = None
    return frame, np.array(["x", "y", "z"])[score]


def _loss(model, X, y):
    p = model.predict_proba(X)
    return -np.log(p[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean()


@pytest.mark.parametrize("kind", [None, *INTERACTIONS])
def test_every_kind_tells_what_single_columns_do_not(kind):
    X, y = _frame(1500)
    new, truth = _frame(1500, seed=1)
    naive = NaiveBayes(interactions=None).fit(X, y)
    model = NaiveBayes(interactions="auto" if kind is None else (kind,)).fit(X, y)
    assert _loss(model, new, truth) < 0.97 * _loss(naive, new, truth)
    assert model.score(new, truth) > naive.score(new, truth)


def test_none_is_a_sum_over_columns():
    X, y = _frame()
    assert NaiveBayes(interactions=None).fit(X, y).model_.interactions is None
    assert NaiveBayes(interactions=()).fit(X, y).model_.interactions is None


@pytest.mark.parametrize("calibration", [None, "temperature"])
def test_without_weights_there_are_no_interactions(calibration):
    X, y = _frame()
    naive = NaiveBayes(calibration=calibration, interactions=None).fit(X, y)
    asked = NaiveBayes(calibration=calibration, interactions="auto").fit(X, y)
    np.testing.assert_array_equal(asked.predict_proba(X), naive.predict_proba(X))


@pytest.mark.parametrize("wrong", ["all", ("pair",), 3])
def test_an_unknown_kind_is_an_error_that_lists_the_kinds(wrong):
    X, y = _frame(60)
    with pytest.raises(ValueError, match=r"interactions.*'canonical'|interactions.*auto"):
        NaiveBayes(interactions=wrong).fit(X, y).predict(X)


def test_halves_add_up_to_the_whole():
    X, y = _frame(900)
    model = NaiveBayes(interactions="auto").fit(X[:500], y[:500]).partial_fit(X[500:], y[500:])
    whole = _under(model, X, y)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-9)


def _under(model, X, y):
    """Return a model of other rows under the schema of a model."""
    summary = summarize(X, y, schema=model.summary_.schema)
    return NaiveBayes.from_summary(summary, interactions=model.interactions)


def test_forgetting_rows_is_never_having_seen_them():
    X, y = _frame(700)
    model = NaiveBayes(interactions="auto").fit(X, y)
    without = _under(model, X[100:], y[100:])
    model.forget(X[:100], y[:100])
    np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), atol=1e-9)


def test_the_order_of_rows_does_not_matter():
    X, y = _frame()
    model = NaiveBayes(interactions="auto").fit(X, y)
    at = np.random.default_rng(0).permutation(len(y))
    other = _under(model, X.iloc[at], y[at])
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-9)


def test_weight_two_is_a_row_twice_and_weight_zero_none():
    X, y = _frame()
    weight = np.resize([1.0, 2.0, 0.0], len(y))
    model = NaiveBayes(interactions="auto").fit(X, y, sample_weight=weight)
    at = np.repeat(np.arange(len(y)), weight.astype(int))
    other = _under(model, X.iloc[at], y[at])
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-9)


def test_a_model_file_and_a_pickle_give_the_same_probabilities(tmp_path):
    X, y = _frame()
    model = NaiveBayes(interactions=("canonical", "pairs")).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    for other in (load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert other.interactions == ("canonical", "pairs")
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))


def test_rows_by_themselves_get_the_same_answers():
    X, y = _frame()
    model = NaiveBayes(interactions="auto").fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(
        np.vstack([model.predict_proba(X[i : i + 7]) for i in range(0, 400, 7)]), p
    )
    one = X.iloc[3].to_dict()
    np.testing.assert_allclose(model.predict_proba_one(one), p[3], atol=1e-12)
    assert model.predict_one(one) == model.predict(X)[3]
    for n_jobs in (1, 2, 7):
        model.set_params(n_jobs=n_jobs)
        np.testing.assert_array_equal(model.predict_proba(X), p)


@pytest.mark.parametrize("name", ["constant", "collinear", "wide", "missing", "repeated", "rare"])
def test_odd_tables_have_finite_sensible_probabilities(name):
    rng = np.random.default_rng(0)
    y = np.resize(["a", "b", "c"], 90)
    X = rng.normal(size=(90, 4)) + (y == "a")[:, np.newaxis]
    weight = np.ones(90)
    if name == "constant":
        X[:] = 3.0
    elif name == "collinear":
        X = np.column_stack([X, X, 2 * X[:, :1] - X[:, 1:2], X + 1e-13])
    elif name == "wide":
        X = np.column_stack([X, rng.normal(size=(90, 300))])
    elif name == "missing":
        X[:, 0] = np.nan
        X[rng.random(X.shape) < 0.5] = np.nan
    elif name == "repeated":
        X, y = np.repeat(X[:3], 30, axis=0), np.repeat(y[:3], 30)
    else:
        y[5], weight = "d", rng.choice([0.0, 1e-6, 1.0, 1e12], size=90)
        weight[5] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NaiveBayes(interactions="auto").fit(X, y, sample_weight=weight)
        new = np.vstack([X, np.full((1, X.shape[1]), 1e200), np.full((1, X.shape[1]), np.nan)])
        new[0, :] = -1e300
        p = model.predict_proba(new)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@pytest.mark.parametrize("light", [1e-300, 5e-324])
@pytest.mark.parametrize("heavy", [1.0, 1e15, 1e80])
def test_weights_of_every_size_beside_each_other_leave_finite_probabilities(light, heavy):
    X, y = _frame()
    X["a"] *= 1e-140
    weight = np.where(np.arange(len(y)) % 3, heavy, light)
    weight[(X["town"] == "Kiel") | (X["a"] > 1e-140)] = light  # a category and bins of its own
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = NaiveBayes().fit(X, y, sample_weight=weight).predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_a_single_class_and_few_rows_have_no_interactions():
    X, y = _frame(300)
    assert NaiveBayes(interactions="auto").fit(X, ["only"] * 300).model_.interactions is None
    few = NaiveBayes(interactions="auto").fit(X[:20], y[:20])
    assert few.model_.interactions is None
    assert np.isfinite(few.predict_proba(X)).all()


def test_many_classes_have_no_interactions():
    rng = np.random.default_rng(0)
    y = np.resize(np.arange(150), 900)
    X = rng.normal(size=(900, 2)) + y[:, np.newaxis]
    assert NaiveBayes(interactions="auto").fit(X, y).model_.interactions is None


def test_categories_alone_have_directions_and_pairs():
    rng = np.random.default_rng(0)
    a, b = rng.choice(list("pqrs"), size=(2, 800))
    y = np.where((a == "p") == (b == "q"), "same", "other")
    X = pd.DataFrame({"a": a, "b": b})
    model = NaiveBayes(interactions="auto").fit(X, y)
    assert model.model_.interactions.quadratic is None
    assert model.score(X, y) == 1.0
    assert NaiveBayes(interactions=None).fit(X, y).score(X, y) < 0.95
    unseen = pd.DataFrame({"a": ["z", None], "b": ["p", None]})
    assert np.isfinite(model.predict_proba(unseen)).all()


def test_infinity_is_an_error_that_names_the_column():
    X, y = _frame()
    model = NaiveBayes(interactions="auto").fit(X, y)
    X.loc[3, "a"] = np.inf
    with pytest.raises(NaivelyError, match="'a'"):
        model.predict_proba(X)


def test_what_was_learned_can_be_looked_at():
    X, y = _frame(1500)
    model = NaiveBayes(interactions="auto").fit(X, y)
    kinds = [term["kind"] for term in model.interactions_]
    assert kinds[:3] == ["direction", "direction", "quadratic"]
    assert kinds[3:] == ["pair"] * len(model.model_.interactions.pairs)
    first = model.interactions_[0]
    assert set(first["columns"]) == set(X.columns)
    loadings = np.abs(list(first["loadings"].values()))
    assert (np.diff(loadings) <= 0).all()
    assert first["weights"].shape == (2, 3)
    assert model.interactions_[2]["columns"] == ("a", "b", "c")
    assert NaiveBayes(interactions=None).fit(X, y).interactions_ == []


@pytest.mark.parametrize("priors", [[0.9, 0.09, 0.01], [0.5, 0.0, 0.5]])
@pytest.mark.parametrize("calibration", [None, "temperature", "weights"])
def test_given_priors_take_the_place_of_the_shares_of_the_data(calibration, priors):
    X, y = _frame()
    plain, given = (
        NaiveBayes(calibration=calibration, priors=p).fit(X, y).predict_joint_log_proba(X)
        for p in (None, priors)
    )
    share = np.unique(y, return_counts=True)[1] / len(y)
    possible = np.array(priors) > 0
    change = np.log(np.array(priors)[possible] / share[possible])
    np.testing.assert_allclose((given - plain)[:, possible], np.tile(change, (len(y), 1)))
    assert np.isneginf(given[:, ~possible]).all()
