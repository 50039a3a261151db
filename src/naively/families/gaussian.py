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

from naively.exceptions import NaivelyError
from naively.stats import Moments

__all__ = ["Parameters", "density", "log_density", "parameters"]

oracle = "norm"  # in scipy.stats
statistic = Moments
support = (-np.inf, np.inf)


@dataclass(frozen=True)
class Parameters:
    """Mean and variance by class and column, and what smoothing added to the variance.

    Where a class has no cell in a column, it borrows the mean and variance of the column over
    all classes; where no class has any, both are NaN and the column has no say.
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
    """
    return np.exp(log_density(x, mean, variance))


def parameters(
    moments: Moments,
    *,
    ddof: int = 0,
    variance: Literal["class", "shared"] = "class",
    var_smoothing: float = 1e-9,
    smoothing: Literal["global", "column"] = "global",
) -> Parameters:
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
    """
    whole = moments.pooled()
    if np.isinf(whole.m2).any():
        msg = "the columns hold numbers so large that their variance exceeds every float64."
        raise NaivelyError(f"{msg} Rescale them.")
    spread = _ratio(whole.m2, whole.weight)  # of each column, classes together
    if smoothing == "global":
        known = whole.weight > 0
        spread = np.max(spread, axis=-1, keepdims=spread.ndim > 1, initial=0.0, where=known)
    epsilon = var_smoothing * spread
    seen = moments.weight > 0
    if variance == "shared":
        free = whole.weight - ddof * seen.sum(axis=0)
        within = np.broadcast_to(_ratio(moments.m2.sum(axis=0), free), moments.m2.shape)
    else:
        within = _ratio(moments.m2, moments.weight - ddof)
    mean = np.where(seen, moments.mean, np.where(whole.weight > 0, whole.mean, np.nan))
    if variance == "class" and not seen.all():
        within = np.where(seen, within, _ratio(whole.m2, whole.weight - ddof))
    return Parameters(mean, within + epsilon, epsilon)


def _ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a / b, NaN where b is not positive."""
    return np.divide(a, b, out=np.full(np.broadcast(a, b).shape, np.nan), where=b > 0)
