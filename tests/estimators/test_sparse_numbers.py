"""Sparse matrices of numbers: the model of the dense table, at the cost of the cells it holds."""

import numpy as np
import pytest
import scipy.sparse

import naively
from naively import GaussianNB, NaiveBayes, NaivelyError
from naively.model.scorer import SparseQuadratics

FORMS = ["csr_matrix", "csr_array", "csc_matrix", "csc_array"]


def drawn(n=3000, d=250, offset=0.0, missing=0.0):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    X = (rng.normal(size=(n, d)) + offset + 0.5 * y[:, None]) * (rng.random((n, d)) < 0.1)
    X[rng.random(X.shape) < missing] = np.nan
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [0.0, 1e4], ids=["near", "far"])
@pytest.mark.parametrize("missing", [0.0, 0.02])
def test_gaussians_of_sparse_rows_are_those_of_dense_ones(form, offset, missing):
    X, y = drawn(offset=offset, missing=missing)
    sparse = getattr(scipy.sparse, form)(X)
    weights = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    for w in (None, weights):
        model = GaussianNB().fit(sparse, y, sample_weight=w)
        plain = GaussianNB().fit(X, y, sample_weight=w)
        far = offset + 1  # how far cells are from zero
        np.testing.assert_allclose(model.theta_, plain.theta_, rtol=0, atol=1e-14 * far)
        np.testing.assert_allclose(model.var_, plain.var_, rtol=1e-9)
    found, expected = plain.predict_log_proba(sparse), plain.predict_log_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert (plain.predict(sparse) == plain.predict(X)).all()
    assert GaussianNB().fit(sparse, y).forget(sparse[:10], y[:10]).class_count_.sum() == len(y) - 10


def test_rows_are_not_made_dense_where_digits_allow_it():
    X, y = drawn()
    near = GaussianNB().fit(X, y).model_.terms[0].form
    assert SparseQuadratics.of(near) is not None
    far = GaussianNB(var_smoothing=0).fit(X + 1e6, y).model_.terms[0].form
    assert SparseQuadratics.of(far) is None


def test_threads_do_not_change_a_bit():
    X, y = drawn()
    sparse = scipy.sparse.csr_array(X)
    one, many = (GaussianNB(n_jobs=n).fit(sparse, y).summary_ for n in (1, 7))
    assert one == many


@pytest.mark.parametrize("calibration", [None, "temperature", "weights"])
def test_naive_bayes_takes_sparse_rows_as_numbers(calibration):
    X, y = drawn(n=600, d=8)
    sparse = scipy.sparse.csc_array(X)
    model, plain = (NaiveBayes(calibration=calibration).fit(Z, y) for Z in (sparse, X))
    np.testing.assert_allclose(
        model.predict_proba(sparse), plain.predict_proba(X), rtol=1e-6, atol=1e-9
    )
    assert (plain.predict(sparse) == plain.predict(X)).all()


def test_a_summary_of_sparse_rows_adds_to_one_of_dense_rows():
    X, y = drawn(n=200, d=6)
    both = naively.summarize(scipy.sparse.csr_array(X[:90]), y[:90]) + naively.summarize(
        X[90:], y[90:]
    )
    whole = naively.summarize(X, y)
    np.testing.assert_allclose(both.moments.mean, whole.moments.mean, rtol=1e-12, atol=1e-15)
    assert (both.moments.weight == whole.moments.weight).all()


def test_infinity_in_sparse_rows_names_the_column_and_the_row():
    X, y = drawn(n=4000, d=300)
    X[2345, 67] = np.inf
    sparse = scipy.sparse.csr_array(X)
    with pytest.raises(NaivelyError, match=r"column 67 holds infinity \(first at row 2345\)"):
        GaussianNB().fit(sparse, y)
    plain = GaussianNB().fit(np.nan_to_num(X, posinf=0.0), y)
    with pytest.raises(NaivelyError, match=r"column 67 holds infinity \(first at row 2345\)"):
        plain.predict(sparse)
    X[2345, 67] = 1e200
    with pytest.raises(NaivelyError, match=r"column 67 holds numbers so large"):
        GaussianNB().fit(scipy.sparse.csr_array(X), y)


def test_folds_judge_sparse_rows_as_dense_ones():
    X, y = drawn(n=300, d=9)
    for model in (GaussianNB(), naively.MultinomialNB(), naively.BernoulliNB()):
        for folds in (4, "leave-one-out"):
            pair = [
                naively.evaluate(model, rows, y, folds=folds)
                for rows in (np.abs(X), scipy.sparse.csr_array(np.abs(X)))
            ]
            assert pair[0].accuracy == pair[1].accuracy
            assert pair[0].loss == pytest.approx(pair[1].loss, rel=1e-6)


@pytest.mark.parametrize("calibration", [None, "temperature"])
def test_counts_of_sparse_rows_have_the_log_probability_of_dense_ones(calibration):
    """Also -log x!, which all classes share, and cells below 0, which add nothing."""
    X = np.random.default_rng(0).poisson(1.5, (200, 3)).astype(float)
    families = dict.fromkeys(range(3), "poisson")
    model = NaiveBayes(families=families, calibration=calibration, interactions=None)
    model.fit(X, X[:, 0] > 1)
    X[0, 0] = -1.0
    for ask in (model.predict_joint_log_proba, model.score_samples):
        np.testing.assert_allclose(ask(scipy.sparse.csr_array(X)), ask(X), rtol=1e-12)
