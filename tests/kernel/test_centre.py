"""Terms that are centred over the classes, against plain loops."""

import math

import numpy as np
import pytest

from naively import _kernel


def centred(values, own, codes, floor):
    """Return the terms of each row and class, one by one."""
    found = []
    for row, mine, k in zip(values.tolist(), own.tolist(), codes.tolist(), strict=True):
        row[k] = mine
        finite = [term for term in row if term > -math.inf]
        row = [max(term, min(finite, default=0.0)) for term in row]
        row = [max(term, max(row) - floor) for term in row]
        found.append([term - math.fsum(row) / len(row) for term in row])
    return np.array(found)


@pytest.mark.parametrize("n_classes", [1, 2, 7])
@pytest.mark.parametrize("n_rows", [0, 1, 300])
def test_terms_are_centred_over_the_classes(n_rows, n_classes):
    rng = np.random.default_rng(0)
    values = rng.normal(scale=20, size=(n_rows, n_classes))
    values[rng.random(values.shape) < 0.2] = -np.inf
    own, codes = rng.normal(size=(n_rows, 3)), rng.integers(n_classes, size=n_rows)
    out = np.full((n_classes, 4, n_rows), np.pi)
    _kernel.centre_term(values, own[:, 1], codes.astype(np.int32), 30.0, 2, out)
    expected = centred(values, own[:, 1], codes, 30.0) if n_rows else np.empty((0, n_classes))
    # Sums of seven numbers below 100.
    np.testing.assert_allclose(out[:, 2].T, expected, rtol=0, atol=1e-13)
    assert (out[:, [0, 1, 3]] == np.pi).all()


def test_a_term_that_is_far_below_zero_for_all_classes_is_nothing():
    values, out = np.full((1, 3), -1e300), np.empty((3, 1, 1))
    _kernel.centre_term(values, values[:, 0], np.zeros(1, np.int32), 1e3, 0, out)
    assert (out == 0).all()


def test_what_is_impossible_for_all_classes_is_nothing():
    values, out = np.full((1, 3), -np.inf), np.empty((3, 1, 1))
    _kernel.centre_term(values, values[:, 0], np.zeros(1, np.int32), 1e3, 0, out)
    assert (out == 0).all()


def test_a_code_without_a_class_is_refused():
    with pytest.raises(ValueError, match="no class"):
        _kernel.centre_term(
            np.zeros((1, 2)), np.zeros(1), np.array([2], np.int32), 1.0, 0, np.empty((2, 1, 1))
        )
