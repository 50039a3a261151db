r"""Means compared, from moments alone; and constants with columns that vary.

Means differ where both Student's test, with the variance of both sides together, and Welch's, with
the variance of each, say so: the first takes one rare flag among few rows for drift, the second
the few rows that lack what is rare. Spreads are not tested, since moments do not tell the tails:
two samples of a heavy tail differ by any ratio of variances.

Where a column has no bins, its divergence is that of two Gaussians of its moments, by the
trapezoidal rule; what samples of this size show by chance is subtracted as for counts, for a
kurtosis of :math:`\kappa = 9`, that of an exponential distribution.

Examples
--------
>>> n, mean, variance = np.array([100.0]), np.array([0.0]), np.array([1.0])
>>> mean_test(MeanAndVariance(n, mean, variance), MeanAndVariance(n, mean + 0.3, variance)).round(4)
array([0.0351])
>>> gaussian_divergence(np.array([0.0, 1.0, 100.0]), np.ones(3)).round(4)
array([0.    , 0.1607, 1.    ])

References
----------
Student (1908), The probable error of a mean.
B. L. Welch (1947), The generalization of Student's problem when several different population
variances are involved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from naively.data.types import Floats
from naively.statistics import Moments

_KURTOSIS = 9.0
_RARE = 0.02  # the share of cells on both sides of a constant that few rows may all lack
_ONE_SIDED = 0.999  # n d^2 of cells on one side of a constant is 1 or more, but for rounding
_Z = np.arange(-26, 27) / 4.0  # nodes: up to 6.5 standard deviations
_DENSITY = np.exp(-(_Z**2) / 2) / np.exp(-(_Z**2) / 2).sum()
_ROUNDING = 1e-14  # of a mean: a smaller spread is none


class MeanAndVariance(NamedTuple):
    """The weight of cells, their mean and their variance without bias; NaN where it has none."""

    n: Floats
    mean: Floats
    variance: Floats
    rest: Floats | float = 0.0  # what rounding took from the mean

    @classmethod
    def of(cls, moments: Moments) -> MeanAndVariance:
        """Read moments."""
        n = moments.weight
        with np.errstate(all="ignore"):
            variance = np.where(n > 1, moments.m2 / (n - 1), np.nan)
            variance[np.sqrt(variance) <= np.abs(_ROUNDING * moments.mean)] = 0.0
        return cls(n, np.where(n > 0, moments.mean, np.nan), variance, moments.rest)

    @classmethod
    def of_counts(cls, total: Floats, n: Floats) -> MeanAndVariance:
        """Read sums of counts, as Poisson's distribution has them: the variance is the mean."""
        with np.errstate(all="ignore"):
            mean = np.where(n > 0, total / n, np.nan)
        return cls(np.broadcast_to(n, mean.shape), mean, np.where(n > 1, mean, np.nan))

    @property
    def spread(self) -> Floats:
        """The standard deviation."""
        return np.sqrt(self.variance)

    def difference(self, after: MeanAndVariance) -> Floats:
        """Return how much the mean has grown."""
        return (after.mean - self.mean) + (after.rest - self.rest)


def mean_test(before: MeanAndVariance, after: MeanAndVariance) -> Floats:
    """Return the p-value of equal means; NaN where a side has fewer than two cells.

    It is the larger one of Student's and Welch's. Two constants have no variance: their p-value is
    that of the likeliest column of two values.
    """
    n, m = before.n, after.n
    difference = before.difference(after)
    with np.errstate(all="ignore"):
        own = (n - 1) / (n + m - 2)
        variance = own * before.variance + (1 - own) * after.variance
        student = 2 * stdtr(
            n + m - 2, -np.abs(difference / np.sqrt(variance) / np.sqrt(1 / n + 1 / m))
        )
        square = before.variance / n + after.variance / m
        part = before.variance / n / square
        freedom = 1 / (np.square(part) / (n - 1) + np.square(1 - part) / (m - 1))
        welch = 2 * stdtr(freedom, -np.abs(difference / np.sqrt(square)))
        apart = np.exp(np.log(2) - n * np.log1p(m / n) - m * np.log1p(n / m))
    constants = np.where(difference == 0, 1.0, np.minimum(apart, 1.0))
    return np.where(variance == 0, constants, np.maximum(student, welch))


