"""The measures of drift beside scipy.stats on raw rows, and their rates of false alarms."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from naively.inspection.drifts.counts import compare_bins, compare_counts, compare_words, rank_test
from naively.inspection.drifts.measures import adjusted, least
from naively.inspection.drifts.numbers import (
    MeanAndVariance,
    constant_test,
    gaussian_distance,
    gaussian_divergence,
    mean_test,
)
from naively.statistics import Moments

ONE = np.zeros(1, np.intp)


def of_rows(x):
    moments = Moments.of(float(x.size), x.mean(), np.square(x - x.mean()).sum())
    return MeanAndVariance.of(Moments(moments.values.reshape(4, 1)))


def one_column(before, after):
    column = np.zeros(len(before), np.intp)
    a, b = (np.asarray(one, dtype=float)[np.newaxis] for one in (before, after))
    return [values[0, 0] for values in compare_counts(a, b, column, 1)]


@pytest.mark.parametrize("seed", range(5))
def test_counts_have_scipys_divergence_and_chi_squared(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(6, 4.0), size=2)
    a, b = rng.multinomial(3000, p), rng.multinomial(2000, q)
    divergence, distance, p_value = one_column(a, b)
    assert divergence == pytest.approx(jensenshannon(a, b, base=2) ** 2, rel=1e-9)
    expected = stats.chi2_contingency(np.stack([a, b]), correction=False).pvalue
    assert p_value == pytest.approx(expected, rel=1e-6, abs=1e-300)
    assert distance <= np.sqrt(divergence)


def test_many_columns_and_groups_are_each_compared_alone():
    rng = np.random.default_rng(0)
    column = np.repeat(np.arange(3), [4, 1, 7])
    a, b = rng.integers(0, 60, size=(2, 5, 12)).astype(float)
    found = compare_counts(a, b, column, 3)
    for g in range(5):
        for j in range(3):
            own = one_column(a[g, column == j], b[g, column == j])
            np.testing.assert_allclose([part[g, j] for part in found], own, rtol=1e-12)


def test_chance_is_the_mean_divergence_of_two_samples_of_the_same_rows():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(8) * 5)
    a, b = rng.multinomial(400, p, size=2000), rng.multinomial(300, p, size=2000)
    found = compare_counts(a.astype(float), b.astype(float), np.zeros(8, np.intp), 1)
    chance = 7 / 8 * (1 / 400 + 1 / 300) / np.log(2)
    assert found.divergence.mean() == pytest.approx(chance, rel=0.05)


@pytest.mark.parametrize(
    ("n", "m", "size"),
    [(1000, 1000, 20), (1000, 1000, 1000), (100, 5000, 300), (5000, 100, 300), (30, 30, 10)],
)
def test_categories_of_the_same_kind_raise_false_alarms_at_most_at_the_nominal_rate(n, m, size):
    """Also where most categories are so rare that a side lacks them."""
    rng = np.random.default_rng(2)
    p = 1 / np.arange(1, size + 1)
    a, b = (rng.multinomial(k, p / p.sum(), size=500).astype(float) for k in (n, m))
    found = compare_counts(a, b, np.zeros(size, np.intp), 1)
    for level in (0.05, 0.01):
        rate = np.mean(found.p < level)
        assert rate <= level + 3 * np.sqrt(level / 500), (level, rate)


def test_identifiers_do_not_drift_although_all_are_new():
    a = np.repeat([1.0, 0.0], 1000)
    divergence, distance, p = one_column(a, 1 - a)
    assert (divergence, distance, p) == (0.0, 0.0, 1.0)


def test_a_vocabulary_that_is_replaced_drifts_although_every_category_is_rare():
    a = np.repeat([5.0, 0.0], 2000)
    _, distance, p = one_column(a, a[::-1])
    assert distance > 0.99
    assert p < 1e-3


def test_one_new_category_in_few_rows_is_as_surprising_as_it_is_rare():
    """One of 50 rows beside 100,000: that happens by chance once in 2,000 times."""
    _, _, p = one_column([100_000, 0], [49, 1])
    assert p == pytest.approx(2 * 50 / 100_050, rel=0.01)


def test_nothing_on_one_side_is_undefined():
    assert np.isnan(one_column([3, 4], [0, 0])).all()
    assert one_column([30, 40], [30, 40])[1:] == [0.0, 1.0]


def test_bins_of_few_rows_are_merged_instead_of_lost():
    rng = np.random.default_rng(3)
    cuts = np.quantile(rng.normal(size=10_000), np.arange(1, 64) / 64)

    def bins(x):
        return np.bincount(np.searchsorted(cuts, x), minlength=64)[np.newaxis, np.newaxis] * 1.0

    found = compare_bins(bins(rng.normal(size=100)), bins(rng.normal(1.0, size=100)))
    assert found.p < 1e-4
    assert 0.3 < found.distance < 0.5  # of two Gaussians, 0.40
    many = compare_bins(bins(rng.normal(size=10**6)), bins(rng.normal(1.0, size=10**6)))
    whole = gaussian_divergence(np.array([1.0]), np.array([1.0]))
    assert many.divergence[0] == pytest.approx(whole, rel=0.01)


def test_bins_have_scipys_rank_test():
    rng = np.random.default_rng(10)
    x, z = rng.integers(12, size=300), rng.integers(1, 12, size=80)
    before, after = (np.bincount(one, minlength=12)[np.newaxis, np.newaxis] * 1.0 for one in (x, z))
    expected = stats.mannwhitneyu(x, z, method="asymptotic", use_continuity=False).pvalue
    assert rank_test(before, after)[0, 0] == pytest.approx(expected, rel=1e-9)


def test_words_are_tested_one_by_one():
    rng = np.random.default_rng(4)
    before, after = rng.binomial(200, 0.3, size=(2, 1, 50)) * 1.0
    after[0, 7] = 110
    n, m = np.array([200.0]), np.array([200.0])
    found = compare_words(before, after, np.zeros(50, np.intp), 1, n, m)
    table = [[before[0, 7], 200 - before[0, 7]], [110, 90]]
    expected = 50 * stats.chi2_contingency(table, correction=False).pvalue
    assert found.p[0, 0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("share", [0.06, 0.14, 0.5])
@pytest.mark.parametrize(("n", "m"), [(40, 1000), (1000, 40), (10_000, 100), (300, 300)])
def test_texts_of_the_same_kind_raise_false_alarms_at_most_at_the_nominal_rate(n, m, share):
    """At most 5 %, up to three standard deviations of 200 texts of 500 words."""
    rng = np.random.default_rng(11)
    before, after = (rng.binomial(k, share, size=(200, 500)) * 1.0 for k in (n, m))
    sizes = [np.full(200, float(k)) for k in (n, m)]
    found = compare_words(before, after, np.zeros(500, np.intp), 1, *sizes)
    assert np.mean(found.p < 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_means_differ_where_both_students_and_welchs_test_say_so(spread):
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=80), rng.normal(0.3, spread, size=50)
    expected = max(stats.ttest_ind(x, z, equal_var=pooled).pvalue for pooled in (True, False))
    assert mean_test(of_rows(x), of_rows(z))[0] == pytest.approx(expected, rel=1e-9)


def test_the_test_of_a_constant_says_nothing_of_columns_that_vary():
    rng = np.random.default_rng(6)
    x, z = rng.normal(size=80), rng.normal(0.0, 9.0, size=50)
    assert np.isnan(constant_test(of_rows(x), of_rows(z))).all()


@pytest.mark.parametrize(("shift", "ratio"), [(1, 1), (0.1, 1.2), (3, 0.2), (0, 100), (50, 9)])
def test_gaussians_have_the_divergence_of_their_densities(shift, ratio):
    grid = np.linspace(-14, 14, 200_001)
    x = np.sort(np.concatenate([grid, shift + ratio * grid]))
    p, q = stats.norm(0, 1).pdf(x), stats.norm(shift, ratio).pdf(x)
    both = np.where((p + q > 0), p + q, 1.0) / 2
    parts = [np.where(f > 0, f * np.log2(np.where(f > 0, f, 1.0) / both), 0.0) for f in (p, q)]
    expected = np.trapezoid(parts[0] + parts[1], x) / 2
    found = gaussian_divergence(np.array([float(shift)]), np.array([float(ratio)]))
    assert found[0] == pytest.approx(expected, rel=1e-6)


def test_two_constants_are_as_surprising_as_the_likeliest_column_that_has_both():
    same, other = of_rows(np.full(9, 0.1)), of_rows(np.full(7, 0.3))
    shares = np.linspace(0, 1, 100_001)
    likeliest = 2 * (shares**9 * (1 - shares) ** 7).max()  # of either order
    for after, distance, p in ((same, 0.0, 1.0), (other, 1.0, likeliest)):
        assert gaussian_distance(same, after)[1][0] == distance
        assert mean_test(same, after)[0] == pytest.approx(p, rel=1e-6)
        assert constant_test(same, after)[0] == 1.0


@pytest.mark.parametrize("share", [0.8, 0.5, 0.1])
def test_a_constant_is_as_surprising_as_the_largest_share_of_it_allows(share):
    column = of_rows(np.where(np.arange(1000) < 1000 * share, 0.0, 1.0))  # of two values
    constant = of_rows(np.zeros(12))
    expected = jensenshannon([1, 0], [share, 1 - share], base=2)
    for pair in ((column, constant), (constant, column)):
        assert constant_test(*pair)[0] == pytest.approx(share**12, rel=0.02)  # ddof
        assert gaussian_distance(*pair)[1][0] == pytest.approx(expected, rel=0.01)


def test_means_far_from_zero_differ_by_what_rounding_took():
    noise = np.random.default_rng(8).normal(size=500)
    values = [1e8, 1e8]
    rests = [noise.mean(), noise.mean() + 0.5]
    n, variance = np.array([500.0]), np.array([noise.var(ddof=1)])
    before, after = (
        MeanAndVariance(n, np.array([mean]), variance, np.array([rest]))
        for mean, rest in zip(values, rests, strict=True)
    )
    assert before.difference(after)[0] == pytest.approx(0.5, rel=1e-12)


def test_p_values_are_adjusted_as_scipy_does():
    p = np.random.default_rng(9).random(50) ** 3
    np.testing.assert_allclose(adjusted(p), stats.false_discovery_control(p), rtol=1e-12)
    holes = np.insert(p, [0, 20], np.nan)
    np.testing.assert_allclose(adjusted(holes)[~np.isnan(holes)], adjusted(p))
    assert np.isnan(least(np.full(2, np.nan), np.full(2, np.nan))).all()
