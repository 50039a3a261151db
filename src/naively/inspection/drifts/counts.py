r"""Two tables of counts compared: bins, categories, words, classes, or missing cells.

For each column, with the shares p before and q after, the Jensen-Shannon divergence in bits is

.. math:: \frac12 \sum_c p_c \log_2 \frac{p_c}{m_c} + \frac12 \sum_c q_c \log_2 \frac{q_c}{m_c},
          \qquad m_c = \tfrac12 (p_c + q_c)

and the test is Pearson's chi-squared. Where nothing has changed, samples of n and n' cells differ
by about :math:`(C - 1)(1/n + 1/n') / 8` nats, for C cells. So much is subtracted before the square
root is taken: the distance is what goes beyond chance.

Neighbouring bins are merged until they hold enough. Other cells that are expected fewer than five
times on either side are counted as one. A category that is new and rare is therefore judged apart:
the rows after whose category no row before has are compared with the rows before whose category no
*other* row before has. Both have the same expected share if nothing has changed. Their variance is
known for each category of T rows in all, and Cantelli's inequality gives a p-value that needs no
assumption.

Examples
--------
>>> before, after = np.array([[50.0, 50.0]]), np.array([[80.0, 20.0]])
>>> divergence, distance, p = compare_counts(before, after, np.array([0, 0]), 1)
>>> divergence.round(4), distance.round(4), p.round(6)
(array([[0.0731]]), array([[0.2636]]), array([[9.e-06]]))

References
----------
J. Lin (1991), Divergence measures based on the Shannon entropy.
W. G. Cochran (1954), Some methods for strengthening the common chi-squared tests.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, xlogy

from naively.data.types import Floats

_MIN_EXPECTED = 5.0  # cells that are expected fewer times are counted as one
_MIN_TESTED = 1.0  # and that one is tested where it is expected as often as this
_CELLS_OF_A_BIN = 8
_LN2 = np.log(2)


class ComparedCounts(NamedTuple):
    """What two tables of counts differ by, for each group and column; NaN where one is empty."""

    divergence: Floats  # in bits, from 0 to 1
    distance: Floats  # the root of what goes beyond chance
    p: Floats  # of the test that nothing has changed


def compare_counts(
    before: Floats, after: Floats, column: NDArray[np.intp], n_columns: int
) -> ComparedCounts:
    """Compare counts of shape (n_groups, n_cells); each cell belongs to a column."""
    shape = len(before), n_columns
    at = (np.arange(shape[0], dtype=np.intp)[:, np.newaxis] * n_columns + column).ravel()
    cells = _CountPairs(before.ravel(), after.ravel(), at, shape[0] * n_columns)
    rare = cells.expected < _MIN_EXPECTED
    pooled, has_rare = cells.pooled(rare)
    p_new, excess_new = cells.novelty(rare)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.maximum(pooled.n_cells - 1, 0) / 8 * (1 / pooled.n_before + 1 / pooled.n_after)
    divergence, p = pooled.divergence(), pooled.p()
    p = np.where(has_rare, np.minimum(1.0, 2 * np.minimum(p, p_new)), p)
    excess = np.maximum(divergence - chance / _LN2, excess_new)
    distance = np.sqrt(np.clip(excess, 0.0, 1.0))
    empty = (cells.n_before <= 0) | (cells.n_after <= 0)
    parts = (np.where(empty, np.nan, part).reshape(shape) for part in (divergence, distance, p))
    return ComparedCounts(*parts)


def compare_bins(before: Floats, after: Floats) -> ComparedCounts:
    """Compare bins of shape (n_groups, n_columns, n_bins), which are ordered.

    Where fewer than eight cells of the smaller side would fall in a bin on average, neighbours are
    merged, so that about as many cells of both sides together fall in each.
    """
    n_groups, n_columns, n_bins = before.shape
    both = before + after
    below = np.cumsum(both, axis=2)
    total = np.maximum(below[:, :, -1:], np.finfo(np.float64).tiny)
    n = np.minimum(before.sum(axis=2), after.sum(axis=2))[:, :, np.newaxis]
    wanted = np.clip(n // _CELLS_OF_A_BIN, 2, n_bins)
    merged = np.minimum(wanted * (below - both / 2) / total, wanted - 1).astype(np.intp)
    place = np.where(wanted < n_bins, merged, np.arange(n_bins))
    start = np.arange(n_groups * n_columns).reshape(n_groups, n_columns, 1) * n_bins
    at = (start + place).ravel()
    shape = n_groups, n_columns * n_bins
    a, b = (np.bincount(at, one.ravel(), one.size).reshape(shape) for one in (before, after))
    return compare_counts(a, b, np.repeat(np.arange(n_columns), n_bins), n_columns)


def compare_words(
    before: Floats,
    after: Floats,
    column: NDArray[np.intp],
    n_columns: int,
    n_before: Floats,
    n_after: Floats,
) -> ComparedCounts:
    """Compare the numbers of rows that hold each word, of groups of so many rows.

    Words of a row depend on each other, so each is tested by itself, as present or absent, and the
    least p-value counts after Bonferroni's correction: it holds under any dependence.
    """
    compared = compare_counts(before, after, column, n_columns)
    p = _word_p(before, after, n_before[:, np.newaxis], n_after[:, np.newaxis]).ravel()
    at = (np.arange(len(before))[:, np.newaxis] * n_columns + column).ravel()
    least = np.ones(len(before) * n_columns)
    np.fmin.at(least, at, p)
    n_tests = np.bincount(at, ~np.isnan(p), least.size)
    corrected = np.minimum(1.0, least * np.maximum(n_tests, 1)).reshape(compared.p.shape)
    return compared._replace(p=np.where(np.isnan(compared.p), np.nan, corrected))


def rank_test(before: Floats, after: Floats) -> Floats:
    """Return the p-value of Wilcoxon's test for bins of shape (n_groups, n_columns, n_bins).

    Cells of one bin are ties. It needs no moments, so that heavy tails raise no false alarms; NaN
    where a side is expected to have fewer than five cells outside of the fullest bin.
    """
    count = before + after
    n, m, total = before.sum(axis=2), after.sum(axis=2), count.sum(axis=2)
    ranks = np.cumsum(count, axis=2) - (count - 1) / 2
    with np.errstate(all="ignore"):
        apart = (ranks * before).sum(axis=2) - n * (total + 1) / 2
        ties = (count**3 - count).sum(axis=2) / (total * (total - 1))
        z2 = np.square(apart) / (n * m / 12 * (total + 1 - ties))
        outside = np.minimum(n, m) * (1 - count.max(axis=2) / total)
    return np.where(outside >= _MIN_EXPECTED, chdtrc(1.0, z2), np.nan)


class _CountPairs:
    """Cells of all groups in a row, with the totals of the column that each belongs to."""

    def __init__(self, a: Floats, b: Floats, at: NDArray[np.intp], size: int) -> None:
        self.a, self.b, self.at, self.size = a, b, at, size
        self.count = a + b
        self.n_before, self.n_after, self.n_cells = map(self.total, (a, b, self.count > 0))
        with np.errstate(invalid="ignore", divide="ignore"):
            self.share = self.n_before / (self.n_before + self.n_after)
        self.expected = self.count * np.fmin(self.share, 1 - self.share)[at]

    def total(self, values: Any) -> Floats:
        """Add up cells by column."""
        return np.bincount(self.at, values, self.size).astype(np.float64, copy=False)

    def some(self, kept: NDArray[np.bool_]) -> _CountPairs:
        """Return some of the cells."""
        return _CountPairs(self.a[kept], self.b[kept], self.at[kept], self.size)

    def pooled(self, rare: NDArray[np.bool_]) -> tuple[_CountPairs, NDArray[np.bool_]]:
        """Return cells with the rare ones of each column as one, and where there are any."""
        few, kept = self.some(rare), self.some(~rare)
        has_rare = few.n_cells > 0
        at = np.flatnonzero(has_rare)
        a = np.concatenate([kept.a, few.n_before[at]])
        b = np.concatenate([kept.b, few.n_after[at]])
        return _CountPairs(a, b, np.concatenate([kept.at, at]), self.size), has_rare

    def divergence(self) -> Floats:
        """Return the Jensen-Shannon divergence of each column, in bits."""
        with np.errstate(invalid="ignore", divide="ignore"):
            p, q = self.a / self.n_before[self.at], self.b / self.n_after[self.at]
            each = _entropy_part(p, q) + _entropy_part(q, p)
        return np.clip(self.total(each) / (2 * _LN2), 0.0, 1.0)

    def p(self) -> Floats:
        """Return the p-value of Pearson's chi-squared test of each column."""
        tested = self.some(self.expected >= _MIN_TESTED)
        share = tested.share[tested.at]
        expected = tested.count * share
        square = tested.total(np.square(tested.a - expected) / (expected * (1 - share)))
        freedom = np.maximum(tested.n_cells - 1, 0)
        return np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), square), 1.0)

    def novelty(self, rare: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Judge how many cells after are of rare categories that were not there before.

        Returns a p-value, and the divergence of new and known cells beyond chance, in bits.
        """
        few, n, m = self.some(rare), self.n_before, self.n_after
        a, b, at, T = few.a, few.b, few.at, few.count
        with np.errstate(all="ignore"):
            new = few.total(np.where(a == 0, b, 0.0)) / m
            alone = few.total(np.where(a <= 1, a, 0.0)) / n
            q = self.share[at]
            square = (1 - q) ** T * np.square(T / m[at])
            square += T * q * (1 - q) ** np.maximum(T - 1, 0) / np.square(n[at])
            variance = few.total(square)
            more = new > alone
            p = np.where(more, variance / (variance + np.square(new - alone)), 1.0)
            middle = (new + alone) / 2
            parts = _entropy_part(new, alone) + _entropy_part(alone, new)
            parts += _entropy_part(1 - new, 1 - alone) + _entropy_part(1 - alone, 1 - new)
            excess = (parts / 2 - variance / (8 * middle * (1 - middle))) / _LN2
        # Nothing is left of 1 - middle where all cells are new on both sides: that is no change.
        return p, np.where(more & np.isfinite(excess), excess, np.where(more, 1.0, 0.0))


def _entropy_part(p: Floats, q: Floats) -> Floats:
    """Return p log(2p / (p + q)); 0 where p is 0."""
    return np.where(p > 0, p * np.log(2 * p / np.where(p > 0, p + q, 1.0)), 0.0)


def _word_p(before: Floats, after: Floats, n: Floats, m: Floats) -> Floats:
    """Return the p-value of each word, present or absent; NaN where it is expected too rarely.

    It is the larger one of Pearson's test and of the likelihood ratio: the first alone takes rare
    words of few rows beside many for drift, so far in the tail as Bonferroni's correction looks.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (before + after) / (n + m)
        difference = before / n - after / m
        pearson = np.square(difference) / (share * (1 - share) * (1 / n + 1 / m))
        cells = [(before, n, share), (after, m, share)]
        cells += [(N - cell, N, 1 - share) for cell, N, _ in cells]
        likelihood = 2 * sum(xlogy(cell, cell / (N * p)) for cell, N, p in cells)
        expected = np.minimum(share, 1 - share) * np.minimum(n, m)
    square = np.where(expected >= _MIN_EXPECTED, np.fmin(pearson, np.fmax(likelihood, 0.0)), np.nan)
    return np.asarray(chdtrc(1.0, square))
