"""Fixtures that the files of this folder share."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from naively import GaussianNB, NaiveBayes
from tests.figures import PETALS, plt


@pytest.fixture(autouse=True)
def _draw_figures():
    """Draw what a test left behind, so that its layout is tested too."""
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()


@pytest.fixture(scope="module")
def iris():
    table = load_iris(as_frame=True)
    return table.data, table.target_names[table.target]


@pytest.fixture(scope="module")
def petals(iris):
    """R's set-up: two columns, the variance of n - 1, a grid of step 0.02."""
    X, y = iris[0][PETALS], iris[1]
    return GaussianNB(ddof=1, var_smoothing=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def many():
    """Forty classes, thirty columns of which the last two separate them."""
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 30)
    centres = np.zeros((40, 30))
    centres[:, -2:] = random.normal(size=(40, 2)) * 8
    X = centres[y] + random.normal(size=(y.size, 30))
    return GaussianNB().fit(X, y), X, y


@pytest.fixture(scope="module")
def shop():
    """Numbers of several shapes, text, booleans and missing cells; and labels."""
    random = np.random.default_rng(0)
    y = np.array(["buys", "looks", "leaves"])[random.integers(0, 3, 300)]
    buys = y == "buys"
    frame = pd.DataFrame(
        {
            "age": random.normal(40, 10, 300) + 8 * buys,
            "income": np.exp(random.normal(10, 0.6, 300)),
            "town": random.choice(["Ulm", "Bonn", "Berlin"], 300),
            "member": random.random(300) < np.where(buys, 0.8, 0.3),
            "visits": random.poisson(np.where(buys, 4, 1)),
        }
    )
    frame["age"] = frame["age"].mask(random.random(300) < 0.1)
    frame["town"] = frame["town"].mask(random.random(300) < 0.1)
    return frame, y


@pytest.fixture(scope="module")
def shopper(shop):
    return NaiveBayes().fit(*shop)


@pytest.fixture(scope="module")
def two_models(iris):
    X, y = iris
    parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=42)
    ours = GaussianNB().fit(parts[0], parts[2])
    theirs = SklearnGaussianNB(var_smoothing=0.1).fit(parts[0], parts[2])
    return ours, theirs, *parts
