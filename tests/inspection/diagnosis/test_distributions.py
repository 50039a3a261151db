"""Distances from the uniform distribution against scipy.stats and plain loops."""

import numpy as np
import pytest
from scipy import stats

from naively.inspection.diagnosis.distributions import distances, mid_shares, n_rows, p_value


@pytest.mark.parametrize("n", [5, 40, 700])
def test_the_distance_is_that_of_kolmogorov_without_ties(n):
    x = np.random.default_rng(n).normal(size=(n, 3)) * [1.0, 1.3, 0.4]
    u = stats.norm.cdf(x)
    D, mean = distances(mid_shares(x, np.ones(n)), u, np.full(3, float(n)))
    for j in range(3):
        theirs = stats.kstest(x[:, j], "norm", method="exact")
        assert D[j] == pytest.approx(theirs.statistic, rel=1e-12)
        p = float(p_value(D[j : j + 1], np.array([float(n)]))[0])
        assert p == pytest.approx(theirs.pvalue, rel=0.1, abs=0.005)  # Stephens's correction
        ranks = stats.rankdata(x[:, j]) - 0.5
        assert mean[j] == pytest.approx(np.abs(ranks / n - u[:, j]).mean(), rel=1e-12)


def test_shares_are_ranks_with_half_of_the_ties():
    rng = np.random.default_rng(0)
    x = rng.integers(5, size=(60, 2)).astype(float)
    x[rng.random(x.shape) < 0.2] = np.nan
    weight = rng.random(60)
    found = mid_shares(x, weight)
    for i in range(60):
        for j in range(2):
            known = ~np.isnan(x[:, j])
            below = weight[known & (x[:, j] < x[i, j])].sum()
            equal = weight[known & (x[:, j] == x[i, j])].sum()
            expected = (below + equal / 2) / weight[known].sum() if known[i] else np.nan
            assert found[i, j] == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_rounded_cells_are_not_far_from_their_family():
    x = np.round(np.random.default_rng(0).normal(size=(2000, 1)), 0)
    D, _ = distances(mid_shares(x, np.ones(2000)), stats.norm.cdf(x), np.array([2000.0]))
    assert D[0] < 0.05  # the least distance that is a finding
    assert stats.kstest(x[:, 0], "norm").statistic > 0.15  # which takes rounding for a misfit


def test_whole_weights_count_rows_and_others_are_worth_fewer():
    assert n_rows(np.array([1.0, 3.0, 2.0])) == 6
    assert n_rows(np.full(10, 0.25)) == pytest.approx(10)
    assert n_rows(np.array([0.5, 1e-9, 1e-9])) == pytest.approx(1)


def test_the_p_value_of_read_parameters_is_an_upper_bound():
    """Of 400 Gaussian columns, fewer than 5 in 100 have a p-value below 0.05."""
    x = np.random.default_rng(0).normal(size=(100, 400))
    u = stats.norm.cdf((x - x.mean(axis=0)) / x.std(axis=0))
    n = np.full(400, 100.0)
    D, _ = distances(mid_shares(x, np.ones(100)), u, n)
    assert (p_value(D, n) < 0.05).mean() < 0.05
