r"""Scatter of features: by class, and of all classes together, from which rows can be taken out.

.. math:: S = \sum_i w_i f_i f_i^T - \sum_k N_k M_k M_k^T, \qquad
          D_j = \frac{S_{jj} + 1}{n + 1}, \qquad
          \Sigma = (1 - \lambda) \frac{S}{n} + \lambda D, \qquad
          \lambda = \frac{p}{p + n} \text{ within } [0.001, 0.9]

where :math:`N_k` and :math:`M_k` are weight and mean of class k, and n is the weight of all rows.
The pull towards the diagonal D keeps :math:`\Sigma` positive where columns repeat each other, or
are more than the rows.

Where a summary holds products of all numbers (`naively.statistics.Scatter`), the scatter of
features that are numbers is that of all rows; else it is that of a sample of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.interactions.features import Features
from naively.statistics import Scatter

__all__ = ["ClassScatter", "PooledScatter", "inverse_factor"]

Floats = NDArray[np.float64]


class ClassScatter(NamedTuple):
    """Weight and mean of the features of each class, and products around it."""

    weight: Floats  # (K,)
    mean: Floats  # (K, p)
    within: Floats  # (K, p, p)

    @classmethod
    def of(cls, values: Floats, own: Floats) -> ClassScatter:
        """Add up features (n, p), of weights (n, K) that are 0 but in the row's own class."""
        pooled = PooledScatter.of(values, own)
        mean, p = pooled.mean, values.shape[1]
        within = np.empty((len(mean), p, p))
        for k, weight in enumerate(own.T):
            at = weight > 0
            around = values[at] - mean[k]
            within[k] = (weight[at] * around.T) @ around
        return cls(pooled.weight, mean, within)

    @classmethod
    def of_all_rows(cls, seen: Scatter, features: Features) -> ClassScatter:
        """Return that of the features that are numbers, which are measured from the centres."""
        at = features.numbers
        scale = features.scale[: at.size]
        within = seen.within(at) * np.outer(scale, scale)
        return cls(seen.weight, seen.mean[:, at] * scale, within)

    @property
    def pooled(self) -> PooledScatter:
        """The scatter of all classes together."""
        sums = self.weight[:, np.newaxis] * self.mean
        return PooledScatter(self.weight, sums, self.within.sum(axis=0) + sums.T @ self.mean)


class PooledScatter(NamedTuple):
    """Weight and sums of the features of each class, and sums of their products."""

    weight: Floats  # (K,)
    sums: Floats  # (K, p)
    products: Floats  # (p, p)

    @classmethod
    def of(cls, values: Floats, own: Floats) -> PooledScatter:
        """Add up features (n, p), of weights (n, K) that are 0 but in the row's own class."""
        weighted = own.sum(axis=1)[:, np.newaxis] * values
        return cls(own.sum(axis=0), own.T @ values, weighted.T @ values)

    @property
    def n(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @property
    def mean(self) -> Floats:
        """The mean of each class; the mean of all, where a class has no rows: (K, p)."""
        seen = self.weight > 1e-9
        whole = self.sums.sum(axis=0) / max(self.n, 1e-300)
        weight = np.where(seen, self.weight, 1.0)[:, np.newaxis]
        return np.where(seen[:, np.newaxis], self.sums / weight, whole)

    @property
    def around(self) -> Floats:
        """The means of classes from that of all rows: (K, p)."""
        mean = self.mean
        around: Floats = mean - self.weight / self.n @ mean
        return around

    @property
    def within(self) -> Floats:
        """The sums of products around the means of classes: S."""
        mean = self.mean
        return self.products - (mean.T * self.weight) @ mean

    @property
    def shrinkage(self) -> float:
        """How much the diagonal counts."""
        p = self.sums.shape[1]
        return float(np.clip(p / (p + self.n), 0.001, 0.9))

    @property
    def sigma(self) -> Floats:
        """The common scatter of a row: Sigma."""
        within, share = self.within, self.shrinkage
        sigma: Floats = (1 - share) * within / self.n
        sigma[np.diag_indices_from(sigma)] += share * self.diagonal
        return sigma

    @property
    def diagonal(self) -> Floats:
        """What it is pulled to: D."""
        return (np.maximum(np.diagonal(self.within), 0.0) + 1.0) / (self.n + 1.0)


def inverse_factor(B: Floats) -> tuple[Floats, float]:
    """Return the inverse of the Cholesky factor of a positive matrix, and its log determinant.

    Where rounding has left it not positive, as among columns that repeat each other with weights of
    1e15, its diagonal is made heavier until it is.
    """
    diagonal = np.diagonal(B)
    for more in (0.0, 1e-9, 1e-6, 1e-3, 1.0):
        try:
            L = np.linalg.cholesky(B + np.diag(more * diagonal))
            break
        except np.linalg.LinAlgError:
            L = np.diag(np.sqrt(diagonal))
    return np.tril(np.linalg.inv(L)), 2 * float(np.log(np.diagonal(L)).sum())
