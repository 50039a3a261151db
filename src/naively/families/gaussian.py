r"""The Gaussian family.

.. math::

    f(x \mid \mu, \sigma^2) = \frac{1}{\sqrt{2 \pi \sigma^2}}
                              \exp\left(-\frac{(x - \mu)^2}{2 \sigma^2}\right)

where :math:`\mu` is the mean and :math:`\sigma^2` the variance. With independent columns, the
density of a row is the product of these: the multivariate Gaussian with a diagonal covariance.

Examples
--------
>>> density(0.0, mean=0.0, variance=1.0)
np.float64(0.3989422804014327)
>>> log_density(0.0, mean=0.0, variance=1.0)
np.float64(-0.9189385332046727)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel
from naively.data.functions import special
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.family import Codes, Family, check_spread, moments_without, raise_spread
from naively.families.forms import Quadratics
from naively.statistics import Moments

_MAX_DEVIATIONS = 1e150  # its square is still a float64
_LOG_TWO_PI = np.log(2 * np.pi)
_MIN_VARIANCE = 2.0**-1000  # a variance whose inverse is still an ordinary float64


@dataclass(frozen=True)
class GaussianParameters:
    """Mean and variance by class and column, and what smoothing added to the variance.

    Where a class has no cell in a column, it borrows the mean and variance of the column over
    all classes; where no class has any, both are NaN and the column contributes nothing.
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    epsilon: float | NDArray[np.float64]


def log_density(x: ArrayLike, mean: ArrayLike, variance: ArrayLike) -> NDArray[np.float64]:
    r"""Return :math:`-(x - \mu)^2 / 2 \sigma^2 - \log(2 \pi \sigma^2) / 2`.

    Parameters
    ----------
    x, mean, variance : array-like
        Numbers or arrays; they broadcast. The variance is positive.

    Examples
    --------
    >>> from naively.families.gaussian import log_density as gaussian_log_density
    >>> gaussian_log_density([0.0, 40.0], 0.0, 1.0).round(2).tolist()
    [-0.92, -800.92]
    """
    x, mean, variance = (np.asarray(a, dtype=np.float64) for a in (x, mean, variance))
    z = (x - mean) / np.sqrt(variance)
    return -0.5 * (z * z + np.log(2 * np.pi) + np.log(variance))


def density(x: ArrayLike, mean: ArrayLike, variance: ArrayLike) -> NDArray[np.float64]:
    r"""Return :math:`\exp(-(x - \mu)^2 / 2 \sigma^2) / \sqrt{2 \pi \sigma^2}`.

    Parameters
    ----------
    x, mean, variance : array-like
        Numbers or arrays; they broadcast. The variance is positive.

    Examples
    --------
    >>> from naively.families.gaussian import density as gaussian_density
    >>> gaussian_density([0.0, 1.0], 0.0, 1.0).round(4).tolist()
    [0.3989, 0.242]
    """
    return np.exp(log_density(x, mean, variance))


