r"""One quadratic term: a Student t in all numbers together, with a scatter for each class.

With the common scatter :math:`\Sigma` of `PooledScatter`, over the p features that are numbers,

.. math:: B_k = S_k + \nu \Sigma, \quad m_k = N_k + \nu, \quad \nu = 4 (p + 2), \quad
          q_k = (f - M_k)^T B_k^{-1} (f - M_k)

.. math:: -\frac12 \big(\log|B_k| - p \log m_k\big)
          - \frac{4 + p}{2} \log\Big(1 + \frac{m_k\,q_k}{4}\Big)

where :math:`S_k, N_k, M_k` are scatter, weight and mean of class k. It says what no direction can:
that one class spreads more widely than another, or along another line.

Without a row of weight v of class k, by Sherman and Morrison, with :math:`g = N_k / (N_k - v)` and
:math:`d = 1 - v g q_k`,

.. math:: q_k' = g^2 q_k / d, \qquad \log|B_k|' = \log|B_k| + \log d, \qquad m_k' = m_k - v

The common scatter stays as it is: a row changes that of all classes alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.families.family import Codes
from naively.interactions.scatter import ClassScatter, inverse_factor

__all__ = ["QuadraticParameters", "left_out", "log_density", "parameters"]

Floats = NDArray[np.float64]

_PRIOR = 4.0  # times p + 2: rows that the common scatter is worth
_TAILS = 4.0  # degrees of freedom
_LEAST = 1e-3  # of what is left of a determinant


@dataclass(frozen=True, eq=False)
class QuadraticParameters:
    """Means, inverse triangular factors and determinants of the scatters, and weights, by class."""

    mean: Floats  # (K, p)
    factor: Floats  # (K, p, p): lower triangular, the inverse of the Cholesky factor of B_k
    log_det: Floats  # (K,)
    weight: Floats  # (K,): N_k
    m: Floats  # (K,): N_k + nu
    prior: tuple[Floats, float]  # the inverse factor and determinant of nu Sigma


def parameters(each: ClassScatter) -> QuadraticParameters:
    """Read the parameters off the scatter of the features that are numbers."""
    n_classes, p = each.mean.shape
    whole = each.pooled
    within = whole.within
    share = whole.shrinkage
    sigma = (1 - share) * within / whole.n
    sigma[np.diag_indices(p)] += share * whole.diagonal(within)
    nu = _PRIOR * (p + 2)
    mean, factor, log_det = whole.mean, np.empty((n_classes, p, p)), np.empty(n_classes)
    for k in range(n_classes):
        factor[k], log_det[k] = inverse_factor(each.within[k] + nu * sigma)
    return QuadraticParameters(
        mean, factor, log_det, whole.weight, whole.weight + nu, inverse_factor(nu * sigma)
    )


def log_density(values: Floats, given: QuadraticParameters) -> Floats:
    """Return the term of rows in each class: (n, K)."""
    p = values.shape[1]
    return _term(_distances(values, given), given.log_det, given.m, p)


def left_out(
    values: Floats, codes: Codes, own: Floats, given: QuadraticParameters, q: Floats | None = None
) -> Floats:
    """Return the term of rows in their own class, had a weight of each not been seen: (n,)."""
    p = values.shape[1]
    if q is None:
        q = _distances(values, given)[np.arange(codes.size), codes]
    N = given.weight[codes]
    rest = N - own
    left = rest > 1e-9 * N
    g = np.divide(N, rest, out=np.ones_like(N), where=left)
    d = np.maximum(1 - own * g * q, _LEAST)
    found = _term(g * g * q / d, given.log_det[codes] + np.log(d), given.m[codes] - own, p)
    if left.all():
        return found
    factor, log_det = given.prior  # nothing is left of the class: what all classes share
    alone = ((values[~left] @ factor.T) ** 2).sum(axis=1)
    nu = np.full(alone.size, _PRIOR * (p + 2))
    found[~left] = _term(alone, np.full(alone.size, log_det), nu, p)
    return found


def honest_terms(
    values: Floats, codes: Codes, weight: Floats, given: QuadraticParameters
) -> Floats:
    """Return the terms of rows, in the own class as if it had not been seen: (n, K, 1)."""
    q, rows = _distances(values, given), np.arange(codes.size)
    found = _term(q, given.log_det, given.m, values.shape[1])
    own = np.minimum(weight, 1.0)  # of equal rows, one
    found[rows, codes] = left_out(values, codes, own, given, q[rows, codes])
    return found[:, :, np.newaxis]


def coefficients(given: QuadraticParameters) -> tuple[Floats, float, Floats]:
    """Return A, B and s of A - B log(1 + s q), by class."""
    p = given.mean.shape[1]
    return -0.5 * (given.log_det - p * np.log(given.m)), 0.5 * (_TAILS + p), given.m / _TAILS


def _term(q: Floats, log_det: Floats, m: Floats, p: int) -> Floats:
    power = np.log1p(m * q / _TAILS)
    return -0.5 * (log_det - p * np.log(m)) - 0.5 * (_TAILS + p) * power


def _distances(values: Floats, given: QuadraticParameters) -> Floats:
    found = np.empty((len(values), len(given.mean)))
    for k, (mean, factor) in enumerate(zip(given.mean, given.factor, strict=True)):
        y = (values - mean) @ factor.T
        found[:, k] = np.einsum("ij,ij->i", y, y)
    return found
