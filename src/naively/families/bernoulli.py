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
from naively.families.family import Codes, Family, moments_without
from naively.families.forms import Lines
from naively.statistics import Moments

_FAR = 1e300  # the terms of cells beyond would overflow


@dataclass(frozen=True)
class BernoulliParameters:
    """Probability of a 1 by class and column, and by column in all classes together.

    Both are NaN where the column has no cells: then it contributes nothing.
    """

    p: Floats
    prior: Floats


@dataclass(frozen=True)
class Bernoulli(Family):
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

    def parameters(self, statistic: Moments, prior: Floats | None = None) -> BernoulliParameters:
        """Read the probabilities off the moments of classes and columns."""
        if prior is None:
            whole = statistic.pooled()
            prior = self._smoothed(whole.weight, whole.mean, np.nan)
        return BernoulliParameters(self._smoothed(statistic.weight, statistic.mean, prior), prior)

    def log_density(self, x: Floats, parameters: BernoulliParameters) -> Floats:
        r"""Return :math:`x \log p + (1 - x) \log(1 - p)`."""
        return _log_bernoulli(x[:, np.newaxis, :], parameters.p)

    def left_out(
        self,
        x: Floats,
        codes: Codes,
        weights: Floats,
        statistic: Moments,
        parameters: BernoulliParameters,
    ) -> Floats:
        """Return the log probability of each cell by the other rows of its class."""
        weight, mean, _ = moments_without(x, codes, weights, statistic)
        return _log_bernoulli(x, self._smoothed(weight, mean, parameters.prior))

    def cdf(self, x: Floats, codes: Codes, parameters: BernoulliParameters) -> Floats:
        """Return 0 below 0, 1 - p from 0 on, and 1 from 1 on."""
        p = parameters.p[codes]
        found = np.where(x < 0, 0.0, np.where(x < 1, 1 - p, 1.0))
        return np.where(np.isnan(x) | np.isnan(p), np.nan, found)

    def form(self, parameters: BernoulliParameters, weight: Floats) -> Lines:
        """Return A + B x."""
        with np.errstate(invalid="ignore"):  # a column that holds more than 0 and 1
            A = np.log1p(-parameters.p)
        return Lines.of(A, np.log(parameters.p) - A, weight, lowest=-np.inf)

    def _smoothed(self, weight: Floats, mean: Floats, empty: Floats | float) -> Floats:
        p = (weight * mean + self.alpha) / (weight + 2 * self.alpha)
        return np.where(weight > 0, p, empty)


def _log_bernoulli(x: Floats, p: Floats) -> Floats:
    x = np.clip(x, -_FAR, _FAR)
    return np.nan_to_num(x * np.log(p) + (1 - x) * np.log1p(-p), nan=0.0)
