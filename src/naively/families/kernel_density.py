r"""The kernel density family: a Gaussian kernel at each cell of the sample.

.. math:: f(x \mid k) = \frac{1}{w_k + \alpha} \Big( \sum_{i \in k} w_i\, N(x; x_i, h_k^2)
          + \alpha \, \frac{1}{w} \sum_i w_i\, N(x; x_i, h^2) \Big)

where i goes over the rows of the sample, w are weights, and the second sum is of all classes
together. Bandwidths follow Scott's rule, with variances that are shrunk towards that of the column,
s^2,

.. math:: h_k^2 = \frac{m_{2,k} + \alpha s^2}{w_k + \alpha} (w_k + \alpha)^{-2/5}, \qquad
          h^2 = s^2 w^{-2/5}

A cell more than eight bandwidths h beyond the cells of the sample counts as being there. What
scores rows knows straight lines between knots: the form is the logarithm of the density to within
0.01, or to a thousandth of how far it is below its greatest where that is more than 10. That takes
1,024 knots at most, unless cells lie in more groups than that, many bandwidths apart.

References
----------
D. W. Scott (1992), Multivariate Density Estimation, section 6.3.

Examples
--------
>>> cells = SampledColumns(np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1]), np.ones(3), 2)
>>> family = KernelDensity()
>>> np.exp(family.log_density(np.array([[0.5]]), family.parameters(cells))).round(3).tolist()
[[[0.275], [0.075]]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from naively.data.functions import special
from naively.data.schema import Schema
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.family import Codes, Family
from naively.families.forms import Pieces, weighted
from naively.statistics import Sample
from naively.statistics.summary import Summary

_REACH_BANDWIDTHS = 8.0  # bandwidths beyond the sample
_BLOCK_CELLS = 1 << 20  # of a block of rows by cells of the sample
_MAX_DEVIATIONS = 1e150  # its square is still a float64
_ERROR_NATS = 0.01  # of the logarithm, between knots
_DEPTH_NATS = 10.0  # below the greatest log density, from where on errors may grow
_ROUNDED_SHARE = 1e-12  # of a weight, that is left of nothing
_FIRST_KNOTS, _MAX_KNOTS = 65, 1024  # knots
_MAX_CLASSES = 20  # whose ends have knots to begin with


class SampledColumns(NamedTuple):
    """The statistic: the cells of sampled rows, their classes and weights."""

    x: Floats  # (n, d)
    codes: Codes
    weight: Floats
    n_classes: int


class KernelPrior(NamedTuple):
    """All classes together: cells and weights of rows; by column variance, bandwidth and ends.

    The variance is NaN where the column has no cells, or one value only.
    """

    x: Floats
    weight: Floats
    variance: Floats
    bandwidth: Floats
    lowest: Floats
    highest: Floats


@dataclass(frozen=True)
class KernelDensityParameters:
    """The cells, bandwidth and weight by class and column, and the prior."""

    cells: SampledColumns
    bandwidth: Floats
    weight: Floats
    prior: KernelPrior


@dataclass(frozen=True)
class KernelDensity(Family):
    """A kernel density estimate with Gaussian kernels, from the sample of rows.

    Parameters
    ----------
    alpha : float
        Weight of the prior, in rows.
    """

    alpha: float = 1.0

    name = "kernel_density"
    positive = ("alpha",)
    reads = Sample
    candidate = True
    oracle = "gaussian_kde"
    error = _ERROR_NATS

    def statistic_of(
        self, summary: Summary, columns: Sequence[int], at: Sequence[int]
    ) -> SampledColumns:
        """Return the cells of the sampled rows."""
        sample = summary[Sample]
        cells = np.ascontiguousarray(sample.numbers[:, at])
        return SampledColumns(cells, sample.codes, sample.weight, summary.classes.size)

    def check_measured(self, schema: Schema, columns: Sequence[int]) -> None:
        """Raise where no rows are kept."""
        if not schema.sample:
            raise NaivelyError(
                f"the family {self.name!r} of {schema.name(columns[0])} reads a sample of rows, "
                "and the summary holds none. Give the column another family, or measure with "
                "Schema(..., sample=4000)."
            )

    def parameters(
        self, statistic: SampledColumns, prior: KernelPrior | None = None
    ) -> KernelDensityParameters:
        """Read bandwidths off the sampled cells."""
        prior = _prior(statistic) if prior is None else prior
        each = [_moments(statistic, statistic.codes == k) for k in range(statistic.n_classes)]
        weight, _, m2 = (np.array(part) for part in zip(*each, strict=True))
        bandwidth = self._bandwidth(weight, m2, prior.variance)
        return KernelDensityParameters(statistic, bandwidth, weight, prior)

    def log_density(self, x: Floats, parameters: KernelDensityParameters) -> Floats:
        """Return the log density, by all bells."""
        terms = np.zeros((len(x), parameters.cells.n_classes, x.shape[1]))
        for j in np.flatnonzero(~np.isnan(parameters.prior.variance)).tolist():
            there = np.flatnonzero(~np.isnan(x[:, j]))
            terms[there, :, j] = self._log_mixture(x[there, j], j, parameters)
        return terms

    def left_out(
        self,
        x: Floats,
        codes: Codes,
        weights: Floats,
        statistic: SampledColumns,
        parameters: KernelDensityParameters,
    ) -> Floats:
        """Return the log density of each cell by the other rows of its class."""
        own_terms, prior = np.zeros(x.shape), parameters.prior
        for k in np.unique(codes):
            own = statistic.codes == k
            whole = np.array(_moments(statistic, own))
            for j in np.flatnonzero(~np.isnan(prior.variance)).tolist():
                rows = np.flatnonzero((codes == k) & ~np.isnan(x[:, j]))
                given = statistic.x[own, j], statistic.weight[own], whole[:, j]
                own_terms[rows, j] = self._without(x[rows, j], weights[rows], *given, j, prior)
        return own_terms

    def _without(
        self,
        x: Floats,
        w: Floats,
        cells: Floats,
        weight: Floats,
        moments: Floats,
        j: int,
        prior: KernelPrior,
    ) -> Floats:
        """Return the log density of cells of a class, each without its own bell."""
        total, mean, m2 = moments
        rest = np.maximum(total - w, 0.0)
        some = rest > _ROUNDED_SHARE * total
        rest = np.where(some, rest, 0.0)
        share = np.divide(total, rest, out=np.zeros_like(rest), where=some)
        m2 = np.where(some, np.maximum(m2 - w * (x - mean) ** 2 * share, 0.0), 0.0)
        h = self._bandwidth(rest, m2, prior.variance[j])
        near = np.clip(x, prior.lowest[j], prior.highest[j])
        bells = _log_bells(near, cells, weight, h)
        itself = np.log(w) - np.log(np.sqrt(2 * np.pi) * h)
        with np.errstate(divide="ignore"):
            others = bells + np.log(-np.expm1(np.minimum(itself - bells, 0.0)))
        return self._mixed(near, np.where(some, others, -np.inf), rest, j, prior)

    def cdf(self, x: Floats, codes: Codes, parameters: KernelDensityParameters) -> Floats:
        """Return the mean of the bells' distribution functions."""
        cells, prior = parameters.cells, parameters.prior
        share = np.full(x.shape, np.nan)
        for j in np.flatnonzero(~np.isnan(prior.variance)).tolist():
            total = np.nansum(prior.weight * ~np.isnan(prior.x[:, j]))
            pooled = _shares(x[:, j], prior.x[:, j], prior.weight, prior.bandwidth[j]) / total
            for k in np.unique(codes):
                rows, own = codes == k, cells.codes == k
                given = cells.x[own, j], cells.weight[own], parameters.bandwidth[k, j]
                bells = _shares(x[rows, j], *given) + self.alpha * pooled[rows]
                share[rows, j] = bells / (parameters.weight[k, j] + self.alpha)
        return np.where(np.isnan(x), np.nan, share)

    def form(self, parameters: KernelDensityParameters, weight: Floats) -> Pieces:
        """Return the log density at knots, where straight lines between are near enough."""
        n_classes, d = parameters.bandwidth.shape
        curves = [(np.zeros(2), np.zeros((2, n_classes)))] * d
        for j in np.flatnonzero(~np.isnan(parameters.prior.variance)).tolist():
            curves[j] = self._curve(j, parameters)
        longest = max((knots.size for knots, _ in curves), default=2)
        knots, values = np.empty((d, longest)), np.empty((d, longest, n_classes))
        for j, (at, height) in enumerate(curves):  # the last knot is repeated
            knots[j, : at.size], knots[j, at.size :] = at, at[-1]
            values[j, : at.size], values[j, at.size :] = height, height[-1]
        return Pieces(knots, np.ascontiguousarray(weighted(values, weight.T[:, np.newaxis])))

    def _curve(self, j: int, parameters: KernelDensityParameters) -> tuple[Floats, Floats]:
        """Halve the intervals between knots until straight lines are near enough."""
        prior = parameters.prior
        ends = np.linspace(prior.lowest[j], prior.highest[j], _FIRST_KNOTS)
        inside = np.nanquantile(prior.x[:, j], np.linspace(0, 1, _FIRST_KNOTS))
        knots = np.unique(np.concatenate([ends, inside, *self._edges(j, parameters)]))
        values = self._log_mixture(knots, j, parameters)
        curved = np.ones(knots.size - 1, dtype=bool)
        while knots.size < _MAX_KNOTS and curved.any():
            at = np.flatnonzero(curved)[: _MAX_KNOTS - knots.size]
            a, b = knots[at], knots[at + 1]
            inner = [0.75 * a + 0.25 * b, 0.5 * a + 0.5 * b, 0.25 * a + 0.75 * b]
            exact = self._log_mixture(np.concatenate(inner), j, parameters)
            low, new, high = np.split(exact, 3)
            rise = 0.25 * (values[at + 1] - values[at])
            lines = [values[at] + rise * (i + 1) for i in range(3)]
            off = [np.abs(v - w) for v, w in zip((low, new, high), lines, strict=True)]
            middle, depth = inner[1], values.max(axis=0) - new
            near = _ERROR_NATS / 2 * np.maximum(depth / _DEPTH_NATS, 1.0)
            apart = (np.maximum.reduce(off) > near).any(axis=1)
            apart &= (middle > knots[at]) & (middle < knots[at + 1])
            order = np.argsort(np.concatenate([knots, middle]), kind="stable")
            again = np.zeros(order.size, dtype=bool)  # the halves of curved intervals
            again[at[apart]] = again[knots.size + np.flatnonzero(apart)] = True
            untried = np.flatnonzero(curved)[_MAX_KNOTS - knots.size :]
            again[untried] = True
            knots = np.concatenate([knots, middle])[order]
            values = np.concatenate([values, new])[order]
            curved = again[order][:-1]
        return knots, values

    def _edges(self, j: int, parameters: KernelDensityParameters) -> list[Floats]:
        """Return knots where the bells of each class begin and end."""
        cells, prior, knots = parameters.cells, parameters.prior, []
        for k, h in enumerate(parameters.bandwidth[:, j]):
            own = cells.x[cells.codes == k, j]
            own = own[~np.isnan(own)]
            steps = h * np.arange(1.0, _REACH_BANDWIDTHS + 1)
            if own.size and parameters.cells.n_classes <= _MAX_CLASSES:
                around = np.concatenate([own.min() - steps, own.max() + steps])
                knots.append(np.clip(around, prior.lowest[j], prior.highest[j]))
        return knots

    def _log_mixture(self, x: Floats, j: int, parameters: KernelDensityParameters) -> Floats:
        """Return the log density of a column's cells, by class."""
        cells, prior = parameters.cells, parameters.prior
        near = np.clip(x, prior.lowest[j], prior.highest[j])
        terms = np.empty((x.size, cells.n_classes))
        for k in range(cells.n_classes):
            own = cells.codes == k
            given = cells.x[own, j], cells.weight[own], parameters.bandwidth[k, j]
            weight = np.full(x.size, parameters.weight[k, j])
            terms[:, k] = self._mixed(near, _log_bells(near, *given), weight, j, prior)
        return terms

    def _mixed(
        self, x: Floats, bells: Floats, weight: Floats, j: int, prior: KernelPrior
    ) -> Floats:
        """Return the log density, given the log sum of a class's bells."""
        total = prior.weight[~np.isnan(prior.x[:, j])].sum()
        pooled = _log_bells(x, prior.x[:, j], prior.weight, prior.bandwidth[j]) - np.log(total)
        return np.logaddexp(bells, np.log(self.alpha) + pooled) - np.log(weight + self.alpha)

    def _bandwidth(self, weight: Floats, m2: Floats, variance: Floats) -> Floats:
        rows = weight + self.alpha
        return np.sqrt((m2 + self.alpha * variance) / rows) * np.maximum(rows, 1.0) ** -0.2


