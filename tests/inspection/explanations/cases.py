"""Models of every estimator, with rows to explain."""

from functools import cache

import numpy as np
import pandas as pd
import scipy.sparse

from naively.estimators.loading import ESTIMATORS
from tests import family_tables

N = 400
WORDS = np.array(
    ["free", "money", "now", "hello", "dear", "friend", "lunch", "offer", "win", "prize"]
)


def numbers():
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=N)
    X = rng.normal(size=(N, 5)) + y[:, None] * np.array([1.0, 0.5, 0.0, -1.0, 0.2])
    X[:, 4] *= np.exp(0.3 * y)
    return X, np.array(["a", "b", "c"])[y]


def counts():
    rng = np.random.default_rng(6)
    y = rng.integers(2, size=N)
    X = rng.poisson(1 + y[:, None] * np.array([1, 0, 2, 0.5, 0, 0.2]), size=(N, 6))
    return X.astype(float), y


def mixed(texts=False):
    rng = np.random.default_rng(7)
    y = rng.integers(2, size=N)
    frame = pd.DataFrame({"age": rng.normal(40 + 8 * y, 10), "income": rng.lognormal(3 + y, 0.6)})
    frame["town"] = np.array(["Ulm", "Bonn", "Kiel"])[(rng.random(N) * (1.2 + y)).astype(int)]
    frame["owner"] = rng.random(N) < 0.3 + 0.4 * y
    frame["clock"] = np.where(frame["age"] * frame["income"] > 1400, "am", "pm")
    if texts:
        at = rng.integers(5, size=(N, 8)) + np.where(rng.random((N, 8)) < 0.7, 5 * y[:, None], 0)
        frame["note"] = [" ".join(WORDS[row]) for row in at]
    frame.loc[::17, "age"] = np.nan
    frame.loc[::23, "town"] = None
    return frame, np.array(["no", "yes"])[y]


def crossed():
    """Pairs of columns of both kinds, of which neither tells anything alone."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(1500, 2)), columns=["u", "v"])
    for name in ("left", "right"):
        frame[name] = np.array(["x", "y"])[rng.integers(2, size=1500)]
    signs = (frame["u"] > 0) ^ (frame["v"] > 0), frame["left"] == frame["right"]
    one = rng.random(1500) < 0.5
    y = np.where(one, *signs) ^ (rng.random(1500) < 0.05)
    return frame, np.where((frame["u"] > 0) ^ (frame["left"] == "x"), y, ~y)


def fitted(name, data, **options):
    X, y = data
    return ESTIMATORS[name](**options).fit(X, y), X


TEXT = {"families": {"note": "text"}}

CASES = {
    "GaussianNB": lambda: fitted("GaussianNB", numbers()),
    "GaussianNB of weights": lambda: fitted("GaussianNB", numbers(), calibration="weights"),
    "GaussianNB of temperature": lambda: fitted("GaussianNB", numbers(), calibration="temperature"),
    "GaussianNB of one variance": lambda: fitted("GaussianNB", numbers(), variance="shared"),
    "CategoricalNB": lambda: fitted("CategoricalNB", counts()),
    "MultinomialNB": lambda: fitted("MultinomialNB", counts()),
    "MultinomialNB of temperature": lambda: fitted(
        "MultinomialNB", counts(), calibration="temperature"
    ),
    "ComplementNB": lambda: fitted("ComplementNB", counts()),
    "BernoulliNB": lambda: fitted("BernoulliNB", counts(), binarize=1.0),
    "NaiveBayes of numbers": lambda: fitted("NaiveBayes", numbers()),
    "NaiveBayes of any columns": lambda: fitted("NaiveBayes", mixed()),
    "NaiveBayes of pairs": lambda: fitted("NaiveBayes", crossed()),
    "NaiveBayes without interactions": lambda: fitted("NaiveBayes", mixed(), interactions=None),
    "NaiveBayes without calibration": lambda: fitted("NaiveBayes", mixed(), calibration=None),
    "NaiveBayes of text": lambda: fitted("NaiveBayes", mixed(texts=True), **TEXT),
    "NaiveBayes of text, uncalibrated": lambda: fitted(
        "NaiveBayes", mixed(texts=True), calibration=None, **TEXT
    ),
    "NaiveBayes of counts": lambda: fitted(
        "NaiveBayes", counts(), families=dict.fromkeys(range(6), "poisson"), calibration=None
    ),
    "NaiveBayes of every family": lambda: (family_tables.model_of(), family_tables.FRAME),
    "NaiveBayes that may refuse": lambda: fitted("NaiveBayes", mixed(), reject=(0.99, "?")),
}
SPARSE = [
    "MultinomialNB",
    "ComplementNB",
    "BernoulliNB",
    "NaiveBayes of numbers",
    "NaiveBayes of counts",
    "GaussianNB",
]


@cache
def case_of(name):
    """Return a fitted model and its rows, which no test may change."""
    return CASES[name]()


def sparse(X):
    return scipy.sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
