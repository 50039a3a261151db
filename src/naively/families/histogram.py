r"""The histogram family: numbers of any shape, by a Polya tree on the column's quantiles.

`Edges` cut a column into :math:`2^D` bins that hold about equally many cells of all classes
together. A binary tree stands on the bins. At each of its nodes a class splits its cells between
left and right; the share that goes left has a Beta prior centred on the split of all classes,

.. math:: \theta_k \sim \mathrm{Beta}(c_l q,\; c_l (1 - q)), \qquad
          \hat\theta_k = \frac{c_l q + w_{k,\mathrm{left}}}{c_l + w_k}, \qquad c_l = c\,g^l

where q is the split of all classes, :math:`w_k` the weight of class k at the node, l the depth of
the node. The prior grows with depth, so that fine detail needs many cells; c maximises the
marginal likelihood of the splits of all classes, for each column. The term of a
bin is the logarithm of its ratio to all classes together,

.. math:: r_k(\mathrm{bin}) = \sum_{\text{nodes above}} \log \frac{\hat\theta_k}{q}

and between the middles of bins it is interpolated: log f(x | k) up to what all classes share.

Examples
--------
>>> from naively.families.edges import edges
>>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
>>> at = edges(x, bins=2)
>>> at.cuts.tolist(), at.knots.tolist()
([[1.5]], [[0.5, 2.5]])
>>> cells = BinnedColumns(np.array([[[2.0, 0.0]], [[0.0, 2.0]]]), at)
>>> family = Histogram(strength=1.0)
>>> family.log_density(x, family.parameters(cells))[0].round(3).tolist()  # log 5/3, log 1/3
[[0.511], [-1.099]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from naively import _kernel
from naively.data.functions import gammaln
from naively.data.schema import Schema
from naively.data.types import Floats, Places
from naively.errors import NaivelyError
from naively.families.edges import Edges, bin_of
from naively.families.family import Codes, Family, in_blocks
from naively.families.forms import Pieces, weighted
from naively.statistics import Bins
from naively.statistics.summary import Summary

_STRENGTHS = np.array([0.5, 2.0, 8.0, 32.0, 128.0])
_BLOCK_CELLS = 1_000_000  # whose likelihoods are computed at a time
_LEAST_BASE = 1e-300  # of a prior: the log gamma of less overflows


class BinnedColumns(NamedTuple):
    """The statistic: weight of the cells of each class, column and bin; and the edges."""

    weight: Floats  # (K, d, B)
    edges: Edges


class HistogramPrior(NamedTuple):
    """Weight of the cells of all classes by column and bin, and strength by column."""

    weight: Floats  # (d, B)
    strength: Floats  # (d,)


@dataclass(frozen=True)
class HistogramParameters:
    """Log ratio by class, column and bin; middles of the bins, and where they end; the prior.

    A bin without cells has the knot and the ratio of the bin before it, so that cells beside it
    are interpolated between bins that have some.
    """

    log_ratio: Floats  # (K, d, B)
    knots: Floats  # (d, B)
    cuts: Floats  # (d, B - 1)
    prior: HistogramPrior

    @property
    def shares(self) -> Floats:
        """The probability of each bin, by class and column; NaN in a column without cells."""
        weight = self.prior.weight
        whole = weight.sum(axis=1, keepdims=True)
        return weight / np.where(whole > 0, whole, np.nan) * np.exp(self.log_ratio)


@dataclass(frozen=True)
class Histogram(Family):
    """A histogram with bins at quantiles, smoothed by a Polya tree.

    Parameters
    ----------
    growth : float
        Factor by which the weight of the prior grows with each level of the tree.
    strength : float or None
        Weight of the prior at the root, in rows; None to choose it for each column.
    """

    growth: float = 2.0
    strength: float | None = None

    name = "histogram"
    reads = Bins
    oracle = "betabinom"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 < self.growth < 1e6 and (self.strength is None or 0 < self.strength < 1e100)):
            got = f"growth={self.growth!r}, strength={self.strength!r}"
            raise NaivelyError(f"growth and strength must be > 0 and not huge; got {got}.")

    def statistic_of(
        self, summary: Summary, columns: Sequence[int], at: Sequence[int]
    ) -> BinnedColumns:
        """Return the weights of bins, and their edges."""
        edges = Edges(np.array(summary.schema.edges)[at], np.array(summary.schema.knots)[at])
        return BinnedColumns(np.ascontiguousarray(summary.bins.values[:, at]), edges)

    def check_measured(self, schema: Schema, columns: Sequence[int]) -> None:
        """Raise where no bins were fixed."""
        if schema.edges is None:
            raise NaivelyError(
                f"the family {self.name!r} of {schema.name(columns[0])} reads a histogram, and the "
                "summary holds none. Give the column another family, or measure with a schema that "
                "has edges."
            )

    def parameters(
        self, statistic: BinnedColumns, prior: HistogramPrior | None = None
    ) -> HistogramParameters:
        """Read log ratios off the weights of bins."""
        prior = self._prior(statistic.weight) if prior is None else prior
        at = _last_full(prior.weight)
        ratio = np.take_along_axis(self._tree(statistic, prior).log_ratio(), at[np.newaxis], axis=2)
        cuts, knots = statistic.edges
        return HistogramParameters(ratio, np.take_along_axis(knots, at, axis=1), cuts, prior)

    def log_density(self, x: Floats, parameters: HistogramParameters) -> Floats:
        """Return the log ratio, interpolated between the middles of bins and flat beyond them."""
        knots, n_classes = parameters.knots, parameters.log_ratio.shape[0]
        values = np.ascontiguousarray(parameters.log_ratio.transpose(1, 2, 0))
        start = values[:, :-1].reshape(-1, n_classes)
        rise = np.diff(values, axis=1).reshape(-1, n_classes)
        before = _interval(x, knots) + np.arange(len(knots)) * (knots.shape[1] - 1)

        def block(rows: slice) -> Floats:
            at = before[rows]
            t = _fraction(x[rows], knots[:, :-1].take(at), knots[:, 1:].take(at))
            terms = rise.take(at, axis=0)
            terms *= t[:, :, np.newaxis]
            terms += start.take(at, axis=0)
            terms[np.isnan(x[rows])] = 0.0
            return terms

        return in_blocks(block, len(x)).transpose(0, 2, 1)

    def log_density_by_class(self, x: Floats, parameters: HistogramParameters) -> Floats:
        """Return the log ratio of cells that each class has of its own: (n, K, d) of the same."""
        each = [
            self.log_density(x[:, k], replace(parameters, log_ratio=of_class))[:, 0]
            for k, of_class in enumerate(parameters.log_ratio[:, np.newaxis])
        ]
        return np.stack(each, axis=1)

    def form(self, parameters: HistogramParameters, weight: Floats) -> Pieces:
        """Return the log ratios at the knots, with straight lines between."""
        values = weighted(parameters.log_ratio.transpose(1, 2, 0), weight.T[:, np.newaxis])
        return Pieces(parameters.knots, np.ascontiguousarray(values))

    def cdf(self, x: Floats, codes: Codes, parameters: HistogramParameters) -> Floats:
        """Return the share of the bins before a cut, and half of one more at its knot.

        Between those it is interpolated, and beyond the last ones it goes straight on to 0 and 1.
        """
        below_cell = np.full(x.shape, np.nan)
        shares = parameters.shares
        for j in np.flatnonzero(parameters.prior.weight.sum(axis=1) > 0):
            full, ends = parameters.prior.weight[j] > 0, np.isfinite(parameters.cuts[j])
            places = np.append(parameters.knots[j, full], parameters.cuts[j, ends])
            below, order = np.cumsum(shares[:, j], axis=1), np.argsort(places, kind="stable")
            middle = (below - 0.5 * shares[:, j])[:, full]
            values = np.concatenate([middle, below[:, :-1][:, ends]], axis=1)[:, order]
            for k in np.unique(codes):
                rows = codes == k
                below_cell[rows, j] = _straight(x[rows, j], places[order], values[k])
        return below_cell

    def left_out(
        self,
        x: Floats,
        codes: Codes,
        weights: Floats,
        statistic: BinnedColumns,
        parameters: HistogramParameters,
        at: Floats | None = None,
    ) -> Floats:
        """Return the log ratio of each cell, or of those at other places, by the other rows."""
        tree, weight = self._tree(statistic, parameters.prior), parameters.prior.weight
        same = weights.size > 0 and bool(np.all(weights == weights[0]))
        j = np.arange(x.shape[1])
        if at is None and same and statistic.weight[:, 0].size <= weights.size:  # few bins
            near = _neighbours(weight)
            knots = statistic.edges.knots[j[:, np.newaxis], near]
            every = np.ascontiguousarray(tree.every_ratio_without(near, float(weights[0])))
            own, places = np.empty(x.shape), codes.astype(np.int32, copy=False)
            _kernel.left_out_of_bins(x, places, statistic.edges.cuts, knots, every, own)
            return own
        at, knots, full = x if at is None else at, parameters.knots, _last_full(weight)
        bins, before = np.maximum(bin_of(x, statistic.edges), 0), _interval(at, knots)

        def block(rows: slice) -> Floats:
            gone, low = bins[rows], before[rows]
            k, own = codes[rows, np.newaxis], weights[rows, np.newaxis]
            left, right = (
                tree.log_ratio_without(k, j, gone, full[j, b], own) for b in (low, low + 1)
            )
            t = _fraction(at[rows], knots[j, low], knots[j, low + 1])
            return np.where(np.isnan(x[rows]), 0.0, left + t * (right - left))

        return in_blocks(block, len(x))

    def _tree(self, statistic: BinnedColumns, prior: HistogramPrior) -> Tree:
        return Tree.of(statistic.weight, prior.weight, prior.strength, self.growth)

    def _prior(self, weight: Floats) -> HistogramPrior:
        """Return the weights of all classes, and the likeliest strengths."""
        pooled, ones = weight.sum(axis=0), np.ones(weight.shape[1])
        if self.strength is not None:
            return HistogramPrior(pooled, self.strength * ones)
        likelihood = Tree.of(weight, pooled, ones, self.growth).log_likelihood(_STRENGTHS)
        return HistogramPrior(pooled, _STRENGTHS[np.argmax(likelihood, axis=0)])


def _last_full(weight: Floats) -> Places:
    """Return for each bin itself if it has cells, else the last before it that has some.

    Before the first one that has some, that one.
    """
    b = np.arange(weight.shape[1])
    last = np.maximum.accumulate(np.where(weight > 0, b, -1), axis=1)
    first = np.argmax(weight > 0, axis=1)[:, np.newaxis]
    return np.maximum(last, first)


def _neighbours(weight: Floats) -> Places:
    """Return the nearest bin with cells before each, itself, and the nearest after it.

    Itself again where there are none.
    """
    b = np.broadcast_to(np.arange(weight.shape[1]), weight.shape)
    none = np.full((weight.shape[0], 1), -1)
    last = np.maximum.accumulate(np.where(weight > 0, b, -1), axis=1)
    before = np.concatenate([none, last[:, :-1]], axis=1)
    next_ = np.maximum.accumulate(np.where(weight > 0, -b, -b.shape[1])[:, ::-1], axis=1)
    after = -np.concatenate([next_[:, -2::-1], none * b.shape[1]], axis=1)
    return np.stack([np.where(before < 0, b, before), b, np.where(after == b.shape[1], b, after)])


def _interval(x: Floats, knots: Floats) -> Places:
    """Return the last knot, but the very last, that a cell is not before; at least the first."""
    at = np.empty(x.shape, dtype=np.intp)
    for j, middles in enumerate(knots):
        at[:, j] = np.searchsorted(middles[1:-1], x[:, j], side="right")
    return at


def _straight(x: Floats, knots: Floats, values: Floats) -> Floats:
    """Interpolate values between knots, and go on beyond them within 0 and 1."""
    if knots.size < 2:
        return 0.5 + 0.5 * np.sign(x - knots)
    share = np.interp(x, knots, values)
    for end, inner in ((0, 1), (-1, -2)):
        beyond = x < knots[0] if end == 0 else x > knots[-1]
        with np.errstate(divide="ignore", over="ignore"):
            slope = (values[end] - values[inner]) / (knots[end] - knots[inner])
            share[beyond] = values[end] + slope * (x[beyond] - knots[end])
    return np.clip(share, 0.0, 1.0)


def _fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """Return how far x is on the way from a to b: 0 before, 1 after, 0 where there is no way."""
    way = 0.5 * b - 0.5 * a  # halves, so that no difference overflows
    done = np.clip(0.5 * x - 0.5 * a, 0.0, way)
    return np.divide(done, way, out=np.zeros_like(done), where=way > 0)


# --- The tree -------------------------------------------------------------------------------------


class Tree(NamedTuple):
    r"""A Polya tree: how classes split their cells among bins, from coarse to fine.

    Trees are heaps: the root is node 1, the children of node i are 2i and 2i + 1, and the bins are
    the last half of the nodes. Node 0 is none. The probability of a bin is the product of the
    shares above it.

    >>> weight = np.array([[[3.0, 0.0, 0.0, 1.0]], [[0.0, 2.0, 2.0, 0.0]]])  # class, column, bin
    >>> tree = Tree.of(weight, weight.sum(axis=0), np.array([1.0]), growth=2.0)
    >>> np.exp(tree.log_ratio()[0, 0]).round(3)  # of the first, (1 + 3 / (5/8)) / 5 * (2 + 5) / 5
    array([1.624, 0.464, 0.489, 1.222])
    """

    child: Floats  # (K, d, 2B): weight of the node
    parent: Floats  # the same shape: weight of its parent
    q: Floats  # (d, 2B): share of the parent that goes here, of all classes
    c: Floats  # (d, 2B): how many rows the prior is worth

    @classmethod
    def of(cls, weight: Floats, pooled: Floats, strength: Floats, growth: float) -> Tree:
        """Put a tree on bins.

        The prior is centred on the pooled cells, of shape (d, B), and is worth so many rows at the
        root of each column; that grows with each level. The weight has shape (K, d, B).
        """
        heap, whole = _heap(weight), _heap(pooled)
        above = _parents(whole)
        q = np.divide(whole, above, out=np.zeros_like(whole), where=above > 0)
        depth = np.log2(np.maximum(np.arange(q.shape[1]), 2)).astype(int) - 1
        return cls(heap, _parents(heap), q, np.outer(strength, growth**depth))

    def log_ratio(self) -> Floats:
        """Return the logarithm of each bin's probability, over that of all classes: (K, d, B)."""
        return _from_the_root(_log_split(*self))[..., self.q.shape[1] // 2 :]

    def log_ratio_without(
        self, k: Any, j: Any, gone: Places, bins: Places, own: Floats | float
    ) -> Floats:
        """Return the log ratios of bins, once the weight ``own`` is taken out of bins ``gone``."""
        n_bins = self.q.shape[1] // 2
        node, left = bins + n_bins, gone + n_bins
        total = np.zeros(np.broadcast(k, j, node).shape)
        for _ in range(1, n_bins.bit_length()):  # up to the root
            above = node >> 1 == left >> 1
            child = np.maximum(self.child[k, j, node] - own * (node == left), 0.0)
            parent = np.maximum(self.parent[k, j, node] - own * above, 0.0)
            total += _log_split(child, parent, self.q[j, node], self.c[j, node])
            node, left = node >> 1, left >> 1
        return total

    def every_ratio_without(self, bins: Places, own: float) -> Floats:
        """Return `log_ratio_without` for each bin that loses a row of this weight: (m, K, d, B).

        The path from the root to a bin leaves that to the row's bin at some node: above it, weights
        are less; the node's own is whole, but not its parent's; below, nothing has changed.

        The bins, of shape (m, d, B), are those whose ratios are asked for.
        """
        child, parent = np.maximum(self.child - own, 0.0), np.maximum(self.parent - own, 0.0)
        less = _from_the_root(_log_split(child, parent, self.q, self.c))
        whole = _from_the_root(_log_split(*self))
        aside = _log_split(self.child, parent, self.q, self.c)
        n_bins = self.q.shape[1] // 2
        gone, j = np.arange(n_bins), np.arange(len(self.q))[:, np.newaxis]
        steps = np.frexp(bins ^ gone)[1]  # from the bin up to where the paths meet
        node = bins + n_bins >> np.maximum(steps - 1, 0)
        apart = whole[:, j, bins + n_bins] - whole[:, j, node] + aside[:, j, node]
        apart += less[:, j, node >> 1]
        return np.where(steps > 0, apart, less[:, j, bins + n_bins]).swapaxes(0, 1)

    def log_likelihood(self, strengths: Floats) -> Floats:
        r"""Return the log likelihood of all splits, by strength (times the tree's) and column.

        .. math:: \sum_{\text{nodes}} \sum_k
                  \log \frac{B(c q + w_\mathrm{left}, c (1 - q) + w_\mathrm{right})}
                            {B(c q, c (1 - q))}
        """
        some = max(1, _BLOCK_CELLS // (strengths.size * self.child[:, 0].size + 1))  # columns
        blocks = range(0, len(self.q), some)
        parts = [self._columns(slice(j, j + some))._likelihood(strengths) for j in blocks]
        return np.concatenate([np.empty((strengths.size, 0)), *parts], axis=1)

    def _columns(self, at: slice) -> Tree:
        return Tree(self.child[:, at], self.parent[:, at], self.q[at], self.c[at])

    def _likelihood(self, strengths: Floats) -> Floats:
        child, parent, q, c = (of[..., 2:] for of in self)
        base = np.where(q > 0, np.maximum(c * q, _LEAST_BASE), 1.0)
        splits = _rises(strengths, base, child)
        return splits - _rises(strengths, c[..., ::2], parent[..., ::2])


def _rises(strengths: Floats, base: Floats, weight: Floats) -> Floats:
    """Return log rising factorials, summed over classes and nodes, by strength and column."""
    seen = weight > 0
    if 4 * np.count_nonzero(seen) > weight.size:
        bases = strengths[:, np.newaxis, np.newaxis, np.newaxis] * base
        return _log_rising(bases, weight).sum(axis=(1, 3))
    k, j, node = np.nonzero(seen)  # few: of many classes, most have no cell in most bins
    base, weight = base[j, node], weight[k, j, node]
    rises = [np.bincount(j, _log_rising(c * base, weight), len(seen[0])) for c in strengths]
    return np.array(rises)


def _log_rising(x: Floats, n: Floats) -> Floats:
    r"""Return :math:`\log \Gamma(x + n) - \log \Gamma(x)`: that of x (x + 1) ... for a whole n."""
    return gammaln(x + n) - gammaln(x)


def _heap(weight: Floats) -> Floats:
    """Return the weights of all nodes."""
    n_bins = weight.shape[-1]
    heap = np.zeros((*weight.shape[:-1], 2 * n_bins))
    heap[..., n_bins:] = weight
    while n_bins > 1:
        n_bins //= 2
        below = heap[..., 2 * n_bins : 4 * n_bins]
        heap[..., n_bins : 2 * n_bins] = below[..., ::2] + below[..., 1::2]
    return heap


def _parents(heap: Floats) -> Floats:
    """Return for each node the weight of its parent; none for 0 and the root."""
    parents = np.repeat(heap[..., : heap.shape[-1] // 2], 2, axis=-1)
    parents[..., :2] = 0.0
    return parents


def _from_the_root(ratio: Floats) -> Floats:
    """Return the sums of the log ratios of all nodes from the root down to each, in place."""
    for level in range(2, ratio.shape[-1].bit_length() - 1):
        start = 1 << level
        ratio[..., start : 2 * start] += np.repeat(ratio[..., start >> 1 : start], 2, axis=-1)
    return ratio


def _log_split(child: Floats, parent: Floats, q: Floats, c: Floats) -> Floats:
    r"""Return :math:`\log \hat\theta_k / q`; 0 where no class has a cell."""
    ratio = np.divide(child, q, out=np.zeros(np.broadcast(child, q).shape), where=q > 0)
    ratio += c
    ratio /= c + parent
    return np.log(ratio, out=np.zeros_like(ratio), where=q > 0)
