"""A window: the model of its rows, whatever estimator learns them, and whatever came before."""

import pickle

import numpy as np
import pandas as pd
import pytest

from naively import CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from naively.estimators.loading import ESTIMATORS
from tests.estimators.test_streams import assert_close

RNG = np.random.default_rng(5)
WINDOW = 12


def numbers(n):
    X = pd.DataFrame(RNG.normal(size=(n, 3)), columns=["a", "b", "c"])
    return X.mask(RNG.random(X.shape) < 0.1)


def codes(n):
    return pd.DataFrame(RNG.integers(0, 4, (n, 3)), columns=["a", "b", "c"])


def mixed(n):
    return pd.DataFrame({"a": RNG.normal(size=n), "town": RNG.choice(["Ulm", "Bonn"], n)})


TABLES = {"GaussianNB": numbers, "NaiveBayes": mixed}
PARAMS = {
    "default": {},
    "equal priors": {"fit_prior": False},
    "balanced": {"class_weight": "balanced"},
    "calibrated": {"calibration": "temperature"},
    "not calibrated": {"calibration": None},
    "shared variance": {"variance": "shared"},
    "norm": {"norm": True},
    "no smoothing": {"alpha": 0.0},
}
MODELS = {
    f"{name}, {how}": (kind, TABLES.get(name, codes), params)
    for name, kind in ESTIMATORS.items()
    for how, params in PARAMS.items()
    if set(params) <= set(kind().get_params())
}


def some_rows(table, params, n=40):
    """Rows and labels: the class "rare" is that of some early rows, and leaves the window.

    Not where every class has weights of its own, which are centred over all classes.
    """
    X, y = table(n), RNG.choice(["no", "yes"], n).astype(object)
    if table is not mixed or "calibration" in params:
        y[[2, 5, 9]] = "rare"
    return X, y, X.astype(object).where(X.notna(), None).to_dict("records")


def assert_is_model_of(model, X, y, asked):
    """A model is that of the last rows: classes that have left the window have no probability."""
    oracle = type(model)(**model.get_params() | {"window": None}).fit(X, y)
    found = dict(zip(model.classes_, model.predict_proba_one(asked), strict=True))
    batch = dict(zip(model.classes_, model.predict_proba(X[:1])[0], strict=True))
    expected = dict(zip(oracle.classes_, oracle.predict_proba_one(asked), strict=True))
    of_first = dict(zip(oracle.classes_, oracle.predict_proba(X[:1])[0], strict=True))
    searched = model.get_params().get("calibration") is not None
    near = {"abs": 1e-5 if searched else 1e-9}  # a search ends when little is left to gain
    for label in model.classes_:
        assert found[label] == pytest.approx(expected.get(label, 0.0), **near), label
        assert batch[label] == pytest.approx(of_first.get(label, 0.0), **near), label
    assert model.predict_one(asked) in oracle.classes_
    at = [model.classes_.tolist().index(label) for label in oracle.classes_]
    assert_close(model.summary_.with_classes(at), oracle.summary_, 1e-10)


@pytest.mark.parametrize(("kind", "table", "params"), MODELS.values(), ids=MODELS)
def test_a_window_is_the_fit_of_its_rows_for_every_estimator(kind, table, params):
    X, y, rows = some_rows(table, params)
    model = kind(window=WINDOW, **params)
    for i, (row, label) in enumerate(zip(rows, y, strict=True)):
        model.learn_one(row, label)
        if i in (14, 22, 39):
            last = slice(i + 1 - WINDOW, i + 1)
            assert_is_model_of(model, X[last], y[last].astype(str), rows[0])


@pytest.mark.parametrize(("kind", "table", "params"), MODELS.values(), ids=MODELS)
def test_a_window_that_shrinks_holds_its_last_rows_at_once(kind, table, params):
    X, y, rows = some_rows(table, params)
    model = kind(window=30, **params)
    for row, label in zip(rows, y, strict=True):
        model.learn_one(row, label)
    model.set_params(window=WINDOW)
    assert_is_model_of(model, X[-WINDOW:], y[-WINDOW:].astype(str), rows[0])
    model = pickle.loads(pickle.dumps(model))
    model.learn_one(rows[0], y[0])
    last = [*range(len(X) - WINDOW + 1, len(X)), 0]
    assert_is_model_of(model, X.iloc[last], y[last].astype(str), rows[1])


KINDS = {
    "kernel": lambda **params: GaussianNB(**params),
    "buffer": lambda **params: GaussianNB(variance="shared", **params),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_window_that_grows_forgets_nothing_more(make):
    model = make(window=3)
    for x in range(5):
        model.learn_one([float(x)], "a")
    model.set_params(window=5)
    assert model.class_count_.tolist() == [3]
    for x in range(5, 8):
        model.learn_one([float(x)], "a")
    assert model.class_count_.tolist() == [5]
    assert model.theta_.tolist() == [[5.0]]


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_without_a_window_the_rows_of_the_last_one_stay(make):
    model = make(window=2)
    for x in (1.0, 2.0, 3.0):
        model.learn_one([x], "a")
    model.set_params(window=None).learn_one([4.0], "a").forget_one([2.0], "a")
    assert model.theta_.tolist() == [[3.5]]
    model.set_params(window=1).learn_one([5.0], "a").learn_one([6.0], "a")
    assert model.class_count_.tolist() == [3]  # 3 and 4 were learned without a window
    assert model.theta_[0, 0] == pytest.approx(13 / 3)


@pytest.mark.parametrize("window", [0, -1, 1.5, True, "3", 2**70, float("nan")])
@pytest.mark.parametrize("kind", ESTIMATORS.values())
def test_a_window_must_be_a_whole_number_of_rows(kind, window):
    model = kind(window=window)
    with pytest.raises(ValueError, match="The 'window' parameter of"):
        model.learn_one({"a": 1}, "x")
    model.set_params(window=np.int64(1)).learn_one({"a": 1}, "x").learn_one({"a": 2}, "x")
    assert model.class_count_.tolist() == [1]
    with pytest.raises(ValueError, match="The 'window' parameter of"):
        model.set_params(window=window)


EQUAL = {
    "multinomial": MultinomialNB(fit_prior=False),
    "complement": ComplementNB(),
    "categorical": CategoricalNB(fit_prior=False),
}


@pytest.mark.parametrize("model", EQUAL.values(), ids=EQUAL)
@pytest.mark.parametrize("how", ["forget_one", "forget", "decay", "declared"])
def test_a_class_without_rows_has_no_probability_though_all_are_equally_probable(model, how):
    model = type(model)(**model.get_params() | {"decay": 0.0 if how == "decay" else 1.0})
    if how == "declared":
        model.partial_fit([[1, 2]], ["here"], classes=["gone", "here"])
    else:
        model.learn_one([2, 1], "gone").learn_one([1, 2], "here")
    if how == "forget_one":
        model.forget_one([2, 1], "gone")
    elif how == "forget":
        model.forget([[2, 1]], ["gone"])
    assert model.classes_.tolist() == ["gone", "here"]
    for _ in range(2):
        assert model.predict_proba_one([2, 1]).tolist() == [0.0, 1.0]
        assert model.predict_proba([[2, 1]]).tolist() == [[0.0, 1.0]]
        model.learn_one([1, 2], "here")
