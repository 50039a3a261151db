r"""Calibration of many classes: one weight for each term, which all classes share, and no biases.

A sample has few rows of each class where there are many classes. A bias for each of them, or a
weight for each term and class, would then learn which rows happen to be in the sample. So here

.. math::

    \log p(k \mid x) = \log p(k) + \sum_t w_t \log f_t(x \mid k) + \mathrm{const}

with weights that minimise

.. math:: \sum_i w_i\,(-\log p(y_i \mid x_i)) + \frac{\lambda}{2} \sum_t (w_t - \tau)^2
          + \frac{\lambda_\tau}{2} (\tau - 1)^2

by L-BFGS, preconditioned with the Hessian at the start. Nothing here is larger than the terms
themselves: no table of classes by classes.

Examples
--------
>>> rng = np.random.default_rng(0)
>>> codes = rng.integers(200, size=500)
>>> x = codes + rng.normal(size=500)
>>> column = -0.5 * (x[:, np.newaxis] - np.arange(200)) ** 2
>>> noise = rng.normal(size=(500, 200))
>>> terms = np.stack([column, noise], axis=2)
>>> w = term_weights(terms, codes, np.ones(500), np.full(200, -np.log(200)), enough=1e-3)
>>> bool(abs(w[0] - 1) < 0.1 and abs(w[1]) < 0.1)
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.minimize import minimize

__all__ = ["common_weight", "term_weights"]

Floats: TypeAlias = NDArray[np.float64]
Penalty: TypeAlias = Callable[[Floats], tuple[float, Floats]]

_PULL = 10.0  # of a term's weight towards tau
_PULL_TAU = 1.0  # of tau towards 1
_CELLS = 1_000_000  # of the terms that are squared at a time
_MOST_TERMS = 256  # whose Hessian is inverted; beyond, its diagonal is


def common_weight(
    summed: Floats, codes: NDArray[Any], weights: Floats, log_prior: Floats, enough: float
) -> float:
    """Return tau: one weight for the sum of all terms, given as an array of shape (n, K)."""

    def penalty(w: Floats) -> tuple[float, Floats]:
        return 0.5 * _PULL_TAU * float((w - 1) @ (w - 1)), _PULL_TAU * (w - 1)

    terms = summed[:, :, np.newaxis]
    objective = _Objective(terms, codes, weights, log_prior, penalty)
    spread = float(np.abs(summed).max(initial=1.0))
    start = np.array([min(1.0, 100.0 / spread)])  # where probabilities are not yet all 0 and 1
    return float(minimize(objective, start, objective.preconditioner(start, _PULL_TAU), enough)[0])


def term_weights(
    terms: Floats, codes: NDArray[Any], weights: Floats, log_prior: Floats, enough: float
) -> Floats:
    """Return one weight for each of the terms, an array of shape (n, K, T)."""
    tau = common_weight(terms.sum(axis=2), codes, weights, log_prior, enough)
    objective = _Objective(terms, codes, weights, log_prior, _drawn_together)
    start = np.full(terms.shape[2], tau)
    return minimize(objective, start, objective.preconditioner(start, _PULL), enough)


def _drawn_together(w: Floats) -> tuple[float, Floats]:
    """Return the penalty and its gradient, the best tau put in."""
    tau = (_PULL * w.sum() + _PULL_TAU) / (_PULL * w.size + _PULL_TAU)
    apart = w - tau
    return 0.5 * float(_PULL * apart @ apart + _PULL_TAU * (tau - 1) ** 2), _PULL * apart


class _Objective:
    """Log loss and penalty of weights, with their gradient."""

    def __init__(
        self,
        terms: Floats,
        codes: NDArray[Any],
        weights: Floats,
        log_prior: Floats,
        penalty: Penalty,
    ) -> None:
        n, n_classes, n_terms = terms.shape
        self.terms, self.flat = terms, terms.reshape(n * n_classes, n_terms)
        self.own = np.arange(n), codes
        self.weights, self.log_prior, self.penalty = weights, log_prior, penalty

    def __call__(self, w: Floats) -> tuple[float, Floats]:
        loss, p = self._judged(w)
        p *= self.weights[:, np.newaxis]
        p[self.own] -= self.weights
        penalty, slope = self.penalty(w)
        return loss + penalty, slope + p.reshape(-1) @ self.flat

    def _judged(self, w: Floats) -> tuple[float, Floats]:
        """Return the log loss and the probabilities, of shape (n, K)."""
        scores = (self.flat @ w).reshape(self.terms.shape[:2])
        scores += self.log_prior
        scores -= scores.max(axis=1, keepdims=True)
        of_truth = self.weights @ np.maximum(scores[self.own], -1e300)
        p = np.exp(scores, out=scores)
        total = p.sum(axis=1)
        p /= total[:, np.newaxis]
        return float(self.weights @ np.log(total) - of_truth), p

    def preconditioner(self, w: Floats, pull: float) -> Callable[[Floats], Floats]:
        """Return what solves for the Hessian at w, or for its diagonal."""
        _, p = self._judged(w)
        n, n_classes, n_terms = self.terms.shape
        hessian = np.zeros((n_terms, n_terms) if n_terms <= _MOST_TERMS else n_terms)
        some = max(1, _CELLS // (n_classes * n_terms))
        for start in range(0, n, some):
            rows = slice(start, start + some)
            hessian += _curvature(self.terms[rows], p[rows], self.weights[rows], hessian.ndim)
        if hessian.ndim == 1:
            return lambda slope: slope / (hessian + pull)
        inverse = np.linalg.inv(hessian + pull * np.eye(n_terms))
        return lambda slope: inverse @ slope


def _curvature(terms: Floats, p: Floats, weights: Floats, ndim: int) -> Floats:
    """Return the weighted sum of the covariances of rows' terms over classes, or its diagonal."""
    expected = np.matmul(p[:, np.newaxis, :], terms)[:, 0]
    flat = terms.reshape(-1, terms.shape[2])
    weighted = (p * weights[:, np.newaxis]).reshape(-1)
    if ndim == 1:
        return weighted @ flat**2 - weights @ expected**2
    return (flat * weighted[:, np.newaxis]).T @ flat - (expected.T * weights) @ expected
