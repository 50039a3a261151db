"""river's own checks of estimators, and its evaluations, with classifiers of naively."""

import copy

import pytest
from river import compose, evaluate, feature_extraction, metrics, naive_bayes, preprocessing
from river.checks import yield_checks
from river.datasets import Phishing

from naively import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from naively.river import RiverClassifier

MODELS = {
    "gaussian": GaussianNB(),
    "gaussian, window": GaussianNB(window=20),
    "bernoulli": BernoulliNB(),
    "plain naive bayes": NaiveBayes(calibration=None, families={}),
}


def checks(name, model):
    """Return river's checks, with all of its tables for one model, and else with the last one."""
    every = list(yield_checks(RiverClassifier(model)))
    return every if name == "gaussian" else {check.__name__: check for check in every}.values()


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(model, check, id=f"{name}: {check.__name__}")
        for name, model in MODELS.items()
        for check in checks(name, model)
    ],
)
def test_rivers_own_checks_pass(model, check):
    check(RiverClassifier(copy.deepcopy(model)))


def test_the_order_of_features_does_not_matter_to_the_default_model():
    every = yield_checks(RiverClassifier(NaiveBayes()))
    check = next(c for c in every if c.__name__ == "check_shuffle_features_no_impact")
    check(RiverClassifier(NaiveBayes()))


def test_progressive_validation_judges_as_well_as_rivers_own_model():
    ours, its = (
        evaluate.progressive_val_score(Phishing().take(500), model, metrics.Accuracy()).get()
        for model in (
            preprocessing.StandardScaler() | RiverClassifier(GaussianNB(var_smoothing=1e-2)),
            preprocessing.StandardScaler() | naive_bayes.GaussianNB(),
        )
    )
    assert ours > its - 0.05


@pytest.mark.parametrize("model", [MultinomialNB(), ComplementNB()])
def test_bags_of_words_come_through_a_pipeline(model):
    pipeline = compose.Pipeline(
        feature_extraction.BagOfWords(lowercase=True), RiverClassifier(model)
    )
    for text, label in (("cheap pills", "spam"), ("see you today", "ham"), ("pills", "spam")):
        pipeline.learn_one(text, label)
    assert pipeline.predict_one("cheap cheap") == "spam"
    assert pipeline.predict_one("today") == "ham"
    assert set(pipeline.predict_proba_one("unknown")) == {"ham", "spam"}


def test_nothing_is_predicted_before_anything_was_learned():
    model = RiverClassifier(GaussianNB())
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, "x")
    assert model.clone().predict_proba_one({"a": 1.0}) == {}
