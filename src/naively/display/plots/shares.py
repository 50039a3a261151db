r"""Shares: how the cells of a class spread over categories and over the bins of a histogram.

Categories have the shares that `Categorical` believes. A bin has the share of all classes
together, :math:`q_b`, times what `Histogram` says of the class there,

.. math:: p_k(b) = q_b\, e^{r_k(b)}

and within a bin cells are taken to spread evenly, so that a picture may cut the column elsewhere.
"""

from __future__ import annotations

import numpy as np

from naively.data.types import Floats
from naively.families.categorical import Categorical
from naively.families.family import Family

__all__ = ["bin_shares", "category_shares", "rebinned"]


def category_shares(tally: Floats, family: Family | None = None) -> Floats:
    """Return the share of each category in each class, smoothed as `Categorical` does by default.

    >>> category_shares(np.array([[3.0, 1.0], [0.0, 4.0]]), Categorical(alpha=1.0)).round(3)
    array([[0.667, 0.333],
           [0.167, 0.833]])
    """
    family = Categorical() if family is None else family
    codes = np.arange(tally.shape[1])
    return np.exp(family.log_density(codes, family.parameters(tally))).T


def bin_shares(weight: Floats, log_ratio: Floats) -> Floats:
    """Return the share of each bin in each class, which add up to 1.

    The weight is that of all classes together; what the classes say of each bin is a ratio to it.
    """
    shares = weight * np.exp(log_ratio)
    total = shares.sum(axis=1, keepdims=True)
    return np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)


def rebinned(cuts: Floats, shares: Floats, edges: Floats) -> Floats:
    """Return the density of each class between other edges, given its shares in the bins.

    The bins meet at the cuts, of which some may be equal, or infinite. The outer bins are taken to
    end where the edges do, or where the next cut is.

    >>> rebinned(np.array([1.0, 2.0]), np.array([[0.5, 0.25, 0.25]]), np.array([0.0, 1.5, 3.0]))
    array([[0.41666667, 0.25      ]])
    """
    ends = np.concatenate([edges, cuts[np.isfinite(cuts)]])
    low, high = ends.min(), ends.max()
    at = np.clip(np.concatenate(([-np.inf], cuts, [np.inf])), low, high)
    below = np.cumsum(np.pad(shares, ((0, 0), (1, 0))), axis=1)
    held = np.array([np.interp(edges, at, cells) for cells in below])
    return np.diff(held, axis=1) / np.diff(edges)
