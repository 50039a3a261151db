"""How far apart classes are, by column."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from naively import summarize
from naively.display.plots.overlap import class_separation
from naively.plots import (
    classes_by_separation,
    columns_by_separation,
    separation,
)


def test_separation_is_nothing_for_noise_and_all_for_distance():
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 500)
    X = random.normal(size=(1000, 4))
    X[:, 1] += 100 * (y == "b")
    X[:, 2] = 7.0
    X[:, 3] = np.nan
    values = separation(summarize(X, y))
    assert values[0] < 0.01
    assert values[1] == pytest.approx(1)
    assert values[2:].tolist() == [0, 0]


def test_separation_does_not_depend_on_units_or_order(iris):
    X, y = iris
    values = separation(summarize(X, y))
    np.testing.assert_allclose(separation(summarize(1e6 * X + 5, y)), values, rtol=1e-6)
    np.testing.assert_allclose(separation(summarize(X.iloc[:, ::-1], y)), values[::-1])
    assert ((values >= 0) & (values <= 1)).all()


def test_separation_sees_classes_that_differ_in_spread():
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 500)
    X = random.normal(size=(1000, 2))
    X[:, 1] *= np.where(y == "b", 10, 1)
    narrow, wide = separation(summarize(X, y))
    assert wide > narrow + 0.05


def test_a_class_that_is_constant_does_not_make_a_column_telling():
    X, y = load_digits(return_X_y=True)
    chosen = columns_by_separation(summarize(X, y), 6)
    assert (X[:, chosen].std(axis=0) > 3).all()  # pixels in the middle, not at the rim


def test_the_columns_by_separation_columns_and_classes_are_chosen(many):
    model, *_ = many
    assert sorted(columns_by_separation(model.summary_, 2)) == [28, 29]
    apart = class_separation(model.summary_, [28, 29])
    chosen = classes_by_separation(model.summary_, 5, [28, 29])
    assert chosen == sorted(chosen)
    assert min(apart[chosen]) >= max(np.delete(apart, chosen))


def test_one_class_separates_nothing():
    seen = summarize([[1.0, 2.0], [3.0, 4.0]], ["a", "a"])
    assert separation(seen).tolist() == [0, 0]
    assert class_separation(seen).tolist() == [0]
