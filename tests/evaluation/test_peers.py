"""A classifier beside others: the same folds, tests of the differences, any kind of table."""

import json

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from scipy import stats
from scipy.sparse import csr_matrix, issparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from naively import GaussianNB, NaiveBayes, NaivelyError, compare
from naively.engines.memory.tables import schema_of
from naively.evaluation import PeerComparison
from naively.evaluation.classifiers import CLASSIFIERS, MAX_CATEGORIES, TableMatrix
from naively.evaluation.compare import corrected_t, mcnemar

IRIS = load_iris(return_X_y=True)


def mixed(n=120, seed=0):
    """Return a table of numbers, categories, booleans and missing cells, and its labels."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, "yes", "no")
    age = rng.normal(40, 10, n) + (y == "yes") * 12
    age[::7] = np.nan
    town = np.where(rng.random(n) < 0.8, np.where(y == "yes", "Ulm", "Bonn"), "Kiel").astype(object)
    town[::11] = None
    return pandas.DataFrame({"age": age, "town": town, "flag": rng.random(n) < 0.5}), y


def texts(n=120):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(n) % 2 == 0, "yes", "no")
    words = [
        ["pain", "fever", "doctor"] if label == "yes" else ["sun", "beach", "sea"] for label in y
    ]
    notes = [" ".join([*rng.choice(of, 3), f"word{i}", "the", "day"]) for i, of in enumerate(words)]
    return notes, y


def gram(matrix):
    """Return the products of rows, which do not depend on the order of columns."""
    dense = matrix.toarray() if issparse(matrix) else matrix
    return dense @ dense.T


# --- tests of differences -------------------------------------------------------------------------


def test_without_correction_it_is_the_paired_t_test():
    gaps = np.random.default_rng(0).normal(0.3, 1, 10)
    p, low, high = corrected_t(gaps, ratio=0.0)
    plain = stats.ttest_1samp(gaps, 0.0)
    assert p == pytest.approx(plain.pvalue, abs=1e-12)
    assert (low, high) == pytest.approx(plain.confidence_interval(0.95), abs=1e-12)


def test_the_correction_widens_by_shared_training_rows():
    gaps = np.random.default_rng(0).normal(0.3, 1, 10)
    _, low, high = corrected_t(gaps, ratio=1 / 9)
    _, plain_low, plain_high = corrected_t(gaps, ratio=0.0)
    factor = np.sqrt((1 / 10 + 1 / 9) / (1 / 10))
    assert high - low == pytest.approx(factor * (plain_high - plain_low))


def test_mcnemar_counts_coins():
    for first, other in [(0, 0), (3, 3), (1, 9), (12, 30)]:
        n, few = first + other, min(first, other)
        tail = sum(stats.binom.pmf(i, n, 0.5) for i in range(few + 1))
        assert mcnemar(first, other) == pytest.approx(min(1.0, 2 * tail))


def test_equal_models_do_not_differ():
    result = compare(GaussianNB(), *IRIS, against=[GaussianNB()], folds=5)
    (difference,) = result.differences
    assert (difference.loss, difference.loss_p, difference.accuracy_p) == (0, 1, 1)
    assert result.names == ("GaussianNB", "GaussianNB 2")


def test_a_comparison_is_that_of_scikit_learns_cross_validation():
    X, y = IRIS
    other = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    result = compare(GaussianNB(), X, y, against=["logistic", other], folds=5, random_state=3)
    cv = StratifiedKFold(5, shuffle=True, random_state=3)
    p = cross_val_predict(other, X, y, cv=cv, method="predict_proba")
    for judged in result.evaluations[1:]:
        np.testing.assert_allclose(judged.probabilities, p, atol=1e-3)  # both are iterations
    ours = cross_val_predict(GaussianNB(), X, y, cv=cv, method="predict_proba")
    gaps = [
        log_loss(y[test], ours[test], labels=[0, 1, 2])
        - log_loss(y[test], p[test], labels=[0, 1, 2])
        for _, test in cv.split(X, y)
    ]
    difference = result.differences[1]
    assert difference.loss == pytest.approx(np.mean(gaps), abs=1e-3)
    assert difference.loss_p == pytest.approx(corrected_t(np.array(gaps), 1 / 4)[0], abs=1e-2)
    right = ours.argmax(axis=1) == y, p.argmax(axis=1) == y
    assert difference.only_first == np.sum(right[0] & ~right[1])
    assert difference.only_other == np.sum(right[1] & ~right[0])


def test_an_impossible_truth_has_a_finite_loss():
    result = compare(GaussianNB(), *IRIS, against=["tree"], folds=3)
    assert np.isfinite(result.differences[0].loss)
    assert np.isinf(result.evaluations[1].loss)
    assert "inf" not in str(result)


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_name_reads_a_mixed_table(name):
    X, y = mixed()
    with threadpool_limits(1):
        result = compare(NaiveBayes(), X, y, against=name, folds=2)
    assert result.names == ("NaiveBayes", name)
    if name != "dummy":
        assert result.evaluations[1].roc_auc > 0.6
    assert np.isfinite(result.evaluations[1].probabilities).all()


@pytest.mark.parametrize("name", ["logistic", "tree", "knn"])
def test_names_read_text(name):
    notes, y = texts()
    result = compare(NaiveBayes(), notes, y, against=[name], folds=2)
    assert result.evaluations[1].accuracy > 0.9


@pytest.mark.parametrize("name", ["logistic", "hgb", "tree"])
def test_names_read_sparse_matrices(name):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    X = csr_matrix(rng.poisson(0.3, (90, 5)) + 2 * y[:, np.newaxis] * rng.poisson(0.8, (90, 5)))
    with threadpool_limits(1):
        result = compare(GaussianNB(), X, y, against=[name], folds=2)
    assert result.evaluations[1].accuracy > 0.7


def test_the_matrix_is_that_of_scikit_learns_transformers():
    X, _ = mixed()
    ours = TableMatrix(schema_of(X)).fit_transform(X)
    towns = OneHotEncoder(sparse_output=False)
    theirs = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["age"]),
        (OneHotEncoder(sparse_output=False), ["flag"]),
    ).fit_transform(X)
    known = X["town"].notna().to_numpy()
    one_hot = towns.fit_transform(X[["town"]].astype(str)) * known[:, np.newaxis]
    np.testing.assert_allclose(gram(ours), gram(np.hstack([theirs, one_hot])), atol=1e-12)


def test_words_are_weighted_by_tf_idf():
    notes, _ = texts()
    frame = pandas.DataFrame({"note": notes})
    ours = TableMatrix(schema_of(frame)).fit_transform(frame)
    vocabulary = sorted({word for note in notes for word in note.split()})
    counts = np.array([[note.split().count(word) for word in vocabulary] for note in notes])
    theirs = TfidfTransformer().fit_transform(counts)
    np.testing.assert_allclose(gram(ours), gram(theirs), atol=1e-12)


def test_the_matrix_is_the_same_in_every_library():
    X, _ = mixed()
    expected = gram(TableMatrix(schema_of(X)).fit(X[:60]).transform(X))
    others = polars.from_pandas(X), pyarrow.Table.from_pandas(X, preserve_index=False)
    for table in others:
        found = TableMatrix(schema_of(table)).fit(table[:60]).transform(table)
        np.testing.assert_allclose(gram(found), expected, atol=1e-12)


def test_unknown_categories_are_like_missing_ones_and_rare_ones_are_one():
    many = pandas.DataFrame({"id": [f"c{i % 300}" for i in range(900)] + ["c0"] * 5})
    seen = TableMatrix(schema_of(many)).fit(many)
    assert seen.transform(many).shape[1] == MAX_CATEGORIES + 1
    strange = seen.transform(pandas.DataFrame({"id": ["c0", "new", None]}))
    assert strange.toarray().sum(axis=1).tolist() == [1, 0, 0]
    trees = TableMatrix(schema_of(many), for_trees=True).fit(many)
    codes = trees.transform(pandas.DataFrame({"id": ["c0", "new", None]}))
    assert codes[0, 0] == 0
    assert np.isnan(codes[1:, 0]).all()


# --- what people see ------------------------------------------------------------------------------


def test_it_prints_and_is_plain_data():
    result = compare(GaussianNB(), *IRIS, against=["dummy"], folds=3)
    assert isinstance(result, PeerComparison)
    text = str(result)
    for words in ("3 folds: 150 rows, 3 classes", "GaussianNB less the other", "only one right"):
        assert words in text
    assert "<table>" in result._repr_html_()
    assert "loss: GaussianNB" in repr(result)
    found = json.loads(json.dumps(result.to_dict()))
    assert found["names"] == ["GaussianNB", "dummy"]
    assert found["differences"][0]["loss_p"] < 0.05


@pytest.mark.parametrize(
    ("inputs", "how", "message"),
    [
        (IRIS, {"against": ["logistc"]}, "one of logistic, hgb, forest.*Did you mean 'logistic'"),
        (IRIS, {"against": [LogisticRegression]}, "must be an instance"),
        (IRIS, {"against": [LinearRegression()]}, "only classifiers"),
        (IRIS, {"against": [None]}, "only classifiers can be evaluated; got NoneType"),
        (IRIS, {"against": []}, "at least one"),
        (IRIS, {"against": "dummy", "folds": StratifiedKFold(3)}, "folds must be a number"),
        (IRIS, {"against": "dummy", "folds": 51}, r"smallest class \(50 of 0\); got 51"),
        (IRIS, {"against": "dummy", "folds": 1}, "at least 2"),
        ((IRIS[0], np.zeros(150)), {"against": "dummy"}, "two classes or more; got one"),
    ],
)
def test_bad_input_is_an_error_that_says_what_to_do(inputs, how, message):
    with pytest.raises(NaivelyError, match=message):
        compare(GaussianNB(), *inputs, **how)


def test_one_classifier_is_compared_with_others():
    with pytest.raises(NaivelyError, match="with against, one classifier; got 2"):
        compare((GaussianNB(), NaiveBayes()), *IRIS, against="dummy")


def test_a_frame_has_a_line_for_each_and_what_differs():
    result = compare(GaussianNB(), *IRIS, against=["dummy", "tree"], folds=3)
    table = result.to_frame()
    assert table["model"].tolist() == ["GaussianNB", "dummy", "tree"]
    assert np.isnan(table["loss_p"][0])
    assert table["loss_p"].tolist()[1:] == [d.loss_p for d in result.differences]