def parameters(
    moments: Moments,
    *,
    ddof: int = 0,
    variance: Literal["class", "shared"] = "class",
    var_smoothing: float = 1e-9,
    smoothing: Literal["global", "column"] = "global",
) -> GaussianParameters:
    r"""Read means and variances off the moments of classes (first axis) and columns (last).

    Anything may stand between the two: then many tables are read at once, such as one for each
    row that is left out.

    .. math::

        \mu_{kj} = \bar x_{kj}, \qquad
        \sigma^2_{kj} = \frac{m_{2,kj}}{w_{kj} - \mathrm{ddof}} + \epsilon_j

    ``variance="shared"`` pools within classes:
    :math:`\sigma^2_j = \sum_k m_{2,kj} / (\sum_k w_{kj} - K\,\mathrm{ddof}) + \epsilon_j`.
    ``smoothing="global"`` adds ``var_smoothing`` times the largest column variance of all rows
    to every column, ``"column"`` the column's own. The variance is NaN where it is undefined:
    too little weight for ``ddof``.

    Without smoothing, a class whose cells in a column are all equal would have a variance of 0,
    and a density that is infinite there. It has that of one more cell, which differs as cells of
    the column differ within classes:

    .. math:: \sigma^2_{kj} = \frac{v_j}{w_{kj} + 1}, \qquad
              v_j = \frac{\sum_l m_{2,lj} + s_j^2}{\sum_l w_{lj} + 1}

    where :math:`s_j^2` is the variance of the column, all classes together. It is 0 where that is:
    then the term is left out.
    """
    if variance == "class" and var_smoothing > 0 and moments.values.ndim == 3:
        plain = _plain(moments, ddof, var_smoothing, smoothing)
        if plain is not None:
            return plain
    whole = moments.pooled()
    spread = _ratio(whole.m2, whole.weight)  # of each column, classes together
    raise_spread(np.isinf(spread))
    if smoothing == "global":
        known = whole.weight > 0
        spread = np.max(spread, axis=-1, keepdims=spread.ndim > 1, initial=0.0, where=known)
    epsilon = var_smoothing * spread
    check_spread(moments, whole, epsilon)
    seen = moments.weight > 0
    if variance == "shared":
        free = whole.weight - ddof * seen.sum(axis=0)
        within = np.broadcast_to(_ratio(moments.m2.sum(axis=0), free), moments.m2.shape)
    else:
        within = _ratio(moments.m2, moments.weight - ddof)
    mean = moments.mean
    if not seen.all():
        mean = np.where(seen, mean, np.where(whole.weight > 0, whole.mean, np.nan))
        if variance == "class":
            within = np.where(seen, within, _ratio(whole.m2, whole.weight - ddof))
    if var_smoothing == 0:
        typical = _typical(moments, whole)
        within = _spread_out(within, mean, moments.weight, typical, variance)
    smoothed = within + epsilon
    raise_spread(np.isinf(smoothed))
    return GaussianParameters(mean, smoothed, epsilon)


def _plain(
    moments: Moments, ddof: int, var_smoothing: float, smoothing: str
) -> GaussianParameters | None:
    """Return the same by one call of the kernel, where every class has cells and nothing is far."""
    variance, epsilon = np.empty(moments.values.shape[1:]), np.empty(moments.values.shape[2])
    by_column = smoothing == "column"
    args = moments.values, var_smoothing, by_column, ddof, variance, epsilon
    if not (epsilon.size and _kernel.plain_variances(*args)):
        return None
    return GaussianParameters(moments.mean, variance, epsilon if by_column else epsilon[0])


def _typical(moments: Moments, whole: Moments) -> Floats:
    """Return the variance of each column within classes; a row of the whole column is added."""
    return (moments.m2.sum(axis=0) + _ratio(whole.m2, whole.weight)) / (whole.weight + 1)


def _spread_out(
    variance: Floats,
    mean: Floats,
    weight: Floats,
    typical: Floats,
    kind: Literal["class", "shared"],
) -> Floats:
    """Give cells that are all equal, up to rounding, the variance of one more cell."""
    if kind == "shared":
        return np.where(variance == 0, typical, variance)
    constant = np.sqrt(variance) <= np.finfo(np.float64).eps * np.abs(mean)
    return np.where(constant, typical / (weight + 1), variance)


