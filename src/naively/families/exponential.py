r"""The exponential family: waiting times, distances, amounts from 0 on.

.. math:: \log f(x \mid k) = \log \lambda_k - \lambda_k x, \qquad \lambda_k = 1 / t_k

where :math:`t_k` is the mean of the class, shrunk towards that of all classes by :math:`\alpha`
rows.

Examples
--------
>>> waits = Moments.of(weight=[[[3.0]], [[1.0]]], mean=[[[1.0]], [[5.0]]], m2=1.0)
>>> family = Exponential()
>>> (1 / family.parameters(waits).B).tolist()  # shrunk towards the mean of all, 2
[[[-1.25]], [[-3.5]]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.data.types import Floats
from naively.families.family import Codes
from naively.families.function_family import FunctionFamily, FunctionParameters
from naively.statistics import Moments  # noqa: F401  (of the example)


@dataclass(frozen=True)
class Exponential(FunctionFamily):
    """The exponential distribution, for numbers from 0 on.

    Parameters
    ----------
    alpha : float
        Weight of the prior, in rows.
    """

    name = "exponential"
    candidate = True
    oracle = "expon"
    support = (0.0, np.inf)
    cells = "0 or more"
    parts = ("not_negative",)

    def line(self, means: Floats) -> tuple[Floats, Floats]:
        """Return the logarithm of the rate, and minus the rate."""
        rate = 1 / means
        return np.log(rate[..., 0, :]), -rate

    def cdf(self, x: Floats, codes: Codes, parameters: FunctionParameters) -> Floats:
        """Return 1 - exp(-rate x)."""
        return -np.expm1(np.maximum(x, 0.0) * parameters.B[codes, 0])
