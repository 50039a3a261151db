"""ROC, precision-recall and gain: scikit-learn's points and areas, drawn for classes or models."""

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import RidgeClassifier

from naively import GaussianNB, NaiveBayes, NaivelyError, compare, evaluate
from naively.plots import (
    GainDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
)
from tests.figures import plt

X, Y = load_breast_cancer(return_X_y=True)
X = X[:, :4]
TWO = evaluate(GaussianNB(), X, Y, folds=5)
THREE = evaluate(GaussianNB(), *load_wine(return_X_y=True), folds=5)
KINDS = [RocCurveDisplay, PrecisionRecallDisplay, GainDisplay]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


def said(display):
    """Return the texts of the legend."""
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_roc_curve_is_scikit_learns():
    (curve,) = RocCurveDisplay.from_evaluation(TWO).curves
    x, y, _ = sk.roc_curve(Y, TWO.probabilities[:, 1], drop_intermediate=False)
    np.testing.assert_allclose(curve.x, x, atol=1e-12)
    np.testing.assert_allclose(curve.y, y, atol=1e-12)
    assert curve.area == pytest.approx(sk.roc_auc_score(Y, TWO.probabilities[:, 1]), abs=1e-12)


def test_precision_and_recall_are_scikit_learns():
    (curve,) = PrecisionRecallDisplay.from_evaluation(TWO).curves
    precision, recall, _ = sk.precision_recall_curve(Y, TWO.probabilities[:, 1])
    np.testing.assert_allclose(curve.x[1:], recall[-2::-1], atol=1e-12)
    np.testing.assert_allclose(curve.y[1:], precision[-2::-1], atol=1e-12)
    assert curve.area == pytest.approx(sk.average_precision_score(Y, TWO.probabilities[:, 1]))


def test_the_gain_is_the_share_found_among_the_first_rows():
    (curve,) = GainDisplay.from_evaluation(TWO).curves
    first = np.argsort(-TWO.probabilities[:, 1], kind="stable")
    for n in (57, 200, 450):
        ties = np.isclose(
            TWO.probabilities[first[n - 1], 1], TWO.probabilities[first[n], 1], atol=0
        )
        if not ties:
            found = Y[first[:n]].sum() / Y.sum()
            assert np.interp(n / Y.size, curve.x, curve.y) == pytest.approx(found)
    assert curve.area == pytest.approx(np.interp(0.1, curve.x, curve.y) * 10)


def test_every_class_of_many_has_a_curve(kind):
    display = kind.from_evaluation(THREE)
    assert [curve.name for curve in display.curves] == ["0", "1", "2"]
    assert len(display.lines_) == 3
    assert said(display)[0].startswith("0\n")


def test_one_class_is_chosen(kind):
    display = kind.from_evaluation(THREE, pos_label=2)
    assert len(display.curves) == 1
    assert display.share == pytest.approx(48 / 178)
    assert "class 2" in display.notes


def test_many_classes_are_cut_to_the_largest(kind):
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(15), rng.integers(12, size=300)])
    p = rng.dirichlet(np.ones(15), size=315)
    display = kind.from_predictions(y, p, classes=np.arange(15))
    assert [curve.name for curve in display.curves] == [
        str(k) for k in np.sort(np.argsort(-np.bincount(y), kind="stable")[:10])
    ]
    assert "10 of 15 classes, those with most rows" in display.notes


def test_models_are_drawn_together(kind):
    models = GaussianNB().fit(X, Y), NaiveBayes(calibration=None).fit(X, Y)
    display = kind.from_estimator(models[0], X, Y, other=models[1])
    assert [curve.name for curve in display.curves] == ["GaussianNB", "NaiveBayes"]
    again = kind.from_predictions(
        Y, models[0].predict_proba(X), classes=[0, 1], other=models[1].predict_proba(X)
    )
    np.testing.assert_array_equal(again.curves[1].y, display.curves[1].y)
    both = kind.from_comparison(compare(GaussianNB(), X, Y, repeats=1))
    assert [curve.name for curve in both.curves] == ["naively GaussianNB", "sklearn GaussianNB"]


def test_any_number_of_models_are_drawn_together(kind):
    three = compare(GaussianNB(), X, Y, against=["dummy", "tree"], folds=2)
    for drawn in (kind.from_comparison(three), ReliabilityDisplay.from_comparison(three)):
        assert len(drawn.lines_) == 3


def test_a_display_is_drawn_where_it_is_told(kind):
    _, ax = plt.subplots()
    display = kind.from_evaluation(TWO, ax=ax)
    assert display.ax_ is ax
    assert display.plot().ax_ is not ax


def test_a_class_without_rows_has_no_curve(kind):
    rows = THREE.truth != 2
    display = kind.from_predictions(
        THREE.truth[rows], THREE.probabilities[rows], classes=THREE.classes
    )
    assert [curve.name for curve in display.curves] == ["0", "1"]


def test_bad_input_is_an_error(kind):
    with pytest.raises(NaivelyError, match="needs probabilities; RidgeClassifier"):
        kind.from_estimator(RidgeClassifier().fit(X, Y), X, Y)
    with pytest.raises(NaivelyError, match="needs probabilities, and there are none"):
        kind.from_evaluation(evaluate(RidgeClassifier(), X, Y, folds=2))
    with pytest.raises(NaivelyError, match=r"one of the classes \(0, 1, 2\); got none"):
        kind.from_evaluation(THREE, THREE)
    with pytest.raises(NaivelyError, match="rows of the class and of others"):
        kind.from_predictions([1, 1], [[0.5, 0.5], [0.2, 0.8]], classes=[0, 1])
    with pytest.raises(NaivelyError, match="one column of probabilities per class"):
        kind.from_predictions([0, 1], [[0.5], [0.2]], classes=[0, 1])
    with pytest.raises(NaivelyError, match="labels must be classes of the model"):
        kind.from_predictions([0, 7], [[0.5, 0.5], [0.2, 0.8]], classes=[0, 1])
    with pytest.raises(ValueError, match="not fitted yet"):
        kind.from_estimator(GaussianNB(), X, Y)
