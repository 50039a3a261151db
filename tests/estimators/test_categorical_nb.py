"""CategoricalNB: scikit-learn's numbers, and right where it fails."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB as SklearnCategoricalNB

import naively
from naively import CategoricalNB, NaivelyError

RNG = np.random.default_rng(0)
X = RNG.integers(0, 5, (300, 4))
Y = np.array(["a", "b", "c"])[(X[:, 0] + RNG.integers(0, 2, 300)) % 3]


@pytest.mark.parametrize("alpha", [1.0, 0.5, 1e-3])
@pytest.mark.parametrize("fit_prior", [True, False])
def test_the_numbers_are_scikit_learns(alpha, fit_prior):
    w = RNG.random(300)
    ours = CategoricalNB(alpha=alpha, fit_prior=fit_prior).fit(X, Y, w)
    theirs = SklearnCategoricalNB(alpha=alpha, fit_prior=fit_prior).fit(X, Y, w)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, rtol=1e-12)
    for mine, their in zip(ours.feature_log_prob_, theirs.feature_log_prob_, strict=True):
        np.testing.assert_allclose(mine, their, rtol=1e-10)


def test_a_probability_is_that_of_fractions():
    model = CategoricalNB(alpha=1).fit([[0], [0], [1], [2], [2]], list("nnyyn"))
    joint = Fraction(3, 5) * Fraction(3, 6), Fraction(2, 5) * Fraction(1, 5)
    assert model.predict_proba([[0]])[0, 0] == pytest.approx(
        float(joint[0] / sum(joint)), rel=1e-15
    )


def test_a_category_that_was_never_seen_gets_the_smoothed_mass():
    model = CategoricalNB(alpha=1).fit([[0], [0], [1]], list("aab"))
    share = np.array([1 / (2 + 2), 1 / (1 + 2)]) * [2 / 3, 1 / 3]  # alpha / (w + alpha n), priors
    for code in (2, 99):
        np.testing.assert_allclose(model.predict_proba([[code]])[0], share / share.sum())
    with pytest.raises(IndexError):
        SklearnCategoricalNB().fit([[0], [0], [1]], list("aab")).predict([[99]])


def test_a_missing_cell_is_left_out():
    holes = X.astype(float)
    holes[::7, 1] = np.nan
    model = CategoricalNB().fit(holes, Y)
    assert model.category_count_[1].sum() == 300 - len(range(0, 300, 7))
    np.testing.assert_allclose(model.predict_proba_one([np.nan] * 4), model.class_prior_)


def test_without_smoothing_what_never_happened_is_impossible():
    model = CategoricalNB(alpha=0).fit([[0], [0], [1]], list("aab"))
    assert model.predict_proba([[0], [1]]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    np.testing.assert_allclose(model.predict_proba([[7]])[0], [2 / 3, 1 / 3])


def test_it_is_saved_and_goes_on(tmp_path):
    CategoricalNB(class_prior=[0.2, 0.3, 0.5], min_categories=7).fit(X, Y).save(tmp_path / "m")
    copy = naively.load(tmp_path / "m")
    assert copy.n_categories_.tolist() == [7, 7, 7, 7]
    assert copy.partial_fit(X, Y).class_count_.sum() == 600


def test_files_are_for_another_estimator():
    with pytest.raises(NaivelyError, match=r"use NaiveBayes\.from_files"):
        CategoricalNB.from_files("x.csv", target="y")


def test_threads_do_not_change_a_bit():
    many = RNG.integers(0, 9, (200_000, 6))
    y = many[:, 0] % 3
    one, two = (CategoricalNB(n_jobs=n).fit(many, y) for n in (1, 2))
    assert one.summary_ == two.summary_
    assert (one.predict_proba(many) == two.predict_proba(many)).all()


def test_a_share_below_every_float_is_finite():
    model = CategoricalNB(alpha=0).fit([[0], [1], [1]], list("aab"), [5e-324, 1e300, 1.0])
    assert np.isfinite(model.feature_log_prob_[0][0]).all()
    assert np.isfinite(model.predict_proba([[0], [1]])).all()


def test_a_code_beyond_every_integer_is_refused():
    codes = np.array([[2**64 - 1]], dtype=np.uint64)
    with pytest.raises(NaivelyError, match="highest"):
        CategoricalNB().fit(codes, ["a"])
    schema = naively.data.schema.Schema(1, kinds=("category",))
    with pytest.raises(NaivelyError, match="highest"):
        CategoricalNB.from_summary(naively.summarize(codes, ["a"], schema=schema))
