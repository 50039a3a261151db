"""The best threshold is the best of all, by loops over every candidate."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import confusion_matrix, f1_score, precision_score, recall_score

from naively import GaussianNB, NaivelyError, evaluate

TWO = evaluate(GaussianNB(), *(part[::3] for part in load_breast_cancer(return_X_y=True)), folds=5)
THREE = evaluate(GaussianNB(var_smoothing=0.01), *load_wine(return_X_y=True), folds=5)
COSTS = [[0.0, 3.0], [1.0, -0.5]]


def candidates(result, label):
    """Yield each threshold and the answers that it gives."""
    p = result.probabilities[:, result.classes.tolist().index(label)]
    for threshold in [np.inf, *np.unique(p)]:
        yield threshold, p >= threshold


@pytest.fixture(params=[(TWO, 1), (TWO, 0), (THREE, 1)], ids=["second", "first", "one of three"])
def case(request):
    result, label = request.param
    return result, label, result.truth == label


def test_the_largest_f1(case):
    result, label, truth = case
    found = result.thresholds("f1", pos_label=label).best
    best = max(f1_score(truth, given, zero_division=0) for _, given in candidates(result, label))
    assert found.f1 == pytest.approx(best, abs=1e-12)
    given = result.probabilities[:, label] >= found.threshold
    assert found.precision == pytest.approx(precision_score(truth, given))
    assert found.recall == pytest.approx(recall_score(truth, given))
    assert found.answered == pytest.approx(given.mean())


def test_the_least_cost(case):
    result, label, truth = case
    found = result.thresholds("cost", costs=COSTS, pos_label=label).best

    def cost(given):
        return np.sum(confusion_matrix(truth, given, labels=[False, True]) * COSTS) / truth.size

    assert found.cost == pytest.approx(
        min(cost(given) for _, given in candidates(result, label)), abs=1e-12
    )
    assert found.cost == pytest.approx(cost(result.probabilities[:, label] >= found.threshold))


@pytest.mark.parametrize(("by", "other"), [("precision", "recall"), ("recall", "precision")])
def test_a_wanted_precision_or_recall(case, by, other):
    result, label, truth = case
    score = {"precision": precision_score, "recall": recall_score}
    found = result.thresholds(by, at_least=0.95, pos_label=label).best
    assert getattr(found, by) >= 0.95
    best = max(
        score[other](truth, given, zero_division=0)
        for _, given in candidates(result, label)
        if score[by](truth, given, zero_division=0) >= 0.95
    )
    assert getattr(found, other) == pytest.approx(best, abs=1e-12)


def test_expensive_alarms_are_never_given():
    assert TWO.thresholds("cost", costs=[[0, 1e6], [1, 1e3]]).best.threshold == np.inf


def test_equal_thresholds_go_to_the_highest():
    result = evaluate(GaussianNB(), [[0.0], [0.1], [9.0], [9.1]], ["a", "a", "b", "b"])
    found = result.thresholds("f1").best
    assert found.f1 == 1
    assert found.threshold == result.probabilities[2:, 1].min()


def test_all_candidates_are_a_table():
    found = TWO.thresholds("f1", costs=COSTS)
    frame = found.to_frame()
    assert len(frame) == np.unique(TWO.probabilities[:, 1]).size + 1
    assert frame["f1"].max() == found.best.f1
    assert "thresholds of class 1 by f1" in str(found)
    assert "cost" in str(found)
    assert "best" in found._repr_html_()
    assert found.to_dict()["threshold"] == found.best.threshold


@pytest.mark.parametrize(
    ("result", "how", "message"),
    [
        (THREE, {}, r"one of the classes \(0, 1, 2\); got none"),
        (THREE, {"pos_label": 7}, "got 7"),
        (TWO, {"by": "accuracy"}, "chosen by one of 'f1', 'cost', 'precision', 'recall'"),
        (TWO, {"by": "precision"}, "at_least goes with"),
        (TWO, {"by": "f1", "at_least": 0.5}, "at_least goes with"),
        (TWO, {"by": "recall", "at_least": 90}, "between 0 and 1; got 90"),
        (TWO, {"by": "cost"}, "needs costs"),
        (TWO, {"by": "recall", "at_least": "90 %"}, "between 0 and 1; got '90 %'"),
        (TWO, {"by": "cost", "costs": [1, 2]}, r"got \[1, 2\]"),
        (TWO, {"by": "cost", "costs": [[0, 1], [2]]}, "costs must be finite numbers"),
        (TWO, {"by": "cost", "costs": [[0, "a"], [2, 0]]}, "costs must be finite numbers"),
        (TWO, {"by": "cost", "costs": [[0, 1e308], [2, 0]]}, "costs must be finite numbers"),
    ],
)
def test_bad_input_is_an_error_that_says_what_to_do(result, how, message):
    with pytest.raises(NaivelyError, match=message):
        result.thresholds(**how)


def test_a_precision_out_of_reach_is_an_error_that_names_the_highest():
    model = GaussianNB().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    judged = evaluate(model, [[5.0], [4.0], [0.0], [1.0]], ["a", "b", "a", "b"])
    with pytest.raises(NaivelyError, match=r"the highest is 0\.66"):
        judged.thresholds("precision", at_least=0.9)


def test_thresholds_need_probabilities_and_both_sides():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(NaivelyError, match="need probabilities"):
        evaluate(RidgeClassifier(), X, y, folds=3).thresholds()
    one = evaluate(GaussianNB().fit(X, y), X[y == 1], y[y == 1])
    with pytest.raises(NaivelyError, match="need rows of the class and of others"):
        one.thresholds()
