"""Folds through summaries give the model of a refit, row for row; splits are scikit-learn's own."""

import tracemalloc

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import _safe_indexing

from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError, summarize
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.evaluation import evaluate, folds
from naively.evaluation.folds import stratified_folds
from naively.evaluation.inputs import Truth
from naively.families import Categorical

IRIS = load_iris(return_X_y=True)


def refitted(model, X, y, splits):
    """Fit anew for every split: the labels and log-probabilities of each row."""
    classes = np.unique(y)
    labels, log_p = np.empty(len(y), dtype=classes.dtype), np.empty((len(y), classes.size))
    for train, test in splits:
        fitted = clone(model).partial_fit(X[train], y[train], classes=classes)
        labels[test], log_p[test] = fitted.predict(X[test]), fitted.predict_log_proba(X[test])
    return labels, log_p


def assert_same_answers(result, labels, log_p):
    """Labels are the same; probabilities to 1e-10, for sums in another order."""
    np.testing.assert_array_equal(result.labels, labels)
    np.testing.assert_allclose(result.probabilities, np.exp(log_p), rtol=0, atol=1e-10)


def with_holes(X):
    return np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)


TABLES = {
    "iris": IRIS,
    "breast cancer": load_breast_cancer(return_X_y=True),
    "string labels": (IRIS[0], np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]),
    "missing cells": (with_holes(IRIS[0]), IRIS[1]),
    "a constant column": (np.column_stack([IRIS[0], np.full(150, 7.0)]), IRIS[1]),
    "a column nobody has seen": (np.column_stack([IRIS[0], np.full(150, np.nan)]), IRIS[1]),
    "integers": ((10 * IRIS[0]).astype(int), IRIS[1]),
    "booleans as labels": (IRIS[0], IRIS[1] == 1),
}
MODELS = {
    "defaults": GaussianNB(),
    "shared variance": GaussianNB(variance="shared"),
    "sample variance": GaussianNB(ddof=1),
    "smoothing by column": GaussianNB(smoothing="column", var_smoothing=1e-3),
    "one thread": GaussianNB(n_jobs=1),
}


@pytest.mark.parametrize("seed", [None, 0], ids=["in order", "shuffled"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_folds_equal_a_refit_for_every_fold(table, model, seed):
    X, y = table
    splits = StratifiedKFold(5, shuffle=seed is not None, random_state=seed).split(X, y)
    result = evaluate(model, X, y, folds=5, random_state=seed)
    assert_same_answers(result, *refitted(model, X, y, splits))


def test_given_priors_hold_in_every_fold():
    X, y = IRIS
    model = GaussianNB(priors=[0.7, 0.2, 0.1])
    splits = StratifiedKFold(5).split(X, y)
    assert_same_answers(evaluate(model, X, y, folds=5), *refitted(model, X, y, splits))


def test_the_loss_is_that_of_a_refit():
    X, y = IRIS
    _, log_p = refitted(GaussianNB(), X, y, StratifiedKFold(10).split(X, y))
    loss = -np.mean([log_p[i, k] for i, k in enumerate(y)])
    assert evaluate(GaussianNB(), X, y, folds=10).loss == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("seed", [None, 0], ids=["in order", "shuffled"])
def test_many_blocks_of_rows_equal_a_refit(seed):
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=40_000)
    X = rng.normal(size=(y.size, 30)) + y[:, np.newaxis]  # more cells than a block has
    splits = StratifiedKFold(4, shuffle=seed is not None, random_state=seed).split(X, y)
    result = evaluate(GaussianNB(), X, y, folds=4, random_state=seed)
    assert_same_answers(result, *refitted(GaussianNB(), X, y, splits))


@pytest.mark.parametrize("seed", [None, 7], ids=["in order", "shuffled"])
def test_the_accuracy_of_each_fold_is_that_of_cross_val_score(seed):
    X, y = IRIS
    cv = StratifiedKFold(10, shuffle=seed is not None, random_state=seed)
    expected = cross_val_score(SklearnGaussianNB(), X, y, cv=cv)
    found = evaluate(GaussianNB(), X, y, folds=10, random_state=seed)
    np.testing.assert_array_equal(found.fold_accuracy, expected)
    assert found.method == "10 folds"


@pytest.mark.parametrize(
    "classifier", [KNeighborsClassifier(), DecisionTreeClassifier(max_depth=2)]
)
def test_any_classifier_is_refitted_for_every_fold(classifier):
    X, y = IRIS
    result = evaluate(classifier, X, y, folds=5)
    expected = cross_val_predict(classifier, X, y, cv=5, method="predict_proba")
    np.testing.assert_array_equal(result.labels, cross_val_predict(classifier, X, y, cv=5))
    np.testing.assert_allclose(result.probabilities, expected, rtol=1e-14)
    np.testing.assert_array_equal(result.fold_accuracy, cross_val_score(classifier, X, y, cv=5))


def test_a_class_that_the_other_folds_lack_has_probability_zero():
    X, y = IRIS  # sorted by class, so that each of three folds in order is a class
    result = evaluate(GaussianNB(), X, y, folds=KFold(3))
    assert result.accuracy == 0
    np.testing.assert_array_equal(result.probabilities[np.arange(150), y], 0.0)
    assert_same_answers(result, *refitted(GaussianNB(), X, y, KFold(3).split(X)))
    assert result.loss == np.inf


def test_a_foreign_classifier_gives_a_class_it_has_not_seen_probability_zero():
    X, y = IRIS
    result = evaluate(SklearnGaussianNB(), X, y, folds=KFold(3))
    np.testing.assert_array_equal(result.probabilities[np.arange(150), y], 0.0)
    np.testing.assert_allclose(result.probabilities.sum(axis=1), 1, rtol=1e-14)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.integers(0, 4), min_size=10, max_size=60),
    st.integers(2, 5),
    st.none() | st.integers(0, 9),
)
def test_stratified_folds_are_those_of_scikit_learn(extra, n_folds, seed):
    y = np.array(extra + [k for k in set(extra) for _ in range(n_folds)])
    codes = np.unique(y, return_inverse=True)[1].astype(np.int32)
    shuffle = seed is not None
    expected = np.empty(y.size)
    splitter = StratifiedKFold(n_folds, shuffle=shuffle, random_state=seed)
    for f, (_, test) in enumerate(splitter.split(y, y)):
        expected[test] = f
    found = stratified_folds(codes, n_folds, shuffle=shuffle, random_state=seed)
    np.testing.assert_array_equal(found, expected)


