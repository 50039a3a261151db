r"""The log-normal family: numbers above 0 whose logarithms are Gaussian, such as incomes or sizes.

.. math:: \log f(x \mid k) = -\frac{(\log x - \mu_k)^2}{2 \sigma_k^2}
          - \frac12 \log 2 \pi \sigma_k^2 - \log x

where :math:`\mu_k` and :math:`\sigma_k^2` are mean and variance of the logarithms, estimated as
those of the `Gaussian`. With the square completed, that is a quadratic in :math:`\log x`.

Examples
--------
>>> family, logs = LogNormal(), Moments.of(weight=[[[3.0]]], mean=[[[1.0]]], m2=[[[6.0]]])
>>> family.log_density(np.array([[1.0]]), family.parameters(logs)).round(6).tolist()
[[[-1.515512]]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.data.functions import LEAST, function_values
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.family import Codes, Family, only_function
from naively.families.forms import FunctionPart, FunctionSums, Quadratics
from naively.families.gaussian import Gaussian, GaussianParameters
from naively.statistics import FunctionMoments, Moments


@dataclass(frozen=True)
class LogNormal(Family):
    """The log-normal distribution, for numbers above 0 whose logarithms are Gaussian.

    Parameters
    ----------
    var_smoothing : float
        This fraction of the variance of the column's logarithms is added to every variance.
    """

    var_smoothing: float = 1e-9

    name = "log_normal"
    candidate = True
    reads = FunctionMoments
    oracle = "lognorm"
    support = (LEAST, np.inf)
    cells = "above 0"
    functions = (("log", 1.0),)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.var_smoothing < np.inf:
            raise NaivelyError(f"var_smoothing must be >= 0; got {self.var_smoothing!r}.")

    @property
    def _gaussian(self) -> Gaussian:
        return Gaussian(var_smoothing=self.var_smoothing)

    def parameters(
        self, statistic: Moments, prior: GaussianParameters | None = None
    ) -> GaussianParameters:
        """Read means and variances off the moments of logarithms."""
        return self._gaussian.parameters(only_function(statistic))

    def log_density(self, x: Floats, parameters: GaussianParameters) -> Floats:
        """Return the log density of log x, less log x."""
        log_x = function_values("log", x)
        of_log = self._gaussian.log_density(log_x, parameters)
        return of_log - _jacobian(log_x, parameters)[:, np.newaxis]

    def left_out(
        self,
        x: Floats,
        codes: Codes,
        weights: Floats,
        statistic: Moments,
        parameters: GaussianParameters,
    ) -> Floats:
        """Return the log density of each cell by the other rows of its class."""
        log_x = function_values("log", x)
        of_log = self._gaussian.left_out(
            log_x, codes, weights, only_function(statistic), parameters
        )
        return of_log - _jacobian(log_x, parameters)

    def cdf(self, x: Floats, codes: Codes, parameters: GaussianParameters) -> Floats:
        """Return that of the logarithm; 0 below the least number above 0."""
        log_x = np.log(np.maximum(x, LEAST))
        share = self._gaussian.cdf(log_x, codes, parameters)
        return np.where(x < LEAST, 0.0 * share, share)

    def form(self, parameters: GaussianParameters, weight: Floats) -> FunctionSums:
        r"""Return the quadratic in log x.

        .. math:: \frac{(u - \mu)^2}{2 \sigma^2} + u
                  = \frac{(u - \mu + \sigma^2)^2}{2 \sigma^2} + \mu - \frac{\sigma^2}{2}
        """
        mean = parameters.mean
        variance = np.where(parameters.variance > 0, parameters.variance, np.nan)
        A = variance / 2 - mean - 0.5 * np.log(2 * np.pi * variance)
        squares = Quadratics.of(A, 0.5 / variance, mean - variance, weight)
        return FunctionSums((FunctionPart("log", 1.0, squares),))


def _jacobian(log_x: Floats, parameters: GaussianParameters) -> Floats:
    """Return log x; 0 where the cell has none, or the column contributes nothing."""
    adds = (parameters.variance > 0).any(axis=0)
    return np.where(adds, np.nan_to_num(log_x, nan=0.0), 0.0)
