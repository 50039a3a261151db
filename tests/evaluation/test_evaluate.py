"""Every figure of an evaluation against plain loops, and every way to ask for one."""

import json
import math

import numpy as np
import pandas
import pyarrow
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.metrics import (
    classification_report,
    confusion_matrix,
    f1_score,
    log_loss,
)
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from naively import GaussianNB, NaiveBayes, NaivelyError, compare, tune
from naively.evaluation import Evaluation, evaluate

IRIS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]


class Says(ClassifierMixin, BaseEstimator):
    """A classifier that says of row i what it was told to say, whatever the row holds."""

    def __init__(self, probabilities):
        self.probabilities = probabilities
        self.classes_ = np.arange(len(probabilities[0]))

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.array(self.probabilities)

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def judged(probabilities, y):
    return evaluate(Says(probabilities), np.zeros((len(y), 1)), y)


@pytest.fixture(
    params=[
        ([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.4, 0.3, 0.3]], [0, 1, 2, 2]),
        ([[1.0, 0.0], [0.0, 1.0]], [0, 1]),
        ([[0.55, 0.45], [0.95, 0.05], [0.9, 0.1], [0.3, 0.7]], [1, 0, 1, 1]),
        ([[0.2, 0.8, 0.0], [0.7, 0.3, 0.0]], [0, 0]),
    ],
    ids=["three classes", "all right", "two classes", "classes without rows"],
)
def case(request):
    p, y = request.param
    return p, y, judged(p, y)


# --- the figures ----------------------------------------------------------------------------------


def test_confusion_counts_rows_by_truth_and_prediction(case):
    p, y, result = case
    for truth in range(len(p[0])):
        for predicted in range(len(p[0])):
            count = sum(
                k == truth and row.index(max(row)) == predicted for row, k in zip(p, y, strict=True)
            )
            assert result.confusion[truth, predicted] == count


def test_precision_recall_and_f1_follow_from_the_confusion(case):
    _, _, result = case
    for k in range(result.classes.size):
        right = result.confusion[k, k]
        predicted, true = result.confusion[:, k].sum(), result.confusion[k].sum()
        precision, recall = right / predicted if predicted else 0, right / true if true else 0
        f1 = 2 * precision * recall / (precision + recall) if right else 0
        assert result.precision[k] == pytest.approx(precision)
        assert result.recall[k] == pytest.approx(recall)
        assert result.f1[k] == pytest.approx(f1)
        assert result.support[k] == true


def test_the_loss_is_the_mean_negative_log_likelihood(case):
    p, y, result = case
    likelihoods = [row[k] for row, k in zip(p, y, strict=True)]
    assert result.loss == pytest.approx(-math.fsum(map(math.log, likelihoods)) / len(y))


def test_the_brier_score_is_the_mean_squared_distance_from_the_truth(case):
    p, y, result = case
    squares = [
        (value - (column == k)) ** 2
        for row, k in zip(p, y, strict=True)
        for column, value in enumerate(row)
    ]
    assert result.brier == pytest.approx(math.fsum(squares) / len(y))


def test_confidence_is_the_mean_largest_probability(case):
    p, y, result = case
    sides = {True: [], False: []}
    for row, k in zip(p, y, strict=True):
        sides[row.index(max(row)) == k].append(max(row))
    for found, values in (
        (result.confidence.overall, sides[True] + sides[False]),
        (result.confidence.correct, sides[True]),
        (result.confidence.wrong, sides[False]),
    ):
        expected = math.fsum(values) / len(values) if values else math.nan
        assert found == pytest.approx(expected, nan_ok=True)


def test_the_calibration_error_compares_confidence_and_accuracy_in_ten_bins(case):
    p, y, result = case
    bins = [[] for _ in range(10)]
    for row, k in zip(p, y, strict=True):
        at = next(b for b in range(10) if max(row) <= (b + 1) / 10 + 1e-12)
        bins[at].append((max(row), row.index(max(row)) == k))
    error = 0.0
    for b, rows in enumerate(bins):
        assert result.reliability.count[b] == len(rows)
        if rows:
            confidence = math.fsum(top for top, _ in rows) / len(rows)
            accuracy = sum(right for _, right in rows) / len(rows)
            assert result.reliability.confidence[b] == pytest.approx(confidence)
            assert result.reliability.accuracy[b] == pytest.approx(accuracy)
            error += len(rows) / len(y) * abs(accuracy - confidence)
        else:
            assert math.isnan(result.reliability.confidence[b])
    assert result.calibration_error == pytest.approx(error)


