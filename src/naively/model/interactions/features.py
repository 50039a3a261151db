r"""Features: a row as a vector, whose directions and scatter can be looked at.

Numbers are standardised by the mean and standard deviation of a sample of rows, and a missing one
is the mean: 0. Products of all rows are measured from centres instead, which are in the place of
means then. Of a column of categories, each frequent category has an indicator, which is
standardised too; a missing or unseen category has none of them. Constant features are left out, and
beyond `MOST` those that separate the classes least, by

.. math:: \frac{\sum_k N_k M_{kj}^2}{S_{jj} + 1}

where :math:`N_k` is the weight of class k, :math:`M_{kj}` its mean and :math:`S_{jj}` the sum of
squares within classes.

Examples
--------
>>> found = Features.of(np.array([[1.0], [3.0]]), np.empty((2, 0), int), np.ones(2), np.eye(2))
>>> found.values(np.array([[5.0], [np.nan]]), np.empty((2, 0), int)).tolist()
[[3.0], [0.0]]

Scatter of features: by class, and of all classes together, from which rows can be taken out.

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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats, Places
from naively.statistics import Scatter

MOST = 128  # features
_MAX_LEVELS = 30  # of a column of categories that have an indicator, at most
_LEAST_WEIGHT = 5.0  # of each of them


@dataclass(frozen=True, eq=False)
class Features:
    """Which features there are, and how they are standardised; numbers come first."""

    numbers: Places  # places among the columns of numbers
    # Of the indicators: the place among the columns of categories, and the category's code
    columns: Places
    levels: Places
    mean: Floats  # of all features: f = (x - mean) * scale
    scale: Floats

    def __len__(self) -> int:
        return self.mean.size

    @classmethod
    def of(cls, numbers: Floats, codes: NDArray[Any], weight: Floats, own: Floats) -> Features:
        """Choose and standardise the features of rows, of which NaN and -1 are missing cells.

        Each row has a weight, and one in each class (n, K), which is 0 but in its own.
        """
        columns, levels = _frequent(codes, weight)
        every = np.arange(numbers.shape[1])
        ones = np.ones(every.size + columns.size)
        plain = cls(every, columns, levels, 0.0 * ones, ones)
        mean, scale = _standards(plain.cells(numbers, codes), weight)
        every_one = cls(every, columns, levels, mean, scale)._chosen(scale > 0)
        if len(every_one) <= MOST:
            return every_one
        ratio = _between(every_one.values(numbers, codes), weight, own)
        best = np.argsort(-ratio, kind="stable")[:MOST]
        return every_one._chosen(np.isin(np.arange(ratio.size), best))

    def cells(self, numbers: Floats, codes: NDArray[Any]) -> Floats:
        """Return numbers and indicators as they are; NaN is a missing number."""
        features = np.empty((len(numbers), len(self)))
        n = self.numbers.size
        features[:, :n] = numbers[:, self.numbers]
        features[:, n:] = codes[:, self.columns] == self.levels
        return features

    def values(self, numbers: Floats, codes: NDArray[Any]) -> Floats:
        """Return the features of rows, of shape (n, p)."""
        features = self.cells(numbers, codes)
        features -= self.mean
        features *= self.scale
        return np.nan_to_num(features, copy=False, nan=0.0)

    def measured_from(self, centres: Sequence[float]) -> Features:
        """Return the same features with numbers as differences from other centres than means.

        A missing number is its centre, then.
        """
        mean = self.mean.copy()
        mean[: self.numbers.size] = np.asarray(centres)[self.numbers]
        return replace(self, mean=mean)

    def _chosen(self, kept: NDArray[np.bool_]) -> Features:
        n = self.numbers.size
        return Features(
            self.numbers[kept[:n]],
            self.columns[kept[n:]],
            self.levels[kept[n:]],
            self.mean[kept],
            self.scale[kept],
        )


def by_class(codes: NDArray[Any], weight: Floats, n_classes: int) -> Floats:
    """Return the weight of each row in its class, 0 in others: of shape (n, K)."""
    own = np.zeros((codes.size, n_classes))
    own[np.arange(codes.size), codes] = weight
    return own


def _frequent(codes: NDArray[Any], weight: Floats) -> tuple[Places, Places]:
    """Return column and code of the frequent categories."""
    columns, levels = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for j, column in enumerate(codes.T):
        seen = column >= 0
        total = np.bincount(column[seen], weight[seen])
        best = np.argsort(-total, kind="stable")[:_MAX_LEVELS]
        best = np.sort(best[total[best] >= _LEAST_WEIGHT])
        columns.append(np.full(best.size, j))
        levels.append(best)
    return np.concatenate(columns), np.concatenate(levels)


def _standards(cells: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return means, and the reciprocals of standard deviations: 0 for a constant feature."""
    seen = ~np.isnan(cells)
    known = np.where(seen, cells, 0.0)
    total = weight @ seen
    share = np.divide(weight[:, np.newaxis], total, out=np.zeros_like(known), where=total > 0)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.einsum("ij,ij->j", share, known)
        around = np.where(seen, known - mean, 0.0)
        deviation = np.sqrt(np.einsum("ij,ij,ij->j", share, around, around))
        speaks = (deviation > 1e-12 * np.abs(mean)) & (deviation > 1e-150) & (deviation < 1e150)
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=speaks)
    return np.where(speaks, mean, 0.0), scale


