"""Rows of streams for every estimator: some lack cells, and columns come as time goes by."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from naively import BernoulliNB, NaiveBayes
from naively.estimators.loading import ESTIMATORS


def numbers(n, rng):
    X = rng.normal([0, 5, -3], [1, 2, 0.1], (n, 3))
    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    for row in rows:
        for name in "abc":
            if rng.random() < 0.1:
                row[name] = None if rng.random() < 0.5 else float("nan")
            elif rng.random() < 0.1:
                del row[name]
    return rows


def bags(n, rng):
    """Bags of words, of which there are more as time goes by."""
    words = [f"w{j}" for j in range(12)]
    drawn = [rng.choice(words[: 4 + i // 3], rng.integers(0, 6)) for i in range(n)]
    counted = (np.unique(bag, return_counts=True) for bag in drawn)
    return [{str(w): int(k) for w, k in zip(*bag, strict=True)} for bag in counted]


def holes(n, rng):
    """Bags of all words, of which some are missing."""
    return [
        {w: None if rng.random() < 0.3 else int(rng.integers(2)) for w in "abc"} for _ in range(n)
    ]


def codes(n, rng):
    """Codes, of which the highest come and go; some columns are not there."""
    highest = np.where(np.arange(n) < 10, 8, np.where(np.arange(n) < 25, 3, 14))
    X = rng.integers(0, highest[:, np.newaxis] + 1, (n, 3)).tolist()
    return [{k: x for k, x in zip("abc", row, strict=True) if rng.random() < 0.85} for row in X]


def mixed(n, rng):
    y = rng.choice(["good fine", "bad poor"], n)
    return [
        {
            "age": None if i % 9 == 0 else float(rng.normal(40)),
            "town": str(rng.choice(["Ulm", "Bonn", "Jena"])),
            "member": bool(rng.random() < 0.4),
            "note": f"{words} thing number {i % 7} indeed",
        }
        for i, words in enumerate(y)
    ]


def towns(n, rng):
    return [{name: row[name] for name in ("age", "town", "member")} for row in mixed(n, rng)]


class Case(NamedTuple):
    """An estimator with parameters, and rows for it."""

    kind: Any
    rows: Callable[[int, np.random.Generator], list[dict[str, Any]]]
    params: dict[str, Any]

    def make(self, **params):
        return self.kind(**self.params | params)

    def draw(self, n, classes=("no", "yes"), seed=6):
        """Rows and their labels."""
        rng = np.random.default_rng(seed)
        return self.rows(n, rng), rng.choice(classes, n)

    def table(self, rows):
        """The same rows as a frame, in which words that a bag lacks are 0."""
        if self.rows in (mixed, towns):
            return pd.DataFrame(rows)
        X = pd.DataFrame(rows, index=range(len(rows)), dtype=float)
        return X.fillna(0.0) if self.rows is bags else X

    def asked(self, row, X):
        """A row with all columns of a frame, as a batch wants it."""
        return {name: row.get(name, 0 if self.rows is bags else None) for name in X.columns}


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
ROWS = {"GaussianNB": numbers, "NaiveBayes": mixed, "CategoricalNB": codes}
CASES = {
    f"{name}, {how}": Case(kind, ROWS.get(name, bags), params)
    for name, kind in ESTIMATORS.items()
    for how, params in PARAMS.items()
    if set(params) <= set(kind().get_params())
}
CASES |= {
    "BernoulliNB, missing cells": Case(BernoulliNB, holes, {}),
    "NaiveBayes, calibrated": Case(NaiveBayes, towns, PARAMS["calibrated"]),
}


def taught(model, rows, labels, *weights):
    """Return a model that has learned rows one by one."""
    for one in zip(rows, labels, *weights, strict=True):
        model.learn_one(*one)
    return model


def assert_close(a, b, tolerance=1e-12):
    """Two summaries of the same columns, of which the order may differ."""
    assert np.array_equal(a.classes, b.classes)
    at = [b.schema.names.index(name) for name in a.schema.names] if a.schema.names else None
    b = b if at is None else b.with_columns(at)
    schema = b.schema
    if schema.centres is not None:  # they are means, too
        np.testing.assert_allclose(a.schema.centres, schema.centres, rtol=tolerance)
        schema = replace(schema, centres=a.schema.centres)
    assert a.schema == schema
    for kind, mine in a.statistics.items():
        for name, values in mine.tensors().items():
            if name == "moments":  # the rest of a mean is below its last digit
                values, its = values[:3], b[kind].tensors()[name][:3]
            else:
                its = b[kind].tensors()[name]
            scale = np.nanmax(np.abs(its), initial=1.0)
            assert np.allclose(values, its, rtol=0, atol=tolerance * scale, equal_nan=True), name
