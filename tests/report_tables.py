"""Tables and models that the tests of reports share."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from naively import NaiveBayes
from naively.display.report import report

X, Y = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
SPECIES = np.array(["setosa", "versicolor", "virginica"])[Y]
FRAME = pd.DataFrame(X, columns=NAMES)
HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)


def mixed(n_rows=400, seed=0):
    """A table of numbers of several shapes, text, booleans and missing cells; and labels."""
    rng = np.random.default_rng(seed)
    y = np.array(["buys", "looks", "leaves"])[np.minimum(rng.integers(0, 4, n_rows), 2)]
    buys, looks = y == "buys", y == "looks"
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n_rows) + 8 * buys,
            "income": np.exp(rng.normal(10, 0.6, n_rows) - 0.5 * looks),
            "town": rng.choice(["Ulm", "Bonn", "Berlin", "Köln"], n_rows),
            "member": rng.random(n_rows) < np.where(buys, 0.8, 0.3),
            "visits": rng.poisson(np.where(buys, 4, np.where(looks, 2, 1))),
            "page": np.where(looks, "home", rng.choice(["home", "shop", "help"], n_rows)),
            "mobile": (rng.random(n_rows) < np.where(looks, 0.7, 0.4)).astype(int),
        }
    )
    for column in ("age", "town", "page"):
        frame[column] = frame[column].mask(rng.random(n_rows) < 0.1)
    return frame, y


MIXED, CUSTOMERS = mixed()


_MADE = {}


def quick(*args, **options):
    """Make a report without the comparison, which takes most of the time; of the same things, once.

    What a report was made of is kept beside it, so that nothing else has its id.
    """
    model, *rows = args or (None,)
    if not rows or "path" in options:
        return report(*args, compare=False, **options)
    one = id(model) if hasattr(model, "summary_") else repr(model)
    key = one, *map(id, rows), repr(options)
    if key not in _MADE:
        _MADE[key] = report(*args, compare=False, **options), args
    return _MADE[key][0]


@cache
def wide(n_rows=600, n_columns=1000, n_classes=50):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    table = rng.normal(size=(n_rows, n_columns))
    table[:, :30] += rng.normal(size=(n_classes, 30))[y]
    return table, y


@cache
def categories(n_rows=2000, n_columns=60, n_classes=40):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 500, size=(n_rows, n_columns))
    frame = pd.DataFrame({f"c{j}": [f"level {i}" for i in codes[:, j]] for j in range(n_columns)})
    return frame, rng.integers(0, n_classes, n_rows)


def histograms():
    """Report on a hundred columns of 64 bins each and 50 classes."""
    model = NaiveBayes(calibration=None, families=dict.fromkeys(range(100), "histogram"))
    return quick(model, *wide(n_columns=100), folds=None)
