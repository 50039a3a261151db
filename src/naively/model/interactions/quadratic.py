r"""One quadratic term: a Student t in all numbers together, with a scatter for each class.

With the common scatter :math:`\Sigma` of `ClassScatter`, over the p features that are numbers,

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

_PRIOR_ROWS = 4.0  # times p + 2: rows that the common scatter is worth
_DEGREES_OF_FREEDOM = 4.0  # degrees of freedom
_LEAST_LEFT = 1e-3  # of a determinant


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
    nu = _PRIOR_ROWS * (each.mean.shape[1] + 2)
    prior = nu * each.sigma
    factors, log_det = zip(*(inverse_factor(within + prior) for within in each.each), strict=True)
    return QuadraticParameters(
        each.mean,
        np.array(factors),
        np.array(log_det),
        each.weight,
        each.weight + nu,
        inverse_factor(prior),
    )


def honest_terms(
    values: Floats,
    codes: Codes,
    weight: Floats,
    given: QuadraticParameters,
    *,
    without_each: bool = False,
) -> Floats:
    r"""Return the terms of rows, in the own class as if it had not been seen: (n, K, 1).

    Or return them where one feature after another is missing, (n, K, p). A missing feature is 0, so
    that :math:`a = b - f_j e_j` where :math:`b = f - M_k`. The row that is left out is the whole
    one: with :math:`c = v / (N_k - v)` and :math:`u = a + c\,b`,

    .. math:: q_k' = u^T B_k^{-1} u + \frac{v g}{d} (u^T B_k^{-1} b)^2
    """
    n, p = values.shape
    missing = values if without_each else np.zeros((n, 1))
    terms = np.empty((n, given.m.size, missing.shape[1]))
    own = np.minimum(weight, 1.0)  # of equal rows, one
    for k, (mean, G) in enumerate(zip(given.mean, given.factor, strict=True)):
        y = (values - mean) @ G.T
        bb = np.einsum("ij,ij->i", y, y)[:, np.newaxis]
        aa, ab = np.tile(bb, missing.shape[1]), np.tile(bb, missing.shape[1])
        if without_each:
            by = values * (y @ G)
            aa += values**2 * np.square(G).sum(axis=0) - 2 * by
            ab -= by
        m, log_det = np.full((n, 1), given.m[k]), np.full((n, 1), given.log_det[k])
        left = given.weight[k] - own > 1e-9 * given.weight[k]
        at = np.flatnonzero((codes == k) & left)
        v = own[at, np.newaxis]
        g = given.weight[k] / (given.weight[k] - v)
        c, d = g - 1, np.maximum(1 - v * g * bb[at], _LEAST_LEFT)
        ub = ab[at] + c * bb[at]
        aa[at] += 2 * c * ab[at] + c**2 * bb[at] + v * g / d * ub**2
        m[at] -= v
        log_det[at] += np.log(d)
        terms[:, k] = _term(aa, log_det, m, p)
        for i in np.flatnonzero((codes == k) & ~left):  # nothing is left of the class
            alone = values[i] * (1 - np.eye(p) if without_each else np.ones((1, p)))
            factor, of_all = given.prior
            q = np.square(alone @ factor.T).sum(axis=1)
            terms[i, k] = _term(q, np.array(of_all), np.array(_PRIOR_ROWS * (p + 2)), p)
    return terms


def coefficients(given: QuadraticParameters) -> tuple[Floats, float, Floats]:
    """Return A, B and s of A - B log(1 + s q), by class."""
    p = given.mean.shape[1]
    return (
        -0.5 * (given.log_det - p * np.log(given.m)),
        0.5 * (_DEGREES_OF_FREEDOM + p),
        given.m / _DEGREES_OF_FREEDOM,
    )


def _term(q: Floats, log_det: Floats, m: Floats, p: int) -> Floats:
    power = np.log1p(m * q / _DEGREES_OF_FREEDOM)
    return -0.5 * (log_det - p * np.log(m)) - 0.5 * (_DEGREES_OF_FREEDOM + p) * power