def _between(values: Floats, weight: Floats, own: Floats) -> Floats:
    """Return the ratio of the squares between classes to those within, of each feature."""
    n_classes = own.sum(axis=0)
    sums = own.T @ values
    between = (sums**2 / np.maximum(n_classes, 1e-300)[:, np.newaxis]).sum(axis=0)
    within = np.maximum(weight @ values**2 - between, 0.0)
    return between / (within + 1.0)


# --- Scatter of features ------------------------------------------------------------------------


class ClassScatter(NamedTuple):
    """Weight and mean of the features of each class, and products around it.

    A class without rows has the mean of all.
    """

    weight: Floats  # (K,)
    mean: Floats  # (K, p)
    each: Floats  # (K, p, p)

    @classmethod
    def of(cls, values: Floats, own: Floats) -> ClassScatter:
        """Add up features (n, p), of weights (n, K) that are 0 but in the row's own class."""
        weight, p = own.sum(axis=0), values.shape[1]
        mean = _filled(own.T @ values / np.where(weight > 0, weight, 1.0)[:, np.newaxis], weight)
        each = np.empty((weight.size, p, p))
        for k, w in enumerate(own.T):
            at = w > 0
            around = values[at] - mean[k]
            each[k] = (w[at] * around.T) @ around
        return cls(weight, mean, each)

    @classmethod
    def of_all_rows(cls, seen: Scatter, features: Features) -> ClassScatter:
        """Return that of the features that are numbers, which are measured from the centres."""
        at = features.numbers
        scale = features.scale[: at.size]
        mean = _filled(seen.mean[:, at] * scale, seen.weight)
        return cls(seen.weight, mean, seen.within(at) * np.outer(scale, scale))

    @property
    def n(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @property
    def around(self) -> Floats:
        """The means of classes from that of all rows: (K, p)."""
        return self.mean - self.weight / self.n @ self.mean

    @property
    def within(self) -> Floats:
        """The sums of products around the means of classes: S."""
        return self.each.sum(axis=0)

    @property
    def shrinkage(self) -> float:
        """How much the diagonal counts."""
        p = self.mean.shape[1]
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


def _filled(mean: Floats, weight: Floats) -> Floats:
    """Give classes without rows the mean of all."""
    whole = weight @ mean / max(float(weight.sum()), 1e-300)
    return np.where((weight > 1e-9)[:, np.newaxis], mean, whole)


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