def test_a_splitter_that_shuffles_without_a_seed_shuffles():
    a, b = (evaluate(GaussianNB(), *IRIS, folds=StratifiedKFold(5, shuffle=True)) for _ in range(2))
    assert (a.probabilities != b.probabilities).any()


SPLITTERS = {
    "a splitter": KFold(4, shuffle=True, random_state=3),
    "a list of splits": list(KFold(4).split(np.arange(150)[::-1])),
    "folds by hand": PredefinedSplit(np.arange(150) % 7),
}


@pytest.mark.parametrize("splitter", SPLITTERS.values(), ids=SPLITTERS)
def test_splitters_of_scikit_learn_are_taken(splitter):
    X, y = IRIS
    splits = splitter if isinstance(splitter, list) else splitter.split(X)
    assert_same_answers(
        evaluate(GaussianNB(), X, y, folds=splitter), *refitted(GaussianNB(), X, y, [*splits])
    )


def test_a_model_never_learns_from_the_rows_it_is_judged_on_unless_told_to():
    X, y = IRIS
    everything = np.arange(150)
    result = evaluate(
        GaussianNB(), X, y, folds=[(everything[50:], everything[:100]), (everything, [149])]
    )
    assert result.n_rows == 101
    assert result.fold_accuracy.size == 2


def test_a_kind_of_our_own_is_refitted_like_any_other():
    class Prudent(GaussianNB):
        def fit(self, X, y):
            return super().fit(np.round(X), y)

    expected = cross_val_score(Prudent(), *IRIS, cv=5)
    np.testing.assert_array_equal(evaluate(Prudent(), *IRIS, folds=5).fold_accuracy, expected)


def test_a_row_that_is_held_out_twice_counts_twice():
    X, y = IRIS
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    result = evaluate(GaussianNB(), X, y, folds=cv)
    assert result.n_rows == 300
    np.testing.assert_array_equal(result.support, [100, 100, 100])
    expected = cross_val_score(SklearnGaussianNB(), X, y, cv=cv)
    np.testing.assert_array_equal(result.fold_accuracy, expected)


def test_a_model_learns_only_from_the_rows_that_the_splitter_says():
    X, y = IRIS
    order = np.random.default_rng(0).permutation(150)
    X, y, cv = X[order], y[order], TimeSeriesSplit(4)
    result = evaluate(GaussianNB(), X, y, folds=cv)
    assert result.n_rows == 120  # the first rows are never held out
    expected = cross_val_score(SklearnGaussianNB(), X, y, cv=cv)
    np.testing.assert_array_equal(result.fold_accuracy, expected)