def _moments(cells: SampledColumns, own: Codes) -> tuple[Floats, Floats, Floats]:
    """Return weight, mean and m2 of some rows' cells, by column; zeros where there are none."""
    x = cells.x[own]
    weight = np.where(np.isnan(x), 0.0, cells.weight[own, np.newaxis])
    total = weight.sum(axis=0)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    known = np.nan_to_num(x, nan=0.0)
    mean = (share * known).sum(axis=0)
    return total, mean, (weight * (known - mean) ** 2).sum(axis=0)


def _prior(cells: SampledColumns) -> KernelPrior:
    weight, mean, m2 = _moments(cells, np.ones(len(cells.x), dtype=bool))
    variance = np.divide(m2, weight, out=np.zeros_like(m2), where=weight > 0)
    varied = np.sqrt(variance) > np.finfo(np.float64).eps * np.abs(mean)
    variance = np.where(varied, variance, np.nan)
    h = np.sqrt(variance) * np.maximum(weight, 1.0) ** -0.2
    seen = np.where(np.isnan(cells.x), mean, cells.x)
    lowest, highest = seen.min(axis=0, initial=np.inf), seen.max(axis=0, initial=-np.inf)
    return KernelPrior(
        cells.x,
        cells.weight,
        variance,
        h,
        lowest - _REACH_BANDWIDTHS * h,
        highest + _REACH_BANDWIDTHS * h,
    )


