"""scikit-learn's contract: its checks of estimators, and its own tests with ours in the place of
its GaussianNB."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from naively import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
)
from tests.packages import installed

ESTIMATORS = [
    GaussianNB(),
    GaussianNB(variance="shared"),
    GaussianNB(smoothing="column", open_classes=True),
    GaussianNB(n_jobs=2),
    GaussianNB(calibration="weights"),
    CategoricalNB(),
    MultinomialNB(),
    ComplementNB(),
    ComplementNB(norm=True),
    BernoulliNB(),
    NaiveBayes(),
    NaiveBayes(calibration=None),
]

# The settings under which scikit-learn runs all of its own tests.
STRICT = {"SCIPY_ARRAY_API": "1", "SKLEARN_RUN_FLOAT32_TESTS": "1"}

# Where torch is installed, one of them asks that the parameters are tensors. Ours are arrays of
# NumPy's, wherever the rows are: `docs/differences.md` says so, and a test below holds it.
SWAPPED = """
import sys, pytest, sklearn.naive_bayes, naively
names = ("GaussianNB", "CategoricalNB", "MultinomialNB", "ComplementNB", "BernoulliNB")
for name in names:
    setattr(sklearn.naive_bayes, name, getattr(naively, name))
import sklearn.tests.test_naive_bayes as module
assert all(getattr(module, name) is getattr(naively, name) for name in names)
plain = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "-rs"]
sys.exit(pytest.main([*plain, "-k", "not array_api_compliance", module.__file__]))
"""


def expected_to_fail(estimator):
    failing = {}
    if isinstance(estimator, NaiveBayes):
        reason = "columns are found by name: in any order, and more of them than are needed"
        failing["check_dataframe_column_names_consistency"] = reason
    if get_tags(estimator).input_tags.positive_only:
        reason = "the check draws negative cells, whatever the tags say"
        failing["check_class_weight_classifiers"] = reason
    return failing


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)
def test_estimators_pass_every_check_of_scikit_learn(estimator, check):
    check(estimator)


def test_scikit_learns_own_tests_pass_with_our_estimator_in_its_place():
    run = subprocess.run(
        [sys.executable, "-c", SWAPPED],
        env={**os.environ, **STRICT},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert " passed" in run.stdout


def test_parameters_learned_from_tensors_are_arrays():
    torch = installed("torch", "gpu")
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(torch.tensor(X), torch.tensor(y))
    expected = GaussianNB().fit(X, y)
    assert model.theta_.tolist() == expected.theta_.tolist()
    assert isinstance(model.theta_, np.ndarray)
    assert model.predict(torch.tensor(X)).tolist() == expected.predict(X).tolist()


def test_cross_validation_pipelines_and_searches_take_it():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), GaussianNB()),
        {"gaussiannb__var_smoothing": [1e-9, 1e-2], "gaussiannb__variance": ["class", "shared"]},
    )
    assert search.fit(X, y).best_score_ > 0.9
    assert cross_val_score(GaussianNB(), X, y).mean() > 0.9


def test_sample_weights_are_routed():
    X, y = load_iris(return_X_y=True)
    weight = (y != 2).astype(float)
    with config_context(enable_metadata_routing=True):
        request = GaussianNB().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(request).fit(X, y, sample_weight=weight)
    assert pipeline[-1].classes_.tolist() == [0, 1]


def test_it_shows_itself_in_a_notebook():
    assert "GaussianNB" in GaussianNB(ddof=1)._repr_html_()


@pytest.mark.parametrize("name", ["fit", "partial_fit", "predict", "predict_proba", "score"])
def test_every_method_of_scikit_learns_estimator_is_there(name):
    assert callable(getattr(GaussianNB, name))
