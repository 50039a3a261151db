"""Leave-one-out in closed form equals a model fitted on all rows but one, for every row."""

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
from sklearn.neighbors import KNeighborsClassifier

from naively import GaussianNB, NaivelyError, summarize
from naively.evaluation import evaluate
from naively.families import gaussian
from naively.statistics import Moments

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIGITS = load_digits(return_X_y=True)


def refitted(model, X, y, rows):
    """Fit anew without each row, all classes declared: its label, joint and log-probabilities."""
    labels, joint, log_p = [], [], []
    for i in rows:
        fitted = GaussianNB(**model.get_params())
        fitted.partial_fit(np.delete(X, i, axis=0), np.delete(y, i), classes=np.unique(y))
        labels.append(fitted.predict(X[i : i + 1])[0])
        joint.append(fitted.predict_joint_log_proba(X[i : i + 1])[0])
        log_p.append(fitted.predict_log_proba(X[i : i + 1])[0])
    return np.array(labels), np.array(joint), np.array(log_p)


def assert_equal_to_refitting(model, X, y, rows=None):
    """Compare with brute force: the same labels, and probabilities and loss to 1e-10.

    Or to the rounding of the joint log-probabilities, where those are large: a few ulp of them.
    """
    result = evaluate(model, X, y, folds="leave-one-out")
    at = np.arange(len(y)) if rows is None else rows
    labels, joint, log_p = refitted(model, X, y, at)
    np.testing.assert_array_equal(result.labels[at], labels)
    size = np.max(np.abs(joint), axis=1, where=np.isfinite(joint), initial=0.0)
    bound = 1e-10 + 4 * np.finfo(float).eps * size[:, np.newaxis]
    assert (np.abs(result.probabilities[at] - np.exp(log_p)) <= bound).all()
    if rows is None:
        truth = np.searchsorted(np.unique(y), y)
        loss = -np.mean(log_p[np.arange(truth.size), truth])
        assert result.loss == pytest.approx(loss, rel=1e-10, abs=bound.mean())


def with_holes(X):
    return np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)


def with_outlier(X, size):
    """Let one cell of each class stand far out, so that it holds nearly all of the variance."""
    X = X.copy()
    X[[3, 60, 120], [0, 1, 2]] = size
    return X


