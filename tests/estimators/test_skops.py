"""Models are pickled as plain dicts and arrays: skops need trust nothing but the estimators."""

import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import naively
from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError
from naively.families import Categorical, Gaussian, Histogram, StudentT

FRAME = pd.DataFrame(
    {
        "age": [25.0, 31.0, 47.0, 52.0, np.nan],
        "town": ["Ulm", "Ulm", "Bonn", None, "Köln"],
        "gone": [None] * 5,
    }
)
LABELS = ["no", "no", "yes", "yes", "no"]
FAMILIES = {"age": (StudentT(), Histogram(growth=3.0)), "town": Categorical(alpha=2.0)}

MODELS = {
    "gaussian": lambda: GaussianNB().fit(FRAME[["age"]], LABELS),
    "float32": lambda: GaussianNB().fit(np.float32([[1], [2], [3]]), np.int16([7, 7, 9])),
    "priors": lambda: GaussianNB(priors=[0.5, 0.5]).fit(FRAME[["age"]], LABELS),
    "calibrated": lambda: GaussianNB(calibration="weights").fit(FRAME[["age"]], LABELS),
    "naive": lambda: NaiveBayes().fit(FRAME, LABELS),
    "families": lambda: NaiveBayes(families=FAMILIES).fit(FRAME, LABELS),
    "decisions": lambda: NaiveBayes(costs=[[0, 1], [9, 0]], reject=(0.6, "?")).fit(FRAME, LABELS),
    "codes": lambda: CategoricalNB(min_categories=[4]).fit([[0], [1], [1]], [True, False, True]),
    "not fitted": NaiveBayes,
}


@pytest.fixture
def io():
    from skops import io  # which looks for estimators in all modules of scikit-learn

    return io


@pytest.fixture(params=MODELS.values(), ids=MODELS)
def model(request):
    return request.param()


def is_same(a, b):
    assert repr(a) == repr(b)
    if not hasattr(a, "summary_"):
        return not hasattr(b, "summary_")
    return a.summary_ == b.summary_ and a.class_count_.dtype == b.class_count_.dtype


def test_skops_need_trust_nothing_but_the_estimator(io, model):
    content = io.dumps(model)
    assert set(io.get_untrusted_types(data=content)) <= {*naively.TRUSTED_TYPES}
    assert is_same(model, io.loads(content, trusted=naively.TRUSTED_TYPES))


def test_a_pickle_is_the_same_model(model):
    assert is_same(model, pickle.loads(pickle.dumps(model)))


def test_a_family_of_ones_own_is_named_by_skops(io):
    @dataclass(frozen=True)
    class Own(Gaussian):
        pass

    Own.__module__, Own.__qualname__ = "theirs", "Own"
    model = NaiveBayes(families={"age": Own()}).fit(FRAME, LABELS)
    untrusted = set(io.get_untrusted_types(data=io.dumps(model)))
    assert untrusted - {*naively.TRUSTED_TYPES} == {"theirs.Own"}


def test_a_pickle_of_another_version_says_so():
    state = GaussianNB().fit([[0.0], [1.0]], ["a", "b"]).__getstate__()
    for other in ({"summary_": 1}, {"state_": ("summary", "dtype")}, {"state_": {"format": 99}}):
        with pytest.raises(NaivelyError, match=r"pickle of a GaussianNB .* naively\.load"):
            GaussianNB().__setstate__({**state, **other})
