"""Named catastrophes, each beside the naive algorithm that fails the same tolerance."""

from functools import reduce
from operator import add

import numpy as np
import pytest
import sklearn.naive_bayes
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split

from naively import GaussianNB, NaiveBayes, NaivelyError, summarize
from naively.statistics import Moments
from tests import oracles

EPS = np.finfo(float).eps


def variance_of(x, **how):
    """The variance of one column in one class, as the library finds it."""
    moments = summarize(np.reshape(x, (-1, 1)), np.zeros(len(x), np.int8), **how).moments
    return float(moments.m2[0, 0] / moments.weight[0, 0])


def textbook_variance(x):
    """E[x^2] - E[x]^2: the difference of two large numbers."""
    return float(np.mean(x * x) - np.mean(x) ** 2)


def textbook_proba(model, X):
    """Densities multiplied, then divided by their sum."""
    with np.errstate(all="ignore"):
        z = (X[:, np.newaxis] - model.theta_) ** 2 / model.var_
        density = np.exp(-z / 2) / np.sqrt(2 * np.pi * model.var_)
        joint = model.class_prior_ * density.prod(axis=2)
        return joint / joint.sum(axis=1, keepdims=True)


def assert_probabilities(proba):
    """Finite, in [0, 1], and of sum 1 to an ulp per class."""
    assert np.isfinite(proba).all()
    assert ((proba >= 0) & (proba <= 1)).all()
    assert np.allclose(proba.sum(axis=1), 1.0, rtol=proba.shape[1] * EPS, atol=0)


# --- statistics -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1000, 20_000], ids=["one block", "many blocks"])
@pytest.mark.parametrize("offset", [1e8, 1e15], ids=["1e8", "1e15"])
def test_rows_far_from_zero_have_an_exact_variance(offset, n):
    """Deviations from a row of the block are exact there, so the sums alone are rounded."""
    x = offset + np.random.default_rng(0).standard_normal(n)
    weight, _, m2 = oracles.moments_of_cells(x)
    exact, tolerance = float(m2 / weight), 32 * 1000 * EPS
    assert variance_of(x) == pytest.approx(exact, rel=tolerance)
    assert textbook_variance(x) != pytest.approx(exact, rel=tolerance)


@pytest.mark.parametrize("offset", [1e8, 1e15], ids=["1e8", "1e15"])
def test_batches_far_from_zero_have_the_variance_of_the_whole(offset):
    """Means that were rounded would spoil it: what rounding took from them is kept."""
    x = offset + np.random.default_rng(1).standard_normal((2000, 1))
    y = np.zeros(2000, int)
    whole = summarize(x, y).moments.m2
    batches = [summarize(x[i : i + 50], y[i : i + 50]).moments for i in range(0, 2000, 50)]
    rounded = [Moments.of(batch.weight, batch.mean, batch.m2) for batch in batches]
    np.testing.assert_allclose(reduce(add, batches).m2, whole, rtol=1e-13)
    assert np.abs(reduce(add, rounded).m2 / whole - 1).max() > 1e-11
    half = reduce(add, batches[:20])
    np.testing.assert_allclose((half + batches[20] - batches[20]).m2, half.m2, rtol=1e-13)


def test_ten_million_short_floats_have_the_variance_of_long_ones():
    x = np.float32(1e4) + np.random.default_rng(2).standard_normal(10_000_000, dtype=np.float32)
    exact = float(np.var(x, dtype=np.float64))
    assert variance_of(x) == pytest.approx(exact, rel=1e-10)  # an ulp of 1e4, and sums of blocks
    assert textbook_variance(x) != pytest.approx(exact, rel=0.1)
    assert float(np.var(x)) != pytest.approx(exact, rel=1e-10)  # two passes, in single precision


