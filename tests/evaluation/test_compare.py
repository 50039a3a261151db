"""Two classifiers side by side: the figures are those of each alone, and of their difference."""

import json
import math
import statistics

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
from sklearn.neighbors import KNeighborsClassifier

from naively import GaussianNB, MultinomialNB, NaiveBayes, NaivelyError
from naively.evaluation import Comparison, Timing, compare, evaluate

IRIS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def different():
    """Two classifiers that differ on some of the test rows."""
    return compare((GaussianNB(), KNeighborsClassifier(1)), *IRIS, random_state=3, repeats=3)


@pytest.fixture(scope="module")
def fitted():
    X, y = IRIS
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, random_state=3, stratify=y
    )
    models = GaussianNB().fit(X_train, y_train), KNeighborsClassifier(1).fit(X_train, y_train)
    return models, (X_train, y_train), (X_test, y_test)


def test_agreement_is_the_share_of_equal_predictions(different, fitted):
    (a, b), _, (X_test, y_test) = fitted
    pairs = zip(a.predict(X_test), b.predict(X_test), strict=True)
    assert different.agreement == sum(x == y for x, y in pairs) / len(y_test)


def test_accuracies_are_those_of_each(different, fitted):
    models, train, test = fitted
    assert different.train_accuracy == tuple(model.score(*train) for model in models)
    assert different.test_accuracy == tuple(model.score(*test) for model in models)
    assert different.accuracy_difference == models[0].score(*test) - models[1].score(*test)


def test_the_difference_of_probabilities_is_over_all_rows_and_classes(different, fitted):
    (a, b), _, (X_test, _) = fitted
    gaps = [
        abs(p - q)
        for row, other in zip(a.predict_proba(X_test), b.predict_proba(X_test), strict=True)
        for p, q in zip(row, other, strict=True)
    ]
    assert different.probability_difference.max == pytest.approx(max(gaps), abs=1e-12)
    assert different.probability_difference.mean == pytest.approx(math.fsum(gaps) / len(gaps))


def test_both_are_judged_as_evaluate_does(different):
    alone = evaluate(GaussianNB(), *IRIS, test_size=0.3, random_state=3)
    assert different.evaluations[0].to_dict() == alone.to_dict()
    assert different.confidence == tuple(e.confidence for e in different.evaluations)


def test_times_are_taken_so_many_times(different):
    for timing in (*different.fit_seconds, *different.predict_seconds):
        assert timing.runs == 3
        assert timing.quartiles[0] <= timing.median <= timing.quartiles[1]
        assert timing.mean > 0
        assert timing.std >= 0


def test_a_timing_is_the_median_with_quartiles():
    seconds = [3e-3, 1e-3, 2e-3, 5e-3, 9.0]  # one run was disturbed
    timing = Timing.of(seconds)
    assert (timing.median, timing.quartiles) == (3e-3, (2e-3, 5e-3))
    assert timing.mean == pytest.approx(statistics.mean(seconds), rel=1e-15)
    assert timing.std == pytest.approx(statistics.stdev(seconds), rel=1e-15)
    assert str(timing) == "3.00 ms (2.00 to 5.00)"


def test_ratios_tell_how_many_times_as_fast_the_first_is(different):
    a, b = different.fit_seconds
    assert different.fit_ratio == b.median / a.median
    a, b = different.predict_seconds
    assert different.predict_ratio == b.median / a.median


def test_one_run_has_no_standard_deviation():
    result = compare(GaussianNB(), *IRIS, repeats=1)
    assert math.isnan(result.fit_seconds[0].std)
    assert result.to_dict()["fit_seconds"][0]["std"] is None


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer], ids=["iris", "breast cancer"])
def test_one_alone_is_compared_with_that_of_scikit_learn(load):
    result = compare(GaussianNB(), *load(return_X_y=True), repeats=1)
    assert result.names == ("naively GaussianNB", "sklearn GaussianNB")
    assert result.agreement == 1
    assert result.accuracy_difference == 0
    assert result.probability_difference.max < 1e-12


def test_names_may_be_given():
    a = compare((NaiveBayes(), SklearnGaussianNB()), data=IRIS[0], y=IRIS[1], repeats=1)
    b = compare(data=IRIS[0], y=IRIS[1], repeats=1)
    assert a.test_accuracy == b.test_accuracy
    assert b.names == ("NaiveBayes", "GaussianNB")


