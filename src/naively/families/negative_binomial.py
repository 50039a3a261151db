r"""The negative binomial family: counts that vary more than those of a Poisson do.

.. math:: \log f(x \mid k) = \log \frac{\Gamma(x + r)}{\Gamma(r)\, x!}
          + r \log \frac{r}{r + m_k} + x \log \frac{m_k}{r + m_k}

where :math:`m_k` is the mean of the class, shrunk towards that of all classes by :math:`\alpha`
rows, and :math:`1 / r` the dispersion: the variance is :math:`m_k + m_k^2 / r`. All classes share
it, so that classes with few rows do not get extreme estimates. It is estimated from the variances
within classes, by the method of moments,

.. math:: \frac1r = \frac{\sum_k m_{2,k} - \sum_k w_k \bar x_k}{\sum_k w_k \bar x_k^2}

and is at least 1e-8: by then it is a Poisson. Cells below 0 contribute nothing.

References
----------
J. Clark, J. Perry (1989), Estimation of the negative binomial parameter by maximum
quasi-likelihood: how far moments are from it.

Examples
--------
>>> cells = Moments.of(weight=[[[4.0]], [[4.0]]], mean=[[[2.0]], [[6.0]]], m2=[[[12.0]], [[84.0]]])
>>> found = NegativeBinomial().parameters(cells)
>>> found.mean.tolist(), found.size.tolist()  # (96 - 32) / 160 is 1 / 2.5
([[2.4], [5.6]], [2.5])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.data.functions import special
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.family import FARTHEST, Codes, MomentFamily, only_function
from naively.families.forms import Lines
from naively.families.poisson import shrunk_mean
from naively.statistics import FunctionMoments, Moments

_MIN_DISPERSION, _MAX_DISPERSION = 1e-8, 1e8
_LEAST_MEAN = 1e-290  # whose ratio to a size is still a float64


@dataclass(frozen=True)
class NegativeBinomialParameters:
    """Mean by class and column; of all classes together, the size r and the mean of the column.

    All are NaN where the column has no cells, or no count above 0: then it contributes nothing.
    """

    mean: Floats
    prior: Floats  # (2, d): mean and size

    @property
    def size(self) -> Floats:
        """The size r, by column."""
        return self.prior[1]


@dataclass(frozen=True)
class NegativeBinomial(MomentFamily):
    """The negative binomial distribution, for counts whose variance is above their mean.

    Parameters
    ----------
    alpha : float
        Weight of the prior, in rows.
    dispersion : float or None
        The variance is the mean plus this times its square; None to estimate it.
    """

    alpha: float = 1.0
    dispersion: float | None = None

    name = "negative_binomial"
    positive = ("alpha",)
    candidate = True
    reads = FunctionMoments
    functions = (("count", 1.0),)
    cells = "whole numbers from 0 on"
    oracle = "nbinom"
    support = (0, np.inf)
    discrete = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if (
            self.dispersion is not None
            and not _MIN_DISPERSION <= self.dispersion <= _MAX_DISPERSION
        ):
            raise NaivelyError(
                f"dispersion must be from {_MIN_DISPERSION:g} to {_MAX_DISPERSION:g}, or None; got "
                f"{self.dispersion!r}."
            )

    def moments_of(self, statistic: Moments) -> Moments:
        """Return the moments of counts."""
        return only_function(statistic)

    def prior_of(self, moments: Moments) -> Floats:
        """Return the mean of each column, and its size r."""
        whole = moments.pooled().mean
        total, squares = moments.weight * moments.mean, moments.weight * moments.mean**2
        mean = np.where(whole > 0, whole, np.nan)
        dispersion = np.full_like(mean, self.dispersion or np.nan)
        if self.dispersion is None:
            excess = (moments.m2 - total).sum(axis=0)
            square = np.where(whole > 0, squares.sum(axis=0), np.nan)
            dispersion = np.clip(excess / square, _MIN_DISPERSION, _MAX_DISPERSION)
        return np.stack([mean, 1 / dispersion + 0.0 * mean])

    def read(
        self, weight: Floats, mean: Floats, m2: Floats, prior: Floats
    ) -> NegativeBinomialParameters:
        """Return the means of classes."""
        return NegativeBinomialParameters(shrunk_mean(weight, mean, prior[0], self.alpha), prior)

    def log_term(self, x: Floats, parameters: NegativeBinomialParameters) -> Floats:
        """Return the log probability."""
        counts, r = np.clip(np.where(x < 0, np.nan, x), 0.0, FARTHEST), parameters.size
        A, B = _line(parameters.mean, r)
        shared = special.betaln(r, counts + 1) + np.log(counts + r)
        return np.nan_to_num(A + B * counts - shared, nan=0.0)

    def cdf(self, x: Floats, codes: Codes, parameters: NegativeBinomialParameters) -> Floats:
        """Return the probability of at most x; 0 below 0."""
        r, mean = parameters.size, parameters.mean[codes]
        counts = np.minimum(np.floor(x), FARTHEST)
        share = special.betainc(r, np.maximum(counts, 0.0) + 1, r / (r + mean))
        return np.where(counts < 0, 0.0 * share, share)

    def form(self, parameters: NegativeBinomialParameters, weight: Floats) -> Lines:
        """Return A + B x; what all classes share is its carrier."""
        A, B = _line(parameters.mean, parameters.size)
        return Lines.of(A, B, weight, lowest=0.0, counts=True, size=parameters.size)


def _line(mean: Floats, r: Floats) -> tuple[Floats, Floats]:
    """Return r log(r / (r + m)) and log(m / (r + m))."""
    tiny = np.maximum(
        mean, _LEAST_MEAN
    )  # with log(m) - log(r + m), large means would lose all digits
    return -r * np.log1p(mean / r), -np.log1p(r / tiny)
