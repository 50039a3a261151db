r"""The von Mises family: angles, hours of the day, days of the week and other periodic numbers.

.. math:: \log f(x \mid k) = \kappa_k \cos\Big(\frac{2 \pi x}{p} - \mu_k\Big)
          - \log I_0(\kappa_k) - \log p

where p is the period, :math:`\mu_k` the mean direction and :math:`\kappa_k` the concentration: 0
for no direction at all. Both are the maximum likelihood estimates for the means of cosine and sine,
which are shrunk towards those of all classes by :math:`\alpha` rows: the means have the
direction of :math:`\mu`, and a length of :math:`R = I_1(\kappa) / I_0(\kappa)`. The concentration
is at most a million. Cells more than a billion periods from 0 contribute nothing.

References
----------
N. I. Fisher (1993), Statistical Analysis of Circular Data, section 4.5: where the iteration begins.

Examples
--------
>>> A, B = VonMises(period=24.0).line(np.array([[0.5], [0.0]]))  # around midnight
>>> B.round(4).tolist()
[[1.1593], [0.0]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.data.functions import special
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.function_family import FunctionFamily

_NEWTON_STEPS = 4  # of Newton's method
_MAX_CONCENTRATION = 1e6  # of a concentration


@dataclass(frozen=True)
class VonMises(FunctionFamily):
    """The von Mises distribution, for periodic numbers such as hours or angles.

    Parameters
    ----------
    alpha : float
        Weight of the prior, in rows.
    period : float
        The period: 24 for hours of the day, 360 for degrees.
    """

    period: float = 2 * np.pi

    name = "von_mises"
    oracle = "vonmises"
    cells = "within a billion periods of 0"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.period < 1e290:
            raise NaivelyError(f"period must be > 0 and below 1e290; got {self.period!r}.")

    @property
    def functions(self) -> tuple[tuple[str, float], ...]:
        """Cosine and sine, with the period."""
        return ("cos", float(self.period)), ("sin", float(self.period))

    def line(self, means: Floats) -> tuple[Floats, Floats]:
        """Return A, and the concentration times cosine and sine of the mean direction."""
        length = np.hypot(means[..., 0, :], means[..., 1, :])
        kappa = _concentration(length)
        A = -np.log(special.i0e(kappa)) - kappa - np.log(self.period)
        towards = kappa / np.where(length > 0, length, 1.0)
        return A, means * towards[..., np.newaxis, :]


def _concentration(length: Floats) -> Floats:
    """Return the solution of I1(kappa) / I0(kappa) = length."""
    r = np.minimum(length, 1 - 0.5 / _MAX_CONCENTRATION)
    middle = -0.4 + 1.39 * r + 0.43 / (1 - r)
    low, high = 2 * r + r**3 + 5 / 6 * r**5, 1 / np.maximum(r**3 - 4 * r * r + 3 * r, 1e-9)
    kappa = np.where(r < 0.53, low, np.where(r < 0.85, middle, high))
    for _ in range(_NEWTON_STEPS):
        ratio = special.i1e(kappa) / special.i0e(kappa)
        slope = 1 - np.where(kappa > 1e-8, ratio / np.maximum(kappa, 1e-8), 0.5) - ratio * ratio
        kappa = np.maximum(kappa - (ratio - r) / slope, 0.0)
    return np.minimum(kappa, _MAX_CONCENTRATION)