def test_two_of_a_kind_are_told_apart():
    names = compare((GaussianNB(), GaussianNB(ddof=1)), *IRIS, repeats=1).names
    assert names == ("a: GaussianNB", "b: GaussianNB")


def test_different_kinds_go_by_their_names(different):
    assert different.names == ("GaussianNB", "KNeighborsClassifier")


def test_classifiers_without_probabilities_have_no_difference_of_them():
    result = compare((GaussianNB(), RidgeClassifier()), *IRIS, repeats=1)
    assert math.isnan(result.probability_difference.max)
    assert math.isnan(result.confidence[1].overall)
    assert 0 < result.agreement <= 1
    assert json.dumps(result.to_dict(), allow_nan=False)


def test_models_are_left_as_they_were():
    a, b = GaussianNB().fit(IRIS[0][:60], IRIS[1][:60]), SklearnGaussianNB()
    compare((a, b), *IRIS, repeats=1)
    assert a.classes_.tolist() == [0, 1]
    assert not hasattr(b, "classes_")


def test_the_table_holds_every_figure(different):
    text = str(different)
    for words in ("GaussianNB", "KNeighborsClassifier", "test accuracy", "train accuracy", "fit"):
        assert words in text
    for words in ("predict", "confidence where wrong", "same prediction", "largest difference"):
        assert words in text
    assert repr(different).startswith("<Comparison of GaussianNB and KNeighborsClassifier: ")
    assert different._repr_html_().count("<table>") == 2


def test_the_table_prints_in_colour(different):
    console = pytest.importorskip("rich.console").Console(width=100)
    with console.capture() as capture:
        console.print(different)
    assert "KNeighborsClassifier" in capture.get()


def test_the_dict_is_plain_json(different):
    found = json.loads(json.dumps(different.to_dict(), allow_nan=False))
    assert found["test_accuracy"] == list(different.test_accuracy)
    assert found["probability_difference"]["mean"] == different.probability_difference.mean
    assert found["fit_seconds"][0]["runs"] == 3
    assert found["evaluations"][1]["accuracy"] == different.test_accuracy[1]


def test_a_comparison_cannot_be_changed(different):
    assert isinstance(different, Comparison)
    with pytest.raises(AttributeError, match="cannot assign"):
        different.agreement = 1.0


def test_three_classifiers_are_compared_by_folds():
    with pytest.raises(NaivelyError, match="one or two classifiers; got 3"):
        compare([GaussianNB()] * 3, *IRIS)


def test_a_file_is_compared_as_its_rows_are(tmp_path):
    X, y = load_iris(as_frame=True, return_X_y=True)
    X.assign(species=y).to_csv(path := tmp_path / "iris.csv", index=False)
    found = compare(GaussianNB(), path, target="species", repeats=1)
    assert found.test_accuracy == compare(GaussianNB(), X, y, repeats=1).test_accuracy


def test_a_frame_has_a_line_for_each(different):
    table = different.to_frame()
    assert table["model"].tolist() == list(different.names)
    assert table["test_accuracy"].tolist() == list(different.test_accuracy)
    assert table["fit_seconds"].tolist() == [one.median for one in different.fit_seconds]


def test_there_must_be_a_timed_run():
    with pytest.raises(NaivelyError, match="at least one timed run; got repeats=0"):
        compare(GaussianNB(), *IRIS, repeats=0)


def test_what_one_of_them_cannot_read_is_its_error():
    X = np.where(IRIS[0] > 6, np.nan, IRIS[0])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        compare((GaussianNB(), SklearnGaussianNB()), X, IRIS[1])


@pytest.mark.parametrize("table", [np.asarray, pd.DataFrame])
def test_one_alone_is_compared_with_means_where_numbers_are_missing(table):
    X, y = table(np.where(IRIS[0] > 6, np.nan, IRIS[0])), IRIS[1]
    result = compare(GaussianNB(), X, y, repeats=1)
    assert result.names == ("naively GaussianNB", "sklearn GaussianNB")
    assert 0.3 < result.test_accuracy[1] <= 1


def test_a_sparse_matrix_needs_two_classifiers_that_take_it():
    X, y = scipy.sparse.csr_array(IRIS[0]), IRIS[1]
    with pytest.raises(NaivelyError, match="takes no sparse matrix"):
        compare(GaussianNB(), X, y)
    found = compare((GaussianNB(), MultinomialNB()), X, y, repeats=1, random_state=0)
    dense = compare((GaussianNB(), MultinomialNB()), *IRIS, repeats=1, random_state=0)
    assert found.test_accuracy == dense.test_accuracy
