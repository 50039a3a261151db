"""Models and rows that every export must agree on with `predict` and `predict_proba`."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris

from naively import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB

IRIS, SPECIES = load_iris(return_X_y=True)
CANCER, TUMOUR = load_breast_cancer(return_X_y=True)
COUNTS = np.floor(IRIS)
ONES = (COUNTS > 1).astype(float)
LABELS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
RNG = np.random.default_rng(0)


def assert_agrees(model, X, labels, probabilities, *, atol):
    """Probabilities to a tolerance; labels wherever it does not decide between two classes."""
    ours = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, ours, rtol=0, atol=atol)
    theirs = np.array(labels, dtype=model.classes_.dtype)
    at = np.searchsorted(model.classes_, theirs)
    assert (model.classes_[at] == theirs).all()
    assert (ours[np.arange(len(ours)), at] >= ours.max(axis=1) - 2 * atol).all()


def holes(X, share=0.3):
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < share] = np.nan
    X[0] = np.nan
    return X


def with_constant(X, constant=7.0):
    return np.column_stack([X, np.full(len(X), constant)])


def far(X):
    """Rows where one cell, or all, are far away, with holes here and there."""
    sizes = np.repeat([1e10, 1e50, 1e100, -1e100, 1e140], X.shape[1])
    rows = np.resize(X, (sizes.size, X.shape[1]))
    rows[np.arange(sizes.size), np.arange(sizes.size) % X.shape[1]] = sizes
    everywhere = np.repeat(sizes[:: X.shape[1], np.newaxis], X.shape[1], axis=1)
    half = everywhere.copy()
    half[:, ::2] = np.nan
    return np.vstack([rows, everywhere, half])


def unseen():
    return GaussianNB().partial_fit(IRIS, LABELS, classes=[*np.unique(LABELS), "zebra", "apple"])


def borrowed():
    """A class that has no cell in a column, and a column that no class has."""
    X = IRIS.copy()
    X[LABELS == "setosa", 1] = np.nan
    X[:, 2] = np.nan
    return GaussianNB().fit(X, LABELS)


def twins():
    """Two classes of the same rows: every row is a tie."""
    X = np.vstack([IRIS[:50]] * 2 + [IRIS[50:]])
    return GaussianNB().fit(X, ["b"] * 50 + ["a"] * 50 + ["c"] * 100)


def fitted(labels):
    return GaussianNB().fit(IRIS, np.array(labels)[SPECIES])


def wide():
    X = RNG.normal(size=(30, 1000)) + 0.02 * np.arange(3).repeat(10)[:, np.newaxis]
    return GaussianNB().fit(X, np.arange(3).repeat(10)), holes(X)


def many_classes():
    X = RNG.normal(size=(400, 8)) + np.arange(100).repeat(4)[:, np.newaxis]
    return GaussianNB().fit(X, np.arange(100).repeat(4)), holes(X)


ODD = ["it's", 'say "x" \\ %s\n', "日本語"]

CASES = {
    "iris": lambda: (GaussianNB().fit(IRIS, LABELS), IRIS),
    "breast cancer": lambda: (GaussianNB().fit(CANCER, TUMOUR), CANCER),
    "holes": lambda: (GaussianNB().fit(holes(CANCER), TUMOUR), holes(CANCER)),
    "all holes": lambda: (GaussianNB().fit(IRIS, LABELS), np.full((3, 4), np.nan)),
    "constant column": lambda: (
        GaussianNB().fit(with_constant(IRIS), LABELS),
        with_constant(IRIS, 7.0001),
    ),
    "no variance": lambda: (
        GaussianNB(var_smoothing=0).fit(with_constant(IRIS), LABELS),
        np.vstack([with_constant(IRIS), with_constant(IRIS[::9], 37.0)]),
    ),
    "no variance in one class": lambda: (
        GaussianNB(var_smoothing=0).fit(IRIS * (SPECIES > 0)[:, np.newaxis], LABELS),
        np.vstack([IRIS, 0 * IRIS[:1], IRIS[:1] * 1e-30, IRIS[:1] * 1e-200]),
    ),
    "one row a class": lambda: (
        GaussianNB(var_smoothing=0).fit(IRIS[::50], LABELS[::50]),
        IRIS,
    ),
    "shared variance": lambda: (GaussianNB(variance="shared").fit(IRIS, LABELS), holes(IRIS)),
    "ddof": lambda: (GaussianNB(ddof=1, smoothing="column").fit(IRIS, LABELS), IRIS),
    "no prior": lambda: (GaussianNB(priors=[0.3, 0.0, 0.7]).fit(IRIS, LABELS), IRIS),
    "one class": lambda: (GaussianNB().fit(IRIS[:9], LABELS[:9]), IRIS),
    "unseen classes": lambda: (unseen(), IRIS),
    "borrowed variance": lambda: (borrowed(), IRIS),
    "ties": lambda: (twins(), holes(IRIS)),
    "odd labels": lambda: (fitted(ODD), IRIS),
    "integers": lambda: (fitted([-5, 0, 2**40]), IRIS),
    "booleans": lambda: (GaussianNB().fit(CANCER, TUMOUR == 1), CANCER),
    "floats": lambda: (fitted([-1.0, 0.0, 3.0]), IRIS),
    "unsigned": lambda: (fitted(np.array([1, 2, 3], dtype=np.uint8)), IRIS),
    "large offset": lambda: (GaussianNB(var_smoothing=0).fit(IRIS + 1e8, LABELS), IRIS + 1e8),
    "tiny units": lambda: (GaussianNB().fit(IRIS * 1e-120, LABELS), IRIS * 1e-120),
    "huge units": lambda: (GaussianNB().fit(IRIS * 1e120, LABELS), IRIS * 1e120),
    "tiny cells": lambda: (GaussianNB().fit(IRIS - 5, LABELS), IRIS * 1e-300),
    "far rows": lambda: (GaussianNB().fit(IRIS, LABELS), far(IRIS)),
    "far from the constant": lambda: (
        GaussianNB().fit(with_constant(IRIS), LABELS),
        far(with_constant(IRIS)),
    ),
    "far, shared variance": lambda: (
        GaussianNB(variance="shared", priors=[0.2, 0.5, 0.3]).fit(IRIS, LABELS),
        far(IRIS),
    ),
    "multinomial": lambda: (MultinomialNB().fit(COUNTS, LABELS), holes(COUNTS)),
    "multinomial without smoothing": lambda: (
        MultinomialNB(alpha=0.0).fit(COUNTS, LABELS),
        holes(COUNTS),
    ),
    "multinomial, calibrated": lambda: (
        MultinomialNB(calibration="temperature").fit(COUNTS, LABELS),
        COUNTS,
    ),
    "complement": lambda: (ComplementNB().fit(COUNTS, LABELS), holes(COUNTS)),
    "complement, normed": lambda: (ComplementNB(norm=True).fit(COUNTS, LABELS), COUNTS),
    "bernoulli": lambda: (BernoulliNB(binarize=2.0).fit(holes(COUNTS), LABELS), holes(COUNTS)),
    "bernoulli of ones": lambda: (BernoulliNB(binarize=None).fit(ONES, LABELS), holes(ONES)),
    "wide": wide,
    "many classes": many_classes,
}
