"""GaussianNB with calibration: the same model, whose terms are weighed."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

import naively
from naively import GaussianNB, NaivelyError, evaluate, summarize
from naively.families import gaussian

X, Y = load_breast_cancer(return_X_y=True)
HOWS = ["temperature", "weights"]


@pytest.mark.parametrize("how", HOWS)
def test_its_joint_is_the_weighted_sum_of_the_textbooks_terms(how):
    model = GaussianNB(calibration=how).fit(X, Y)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    found = model.model_
    terms = gaussian.log_density(holes[:, np.newaxis], model.theta_, model.var_)
    terms = np.nan_to_num(terms)
    if how == "weights":
        terms -= terms.mean(axis=1, keepdims=True)
    expected = (terms * found.terms[0].weight).sum(axis=2)
    expected += np.log(model.class_prior_) + found.bias
    np.testing.assert_allclose(model.predict_joint_log_proba(holes), expected, rtol=1e-11)
    assert (model.predict(holes) == model.classes_[expected.argmax(axis=1)]).all()


@pytest.mark.parametrize("how", HOWS)
def test_its_probabilities_are_better(how):
    plain, weighed = (
        log_loss(Y, cross_val_predict(GaussianNB(calibration=c), X, Y, method="predict_proba"))
        for c in (None, how)
    )
    assert weighed < 0.7 * plain


def test_the_textbook_is_the_default():
    assert GaussianNB().fit(X, Y).summary_.sample is None


def test_one_row_is_answered_as_many_are():
    model = GaussianNB(calibration="weights").fit(X, Y)
    assert [model.predict_one(row) for row in X[:20]] == model.predict(X[:20]).tolist()
    np.testing.assert_array_equal(model.predict_proba_one(X[3]), model.predict_proba(X[3:4])[0])
    with pytest.raises(NaivelyError, match="holds infinity"):
        model.predict_one(np.full(30, np.inf))


def test_a_summary_without_rows_cannot_be_calibrated():
    with pytest.raises(NaivelyError, match="needs a sample of rows, and the summary holds none"):
        GaussianNB.from_summary(summarize(X, Y), calibration="weights")


@pytest.mark.parametrize("how", HOWS)
def test_it_is_saved_and_exported(tmp_path, how):
    iris, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(iris, columns=list("abcd"))
    model = GaussianNB(calibration=how).fit(frame, y)
    model.save(tmp_path / "m")
    assert (naively.load(tmp_path / "m").predict_proba(frame) == model.predict_proba(frame)).all()
    query = model.to_sql("rows", keep=["id"])
    rows = frame.assign(id=np.arange(150))  # noqa: F841 - DuckDB finds it by name
    scored = duckdb.sql(query).df().sort_values("id")
    found = scored[[c for c in scored.columns if c.startswith("p_")]].to_numpy()
    np.testing.assert_allclose(found, model.predict_proba(frame), atol=1e-12)


def test_folds_are_fitted_with_their_own_weights():
    found = evaluate(GaussianNB(calibration="temperature"), X, Y, folds=3)
    assert found.accuracy > 0.9


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("variance", ["class", "shared"])
def test_leaving_a_row_out_is_fitting_without_it(how, variance):
    few, y = X[:40, :3], Y[:40]
    family = gaussian.Gaussian(variance=variance)
    whole = summarize(few, y)
    parameters = family.parameters(whole.moments)
    found = family.left_out(few, y, np.ones(40), whole.moments, parameters)
    for i in range(40):
        rest = whole - summarize(few[i : i + 1], y[i : i + 1])
        mine = gaussian.parameters(rest.moments, variance=variance, var_smoothing=0.0)
        variance_of = mine.variance[y[i]] + parameters.epsilon
        expected = gaussian.log_density(few[i], mine.mean[y[i]], variance_of)
        np.testing.assert_allclose(found[i], expected, rtol=1e-9)
