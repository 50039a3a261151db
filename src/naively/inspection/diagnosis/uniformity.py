r"""Whether cells are distributed as a family says: distances from the uniform distribution.

If F is the distribution of X, then F(X) is uniform on [0, 1]: the probability integral transform.
For cells :math:`x_1, \dots, x_n` of one class and column, Kolmogorov's distance is

.. math:: D = \sup_x |F_n(x) - F(x)| = \max_i |\tilde F_n(x_i) - F(x_i)| + \frac{1}{2n}

where :math:`\tilde F_n` is the empirical distribution with half of the cells that equal x: without
ties both are the same. With ties, of cells that were rounded, only the second stays small where the
family fits. Its p-value is that of Kolmogorov with Stephens's correction for small n. Parameters
that were read off the same cells make D smaller, so that the p-value is an upper bound: a finding
may be missed, and is not invented.

References
----------
M. A. Stephens (1970), Use of the Kolmogorov-Smirnov, Cramer-von Mises and related statistics
without extensive tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import kolmogorov

from naively.data.types import Floats


def mid_shares(x: Floats, weight: Floats) -> Floats:
    """Return the share of the cells below each, and half of those equal to it, by column.

    Missing cells have none: NaN.

    >>> mid_shares(np.array([[3.0], [1.0], [3.0], [np.nan]]), np.ones(4))[:, 0].round(3).tolist()
    [0.667, 0.167, 0.667, nan]
    """
    order = np.argsort(x, axis=0, kind="stable")  # NaN last
    ascending = np.take_along_axis(x, order, axis=0)
    w = np.where(np.isnan(ascending), 0.0, weight[order])
    after = np.cumsum(w, axis=0)
    new = np.ones(x.shape, dtype=bool)
    new[1:] = ascending[1:] != ascending[:-1]
    start = np.maximum.accumulate(np.where(new, after - w, 0.0), axis=0)
    last = np.ones(x.shape, dtype=bool)
    last[:-1] = new[1:]
    end = np.minimum.accumulate(np.where(last, after, np.inf)[::-1], axis=0)[::-1]
    total = after[-1:]
    share = np.divide(0.5 * (start + end), total, out=np.full(x.shape, np.nan), where=total > 0)
    found = np.empty(x.shape)
    np.put_along_axis(found, order, np.where(np.isnan(ascending), np.nan, share), axis=0)
    return found


def distances(shares: Floats, transformed: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return Kolmogorov's distance and the mean distance (Wasserstein's) of each column.

    Parameters
    ----------
    shares : array of shape (n, d)
        The empirical distribution of the cells, as by `mid_shares`.
    transformed : array of shape (n, d)
        The family's distribution function of the cells.
    n : array of shape (d,)
        The number of cells.
    """
    apart = np.abs(shares - transformed)
    seen = ~np.isnan(apart)
    largest = np.max(apart, axis=0, initial=0.0, where=seen) + 0.5 / np.maximum(n, 1.0)
    count = seen.sum(axis=0)
    mean = np.sum(apart, axis=0, where=seen) / np.maximum(count, 1)
    known = count > 0
    return np.where(known, largest, np.nan), np.where(known, mean, np.nan)


def p_value(distance: Floats, n: Floats) -> Floats:
    """Return how probable such a distance, or a larger one, is by chance."""
    root = np.sqrt(np.maximum(n, 1.0))
    found = kolmogorov((root + 0.12 + 0.11 / root) * distance)
    return np.asarray(found, dtype=np.float64)


def n_rows(weight: Any, axis: int = 0) -> Any:
    r"""Return how many rows weights are worth: their sum where they count rows.

    Weights that are no whole numbers are worth :math:`(\sum w)^2 / \sum w^2` rows.

    >>> n_rows(np.array([1.0, 3.0])), n_rows(np.array([0.5, 0.5]))
    (np.float64(4.0), np.float64(2.0))
    """
    total = weight.sum(axis=axis)
    if (weight == np.floor(weight)).all():
        return total
    squares = np.square(weight).sum(axis=axis)
    return np.square(total) / np.where(squares > 0, squares, 1.0)
