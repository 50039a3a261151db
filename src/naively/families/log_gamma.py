r"""The logarithm of the gamma function, in NumPy alone.

.. math::

    \log \Gamma(x) = \left(x - \tfrac12\right) \log x - x + \tfrac12 \log 2 \pi
        + \sum_{i=1}^{6} \frac{B_{2i}}{2i (2i - 1) x^{2i-1}}

is Stirling's series, where :math:`B_{2i}` are Bernoulli's numbers. At :math:`x \ge 8` its first
term left out is below 1e-14. Smaller arguments are carried there by
:math:`\Gamma(x + 1) = x \Gamma(x)`.

Examples
--------
>>> log_gamma(5.0).round(12)  # log(4!)
np.float64(3.178053830348)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["log_gamma", "log_gamma_step", "log_rising"]

_SHIFT = 8
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_HALF_STEP = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224)


def log_gamma(x: ArrayLike) -> NDArray[np.float64]:
    r"""Return :math:`\log \Gamma(x)` of positive numbers."""
    x = np.asarray(x, dtype=np.float64)
    small = x < _SHIFT
    high = np.where(small, x + _SHIFT, x)
    rising = np.where(small, x, 1.0)
    for i in range(1, _SHIFT):
        rising = rising * np.where(small, x + i, 1.0)
    series = (high - 0.5) * np.log(high) - high + 0.5 * np.log(2 * np.pi)
    return series + _odd_powers(1 / high, _STIRLING) - np.log(rising)


def log_rising(x: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    r"""Return :math:`\log \Gamma(x + n) - \log \Gamma(x)`: x (x + 1) ... for a whole n.

    Four steps of the recurrence and two terms of the series make it quick, and good to 1e-6: it
    compares likelihoods.
    """
    x, n = np.asarray(x, dtype=np.float64), np.asarray(n, dtype=np.float64)
    return _quick(x + n) - _quick(x)


def _quick(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log gamma without its constant. Four shares of x + 4 do not overflow, as x^4 would."""
    high = x + 4
    r = 1 / high
    series = (high - 4.5) * np.log(high) - high + _odd_powers(r, _STIRLING[:2])
    return series - np.log(x * r * ((x + 1) * r) * ((x + 2) * r * ((x + 3) * r)))


def log_gamma_step(x: ArrayLike) -> NDArray[np.float64]:
    r"""Return :math:`\log \Gamma(x + \frac12) - \log \Gamma(x)` of positive numbers.

    Taken as a difference it would lose as many digits as x has; its own series keeps them.
    """
    x = np.asarray(x, dtype=np.float64)
    high, ratio = x + _SHIFT, x / (x + 0.5)
    for i in range(1, _SHIFT):  # a product of ratios: x^8 would overflow
        ratio = ratio * ((x + i) / (x + (i + 0.5)))
    return np.log(np.sqrt(high) * ratio) + _odd_powers(1 / high, _HALF_STEP)


def _odd_powers(r: NDArray[np.float64], coefficients: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the sum of c_i r^(2i+1), by Horner's rule."""
    square = r * r
    total = coefficients[-1] * square + coefficients[-2]
    for c in reversed(coefficients[:-2]):
        total *= square
        total += c
    return total * r
