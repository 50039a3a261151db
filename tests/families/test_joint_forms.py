"""Forms of several cells: the kernel beside plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from naively.families.forms import Tables
from naively.families.joint_forms import Ellipsoids, GridAxes, Grids, Projection, StandardNumbers


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_numbers_are_standardised_and_missing_ones_are_0(rng):
    X = rng.normal(5, 3, size=(70, 3)).astype(np.float32)
    X[4, 1] = np.nan
    X[5, 2] = 1e30
    standard = StandardNumbers([0, 2], np.array([5.0, 4.0]), np.array([0.5, 1e100]))
    found = standard.values(X, 70)
    x = X[:, [0, 2]].astype(np.float64)
    expected = np.clip((x - standard.mean) * standard.scale, -1e100, 1e100)
    np.testing.assert_array_equal(found, expected)
    X[0, 0] = np.inf
    assert standard.values(X, 70) is None
    columns = [X[:, 0], rng.integers(9, size=70), X[:, 2]]
    assert StandardNumbers([1], np.zeros(1), np.ones(1)).values(columns, 70)[3, 0] == columns[1][3]


def test_directions_add_numbers_and_categories(rng):
    f, codes = rng.normal(size=(70, 2)), rng.integers(-1, 4, size=(70, 2)).astype(np.int32)
    W, start, table = rng.normal(size=(2, 3)), rng.normal(size=3), rng.normal(size=(4, 3))
    found = Projection(W, start, [1], Tables.of([table])).values(f, codes)
    added = np.where(codes[:, 1:] >= 0, table[codes[:, 1]], 0.0)
    np.testing.assert_allclose(found, start + f @ W + added, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_ellipsoids_are_students_of_a_distance(rng, weighted):
    n, p, K = 70, 4, 3
    f, mean = rng.normal(size=(n, p)), rng.normal(size=(K, p))
    factor = np.tril(rng.normal(size=(K, p, p)))
    A, B, s, w = rng.uniform(0.5, 2, size=(4, K))
    joint = np.zeros((n, K))
    Ellipsoids(A, B, s, mean, factor, w if weighted else None).add(f, joint)
    q = np.array(
        [[((G @ (x - m)) ** 2).sum() for G, m in zip(factor, mean, strict=True)] for x in f]
    )
    terms = A - B * np.log1p(s * q)
    if weighted:
        terms = w * (terms - terms.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(joint, terms, rtol=1e-11, atol=1e-13)


def test_far_rows_have_finite_terms():
    joint = np.zeros((1, 1))
    one = np.ones(1)
    Ellipsoids(one, one, one, np.zeros((1, 2)), np.ones((1, 2, 2)) * 1e60).add(
        np.full((1, 2), 1e100), joint
    )
    assert np.isfinite(joint).all()


def test_a_row_does_not_depend_on_its_neighbours(rng):
    f, W = rng.normal(size=(77, 5)), rng.normal(size=(5, 2))
    projection = Projection(W, np.zeros(2), [], None)
    whole = projection.values(f, None)
    for i in (0, 31, 76):
        np.testing.assert_array_equal(projection.values(f[i : i + 1], None)[0], whole[i])


def test_grids_are_bilinear_in_numbers_and_steps_in_categories(rng):
    x = rng.normal(size=(80, 3))
    x[2, 0] = np.nan
    codes = rng.integers(-1, 5, size=(80, 1)).astype(np.int64)
    knots = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([0.25])
    axes = GridAxes([0, 2], [0], knots, (np.array([0, 1, 1, 2, 2], np.int32),))
    pairs = np.array([[0, 1], [2, 0]], np.int32)
    values = rng.normal(size=(4, 1, 2)), rng.normal(size=(3, 4, 2))
    joint = np.zeros((80, 2))
    Grids(axes, pairs, values).add(x, codes, joint)
    for i in range(80):
        expected = np.zeros(2)
        if not np.isnan(x[i, 0]):
            for k in range(2):
                expected[k] += np.interp(x[i, 0], knots[0], values[0][:, 0, k])
                if codes[i, 0] >= 0:
                    line = values[1][axes.bins[0][codes[i, 0]], :, k]
                    expected[k] += np.interp(x[i, 0], knots[0], line)
        np.testing.assert_allclose(joint[i], expected, atol=1e-12)


def test_the_kernel_refuses_axes_and_tables_that_do_not_fit():
    axes = GridAxes([0], [0], (np.array([0.0, 1.0]),), (np.array([0, 1], np.int32),))
    x, codes, joint = np.zeros((2, 1)), np.zeros((2, 1), np.int32), np.zeros((2, 2))
    good = Grids(axes, np.array([[0, 1]], np.int32), (np.zeros((2, 2, 2)),))
    good.add(x, codes, joint)
    for bad in (
        Grids(axes, np.array([[0, 2]], np.int32), (np.zeros((2, 2, 2)),)),
        Grids(axes, np.array([[0, 1]], np.int32), (np.zeros((2, 3, 2)),)),
    ):
        with pytest.raises(ValueError, match=r"must|no such"):
            bad.add(x, codes, joint)
