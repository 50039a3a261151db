"""The pull of weights towards each other, beside its formula, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest

from naively.model import calibration
from naively.model.calibration import PULLS, likeliest


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def _evidence(hessian, slope, pull):
    """Return the logarithm of evidence by its formula."""
    K, T = slope.shape
    found = 0.0
    for H, g in zip(hessian[:, :T, :T], slope, strict=True):
        found += 0.5 * g @ np.linalg.solve(H + pull * np.eye(T), g)
        found -= 0.5 * (K - 1) / K * np.linalg.slogdet(np.eye(T) + H / pull)[1]
    return found


@pytest.mark.parametrize("strength", [0.1, 5.0, 15.0, 60.0])
def test_the_pull_is_that_of_the_largest_evidence(rng, strength):
    roots = rng.normal(size=(3, 5, 40))
    hessian = roots @ roots.transpose(0, 2, 1)
    slope = strength * rng.normal(size=(3, 4))
    pulls = (1.0, 3.0, 10.0, 30.0, 100.0)
    expected = int(np.argmax([_evidence(hessian, slope, pull) for pull in pulls]))
    assert likeliest(hessian, slope, pulls) == expected


def test_diagonals_are_judged_as_diagonal_matrices(rng):
    diagonals, slope = rng.uniform(0, 50, size=(3, 5)), 20 * rng.normal(size=(3, 4))
    matrices = np.stack([np.diag(diagonal) for diagonal in diagonals])
    assert likeliest(diagonals, slope, PULLS) == likeliest(matrices, slope, PULLS)


def _terms(rng, weight, n=600):
    """Terms of three classes, and labels that follow them with weights by class and term."""
    terms = rng.normal(size=(n, 3, weight.shape[1]))
    centred = terms - terms.mean(axis=1, keepdims=True)
    scores = np.einsum("nkt,kt->nk", centred, weight) + rng.gumbel(size=(n, 3))
    return terms, scores.argmax(axis=1)


def _spread(terms, codes, adaptive):
    given = terms, codes, np.ones(len(codes)), np.log(np.full(3, 1 / 3))
    weight = calibration.fit(*given, adaptive=adaptive).weight
    return float(np.std(weight, axis=0).mean())


def test_weights_that_do_not_differ_by_class_are_drawn_together(rng):
    terms, codes = _terms(rng, np.full((3, 30), 0.3))
    assert _spread(terms, codes, adaptive=True) < 0.5 * _spread(terms, codes, adaptive=False)


def test_weights_that_differ_by_class_are_left_apart(rng):
    terms, codes = _terms(rng, rng.choice([0.0, 1.5], size=(3, 6)))
    apart = _spread(terms, codes, adaptive=False)
    assert _spread(terms, codes, adaptive=True) == pytest.approx(apart, rel=0.1)


def test_two_classes_have_nothing_to_be_drawn_together(rng):
    terms = rng.normal(size=(200, 2, 5))
    codes = rng.integers(2, size=200)
    given = terms, codes, np.ones(200), np.log([0.5, 0.5])
    plain, adaptive = (calibration.fit(*given, adaptive=a) for a in (False, True))
    np.testing.assert_array_equal(plain.weight, adaptive.weight)
