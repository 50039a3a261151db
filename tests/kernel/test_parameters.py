"""Parameters of Gaussians, read off moments by the kernel: each against a slow, obvious twin."""

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

from naively import _kernel
from naively.families import Gaussian
from naively.families.gaussian import parameters
from naively.statistics import Moments
from tests import oracles

RNG = np.random.default_rng(0)


def _moments(n_classes=4, n_columns=5, offset=0.0):
    weight = RNG.integers(2, 50, size=(n_classes, n_columns)).astype(float)
    mean, m2 = RNG.normal(offset, 1, weight.shape), weight * RNG.gamma(1.0, size=weight.shape)
    return Moments.of(weight, mean, m2)


def _slowly(moments, **options):
    """Return the parameters of many tables at once, of which this is one: NumPy reads those."""
    values = moments.values[:, :, np.newaxis]
    found = parameters(Moments(np.ascontiguousarray(values)), **options)
    return found.mean[:, 0], found.variance[:, 0], found.epsilon[0]


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("n_columns", [1, 5])
def test_pooled_classes_are_all_their_cells_together(offset, n_columns):
    values = _moments(9, n_columns, offset).values.copy()
    values[:, 3, 0] = 0.0  # a class without cells
    found = Moments(values).pooled()
    for j in range(n_columns):
        parts = [oracles.Exact(*map(Fraction, values[:3, k, j].tolist())) for k in range(9)]
        truth = reduce(oracles.merged, parts)
        assert found.weight[j] == float(truth.weight)
        # n rounding errors of half an ulp each in the mean; they enter m2 squared, and once by
        # each of the products that are added.
        np.testing.assert_allclose(found.mean[j], float(truth.mean), rtol=9 * 2**-53, atol=1e-15)
        np.testing.assert_allclose(found.m2[j], float(truth.m2), rtol=30 * 2**-53)


def test_moments_without_a_row_are_exact_up_to_rounding():
    X, codes = RNG.normal(size=(60, 4)), RNG.integers(3, size=60).astype(np.int32)
    weights = RNG.integers(1, 4, size=60).astype(float)
    table, out = oracles.moments(X, codes, 3, weights), np.empty((3, 60, 4))
    _kernel.moments_without(X, codes, weights, oracles.rounded(table), out)
    for i, j in np.ndindex(60, 4):
        truth = oracles.removed(
            table[codes[i]][j], oracles.moments_of_cells(X[i, j : j + 1], [weights[i]])
        )
        # The rounding of the whole class, which is not more than ten times the rest; a mean near 0
        # has that of the cells, which are about 1.
        truth = [float(part) for part in truth]
        np.testing.assert_allclose(out[:, i, j], truth, rtol=1e-14, atol=1e-15)


def test_nothing_is_left_of_a_class_without_its_only_row():
    values, out = oracles.rounded([[oracles.moments_of_cells([3.0])]]), np.empty((3, 1, 1))
    _kernel.moments_without(np.array([[3.0]]), np.zeros(1, np.int32), np.ones(1), values, out)
    assert not out.any()


@pytest.mark.parametrize("smoothing", ["global", "column"])
@pytest.mark.parametrize("ddof", [0, 1])
def test_variances_of_one_table_are_those_of_many_tables_bit_for_bit(smoothing, ddof):
    moments = _moments()
    options = {"ddof": ddof, "smoothing": smoothing, "var_smoothing": 1e-3}
    found, slow = parameters(moments, **options), _slowly(moments, **options)
    for fast, other in zip((found.mean, found.variance, found.epsilon), slow, strict=True):
        assert np.array_equal(fast, np.reshape(other, np.shape(fast)))


@pytest.mark.parametrize("case", ["no cell", "too few cells", "too small", "too large"])
def test_what_is_not_plain_is_not_read_by_the_kernel(case):
    values = _moments().values.copy()
    if case == "no cell":
        values[:, 1, 2] = 0.0
    if case == "too few cells":
        values[0, 1, 2] = 1.0
    if case == "too small":
        values[1:] = 0.0
    if case == "too large":
        values[1, 1, 2] = 1e200
    variance, epsilon = np.empty((4, 5)), np.empty(5)
    assert not _kernel.plain_variances(values, 1e-9, False, 1, variance, epsilon)


@pytest.mark.parametrize("weight", [1.0, 0.3], ids=["unweighted", "weighted"])
def test_quadratics_are_the_formula_of_the_log_density(weight):
    read = parameters(_moments(), smoothing="column")
    found = Gaussian().form(read, np.full(read.mean.shape, weight))
    mean, variance = read.mean.T, read.variance.T
    assert np.array_equal(found.mu, mean)
    assert np.array_equal(found.B, weight * (0.5 / variance))
    # The logarithm is right to one ulp, of numbers below 8.
    A = weight * -0.5 * np.log(2 * np.pi * variance)
    np.testing.assert_allclose(found.A, A, rtol=0, atol=8 * 2**-52)
    assert found.is_plain
    assert found.weight is None


def test_weights_that_differ_between_classes_are_not_folded_in():
    read, out = parameters(_moments()), np.empty((3, 5, 4))
    weight = np.ones((4, 5))
    assert _kernel.plain_quadratics(read.mean, read.variance, weight, out)
    weight[2, 3] = 0.5
    assert not _kernel.plain_quadratics(read.mean, read.variance, weight, out)
    assert Gaussian().form(read, weight).weight is not None
