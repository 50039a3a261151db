"""Finite or unchanged: what would leave a statistic that is not finite raises, and is undone."""

import numpy as np
import pandas as pd
import pytest

import naively
from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError, summarize
from naively.statistics import Moments
from tests import oracles

EPS = np.finfo(float).eps
MODELS = {
    "GaussianNB": lambda: GaussianNB(open_classes=True),
    "calibrated GaussianNB": lambda: GaussianNB(calibration="temperature", open_classes=True),
    "NaiveBayes": lambda: NaiveBayes(open_classes=True),
    "textbook NaiveBayes": lambda: NaiveBayes(calibration=None, open_classes=True),
}


@pytest.fixture(params=MODELS.values(), ids=MODELS)
def stream(request):
    """A model that has learned twenty rows of two classes, one of them at a time at the end."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.array(["a", "b"] * 10)
    model = request.param().partial_fit(X[:18], y[:18])
    for i in (18, 19):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return model, X, y


@pytest.mark.parametrize("label", ["a", "new"], ids=["a known class", "a new class"])
@pytest.mark.parametrize("cell", [1e200, -1.7e308, 1e160], ids=str)
def test_one_large_cell_is_refused_and_the_stream_goes_on(tmp_path, stream, cell, label):
    model, X, y = stream
    before, proba = model.summary_, model.predict_proba(X)
    with pytest.raises(NaivelyError, match="float64"):
        model.partial_fit([[0.0, cell]], [label])
    assert model.summary_ is before
    assert (model.predict_proba(X) == proba).all()
    model.save(tmp_path / "model")
    assert (naively.load(tmp_path / "model").predict_proba(X) == proba).all()
    assert model.forget(X[:1], y[:1]).partial_fit(X[:1], y[:1]).predict(X).size == 20


def test_a_sum_that_would_not_be_finite_names_class_and_column():
    frame = pd.DataFrame({"age": [1.0, 2.0], "pay": [1.0, 3.0]})
    model = GaussianNB(open_classes=True).partial_fit(frame, ["low", "high"])
    far = pd.DataFrame({"age": [1.0], "pay": [1e200]})
    with pytest.raises(NaivelyError, match=r"in class 'high', column 'pay' .*mean of 1e\+200"):
        model.partial_fit(far, ["high"])
    with pytest.raises(NaivelyError, match=r"in class 'high', column 'pay'"):
        model.update(GaussianNB(open_classes=True).partial_fit(far, ["high"]).summary_)


def test_rows_of_which_no_float_holds_the_variance_name_their_column():
    frame = pd.DataFrame({"age": [1.0, 2.0], "pay": [1e200, -1e200]})
    with pytest.raises(NaivelyError, match=r"'pay' holds numbers so large .*such as 1e\+200"):
        GaussianNB().fit(frame, ["a", "a"])


def test_a_sum_of_weights_beyond_every_float_is_refused():
    X, y = np.zeros((2, 1)), ["a", "b"]
    with pytest.raises(NaivelyError, match="weights of all rows must add up"):
        summarize(X, y, sample_weight=[1.7e308, 1.7e308])
    heavy = summarize(X, y, sample_weight=[8e307, 1.0])
    for make in (lambda: heavy + (heavy + heavy), lambda: 4 * heavy, lambda: heavy * 1e308):
        with pytest.raises(NaivelyError, match="weights of all rows must add up"):
            make()
    with pytest.raises(NaivelyError, match="weights of all rows must add up"):
        CategoricalNB().fit([[0], [1]], y, sample_weight=[1.7e308, 1.7e308])


def test_scaling_beyond_every_float_names_class_and_column():
    wide = summarize([[-1e150], [1e150]], ["a", "a"])
    with pytest.raises(NaivelyError, match="in class 'a', column 0"):
        1e10 * wide
    assert (1e5 * wide).moments.m2[0, 0] == pytest.approx(2e305)


def test_taking_out_what_was_never_there_leaves_no_number_that_is_not_finite():
    few = summarize([[1.0], [2.0]], ["a", "a"])
    for cell in (1e160, 1.7e308, -1.7e308):
        with pytest.raises(NaivelyError, match="cannot subtract"):
            few - summarize([[cell]], ["a"])


def test_a_pass_over_files_stops_at_a_large_cell_with_its_column(tmp_path):
    pytest.importorskip("pyarrow")
    for name, cell in (("a", 1.0), ("b", 1e200)):
        pd.DataFrame({"x": [cell, 2.0], "y": ["p", "p"]}).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    with pytest.raises(NaivelyError, match=r"'x'.*float64"):
        naively.summarize(tmp_path, target="y", checkpoint=tmp_path.parent / "so-far")
    (tmp_path / "b.csv").write_text("x,y\n3,p\n4,p\n")
    whole = naively.summarize(tmp_path, target="y", checkpoint=tmp_path.parent / "so-far")
    assert whole.class_weight.tolist() == [4.0]


def test_what_is_left_of_a_column_never_weighs_more_than_its_class(tmp_path):
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(300, 2)), np.arange(300) % 2, rng.random(300)
    X[rng.random(X.shape) < 0.3] = np.nan
    model = GaussianNB().fit(X, y, w)
    for at in range(0, 296, 8):
        rows = slice(at, at + 8)
        model.forget(X[rows], y[rows], w[rows])
        left = model.summary_
        assert (left.moments.weight <= (1 + 1e-9) * left.class_weight[:, np.newaxis]).all()
        model.save(tmp_path / "model")
        assert naively.load(tmp_path / "model").summary_ == left


# --- far from 1 -----------------------------------------------------------------------------------


def exact_mean(x, weights=None):
    return float(oracles.moments_of_cells(x, weights)[1])


@pytest.mark.parametrize("weight", [1e-300, 5e-324, 1e-310, 1e300], ids=str)
@pytest.mark.parametrize("scale", [1e-200, 1.0], ids=["1e-200", "1"])
def test_weights_of_any_size_give_the_mean_of_fractions(weight, scale):
    rng = np.random.default_rng(1)
    x, w = scale * rng.normal(size=40), weight * rng.integers(1, 9, 40)
    found = summarize(x[:, np.newaxis], np.zeros(40, int), sample_weight=w).moments
    largest = np.abs(x).max()
    assert abs(found.mean[0, 0] - exact_mean(x, w)) <= 40 * EPS * largest
    assert found.weight[0, 0] == pytest.approx(float(w.sum()), rel=1e-12)


def test_a_light_part_far_away_takes_no_digits_from_the_mean():
    light, heavy = Moments.of([1e-300], [1e10], [0.0]), Moments.of([3.0], [1.2345], [2.0])
    for total in (light + heavy, heavy + light):
        assert total.mean.tolist() == [1.2345]
        assert total.m2.tolist() == [2.0]


@pytest.mark.parametrize("exponent", [-518, -400, -100, 100, 400, 500])
@pytest.mark.parametrize("kind", [GaussianNB, NaiveBayes], ids=["GaussianNB", "NaiveBayes"])
def test_a_power_of_two_of_the_scale_changes_no_answer(kind, exponent):
    """Squares below 2^-1022 lose digits: of a variance of 2^-1036, 38 bits are left."""
    rng = np.random.default_rng(2)
    y = np.arange(400) % 3
    X = rng.normal(y[:, np.newaxis], [1.0, 2.0, 0.5], size=(400, 3))
    params = {} if kind is GaussianNB else {"calibration": None}
    plain, scaled = kind(**params).fit(X, y), kind(**params).fit(np.ldexp(X, exponent), y)
    ours, theirs = scaled.predict_proba(np.ldexp(X, exponent)), plain.predict_proba(X)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    assert (scaled.predict(np.ldexp(X, exponent)) == plain.predict(X)).all()
    assert scaled.predict_one(np.ldexp(X[0], exponent)) == plain.predict_one(X[0])
    some = X.copy()
    some[::3, 1] = np.nan
    ours, theirs = scaled.predict_proba(np.ldexp(some, exponent)), plain.predict_proba(some)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("smoothing", ["global", "column"])
def test_numbers_too_small_for_a_variance_are_refused_unless_smoothing_is_above_them(smoothing):
    rng = np.random.default_rng(3)
    y = np.arange(40) % 2
    tiny = 1e-200 * (rng.normal(size=40) + y)
    with pytest.raises(NaivelyError, match=r"so small .*power of ten"):
        GaussianNB(smoothing=smoothing).fit(tiny[:, np.newaxis], y)
    both = np.column_stack([tiny, rng.normal(size=40)])
    if smoothing == "global":  # as scikit-learn: a billionth of the other column is far above
        assert np.isfinite(GaussianNB().fit(both, y).predict_proba(both)).all()
    assert np.isfinite(GaussianNB().fit(np.zeros((40, 1)), y).predict_proba([[0.0]])).all()


def test_far_rows_of_tiny_columns_have_probabilities():
    rng = np.random.default_rng(4)
    y = np.arange(40) % 2
    X = 1e-156 * (rng.normal(size=(40, 2)) + 3 * y[:, np.newaxis])
    model = GaussianNB().fit(X, y)
    proba = model.predict_proba([[1.0, 1.0], [1e200, -1e200], [-1.7e308, 1.7e308], [np.nan, 1e9]])
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("cells", [[3e154] * 2 + [-3e154] * 2, [0.0, 1e-320, 1e-319, 0.0]], ids=str)
@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(smoothing="column"), NaiveBayes(), NaiveBayes(families={"bad": "gaussian"})],
    ids=["GaussianNB", "StudentT", "Gaussian"],
)
def test_a_variance_that_float64_cannot_hold_names_its_column(estimator, cells):
    X = pd.DataFrame({"fine": [1.0, 2.0, 3.0, 5.0], "bad": cells})
    with pytest.raises(NaivelyError, match=r"^column 'bad' holds numbers.* so (large|small)"):
        estimator.fit(X, ["a", "a", "b", "b"])
