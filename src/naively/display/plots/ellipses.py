r"""The curve around a class's mean that holds a given share of it.

For a Gaussian in two dimensions the squared distance from the mean, in units of the spread,
follows the chi-squared distribution with two degrees of freedom, whose quantile is
:math:`r^2 = -2 \log(1 - \mathrm{level})`. The naive curve is the ellipse

.. math::

    \frac{(x_0 - \mu_0)^2}{\sigma_0^2} + \frac{(x_1 - \mu_1)^2}{\sigma_1^2} = r^2

with its axes along the columns, since columns are taken to be independent; the data's own is
:math:`(x - \mu)^T \Sigma^{-1} (x - \mu) = r^2` with their covariance.

>>> float(radius(0.95).round(4))
2.4477
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.errors import NaivelyError

__all__ = ["data_ellipse", "naive_ellipse", "radius"]


def radius(level: float) -> np.float64:
    """Return the distance, in standard deviations, within which this share of a class lies."""
    if not 0 < level < 1:
        raise NaivelyError(f"level must lie between 0 and 1; got level={level!r}. Use 0.95.")
    return np.sqrt(-2 * np.log1p(-level))


def naive_ellipse(
    mean: ArrayLike, variance: ArrayLike, level: float = 0.95, n: int = 181
) -> NDArray[np.float64]:
    """Return the closed curve of n points that holds this share of a class by the model."""
    return np.asarray(mean) + radius(level) * _circle(n) * np.sqrt(np.asarray(variance))


def data_ellipse(
    mean: ArrayLike, covariance: ArrayLike, level: float = 0.95, n: int = 181
) -> NDArray[np.float64]:
    """Return the same with correlation: what a Gaussian that is not naive would hold."""
    spread, axes = np.linalg.eigh(np.asarray(covariance, dtype=np.float64))
    root = axes * np.sqrt(np.maximum(spread, 0.0))  # a degenerate one may round below zero
    return np.asarray(mean) + radius(level) * _circle(n) @ root.T


def _circle(n: int) -> NDArray[np.float64]:
    angle = np.linspace(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)])
