r"""The beta family: shares, rates and probabilities, between 0 and 1.

.. math:: \log f(x \mid k) = (a_k - 1) \log x + (b_k - 1) \log(1 - x) - \log B(a_k, b_k)

where :math:`a_k` and :math:`b_k` are the maximum likelihood estimates for the means of
:math:`\log x` and :math:`\log(1 - x)`, which are shrunk towards those of all classes by
:math:`\alpha` rows. They solve

.. math:: \psi(a) - \psi(a + b) = \overline{\log x}, \qquad
          \psi(b) - \psi(a + b) = \overline{\log(1 - x)}

by Newton's method, and are at most a million.

References
----------
N. L. Johnson, S. Kotz, N. Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 25:
where the iteration begins.

Examples
--------
>>> A, B = Beta().line(np.array([[-1.0], [-0.5]]))
>>> (B + 1).round(4).tolist()
[[7.5776], [12.1751]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.data.functions import BELOW_ONE, LEAST, special
from naively.data.types import Floats
from naively.families.family import Codes
from naively.families.function_family import FunctionFamily, FunctionParameters

_MAX_STEPS = 30  # of Newton's method at most
_LEAST_STEP = 1e-12  # a step, of a or b
_MIN_SHAPE, _MAX_SHAPE = 1e-6, 1e6  # of a and b


@dataclass(frozen=True)
class Beta(FunctionFamily):
    """The beta distribution, for numbers between 0 and 1.

    Parameters
    ----------
    alpha : float
        Weight of the prior, in rows.
    """

    name = "beta"
    candidate = True
    oracle = "beta"
    support = (LEAST, BELOW_ONE)
    cells = "above 0 and below 1"
    parts = ("log_share", "log_rest")

    def line(self, means: Floats) -> tuple[Floats, Floats]:
        """Return A, and a and b less 1."""
        a, b = _solved(means[..., 0, :], means[..., 1, :])
        return -special.betaln(a, b), np.stack([a - 1, b - 1], axis=-2)

    def cdf(self, x: Floats, codes: Codes, parameters: FunctionParameters) -> Floats:
        """Return the regularised incomplete beta function."""
        a, b = (parameters.B[codes] + 1).swapaxes(0, 1)
        return np.asarray(special.betainc(a, b, np.clip(x, 0.0, 1.0)), dtype=np.float64)


def _solved(log_x: Floats, log_rest: Floats) -> tuple[Floats, Floats]:
    """Return a and b for means of log x and log(1 - x).

    The likelihood is concave in a and b. A step that would leave less than a quarter of one, or
    more than four times as much, is cut there.
    """
    x, rest = np.exp(log_x), np.exp(log_rest)
    left = 2 * np.maximum(1 - x - rest, 0.5 / _MAX_SHAPE)
    a, b = 0.5 + x / left, 0.5 + rest / left
    for _ in range(_MAX_STEPS):
        both, t = special.psi(a + b), special.zeta(2.0, a + b)
        f, g = special.psi(a) - both - log_x, special.psi(b) - both - log_rest
        faa, gbb = special.zeta(2.0, a) - t, special.zeta(2.0, b) - t
        size = faa * gbb - t * t
        da, db = (gbb * f + t * g) / size, (faa * g + t * f) / size
        going = np.fmax(np.abs(da / a), np.abs(db / b)) > _LEAST_STEP  # each stops by itself
        if not going.any():
            break
        a, b = (
            np.where(going, np.clip(np.clip(v - d, v / 4, 4 * v), _MIN_SHAPE, _MAX_SHAPE), v)
            for v, d in ((a, da), (b, db))
        )
    return a, b