def test_the_figures_are_those_of_scikit_learn():
    X, y = IRIS[0], NAMES
    model = SklearnGaussianNB().fit(X, y)
    result, labels = evaluate(model, X, y), model.predict(X)
    report = classification_report(y, labels, output_dict=True)
    for k, label in enumerate(result.classes):
        assert result.precision[k] == report[label]["precision"]
        assert result.recall[k] == report[label]["recall"]
        assert result.f1[k] == pytest.approx(report[label]["f1-score"], rel=1e-15)
        assert result.support[k] == report[label]["support"]
    for found, name in ((result.macro, "macro avg"), (result.weighted, "weighted avg")):
        assert found.precision == pytest.approx(report[name]["precision"], rel=1e-15)
        assert found.recall == pytest.approx(report[name]["recall"], rel=1e-15)
        assert found.f1 == pytest.approx(report[name]["f1-score"], rel=1e-15)
    np.testing.assert_array_equal(result.confusion, confusion_matrix(y, labels))
    assert result.loss == pytest.approx(log_loss(y, model.predict_proba(X)), rel=1e-9)


def test_averages_leave_out_classes_that_are_nowhere():
    p, y = [[0.2, 0.8, 0.0], [0.7, 0.3, 0.0]], [0, 0]
    labels = np.argmax(p, axis=1)
    assert judged(p, y).macro.f1 == f1_score(y, labels, average="macro", zero_division=0)
    assert judged(p, y).f1.size == 3


def test_the_loss_counts_rows_too_unlikely_for_a_float():
    model = GaussianNB().fit([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    result = evaluate(model, [[100.0]], [0])
    assert result.probabilities[0, 0] == 0
    assert result.loss == pytest.approx(model.loss([[100.0]], [0]))
    assert 1000 < result.loss < np.inf


def test_probabilities_sum_to_one_however_far_the_rows():
    X = np.concatenate([IRIS[0], 10.0 ** np.arange(0, 160, 8)[:, np.newaxis] * np.ones((1, 4))])
    y = np.concatenate([IRIS[1], np.zeros(20, dtype=int)])
    for folds in (None, 5, "leave-one-out"):
        p = evaluate(GaussianNB().fit(*IRIS) if folds is None else GaussianNB(), X, y, folds=folds)
        np.testing.assert_allclose(p.probabilities.sum(axis=1), 1, rtol=1e-14)


def test_probabilities_are_those_of_the_classifier_bit_for_bit():
    for model in (GaussianNB().fit(*IRIS), KNeighborsClassifier(5).fit(*IRIS)):
        result = evaluate(model, *IRIS)
        np.testing.assert_array_equal(result.probabilities, model.predict_proba(IRIS[0]))


def test_classifiers_without_probabilities_have_figures_without_them():
    result = evaluate(RidgeClassifier(), *IRIS, folds=5)
    assert result.accuracy > 0.8
    assert result.probabilities is None
    figures = [result.loss, result.brier, result.calibration_error, result.confidence.overall]
    figures += [result.confidence.correct, result.confidence.wrong]
    assert all(math.isnan(value) for value in figures)
    assert result.reliability.count.sum() == 0
    assert "loss                             -" in str(result)
    assert result.to_dict()["loss"] is None


# --- the ways to ask ------------------------------------------------------------------------------


def test_a_fitted_model_is_judged_as_it_is():
    model = GaussianNB().fit(*IRIS)
    result = evaluate(model, IRIS[0][:60], IRIS[1][:60])
    np.testing.assert_array_equal(result.labels, model.predict(IRIS[0][:60]))
    np.testing.assert_allclose(result.probabilities, model.predict_proba(IRIS[0][:60]), atol=1e-13)
    assert result.method == "the given rows"
    assert result.n_rows == 60
    assert result.classes.tolist() == [0, 1, 2]  # as many as the model knows
    assert result.train is None
    assert result.fold_accuracy is None


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), SklearnGaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0)],
    ids=str,
)
def test_the_training_rows_are_scored_where_no_row_is_held_out(model):
    result = evaluate(model, *IRIS, test_size=0)
    assert result.method == "the training rows"
    assert result.accuracy == type(model)(**model.get_params()).fit(*IRIS).score(*IRIS)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    "model", [GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0)], ids=str
)
def test_a_model_that_is_not_fitted_is_judged_by_ten_folds(model):
    result = evaluate(model, *IRIS)
    assert result.method == "10 folds"
    assert result.accuracy == evaluate(model, *IRIS, folds=10).accuracy