def test_counts_go_on_beyond_what_short_floats_can_count():
    n = 2**24 + 3
    one = np.broadcast_to(np.ones(1, np.float32), (n, 1))
    assert summarize(one, np.zeros(n, np.int8)).class_weight == n
    assert np.float32(2**24) + np.float32(1) == np.float32(2**24)


def test_a_class_absent_from_later_batches_does_not_change_a_bit():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 4)), np.repeat([0, 1], 30)
    later, later_y = 100 * rng.normal(size=(30, 4)), np.ones(30, int)
    ours, theirs = GaussianNB(), sklearn.naive_bayes.GaussianNB()
    for model in (ours, theirs):
        model.partial_fit(X, y, classes=[0, 1])
    before, unsmoothed = ours.summary_.moments[0], theirs.var_[0] - theirs.epsilon_
    for model in (ours, theirs):
        model.partial_fit(later, later_y)
    assert ours.summary_.moments[0] == before
    assert not np.allclose(theirs.var_[0] - theirs.epsilon_, unsmoothed, rtol=1e-8, atol=0)


def test_an_outlier_without_weight_changes_nothing_not_even_the_smoothing():
    X, y = load_iris(return_X_y=True)
    X_more, y_more = np.vstack([X, [[1e9] * 4]]), np.append(y, 2)
    weights = np.append(np.ones(150), 0.0)
    ours, theirs = GaussianNB().fit(X, y), sklearn.naive_bayes.GaussianNB().fit(X, y)
    with_outlier = GaussianNB().fit(X_more, y_more, weights)
    assert with_outlier.summary_ == ours.summary_
    assert with_outlier.epsilon_ == ours.epsilon_
    assert theirs.epsilon_ != theirs.fit(X_more, y_more, weights).epsilon_


def test_weights_of_a_ten_billionth_give_the_same_model():
    X, y = load_iris(return_X_y=True)
    tiny = np.full(150, 1e-10)
    light, plain = GaussianNB().fit(X, y, tiny), GaussianNB().fit(X, y)
    tolerance = 150 * EPS  # sums of 150 terms
    assert np.allclose(light.theta_, plain.theta_, rtol=tolerance, atol=0)
    assert np.allclose(light.var_, plain.var_, rtol=32 * tolerance, atol=0)
    guarded = tiny @ X / (tiny.sum() + 1e-12)  # a guard against empty classes
    assert not np.allclose(guarded, X.mean(axis=0), rtol=32 * tolerance, atol=0)


def test_a_constant_column_that_comes_row_by_row_stays_constant():
    model, sums = GaussianNB(), np.zeros(2)
    for i in range(1000):
        model.partial_fit([[0.1, float(i % 7)]], [i % 2], classes=[0, 1])
        sums += [0.1, 0.1 * 0.1]
    assert (model.summary_.moments.mean[:, 0] == 0.1).all()
    assert (model.summary_.moments.m2[:, 0] == 0.0).all()
    mean, mean_of_squares = sums / 1000
    assert mean_of_squares - mean**2 != 0.0


@pytest.mark.parametrize("order", ["as it comes", "sorted by class", "shuffled"])
@pytest.mark.parametrize("batch", [1, 7, 64, 150], ids=["single", "seven", "many", "all"])
def test_batches_in_any_order_give_the_model_of_all_rows(batch, order):
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(4).permutation(150)
    rows = {"as it comes": rows, "sorted by class": np.sort(rows), "shuffled": rows[::-1]}[order]
    whole, streamed = GaussianNB().fit(X, y), GaussianNB()
    for start in range(0, 150, batch):
        at = rows[start : start + batch]
        streamed.partial_fit(X[at], y[at], classes=[0, 1, 2])
    # Means are within 20 sd of zero here and off by an ulp a batch: 20 times that for the sd.
    tolerance = 20 * 150 * EPS
    assert np.allclose(streamed.theta_, whole.theta_, rtol=tolerance, atol=0)
    assert np.allclose(streamed.var_, whole.var_, rtol=2 * tolerance, atol=0)
    assert streamed.epsilon_ == pytest.approx(whole.epsilon_, rel=2 * tolerance)
    assert np.array_equal(streamed.class_prior_, whole.class_prior_)


