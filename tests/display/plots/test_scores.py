"""Confusion matrices and reliability diagrams."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix
from sklearn.svm import LinearSVC

from naively import GaussianNB, NaivelyError
from naively.evaluation import compare, evaluate
from naively.plots import (
    ConfusionDisplay,
    ReliabilityDisplay,
)
from tests.figures import said


def test_confusion_matrices_stand_side_by_side_in_one_scale(two_models):
    ours, theirs, _, X, _, y = two_models
    display = ConfusionDisplay.from_estimator(ours, X, y, other=theirs)
    for model, drawn in zip((ours, theirs), display.displays_, strict=True):
        expected = confusion_matrix(y, model.predict(X))
        np.testing.assert_array_equal(drawn.im_.get_array(), expected)
        texts = [[int(text.get_text()) for text in row] for row in drawn.text_]
        np.testing.assert_array_equal(texts, expected)
    scales = {drawn.im_.get_clim() for drawn in display.displays_}
    assert scales == {(0, 15)}
    assert [ax.get_title("left") for ax in display.ax_] == [
        "naively GaussianNB\naccuracy 0.9111",
        f"sklearn GaussianNB\naccuracy {theirs.score(X, y):.4f}",
    ]
    assert [label.get_text() for label in display.ax_[0].get_yticklabels()] == list(ours.classes_)


def test_confusion_can_be_shares_of_each_true_class(two_models):
    ours, _, _, X, _, y = two_models
    display = ConfusionDisplay.from_estimator(ours, X, y, normalize=True)
    np.testing.assert_allclose(display.displays_[0].im_.get_array().sum(axis=1), 1.0)
    assert "Shares of each true class." in said(display)


def test_of_many_classes_those_with_the_most_mistakes_are_shown():
    truth = np.repeat(np.arange(40), 10)
    guess = truth.copy()
    guess[truth == 7], guess[truth == 30] = 12, 31
    display = ConfusionDisplay.from_predictions(truth, guess, max_classes=4)
    assert [t.get_text() for t in display.ax_[0].get_xticklabels()] == ["7", "12", "30", "31"]
    assert "The 4 of 40 classes with the most mistakes." in said(display)
    assert display.ax_[0].get_title("left") == "accuracy 0.9500"


def test_reliability_compares_confidence_and_accuracy_bin_by_bin():
    X, y = load_digits(return_X_y=True)
    model = GaussianNB().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y)
    top, right = model.predict_proba(X).max(axis=1), model.predict(X) == y
    at = np.minimum(np.ceil(top * 10 - 1e-12).astype(int) - 1, 9)
    bins = np.unique(at)
    expected = [[top[at == b].mean(), right[at == b].mean()] for b in bins]
    np.testing.assert_allclose(display.lines_[0].get_xydata(), expected)
    heights = [bar.get_height() for bar in display.bars_[0]]
    assert heights == np.bincount(at, minlength=10).tolist()
    assert "calibration error 0.1289" in said(display)


def test_reliability_needs_probabilities(petals):
    _, X, y = petals
    with pytest.raises(NaivelyError, match="LinearSVC has no predict_proba"):
        ReliabilityDisplay.from_estimator(LinearSVC().fit(X, y), X, y)


def test_displays_read_an_evaluation(iris):
    X, y = iris
    judged = evaluate(GaussianNB(), X, y, folds=5)
    confusion = ConfusionDisplay.from_evaluation(judged)
    np.testing.assert_array_equal(confusion.displays_[0].im_.get_array(), judged.confusion)
    reliability = ReliabilityDisplay.from_evaluation(judged, names=["ours"])
    assert [bar.get_height() for bar in reliability.bars_[0]] == judged.reliability.count.tolist()
    assert f"ours\ncalibration error {judged.calibration_error:.4f}" in said(reliability)


def test_displays_read_a_comparison(iris):
    X, y = iris
    result = compare(GaussianNB(), X, y, repeats=2)
    confusion = ConfusionDisplay.from_comparison(result)
    for drawn, judged in zip(confusion.displays_, result.evaluations, strict=True):
        np.testing.assert_array_equal(drawn.im_.get_array(), judged.confusion)
    reliability = ReliabilityDisplay.from_comparison(result)
    assert len(reliability.lines_) == len(reliability.bars_) == 2


def test_what_evaluate_and_compare_return_can_be_drawn(two_models):
    *_, X, _, y = two_models
    judged = evaluate(GaussianNB(), X, y, folds=5)
    assert judged.plot().figure_
    assert judged.to_frame()["value"][0] == judged.accuracy
    assert compare(GaussianNB(), X, y, repeats=1).plot().figure_
    assert compare(GaussianNB(), X, y, against=["dummy", "tree"], folds=3).plot().figure_
