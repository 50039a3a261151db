"""What means nothing changes nothing: order of columns and rows, units, labels, last bits."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from naively import NaiveBayes
from naively.estimators.loading import ESTIMATORS

RNG = np.random.default_rng(5)
TOWNS = np.array(["Ulm", "Bonn", "Kiel"])
WORDS = np.array(["good", "bad", "fine", "red", "blue", "green"])


def _of_scikit_learn(load):
    frame, y = load(as_frame=True, return_X_y=True)
    return frame, np.array([f"class {k}" for k in y])


def _mixed(n=240):
    """Return numbers, categories, booleans, text and dates, with missing cells."""
    k = RNG.integers(3, size=n)
    frame = pd.DataFrame(
        {
            "size": RNG.normal(k, 1.0, n),
            "time": RNG.exponential(1.0 + k, n).round(1),
            "town": np.where(RNG.random(n) < 0.4, RNG.choice(TOWNS, n), TOWNS[k]),
            "smokes": RNG.random(n) < 0.3 + 0.2 * k,
            "note": [" ".join(RNG.choice(WORDS[j : j + 4], 5)) for j in k],
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(9000, size=n), "h"),
        }
    )
    frame.loc[::11, ["size", "town"]] = [np.nan, None]
    frame.loc[::13, "when"] = pd.NaT
    return frame, TOWNS[k]


def _crossed(n=1200, d=14):
    """Return columns of which pairs tell the class, more pairs than all rows judge."""
    X = RNG.normal(size=(n, d)).round(2)
    noise = 0.5 * RNG.normal(size=n)
    y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] * X[:, 3] + noise > 0) + (X[:, 4] > 1)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]), TOWNS[y.astype(int)]


def _counts(n=150, d=8, most=9):
    k = RNG.integers(3, size=n)
    rates = RNG.uniform(0.2, 0.5 * most, (3, d))
    X = np.minimum(RNG.poisson(rates[k]), most)
    return pd.DataFrame(X, columns=[f"word {j}" for j in range(d)]), TOWNS[k]


NUMBERS = {
    "iris": _of_scikit_learn(load_iris),
    "wine": _of_scikit_learn(load_wine),
    "breast cancer": _of_scikit_learn(load_breast_cancer),
}
MIXED = NUMBERS | {"text": _mixed(), "crossed": _crossed()}
MIXED["categories"] = MIXED["text"][0].drop(columns="note"), MIXED["text"][1]  # has interactions
COUNTS = {"counts": _counts(), "presence": _counts(most=1)}
TABLES = {"NaiveBayes": MIXED, "GaussianNB": NUMBERS}
OPTIONS = {"GaussianNB": {"var_smoothing": 0.0}}  # else it is a share of the largest variance


def _columns(X, y):
    return X[X.columns[RNG.permutation(X.shape[1])]], y


def _rows(X, y):
    order = RNG.permutation(len(X))
    return X.iloc[order], y[order]


def _labels(X, y):
    """Name the labels such that they sort the other way round."""
    classes = np.unique(y).tolist()
    names = {old: f"label {len(classes) - i}" for i, old in enumerate(classes)}
    return X, np.array([names[label] for label in y])


def _numbers(X, change):
    X = X.copy()
    for name in X:
        if X[name].dtype == np.float64:
            X[name] = change(X[name].to_numpy())
    return X


def _units(X, y):
    return _numbers(X, lambda x: x * 2.0 ** RNG.integers(-9, 9)), y


def _last_bits(X, y):
    return _numbers(X, lambda x: np.nextafter(x, np.inf)), y


def _last_bits_at_random(X, y):
    return _numbers(X, lambda x: np.nextafter(x, RNG.choice([-np.inf, np.inf], x.size))), y


CHANGES = {
    "columns in another order": (_columns, 1e-9),
    "rows in another order": (_rows, 1e-9),
    "labels of other names": (_labels, 1e-9),
    "numbers in units of powers of two": (_units, 1e-9),
    "the next number": (_last_bits, 1e-6),
    "a neighbouring number": (_last_bits_at_random, 1e-3),
}
CASES = [
    pytest.param(name, of, *change, id=f"{name}, {of}: {what}")
    for name in ESTIMATORS
    for of in TABLES.get(name, COUNTS)
    for what, change in CHANGES.items()
]


@cache
def probabilities(name, of, **options):
    X, y = (MIXED | COUNTS | MANY)[of]
    return ESTIMATORS[name](**options).fit(X, y).predict_proba(X)


@pytest.mark.parametrize(("name", "of", "change", "most"), CASES)
def test_what_means_nothing_changes_no_probability(name, of, change, most):
    (X, y), options = (MIXED | COUNTS)[of], OPTIONS.get(name, {})
    changed, labels = change(X, y)
    before = probabilities(name, of, **options)[changed.index]
    after = ESTIMATORS[name](**options).fit(changed, labels).predict_proba(changed)
    if change is _labels:
        after = after[:, ::-1]
    np.testing.assert_allclose(after, before, rtol=0, atol=most)


def _many_classes(n=600):
    """Return more classes than have weights of their own."""
    k = np.arange(n) % 150
    return pd.DataFrame({"a": RNG.normal(k, 5.0), "b": RNG.normal(k % 7, 1.0)}), k.astype(str)


MANY = {"150 classes": _many_classes()}
EMPTY, CONSTANT = {"empty": np.nan}, {"constant": 3.7, "zeros": 0.0}
ONE_VALUE = {"one category": "Ulm", "true": True, "one date": pd.Timestamp("2024-02-29 12:00")}
BEST = {"families": "best", "interactions": ("pairs",)}
SILENT = {  # other estimators count a constant column, or smooth by the number of columns
    "NaiveBayes": (MIXED | MANY, {}, EMPTY | CONSTANT | ONE_VALUE),
    "NaiveBayes, best families": (["iris"], BEST, EMPTY | CONSTANT),
    "NaiveBayes, temperature": (
        ["text"],
        {"calibration": "temperature"},
        EMPTY | CONSTANT | ONE_VALUE,
    ),
    "GaussianNB": (["iris"], OPTIONS["GaussianNB"], EMPTY | CONSTANT),
    "BernoulliNB": (["presence"], {}, EMPTY),
    "CategoricalNB": (["counts"], {}, EMPTY | {"zeros": 0}),
}


@pytest.mark.parametrize(
    ("name", "of", "options", "cells"),
    [
        pytest.param(name.split(",")[0], of, options, cells, id=f"{name}, {of}")
        for name, (tables, options, cells) in SILENT.items()
        for of in tables
    ],
)
def test_a_column_of_one_value_or_without_cells_changes_no_probability(name, of, options, cells):
    (X, y), before = (MIXED | COUNTS | MANY)[of], probabilities(name, of, **options)
    for what, cell in cells.items():
        more = X.assign(more=cell)[["more", *X]]
        after = ESTIMATORS[name](**options).fit(more, y).predict_proba(more)
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-9, err_msg=what)


def test_the_tables_have_interactions_of_every_kind():
    kinds = {one["kind"] for X, y in MIXED.values() for one in NaiveBayes().fit(X, y).interactions_}
    assert kinds == {"direction", "quadratic", "pair"}


@pytest.mark.parametrize("change", [_columns, _labels, _units], ids=lambda f: f.__name__[1:])
@pytest.mark.parametrize("of", ["iris", "crossed"])
def test_what_means_nothing_changes_no_probability_of_a_file(of, change, tmp_path):
    X, y = MIXED[of]
    changed, labels = change(X, y)
    models = []
    for table, target, name in ((X, y, "before"), (changed, labels, "after")):
        table.assign(target=target).to_parquet(tmp_path / f"{name}.parquet")
        models.append(NaiveBayes.from_files(tmp_path / f"{name}.parquet", target="target"))
    before, after = models[0].predict_proba(X), models[1].predict_proba(changed)
    after = after[:, ::-1] if change is _labels else after
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-9)
