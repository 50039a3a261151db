"""Models of any columns, and rows that every export must agree on with them."""

from functools import cache

import numpy as np
import pandas as pd

from naively import GaussianNB, NaiveBayes
from naively.families import Categorical, StudentT
from tests import family_tables
from tests.exported import CANCER, IRIS, LABELS, TUMOUR

TOWNS = np.array(["Ulm", "Bo'nn", '日本 "x" \\', "a;--\n", "Köln"], dtype=object)
LEVELS = np.array(["low", "it's", "high"])


def people(n_classes=3, n=400, seed=0):
    """A table of all that columns may hold, with holes; and the class of each row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    frame = pd.DataFrame(
        {
            "age": rng.normal(30 + 5 * y, 8.0),
            "pay": rng.lognormal(1 + 0.5 * (y % 3)),
            "at": 1e8 + rng.normal(y % 4, 0.5),
            "same": np.full(n, 7.0),
            "town": TOWNS[np.minimum(rng.integers(0, 5, n), y % 5 + 1)],
            "sick": (rng.random(n) < 0.2 + 0.1 * (y % 5)).astype(object),
            "code": (rng.integers(0, 4, n) * (y % 3) - 3).astype(object),
            "visits": rng.poisson(1.0 + y % 3).astype(float),
            "coin": (rng.random(n) < 0.3 + 0.1 * (y % 5)).astype(float),
        }
    )
    return with_holes(frame, rng), y


def with_holes(frame, rng):
    return frame.mask(rng.random(frame.shape) < 0.1)


def asked(frame):
    """Rows to ask about: those, some with categories never seen, and one of holes alone."""
    rows = frame.copy()
    if "town" in rows:
        rows.loc[3::5, "town"] = "Nowhere"
    if "code" in rows:
        rows.loc[1::7, "code"] = 99
    if "visits" in rows:
        rows.loc[2::9, "visits"] = -1.0  # no count
    return pd.concat([rows.iloc[:150], rows.iloc[:1].mask(np.ones((1, rows.shape[1]), bool))])


def mixed(labels=LEVELS, n_classes=3, columns=None, families=None, **options):
    frame, y = people(n_classes)
    frame = frame if columns is None else frame[columns]
    families = {"code": "categorical"} if families is None else families
    model = NaiveBayes(families={**families}, **options).fit(frame, np.asarray(labels)[y])
    return model, asked(frame)


def numbers(scale=1.0, **options):
    X = pd.DataFrame(IRIS * scale, columns=[*"abcd"])
    rows = with_holes(X, np.random.default_rng(0))
    return NaiveBayes(**options).fit(rows, LABELS), rows


def far():
    model, rows = numbers()
    sizes = np.array([1e3, 1e10, 1e50])
    distant = pd.DataFrame(np.outer(np.concatenate([sizes, -sizes]), np.ones(4)), columns=[*"abcd"])
    distant.loc[::2, ["b", "c"]] = [3.0, np.nan]
    return model, pd.concat([rows, distant])


def gaussian(**options):
    X = pd.DataFrame(CANCER, columns=[f"c{j}" for j in range(CANCER.shape[1])])
    rows = with_holes(X, np.random.default_rng(0))
    return GaussianNB(calibration="weights", **options).fit(rows, TUMOUR), rows


def wide():
    """More columns than one step of a query takes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(0.1 * y[:, np.newaxis], size=(200, 70))
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(70)])
    kinds = "canonical", "pairs"  # a quadratic term of 70 columns is too long for a query
    return NaiveBayes(interactions=kinds).fit(frame, y), frame[:60]


def many_categories():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    frame = pd.DataFrame({"key": [f"k{v}" for v in rng.integers(0, 900, 3000) + 300 * y]})
    return NaiveBayes().fit(frame, y), frame[:200]


def empty_columns():
    """Columns that were empty at fit, beside one that was not."""
    frame, y = people(2)
    frame = frame[["age"]].assign(gone=np.nan, lost=pd.Series([None] * len(frame), dtype=object))
    families = {"lost": "categorical"}
    model = NaiveBayes(families=families).fit(frame, y)
    return model, frame.assign(gone=1.0, lost="found")[:50]


def nothing_said():
    frame = pd.DataFrame({"same": np.full(9, 7.0)})
    return NaiveBayes().fit(frame, [0] * 3 + [1] * 6), frame.assign(same=8.0)


def unseen():
    frame, y = people(2)
    frame = frame.drop(columns="code")
    model = NaiveBayes(calibration=None).partial_fit(frame, y, classes=[0, 1, 2])
    return model, asked(frame)