def _log_bells(x: Floats, cells: Floats, weight: Floats, h: Floats) -> Floats:
    """Return log sum_i w_i N(x; x_i, h^2); minus infinity where there is no cell."""
    there = ~np.isnan(cells) & (weight > 0)
    cells, log_weight = cells[there], np.log(weight[there])
    h = np.broadcast_to(h, x.shape)
    log_sum = np.full(x.size, -np.inf)
    step = max(1, _BLOCK_CELLS // max(cells.size, 1))
    for start in range(0, x.size if cells.size else 0, step):
        at = slice(start, start + step)
        scale = 0.5 / h[at, np.newaxis]
        z = np.minimum(np.abs(x[at, np.newaxis] - cells) * (2 * scale), _MAX_DEVIATIONS)
        terms = log_weight - 0.5 * z * z
        most = terms.max(axis=1)
        log_sum[at] = most + np.log(np.exp(terms - most[:, np.newaxis]).sum(axis=1))
    return log_sum - np.log(np.sqrt(2 * np.pi) * h)


def _shares(x: Floats, cells: Floats, weight: Floats, h: Floats) -> Floats:
    """Return the sum of w_i P(X <= x) over the bells of cells."""
    there = ~np.isnan(cells)
    cells, weight = cells[there], weight[there]
    share = np.zeros(x.size)
    step = max(1, _BLOCK_CELLS // max(cells.size, 1))
    for start in range(0, x.size, step):
        at = slice(start, start + step)
        share[at] = special.ndtr((x[at, np.newaxis] - cells) / h) @ weight
    return share
