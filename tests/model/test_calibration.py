"""Calibration against a slow generic optimiser, and what it must survive."""

import numpy as np
import pytest
from scipy.optimize import minimize as slow_minimize
from scipy.special import log_softmax

from naively.model.calibration import Calibration, fit, line_search, minimize, sample_rows


def example(n=300, n_classes=3, n_terms=5, seed=0):
    """Draw terms that favour the true class, the later the less, and repeat one another."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    common = rng.normal(size=(n, n_classes, 1))
    terms = common + rng.normal(size=(n, n_classes, n_terms))
    terms[np.arange(n), codes] += 2.0 / (1 + np.arange(n_terms))
    prior = np.bincount(codes, minlength=n_classes) / n
    return terms, codes, rng.uniform(0.5, 2.0, n), np.log(prior)


def objective(found, terms, codes, weights, log_prior):
    """Return the penalised log loss as the formula says it, tau and the terms' own put in."""
    loss = (
        -weights @ log_softmax(found.joint(terms, log_prior), axis=1)[np.arange(len(codes)), codes]
    )
    w, pull = found.weight, 10.0

    def penalty(of):
        tau, own = of[0], of[1:]
        spread = pull * ((w - own) ** 2).sum() + pull * ((own - tau) ** 2).sum()
        return 0.5 * (spread + (tau - 1) ** 2)

    start = np.append(w.mean(), w.mean(axis=0))
    best = slow_minimize(penalty, start, tol=1e-12).fun
    return loss + best + 0.5 * 0.1 * (found.bias**2).sum()


def slowly_fitted(terms, codes, weights, log_prior):
    n_classes, n_terms = terms.shape[1:]

    def judged(x):
        w, b = x[: n_classes * n_terms].reshape(n_classes, n_terms), x[n_classes * n_terms :]
        own = w.mean(axis=0)
        # The best own and tau for given weights, from setting the derivatives to zero.
        h = 10.0 * n_classes / (n_classes + 1)
        tau = (h * own.sum() + 1.0) / (h * n_terms + 1.0)
        joint = Calibration(w, b).joint(terms, log_prior)
        loss = -weights @ log_softmax(joint, axis=1)[np.arange(len(codes)), codes]
        spread = 10.0 * ((w - own) ** 2).sum() + h * ((own - tau) ** 2).sum()
        return loss + 0.5 * (spread + (tau - 1) ** 2 + 0.1 * (b**2).sum())

    start = np.append(np.full(n_classes * n_terms, 0.5), np.zeros(n_classes))
    x = slow_minimize(judged, start, method="BFGS", options={"gtol": 1e-5}).x
    return Calibration(x[:-n_classes].reshape(n_classes, n_terms), x[-n_classes:])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_weights_are_those_of_a_slow_generic_optimiser(n_classes):
    given = example(n_classes=n_classes)
    ours, theirs = fit(*given, "weights"), slowly_fitted(*given)
    # It may leave 1e-4 nats for each row.
    least = objective(theirs, *given)
    assert least - 1e-3 <= objective(ours, *given) <= least + 1e-4 * given[2].sum()
    np.testing.assert_allclose(ours.weight, theirs.weight, rtol=0, atol=0.03)


def test_temperature_is_that_of_a_slow_generic_optimiser():
    terms, codes, weights, log_prior = example()

    def judged(x):
        joint = log_prior + x[1:] + x[0] * terms.sum(axis=2)
        loss = -weights @ log_softmax(joint, axis=1)[np.arange(len(codes)), codes]
        return loss + 0.5 * ((x[0] - 1) ** 2 + 0.1 * (x[1:] ** 2).sum())

    best = slow_minimize(judged, np.array([0.5, 0, 0, 0]), tol=1e-10)
    ours = fit(terms, codes, weights, log_prior, "temperature")
    tau = ours.weight[0, 0]
    assert (ours.weight == tau).all()
    assert judged(np.append(tau, ours.bias)) <= best.fun + 1e-4 * weights.sum()
    assert tau == pytest.approx(best.x[0], abs=0.01)


