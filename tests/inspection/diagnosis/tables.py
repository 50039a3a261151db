"""Tables that are made to have a finding, and tables that are made not to have it."""

import numpy as np
import pandas as pd

from naively import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, summarize
from naively.data.schema import Schema
from naively.families import Poisson

N = 600


def clean(n=N, seed=0, n_classes=2):
    """Gaussian columns that are independent within classes, and a category."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = pd.DataFrame(rng.normal(size=(n, 4)) + 0.8 * y[:, None], columns=[*"abcd"])
    X["town"] = np.array(["Ulm", "Bonn", "Kiel"])[(rng.random(n) * (1.4 + y)).astype(int) % 3]
    return X, np.array(["no", "yes", "maybe"])[y]


def with_column(name, values, **options):
    X, y = clean(**options)
    return X.assign(**{name: values(X, y, np.random.default_rng(1))}), y


def gaussian(X, y, **options):
    """Return a Gaussian model of numbers, without calibration, that has a sample of rows."""
    numbers = X.select_dtypes("number")
    schema = Schema(numbers.shape[1], tuple(numbers.columns), sample=4000)
    return GaussianNB.from_summary(summarize(numbers, y, schema=schema), **options)


def mixed(X, y, **options):
    return NaiveBayes(**options).fit(X, y)


def missing_where(share_no, share_yes):
    def values(X, y, rng):
        return np.where(
            rng.random(len(X)) < np.where(y == "no", share_no, share_yes), np.nan, X["a"]
        )

    return values


def hopeless():
    """A class of a fifth of the rows that no column tells from the others."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(N, 3)), columns=[*"abc"])
    return X, np.where(rng.random(N) < 0.2, "yes", "no")


def copies(number):
    X, y = clean()
    for i in range(number):
        X[f"a{i}"] = X["a"] + 0.05 * np.random.default_rng(i).normal(size=N)
    return X, y


def bumpy(X, y, rng):
    return X["a"] ** 2 + 0.1 * rng.normal(size=len(X))


def few_of_a_class():
    X, y = clean()
    y = y.astype(object)
    y[:3] = "rare"
    return X, y


def declared():
    X, y = clean()
    labels = ["no", "yes", "never"]
    return NaiveBayes().partial_fit(X, y, classes=labels)


TEXTS = ["tea and milk", "milk or coffee", "coffee and tea", "no tea no milk"] * 100
ODD = [f"{text} word{i}" for i, text in enumerate(TEXTS)]
LABELS = ["a", "b", "a", "b"] * 100

