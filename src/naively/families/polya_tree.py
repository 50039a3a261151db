r"""A Polya tree: how classes split their cells among bins, from coarse to fine.

At each node of a binary tree on the bins, a class sends the share :math:`\theta_k` of its cells
to a child. It has a Beta prior centred on the share q of all classes together, worth c rows,

.. math:: \hat\theta_k = \frac{c\,q + w_\mathrm{child}}{c + w_\mathrm{parent}}

where w are the weights of class k. The probability of a bin is the product of the shares above it.

Trees are heaps: the root is node 1, the children of node i are 2i and 2i + 1, and the bins are the
last half of the nodes. Node 0 is none.

Examples
--------
>>> weight = np.array([[[3.0, 0.0, 0.0, 1.0]], [[0.0, 2.0, 2.0, 0.0]]])  # of classes, columns, bins
>>> tree = Tree.of(weight, weight.sum(axis=0), np.array([1.0]), growth=2.0)
>>> np.exp(tree.log_ratio()[0, 0]).round(3)  # of the first, (1 + 3 / (5/8)) / 5 * (2 + 5) / 5
array([1.624, 0.464, 0.489, 1.222])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from naively.data.functions import gammaln
from naively.data.types import Floats, Places

_BLOCK_CELLS = 1_000_000  # whose likelihoods are computed at a time
_LEAST_BASE = 1e-300  # of a prior: the log gamma of less overflows


class Tree(NamedTuple):
    """What decides the splits, by class, column and node."""

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
