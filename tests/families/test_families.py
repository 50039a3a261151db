"""Every family against its oracle in scipy.stats, and the promises that bind them all."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special, stats

from naively import NaiveBayes
from naively.data.functions import function_values
from naively.errors import NaivelyError
from naively.families import (
    FAMILIES,
    Bernoulli,
    Beta,
    Categorical,
    Exponential,
    Gamma,
    Gaussian,
    Histogram,
    KernelDensity,
    LogNormal,
    NegativeBinomial,
    Poisson,
    StudentT,
    VonMises,
)
from naively.families.edges import Edges, bin_of, edges
from naively.families.histogram import BinnedColumns, _log_rising
from naively.families.kernel_density import SampledColumns
from naively.families.student_t import _log_gamma_step
from naively.statistics import Bins, FunctionMoments, Moments, Sample, Tallies
from tests.families.test_new_families import Waiting

RNG = np.random.default_rng(0)
CODES = RNG.integers(3, size=80)
REALS = RNG.normal(size=(80, 3)) * [1.0, 100.0, 1e-3] + CODES[:, np.newaxis] * [1.0, 0.0, 1e-3]
REALS[RNG.random(REALS.shape) < 0.1] = np.nan
COUNTS = RNG.poisson(1 + 2.0 * CODES[:, np.newaxis], size=(80, 3)).astype(float)
BITS = (RNG.random((80, 3)) < 0.2 + 0.2 * CODES[:, np.newaxis]).astype(float)
LETTERS = (RNG.integers(5, size=80) * (1 + CODES)) % 7
LETTERS[:4] = -1
AT = edges(REALS, bins=16)

WAITS = RNG.exponential(1 + 2.0 * CODES[:, np.newaxis], size=(80, 3))


SHARES = RNG.beta(0.5 + CODES[:, np.newaxis], 2.0, size=(80, 3))
HOURS = RNG.vonmises(CODES[:, np.newaxis], 2.0, size=(80, 3)) * 12 / np.pi % 24


NUMBERS = [
    pytest.param(Waiting(), WAITS, id="waiting, which is new"),
    pytest.param(Gaussian(), REALS, id="gaussian"),
    pytest.param(Gaussian(variance="shared", ddof=1), REALS, id="gaussian-shared"),
    pytest.param(StudentT(), REALS, id="student_t"),
    pytest.param(StudentT(kappa=0.1, nu=5.0, tails=np.inf), REALS, id="student_t-free"),
    pytest.param(Histogram(), REALS, id="histogram"),
    pytest.param(Histogram(strength=3.0, growth=1.0), REALS, id="histogram-given"),
    pytest.param(Bernoulli(), BITS, id="bernoulli"),
    pytest.param(Poisson(), COUNTS, id="poisson"),
    pytest.param(LogNormal(), WAITS, id="log_normal"),
    pytest.param(Exponential(), WAITS, id="exponential"),
    pytest.param(NegativeBinomial(), COUNTS**2, id="negative_binomial"),
    pytest.param(NegativeBinomial(dispersion=1e-8), COUNTS, id="negative_binomial-poisson"),
    pytest.param(KernelDensity(), REALS, id="kernel_density"),
    pytest.param(Gamma(), WAITS, id="gamma"),
    pytest.param(Beta(), SHARES, id="beta"),
    pytest.param(VonMises(period=24.0), HOURS, id="von_mises"),
]
CATEGORIES = [
    pytest.param(Categorical(), LETTERS, id="categorical"),
    pytest.param(Categorical(alpha=0.5), LETTERS, id="categorical-alpha"),
]


def measured(family, x, codes, weights=None, n_classes=3, n_categories=7):
    """Return the statistic of some rows, by plain loops."""
    weights = np.ones(len(x)) if weights is None else weights
    if family.reads is Tallies:
        tally = np.zeros((n_classes, n_categories))
        for code, cell, weight in zip(codes, x, weights, strict=True):
            tally[code, cell] += weight if cell >= 0 else 0.0
        return tally
    if family.reads is Bins:
        return BinnedColumns(binned(x, codes, weights, AT, n_classes), AT)
    if family.reads is Sample:
        return SampledColumns(x, codes, weights, n_classes)
    if family.reads is FunctionMoments:
        x = np.stack([function_values(name, x, p) for name, p in family.functions], axis=1)
    total = Moments.zero(n_classes, *x.shape[1:])
    for code, cells, weight in zip(codes, x, weights, strict=True):
        one = np.zeros((4, n_classes, *x.shape[1:]))
        one[0, code] = np.where(np.isnan(cells), 0.0, weight)
        one[1, code] = np.where(np.isnan(cells), 0.0, cells)
        total += Moments(one)
    return total


def binned(x, codes, weights, at, n_classes):
    tally = np.zeros((n_classes, *at.knots.shape))
    for code, bins, weight in zip(codes, bin_of(x, at), weights, strict=True):
        for j in np.flatnonzero(bins >= 0):
            tally[code, j, bins[j]] += weight
    return tally


# --- oracles ------------------------------------------------------------------------------------


def test_every_family_is_registered_under_its_name_and_has_an_oracle():
    for name, family in FAMILIES.items():
        assert family.name == name
        assert hasattr(stats, family.oracle)


@pytest.mark.parametrize("tails", [4.0, np.inf])
def test_student_t_is_that_of_scipy(tails):
    family = StudentT(tails=tails)
    found = family.parameters(measured(family, REALS, CODES))
    theirs = stats.t(found.df, found.loc, found.scale).logpdf(REALS[:, np.newaxis])
    assert found.df.max() <= tails
    # A few ulp of the terms, which are below 20.
    np.testing.assert_allclose(
        family.log_density(REALS, found), np.nan_to_num(theirs), rtol=0, atol=1e-13
    )


def test_student_t_is_the_posterior_predictive_of_a_gaussian():
    cells, kappa, nu = np.array([[0.3], [1.9], [2.2], [0.4], [5.0], [6.5]]), 0.7, 3.0
    codes = np.array([0, 0, 0, 0, 1, 1])
    family = StudentT(kappa=kappa, nu=nu, tails=np.inf)
    found = family.parameters(measured(family, cells, codes, n_classes=2))
    mean, variance = found.prior.mean[0], found.prior.variance[0]
    x = cells[:4, 0]

    def posterior(log_sigma2, also=()):
        """Integrate the mean out by hand: what remains is Gaussian in it, given the variance."""
        sigma2 = np.exp(log_sigma2)
        given = np.append(x, also)
        weight = kappa + given.size
        centre = (kappa * mean + given.sum()) / weight
        squares = ((given - centre) ** 2).sum() + kappa * (mean - centre) ** 2
        likelihood = np.exp(-squares / (2 * sigma2)) * sigma2 ** (-given.size / 2)
        prior = stats.chi2(nu).pdf(nu * variance / sigma2) / sigma2  # of log sigma2
        return likelihood * prior * np.sqrt(kappa / weight) * (2 * np.pi) ** (-given.size / 2)

    def evidence(also=()):
        return integrate.quad(posterior, -12, 12, args=(also,), epsabs=0, epsrel=1e-11, limit=200)[
            0
        ]

    for new in (-1.0, 1.2, 4.0):
        exact = np.log(evidence((new,)) / evidence())
        ours = family.log_density(np.array([[new]]), found)[0, 0, 0]
        assert ours == pytest.approx(exact, abs=1e-8)  # that of the quadrature


def test_gaussian_is_that_of_scipy():
    found = Gaussian().parameters(measured(Gaussian(), REALS, CODES))
    theirs = stats.norm(found.mean, np.sqrt(found.variance)).logpdf(REALS[:, np.newaxis])
    ours = Gaussian().log_density(REALS, found)
    np.testing.assert_allclose(ours, np.nan_to_num(theirs), rtol=1e-13, atol=1e-13)


def test_bernoulli_is_that_of_scipy():
    found = Bernoulli(alpha=2.0).parameters(measured(Bernoulli(), BITS, CODES))
    ones = np.stack([BITS[k == CODES].sum(axis=0) for k in range(3)])
    rows = np.bincount(CODES)[:, np.newaxis]
    theirs = stats.bernoulli((ones + 2) / (rows + 4)).logpmf(BITS[:, np.newaxis])
    np.testing.assert_allclose(Bernoulli().log_density(BITS, found), theirs, rtol=1e-12)


def test_poisson_is_that_of_scipy():
    found = Poisson(alpha=2.0).parameters(measured(Poisson(), COUNTS, CODES))
    sums = np.stack([COUNTS[k == CODES].sum(axis=0) for k in range(3)])
    rows = np.bincount(CODES)[:, np.newaxis]
    rate = (sums + 2 * COUNTS.mean(axis=0)) / (rows + 2)
    theirs = stats.poisson(rate).logpmf(COUNTS[:, np.newaxis])
    np.testing.assert_allclose(Poisson().log_density(COUNTS, found), theirs, rtol=1e-12)


def test_log_normal_is_that_of_scipy():
    found = LogNormal().parameters(measured(LogNormal(), WAITS, CODES))
    logs = np.log(WAITS)
    for k in range(3):
        mean, variance = logs[k == CODES].mean(axis=0), logs[k == CODES].var(axis=0)
        deviation = np.sqrt(variance + 1e-9 * logs.var(axis=0))
        theirs = stats.lognorm(deviation, scale=np.exp(mean)).logpdf(WAITS)
        np.testing.assert_allclose(LogNormal().log_density(WAITS, found)[:, k], theirs, rtol=1e-11)


def test_exponential_is_that_of_scipy():
    found = Exponential(alpha=2.0).parameters(measured(Exponential(), WAITS, CODES))
    for k in range(3):
        own = WAITS[k == CODES]
        mean = (own.sum(axis=0) + 2 * WAITS.mean(axis=0)) / (len(own) + 2)
        theirs = stats.expon(scale=mean).logpdf(WAITS)
        ours = Exponential().log_density(WAITS, found)[:, k]
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


def likeliest(family, means):
    """Return whether no other parameters are likelier for cells of these means of functions."""
    A, B = family.line(means)
    best = A + (B * means).sum(axis=-2)
    steps = np.eye(len(means)) * 1e-3
    for step in [*steps, *-steps]:
        other = means * (1 + step[:, np.newaxis])  # the parameters of means nearby
        with np.errstate(invalid="ignore"):
            A, B = family.line(other)
            assert not (A + (B * means).sum(axis=-2) > best + 1e-12).any()


def test_gamma_is_that_of_scipy_and_the_likeliest():
    found = Gamma().parameters(measured(Gamma(), WAITS, CODES))
    for k in range(3):
        shape, rate = found.B[k, 1] + 1, -found.B[k, 0]
        theirs = stats.gamma(shape, scale=1 / rate).logpdf(WAITS)
        ours = Gamma().log_density(WAITS, found)[:, k]
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
    one = np.stack([WAITS.mean(axis=0), np.log(WAITS).mean(axis=0)])
    likeliest(Gamma(), one)
    for j in range(3):
        shape, _, scale = stats.gamma.fit(WAITS[:, j], floc=0)
        _, B = Gamma().line(one)
        np.testing.assert_allclose([B[1, j] + 1, -1 / B[0, j]], [shape, scale], rtol=1e-6)


@pytest.mark.parametrize("shape", [1e-3, 0.1, 1.0, 30.0, 1e4, 9e5])
def test_the_shape_of_a_gamma_is_found_wherever_it_is(shape):
    means = np.array([[3.0], [np.log(3.0) - (np.log(shape) - special.psi(shape))]])
    _, B = Gamma().line(means)
    # The difference of two logarithms has few digits where the shape is large.
    np.testing.assert_allclose(B[1, 0] + 1, shape, rtol=1e-10 + 1e-14 * shape)


def test_negative_binomial_is_that_of_scipy():
    cells = COUNTS**2
    family = NegativeBinomial(alpha=2.0)
    found = family.parameters(measured(family, cells, CODES))
    own = [cells[k == CODES] for k in range(3)]
    squares = sum(len(x) * x.mean(axis=0) ** 2 for x in own)
    excess = sum(((x - x.mean(axis=0)) ** 2 - x).sum(axis=0) for x in own)
    np.testing.assert_allclose(found.size, squares / excess, rtol=1e-12)
    for k in range(3):
        mean = (own[k].sum(axis=0) + 2 * cells.mean(axis=0)) / (len(own[k]) + 2)
        theirs = stats.nbinom(found.size, found.size / (found.size + mean)).logpmf(cells)
        ours = family.log_density(cells, found)[:, k]
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("mean", [1e9, 1e12, 1e15, 1e100])
def test_a_negative_binomial_of_large_counts_is_a_gamma(mean):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = np.floor(rng.gamma(2.0, mean * (1 + y)))[:, np.newaxis]
    model = NaiveBayes(families={0: NegativeBinomial()}, calibration=None).fit(X, y)
    found = model.model_.terms[0].parameters
    expected = stats.gamma.logpdf(X, found.size, scale=found.mean[:, 0] / found.size)
    joint = model.predict_joint_log_proba(X) - np.log(0.5)
    np.testing.assert_allclose(joint, expected, rtol=0, atol=1e-5)


def test_a_negative_binomial_of_no_dispersion_is_a_poisson():
    cells = COUNTS[:, :1]
    families = NegativeBinomial(dispersion=1e-8), Poisson()
    ours, theirs = (f.log_density(cells, f.parameters(measured(f, cells, CODES))) for f in families)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)  # x^2 times the dispersion


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, 1e9])
def test_a_dispersion_must_be_positive(wrong):
    with pytest.raises(NaivelyError, match="dispersion must be from 1e-08 to 1e"):
        NegativeBinomial(dispersion=wrong)


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_kernel_density_is_that_of_scipy(weighted):
    x = RNG.normal(size=(60, 1)) * [2.0]
    w = RNG.uniform(0.5, 2.0, 60) if weighted else np.ones(60)
    codes = np.arange(60) % 2
    family = KernelDensity(alpha=2.0)
    found = family.parameters(SampledColumns(x, codes, w, 2))
    variance = np.average((x[:, 0] - np.average(x[:, 0], weights=w)) ** 2, weights=w)

    def oracle(rows, h):
        kde = stats.gaussian_kde(x[rows, 0], bw_method=lambda _: 1.0, weights=w[rows])
        kde.set_bandwidth(h / np.sqrt(kde._data_covariance[0, 0]))
        return kde

    pooled = oracle(slice(None), np.sqrt(variance) * w.sum() ** -0.2)
    at = np.linspace(-6, 6, 41)
    ours = np.exp(family.log_density(at[:, np.newaxis], found))[:, :, 0]
    for k in range(2):
        own = codes == k
        total, mean = w[own].sum(), np.average(x[own, 0], weights=w[own])
        m2 = w[own] @ (x[own, 0] - mean) ** 2
        h = np.sqrt((m2 + 2 * variance) / (total + 2)) * (total + 2) ** -0.2
        np.testing.assert_allclose(found.bandwidth[k, 0], h, rtol=1e-12)
        theirs = (total * oracle(own, h)(at) + 2 * pooled(at)) / (total + 2)
        np.testing.assert_allclose(ours[:, k], theirs, rtol=1e-9)


SHAPES = {
    "normal": lambda rng: rng.normal(size=1500),
    "two hills": lambda rng: rng.normal(np.where(rng.random(1500) < 0.5, -9.0, 9.0), 1.0),
    "uniform": lambda rng: rng.random(1500),
    "skewed": lambda rng: rng.lognormal(0.0, 1.0, 1500),
    "heavy": lambda rng: rng.standard_t(3, 1500),
    "counts": lambda rng: rng.poisson(3.0, 1500).astype(float),
    "one far away": lambda rng: np.append(rng.normal(size=1499), 1e3),
    "few": lambda rng: rng.normal(size=5),
    "huge": lambda rng: 1e150 * rng.random(50),
    "tiny": lambda rng: 1e-140 * rng.random(50),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_form_of_a_kernel_density_is_as_near_as_it_says(shape):
    x = SHAPES[shape](np.random.default_rng(0))[:, np.newaxis]
    family, codes = KernelDensity(), np.arange(len(x)) % 2
    found = family.parameters(SampledColumns(x, codes, np.ones(len(x)), 2))
    lowest, highest = found.prior.lowest[0], found.prior.highest[0]
    line = np.concatenate([np.linspace(lowest, highest, 3001), x[:, 0]])[:, np.newaxis]
    joint = np.zeros((len(line), 2))
    assert family.form(found, np.ones((2, 1))).add(line, joint)
    exact = family.log_density(line, found)[:, :, 0]
    depth = np.maximum((exact.max(axis=0) - exact) / 10, 1.0)
    assert (np.abs(joint - exact) <= family.error * depth).all()
    if shape != "huge":  # whose density is less than the least float64
        area = np.trapezoid(np.exp(exact[:3001]), line[:3001, 0], axis=0)
        coarse = shape == "one far away"  # a bell between two points of the line
        np.testing.assert_allclose(area, 1.0, atol=0.05 if coarse else 1e-3)


def test_beta_is_that_of_scipy_and_the_likeliest():
    found = Beta().parameters(measured(Beta(), SHARES, CODES))
    for k in range(3):
        a, b = found.B[k] + 1
        theirs = stats.beta(a, b).logpdf(SHARES)
        ours = Beta().log_density(SHARES, found)[:, k]
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
    means = np.stack([np.log(SHARES).mean(axis=0), np.log1p(-SHARES).mean(axis=0)])
    likeliest(Beta(), means)


@pytest.mark.parametrize("a", [1e-2, 0.3, 1.0, 20.0, 1e4])
@pytest.mark.parametrize("b", [1e-2, 0.3, 1.0, 20.0, 1e4])
def test_the_numbers_of_a_beta_are_found_wherever_they_are(a, b):
    both = special.psi(a + b)
    means = np.array([[special.psi(a) - both], [special.psi(b) - both]])
    np.testing.assert_allclose((Beta().line(means)[1] + 1)[:, 0], [a, b], rtol=1e-6)


def test_von_mises_is_that_of_scipy_and_the_likeliest():
    family = VonMises(period=24.0)
    found = family.parameters(measured(family, HOURS, CODES))
    for k in range(3):
        kappa, mu = np.hypot(*found.B[k]), np.arctan2(*found.B[k][::-1])
        theirs = stats.vonmises(kappa, mu).logpdf(HOURS * np.pi / 12) + np.log(np.pi / 12)
        ours = family.log_density(HOURS, found)[:, k]
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
    angle = HOURS * np.pi / 12
    likeliest(family, np.stack([np.cos(angle).mean(axis=0), np.sin(angle).mean(axis=0)]))


@pytest.mark.parametrize("kappa", [0.0, 1e-9, 1e-3, 0.5, 2.0, 50.0, 1e4, 9e5])
def test_the_concentration_of_a_von_mises_is_found_wherever_it_is(kappa):
    length = special.i1e(kappa) / special.i0e(kappa)
    _, B = VonMises().line(np.array([[length], [0.0]]))
    # A length near 1 has few digits of the difference.
    np.testing.assert_allclose(B[0, 0], kappa, rtol=1e-10 + 1e-14 * kappa**2, atol=1e-15)


def test_a_von_mises_comes_round_again():
    family = VonMises(period=7.0)
    found = family.parameters(measured(family, HOURS, CODES))
    again = family.log_density(HOURS + 7 * 1000, found)
    np.testing.assert_allclose(again, family.log_density(HOURS, found), rtol=0, atol=1e-9)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, np.nan])
def test_a_period_must_be_positive(wrong):
    with pytest.raises(NaivelyError, match="period"):
        VonMises(period=wrong)


def test_categorical_with_alpha_is_the_exact_fraction():
    tallies = measured(Categorical(), LETTERS, CODES)
    shares = Categorical(alpha=0.5).parameters(tallies).log_share
    for k in range(3):
        exact = [Fraction(2 * int(w) + 1, 2 * int(tallies[k].sum()) + 7) for w in (*tallies[k], 0)]
        np.testing.assert_allclose(np.exp(shares[k]), np.array(exact, float), rtol=1e-14)
    ours = Categorical(alpha=0.5).log_density(
        LETTERS[4:], Categorical(alpha=0.5).parameters(tallies)
    )
    p = np.exp(shares[1, :7])
    theirs = stats.multinomial(1, p / p.sum()).logpmf(np.eye(7)[LETTERS[4:]])
    np.testing.assert_allclose(ours[:, 1], theirs, rtol=1e-12)


def test_categorical_takes_the_strength_under_which_tallies_are_likeliest():
    for spread in (0.0, 0.3, 3.0):  # of classes around their common shares
        rng = np.random.default_rng(1)
        shares = special.softmax(spread * rng.normal(size=(4, 6)), axis=1)
        tallies = np.stack([rng.multinomial(60, p) for p in shares]).astype(float)
        prior = Categorical().parameters(tallies).prior

        def likelihood(a, prior=prior, tallies=tallies):
            each = a * (prior.weight / prior.total)[:6]
            # A tiny last category stands for those never seen, as in the prior.
            alpha = np.append(each, a - each.sum())
            counts = np.column_stack([tallies, np.zeros(4)]).astype(int)
            return stats.dirichlet_multinomial(alpha, 60).logpmf(counts).sum()

        # Strengths are four times as large as the one before; the ends have one neighbour.
        others = [a for a in (prior.total / 4, prior.total * 4) if 0.5 <= a <= 512]
        assert all(likelihood(prior.total) >= likelihood(a) - 1e-5 for a in others)


def test_histogram_splits_are_posterior_means_of_beta():
    x, codes = np.arange(8.0)[:, np.newaxis], np.array([0, 0, 0, 1, 0, 1, 1, 1])
    at = edges(x, bins=4)
    bins = BinnedColumns(binned(x, codes, np.ones(8), at, 2), at)
    found = Histogram(strength=2.0, growth=3.0).parameters(bins)
    for k in range(2):
        w, total = bins.weight[k, 0], 1.0
        for b in range(4):
            half, pair = w.reshape(2, 2).sum(axis=1), w.reshape(2, 2)[b // 2]
            root = stats.beta(2 * 0.5 + half[b // 2], 2 * 0.5 + half[1 - b // 2]).mean()
            leaf = stats.beta(6 * 0.5 + pair[b % 2], 6 * 0.5 + pair[1 - b % 2]).mean()
            assert found.log_ratio[k, 0, b] == pytest.approx(np.log(root * leaf / 0.25), rel=1e-13)
            total -= root * leaf
        assert total == pytest.approx(0.0, abs=1e-14)


def test_histogram_takes_the_strength_under_which_splits_are_likeliest():
    bins = measured(Histogram(), REALS, CODES)
    prior = Histogram().parameters(bins).prior

    def likelihood(j, strength):
        total, level, pooled = 0.0, bins.weight[:, j], prior.weight[j]
        depth = int(np.log2(pooled.size)) - 1
        while pooled.size > 1:
            left, whole = pooled[::2], pooled[::2] + pooled[1::2]
            for node in np.flatnonzero((left > 0) & (left < whole)):
                q, c = left[node] / whole[node], strength * 2.0**depth
                n = level[:, 2 * node] + level[:, 2 * node + 1]
                beta = stats.betabinom(n.astype(int), c * q, c * (1 - q))
                split = beta.logpmf(level[:, 2 * node])
                total += (split - np.log(special.comb(n, level[:, 2 * node]))).sum()
            level, pooled, depth = level[:, ::2] + level[:, 1::2], whole, depth - 1
        return total

    for j, best in enumerate(prior.strength):
        others = [c for c in (best / 4, best * 4) if 0.5 <= c <= 128]
        assert all(likelihood(j, best) >= likelihood(j, c) - 1e-4 for c in others)


def test_the_step_of_the_gamma_function_keeps_its_digits():
    x = np.geomspace(1e-9, 100, 3001)  # beyond, the difference of scipy's loses digits
    steps = special.gammaln(x + 0.5) - special.gammaln(x)
    np.testing.assert_allclose(_log_gamma_step(x), steps, rtol=0, atol=5e-13)
    huge = np.array([1e40, 1e80, 1e100, 1e150, 1e300])
    np.testing.assert_allclose(_log_gamma_step(huge), np.log(huge) / 2, rtol=1e-15)  # + 1 / (8 x)


def test_the_gamma_function_of_huge_weights_is_finite():
    x = np.array([1e40, 1e80, 1e100, 1e150, 1e300])
    assert np.isfinite(_log_rising(x, x)).all()


ORACLES = {
    "gaussian": lambda found, at: stats.norm(found.mean[at], np.sqrt(found.variance[at])),
    "student_t": lambda found, at: stats.t(found.df[at], found.loc[at], found.scale[at]),
    "poisson": lambda found, at: stats.poisson(found.rate[at]),
    "bernoulli": lambda found, at: stats.bernoulli(found.p[at]),
    "log_normal": lambda found, at: stats.lognorm(
        np.sqrt(found.variance[at]), scale=np.exp(found.mean[at])
    ),
    "exponential": lambda found, at: stats.expon(scale=-1 / found.B[at, 0]),
    "negative_binomial": lambda found, at: stats.nbinom(
        found.size, found.size / (found.size + found.mean[at])
    ),
    "gamma": lambda found, at: stats.gamma(found.B[at, 1] + 1, scale=-1 / found.B[at, 0]),
    "beta": lambda found, at: stats.beta(*(found.B[at] + 1).swapaxes(0, 1)),
}


@pytest.mark.parametrize(("family", "x"), [one for one in NUMBERS if one.values[0].name in ORACLES])
def test_the_distribution_function_is_that_of_scipy(family, x):
    found = family.parameters(measured(family, x, CODES))
    for cells in (x, x - 0.5, x * 3, -x):
        theirs = ORACLES[family.name](found, CODES).cdf(cells)
        np.testing.assert_allclose(family.cdf(cells, CODES, found), theirs, rtol=1e-9, atol=1e-12)


def test_the_distribution_function_of_a_histogram_adds_up_its_bins():
    family = Histogram()
    found = family.parameters(measured(family, REALS, CODES))
    for k in range(3):
        for j in range(3):
            full = found.prior.weight[j] > 0
            q = found.prior.weight[j] / found.prior.weight[j].sum()
            share = (q * np.exp(found.log_ratio[k, j]))[full]
            assert share.sum() == pytest.approx(1.0, rel=1e-12)
            x = np.full((full.sum() + 5, 3), np.nan)
            knots, cut = found.knots[j][full], found.cuts[j][full[:-1]][0]
            x[:, j] = [*knots, cut, (knots[0] + cut) / 2, -1e9, 1e9, np.nan]
            middle = np.cumsum(share) - share / 2
            wanted = [*middle, share[0], 0.75 * share[0], 0.0, 1.0, np.nan]
            ours = family.cdf(x, np.full(len(x), k), found)
            np.testing.assert_allclose(ours[:, j], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(("family", "x"), NUMBERS + CATEGORIES)
def test_leaving_a_row_out_is_reading_the_others_anew(family, x, weighted):
    weights = np.random.default_rng(2).uniform(0.5, 3.0, 80) if weighted else np.ones(80)
    whole = measured(family, x, CODES, weights)
    found = family.parameters(whole)
    ours = family.left_out(x, CODES, weights, whole, found)
    for i in range(0, 80, 9):
        others = np.arange(80) != i
        rest = measured(family, x[others], CODES[others], weights[others])
        # The Gaussian holds what smoothing adds, which is all that all classes give it.
        prior = {"prior": found.prior} if hasattr(found, "prior") else {}
        again = family.parameters(rest, **prior)
        theirs = family.log_density(x[i : i + 1], again)[0, CODES[i]]
        np.testing.assert_allclose(ours[i], theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("family", "x"), NUMBERS + CATEGORIES)
def test_rows_left_out_together_are_as_each_left_out_alone(family, x):
    whole = measured(family, x, CODES)
    found = family.parameters(whole)
    together = family.left_out(x, CODES, np.ones(80), whole, found)
    rows = [slice(i, i + 1) for i in range(80)]
    alone = [family.left_out(x[i], CODES[i], np.ones(1), whole, found) for i in rows]
    # Log ratios of a tree of four levels: sums of four logarithms, and differences of such sums.
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("family", "x"), NUMBERS + CATEGORIES)
def test_the_form_gives_the_log_density_of_column_after_column(family, x):
    found = family.parameters(measured(family, x, CODES))
    form = family.form(found, np.ones((3, 1 if x.ndim == 1 else x.shape[1])))
    each = np.stack(list(form.each(x.reshape(80, -1), 3)), axis=2)
    expected = family.log_density(x, found).reshape(each.shape)
    np.testing.assert_allclose(each, expected, rtol=1e-12, atol=1e-12 + family.error)


@pytest.mark.parametrize(("family", "x"), NUMBERS + CATEGORIES)
def test_a_row_of_weight_two_is_the_row_twice(family, x):
    weights = np.where(np.arange(80) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(80), weights.astype(int))
    once = family.parameters(measured(family, x, CODES, weights))
    again = family.parameters(measured(family, x[twice], CODES[twice]))
    ours, theirs = family.log_density(x, once), family.log_density(x, again)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("family", "x"), NUMBERS + CATEGORIES)
def test_a_missing_cell_has_no_say(family, x):
    statistic = measured(family, x, CODES)
    found = family.parameters(statistic)
    missing = np.full_like(x[:3], -1 if x.dtype.kind == "i" else np.nan)
    assert not family.log_density(missing, found).any()
    assert not family.left_out(missing, CODES[:3], np.ones(3), statistic, found).any()


@pytest.mark.parametrize(("family", "x"), NUMBERS + CATEGORIES)
def test_no_rows_have_no_terms(family, x):
    statistic = measured(family, x, CODES)
    found = family.parameters(statistic)
    assert family.log_density(x[:0], found).shape[:2] == (0, 3)
    assert family.left_out(x[:0], CODES[:0], np.ones(0), statistic, found).shape == x[:0].shape


@pytest.mark.parametrize(("family", "x"), NUMBERS + CATEGORIES)
def test_a_column_that_was_never_seen_has_no_say(family, x):
    found = family.parameters(measured(family, x[:0], CODES[:0]))
    terms = family.log_density(x, found)
    assert (terms == terms[:, :1]).all()  # of categories, the same for all classes


@pytest.mark.parametrize(("family", "x"), NUMBERS + CATEGORIES)
def test_a_class_without_cells_is_what_all_classes_are(family, x):
    one = family.parameters(measured(family, x, np.zeros(80, int)))
    terms = family.log_density(x, one)
    assert np.isfinite(terms).all()
    np.testing.assert_array_equal(terms[:, 1], terms[:, 2])
    if not isinstance(family, StudentT):  # which knows that it has seen no cell
        np.testing.assert_allclose(terms[:, 1], terms[:, 0], rtol=0.2, atol=0.1)


@pytest.mark.parametrize("cell", [1e200, -1e200, 1.7e308, -1.7e308, 5e-324])
@pytest.mark.parametrize(("family", "x"), NUMBERS)
def test_every_finite_cell_has_a_finite_term(family, x, cell):
    statistic = measured(family, x, CODES)
    found = family.parameters(statistic)
    far = np.full((2, 3), cell)
    assert np.isfinite(family.log_density(far, found)).all()


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e8])
@pytest.mark.parametrize(
    "family",
    [
        Gaussian(),
        StudentT(),
        Bernoulli(),
        Poisson(),
        NegativeBinomial(),
        KernelDensity(),
        LogNormal(),
        Exponential(),
        Gamma(),
        Beta(),
        VonMises(),
    ],
)
def test_a_constant_column_says_the_same_of_all_classes(family, value):
    if not family.support[0] <= value <= family.support[1]:
        return
    x = np.full((6, 1), value)
    found = family.parameters(measured(family, x, np.array([0, 0, 0, 1, 1, 1]), n_classes=2))
    terms = family.log_density(x, found)
    assert np.isfinite(terms).all()
    np.testing.assert_allclose(terms[:, 0], terms[:, 1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("family", "x"), NUMBERS + CATEGORIES)
def test_classes_of_one_row_are_read_and_left_out(family, x):
    rows = [10, 11, 12]
    codes = np.arange(3)
    statistic = measured(family, x[rows], codes)
    found = family.parameters(statistic)
    left = family.left_out(x[rows], codes, np.ones(3), statistic, found)
    assert np.isfinite(family.log_density(x[rows], found)).all()
    assert np.isfinite(left).all()


@pytest.mark.parametrize("equal", [True, False], ids=["equal-weights", "own-weights"])
@pytest.mark.parametrize(("family", "x"), NUMBERS)
def test_the_form_adds_up_weighted_terms(family, x, equal):
    found = family.parameters(measured(family, x, CODES))
    weight = np.full((3, 3), 0.5) if equal else np.random.default_rng(4).normal(size=(3, 3))
    joint = np.zeros((80, 3))
    assert family.form(found, weight).add(np.ascontiguousarray(x), joint)
    terms = family.log_density(x, found)
    centred = terms - terms.mean(axis=1, keepdims=True)
    theirs = (centred * weight).sum(axis=2)
    joint -= joint.mean(axis=1, keepdims=True)
    theirs -= theirs.mean(axis=1, keepdims=True)
    error = 2 * family.error * np.abs(weight).sum()
    np.testing.assert_allclose(joint, theirs, rtol=1e-9, atol=1e-9 + error)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("family", [Bernoulli, Poisson, NegativeBinomial, Gamma, VonMises])
def test_alpha_must_be_positive(family, wrong):
    with pytest.raises(NaivelyError, match="alpha must be > 0"):
        family(alpha=wrong)


def test_the_prior_of_student_t_must_be_worth_something():
    with pytest.raises(NaivelyError, match=r"kappa, nu and tails must be > 0, .*; got kappa=0"):
        StudentT(kappa=0)


@pytest.mark.parametrize("wrong", [{"strength": 0}, {"strength": np.inf}, {"growth": 0}])
def test_the_prior_of_a_histogram_must_be_worth_something(wrong):
    with pytest.raises(NaivelyError, match="growth and strength must be > 0"):
        Histogram(**wrong)


# --- what some promise --------------------------------------------------------------------------


def test_a_category_that_was_never_seen_gets_the_smoothed_mass():
    tallies = np.array([[3.0, 1.0], [0.0, 4.0]])
    found = Categorical(alpha=1.0).parameters(tallies)
    np.testing.assert_allclose(
        np.exp(Categorical(alpha=1.0).log_density(np.array([2, 99]), found)), 1 / 6, rtol=1e-14
    )
    assert np.isfinite(
        Categorical().log_density(np.array([7]), Categorical().parameters(tallies))
    ).all()


def test_shares_of_all_categories_and_the_unseen_sum_to_one():
    shares = np.exp(Categorical().parameters(measured(Categorical(), LETTERS, CODES)).log_share)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-14)


def test_student_t_does_not_depend_on_the_unit():
    family = StudentT()
    first = family.log_density(REALS, family.parameters(measured(family, REALS, CODES)))
    other = 1e6 + 1e3 * REALS
    second = family.log_density(other, family.parameters(measured(family, other, CODES)))
    shift = np.where(np.isnan(REALS), 0.0, np.log(1e3))[:, np.newaxis]
    # The third column spreads by 1e-3 around 1e6 then: seven of sixteen digits are left.
    np.testing.assert_allclose(second + shift, first, rtol=0, atol=1e-5)


def test_a_poisson_class_of_zeros_has_a_positive_rate():
    x, codes = np.array([[0.0], [0.0], [3.0], [5.0]]), np.array([0, 0, 1, 1])
    found = Poisson().parameters(measured(Poisson(), x, codes, n_classes=2))
    assert (found.rate > 0).all()
    assert np.isfinite(Poisson().log_density(x, found)).all()


def test_what_is_no_count_has_no_say():
    found = Poisson().parameters(measured(Poisson(), COUNTS, CODES))
    assert not Poisson().log_density(np.full((1, 3), -1.0), found).any()


def test_no_cell_of_a_sample_lies_on_a_cut_and_knots_lie_in_their_bins():
    x = np.column_stack([REALS[:, 0], COUNTS[:, 0], np.where(COUNTS[:, 1] < 3, 0.0, REALS[:, 1])])
    at = edges(x, bins=16)
    assert not np.isin(x, at.cuts).any()
    full = binned(x, CODES, np.ones(80), at, 3).sum(axis=0) > 0
    for j in range(3):
        found = bin_of(np.repeat(at.knots[j][:, np.newaxis], 3, axis=1), at)[:, j]
        np.testing.assert_array_equal(found[full[j]], np.flatnonzero(full[j]))


def test_a_frequent_value_has_a_bin_of_its_own_with_the_knot_on_it():
    x = np.concatenate(
        [np.linspace(-1, 0, 20, endpoint=False), np.zeros(30), np.linspace(0.01, 1, 30)]
    )
    at = edges(x[:, np.newaxis], bins=8)
    own = bin_of(np.array([[0.0]]), at)[0, 0]
    assert at.knots[0, own] == 0.0
    assert np.sum(bin_of(x[:, np.newaxis], at) == own) == 30


def test_neighbouring_floats_are_told_apart():
    a, b = 1.0, np.nextafter(1.0, 2.0)
    at = edges(np.array([[a], [a], [b], [b]]), bins=2)
    assert bin_of(np.array([[a], [b]]), at)[:, 0].tolist() == [0, 1]


def test_a_cell_on_a_cut_is_in_the_bin_below():
    at = Edges(np.array([[1.0, 1.0, 2.0]]), np.array([[0.5, 1.0, 1.5, 3.0]]))
    cells = np.array([[1.0], [np.nextafter(1.0, 2.0)], [2.0], [2.1], [np.nan]])
    assert bin_of(cells, at)[:, 0].tolist() == [0, 2, 2, 3, -1]


def test_edges_of_a_constant_and_of_an_empty_column_are_there():
    at = edges(np.array([[3.0, np.nan], [3.0, np.nan]]))
    assert bin_of(np.array([[3.0, np.nan]]), at).tolist() == [[int(np.sum(at.cuts[0] < 3.0)), -1]]
    assert np.isfinite(at.knots).all()


def test_empty_bins_do_no_harm():
    x = np.repeat([0.0, 1.0, 5.0], 20)[:, np.newaxis]
    codes = np.arange(60) % 2 * (np.arange(60) < 40)
    terms = []
    for bins in (4, 16):
        at = edges(x, bins=bins)
        family = Histogram(strength=1.0, growth=1.0)
        found = family.parameters(BinnedColumns(binned(x, codes, np.ones(60), at, 2), at))
        terms.append(
            family.log_density(np.array([[-1.0], [0.0], [0.5], [1.0], [5.0], [9.0]]), found)
        )
    assert np.isfinite(terms).all()
    np.testing.assert_array_equal(terms[0][4], terms[0][5])  # flat beyond the last knot
    for found in terms:  # halfway between two values is halfway between their terms
        np.testing.assert_allclose(found[2], (found[1] + found[3]) / 2, rtol=1e-12)


def test_the_histogram_is_continuous():
    found = Histogram().parameters(measured(Histogram(), REALS, CODES))
    line = np.repeat(np.linspace(-3, 6, 4001)[:, np.newaxis], 3, axis=1) * [1.0, 100.0, 1e-3]
    steps = np.abs(np.diff(Histogram().log_density(line, found), axis=0))
    highest = max(abs(b - a) for row in found.log_ratio.reshape(-1, 16) for a, b in pairwise(row))
    assert steps.max() < highest / 2


class Twice(Poisson):
    """Another formula than its parent's."""

    def log_density(self, x, parameters):
        return 2 * super().log_density(x, parameters)


class TwiceTheTerm(Poisson):
    """The same, written for a cell and its parameters."""

    def log_term(self, x, parameters):
        return 2 * super().log_term(x, parameters)


@pytest.mark.parametrize("formula", [Twice, TwiceTheTerm])
def test_a_family_with_a_formula_of_its_own_is_scored_by_it(formula):
    X = np.random.default_rng(0).poisson(3.0, (60, 2)).astype(float)
    y = np.arange(60) % 2
    once, twice = (
        NaiveBayes(families={0: family, 1: family}, priors=[0.5, 0.5], calibration=None)
        for family in (Poisson(), formula())
    )
    ours = once.fit(X, y).predict_joint_log_proba(X) - np.log(0.5)
    theirs = twice.fit(X, y).predict_joint_log_proba(X) - np.log(0.5)
    np.testing.assert_allclose(theirs, 2 * ours, rtol=1e-12)


@pytest.mark.parametrize(
    "given", [{"ddof": -1}, {"variance": "both"}, {"smoothing": "none"}, {"var_smoothing": -1.0}]
)
def test_a_gaussian_checks_its_fields(given):
    (name,) = given
    with pytest.raises(NaivelyError, match=f"{name}.* must be|{name} must be|must be.*{name}"):
        Gaussian(**given)