# For each kind: makers of models that have it, and of models that do not.
CASES = {
    "leak": (
        {
            "a copy of the class": lambda: mixed(
                *with_column("leak", lambda X, y, rng: (y == "yes") + 0.001 * rng.normal(size=N))
            ),
            "a category that names the class": lambda: mixed(
                *with_column("leak", lambda X, y, rng: np.char.add("is ", y))
            ),
            "a copy of the class, without a sample": lambda: GaussianNB().fit(
                np.column_stack([clean()[0][[*"abcd"]], clean()[1] == "yes"]), clean()[1]
            ),
            "codes": lambda: CategoricalNB().fit(
                np.column_stack([clean()[1] == "yes", np.arange(N) % 3]), clean()[1]
            ),
            "presence": lambda: BernoulliNB().fit(
                np.column_stack([clean()[1] == "yes", np.arange(N) % 2]), clean()[1]
            ),
        },
        {
            "a copy of the class, wrong in one row of twenty": lambda: mixed(
                *with_column("hint", lambda X, y, rng: (y == "yes") ^ (rng.random(N) < 0.05))
            ),
            "an identifier": lambda: mixed(
                *with_column("id", lambda X, y, rng: [f"row {i}" for i in range(N)])
            ),
            "text": lambda: mixed(np.array(TEXTS), LABELS),
        },
    ),
    "identifier": (
        {
            "names": lambda: mixed(
                *with_column("id", lambda X, y, rng: [f"row {i}" for i in range(N)])
            ),
            "row numbers": lambda: gaussian(
                *with_column("id", lambda X, y, rng: rng.permutation(N) + 1)
            ),
            "numbers of customers": lambda: mixed(
                *with_column("id", lambda X, y, rng: rng.choice(10**6, N, replace=False))
            ),
        },
        {
            "whole numbers": lambda: mixed(
                *with_column("age", lambda X, y, rng: rng.integers(80, size=N))
            ),
            "fractions": lambda: mixed(*clean()),
            "numbers too large for fractions": lambda: mixed(
                *with_column("big", lambda X, y, rng: 1e150 * rng.normal(size=N))
            ),
        },
    ),
    "family": (
        {
            "a skewed column": lambda: gaussian(
                *with_column("income", lambda X, y, rng: rng.lognormal(2, 1, N))
            ),
            "two humps": lambda: gaussian(
                *with_column(
                    "hump", lambda X, y, rng: rng.normal(size=N) + 6 * (rng.random(N) < 0.5)
                )
            ),
            "counts that vary too much": lambda: mixed(
                *with_column("n", lambda X, y, rng: rng.poisson(rng.gamma(0.5, 8, N))),
                families={"n": Poisson()},
            ),
        },
        {
            "Gaussian columns": lambda: gaussian(*clean()),
            "rounded Gaussian columns": lambda: gaussian(
                *with_column("r", lambda X, y, rng: np.round(rng.normal(size=N)))
            ),
            "counts": lambda: mixed(
                *with_column("n", lambda X, y, rng: rng.poisson(3, N)), families={"n": Poisson()}
            ),
            "a histogram of a skewed column": lambda: mixed(
                *with_column("income", lambda X, y, rng: rng.lognormal(2, 1, N)),
                families={"income": "histogram"},
            ),
        },
    ),
    "dependence": (
        {
            "a copy": lambda: gaussian(*copies(1)),
            "many copies": lambda: mixed(*copies(5)),
            "a square": lambda: gaussian(*with_column("square", bumpy)),
            "categories": lambda: mixed(
                *with_column("land", lambda X, y, rng: np.char.add("of ", X["town"].to_numpy(str)))
            ),
            "a number and a category": lambda: mixed(
                *with_column("sign", lambda X, y, rng: np.where(X["b"] > 0.5, "high", "low"))
            ),
            "counts": lambda: MultinomialNB(calibration="temperature").fit(
                np.repeat(np.random.default_rng(0).poisson(2, (N, 2)), 2, axis=1), np.arange(N) % 2
            ),
        },
        {
            "columns that differ by class alone": lambda: gaussian(*clean()),
            "any columns": lambda: mixed(*clean()),
        },
    ),
    "calibration": (
        {"a column twenty times": lambda: gaussian(*copies(20))},
        {
            "independent columns": lambda: gaussian(*clean()),
            "a column twenty times, calibrated": lambda: mixed(*copies(20)),
        },
    ),
    "never predicted": (
        {"a class that nothing tells": lambda: gaussian(*hopeless())},
        {"a class that is told": lambda: gaussian(*clean())},
    ),
    "missing": (
        {
            "numbers": lambda: mixed(*with_column("m", missing_where(0.1, 0.5))),
            "numbers without a sample": lambda: GaussianNB().fit(
                with_column("m", missing_where(0.0, 0.9))[0][[*"abc", "m"]], clean()[1]
            ),
            "categories": lambda: mixed(
                *with_column(
                    "m",
                    lambda X, y, rng: X["town"].where(rng.random(N) < np.where(y == "no", 1, 0.6)),
                )
            ),
        },
        {
            "by chance": lambda: mixed(*with_column("m", missing_where(0.3, 0.3))),
            "nothing": lambda: mixed(*clean()),
        },
    ),
    "rare class": (
        {"three rows": lambda: mixed(*few_of_a_class()), "no row": declared},
        {"two classes": lambda: mixed(*clean())},
    ),
    "seen once": (
        {
            "categories": lambda: mixed(
                *with_column(
                    "street",
                    lambda X, y, rng: [f"{i if i % 4 == 0 else 'main'} street" for i in range(N)],
                )
            ),
            "words": lambda: mixed(np.array(ODD), LABELS),
        },
        {
            "few categories": lambda: mixed(*clean()),
            "few words": lambda: mixed(np.array(TEXTS), LABELS),
        },
    ),
    "constant": (
        {
            "one number": lambda: mixed(*with_column("one", lambda X, y, rng: 0.1)),
            "one category": lambda: mixed(*with_column("one", lambda X, y, rng: "x")),
            "no cell": lambda: mixed(*with_column("one", lambda X, y, rng: None)),
            "a word that never occurs": lambda: MultinomialNB().fit(
                [[1, 0], [2, 0]] * 30, [0, 1] * 30
            ),
        },
        {
            "two numbers": lambda: mixed(
                *with_column("two", lambda X, y, rng: 1e9 + rng.integers(2, size=N) * 1e-3)
            )
        },
    ),
}