@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_the_order_of_rows_does_not_matter(how):
    terms, codes, weights, log_prior = example()
    order = np.random.default_rng(1).permutation(len(codes))
    a = fit(terms, codes, weights, log_prior, how)
    b = fit(terms[order], codes[order], weights[order], log_prior, how)
    np.testing.assert_allclose(a.weight, b.weight, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(a.bias, b.bias, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_a_row_of_weight_two_is_the_row_twice(how):
    terms, codes, _, log_prior = example()
    weights = np.where(np.arange(len(codes)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(codes)), weights.astype(int))
    a = fit(terms, codes, weights, log_prior, how)
    b = fit(terms[twice], codes[twice], np.ones(twice.size), log_prior, how)
    np.testing.assert_allclose(a.weight, b.weight, rtol=1e-9, atol=1e-11)


def test_what_a_term_says_of_all_classes_changes_nothing():
    terms, codes, weights, log_prior = example()
    said = np.random.default_rng(2).normal(size=(len(codes), 1, terms.shape[2])) * 100
    a, b = fit(terms, codes, weights, log_prior), fit(terms + said, codes, weights, log_prior)
    np.testing.assert_allclose(a.weight, b.weight, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        a.joint(terms, log_prior), b.joint(terms + said, log_prior), rtol=1e-6, atol=1e-9
    )


def test_a_column_counted_twice_gets_half_the_weight():
    terms, codes, weights, log_prior = example(n=3000, n_terms=1)
    once = fit(terms, codes, weights, log_prior, "temperature").weight[0, 0]
    twice = fit(np.repeat(terms, 2, axis=2), codes, weights, log_prior, "temperature").weight[0, 0]
    assert twice == pytest.approx(once / 2, rel=0.01)  # but for the pull towards 1


def test_terms_of_noise_get_little_weight():
    terms, codes, weights, log_prior = example(n=3000, n_terms=2)
    noise = np.random.default_rng(11).normal(size=terms.shape)
    found = fit(np.concatenate([terms, noise], axis=2), codes, weights, log_prior)
    # Three standard errors of a weight that 3,000 rows decide.
    assert np.abs(found.weight[:, 2:]).max() < 0.2 < found.weight[:, 0].min()


def test_probabilities_are_right_as_often_as_they_say():
    terms, codes, weights, log_prior = example(n=20_000)
    joint = fit(terms[:4000], codes[:4000], weights[:4000], log_prior).joint(terms, log_prior)
    p = np.exp(log_softmax(joint, axis=1))[4000:]
    sure, right = p.max(axis=1), p.argmax(axis=1) == codes[4000:]
    for low in (0.4, 0.6, 0.8):
        at = (sure >= low) & (sure < low + 0.2)
        # Three standard errors of a share of some two thousand rows or more.
        assert right[at].mean() == pytest.approx(sure[at].mean(), abs=0.03)


# --- what it must survive -----------------------------------------------------------------------


def assert_finite(found, terms, log_prior):
    assert np.isfinite(found.weight).all()
    assert np.isfinite(found.bias).all()
    assert np.isfinite(np.exp(log_softmax(found.joint(terms, log_prior), axis=1))).all()


@pytest.mark.parametrize("how", ["temperature", "weights"])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1e6], ids=["near", "far", "very-far"])
def test_separated_classes_have_finite_weights(how, scale):
    codes = np.arange(100) % 2
    terms = np.zeros((100, 2, 3))
    terms[np.arange(100), codes] = scale
    log_prior = np.log([0.5, 0.5])
    found = fit(terms, codes, np.ones(100), log_prior, how)
    assert_finite(found, terms, log_prior)
    assert (found.joint(terms, log_prior).argmax(axis=1) == codes).all()


@pytest.mark.parametrize("how", ["temperature", "weights"])
@pytest.mark.parametrize(
    ("n", "n_classes", "n_terms"),
    [(0, 3, 4), (5, 1, 4), (5, 3, 0), (1, 2, 2), (3, 3, 2), (40, 2, 3000), (300, 100, 4)],
    ids=["no-rows", "one-class", "no-terms", "one-row", "classes-of-one-row", "many-terms", "many"],
)
def test_small_and_large_tables_are_fitted(how, n, n_classes, n_terms):
    rng = np.random.default_rng(4)
    terms = rng.normal(size=(n, n_classes, n_terms))
    codes = np.arange(n) % n_classes
    log_prior = np.full(n_classes, -np.log(n_classes))
    found = fit(terms, codes, np.ones(n), log_prior, how)
    assert found.weight.shape == (n_classes, n_terms)
    assert_finite(found, terms, log_prior)


@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_a_class_of_probability_zero_keeps_it(how):
    terms, codes, weights, log_prior = example()
    more = np.concatenate([terms, terms[:, :1]], axis=1)
    given = np.append(log_prior, -np.inf)
    found = fit(more, codes, weights, given, how)
    assert np.isfinite(found.weight).all()
    assert np.isneginf(found.joint(more, given)[:, -1]).all()


def test_without_rows_it_is_naive_bayes():
    found = fit(np.zeros((0, 2, 3)), np.zeros(0, int), np.zeros(0), np.log([0.5, 0.5]))
    np.testing.assert_allclose(found.weight, 1.0, atol=0.01)
    np.testing.assert_allclose(found.bias, 0.0, atol=0.01)


def test_more_terms_need_no_more_memory_than_they_are_worth():
    for n_classes in (2, 10, 100):
        for n_terms in (1, 100, 5000):
            rows = sample_rows(n_classes, n_terms)
            assert 500 <= rows <= 4000
            assert rows == 500 or rows * n_classes * n_terms <= 1_500_000


# --- the minimiser ------------------------------------------------------------------------------


def test_the_minimiser_finds_the_bottom_of_a_crooked_bowl():
    rng = np.random.default_rng(5)
    root = rng.normal(size=(12, 6)) * np.geomspace(1, 100, 6)
    hessian, bottom = root.T @ root, rng.normal(size=6)

    def judged(x):
        away = x - bottom
        return 0.5 * float(away @ hessian @ away), hessian @ away

    found = minimize(judged, np.zeros(6), lambda slope: slope / np.diag(hessian), enough=1e-16)
    np.testing.assert_allclose(found, bottom, atol=1e-6)


def test_a_step_that_overshoots_is_halved():
    def judged(x):
        return float(x @ x), 2 * x

    x, value, slope = line_search(judged, np.array([1.0]), np.array([5.0]), 1.0, 10.0)
    assert value < 1.0
    assert x[0] == 1.0 - 1.25
    assert slope[0] == 2 * x[0]


@pytest.mark.parametrize("least", [-1e100, -1e200, -1e307])
@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_a_row_that_is_too_far_from_every_class_leaves_weights_finite(how, least):
    terms, *rest = example()
    terms[0] = least * np.arange(1, 4)[:, np.newaxis]
    found = fit(terms, *rest, how)
    assert np.isfinite(found.weight).all()
    assert np.isfinite(found.bias).all()
