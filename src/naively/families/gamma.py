r"""The gamma family: numbers above 0, such as durations, amounts of rain or insurance claims.

.. math:: \log f(x \mid k) = (a_k - 1) \log x - b_k x + a_k \log b_k - \log \Gamma(a_k)

where the shape :math:`a_k` and the rate :math:`b_k` are the maximum likelihood estimates for the
means of x and of :math:`\log x`, which are shrunk towards those of all classes by :math:`\alpha`
rows. With :math:`s = \log \bar x - \overline{\log x}`,

.. math:: \log a - \psi(a) = s, \qquad b = a / \bar x

The shape is at most a million: then the standard deviation is a thousandth of the mean, and a
larger shape would leave the density less than nine digits. Use a `Gaussian` for such columns.

References
----------
T. P. Minka (2002), Estimating a Gamma distribution.

Examples
--------
>>> family = Gamma()
>>> A, B = family.line(np.array([[2.0], [np.log(2.0) - 0.2]]))
>>> (B[1] + 1).round(4).tolist(), (-B[0]).round(4).tolist()  # shape and rate
([2.6549], [1.3274])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.data.functions import LEAST, gammaln, special
from naively.data.types import Floats
from naively.families.family import Codes
from naively.families.function_family import FunctionFamily, FunctionParameters

_NEWTON_STEPS = 5  # of Newton's method; each doubles the digits
_MAX_SHAPE = 1e6  # of a shape


@dataclass(frozen=True)
class Gamma(FunctionFamily):
    """The gamma distribution, for numbers above 0.

    Parameters
    ----------
    alpha : float
        Weight of the prior, in rows.
    """

    name = "gamma"
    candidate = True
    oracle = "gamma"
    support = (LEAST, np.inf)
    cells = "above 0"
    parts = ("positive", "log")

    def line(self, means: Floats) -> tuple[Floats, Floats]:
        """Return A, and minus the rate and the shape less 1."""
        mean = means[..., 0, :]
        shape = _shape(np.log(mean) - means[..., 1, :])
        rate = shape / mean
        return shape * np.log(rate) - gammaln(shape), np.stack([-rate, shape - 1], axis=-2)

    def cdf(self, x: Floats, codes: Codes, parameters: FunctionParameters) -> Floats:
        """Return the regularised incomplete gamma function."""
        shape, rate = parameters.B[codes, 1] + 1, -parameters.B[codes, 0]
        return np.asarray(special.gammainc(shape, np.maximum(x, 0.0) * rate), dtype=np.float64)


def _shape(s: Floats) -> Floats:
    """Return the solution of log a - psi(a) = s."""
    s = np.maximum(s, 0.5 / _MAX_SHAPE)
    a = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(_NEWTON_STEPS):
        a = 1 / (1 / a + (np.log(a) - special.psi(a) - s) / (a - a * a * special.zeta(2.0, a)))
    return np.minimum(a, _MAX_SHAPE)
