"""What the command line fits and loads without scikit-learn is what the estimators do."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import _param_validation as theirs

import naively
from naively.estimators.loading import ESTIMATORS, classifier, load_classifier
from naively.estimators.parameters import Interval, OneOf, check

PLAIN = ["GaussianNB", "NaiveBayes"]
X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_has_its_classifier(name):
    assert issubclass(ESTIMATORS[name], classifier(name))
    assert classifier(name).public_name == name


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_are_those_that_scikit_learn_finds(name):
    estimator = ESTIMATORS[name]()
    assert [*estimator.get_params()] == estimator._get_param_names()
    assert clone(estimator).get_params() == estimator.get_params()
    assert {*estimator._constraints} == {*estimator.get_params()}


@pytest.mark.parametrize("name", PLAIN)
def test_a_classifier_and_its_estimator_write_the_same_file(name, tmp_path):
    summary = ESTIMATORS[name]().fit(X, Y).summary_
    ESTIMATORS[name].from_summary(summary).save(tmp_path / "estimator")
    classifier(name).from_summary(summary).save(tmp_path / "classifier")
    assert (tmp_path / "estimator").read_bytes() == (tmp_path / "classifier").read_bytes()


@pytest.mark.parametrize("name", PLAIN)
def test_a_classifier_predicts_the_same_bits(name, tmp_path):
    estimator = ESTIMATORS[name](priors=[0.3, 0.7]).fit(X, Y)
    estimator.save(tmp_path / "model")
    loaded = load_classifier(tmp_path / "model")
    assert type(loaded) is classifier(name)
    assert (loaded.predict_proba(X) == estimator.predict_proba(X)).all()
    assert naively.load(tmp_path / "model").get_params() == loaded.get_params()


@pytest.mark.parametrize("name", PLAIN)
def test_an_estimator_adds_no_parameter_of_its_own(name):
    assert inspect.signature(ESTIMATORS[name]) == inspect.signature(classifier(name))


CONSTRAINTS = {
    "a share": (Interval(theirs.Real, 0, 1), theirs.Interval(theirs.Real, 0, 1, closed="both")),
    "a size": (Interval(theirs.Real, 0), theirs.Interval(theirs.Real, 0, None, closed="left")),
    "a count": (
        Interval(theirs.Integral, 1),
        theirs.Interval(theirs.Integral, 1, None, closed="left"),
    ),
    "below zero": (
        Interval(theirs.Integral, high=-1),
        theirs.Interval(theirs.Integral, None, -1, closed="right"),
    ),
    "a word": (OneOf(["balanced"]), theirs.StrOptions({"balanced"})),
    "an array": ("array-like", "array-like"),
    "a dict": (dict, dict),
    "nothing": (None, None),
}
VALUES = [-2, -1, 0, 1, 2, 0.5, 1.0, 1e300, 10**400, True, np.bool_(True), np.int64(3), None]
VALUES += [np.float32(0.25), np.nan, np.inf, -np.inf, "balanced", "other", b"balanced", {}, ()]
VALUES += [[1.0], np.zeros(2), np.float64(2), {"a": 1}, object(), np.array(1.0), 1j]


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_constraints_allow_and_say_what_scikit_learn_does(kind):
    ours, reference = CONSTRAINTS[kind]
    for value in VALUES:
        raised = []
        for judge in (
            lambda value=value: check("GaussianNB", {"p": [ours]}, [value]),
            lambda value=value: theirs.validate_parameter_constraints(
                {"p": [reference]}, {"p": value}, "GaussianNB"
            ),
        ):
            try:
                judge()
                raised.append(None)
            except theirs.InvalidParameterError as error:
                raised.append(str(error))
        assert raised[0] == raised[1], value


def test_several_constraints_are_listed_as_scikit_learn_lists_them():
    with pytest.raises(theirs.InvalidParameterError) as ours:
        check("GaussianNB", {"p": [OneOf(["b", "a"]), bool, np.bool_, None]}, [3])
    assert str(ours.value) == (
        "The 'p' parameter of GaussianNB must be a str among {'a', 'b'}, an instance of 'bool', "
        "an instance of 'numpy.bool' or None. Got 3 instead."
    )
