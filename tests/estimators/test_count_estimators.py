"""MultinomialNB, ComplementNB and BernoulliNB: scikit-learn's numbers, on summaries that add."""

import pickle
import tracemalloc
import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn.naive_bayes

import naively
from naively import BernoulliNB, ComplementNB, MultinomialNB, NaivelyError

KINDS = {
    "multinomial": (MultinomialNB, {}),
    "complement": (ComplementNB, {}),
    "normed": (ComplementNB, {"norm": True}),
    "bernoulli": (BernoulliNB, {}),
    "threshold": (BernoulliNB, {"binarize": 1.5}),
    "binary": (BernoulliNB, {"binarize": None}),
}
FORMS = ["asarray", "csr_matrix", "csr_array", "csc_matrix", "csc_array"]


def counts(n=400, d=90, n_classes=4, seed=0):
    """Return counts of words whose rates differ by class, and labels."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.3, size=(n_classes, d))
    y = rng.integers(n_classes, size=n)
    return rng.poisson(0.4 * rates[y]), np.array(["no", "yes", "maybe", "later"])[y]


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.fixture
def data(kind):
    X, y = counts()
    return (X > 0).astype(int) if kind[1].get("binarize", 0) is None else X, y


def peer(kind, **params):
    return getattr(sklearn.naive_bayes, kind[0].__name__)(**kind[1], **params)


def assert_alike(model, other, X):
    for name in ("feature_count_", "feature_log_prob_", "class_log_prior_", "class_count_"):
        np.testing.assert_allclose(getattr(model, name), getattr(other, name), rtol=1e-12)
    if hasattr(other, "feature_all_"):
        np.testing.assert_allclose(model.feature_all_, other.feature_all_)
    joint = other.predict_joint_log_proba(X)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-11)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-11)
    assert (model.predict(X) == other.predict(X)).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int64, np.float32, np.float64])
def test_the_numbers_are_those_of_scikit_learn(kind, data, form, dtype):
    X, y = data
    X = getattr(np if form == "asarray" else scipy.sparse, form)(X.astype(dtype))
    assert_alike(kind[0](**kind[1]).fit(X, y), peer(kind).fit(X, y), X)


FRAMES = {
    "pandas": lambda frame: frame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table.from_pandas,
    "integers that may be missing": lambda frame: frame.astype("Int64"),
    "sparse": lambda frame: frame.astype(pd.SparseDtype("int64", 0)),
    "sparse, without names": lambda frame: pd.DataFrame.sparse.from_spmatrix(
        scipy.sparse.csr_array(frame.to_numpy())
    ),
    "some columns sparse": lambda frame: frame.assign(
        w3=frame["w3"].astype(pd.SparseDtype("int64", 0))
    ),
    "sparse, ones left out": lambda frame: frame.astype(pd.SparseDtype("int64", 1)),
}


@pytest.mark.parametrize("form", FRAMES.values(), ids=FRAMES)
def test_frames_of_counts_give_the_model_of_arrays(kind, data, form):
    X, y = data
    frame = form(pd.DataFrame(X, columns=[f"w{j}" for j in range(X.shape[1])]))
    model, plain = kind[0](**kind[1]).fit(frame, y), kind[0](**kind[1]).fit(X, y)
    np.testing.assert_array_equal(model.feature_count_, plain.feature_count_)
    np.testing.assert_allclose(model.predict_proba(frame), plain.predict_proba(X), atol=1e-12)


def test_sparse_columns_of_pandas_are_never_made_dense():
    X = scipy.sparse.random_array((200_000, 500), density=1e-4, rng=0, format="csr")
    X.data[:] = 1
    frame, y = pd.DataFrame.sparse.from_spmatrix(X), np.arange(200_000) % 3
    frame.columns = [f"w{j}" for j in range(500)]
    tracemalloc.start()
    model = MultinomialNB().fit(frame, y)
    model.predict(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * 200_000 * 500
    assert model.feature_names_in_[7] == "w7"


PRIORS = [{}, {"fit_prior": False}, {"class_prior": [0.1, 0.2, 0.3, 0.4]}]


@pytest.mark.parametrize("alpha", [1e-3, 7.0, "vector"])
@pytest.mark.parametrize("priors", PRIORS, ids=["fitted", "equal", "given"])
def test_smoothing_priors_and_weights_are_those_of_scikit_learn(kind, data, alpha, priors):
    X, y = data
    if alpha == "vector":  # scikit-learn's BernoulliNB takes none
        alpha = 0.5 if kind[0] is BernoulliNB else np.linspace(0.1, 3, X.shape[1])
    w = np.random.default_rng(3).random(len(y))
    given = {"alpha": alpha, **priors}
    X = scipy.sparse.csr_array(X)
    model = kind[0](**kind[1], **given).fit(X, y, sample_weight=w)
    assert_alike(model, peer(kind, **given).fit(X, y, sample_weight=w), X)


def test_another_model_is_read_off_the_same_summary(kind, data):
    X, y = data
    summary = kind[0](**kind[1]).fit(X, y).summary_
    again = kind[0].from_summary(summary, alpha=0.3, **kind[1])
    fitted = kind[0](alpha=0.3, **kind[1]).fit(X, y)
    assert (again.feature_log_prob_ == fitted.feature_log_prob_).all()


def test_a_model_is_saved_and_loaded_and_pickled(kind, data, tmp_path):
    X, y = data
    model = kind[0](**kind[1], alpha=np.linspace(1, 2, X.shape[1])).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    for again in (naively.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert type(again) is kind[0]
        assert again.summary_ == model.summary_
        assert (again.predict_proba(X) == model.predict_proba(X)).all()
        again.partial_fit(X[:5], y[:5])


def test_single_rows_are_answered_as_tables_are(kind, data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"w{j}" for j in range(X.shape[1])])
    model = kind[0](**kind[1]).fit(frame, y)
    assert model.predict_one(X[3].tolist()) == model.predict(frame[3:4])[0]
    assert model.predict_one(frame.iloc[3].to_dict()) == model.predict(frame[3:4])[0]
    found = model.predict_proba_one(X[3])
    np.testing.assert_allclose(found, model.predict_proba(frame[3:4])[0], rtol=1e-12)


@pytest.mark.parametrize("form", ["asarray", "csr_array"])
def test_the_term_of_a_missing_cell_is_left_out(kind, data, form):
    X, y = data
    holes = np.where(np.random.default_rng(5).random(X.shape) < 0.1, np.nan, X)
    X = getattr(np if form == "asarray" else scipy.sparse, form)(holes)
    model = kind[0](**kind[1]).fit(X, y)
    column = holes[:, 7]
    seen = [np.nansum(column[y == k]) for k in model.classes_]
    if kind[0] is BernoulliNB and kind[1].get("binarize", 0.0) is not None:
        threshold = kind[1].get("binarize", 0.0)
        seen = [(column[y == k] > threshold).sum() for k in model.classes_]
        rows = [(~np.isnan(column[y == k])).sum() for k in model.classes_]
        expected = np.log(np.add(seen, 1)) - np.log(np.add(rows, 2))
        np.testing.assert_allclose(model.feature_log_prob_[:, 7], expected)
    assert model.feature_count_[:, 7].tolist() == seen
    joint = model.predict_joint_log_proba(X)
    form = model.model_.terms[0].form
    x = np.nan_to_num(holes)
    x = x if form.step is None else (x > form.step).astype(float)
    terms = np.where(np.isnan(holes)[:, :, np.newaxis], 0.0, form.A + form.B * x[:, :, np.newaxis])
    np.testing.assert_allclose(joint, model.model_.constant + terms.sum(axis=1), rtol=1e-10)


def test_duplicates_in_a_row_are_added_up(kind):
    data = np.array([1.0, 1.0, 1.0, 1.0, 2.0])
    if kind[1].get("binarize", 0.0) is None:
        data = np.array([0.5, 0.5, 1.0, 0.25, 0.75])
    double = scipy.sparse.csr_array((data, [1, 1, 0, 2, 2], [0, 2, 3, 5]), shape=(3, 3))
    dense = double.toarray()
    y = ["a", "b", "a"]
    model, plain = (kind[0](**kind[1]).fit(X, y) for X in (double, dense))
    assert model.summary_ == plain.summary_
    np.testing.assert_allclose(model.predict_proba(double), plain.predict_proba(dense))
    assert double.nnz == 5  # as it was


def test_without_smoothing_a_class_that_lacks_a_word_is_impossible():
    X, y = np.array([[1, 0, 1], [1, 1, 0], [0, 2, 2]]), ["a", "b", "c"]
    model = MultinomialNB(alpha=0.0).fit(X, y)
    with np.errstate(divide="ignore"):
        expected = np.log(model.feature_count_ / model.feature_count_.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.feature_log_prob_, expected)
    for rows in (X, scipy.sparse.csr_array(X)):
        np.testing.assert_allclose(model.predict_proba(rows), np.eye(3), atol=1e-12)
        assert np.isfinite(model.predict_proba(rows * 100)).all()
    every = BernoulliNB(alpha=0.0).fit(X, y).predict_proba(1 - X)
    assert np.isfinite(every).all()


def test_without_smoothing_an_entry_of_every_row_is_never_absent_in_any_order_of_weights():
    X = np.array([[1.0, 1.0]] + [[1.0, np.nan]] * 4 + [[0.0, 1.0]])
    y, w = np.array([*"aaaaab"]), np.array([0.1, 0.1, 3.7, 1.0, 1.0, 1.0])
    for order in permutations(range(6)):
        at = list(order)
        model = BernoulliNB(alpha=0.0).fit(X[at], y[at], sample_weight=w[at])
        np.testing.assert_allclose(model.predict_proba([[np.nan, 0.0]]), [[59 / 60, 1 / 60]])


def test_negative_counts_name_the_estimator_the_row_and_the_column():
    X, y = counts()
    X = X.astype(float)
    X[5, 8] = -3
    for kind in (MultinomialNB, ComplementNB):
        for rows in (X, scipy.sparse.csc_array(X)):
            with pytest.raises(NaivelyError, match=rf"{kind.__name__} .*X\).* row 5, column 8"):
                kind().fit(rows, y)
    with pytest.raises(NaivelyError, match="cells must be 0 or 1"):
        BernoulliNB(binarize=None).fit(np.abs(X), y).predict(X)
    BernoulliNB().fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_threads_do_not_change_a_bit(n_jobs):
    X = scipy.sparse.random_array((30_000, 3000), density=0.01, rng=0, format="csr")
    y = np.arange(30_000) % 7
    one, many = MultinomialNB(n_jobs=1).fit(X, y), MultinomialNB(n_jobs=n_jobs).fit(X, y)
    assert one.summary_ == many.summary_
    assert (one.predict_proba(X) == many.predict_proba(X)).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_labels_of_many_sparse_rows_are_the_first_of_their_joint_log_probabilities(n_jobs, dtype):
    rng = np.random.default_rng(0)
    y = rng.integers(12, size=20_000)
    X = rng.poisson(rng.gamma(0.3, size=(12, 60))[y]).astype(dtype)
    X[y == 7] = X[y == 3][: (y == 7).sum()].mean(axis=0).round()  # classes that are hard to tell
    X[:500] = 0
    if dtype == np.float32:
        X[500:600, 3] = 0.5
        X[600:700, 4] = np.nan
    sparse = scipy.sparse.csr_array(X)
    model = MultinomialNB(n_jobs=n_jobs).fit(sparse, y)
    expected = model.predict_joint_log_proba(sparse).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(sparse), expected)
    sparse.indices[-1] = 60
    with pytest.raises(NaivelyError, match="a column beyond its last"):
        model.predict(sparse)


def test_files_of_counts_give_the_model_of_memory(kind, data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"w{j}" for j in range(X.shape[1])]).assign(label=y)
    frame.to_csv(tmp_path / "counts.csv", index=False)
    frame.to_parquet(tmp_path / "counts.parquet")
    model = kind[0](**kind[1]).fit(frame.drop(columns="label"), y)
    for name in ("counts.csv", "counts.parquet"):
        found = kind[0].from_files(tmp_path / name, target="label", **kind[1])
        assert found.summary_ == model.summary_


def test_a_summary_that_counts_something_else_is_refused():
    X, y = counts()
    seen = MultinomialNB().fit(X, y).summary_
    with pytest.raises(NaivelyError, match="counted='documents'"):
        BernoulliNB.from_summary(seen)
    with pytest.raises(NaivelyError, match="reads counts"):
        MultinomialNB.from_summary(naively.summarize(X, y))
    with pytest.raises(NaivelyError, match="GaussianNB reads moments"):
        naively.GaussianNB.from_summary(seen)


def test_learning_a_few_rows_reads_no_logarithms():
    X = scipy.sparse.random_array((1000, 1 << 18), density=1e-4, rng=0, format="csr")
    y = np.arange(1000) % 3
    model = MultinomialNB().fit(X, y)
    model.partial_fit(X[:10], y[:10])
    assert "weights" not in vars(model.model_.terms[0].parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X[:3])
    assert "weights" in vars(model.model_.terms[0].parameters)


def test_columns_may_have_smoothing_of_their_own_in_every_estimator():
    X, y = counts()
    alpha = np.linspace(0.1, 3, X.shape[1])
    model = BernoulliNB(alpha=alpha).fit(X, y)
    for k, label in enumerate(model.classes_):
        rows = X[y == label] > 0
        expected = np.log((rows.sum(axis=0) + alpha) / (len(rows) + 2 * alpha))
        np.testing.assert_allclose(model.feature_log_prob_[k], expected, rtol=1e-12)


def test_a_sparse_row_is_answered_as_one_row(kind, data):
    X, y = data
    model, rows = kind[0](**kind[1]).fit(X, y), scipy.sparse.csr_array(X[:5])
    expected = model.predict_proba(rows)
    for i in range(5):
        for row in (rows[[i]], scipy.sparse.coo_array(X[i]), scipy.sparse.csr_matrix(X[i])):
            assert model.predict_one(row) == model.predict(rows)[i]
            np.testing.assert_allclose(model.predict_proba_one(row), expected[i], rtol=1e-12)
    with pytest.raises(NaivelyError, match="a row must have"):
        model.predict_one(rows)


@pytest.mark.parametrize("value", [np.inf, np.nan, -1.0])
def test_smoothing_of_columns_is_finite(kind, data, value):
    X, y = data
    alpha = np.ones(X.shape[1])
    alpha[1] = value
    with pytest.raises(NaivelyError, match=f"finite; got {value}"):
        kind[0](**kind[1], alpha=alpha).fit(X, y).predict(X)


def test_a_count_that_is_finite_is_not_called_infinite():
    with pytest.raises(NaivelyError, match=r"Too large a number in X.* below 1e\+290; got 1e\+300"):
        naively.MultinomialNB().fit([[1e300, 1.0]], ["a"])
