"""A model that may reject rows, inside scikit-learn's ensembles, which number the classes."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from naively import GaussianNB, NaiveBayes, NaivelyError

X, SPECIES = load_iris(return_X_y=True)
Y = np.array(["setosa", "versicolor", "virginica"])[SPECIES]


def model(reject):
    return NaiveBayes(calibration=None, reject=reject)


BY_PROBABILITY = {
    "soft voting": lambda one: VotingClassifier([("a", one), ("b", GaussianNB())], voting="soft"),
    "stacking": lambda one: StackingClassifier([("a", one)], LogisticRegression(max_iter=1000)),
    "bagging": lambda one: BaggingClassifier(one, n_estimators=3, random_state=0),
    "one class against the rest": OneVsRestClassifier,
}

BY_ANSWER = {
    "hard voting": lambda one: VotingClassifier([("a", one), ("b", GaussianNB())]),
    "stacked answers": lambda one: StackingClassifier([("a", one)], stack_method="predict"),
    "one class against another": OneVsOneClassifier,
}


@pytest.mark.parametrize("ensemble", BY_PROBABILITY.values(), ids=BY_PROBABILITY)
def test_an_ensemble_that_asks_for_probabilities_does_not_mind_reject(ensemble):
    answers = ensemble(model((0.99, "unknown"))).fit(X, Y).predict(X)
    assert answers.tolist() == ensemble(model(None)).fit(X, Y).predict(X).tolist()


@pytest.mark.parametrize("ensemble", BY_ANSWER.values(), ids=BY_ANSWER)
def test_an_ensemble_that_numbers_the_answers_is_told_why_it_cannot(ensemble):
    with pytest.raises(NaivelyError, match=r"got 'unknown' beside 0\. .*voting='soft'"):
        ensemble(model((0.99, "unknown"))).fit(X, Y).predict(X)


def test_the_last_model_of_a_pipeline_rejects():
    pipeline = make_pipeline(StandardScaler(), model((0.99, "unknown"))).fit(X, Y)
    assert set(pipeline.predict(X)) == {*Y, "unknown"}


@pytest.mark.parametrize("labels", [SPECIES, SPECIES == 1, SPECIES.astype(float)])
def test_a_text_for_numbers_is_an_error_of_the_answer(labels):
    fitted = model((0.9, "unknown")).fit(X, labels)
    assert np.isfinite(fitted.predict_proba(X)).all()
    with pytest.raises(NaivelyError, match="must be a number, as the classes are; got 'unknown'"):
        fitted.predict(X)
    with pytest.raises(NaivelyError, match="must be a number, as the classes are; got 'unknown'"):
        fitted.predict_one(X[0])


@pytest.mark.parametrize("label", [-1, 99, np.int8(-1), 1.5])
def test_an_ensemble_that_asks_for_probabilities_does_not_mind_numbers(label):
    for ensemble in BY_PROBABILITY.values():
        answers = ensemble(model((0.99, label))).fit(X, SPECIES).predict(X)
        assert answers.tolist() == ensemble(model(None)).fit(X, SPECIES).predict(X).tolist()


@pytest.mark.parametrize("label", [None, b"x", (1, 2), 1j, np.datetime64("2026-01-01")], ids=str)
def test_a_label_that_is_neither_text_nor_a_number_is_an_error(label):
    with pytest.raises(NaivelyError, match="label of reject must be of the classes' type; got "):
        model((0.9, label)).fit(X, SPECIES)


def test_a_label_that_would_round_the_classes_is_an_error():
    far = np.array([2**53, 2**53 + 1, 2**53 + 2])[SPECIES]
    assert set(model((0.99, -1)).fit(X, far).predict(X).tolist()) == {-1, *far.tolist()}
    for classes, label in ((far, 0.5), (far.astype(np.uint64), -1)):
        with pytest.raises(NaivelyError, match="label of reject must be an integer beside"):
            model((0.99, label)).fit(X, classes).predict(X)
