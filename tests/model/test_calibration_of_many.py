"""Calibration of many classes or columns, and of any weights: within memory, and as good."""

import numpy as np
import pytest
from scipy.optimize import minimize as slow_minimize
from scipy.special import log_softmax

from naively import GaussianNB, NaiveBayes
from naively.families.edges import Edges, edges
from naively.families.histogram import BinnedColumns, Histogram, Tree
from naively.model import calibration
from naively.model.calibration import MOST_WEIGHTS, fit, sample_rows


def example(n=300, n_classes=150, n_terms=3, seed=0):
    """Draw terms that favour the true class, the later the less."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    terms = rng.normal(size=(n, n_classes, n_terms))
    terms[np.arange(n), codes] += 2.0 / (1 + np.arange(n_terms))
    return terms, codes, rng.uniform(0.5, 2.0, n), np.full(n_classes, -np.log(n_classes))


def log_loss(w, terms, codes, weights, log_prior):
    joint = log_prior + terms @ w
    return -weights @ log_softmax(joint, axis=1)[np.arange(len(codes)), codes]


def test_many_classes_share_the_weights_that_a_slow_generic_optimiser_finds():
    given = example()

    def objective(x):
        w, tau = x[:-1], x[-1]
        return log_loss(w, *given) + 5 * ((w - tau) ** 2).sum() + 0.5 * (tau - 1) ** 2

    slow = slow_minimize(objective, np.ones(4), tol=1e-10).x
    found = fit(*given, "weights")
    assert (found.weight == found.weight[0]).all()
    assert (found.bias == 0).all()
    np.testing.assert_allclose(found.weight[0], slow[:-1], rtol=0, atol=0.03)


def test_many_classes_have_the_temperature_that_a_slow_generic_optimiser_finds():
    given = example()
    slow = slow_minimize(
        lambda x: log_loss(np.repeat(x, 3), *given) + 0.5 * (x[0] - 1) ** 2, [0.5], tol=1e-10
    ).x
    found = fit(*given, "temperature")
    np.testing.assert_allclose(found.weight, slow[0], rtol=0, atol=0.01)


def test_a_term_far_from_zero_changes_nothing_for_many_classes():
    terms, codes, weights, log_prior = example()
    moved = fit(terms - 1e6, codes, weights, log_prior)
    np.testing.assert_allclose(
        moved.weight, fit(terms, codes, weights, log_prior).weight, atol=1e-3
    )


def test_many_classes_are_better_with_calibration_than_without():
    rng = np.random.default_rng(1)
    y = rng.integers(300, size=3600)
    common = rng.normal(size=(3600, 1))  # what columns share, and naive Bayes counts four times
    X = rng.normal(size=(300, 4))[y] + common + 0.5 * rng.normal(size=(3600, 4))
    losses = [
        NaiveBayes(calibration=how).fit(X[:1800], y[:1800]).loss(X[1800:], y[1800:])
        for how in ("weights", "temperature", None)
    ]
    assert losses[0] < losses[2]
    assert losses[1] < losses[2]


@pytest.mark.parametrize("n_classes", [2, 129, 10_000, 1_000_000])
@pytest.mark.parametrize("n_terms", [1, 10, 10_000, 1_000_000])
def test_the_terms_of_a_sample_are_bounded(n_classes, n_terms):
    kept = n_classes * (n_terms if n_classes * n_terms <= MOST_WEIGHTS else 1)
    rows = sample_rows(n_classes, n_terms)
    assert rows >= 40
    assert rows * kept <= 40_000_000


@pytest.mark.parametrize("n_classes", [3, 140])
def test_too_many_weights_give_way_to_one_temperature(monkeypatch, n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(900) % n_classes
    X = rng.normal(size=(900, 4)) + y[:, np.newaxis] / n_classes
    families = dict.fromkeys(range(4), "student_t")
    wanted = NaiveBayes(calibration="temperature", families=families).fit(X, y)
    monkeypatch.setattr(calibration, "MOST_WEIGHTS", 5)
    found = NaiveBayes(families=families).fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), wanted.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("n_classes", [3, 150])
@pytest.mark.parametrize("how", ["temperature", "weights"])
@pytest.mark.parametrize("unit", [1e7, 1e15, 1e100, 1e307])
def test_the_unit_of_large_weights_does_not_matter_to_calibration(n_classes, how, unit):
    terms, codes, weights, log_prior = example(n_classes=n_classes)
    large, larger = (fit(terms, codes, of * weights, log_prior, how) for of in (1e5, unit))
    np.testing.assert_allclose(larger.weight, large.weight, atol=1e-3)
    np.testing.assert_allclose(larger.bias, large.bias, atol=1e-3)


@pytest.mark.parametrize("estimator", [GaussianNB, NaiveBayes])
@pytest.mark.parametrize("how", ["temperature", "weights"])
@pytest.mark.parametrize("unit", [1e15, 1e100])
def test_huge_weights_leave_a_calibrated_model(estimator, how, unit):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 4)) + y[:, np.newaxis]
    model = estimator(calibration=how).fit(X, y, sample_weight=unit * rng.uniform(1, 2, 300))
    assert model.score(X, y) > 0.6
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("estimator", [GaussianNB, NaiveBayes])
@pytest.mark.parametrize("how", ["temperature", "weights"])
@pytest.mark.parametrize("weight", [1e15, 1e100])
def test_one_row_of_a_huge_weight_leaves_a_calibrated_model(estimator, how, weight):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + y[:, np.newaxis]
    weights = np.ones(60)
    weights[7] = weight
    model = estimator(calibration=how).fit(X, y, sample_weight=weights)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("estimator", [GaussianNB, NaiveBayes])
@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_one_huge_cell_leaves_a_calibrated_model(estimator, how):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + y[:, np.newaxis]
    X[7, 0] = 1e100
    model = estimator(calibration=how).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def histogram_example(n_columns, n_classes=3, n=80):
    rng = np.random.default_rng(0)
    x, codes = rng.normal(size=(n, n_columns)), rng.integers(n_classes, size=n)
    x[:, ::3] = np.round(x[:, ::3])  # with equal cells
    x[:5, ::7] = np.nan
    at = edges(x, bins=8)
    weight = np.zeros((n_classes, n_columns, 8))
    for j, cuts in enumerate(at.cuts):
        for cell, k in zip(x[:, j], codes, strict=True):
            if cell == cell:
                weight[k, j, np.searchsorted(cuts, cell)] += 1
    return x, codes, BinnedColumns(weight, at)


def test_histograms_of_many_columns_are_those_of_each_column():
    family = Histogram()
    x, codes, bins = histogram_example(600)
    parameters = family.parameters(bins)
    given = codes, np.ones(len(x))
    terms, own = (
        family.log_density(x, parameters),
        family.left_out(x, *given, bins, parameters),
    )
    for j in (0, 7, 255, 256, 599):
        at = slice(j, j + 1)
        alone = BinnedColumns(bins.weight[:, at], Edges(*(part[at] for part in bins.edges)))
        np.testing.assert_array_equal(edges(x[:, at], bins=8).cuts, bins.edges.cuts[at])
        np.testing.assert_array_equal(edges(x[:, at], bins=8).knots, bins.edges.knots[at])
        found = family.parameters(alone)
        np.testing.assert_array_equal(family.log_density(x[:, at], found), terms[:, :, at])
        np.testing.assert_array_equal(family.left_out(x[:, at], *given, alone, found), own[:, at])


def test_likelihoods_of_nearly_empty_trees_are_those_of_each_node():
    from scipy.special import gammaln

    rng = np.random.default_rng(0)
    weight = np.zeros((50, 2, 8))
    for k in range(50):
        for j in range(2):
            weight[k, j, rng.integers(8)] += 1
    tree = Tree.of(weight, weight.sum(axis=0), np.ones(2), growth=2.0)
    strengths = np.array([0.5, 8.0])
    slow = np.zeros((2, 2))
    for s, strength in enumerate(strengths):
        for k, j, node in np.ndindex(50, 2, 16):
            q, c = tree.q[j, node], strength * tree.c[j, node]
            if node >= 2 and q > 0:
                slow[s, j] += gammaln(c * q + tree.child[k, j, node]) - gammaln(c * q)
                if node % 2 == 0 or tree.q[j, node - 1] == 0:
                    slow[s, j] -= gammaln(c + tree.parent[k, j, node]) - gammaln(c)
    np.testing.assert_allclose(tree.log_likelihood(strengths), slow, atol=1e-3)