def constant_test(before: MeanAndVariance, after: MeanAndVariance) -> Floats:
    r"""Return the p-value of a constant side given the other; NaN where both vary.

    All cells of the constant side are of a share s of the column, which :math:`1 / (1 + d^2)`
    bounds (see `_largest_share`). A rare flag or count lies on one side of the constant, so that d
    is at least :math:`1 / \sqrt n`. Where d is smaller, cells lie on both sides, and so does, for
    the test, at least one cell in 50.
    """
    n = np.where(after.variance == 0, before.n, after.n)  # of the side that varies
    s, m = _largest_share(before, after), before.n + after.n - n
    with np.errstate(all="ignore"):
        s = np.where(n * (1 / s - 1) < _ONE_SIDED, np.minimum(s, 1 - _RARE), s)
        alike = np.where(before.variance == after.variance, 1.0, s**m)
    return np.where((before.variance == 0) | (after.variance == 0), alike, np.nan)


def gaussian_distance(before: MeanAndVariance, after: MeanAndVariance) -> tuple[Floats, Floats]:
    """Return the divergence of two Gaussians in bits, and the root of what goes beyond chance.

    Where one side is constant, it is the least that other cells can be apart from it.
    """
    difference = before.difference(after)
    with np.errstate(all="ignore"):
        shift, ratio = difference / before.spread, after.spread / before.spread
        chance = (1 + (_KURTOSIS - 1) / 2) / 8 * (1 / before.n + 1 / after.n) / np.log(2)
    constant = (before.variance == 0) | (after.variance == 0)
    both = before.variance == after.variance
    safe = constant | np.isnan(shift) | np.isnan(ratio)
    bits = gaussian_divergence(np.where(safe, 0.0, shift), np.where(safe, 1.0, ratio))
    apart = np.where(both, np.where(difference == 0, 0.0, 1.0), _from_constant(before, after))
    bits = np.where(safe, np.where(constant, apart, np.nan), bits)
    return bits, np.sqrt(np.maximum(bits - np.where(constant, 0.0, chance), 0.0))


def _largest_share(before: MeanAndVariance, after: MeanAndVariance) -> Floats:
    r"""Return which share of a column can at most equal the constant that the other side is.

    By Cantelli's inequality it is :math:`1 / (1 + d^2)` for a constant that is d standard
    deviations from the mean.
    """
    with np.errstate(all="ignore"):
        d = before.difference(after) / np.fmax(before.spread, after.spread)
        return np.asarray(1 / (1 + np.square(d)))


def _from_constant(before: MeanAndVariance, after: MeanAndVariance) -> Floats:
    r"""Return the divergence in bits of a constant and a column with the largest share of it.

    A kurtosis of :math:`\kappa` leaves at most :math:`1 - 1/\kappa` at the mean.
    """
    s = np.minimum(_largest_share(before, after), 1 - 1 / _KURTOSIS)
    with np.errstate(all="ignore"):
        inside = np.where(s > 0, s * np.log2(2 * s / (1 + s)), 0.0)
    return 0.5 * (np.log2(2 / (1 + s)) + inside + (1 - s))


def gaussian_divergence(shift: Floats, ratio: Floats) -> Floats:
    r"""Return the Jensen-Shannon divergence of N(0, 1) and N(shift, ratio^2), in bits.

    With p the narrower of both and q the other, and both integrals taken on the nodes of p,

    .. math:: 1 - \tfrac12 E_p[\log_2(1 + q/p)] - \tfrac12 E_p[\tfrac qp \log_2(1 + p/q)]
    """
    wide = np.maximum(ratio, 1 / ratio)[..., np.newaxis]
    away = np.abs(shift / np.minimum(ratio, 1.0))[..., np.newaxis]
    with np.errstate(all="ignore"):
        log_q = (0.5 * (_Z**2 - np.square((_Z - away) / wide)) - np.log(wide)) / np.log(2)
        log_q = np.maximum(log_q, -1e3)  # the logarithm of q/p
        bits = np.logaddexp2(0, log_q) + np.exp2(log_q) * np.logaddexp2(0, -log_q)
    return np.clip(1 - 0.5 * (bits @ _DENSITY), 0.0, 1.0)
