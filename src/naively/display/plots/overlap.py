r"""How much a column separates the classes, from the summary alone.

Two densities overlap by Bhattacharyya's coefficient, the integral of the root of their product,
which is 1 for equal ones and 0 for those that never meet. For bell curves it is

.. math::

    \int \sqrt{f_k f_l} = \sqrt{\frac{2 \sigma_k \sigma_l}{\sigma_k^2 + \sigma_l^2}}
        \exp\left(-\frac{(\mu_k - \mu_l)^2}{4 (\sigma_k^2 + \sigma_l^2)}\right)

and for the shares of categories :math:`\sum_c \sqrt{p_{kc}\, p_{lc}}`.

The separation of a column is one minus the mean of this over all pairs of classes, weighted by
:math:`\sqrt{p_k p_l}`. A variance is taken halfway to the mean variance within classes, as
regularized discriminant analysis does: a pixel that happens to be black in all rows of one class
would otherwise look as if it told that class from every other. Shares are smoothed as `Categorical`
does, for the same reason. Unlike the share of the variance that lies between the class means, this
is not swayed by one class far away, and it sees classes that differ in spread. The columns' units
do not matter, nor does the smoothing of a model.

Cells of a class spread over categories, and over the bins of a histogram. Categories have the
shares that `Categorical` believes. A bin has the share of all classes together, :math:`q_b`, times
what `Histogram` says of the class there, :math:`p_k(b) = q_b\, e^{r_k(b)}`, and within a bin cells
are taken to spread evenly, so that a picture may cut the column elsewhere.

>>> from naively import summarize
>>> X = [[0.0, 5.0], [1.0, 7.0], [8.0, 6.0], [9.0, 8.0]]
>>> separation(summarize(X, ["a", "a", "b", "b"])).round(3)
array([1.   , 0.118])

References
----------
A. Bhattacharyya (1943), On a measure of divergence between two statistical populations defined
by their probability distributions. J. H. Friedman (1989), Regularized discriminant analysis.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.families import gaussian
from naively.families.categorical import Categorical
from naively.families.family import Family
from naively.statistics.summary import Summary


def separation(summary: Summary) -> Floats:
    """Return how much each column separates the classes: 0 not at all, 1 entirely.

    Parameters
    ----------
    summary : Summary
        What was seen. A column that is constant or was never seen separates nothing, and
        neither does any column where there is one class.

    Returns
    -------
    ndarray of shape (n_columns,)

    Examples
    --------
    >>> from naively import summarize
    >>> from naively.plots import separation
    >>> summary = summarize([[0, 0], [1, 1], [0, 5], [1, 6]], ["a", "a", "b", "b"])
    >>> separation(summary).round(2).tolist()
    [0.0, 1.0]
    """
    overlaps = _Overlaps(summary)
    root = overlaps.root
    shared = np.zeros(summary.schema.n_columns)
    for k in range(1, root.size):
        shared += root[k] * (root[:k] @ overlaps.of(k, slice(0, k)))
    pairs = (root.sum() ** 2 - (root**2).sum()) / 2
    return 1 - shared / pairs if root.size > 1 else shared


def columns_by_separation(summary: Summary, n: int) -> list[int]:
    """Return the n columns that separate the classes best, the best first.

    >>> from naively import summarize
    >>> columns_by_separation(summarize([[0, 0], [1, 1], [0, 5], [1, 6]], ["a", "a", "b", "b"]), 1)
    [1]
    """
    return np.argsort(-separation(summary), kind="stable")[:n].tolist()


def class_separation(summary: Summary, columns: Iterable[int] | None = None) -> Floats:
    """Return how much each class stands apart from the others: 0 not at all, 1 entirely.

    One minus the mean overlap with the other classes, where the overlap over several columns is
    the product over them, since they are taken to be independent. A class that was never seen has
    0.
    """
    overlaps = _Overlaps(summary)
    root = overlaps.root
    at = np.arange(summary.schema.n_columns) if columns is None else np.array(list(columns))
    apart = np.zeros(summary.classes.size)
    seen = np.flatnonzero(summary.class_weight > 0)
    for k in range(root.size if root.size > 1 else 0):
        others = np.flatnonzero(np.arange(root.size) != k)
        overlap = overlaps.of(k, others)[:, at]
        apart[seen[k]] = 1 - np.average(overlap.prod(axis=1), weights=root[others])
    return apart


def classes_by_separation(
    summary: Summary, n: int, columns: Iterable[int] | None = None
) -> list[int]:
    """Return the n classes that stand apart most, in the order of their labels.

    >>> from naively import summarize
    >>> summary = summarize([[0], [1], [9], [2], [3], [8]], ["a", "b", "c"] * 2)
    >>> summary.classes[classes_by_separation(summary, 1)].tolist()
    ['c']
    """
    order = np.argsort(-class_separation(summary, columns), kind="stable")
    return np.sort(order[:n]).tolist()


class _Overlaps:
    """Bhattacharyya's coefficients of the classes that were seen, and the roots of their shares."""

    def __init__(self, summary: Summary) -> None:
        seen = summary.class_weight > 0
        weight = summary.class_weight[seen]
        own = gaussian.parameters(summary.moments[seen], smoothing="column")
        shared = gaussian.parameters(summary.moments[seen], smoothing="column", variance="shared")
        self.root = np.sqrt(weight / weight.sum())
        self._mean, self._variance = own.mean, (own.variance + shared.variance) / 2
        self._schema = summary.schema
        self._roots = [
            _root_shares(summary.tally(at)[seen]) for at in range(len(summary.schema.categories))
        ]

    def of(self, k: int, others: slice | NDArray[np.intp]) -> Floats:
        """Return the overlap of class k with others, of shape (n_others, n_columns)."""
        mean, variance = self._mean, self._variance
        bells = _overlap(mean[k], variance[k], mean[others], variance[others])
        found = np.ones((bells.shape[0], self._schema.n_columns))  # of no cell: all the same
        found[:, self._schema.numbers] = bells
        for j, root in zip(self._schema.categories, self._roots, strict=True):
            found[:, j] = root[others] @ root[k] if root.size else 1.0
        return found


def _root_shares(tally: Floats) -> Floats:
    """Return the roots of the shares among the categories that were seen."""
    shares = category_shares(tally)
    return np.sqrt(shares / shares.sum(axis=1, keepdims=True)) if shares.size else shares


def _overlap(
    mean: Floats,
    variance: Floats,
    other_mean: Floats,
    other_variance: Floats,
) -> Floats:
    """Return Bhattacharyya's coefficient; 1 where a column is constant or unknown."""
    both = variance + other_variance
    defined = both > 0  # neither zero nor NaN
    both = np.where(defined, both, 1.0)
    height = 2 * np.sqrt(variance) * np.sqrt(other_variance) / both
    distance = np.abs(mean - other_mean) / np.sqrt(both)
    return np.where(defined, np.sqrt(height) * np.exp(-(distance**2) / 4), 1.0)


# --- shares of categories and bins ---


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
