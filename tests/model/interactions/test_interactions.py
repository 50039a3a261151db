"""Each part of interactions beside a slow, obvious twin: refits, and loops over rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator
from scipy.linalg import eigh
from scipy.special import gammaln
from scipy.stats import multivariate_t

from naively import _kernel
from naively.families.edges import bin_of
from naively.families.histogram import BinnedColumns
from naively.model.interactions import canonical, quadratic
from naively.model.interactions.features import (
    MOST,
    ClassScatter,
    Features,
    by_class,
    inverse_factor,
)
from naively.model.interactions.pairs import (
    BinnedRows,
    PairAxis,
    PairTable,
    chosen_pairs,
    scores,
)
from naively.statistics import Moments


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def _rows(rng, n=60, p=3, K=3):
    """Rows of correlated numbers, their classes, and weights of which some are not whole."""
    codes = rng.integers(K, size=n).astype(np.int32)
    values = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + codes[:, np.newaxis]
    weight = rng.choice([0.5, 1.0, 2.0, 3.5], size=n)
    return values, codes, weight


# --- features -------------------------------------------------------------------------------------


def test_features_are_standardised_numbers_and_indicators_of_frequent_categories(rng):
    numbers = np.column_stack([rng.normal(3, 2, 40), np.full(40, 7.0), np.full(40, np.nan)])
    numbers[3, 0] = np.nan
    codes = np.repeat([0, 1, 2, -1], [20, 16, 3, 1])[:, np.newaxis]
    weight = rng.uniform(0.5, 2.0, 40)
    found = Features.of(numbers, codes, weight, by_class(np.zeros(40, int), weight, 2))
    assert found.numbers.tolist() == [0]  # the others are constant, or missing
    assert found.levels.tolist() == [0, 1]  # the third has a weight below 5
    values = found.values(numbers, codes)
    assert values[3, 0] == 0.0
    seen = ~np.isnan(numbers[:, 0])
    mean = np.average(values[seen, 0], weights=weight[seen])
    np.testing.assert_allclose([mean, weight @ values[:, 1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.average(values[:, 1] ** 2, weights=weight), 1.0)
    unseen = found.values(numbers[:1], np.array([[5]]))
    np.testing.assert_array_equal(unseen[0, 1:], -found.mean[1:] * found.scale[1:])


def test_of_too_many_features_those_that_separate_the_classes_remain(rng):
    codes = rng.integers(2, size=50)
    numbers = rng.normal(size=(50, MOST + 40))
    numbers[:, 5] += 3 * codes
    found = Features.of(
        numbers, np.empty((50, 0), int), np.ones(50), by_class(codes, np.ones(50), 2)
    )
    assert len(found) == MOST
    assert 5 in found.numbers


def test_the_features_that_remain_have_the_largest_squares_between_over_within_classes(rng):
    n, d = 60, MOST + 6
    codes, weight = rng.integers(3, size=n), rng.choice([0.5, 1.0, 2.0], size=n)
    numbers = rng.normal(size=(n, d)) + np.outer(codes, rng.uniform(0, 0.5, size=d))
    found = Features.of(numbers, np.empty((n, 0), int), weight, by_class(codes, weight, 3))
    ratio = []
    for x in numbers.T:
        mean = np.average(x, weights=weight)
        f = (x - mean) / np.sqrt(np.average((x - mean) ** 2, weights=weight))
        between = within = 0.0
        for k in range(3):
            own, w = f[codes == k], weight[codes == k]
            m = np.average(own, weights=w)
            between += w.sum() * m**2
            within += w @ (own - m) ** 2
        ratio.append(between / (within + 1))
    best = np.sort(np.argsort(ratio)[-MOST:])
    assert found.numbers.tolist() == best.tolist()


# --- canonical columns ----------------------------------------------------------------------------


def test_directions_solve_the_generalised_eigenproblem(rng):
    values, codes, weight = _rows(rng, p=4)
    own = by_class(codes, weight, 3)
    scatter = ClassScatter.of(values, own)
    W = canonical.directions(scatter)
    n, mean = weight.sum(), np.array([np.average(values, axis=0, weights=o) for o in own.T])
    within = sum(
        w * np.outer(v - mean[k], v - mean[k])
        for v, k, w in zip(values, codes, weight, strict=True)
    )
    D = np.diag((np.diagonal(within) + 1) / (n + 1))
    share = 4 / (4 + n)
    sigma = (1 - share) * within / n + share * D
    around = mean - np.average(mean, axis=0, weights=own.sum(axis=0))
    between = (around.T * own.sum(axis=0) / n) @ around
    _, V = eigh(between, sigma)
    assert W.shape == (4, 2)
    for r in range(2):
        expected = V[:, -1 - r]
        np.testing.assert_allclose(W[:, r] * np.sign(W[0, r]), expected * np.sign(expected[0]))


def _without_each(values, codes, weight):
    """Return the terms of rows as if each had not been seen, with what they were read off."""
    scatter = ClassScatter.of(values, by_class(codes, weight, 3))
    W = canonical.directions(scatter)
    without = canonical.DirectionsWithoutEach(values, codes, weight, scatter, W)
    terms = canonical.terms_of(without.z, codes, weight, 3)
    return scatter, W, terms, without.terms(terms, values)


def _refit(values, codes, weight, i):
    """Return the directions without a row, as `scatter` is without it and D and lambda as with."""
    scatter = ClassScatter.of(values, by_class(codes, weight, 3))
    rest = weight.copy()
    rest[i] -= min(weight[i], 1.0)
    other = ClassScatter.of(values, by_class(codes, rest, 3))
    n, share = scatter.n, scatter.shrinkage
    sigma = (1 - share) * other.within / n + share * np.diag(scatter.diagonal)
    whole = canonical.directions(scatter)
    around = scatter.weight[:, np.newaxis] / n * (scatter.around @ whole)
    T = around / (around * (scatter.around @ whole)).sum(axis=0)
    B = np.linalg.solve(sigma, other.mean.T @ T)  # its space is that of the directions
    gram = B.T @ sigma @ B
    values_of_gram, V = np.linalg.eigh(gram)
    basis = B @ V / np.sqrt(values_of_gram)  # uncorrelated, and now turned towards the model's
    U, _, Vt = np.linalg.svd(basis.T @ scatter.sigma @ whole)
    return other.mean, basis @ U @ Vt, rest


@pytest.mark.parametrize("p", [2, 3, 6])
def test_directions_without_a_row_are_those_of_a_refit_turned_towards_the_models(rng, p):
    values, codes, weight = _rows(rng, n=200, p=p)
    _, whole, terms, found = _without_each(values, codes, weight)
    student, _ = terms
    for i in (0, 1, 7, 33, 90):
        k = codes[i]
        mean, W, rest = _refit(values, codes, weight, i)
        z, own = values @ whole, codes == k
        for c in range(3):
            class_mean = mean[c] @ whole  # of the rows without it, along the model's directions
            x = class_mean + W.T @ (values[i] - mean[c])
            if c != k:
                expected = student.family.log_density(x[np.newaxis], student.parameters)[0, c]
            else:
                w = rest[own]
                m2 = w @ (z[own] - np.average(z[own], axis=0, weights=w)) ** 2
                prior = student.parameters.prior
                one = Moments.of(np.full((1, 2), w.sum()), class_mean[np.newaxis], m2[np.newaxis])
                given = student.family.parameters(one, prior)
                expected = student.family.log_density(x[np.newaxis], given)[0, 0]
            np.testing.assert_allclose(found[i, c, :2], expected, atol=2e-3)


def test_a_histogram_is_judged_at_the_cell_that_is_left_once_the_row_is_out(rng):
    values, codes, weight = _rows(rng, n=200)
    weight[:] = 1.0
    _, W, terms, _ = _without_each(values, codes, weight)
    histogram, z = terms[1], canonical.along(values, W)
    at = z + rng.normal(0, 0.3, z.shape)
    given = z, codes, np.minimum(weight, 1.0), histogram.statistic, histogram.parameters
    found = histogram.family.left_out(*given, at=at)
    np.testing.assert_allclose(  # at its own cell it is what the family says of it
        histogram.family.left_out(*given, at=z), histogram.family.left_out(*given), atol=1e-9
    )
    for i in (0, 5, 77):
        tallies = histogram.statistic.weight.copy()
        bins = bin_of(z[i : i + 1], histogram.statistic.edges)[0]
        tallies[codes[i], [0, 1], bins] -= 1
        rest = BinnedColumns(tallies, histogram.statistic.edges)
        other = histogram.family.parameters(rest, histogram.parameters.prior)
        expected = histogram.family.log_density(at[i : i + 1], other)[0, codes[i]]
        np.testing.assert_allclose(found[i], expected, atol=1e-9)


def test_a_class_of_one_row_is_judged_as_if_it_had_none(rng):
    values, codes, weight = _rows(rng, n=60, K=2)
    codes[0], weight[0] = 2, 1.0
    _, W, terms, found = _without_each(values, codes, weight)
    assert np.isfinite(found).all()
    seen = terms[0].log_density(canonical.along(values[:1], W), None)
    assert found[0, 2, 0] < seen[0, 2, 0]


def test_equal_rows_have_equal_computed_cells(rng):
    values = np.resize(rng.normal(size=(3, 7)), (300, 7))
    z = canonical.along(values, rng.normal(size=(7, 2)))
    assert len(np.unique(z, axis=0)) == 3


def test_of_equal_rows_one_is_taken_out(rng):
    """A row of weight 2 is two rows: of which the other remains."""
    values, codes, _ = _rows(rng)
    twice = np.repeat(values, 2, axis=0), np.repeat(codes, 2), np.ones(2 * len(codes))
    _, _, _, once = _without_each(values, codes, np.full(len(codes), 2.0))
    scatter, W, _, every = _without_each(*twice)
    sign = np.sign((canonical.directions(scatter) * W).sum(axis=0))
    assert (sign > 0).all()
    np.testing.assert_allclose(every[::2, :, :2], once[:, :, :2], atol=1e-8)


def test_the_sign_of_a_direction_is_that_by_which_rows_are_skewed_to_the_right(rng):
    values = rng.exponential(size=(100, 2)) * [1.0, -1.0]
    W, ones = np.eye(2), np.ones(100)
    np.testing.assert_array_equal(canonical.oriented(W, values, ones), np.diag([1.0, -1.0]))
    np.testing.assert_array_equal(canonical.oriented(-W, values, ones), np.diag([1.0, -1.0]))


# --- the quadratic term ---------------------------------------------------------------------------


def _scatters(values, codes, weight, K):
    own = by_class(codes, weight, K)
    n, p = weight.sum(), values.shape[1]
    mean = np.array([np.average(values, axis=0, weights=o) for o in own.T])
    each = [
        (o[:, np.newaxis] * (values - m)).T @ (values - m) for o, m in zip(own.T, mean, strict=True)
    ]
    within, share = sum(each), p / (p + n)
    D = np.diag((np.diagonal(within) + 1) / (n + 1))
    return own.sum(axis=0), mean, each, (1 - share) * within / n + share * D


def _quadratic_term(x, N, mean, S, sigma):
    """Return the term by its formula."""
    p = x.size
    nu = 4 * (p + 2)
    B, m = S + nu * sigma, N + nu
    q = (x - mean) @ np.linalg.solve(B, x - mean)
    return -0.5 * (np.linalg.slogdet(B)[1] - p * np.log(m)) - 0.5 * (4 + p) * np.log1p(m * q / 4)


def test_the_quadratic_term_is_a_multivariate_t_up_to_a_constant(rng):
    values, codes, weight = _rows(rng)
    N, mean, S, sigma = _scatters(values, codes, weight, 3)
    given = quadratic.parameters(ClassScatter.of(values, by_class(codes, weight, 3)))
    found = quadratic.honest_terms(values, codes, np.zeros(len(codes)), given)[:, :, 0]
    for k in range(3):
        nu = 4 * (3 + 2)
        t = multivariate_t(mean[k], (S[k] + nu * sigma) / (N[k] + nu), df=4)
        difference = found[:, k] - t.logpdf(values)
        np.testing.assert_allclose(difference, difference[0], rtol=1e-9)


def test_the_quadratic_term_without_a_row_is_that_of_a_refit(rng):
    values, codes, weight = _rows(rng, n=40)
    given = quadratic.parameters(ClassScatter.of(values, by_class(codes, weight, 3)))
    _, _, _, sigma = _scatters(values, codes, weight, 3)
    own = np.minimum(weight, 1.0)
    found = quadratic.honest_terms(values, codes, weight, given)[np.arange(40), codes, 0]
    for i, k in enumerate(codes):
        rest = weight.copy()
        rest[i] -= own[i]
        N, mean, S, _ = _scatters(values, codes, rest, 3)
        expected = _quadratic_term(values[i], N[k], mean[k], S[k], sigma)
        np.testing.assert_allclose(found[i], expected, rtol=1e-9)


def test_a_class_of_one_row_is_judged_by_what_all_classes_share(rng):
    values, codes, weight = _rows(rng, n=40, K=2)
    codes[0], weight[0] = 2, 1.0
    given = quadratic.parameters(ClassScatter.of(values, by_class(codes, weight, 3)))
    found = quadratic.honest_terms(values, codes, weight, given)
    assert np.isfinite(found).all()
    _, _, _, sigma = _scatters(values, codes, weight, 3)
    expected = _quadratic_term(values[0], 0.0, np.zeros(3), 0.0, sigma)
    np.testing.assert_allclose(found[0, 2, 0], expected)


def test_a_matrix_that_rounding_made_indefinite_still_has_a_factor():
    inverse, log_det = inverse_factor(np.array([[1.0, 1.0 + 1e-12], [1.0 + 1e-12, 1.0]]))
    assert np.isfinite(inverse).all()
    assert np.isfinite(log_det)


# --- pairs ----------------------------------------------------------------------------------------


def _binned(rng, n=300, K=3):
    numbers = rng.normal(size=(n, 2)).round(1)
    numbers[::17, 0] = np.nan
    categories = rng.integers(-1, 12, size=(n, 1)).astype(np.int32)
    y = rng.integers(K, size=n).astype(np.int32)
    y[(numbers[:, 0] > 0) == (numbers[:, 1] > 0)] = 0  # what only both columns tell
    weight = rng.choice([1.0, 1.0, 2.0, 0.5], size=n)
    axes = [
        PairAxis.of_numbers(0, numbers[:, 0], 8),
        PairAxis.of_numbers(1, numbers[:, 1], 8),
        PairAxis.of_categories(0, categories[:, 0], weight, 12, 8),
    ]
    return axes, numbers, categories, BinnedRows.of(axes, numbers, categories, y, weight, K)


def score(terms, p, codes, weight):
    """Return about how much log likelihood a term gains, with its sign."""
    c = terms - terms.mean(axis=1, keepdims=True)
    expected = np.einsum("ij,ij->i", p, c)
    own = c[np.arange(codes.size), codes]
    g = float(weight @ (own - expected))
    h = float(weight @ (np.einsum("ij,ij,ij->i", p, c, c) - expected**2)) + 10.0
    return g * abs(g) / (2 * h)


def _value(C, k, a, b, alpha, whole):
    """Return the value of one cell by its formula; `whole` are the tallies of all rows."""
    N, q = C[k].sum(), whole.sum(axis=0)
    pa = (C[k, a].sum() + 2 * q[a].sum() / q.sum()) / (N + 2)
    pb = (C[k, :, b].sum() + 2 * q[:, b].sum() / q.sum()) / (N + 2)
    return np.log((C[k, a, b] + alpha * pa * pb) / ((N + alpha) * pa * pb))


def test_a_table_is_the_smoothed_log_ratio_of_joint_and_product(rng):
    _, _, _, rows = _binned(rng)
    table = PairTable.of(rows, 0, 2)
    C = np.zeros_like(table.tallies)
    for a, b, k, w in zip(rows.bins[0], rows.bins[2], rows.codes, rows.weight, strict=True):
        if a >= 0 and b >= 0:
            C[k, a, b] += w
    np.testing.assert_allclose(table.tallies, C)
    for k, a, b in [(0, 0, 0), (1, 3, 2), (2, 7, 5)]:
        np.testing.assert_allclose(table.values[k, a, b], _value(C, k, a, b, table.alpha, C))


def test_the_strength_is_the_likeliest(rng):
    _, _, _, rows = _binned(rng)
    table = PairTable.of(rows, 0, 1)
    C, e = table.tallies, table.expected

    def likelihood(alpha):
        N = C.sum(axis=(1, 2))
        cells = gammaln(C + alpha * e) - gammaln(alpha * e)
        return cells.sum() + (gammaln(alpha) - gammaln(alpha + N)).sum()

    assert table.alpha == max((4.0, 16.0, 64.0, 256.0, 1024.0), key=likelihood)


def test_a_pair_is_bilinear_between_the_medians_of_bins_and_flat_beyond(rng):
    axes, numbers, _, rows = _binned(rng)
    table = PairTable.of(rows, 0, 1)
    x = rng.normal(0, 3, size=(50, 2))
    new = BinnedRows.of(axes[:2], x, np.empty((50, 0)), np.zeros(50, int), np.ones(50), 3)
    knots = axes[0].knots, axes[1].knots
    inside = np.column_stack([np.clip(x[:, j], knots[j][0], knots[j][-1]) for j in (0, 1)])
    for k in range(3):
        expected = RegularGridInterpolator(knots, table.values[k])(inside)
        np.testing.assert_allclose(table.terms(new)[:, k], expected, atol=1e-12)
    assert np.isnan(numbers[0, 0])
    assert not table.terms(rows)[0].any()


def test_the_own_corner_of_a_pair_is_that_of_tallies_without_the_row(rng):
    _, _, _, rows = _binned(rng)
    table = PairTable.of(rows, 0, 1)
    terms, honest = table.terms(rows), table.honest_terms(rows)
    for i in (1, 5, 44):
        k, a, b = rows.codes[i], rows.bins[0, i], rows.bins[1, i]
        C = table.tallies.copy()
        C[k, a, b] -= min(rows.weight[i], 1.0)
        change = _value(C, k, a, b, table.alpha, table.tallies) - table.values[k, a, b]
        part = 1.0
        for j, own in ((0, a), (1, b)):
            part *= 1 - abs(rows.low[j, i] + rows.share[j, i] - own)
        np.testing.assert_allclose(honest[i, k], terms[i, k] + part * change, atol=1e-12)
        others = [c for c in range(3) if c != k]
        np.testing.assert_array_equal(honest[i, others], terms[i, others])


def test_the_kernel_judges_pairs_as_their_tables_do(rng):
    _, _, _, rows = _binned(rng)
    p = rng.dirichlet(np.ones(3), size=rows.codes.size)
    pairs = np.array([[0, 1], [0, 2], [1, 2]], np.int32)
    expected = [
        score(PairTable.of(rows, a, b).honest_terms(rows), p, rows.codes, rows.weight)
        for a, b in pairs
    ]
    np.testing.assert_allclose(scores(rows, p, pairs), expected, rtol=1e-9)


def test_only_pairs_that_explain_something_are_chosen(rng):
    _, _, _, rows = _binned(rng, n=1500)
    share = np.bincount(rows.codes, rows.weight) / rows.weight.sum()
    chosen = chosen_pairs(rows, np.tile(share, (1500, 1)))
    assert [(table.a, table.b) for table, _ in chosen] == [(0, 1)]


def test_pairs_are_those_that_gain_more_than_the_best_of_many_would_by_chance(rng):
    n, d = 400, 8
    numbers = rng.normal(size=(n, d))
    product = numbers[:, 0] * numbers[:, 1] + 0.5 * numbers[:, 2] * numbers[:, 3]
    y = (product + rng.normal(size=n) > 0).astype(np.int32)
    axes = [PairAxis.of_numbers(j, numbers[:, j], 8) for j in range(d)]
    rows = BinnedRows.of(axes, numbers, np.empty((n, 0)), y, np.ones(n), 2)
    p = np.full((n, 2), 0.5)
    gains = {
        (a, b): score(PairTable.of(rows, a, b).honest_terms(rows), p, y, rows.weight)
        for a in range(d)
        for b in range(a + 1, d)
    }
    least = max(2.0, np.log(len(gains)) - 1)
    expected = [
        pair for pair in sorted(gains, key=lambda pair: -gains[pair]) if gains[pair] > least
    ]
    assert (0, 1) in expected
    assert [(table.a, table.b) for table, _ in chosen_pairs(rows, p)] == expected[:16]


def test_the_kernel_reads_no_bin_that_there_is_not():
    rows = [np.zeros((2, 3), np.int32), np.zeros((2, 3), np.int32), np.zeros((2, 3))]
    given = [np.array([1, 1], np.int32), np.zeros(3, np.int32), np.ones(3), np.ones((3, 2)) / 2]
    out = np.empty(1)
    for at, bad in ((0, 1), (1, 5)):
        wrong = [part.copy() for part in rows]
        wrong[at][0, 0] = bad
        with pytest.raises(ValueError, match="bin"):
            _kernel.judge_pairs(*wrong, *given, np.array([[0, 1]], np.int32), out)
    with pytest.raises(ValueError, match="axis"):
        _kernel.judge_pairs(*rows, *given, np.array([[0, 2]], np.int32), out)
