r"""The Poisson family: counts.

.. math:: \log f(x \mid k) = x \log \lambda_k - \lambda_k - \log x!,
          \qquad \lambda_k = \frac{s_k + \alpha m}{w_k + \alpha}

where :math:`s_k` is the weighted sum of the counts of class k and :math:`w_k` their weight. The
rate is the posterior mean under a Gamma prior of mean m, the column's own, worth :math:`\alpha`
rows: a class of zeros alone keeps a positive rate. Cells below 0 contribute nothing.

Examples
--------
>>> family, cells = Poisson(), Moments.of(weight=[[3.0], [1.0]], mean=[[0.0], [4.0]], m2=0.0)
>>> family.parameters(cells).rate.tolist()
[[0.25], [2.5]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.data.functions import gammaln, special
from naively.data.types import Floats
from naively.families.family import FARTHEST, Codes, MomentFamily
from naively.families.forms import Lines
from naively.statistics import Moments


@dataclass(frozen=True)
class PoissonParameters:
    """Rate by class and column, and mean of the column in all classes together.

    Both are NaN where the column has no cells, or no count above 0: then it contributes nothing.
    """

    rate: Floats
    prior: Floats


@dataclass(frozen=True)
class Poisson(MomentFamily):
    """The Poisson distribution, for counts.

    Parameters
    ----------
    alpha : float
        Weight of the prior, in rows.
    """

    alpha: float = 1.0

    name = "poisson"
    positive = ("alpha",)
    candidate = True
    oracle = "poisson"
    support = (0, np.inf)
    discrete = True

    def prior_of(self, moments: Moments) -> Floats:
        """Return the mean of the column."""
        mean = moments.pooled().mean
        return np.where(mean > 0, mean, np.nan)

    def read(self, weight: Floats, mean: Floats, m2: Floats, prior: Floats) -> PoissonParameters:
        """Return the rates of classes."""
        return PoissonParameters(shrunk_mean(weight, mean, prior, self.alpha), prior)

    def log_term(self, x: Floats, parameters: PoissonParameters) -> Floats:
        r"""Return :math:`x \log \lambda - \lambda - \log x!`."""
        counts, rate = np.clip(np.where(x < 0, np.nan, x), 0.0, FARTHEST), parameters.rate
        return np.nan_to_num(counts * np.log(rate) - rate - gammaln(counts + 1), nan=0.0)

    def cdf(self, x: Floats, codes: Codes, parameters: PoissonParameters) -> Floats:
        """Return the probability of at most x; 0 below 0."""
        counts, rate = np.minimum(np.floor(x), FARTHEST), parameters.rate[codes]
        p = special.pdtr(np.maximum(counts, 0.0), rate)
        return np.where(counts < 0, np.where(np.isnan(rate), np.nan, 0.0), p)

    def form(self, parameters: PoissonParameters, weight: Floats) -> Lines:
        """Return A + B x; what all classes share, -log x!, is its carrier."""
        rate = parameters.rate
        return Lines.of(-rate, np.log(rate), weight, lowest=0.0, counts=True)


def shrunk_mean(weight: Floats, mean: Floats, prior: Floats, alpha: float) -> Floats:
    """Return the mean of counts, with so many rows of the prior's mean added."""
    total = np.maximum(weight * mean, 0.0)  # what is left of a sum may be rounding
    return (total + alpha * prior) / (weight + alpha)