def twins():
    """Two classes of the same rows: every row is a tie."""
    frame, y = people(2)
    frame = frame.drop(columns="code")
    rows = pd.concat([frame[y == 0], frame[y == 0], frame[y == 1]])
    labels = np.array(["b", "a", "c"]).repeat([(y == 0).sum(), (y == 0).sum(), (y == 1).sum()])
    return NaiveBayes(calibration=None).fit(rows, labels), asked(frame)


def apart():
    """A small class a long way from another: the widths of histograms differ by far."""
    x = np.concatenate([np.arange(50.0), 1e12 + np.arange(50.0)])
    frame = pd.DataFrame({"x": x})
    rows = pd.DataFrame({"x": [*x, 25.5, 1e6, 1e11, 1e12 + 0.5, -1e100, np.nan]})
    return NaiveBayes().fit(frame, [0] * 50 + [1] * 50), rows


def together(kinds=("canonical", "quadratic", "pairs"), columns=None, n_classes=3):
    """Columns that tell the class in pairs alone: numbers, numbers and categories, categories."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 1500))
    town, flag = TOWNS[rng.integers(0, 5, 1500)], rng.random(1500) < 0.5
    alike = ((a > 0) == (b > 0)) * 1 + ((c > 0) == flag) + (flag == (town == TOWNS[1]))
    y = np.clip(alike + n_classes - 3, 0, n_classes - 1)
    frame = pd.DataFrame({"a": a, "b": 1e6 + b, "c": 1e-9 * c, "town": town, "flag": flag})
    frame = with_holes(frame.astype({"flag": object}), rng)
    frame = frame if columns is None else frame[columns]
    model = NaiveBayes(interactions=kinds).fit(frame, LEVELS[y])
    found = model.model_.interactions
    assert ("pairs" in kinds) == bool(found.pairs)
    rows = frame[:150].copy()
    if "town" in rows:
        rows.loc[3::5, "town"] = "Nowhere"
    return model, pd.concat([rows, rows.iloc[:1].mask(np.ones((1, rows.shape[1]), bool))])


def families(**options):
    """Every family of numbers, each of a column within its support."""
    return family_tables.model_of(interactions=None, **options), family_tables.rows()


ALL = {"code": "categorical", "visits": "poisson", "coin": "bernoulli"}
ALL |= {"age": ("gaussian", "histogram"), "pay": "histogram", "at": "gaussian"}

TABLES = {
    "weights": lambda: mixed(),
    "temperature": lambda: mixed(calibration="temperature"),
    "no calibration": lambda: mixed(calibration=None),
    "two classes": lambda: mixed(["no", "yes"], 2),
    "booleans": lambda: mixed([False, True], 2),
    "integers": lambda: mixed([-5, 0, 2**40]),
    "many classes": lambda: mixed(np.arange(30), 30),
    "one class": lambda: mixed(["only"], 1),
    "every family, weights": lambda: mixed(families=ALL),
    "every family, temperature": lambda: mixed(families=ALL, calibration="temperature"),
    "every family, no calibration": lambda: mixed(families=ALL, calibration=None),
    "families of numbers": families,
    "families of numbers, no calibration": lambda: families(calibration=None),
    "categories alone": lambda: mixed(columns=["town", "sick", "code"]),
    "alpha": lambda: mixed(columns=["code"], families={"code": Categorical(alpha=0.5)}),
    "numbers alone": lambda: numbers(),
    "own tails": lambda: numbers(families={"a": StudentT(tails=np.inf), "b": "gaussian"}),
    "no prior": lambda: mixed(priors=[0.4, 0.0, 0.6]),
    "no first prior": lambda: mixed(priors=[0.0, 0.4, 0.6]),
    "unseen class": unseen,
    "empty columns": empty_columns,
    "nothing said": nothing_said,
    "many categories": many_categories,
    "wide": wide,
    "apart": apart,
    "ties": twins,
    "far rows": far,
    "tiny units": lambda: numbers(1e-120),
    "huge units": lambda: numbers(1e120),
    "interactions": together,
    "directions": lambda: together(("canonical",)),
    "a quadratic term": lambda: together(("quadratic",)),
    "pairs": lambda: together(("pairs",), n_classes=2),
    "pairs of categories": lambda: together(("pairs",), ["town", "flag"], 2),
    "directions of categories": lambda: together(("canonical",), ["town", "flag"]),
    "gaussian": gaussian,
    "gaussian, shared variance": lambda: gaussian(variance="shared"),
}
TABLES = {name: cache(case) for name, case in TABLES.items()}  # fitted once for every export