def test_small_classes_have_fewer_folds_by_default():
    assert evaluate(GaussianNB(), IRIS[0][:104], IRIS[1][:104]).method == "4 folds"


def test_without_a_model_it_is_naive_bayes():
    a, b = evaluate(data=IRIS[0], y=IRIS[1], folds=5), evaluate(NaiveBayes(), *IRIS, folds=5)
    assert a.model == "NaiveBayes"
    np.testing.assert_array_equal(a.probabilities, b.probabilities)


def test_a_frame_may_hold_its_labels():
    X, y = IRIS
    columns = {f"x{j}": column for j, column in enumerate(X.T)}
    expected = evaluate(GaussianNB(), X, y, folds=5)
    for make in (pandas.DataFrame, pyarrow.table):
        table = make({**columns, "species": y})
        found = evaluate(GaussianNB(), table, target="species", folds=5)
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)


MEANT = {
    "rows before the model": (lambda: evaluate(*IRIS), r"model comes first.*evaluate\(data=..."),
    "more positions": (
        lambda: compare(GaussianNB(), GaussianNB(), *IRIS),
        r"one argument, \(a, b\)",
    ),
    "cv": (lambda: evaluate(GaussianNB(), *IRIS, cv=5), "no cv=; did you mean folds="),
    "cv of tune": (lambda: tune(GaussianNB(), *IRIS, cv=5), "no cv=; did you mean folds="),
    "a grid": (lambda: tune(GaussianNB(), *IRIS, param_grid={}), "did you mean grid="),
    "a scoring": (lambda: evaluate(GaussianNB(), *IRIS, scoring="f1"), "computes every metric"),
    "the rows as X": (lambda: evaluate(GaussianNB(), X=IRIS[0], y=IRIS[1]), "did you mean data="),
    "a typing error": (lambda: compare(GaussianNB(), *IRIS, repeat=2), "did you mean repeats="),
    "nothing alike": (
        lambda: compare(GaussianNB(), *IRIS, zzz=2),
        "has no zzz=; it has model, data",
    ),
}


@pytest.mark.parametrize("case", MEANT)
def test_what_was_probably_meant_is_named(case):
    call, message = MEANT[case]
    with pytest.raises(NaivelyError, match=message):
        call()


def test_a_pipeline_is_a_classifier():
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    assert (
        evaluate(pipeline, *IRIS, folds=5).accuracy
        == evaluate(GaussianNB(), *IRIS, folds=5).accuracy
    )


@pytest.mark.parametrize("model", [GaussianNB(), KNeighborsClassifier(3)], ids=str)
def test_a_test_split_is_that_of_train_test_split(model):
    X, y = IRIS[0], NAMES
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, random_state=42, stratify=y
    )
    fitted = type(model)(**model.get_params()).fit(X_train, y_train)
    result = evaluate(model, X, y, test_size=0.3, random_state=42)
    assert result.method == "a test split of 30 %"
    assert result.accuracy == fitted.score(X_test, y_test)
    assert result.train.accuracy == fitted.score(X_train, y_train)
    assert result.train.method == "the training rows"
    np.testing.assert_array_equal(result.labels, fitted.predict(X_test))