def _ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a / b, NaN where b is not positive."""
    defined = b > 0
    with np.errstate(over="ignore"):
        if defined.all():
            return a / b
        return np.divide(a, b, out=np.full(np.broadcast(a, b).shape, np.nan), where=defined)


@dataclass(frozen=True)
class Gaussian(Family):
    """The Gaussian distribution, with the mean and variance of each class.

    Parameters
    ----------
    var_smoothing, variance, ddof, smoothing
        As for `GaussianNB`, but by default each column is smoothed by its own variance.
    """

    var_smoothing: float = 1e-9
    variance: Literal["class", "shared"] = "class"
    ddof: int = 0
    smoothing: Literal["global", "column"] = "column"

    name = "gaussian"
    candidate = True
    oracle = "norm"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.var_smoothing < np.inf:
            raise NaivelyError(f"var_smoothing must be >= 0; got {self.var_smoothing!r}.")
        if self.variance not in ("class", "shared") or self.smoothing not in ("global", "column"):
            raise NaivelyError(
                "variance must be 'class' or 'shared', and smoothing 'global' or 'column'; got "
                f"variance={self.variance!r}, smoothing={self.smoothing!r}."
            )
        if not 0 <= self.ddof < np.inf:
            raise NaivelyError(f"ddof must be >= 0; got {self.ddof!r}.")

    def parameters(
        self, statistic: Moments, prior: GaussianParameters | None = None
    ) -> GaussianParameters:
        """Read means and variances off the moments of classes and columns.

        A column of one value contributes nothing, nor does a class with too few rows for its
        variance.
        """
        return parameters(
            statistic,
            ddof=self.ddof,
            variance=self.variance,
            var_smoothing=self.var_smoothing,
            smoothing=self.smoothing,
        )

    def log_density(self, x: Floats, parameters: GaussianParameters) -> Floats:
        r"""Return :math:`-(x - \mu)^2 / 2 \sigma^2 - \log(2 \pi \sigma^2) / 2`."""
        return _log_normal(x[:, np.newaxis, :], parameters.mean, parameters.variance)

    def left_out(
        self,
        x: Floats,
        codes: Codes,
        weights: Floats,
        statistic: Moments,
        parameters: GaussianParameters,
    ) -> Floats:
        """Return the log density of each cell by the other rows of its class."""
        weight, mean, m2 = moments_without(x, codes, weights, statistic)
        if self.variance == "shared":
            m2 = statistic.m2.sum(axis=0) - statistic.m2[codes] + m2
            free = statistic.weight.sum(axis=0) - statistic.weight[codes] + weight
            free = free - self.ddof * (statistic.weight > 0).sum(axis=0)
        else:
            free = weight - self.ddof
        whole = statistic.pooled()
        known, within = (weight > 0) & (free > 0), _ratio(m2, free)
        if self.var_smoothing == 0:
            typical = _typical(statistic, whole)
            within = _spread_out(within, mean, weight, typical, self.variance)
        spread = _ratio(whole.m2, whole.weight)
        variance = np.where(known, within, spread) + parameters.epsilon
        return _log_normal(x, np.where(known, mean, whole.mean), variance)

    def cdf(self, x: Floats, codes: Codes, parameters: GaussianParameters) -> Floats:
        r"""Return :math:`\Phi((x - \mu) / \sigma)`."""
        variance = np.where(parameters.variance > 0, parameters.variance, np.nan)
        with np.errstate(over="ignore"):
            z = (0.5 * x - 0.5 * parameters.mean[codes]) * (2 / np.sqrt(variance))[codes]
        return np.asarray(special.ndtr(z), dtype=np.float64)

    def form(self, parameters: GaussianParameters, weight: Floats) -> Quadratics:
        """Return A - B (x - mu)^2; where B would be no ordinary float64, s stands for its root."""
        mean, variance = parameters.mean, parameters.variance
        plain = np.empty((3, *variance.shape[::-1]))
        if _kernel.plain_quadratics(mean, variance, weight, plain):
            return Quadratics(*plain)
        known = variance > 0
        variance = variance if known.all() else np.where(known, variance, np.nan)
        A = -0.5 * (_LOG_TWO_PI + np.log(variance))
        least = np.fmin.reduce(variance, axis=None, initial=1.0)
        if (
            least < _MIN_VARIANCE
            or np.fmax.reduce(variance, axis=None, initial=1.0) > 1 / _MIN_VARIANCE
        ):
            root = np.sqrt(0.5) / np.sqrt(variance)
            return Quadratics.of(A, np.where(known, 1.0, np.nan), mean, weight, root)
        return Quadratics.of(A, 0.5 / variance, mean, weight)


def _log_normal(x: Floats, mean: Floats, variance: Floats) -> Floats:
    """Return the log density; 0 where the cell is missing or the column contributes nothing."""
    variance = np.where(variance > 0, variance, np.nan)
    with np.errstate(over="ignore"):
        z = np.clip(
            (0.5 * x - 0.5 * mean) * (2 / np.sqrt(variance)), -_MAX_DEVIATIONS, _MAX_DEVIATIONS
        )
    return np.nan_to_num(-0.5 * (z * z + np.log(2 * np.pi) + np.log(variance)), nan=0.0)