FRAMES = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}


@pytest.mark.parametrize("folds", [3, KFold(3, shuffle=True, random_state=0)], ids=str)
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_data_frame_gives_the_figures_of_its_numbers(frame, folds):
    X, y = load_wine(return_X_y=True)
    table = frame({f"x{j}": column for j, column in enumerate(X.T)})
    np.testing.assert_array_equal(
        evaluate(GaussianNB(), table, y, folds=folds).probabilities,
        evaluate(GaussianNB(), X, y, folds=folds).probabilities,
    )


@pytest.mark.parametrize(
    "form",
    [np.asfortranarray, lambda X: X.astype(np.float32), lambda X: X.tolist(), lambda X: X[::-1]],
    ids=["Fortran order", "float32", "lists", "backwards in memory"],
)
def test_folds_read_any_array(form):
    X, y = form(IRIS[0]), IRIS[1]
    plain = np.ascontiguousarray(X, dtype=float)
    np.testing.assert_allclose(
        evaluate(GaussianNB(), X, y, folds=5).probabilities,
        evaluate(GaussianNB(), plain, y, folds=5).probabilities,
        atol=1e-14,
    )


def test_nothing_given_is_changed():
    X, y = IRIS[0].copy(), IRIS[1].copy()
    model = GaussianNB()
    evaluate(model, X, y, folds=5)
    assert not hasattr(model, "summary_")
    np.testing.assert_array_equal(X, IRIS[0])
    np.testing.assert_array_equal(y, IRIS[1])


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=40_000)
    X = rng.normal(size=(y.size, 30))
    for model, rows in ((GaussianNB, (X, y)), (NaiveBayes, MIXED)):
        one, two = (evaluate(model(n_jobs=n), *rows, folds=3) for n in (1, 2))
        np.testing.assert_array_equal(one.probabilities, two.probabilities)


# --- every estimator ------------------------------------------------------------------------------


def mixed_table(n_rows=400, n_classes=3, seed=0):
    """Return numbers, text, booleans and missing cells; and one column with rare categories."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    towns = np.array([f"town {i}" for i in range(40)])
    frame = pandas.DataFrame(
        {
            "size": with_holes(rng.normal(y[:, np.newaxis]))[:, 0],
            "town": towns[np.minimum(rng.geometric(0.15, n_rows) + y, 39)],
            "old": rng.random(n_rows) < 0.2 + 0.3 * (y == 1),
            "count": rng.poisson(2 + y),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "town"] = None
    return frame, np.array(["a", "b", "c"])[y]


def codes_table(n_rows=300):
    """Return codes with missing cells, the highest of which only a few rows have."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n_rows)
    X = np.minimum(rng.geometric(0.3, (n_rows, 4)) + y[:, np.newaxis], 12) - 1.0
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


MIXED, CODES, NUMBERS = mixed_table(), codes_table(), (with_holes(IRIS[0]), IRIS[1])
ESTIMATORS = {
    "GaussianNB": (GaussianNB(), NUMBERS),
    "GaussianNB, weights": (GaussianNB(calibration="weights"), NUMBERS),
    "GaussianNB, temperature": (GaussianNB(calibration="temperature", ddof=1), NUMBERS),
    "NaiveBayes": (NaiveBayes(), MIXED),
    "NaiveBayes of numbers": (NaiveBayes(), NUMBERS),
    "NaiveBayes of categories": (NaiveBayes(), (MIXED[0][["town", "old"]], MIXED[1])),
    "NaiveBayes, temperature": (NaiveBayes(calibration="temperature"), MIXED),
    "NaiveBayes, no calibration": (NaiveBayes(calibration=None), MIXED),
    "NaiveBayes, families": (
        NaiveBayes(
            families={"size": "histogram", "count": "poisson", "town": Categorical(alpha=0.5)},
            calibration=None,
        ),
        MIXED,
    ),
    "NaiveBayes, strict": (NaiveBayes(families={"town": Categorical(alpha=0.0)}), MIXED),
    "CategoricalNB": (CategoricalNB(), CODES),
    "CategoricalNB, more categories": (CategoricalNB(min_categories=20, alpha=0.1), CODES),
    "CategoricalNB, even": (CategoricalNB(fit_prior=False), CODES),
}
SORTED = KFold(3)  # of rows sorted by class, where training rows lack a class
WAYS = {
    "stratified": StratifiedKFold(4),
    "shuffled": StratifiedKFold(4, shuffle=True, random_state=1),
    "tiny folds": PredefinedSplit(np.arange(300) % 25),
    "uneven": PredefinedSplit(np.minimum(np.arange(300) % 10, 2)),
    "classes that training rows lack": SORTED,
}