def test_smoothing_by_the_last_batch_is_another_model():
    X, y = load_iris(return_X_y=True)
    whole, streamed = sklearn.naive_bayes.GaussianNB().fit(X, y), sklearn.naive_bayes.GaussianNB()
    for start in range(0, 150, 7):
        at = slice(start, start + 7)
        streamed.partial_fit(X[at], y[at], classes=[0, 1, 2])
    assert streamed.epsilon_ != pytest.approx(whole.epsilon_, rel=0.1)


@pytest.mark.parametrize("offset", [0.0, 1e8, 1e12], ids=["zero", "1e8", "1e12"])
def test_rows_far_from_zero_can_be_removed(offset):
    """Rounding alone takes the m2 of the few rows that are left below zero."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        x = offset + rng.standard_normal((1000, 1))
        few, many = summarize(x[:2], [0, 0]), summarize(x[2:], np.zeros(998, int))
        assert ((few + many) - many).class_weight == 2


def test_all_rows_can_be_removed_in_chunks_whose_weights_add_up_otherwise():
    rng = np.random.default_rng(6)
    for _ in range(20):
        x, y, w = rng.standard_normal((2000, 1)), np.zeros(2000, int), rng.random(2000)
        left = summarize(x, y, sample_weight=w)
        for at in range(0, 2000, 100):
            chunk = slice(at, at + 100)
            left = left - summarize(x[chunk], y[chunk], sample_weight=w[chunk])
        assert left.weight <= 2000 * EPS * w.sum()


@pytest.mark.parametrize("n", [2, 5, 13, 37, 43])
def test_a_class_that_was_never_seen_does_not_spoil_huge_statistics(n):
    y = np.arange(n) % 3  # whose shares do not add up to 1, to the last bit
    model = GaussianNB().partial_fit(np.full((n, 1), 1e200), y, classes=[0, 1, 2, 3])
    assert model.epsilon_ == 0.0
    assert_probabilities(model.predict_proba([[1e200], [0.0]]))


def test_classes_so_far_apart_that_no_float_holds_their_variance_are_an_error():
    with pytest.raises(NaivelyError, match="variance exceeds the range of float64"):
        GaussianNB().fit([[1e200], [-1e200]], [0, 1])


@pytest.mark.parametrize(
    ("kind", "params"),
    [(GaussianNB, {}), (NaiveBayes, {"calibration": None})],
    ids=["GaussianNB", "NaiveBayes"],
)
def test_summaries_whose_means_are_farther_apart_than_any_float_say_so(kind, params):
    one, other = summarize([[9e307], [0.0]], [0, 1]), summarize([[-9e307], [1.0]], [0, 1])
    with pytest.raises(NaivelyError, match="variance exceeds the range of float64"):
        kind.from_summary(one + other, **params)


# --- probabilities --------------------------------------------------------------------------


@pytest.mark.parametrize("x", [1e200, -1e200, 1.7e308], ids=["1e200", "-1e200", "the largest"])
def test_a_point_at_the_end_of_the_world_has_probabilities(x):
    X, y = load_iris(return_X_y=True)
    model, far = GaussianNB().fit(X, y), np.full((2, 4), x)
    far[1, 1:] = 0.0
    assert_probabilities(model.predict_proba(far))
    assert np.isnan(textbook_proba(model, far)).all()


def test_ten_thousand_columns_do_not_underflow():
    rng = np.random.default_rng(7)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 10_000)) + 0.1 * y[:, np.newaxis]
    model = GaussianNB().fit(X, y)
    assert_probabilities(model.predict_proba(X))
    assert model.score(X, y) == 1.0
    assert np.isnan(textbook_proba(model, X)).any()


def test_a_subnormal_variance_has_probabilities():
    X, y = np.array([[0.0], [2e-160], [1.0], [1.0 + 8 * EPS]]), np.array([0, 0, 1, 1])
    model = GaussianNB(var_smoothing=0).fit(X, y)
    rows = np.array([[0.0], [1e-160], [0.5], [1.0]])
    assert 0 < model.var_[0, 0] < np.finfo(float).tiny
    assert_probabilities(model.predict_proba(rows))
    assert not np.isfinite(textbook_proba(model, rows)).all()


def test_constant_columns_have_probabilities_without_smoothing():
    X, y = np.array([[1.0, 5.0], [1.0, 5.0], [2.0, 5.0], [2.0, 5.0]]), np.array([0, 0, 1, 1])
    model = GaussianNB(var_smoothing=0).fit(X, y)
    rows = np.vstack([X, [[1.5, 5.0], [9.0, 9.0], [-1e300, 0.0]]])
    assert_probabilities(model.predict_proba(rows))
    assert np.array_equal(model.predict(X), y)
    assert np.isnan(textbook_proba(model, X)).any()


@pytest.mark.parametrize("var_smoothing", [0.0, 1e-9], ids=["without", "with smoothing"])
def test_classes_of_one_row_have_probabilities(var_smoothing):
    X, y = np.array([[0.0, 1.0], [3.0, 1.0], [7.0, 2.0]]), np.array(["a", "b", "c"])
    model = GaussianNB(var_smoothing=var_smoothing).fit(X, y)
    assert_probabilities(model.predict_proba(np.vstack([X, X + 0.5, 1e200 * X])))
    assert np.array_equal(model.predict(X), y)


def test_a_declared_class_that_never_came_has_no_probability():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().partial_fit(X, y, classes=[-1, 0, 1, 2, 3])
    proba = model.predict_proba(np.vstack([X, [[1e200] * 4], [[np.nan] * 4]]))
    assert_probabilities(proba)
    assert not proba[:, [0, 4]].any()
    assert np.array_equal(proba[:150, 1:4], GaussianNB().fit(X, y).predict_proba(X))


def test_columns_of_any_unit_classify_perfectly_when_each_is_smoothed_by_its_own_variance():
    rng = np.random.default_rng(8)
    y = np.arange(400) % 2
    X = np.column_stack([1e6 * rng.standard_normal(400), 1e-2 * rng.standard_normal(400) + 0.1 * y])
    assert GaussianNB(smoothing="column").fit(X, y).score(X, y) == 1.0
    assert GaussianNB().fit(X, y).score(X, y) < 0.7
    assert sklearn.naive_bayes.GaussianNB().fit(X, y).score(X, y) < 0.7


def test_no_floor_under_the_density_flips_a_row():
    """The published implementation adds 1e-9 to each density before its logarithm."""
    X, y = load_breast_cancer(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=42)
    model = GaussianNB().fit(X, y)
    z = (X[:, np.newaxis] - model.theta_) ** 2 / model.var_
    density = np.exp(-z / 2) / np.sqrt(2 * np.pi * model.var_)
    floored = np.log(model.class_prior_) + np.log(density + 1e-9).sum(axis=2)
    assert round(model.score(X, y), 4) == 0.9447
    assert round(np.mean(floored.argmax(axis=1) == y), 4) == 0.9422


@pytest.mark.parametrize("offset", [1e8, 1e15], ids=["1e8", "1e15"])
def test_blocks_far_from_zero_add_up_without_the_rounding_of_their_means(offset):
    rng = np.random.default_rng(9)
    near = rng.integers(-30, 31, size=(200_000, 1)) / 8.0  # exact, whatever the offset
    y = np.arange(200_000) % 3
    close, far = GaussianNB(var_smoothing=0).fit(near, y), GaussianNB(var_smoothing=0)
    np.testing.assert_allclose(far.fit(near + offset, y).var_, close.var_, rtol=1e-13)
