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

from naively.data.types import Floats
from naively.families.family import Codes
from naively.model.interactions.features import ClassScatter, inverse_factor

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
    sigma = whole.sigma
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


def honest_terms_without_each(
    values: Floats, codes: Codes, weight: Floats, given: QuadraticParameters
) -> Floats:
    r"""Return the terms of `honest_terms` where one feature after another is missing: (n, K, p).

    A missing feature is 0, so that :math:`a = b - f_j e_j` where :math:`b = f - M_k`. The row that
    is left out is the whole one: with :math:`c = v / (N_k - v)` and :math:`u = a + c\,b`,

    .. math:: q_k' = u^T B_k^{-1} u + \frac{v g}{d} (u^T B_k^{-1} b)^2
    """
    n, p = values.shape
    found = np.empty((n, given.m.size, p))
    own = np.minimum(weight, 1.0)  # of equal rows, one
    for k, (mean, G) in enumerate(zip(given.mean, given.factor, strict=True)):
        y = (values - mean) @ G.T
        bb, by = np.einsum("ij,ij->i", y, y)[:, np.newaxis], values * (y @ G)
        aa, ab = bb - 2 * by + values**2 * np.square(G).sum(axis=0), bb - by
        m, log_det = np.full((n, 1), given.m[k]), np.full((n, 1), given.log_det[k])
        left = given.weight[k] - own > 1e-9 * given.weight[k]
        at = np.flatnonzero((codes == k) & left)
        v = own[at, np.newaxis]
        g = given.weight[k] / (given.weight[k] - v)
        c, d = g - 1, np.maximum(1 - v * g * bb[at], _LEAST)
        ub = ab[at] + c * bb[at]
        aa[at] = aa[at] + 2 * c * ab[at] + c**2 * bb[at] + v * g / d * ub**2
        m[at] -= v
        log_det[at] += np.log(d)
        found[:, k] = _term(aa, log_det, m, p)
        for i in np.flatnonzero((codes == k) & ~left):  # nothing is left of the class
            alone = np.tile(values[i], (p, 1)) * (1 - np.eye(p))
            q = np.square(alone @ given.prior[0].T).sum(axis=1)
            found[i, k] = _term(q, np.array(given.prior[1]), np.array(_PRIOR * (p + 2)), p)
    return found


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
