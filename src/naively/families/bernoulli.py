r"""The Bernoulli family: cells that are 0 or 1.

.. math:: \log f(x \mid k) = x \log p_k + (1 - x) \log(1 - p_k),
          \qquad p_k = \frac{s_k + \alpha}{w_k + 2 \alpha}

where :math:`s_k` is the weight of the ones of class k and :math:`w_k` that of all its cells. A
class that has no cell gets the estimate of all classes.

Examples
--------
>>> family, cells = Bernoulli(), Moments.of(weight=[[3.0], [1.0]], mean=[[1.0], [0.0]], m2=0.0)
>>> family.parameters(cells).p.round(3).tolist()
[[0.8], [0.333]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.data.types import Floats
from naively.families.family import FARTHEST, Codes, MomentFamily
from naively.families.forms import Lines
from naively.statistics import Moments


@dataclass(frozen=True)
class BernoulliParameters:
    """Probability of a 1 by class and column, and by column in all classes together.

    Both are NaN where the column has no cells: then it contributes nothing.
    """

    p: Floats
    prior: Floats


@dataclass(frozen=True)
class Bernoulli(MomentFamily):
    """The Bernoulli distribution, for zeros and ones.

    Parameters
    ----------
    alpha : float
        Additive (Laplace) smoothing: weight added to the zeros and to the ones.
    """

    alpha: float = 1.0

    name = "bernoulli"
    positive = ("alpha",)
    candidate = True
    oracle = "bernoulli"
    support = (0, 1)
    discrete = True

    def prior_of(self, moments: Moments) -> Floats:
        """Return the probability in all classes together."""
        whole = moments.pooled()
        return self._smoothed(whole.weight, whole.mean, np.nan)

    def read(self, weight: Floats, mean: Floats, m2: Floats, prior: Floats) -> BernoulliParameters:
        """Return the probabilities of classes; one without cells has that of all."""
        return BernoulliParameters(self._smoothed(weight, mean, prior), prior)

    def log_term(self, x: Floats, parameters: BernoulliParameters) -> Floats:
        r"""Return :math:`x \log p + (1 - x) \log(1 - p)`."""
        x, p = np.clip(x, -FARTHEST, FARTHEST), parameters.p
        return np.nan_to_num(x * np.log(p) + (1 - x) * np.log1p(-p), nan=0.0)

    def cdf(self, x: Floats, codes: Codes, parameters: BernoulliParameters) -> Floats:
        """Return 0 below 0, 1 - p from 0 on, and 1 from 1 on."""
        p = parameters.p[codes]
        share = np.where(x < 0, 0.0, np.where(x < 1, 1 - p, 1.0))
        return np.where(np.isnan(x) | np.isnan(p), np.nan, share)

    def form(self, parameters: BernoulliParameters, weight: Floats) -> Lines:
        """Return A + B x."""
        with np.errstate(invalid="ignore"):  # a column that holds more than 0 and 1
            A = np.log1p(-parameters.p)
        return Lines.of(A, np.log(parameters.p) - A, weight, lowest=-np.inf)

    def _smoothed(self, weight: Floats, mean: Floats, empty: Floats | float) -> Floats:
        p = (weight * mean + self.alpha) / (weight + 2 * self.alpha)
        return np.where(weight > 0, p, empty)