def test_a_test_split_may_be_a_number_of_rows():
    result = evaluate(GaussianNB(), *IRIS, test_size=45, random_state=42)
    assert result.method == "a test split of 45 rows"
    assert result.accuracy == evaluate(GaussianNB(), *IRIS, test_size=0.3, random_state=42).accuracy


def test_the_published_figures_of_iris():
    result = evaluate(GaussianNB(), *IRIS, test_size=0.3, random_state=42)
    figures = [result.train.accuracy, result.accuracy, result.confidence.overall]
    figures += [result.confidence.correct, result.confidence.wrong]
    assert [round(value, 4) for value in figures] == [0.9810, 0.9111, 0.9698, 0.9800, 0.8656]


def test_the_published_figures_of_breast_cancer():
    result = evaluate(
        GaussianNB(), *load_breast_cancer(return_X_y=True), test_size=0.3, random_state=42
    )
    assert round(result.accuracy, 4) == 0.9474
    assert round(result.train.accuracy, 4) == 0.9447


def test_a_label_that_the_model_has_never_seen_is_always_wrong():
    model = GaussianNB().fit(IRIS[0][:100], NAMES[:100])
    result = evaluate(model, IRIS[0], NAMES)
    assert result.classes.tolist() == ["setosa", "versicolor", "virginica"]
    assert result.recall[2] == 0
    assert (result.probabilities[:, 2] == 0).all()
    assert result.loss == np.inf
    assert result.to_dict()["loss"] is None


LABELS = {
    "strings": NAMES,
    "a list": NAMES.tolist(),
    "a series": pandas.Series(NAMES),
    "a category": pandas.Series(NAMES, dtype="category"),
    "objects": NAMES.astype(object),
    "floats": IRIS[1].astype(float),
}


@pytest.mark.parametrize("folds", [None, 5, "leave-one-out"], ids=str)
@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_labels_may_be_anything_that_labels_are(y, folds):
    expected = evaluate(GaussianNB(), *IRIS, folds=folds)
    assert evaluate(GaussianNB(), IRIS[0], y, folds=folds).accuracy == expected.accuracy


# --- what cannot be done --------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"folds": 2}, {"test_size": 0.5}], ids=str)
def test_rows_and_labels_must_be_as_many(how):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[3, 2\]"):
        evaluate(GaussianNB(), [[1.0], [2.0], [3.0]], ["a", "b"], **how)


def test_labels_must_not_be_missing():
    with pytest.raises(NaivelyError, match=r"labels must not be missing; got y\[1\]=None"):
        evaluate(GaussianNB(), [[1.0], [2.0]], ["a", None])


def test_there_must_be_rows():
    with pytest.raises(NaivelyError, match="at least one row to evaluate"):
        evaluate(GaussianNB(), np.zeros((0, 2)), np.array([], dtype=str))


def test_there_must_be_labels():
    with pytest.raises(NaivelyError, match="got no labels"):
        evaluate(GaussianNB(), IRIS[0])


def test_only_classifiers_are_judged():
    with pytest.raises(NaivelyError, match="only classifiers can be evaluated; got LinearReg"):
        evaluate(LinearRegression(), *IRIS)


def test_a_classifier_must_be_an_instance():
    with pytest.raises(NaivelyError, match=r"an instance: GaussianNB\(\), not the class"):
        evaluate(GaussianNB, *IRIS)


def test_rows_cannot_be_weighted():
    with pytest.raises(NaivelyError, match="rows cannot be weighted"):
        evaluate(GaussianNB(), *IRIS, sample_weight=np.ones(150))


def test_folds_must_hold_rows_out():
    with pytest.raises(NaivelyError, match="at least once; got no split"):
        evaluate(GaussianNB(), *IRIS, folds=[])


def test_one_class_cannot_be_split():
    with pytest.raises(NaivelyError, match="two classes or more; got one: 'a'"):
        evaluate(GaussianNB(), [[1.0], [2.0]], ["a", "a"], test_size=0.5)


def test_a_class_of_one_row_cannot_be_split():
    with pytest.raises(ValueError, match="class 'b' has one row"):
        evaluate(GaussianNB(), [[1.0], [2.0], [3.0]], ["a", "a", "b"], test_size=0.5)


