"""Labels are first sought in single precision. Nobody may notice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import gaussian_model

N_ROWS = 512  # enough rows for the screen to be used


def both_ways(X, mean, variance, log_prior):
    """Labels as the kernel finds them, and by the largest joint in double precision."""
    model = gaussian_model(mean, variance, log_prior)
    labels, joint = np.empty(len(X), np.int64), np.empty((len(X), len(mean)))
    assert model.labels(X, labels)
    assert model.joint(X, joint)
    return labels, joint.argmax(axis=1)


@settings(deadline=None, max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(1, 12),
    n_columns=st.sampled_from([1, 2, 7, 50, 64, 65, 130]),
    spread=st.sampled_from([0.0, 1e-9, 1e-6, 1e-3, 1.0, 1e3]),
    offset=st.sampled_from([0.0, 1e3, 1e8]),
    scale=st.sampled_from([1e-100, 1e-3, 1.0, 1e6, 1e100]),
)
def test_labels_are_those_of_double_precision(seed, n_classes, n_columns, spread, offset, scale):
    rng = np.random.default_rng(seed)
    mean = offset + spread * rng.normal(size=(n_classes, n_columns))
    variance = rng.uniform(0.5, 1.5, size=(n_classes, n_columns))
    X = mean[rng.integers(n_classes, size=N_ROWS)] + rng.normal(size=(N_ROWS, n_columns))
    log_prior = np.log(rng.dirichlet(np.ones(n_classes)))
    found, expected = both_ways(X * scale, mean * scale, variance * scale**2, log_prior)
    assert (found == expected).all()


def test_points_on_the_boundary_are_decided_in_double_precision():
    rng = np.random.default_rng(0)
    boundary = 0.5 + 1e-12 * rng.choice([-1, 1], size=(N_ROWS, 1))
    mean, variance = np.array([[0.0], [1.0]]), np.ones((2, 1))
    found, expected = both_ways(boundary, mean, variance, np.log([0.5, 0.5]))
    assert (found == expected).all()
    assert (found == (boundary[:, 0] > 0.5)).all()


CASES = {
    "far rows": (lambda X: X * 1e60, 1.0),
    "huge rows": (lambda X: X * 1e150, 1.0),
    "variances of very different size": (lambda X: X, 1e-80),
    "spikes": (lambda X: X, 0.0),
}


@pytest.mark.parametrize(("change", "second_variance"), CASES.values(), ids=CASES)
def test_what_floats_cannot_hold_is_left_to_doubles(change, second_variance):
    rng = np.random.default_rng(1)
    mean, variance = rng.normal(size=(2, 9)), np.ones((2, 9))
    variance[1] = second_variance
    X = change(rng.normal(size=(N_ROWS, 9)))
    X[::5] = mean[1]
    found, expected = both_ways(X, mean, variance, np.log([0.5, 0.5]))
    assert (found == expected).all()


def test_rows_with_missing_cells_stand_among_rows_without():
    rng = np.random.default_rng(2)
    mean, variance = rng.normal(size=(5, 20)), np.ones((5, 20))
    X = mean[rng.integers(5, size=N_ROWS)] + rng.normal(size=(N_ROWS, 20))
    X[40:60, ::3] = np.nan
    found, expected = both_ways(X, mean, variance, np.log(np.full(5, 0.2)))
    assert (found == expected).all()


@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(1, 12),
    n_columns=st.sampled_from([1, 7, 50, 65, 130]),
    missing=st.sampled_from([0.001, 0.1, 0.9, 1.0]),
    widths=st.sampled_from([1.0, 3.0, 1e3]),
)
def test_labels_of_rows_with_missing_cells_are_those_of_double_precision(
    seed, n_classes, n_columns, missing, widths
):
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(n_classes, n_columns))
    variance = widths ** rng.uniform(-1, 1, size=(n_classes, n_columns))
    X = mean[rng.integers(n_classes, size=N_ROWS)] + rng.normal(size=(N_ROWS, n_columns))
    X[rng.random(X.shape) < missing] = np.nan
    log_prior = np.log(rng.dirichlet(np.ones(n_classes)))
    found, expected = both_ways(X, mean, variance, log_prior)
    assert (found == expected).all()


def test_a_class_that_cannot_be_is_never_found():
    rng = np.random.default_rng(3)
    mean, variance = rng.normal(size=(3, 9)), np.ones((3, 9))
    X = mean[rng.integers(3, size=N_ROWS)] + rng.normal(size=(N_ROWS, 9))
    found, expected = both_ways(X, mean, variance, np.array([np.log(0.5), -np.inf, np.log(0.5)]))
    assert (found == expected).all()
    assert not (found == 1).any()


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "with missing cells"])
def test_infinity_in_a_column_without_a_say_is_reported(missing):
    mean, variance = np.zeros((2, 3)), np.ones((2, 3))
    mean[:, 1] = variance[:, 1] = np.nan
    X = np.random.default_rng(4).normal(size=(N_ROWS, 3))
    if missing:
        X[::7, 0] = np.nan
    X[300, 1] = np.inf
    model = gaussian_model(np.nan_to_num(mean), variance, np.log([0.5, 0.5]))
    assert not model.labels(X, np.empty(N_ROWS, np.int64))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_layout_does_not_change_a_label(dtype, order):
    rng = np.random.default_rng(5)
    mean, variance = rng.normal(size=(7, 19)), rng.uniform(0.5, 2, size=(7, 19))
    X = (mean[rng.integers(7, size=N_ROWS)] + rng.normal(size=(N_ROWS, 19))).astype(dtype)
    X[rng.random(X.shape) < 0.01] = np.nan
    expected = both_ways(X.astype(float), mean, variance, np.zeros(7))[1]
    found = both_ways(np.asarray(X, order=order), mean, variance, np.zeros(7))[0]
    assert (found == expected).all()
