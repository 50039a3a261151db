r"""The Student t family: a Gaussian whose mean and variance are uncertain.

Mean and variance of a class have the normal-inverse-gamma prior, centred on the column of all
classes,

.. math::

    \mu \mid \sigma^2 \sim N(\mu_0, \sigma^2 / \kappa), \qquad
    \nu \sigma_0^2 / \sigma^2 \sim \chi^2_\nu

where :math:`\mu_0` is the mean of the column, :math:`\sigma_0^2` its variance within classes, and
:math:`\kappa` and :math:`\nu` are the rows that the prior is worth. Given cells of weight w, mean
:math:`\bar x` and sum of squared deviations :math:`m_2`, the next cell is distributed as

.. math::

    t_{\nu + w}\left(\mu_w, \; \frac{\kappa_w + 1}{\kappa_w}\,
        \frac{\nu \sigma_0^2 + m_2 + \frac{\kappa w}{\kappa_w} (\bar x - \mu_0)^2}{\nu + w}\right),
    \qquad \kappa_w = \kappa + w, \quad \mu_w = \frac{\kappa \mu_0 + w \bar x}{\kappa_w}

which is a Gaussian for many rows, and has heavy tails for few. As the tails of real columns are
rarely Gaussian, however many rows there are, the degrees of freedom are at most ``tails``: then
one outlier cannot outweigh all other columns. The prior is computed from the same moments, so the
data is not read again, and the scale of the column does not matter.

References
----------
A. Gelman and others (2013), Bayesian Data Analysis, section 3.3.

Examples
--------
>>> cells = Moments.of(weight=[[3.0], [1.0]], mean=[[0.0], [4.0]], m2=[[2.0], [0.0]])
>>> StudentT().parameters(cells).df.tolist()
[[5.0], [3.0]]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from naively.data.functions import special
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.family import Codes, MomentFamily, check_spread
from naively.families.forms import Students
from naively.statistics import Moments

_HALF_STEP = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224)
_SQUARED_AT_MOST = 1e150
_LEAST_SQUARE = np.finfo(np.float64).smallest_subnormal  # of a scale, which is not 0


@dataclass(frozen=True)
class StudentTPrior:
    """Mean and variance that classes are drawn to, by column; NaN where a column adds nothing.

    That is a column with no cells, or with one value only, up to rounding.
    """

    mean: Floats
    variance: Floats


@dataclass(frozen=True)
class StudentTParameters:
    """Degrees of freedom, location and scale by class and column, and the prior."""

    df: Floats
    loc: Floats
    scale: Floats
    prior: StudentTPrior

    @cached_property
    def width(self) -> Floats:
        """The scale times the root of the degrees of freedom."""
        return np.sqrt(self.df) * self.scale

    @cached_property
    def log_norm(self) -> Floats:
        """The log density at the location."""
        half = np.asarray(self.df / 2)
        if half.size and (half == half.flat[0]).all():  # where all have more cells than tails
            half = half.flat[:1]
        return _log_gamma_step(half) - np.log(np.sqrt(np.pi) * self.width)


@dataclass(frozen=True)
class StudentT(MomentFamily):
    """A Student t distribution: the posterior predictive distribution of a Gaussian.

    Parameters
    ----------
    kappa : float
        Weight of the prior mean, in rows.
    nu : float
        Weight of the prior variance, in rows.
    tails : float
        Maximum of the degrees of freedom; infinity for no maximum.
    """

    kappa: float = 1.0
    nu: float = 2.0
    tails: float = 10.0

    name = "student_t"
    candidate = True
    oracle = "t"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 < self.kappa < np.inf and 0 < self.nu < np.inf and self.tails > 0):
            got = f"kappa={self.kappa!r}, nu={self.nu!r}, tails={self.tails!r}"
            raise NaivelyError(
                f"kappa, nu and tails must be > 0, and only tails infinite; got {got}."
            )

    def prior_of(self, moments: Moments) -> StudentTPrior:
        r"""Return the column's mean, and its variance within classes.

        One more row with the variance of the whole column keeps it positive where each class has a
        value of its own: :math:`(\sum_k m_{2,k} + \sigma^2) / (w + 1)`.
        """
        whole = moments.pooled()
        check_spread(moments, whole)
        weight = np.where(whole.weight > 0, whole.weight, np.nan)
        variance = whole.m2 / weight
        varies = np.sqrt(variance) > np.finfo(np.float64).eps * np.abs(whole.mean)
        within = np.where(varies, (moments.m2.sum(axis=0) + variance) / (weight + 1), np.nan)
        return StudentTPrior(np.where(varies, whole.mean, np.nan), within)

    def read(
        self, weight: Floats, mean: Floats, m2: Floats, prior: StudentTPrior
    ) -> StudentTParameters:
        """Return degrees of freedom, location and scale."""
        kappa, df = self.kappa + weight, self.nu + weight
        share = weight / kappa  # of the cells; the rest is the prior's
        delta = mean - prior.mean
        with np.errstate(over="ignore"):  # beyond float64, by far: then the density is flat
            sum2 = self.nu * prior.variance + m2 + self.kappa * share * delta * delta
        sum2 = np.minimum(sum2, np.finfo(np.float64).max)
        scale = np.sqrt(np.maximum(sum2 / df * (1 + 1 / kappa), _LEAST_SQUARE))
        return StudentTParameters(
            np.minimum(df, self.tails), prior.mean + share * delta, scale, prior
        )

    def log_term(self, x: Floats, parameters: StudentTParameters) -> Floats:
        r"""Return the logarithm of the density, by that of Student's t.

        .. math::

            \log \Gamma\left(\tfrac{\nu + 1}{2}\right) - \log \Gamma\left(\tfrac{\nu}{2}\right)
            - \tfrac12 \log \pi \nu s^2 - \tfrac{\nu + 1}{2} \log\left(1 + \frac{z^2}{\nu}\right)

        where :math:`z = (x - \mathrm{loc}) / s`.
        """
        df, width = parameters.df, parameters.width
        half = np.asarray(0.5 * x - 0.5 * parameters.loc)  # halves: no difference overflows
        np.abs(half, out=half)
        with np.errstate(over="ignore"):
            z = np.asarray(half / (0.5 * width))
            far = z > _SQUARED_AT_MOST
            z *= z
        power = np.log1p(z, out=z)  # all in two arrays: new ones take longer than arithmetic
        if far.any():
            half, wide = np.broadcast_arrays(half, width)
            power[far] = 2 * (np.log(half[far]) - np.log(wide[far]) + np.log(2))
        power *= 0.5 * (df + 1)
        return np.nan_to_num(
            np.subtract(parameters.log_norm, power, out=power), copy=False, nan=0.0
        )

    def log_density_by_class(self, x: Floats, parameters: StudentTParameters) -> Floats:
        """Return the log density of cells that each class has of its own: (n, K, d) of the same."""
        return self.log_term(x, parameters)

    def cdf(self, x: Floats, codes: Codes, parameters: StudentTParameters) -> Floats:
        """Return that of Student's t."""
        with np.errstate(over="ignore"):
            z = (0.5 * x - 0.5 * parameters.loc[codes]) / (0.5 * parameters.scale[codes])
        return np.asarray(special.stdtr(parameters.df[codes], z), dtype=np.float64)

    def form(self, parameters: StudentTParameters, weight: Floats) -> Students:
        """Return A - B log(1 + s^2 (x - mu)^2)."""
        loc, width = parameters.loc, parameters.width
        return Students.of(parameters.log_norm, (parameters.df + 1) / 2, loc, 1 / width, weight)


def _log_gamma_step(x: Floats) -> Floats:
    r"""Return :math:`\log \Gamma(x + \frac12) - \log \Gamma(x)` of positive numbers.

    A difference of two logarithms would lose as many digits as x has. This is Stirling's series of
    the difference, from x + 8 on, where the first term left out is below 1e-14.
    """
    high, ratio = x + 8, x / (x + 0.5)
    for i in range(1, 8):  # a product of ratios: x^8 would overflow
        ratio = ratio * ((x + i) / (x + (i + 0.5)))
    r, total = 1 / high, np.zeros_like(x)
    for c in reversed(_HALF_STEP):
        total = total * (r * r) + c
    return np.log(np.sqrt(high) * ratio) + total * r