def test_one_class_can_be_judged_where_nothing_is_held_out():
    assert evaluate(GaussianNB(), [[1.0], [2.0]], ["a", "a"], test_size=0).accuracy == 1


# --- how it prints --------------------------------------------------------------------------------


def test_the_text_holds_every_figure():
    result = evaluate(GaussianNB(), IRIS[0], NAMES, test_size=0.3, random_state=42)
    text = str(result)
    for words in (
        "GaussianNB, a test split of 30 %: 45 rows, 3 classes",
        "test     95 % interval   train",
        "accuracy                0.9111  0.7872 to 0.9703  0.9810",
        "confidence where wrong  0.8656",
        "versicolor     0.8235  0.9333  0.8750    15",
        "weighted",
        "virginica        0           3         12",
    ):
        assert words in text


def test_the_short_form_fits_a_line():
    text = repr(evaluate(GaussianNB(), *IRIS, folds=10))
    assert text == "<Evaluation of 150 rows, 10 folds: accuracy 0.9533, loss 0.1307>"


def test_many_classes_are_cut_short_in_print():
    y = np.repeat(np.arange(30), 2)
    text = str(evaluate(GaussianNB(), y[:, np.newaxis] + [[0.1], [-0.1]] * 30, y, test_size=0))
    assert "... 10 more" in text
    assert "confusion" not in text


def test_labels_stay_text_in_html():
    y = np.where(IRIS[1] == 0, "<script>alert(1)</script>", "b & c")
    html = evaluate(GaussianNB(), IRIS[0], y)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "b &amp; c" in html
    assert html.count("<table>") == 3


def test_labels_stay_text_in_colour():
    console = pytest.importorskip("rich.console").Console(width=100, record=True, file=None)
    y = np.where(IRIS[1] == 0, "[red]", "b")
    with console.capture() as capture:
        console.print(evaluate(GaussianNB(), IRIS[0], y))
    assert "[red]" in capture.get()


def test_the_dict_is_plain_json():
    result = evaluate(GaussianNB(), IRIS[0], NAMES, test_size=0.3, random_state=42)
    found = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert found["classes"] == ["setosa", "versicolor", "virginica"]
    assert found["accuracy"] == result.accuracy
    assert found["confusion"] == result.confusion.tolist()
    assert found["confidence"]["wrong"] == result.confidence.wrong
    assert found["reliability"]["confidence"][0] is None  # an empty bin
    assert found["train"]["accuracy"] == result.train.accuracy
    assert "probabilities" not in found


def test_dates_among_labels_are_text_in_json():
    days = np.array(["2026-01-05", "2026-01-06", "2026-01-07"], dtype="M8[D]")[IRIS[1]]
    found = json.loads(json.dumps(evaluate(GaussianNB(), IRIS[0], days).to_dict()))
    assert found["classes"] == ["2026-01-05", "2026-01-06", "2026-01-07"]


def test_an_evaluation_cannot_be_changed():
    result = evaluate(GaussianNB(), *IRIS)
    assert isinstance(result, Evaluation)
    with pytest.raises(AttributeError, match="cannot assign"):
        result.accuracy = 1.0


@pytest.mark.parametrize("how", [{"folds": 3}, {"test_size": 0.3, "random_state": 0}], ids=str)
def test_text_in_views_of_arrow_is_judged_as_any_text(how):
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 60)
    town = pyarrow.array(rng.choice(["Ulm", "Bonn"], 60)).cast(pyarrow.string_view())
    coded = pyarrow.array(rng.choice(["S", "M"], 60)).dictionary_encode()
    views = pyarrow.DictionaryArray.from_arrays(
        coded.indices, coded.dictionary.cast(pyarrow.string_view())
    )
    found = evaluate(NaiveBayes(), pyarrow.table({"town": town, "size": views}), y, **how)
    plain = pyarrow.table({"town": town.cast(pyarrow.string()), "size": coded})
    assert found.loss == evaluate(NaiveBayes(), plain, y, **how).loss
