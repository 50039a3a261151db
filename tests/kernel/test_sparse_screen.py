"""The screen of 16-bit weights: what it decides is what exact arithmetic decides."""

from fractions import Fraction

import numpy as np
import pytest

from naively import _kernel
from naively.data.sparse import SparseRows
from tests.kernel.test_sparse import PLACES, VALUES, drawn


def exact_scores(rows, B, constant):
    """Return sums of fractions, by row and class."""
    scores = []
    for row in rows.dense().tolist():
        scores.append([Fraction(c) for c in constant.tolist()])
        for j, x in enumerate(row):
            if x:
                for k, b in enumerate(B[j].tolist()):
                    scores[-1][k] += Fraction(b) * Fraction(x)
    return scores


def screened(rows, B, constant):
    labels = np.full(len(rows), 99, np.int64)
    assert _kernel.LineScreen(B).labels(rows, constant, labels) is None
    return labels


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("n_classes", [1, 8, 16, 17, 40, 64])
def test_decided_rows_have_the_label_of_exact_sums(dtype, places, n_classes):
    rows = drawn(n_classes, dtype=dtype, places=places)
    rng = np.random.default_rng(1)
    B, constant = rng.normal(size=(rows.n_columns, n_classes)), rng.normal(size=n_classes)
    found = screened(rows, B, constant)
    for label, scores in zip(found, exact_scores(rows, B, constant), strict=True):
        assert label in (-1, scores.index(max(scores)))
    assert (found >= 0).mean() > 0.8


def test_counts_too_large_for_sixteen_bits_of_products_are_added_in_full():
    rng = np.random.default_rng(2)
    B = rng.normal(size=(30, 20))
    X = rng.integers(0, 30_000, size=(50, 30)) * (rng.random((50, 30)) < 0.3)
    rows, constant = SparseRows.of_dense(X), np.zeros(20)
    found = screened(rows, B, constant)
    assert (found >= 0).mean() > 0.8
    for label, scores in zip(found, exact_scores(rows, B, constant), strict=True):
        assert label in (-1, scores.index(max(scores)))


@pytest.mark.parametrize("lead", [0.0, 1e-12, 1e-5])
def test_classes_that_are_too_close_are_left_in_doubt(lead):
    B = np.random.default_rng(3).normal(size=(9, 8))
    B[:, 5] = B.max(axis=1) + 1
    B[:, 2] = B[:, 5] + lead
    rows = SparseRows.of_dense(np.ones((4, 9)))
    assert screened(rows, B, np.zeros(8)).tolist() == [-1] * 4


def test_weights_that_are_all_equal_leave_the_constants_to_decide():
    rows = SparseRows.of_dense(np.array([[1, 2], [0, 0]]))
    constant = np.array([0.0, -np.inf, 3.0, 1.0])
    assert screened(rows, np.full((2, 4), -7.5), constant).tolist() == [2, 2]
    assert screened(rows, np.full((2, 4), -7.5), np.zeros(4)).tolist() == [-1, -1]


@pytest.mark.parametrize("cell", [0.5, -1.0, np.nan, np.inf, 32_768.0, 1e300])
def test_rows_of_what_is_no_small_count_are_left_to_doubles(cell):
    B = np.array([[0.0, 9.0], [9.0, 0.0]])
    rows = SparseRows.of_dense(np.array([[1.0, 0.0], [cell, 1.0], [0.0, 1.0]]))
    assert screened(rows, B, np.zeros(2)).tolist() == [1, -1, 0]


def test_a_place_beyond_the_columns_is_found():
    rows = SparseRows(np.array([0, 1, 2]), np.array([0, 2]), np.ones(2), 2)
    screen = _kernel.LineScreen(np.zeros((2, 8)))
    assert screen.labels(rows, np.zeros(8), np.empty(2, np.int64)) == ("place", 1)


def test_a_screen_refuses_what_it_cannot_hold():
    for B in (np.zeros((2, 65)), np.zeros((2, 0)), np.full((2, 8), -np.inf)):
        with pytest.raises(ValueError, match="screen"):
            _kernel.LineScreen(B)
    screen, rows = _kernel.LineScreen(np.zeros((2, 8))), drawn(0, d=3)
    with pytest.raises(ValueError, match="those of the weights"):
        screen.labels(rows, np.zeros(8), np.empty(len(rows), np.int64))