def fitted_under(schema, model, X, y):
    """Return the model of some rows, measured under a schema; the oracle of the folds."""
    if schema is None:
        return clone(model).fit(X, y)
    return type(model).from_summary(summarize(X, y, schema=schema), **model.get_params())


def judged_one_by_one(model, X, y, splits):
    """Fit on the training rows of every split: the probabilities of each row."""
    coded = isinstance(model, CategoricalNB)
    schema = None if coded else clone(model).fit(X, np.zeros(len(y))).summary_.schema
    classes, found = np.unique(y), np.zeros((len(y), np.unique(y).size))
    for train, test in splits:
        fitted = fitted_under(schema, model, _safe_indexing(X, train), y[train])
        at = np.searchsorted(classes, fitted.classes_)
        found[np.ix_(test, at)] = fitted.predict_proba(_safe_indexing(X, test))
    return found


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(("model", "table"), ESTIMATORS.values(), ids=ESTIMATORS)
def test_every_estimator_is_judged_as_if_fitted_on_the_training_rows(model, table, way):
    X, y = table
    order = np.argsort(y, kind="stable") if way is SORTED else np.arange(len(y))
    order = order[: 300 if isinstance(way, PredefinedSplit) else None]
    if isinstance(way, PredefinedSplit):
        way = PredefinedSplit(way.test_fold[: order.size])
    X, y = _safe_indexing(X, order), y[order]
    result = evaluate(model, X, y, folds=way)
    expected = judged_one_by_one(model, X, y, way.split(X, y))
    np.testing.assert_allclose(result.probabilities, expected, rtol=0, atol=1e-9)
    assert np.isfinite(result.probabilities).all()


@pytest.mark.parametrize(
    "name", ["GaussianNB, temperature", "NaiveBayes", "NaiveBayes, families", "CategoricalNB"]
)
def test_leaving_one_out_is_a_fold_for_each_row(name):
    model, (X, y) = ESTIMATORS[name]
    rows = np.arange(0, len(y), 5)
    X, y = _safe_indexing(X, rows), y[rows]
    expected = judged_one_by_one(model, X, y, LeaveOneOut().split(X))
    result = evaluate(model, X, y, folds="leave-one-out")
    assert result.method == "leave-one-out"
    np.testing.assert_allclose(result.probabilities, expected, rtol=0, atol=1e-9)


def test_the_sample_of_folds_is_large_enough_where_many_rows_are_equal():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=30_000)
    X = pandas.DataFrame({"id": (rng.integers(1500, size=y.size) + y * 100).astype(str)})
    folds = StratifiedKFold(10)
    expected = judged_one_by_one(NaiveBayes(), X, y, folds.split(X, y))
    result = evaluate(NaiveBayes(), X, y, folds=folds)
    np.testing.assert_allclose(result.probabilities, expected, rtol=0, atol=1e-9)