TABLES = {
    "iris": IRIS,
    "string labels": (IRIS[0], np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]),
    "missing cells": (with_holes(IRIS[0]), IRIS[1]),
    "a constant column": (np.column_stack([IRIS[0], np.full(150, 0.1)]), IRIS[1]),
    "a column nobody has seen": (np.column_stack([IRIS[0], np.full(150, np.nan)]), IRIS[1]),
    "a column one row has": (
        np.column_stack([IRIS[0], np.where(np.arange(150) == 70, 1.0, np.nan)]),
        IRIS[1],
    ),
    "a column constant but for one row": (
        np.column_stack([IRIS[0], np.where(np.arange(150) == 70, 1.0, 0.1)]),
        IRIS[1],
    ),
    "an outlier": (with_outlier(IRIS[0], 1e3), IRIS[1]),
    "a wild outlier": (with_outlier(IRIS[0], 1e12), IRIS[1]),
    "an offset": (1e4 + IRIS[0], IRIS[1]),
    "classes of two rows": (IRIS[0][[0, 1, 60, 61, 120, 121]], IRIS[1][[0, 1, 60, 61, 120, 121]]),
    "breast cancer": (CANCER[0][:150], CANCER[1][:150]),
    "integers": ((10 * IRIS[0]).astype(int), IRIS[1]),
}
MODELS = {
    "defaults": GaussianNB(),
    "shared variance": GaussianNB(variance="shared"),
    "smoothing by column": GaussianNB(smoothing="column", var_smoothing=1e-3),
    "strong smoothing": GaussianNB(var_smoothing=0.1),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_leaving_one_out_equals_refitting(table, model):
    assert_equal_to_refitting(model, *table)


@pytest.mark.parametrize("variance", ["class", "shared"])
def test_the_sample_variance_loses_a_row_too(variance):
    assert_equal_to_refitting(GaussianNB(ddof=1, variance=variance), *IRIS)


def test_given_priors_stay():
    assert_equal_to_refitting(GaussianNB(priors=[0.7, 0.2, 0.1]), *IRIS)


def test_columns_that_are_mostly_zero_equal_refitting():
    X, y = DIGITS
    assert_equal_to_refitting(GaussianNB(), X, y, rows=np.arange(0, y.size, 37))


def test_the_row_that_a_class_varies_by_equals_refitting():
    X, y = DIGITS  # pixels that one image of a digit has, and no other image of it
    alone = [(X[y == k] > 0).sum(axis=0) == 1 for k in range(10)]
    rows = [i for i, k in enumerate(y) if (alone[k] & (X[i] > 0)).any()]
    assert len(rows) > 10
    assert_equal_to_refitting(GaussianNB(), X, y, rows=np.array(rows))


def test_accuracy_is_that_of_scikit_learn():
    X, y = IRIS
    expected = cross_val_predict(SklearnGaussianNB(), X, y, cv=LeaveOneOut())
    result = evaluate(GaussianNB(), X, y, folds="leave-one-out")
    np.testing.assert_array_equal(result.labels, expected)
    assert result.method == "leave-one-out"
    assert result.fold_accuracy is None


def test_the_splitter_of_scikit_learn_means_the_same():
    a, b = (
        evaluate(GaussianNB(), *IRIS, folds=folds) for folds in (LeaveOneOut(), "leave-one-out")
    )
    np.testing.assert_array_equal(a.probabilities, b.probabilities)


def test_any_classifier_is_refitted_for_every_row():
    X, y = IRIS[0][::5], IRIS[1][::5]
    result = evaluate(KNeighborsClassifier(3), X, y, folds="leave-one-out")
    expected = cross_val_predict(KNeighborsClassifier(3), X, y, cv=LeaveOneOut())
    np.testing.assert_array_equal(result.labels, expected)
    assert result.fold_accuracy is None


@pytest.mark.parametrize("smoothing", ["global", "column"])
@pytest.mark.parametrize("variance", ["class", "shared"])
def test_many_tables_are_read_at_once_as_each_alone(variance, smoothing):
    options = {"variance": variance, "smoothing": smoothing, "var_smoothing": 1e-3}
    tables = [summarize(with_holes(IRIS[0])[i:], IRIS[1][i:]).moments for i in range(5)]
    together = gaussian.parameters(Moments(np.stack([t.values for t in tables], axis=2)), **options)
    for i, table in enumerate(tables):
        alone = gaussian.parameters(table, **options)
        np.testing.assert_array_equal(together.mean[:, i], alone.mean)
        np.testing.assert_array_equal(together.variance[:, i], alone.variance)


# --- a class that vanishes ------------------------------------------------------------------------

LONELY = np.array([[0.0, 1.0], [1.0, 2.0], [0.5, 2.5], [5.0, 7.0]]), np.array(["a", "a", "a", "b"])


def test_a_class_whose_only_row_is_left_out_has_probability_zero():
    result = evaluate(GaussianNB(), *LONELY, folds="leave-one-out")
    assert result.probabilities[3].tolist() == [1.0, 0.0]
    assert result.labels[3] == "a"
    assert result.loss == np.inf
    assert_equal_to_refitting(GaussianNB(), *LONELY)


def test_a_class_whose_only_row_is_left_out_borrows_the_column_where_priors_are_given():
    X, y = LONELY
    model = GaussianNB(priors=[0.5, 0.5], var_smoothing=0)
    assert_equal_to_refitting(model, X, y)
    # Without its row, the rows of "a" are all there is: both classes have the same density.
    np.testing.assert_allclose(
        evaluate(model, X, y, folds="leave-one-out").probabilities[3], [0.5, 0.5], rtol=1e-14
    )


def test_a_class_of_two_rows_has_no_sample_variance_without_one_of_them():
    X, y = pandas.DataFrame({"age": [1.0, 2.0, 3.0, 5.0, 6.0]}), ["a", "a", "a", "b", "b"]
    with pytest.raises(NaivelyError, match=r"class 'b' .* ddof=1 in column 'age' once row 3"):
        evaluate(GaussianNB(ddof=1), X, y, folds="leave-one-out")


def test_a_single_row_that_is_left_out_leaves_nothing():
    with pytest.raises(NaivelyError, match="two classes or more"):
        evaluate(GaussianNB(), [[1.0]], ["a"], folds="leave-one-out")


def test_two_rows_of_two_classes_are_both_wrong():
    result = evaluate(GaussianNB(), [[1.0], [2.0]], ["a", "b"], folds="leave-one-out")
    assert result.labels.tolist() == ["b", "a"]


# --- numbers at the edge --------------------------------------------------------------------------


def test_a_row_too_far_for_every_density_still_has_a_class():
    rng = np.random.default_rng(0)
    X = 1e-8 * rng.normal(size=(20, 2)) + 1e-7 * np.repeat([[0.0], [1.0]], 10, axis=0)
    X[4, 0] = 1e150  # 1e158 standard deviations of the others: its square exceeds every float64
    assert_equal_to_refitting(GaussianNB(), X, np.repeat(["a", "b"], 10))


def test_no_variance_at_all_is_the_smallest_there_is():
    X = np.repeat([[0.0, 1.0], [5.0, 1.0]], 3, axis=0)
    assert_equal_to_refitting(GaussianNB(var_smoothing=0), X, np.repeat(["a", "b"], 3))


def test_data_frames_give_the_figures_of_their_numbers():
    X, y = IRIS
    frame = pandas.DataFrame({f"x{j}": column for j, column in enumerate(X.T)})
    a, b = (evaluate(GaussianNB(), rows, y, folds="leave-one-out") for rows in (frame, X))
    np.testing.assert_array_equal(a.probabilities, b.probabilities)


def test_threads_do_not_change_a_bit():
    X, y = DIGITS
    one, two = (evaluate(GaussianNB(n_jobs=n), X, y, folds="leave-one-out") for n in (1, 2))
    np.testing.assert_array_equal(one.probabilities, two.probabilities)