def test_labels_have_no_part_in_the_edges_of_histograms():
    rng = np.random.default_rng(0)
    rows = Rows.of_numbers(rng.integers(40, size=(9000, 2)).astype(float))  # many are equal
    fold = np.arange(9000, dtype=np.int32) % 5
    edges = []
    for codes in (rng.integers(3, size=9000), np.arange(9000) // 3000):
        truth = Truth(np.arange(3), codes.astype(np.int32))
        measured = folds.measure_folds([NaiveBayes()], rows, Schema(2), truth, fold)
        edges += [model.schema.edges for model in measured.models(NaiveBayes())]
    assert len(set(edges)) == 1


def test_priors_keep_a_class_that_training_rows_lack():
    X, y = MIXED
    order = np.argsort(y, kind="stable")
    X, y = X.iloc[order], y[order]
    model = NaiveBayes(priors=[0.5, 0.3, 0.2], calibration=None)
    result = evaluate(model, X, y, folds=SORTED)
    for train, test in SORTED.split(X):
        whole = clone(model).partial_fit(X.iloc[train], y[train], classes=["a", "b", "c"])
        found = whole.predict_proba(X.iloc[test])
        np.testing.assert_allclose(result.probabilities[test], found, rtol=0, atol=1e-9)
    assert (result.probabilities > 0).all()


def test_costs_decide_in_every_fold_and_no_row_is_rejected():
    X, y = MIXED
    costs = [[0, 1, 9], [1, 0, 9], [1, 1, 0]]
    plain = evaluate(NaiveBayes(), X, y, folds=4)
    result = evaluate(NaiveBayes(costs=costs, reject=(0.9, "?")), X, y, folds=4)
    np.testing.assert_array_equal(result.probabilities, plain.probabilities)
    expected = np.array(["a", "b", "c"])[np.argmin(plain.probabilities @ costs, axis=1)]
    np.testing.assert_array_equal(result.labels, expected)
    assert (result.labels != plain.labels).any()


@pytest.mark.parametrize("name", ["NaiveBayes, families", "CategoricalNB"])
def test_folds_whose_summaries_are_too_large_are_fitted_one_by_one(name, monkeypatch):
    model, (X, y) = ESTIMATORS[name]
    model = clone(model).set_params(**{"families": None} if "Naive" in name else {})
    added = evaluate(model, X, y, folds=4)
    monkeypatch.setattr(folds, "MAX_BYTES", 1)
    fitted = evaluate(model, X, y, folds=4)
    np.testing.assert_allclose(fitted.probabilities, added.probabilities, rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", [np.ascontiguousarray, pandas.DataFrame], ids=["array", "frame"])
@pytest.mark.parametrize("model", [GaussianNB(), NaiveBayes(calibration=None)], ids=repr)
def test_folds_do_not_copy_the_table(model, form):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=150_000)
    X = form(rng.normal(size=(y.size, 40)) + y[:, np.newaxis])
    evaluate(model, X, y, folds=3, random_state=0)  # whatever is imported late, is now
    tracemalloc.start()
    evaluate(model, X, y, folds=3, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * 8 * y.size * 40


# --- what cannot be done --------------------------------------------------------------------------


def test_one_fold_is_an_error():
    with pytest.raises(ValueError, match=r"folds must be at least 2, .* \(50\); got 1\."):
        evaluate(GaussianNB(), *IRIS, folds=1)


def test_more_folds_than_every_class_has_rows_is_an_error():
    with pytest.raises(ValueError, match=r"at most the rows of the largest class \(50\); got 51\."):
        evaluate(GaussianNB(), *IRIS, folds=51)


def test_more_folds_than_the_smallest_class_has_rows_warns():
    X, y = IRIS[0][:104], IRIS[1][:104]
    with pytest.warns(UserWarning, match="least populated class in y has only 4 members"):
        result = evaluate(GaussianNB(), X, y, folds=5)
    splits = StratifiedKFold(4).split(X, y)
    assert result.n_rows == 104
    assert len([*splits]) == 4


@pytest.mark.parametrize("folds", [5, "leave-one-out", LeaveOneOut()], ids=str)
def test_one_class_cannot_be_told_apart(folds):
    with pytest.raises(NaivelyError, match="two classes or more; got one: 'a'"):
        evaluate(GaussianNB(), [[1.0], [2.0], [3.0]], ["a", "a", "a"], folds=folds)


def test_a_name_that_is_no_way_to_fold_is_an_error():
    with pytest.raises(NaivelyError, match="'leave-one-out'; got 'loo'"):
        evaluate(GaussianNB(), *IRIS, folds="loo")


def test_folds_and_a_test_split_exclude_each_other():
    with pytest.raises(NaivelyError, match="by folds or by test_size, not by both"):
        evaluate(GaussianNB(), *IRIS, folds=5, test_size=0.3)


def test_infinity_in_a_fold_names_its_column():
    X = pandas.DataFrame({"age": [1.0, 2.0, 3.0, np.inf]})
    with pytest.raises(NaivelyError, match=r"column 'age' holds infinity \(first at row 3\)"):
        evaluate(GaussianNB(), X, ["a", "a", "b", "b"], folds=2)


def test_a_fold_whose_training_rows_have_no_sample_variance_is_an_error():
    with pytest.raises(NaivelyError, match="class 'a' has no variance with ddof=1"):
        evaluate(GaussianNB(ddof=1), [[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"], folds=2)


def test_gaussian_families_of_numbers_alone_are_judged_by_folds():
    X, y = IRIS
    ours = NaiveBayes(families=dict.fromkeys(range(4), "gaussian"), calibration=None)
    expected = evaluate(GaussianNB(smoothing="column"), X, y, folds=5)
    assert evaluate(ours, X, y, folds=5).loss == pytest.approx(expected.loss, rel=1e-12)
