r"""How a column is cut into bins where it stands in a pair of columns.

Numbers are cut at quantiles of the sample; between the medians of bins a table is interpolated, and
flat beyond them. Of categories the most frequent have a bin of their own, and all others share one.

Examples
--------
>>> axis = PairAxis.of_numbers(0, np.array([1.0, 2.0, 3.0, 4.0]), 2)
>>> axis.knots.tolist()
[1.5, 3.5]
>>> axis.position(np.array([1.0, 2.5, 3.0, np.nan]))
(array([ 0,  0,  0, -1]), array([0.  , 0.5 , 0.75, 0.  ]))

Pairs: what two columns say together beyond what each says by itself.

The cells of two columns are tallied by class into a table :math:`C_{kab}`. Its term is the
logarithm of the joint share over the product of the columns' own,

.. math:: T_{kab} = \log \frac{C_{kab} + \alpha\,e_{kab}}{(N_k + \alpha)\,e_{kab}}, \qquad
          e_{kab} = p_{ka} p_{kb}, \qquad
          p_{ka} = \frac{C_{ka\cdot} + 2 q_a}{N_k + 2}

where :math:`q_a` is the share of bin a in all classes. The strength :math:`\alpha` of the prior,
which expects independence, is the one under which the tallies of all classes are the most likely.
Between the medians of bins the table is bilinear, so a cell is judged by up to four of them; a
missing cell adds nothing.

Without a row, :math:`C_{kab}, C_{ka\cdot}, C_{k\cdot b}` and :math:`N_k` of its own cell are less
by its weight: that changes its own corner of the four.

Which pairs are worth a term is decided by a score test on what the model without them does not
explain: with its probabilities p, and the term c of a pair, centred over the classes,

.. math:: g = \sum_i w_i \sum_k (1[k = k_i] - p_{ik})\,c_{ik}, \quad
          h = 10 + \sum_i w_i \mathrm{Var}_{p_i}(c_i), \quad
          s = \frac{g |g|}{2 h}

is about the log likelihood that it gains. It must exceed 2, and log(number of candidates) - 1: the
best of many gains something by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.functions import gammaln
from naively.data.kinds import CATEGORY, NUMBER, Kind
from naively.data.schema import Schema
from naively.data.types import Floats, Places
from naively.families.edges import edges
from naively.families.family import Codes


@dataclass(frozen=True, eq=False)
class PairAxis:
    """The bins of one column."""

    kind: Kind  # what the column holds
    at: int  # its place among the columns of its kind
    n_bins: int  # how many bins there are
    cuts: Floats  # of numbers: where bins end, and the medians of their cells, which ascend
    knots: Floats
    bins: Places  # of categories: the bin of each code; the last is for all others

    @classmethod
    def of_numbers(cls, at: int, x: Floats, most: int, weight: Floats | None = None) -> PairAxis:
        """Cut a column of numbers; a bin without cells is left out."""
        ends = edges(x[:, np.newaxis], most, weight)
        seen = np.bincount(np.searchsorted(ends.cuts[0], x[~np.isnan(x)]), minlength=most) > 0
        last = np.flatnonzero(seen)
        cuts, knots = ends.cuts[0][last[:-1]], ends.knots[0][last]
        return cls(NUMBER, at, last.size, cuts, knots, np.empty(0, np.intp))

    @classmethod
    def of_categories(
        cls, at: int, codes: NDArray[Any], weight: Floats, n_categories: int, most: int
    ) -> PairAxis:
        """Give each of the most frequent categories a bin, and the last one to all others."""
        seen = codes >= 0
        total = np.bincount(codes[seen], weight[seen], n_categories)
        best = np.argsort(-total, kind="stable")[: most - 1]
        best = np.sort(best[total[best] > 0])
        bins = np.full(n_categories + 1, best.size)
        bins[best] = np.arange(best.size)
        none = np.empty(0)
        return cls(CATEGORY, at, best.size + 1, none, none, bins)

    def place_in(self, schema: Schema) -> int:
        """Return the place of the column in a schema."""
        return (schema.numbers if self.kind is NUMBER else schema.categories)[self.at]

    def bin_of(self, cells: NDArray[Any]) -> Places:
        """Return the bin of each cell; -1 where it is missing."""
        if self.kind is CATEGORY:
            return np.where(cells < 0, -1, self.bins[np.minimum(cells, self.bins.size - 1)])
        return np.where(np.isnan(cells), -1, np.searchsorted(self.cuts, cells))

    def position(self, cells: NDArray[Any]) -> tuple[Places, Floats]:
        """Return the bin before each cell, -1 where it is missing, and how far on the next one is.

        The fraction is 0 in the last bin and in those of categories.
        """
        if self.kind is CATEGORY or self.n_bins < 2:
            return self.bin_of(cells), np.zeros(cells.shape)
        low = np.searchsorted(self.knots[1:-1], cells, side="right")
        a, b = self.knots[low], self.knots[low + 1]
        with np.errstate(invalid="ignore"):
            share = np.clip((0.5 * cells - 0.5 * a) / (0.5 * b - 0.5 * a), 0.0, 1.0)
        missing = np.isnan(cells)
        return np.where(missing, -1, low), np.where(missing, 0.0, share)


# --- Pairs --------------------------------------------------------------------------------------


_STRENGTHS = (4.0, 16.0, 64.0, 256.0, 1024.0)
_MARGIN_ROWS = 2.0  # that the shares of all classes are worth
_MOST_PAIRS = 16
_LEAST_GAIN = 2.0  # of one candidate: a chance of about 1 in 20
_CHANCE = 1.0  # less than log(number of candidates) is gained by chance
_LEAST_BASE = 1e-300  # of a prior: the log gamma of less overflows
_SCREENED_ROWS = 1000  # that decide which pairs all rows judge
_JUDGED_PAIRS = 64


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """A sample's cells in the bins of axes: by column and row."""

    bins: Places  # (d, n): -1 is missing
    low: Places  # (d, n): the bin of the lower corner
    share: Floats  # (d, n): how far the next bin is
    n_bins: Places  # (d,)
    codes: Codes  # (n,)
    weight: Floats  # (n,)
    n_classes: int

    @classmethod
    def of(
        cls,
        axes: Sequence[PairAxis],
        numbers: Floats,
        codes: Codes,
        y: Codes,
        weight: Floats,
        n_classes: int,
    ) -> BinnedRows:
        """Find the bins of rows."""
        cells = [(numbers if axis.kind is NUMBER else codes)[:, axis.at] for axis in axes]
        places = [axis.position(column) for axis, column in zip(axes, cells, strict=True)]
        return cls(
            np.array([axis.bin_of(column) for axis, column in zip(axes, cells, strict=True)]),
            np.array([low for low, _ in places]),
            np.array([share for _, share in places]),
            np.array([axis.n_bins for axis in axes]),
            y,
            weight,
            n_classes,
        )

    def __getitem__(self, at: Places) -> BinnedRows:
        """Return some rows."""
        cells = self.bins[:, at], self.low[:, at], self.share[:, at]
        return BinnedRows(*cells, self.n_bins, self.codes[at], self.weight[at], self.n_classes)


@dataclass(frozen=True, eq=False)
class PairTable:
    """The table of two columns, by class, with what it was read off."""

    a: int
    b: int
    tallies: Floats  # (K, A, B)
    expected: Floats  # (K, A, B)
    alpha: float
    values: Floats  # (K, A, B)

    @classmethod
    def of(cls, rows: BinnedRows, a: int, b: int) -> PairTable:
        """Tally two columns and read their table."""
        K, A, B = rows.n_classes, int(rows.n_bins[a]), int(rows.n_bins[b])
        both = (rows.bins[a] >= 0) & (rows.bins[b] >= 0)
        at = (rows.codes * A + rows.bins[a]) * B + rows.bins[b]
        tallies: Floats = (
            np.bincount(at[both], rows.weight[both], K * A * B).reshape(K, A, B).astype(np.float64)
        )
        expected = _expected(tallies)
        alpha = _likeliest(tallies, expected)
        N = tallies.sum(axis=(1, 2))[:, np.newaxis, np.newaxis]
        values = _log_ratio(tallies + alpha * expected, (N + alpha) * expected)
        return cls(a, b, tallies, expected, alpha, values)

    def terms(self, rows: BinnedRows) -> Floats:
        """Return the terms of rows, of shape (n, K)."""
        K, A, B = self.values.shape
        (low_a, low_b), (s, t) = rows.low[[self.a, self.b]], rows.share[[self.a, self.b]]
        missing = (low_a < 0) | (low_b < 0)
        high_a, high_b = np.minimum(low_a + 1, A - 1), np.minimum(low_b + 1, B - 1)
        flat = self.values.reshape(K, -1).T
        s, t = s[:, np.newaxis], t[:, np.newaxis]
        values = (1 - s) * (1 - t) * flat[low_a * B + low_b]
        values += (1 - s) * t * flat[low_a * B + high_b]
        values += s * (1 - t) * flat[high_a * B + low_b]
        values += s * t * flat[high_a * B + high_b]
        values[missing] = 0.0
        return values

    def honest_terms(self, rows: BinnedRows) -> Floats:
        """Return the terms of rows, in the own class as if it had not been seen: (n, K)."""
        terms = self.terms(rows)
        k, a, b = rows.codes, rows.bins[self.a], rows.bins[self.b]
        there = (a >= 0) & (b >= 0)
        own = np.minimum(rows.weight, 1.0)  # of equal rows, one
        share = _own_share(rows, self.a) * _own_share(rows, self.b) * there
        change = self._left_out(k, a, b, own) - self.values[k, a, b]
        terms[np.arange(k.size), k] += share * np.where(there, change, 0.0)
        return terms

    def _left_out(self, k: Codes, a: Places, b: Places, own: Floats) -> Floats:
        """Return the values of cells without a row of theirs."""
        C = self.tallies
        rest, whole = np.maximum(C.sum(axis=(1, 2))[k] - own, 0.0), C.sum(axis=0)
        of_a, of_b = (
            np.maximum(part - own, 0.0) for part in (C.sum(axis=2)[k, a], C.sum(axis=1)[k, b])
        )
        q_a, q_b = (whole.sum(axis=i) / max(float(whole.sum()), 1e-300) for i in (1, 0))
        e = _margin(of_a, q_a[a], rest) * _margin(of_b, q_b[b], rest)
        cell = np.maximum(C[k, a, b] - own, 0.0)
        return _log_ratio(cell + self.alpha * e, (rest + self.alpha) * e)


def chosen_pairs(rows: BinnedRows, p: Floats) -> list[tuple[PairTable, Floats]]:
    """Return the pairs of columns that are worth a term, the best first, with their terms of rows.

    The model without pairs gives the rows probabilities p, of shape (n, K).
    """
    pairs = np.array(list(combinations(range(len(rows.bins)), 2)), np.int32)
    least = max(_LEAST_GAIN, np.log(len(pairs)) - _CHANCE)
    if rows.codes.size > _SCREENED_ROWS and len(pairs) > _JUDGED_PAIRS:
        some = _screened(rows, p)
        few = scores(rows[some], p[some], pairs)
        pairs = pairs[np.argsort(-few, kind="stable")[:_JUDGED_PAIRS]]
    gains = scores(rows, p, pairs)
    best = np.argsort(-gains, kind="stable")[:_MOST_PAIRS]
    tables = [PairTable.of(rows, *pairs[i].tolist()) for i in best if gains[i] > least]
    return [(table, table.honest_terms(rows)) for table in tables]


def _screened(rows: BinnedRows, p: Floats) -> Places:
    """Return rows at equal steps in the order of how well they are explained.

    That order follows neither hashes nor the order of columns.
    """
    order = np.argsort(p[np.arange(rows.codes.size), rows.codes], kind="stable")
    steps = (np.arange(_SCREENED_ROWS) + 0.5) * (order.size / _SCREENED_ROWS)
    return np.sort(order[steps.astype(np.intp)])


def scores(rows: BinnedRows, p: Floats, pairs: NDArray[np.int32]) -> Floats:
    """Return about how much log likelihood each pair gains, with its sign."""
    gains = np.empty(len(pairs))
    bins, low, n_bins, codes = (
        np.ascontiguousarray(part, np.int32)
        for part in (rows.bins, rows.low, rows.n_bins, rows.codes)
    )
    share = np.ascontiguousarray(rows.share)
    _kernel.judge_pairs(bins, low, share, n_bins, codes, rows.weight, p, pairs, gains)
    return gains


def _own_share(rows: BinnedRows, j: int) -> Floats:
    """Return how much the bin of each cell counts among the two that it is between."""
    low, share, own = rows.low[j], rows.share[j], rows.bins[j]
    return np.where(own == low, 1 - share, np.where(own == low + 1, share, 0.0))


def _expected(tallies: Floats) -> Floats:
    """Return the products of the shares of both columns."""
    N, whole = tallies.sum(axis=(1, 2))[:, np.newaxis], tallies.sum(axis=0)
    total = max(float(whole.sum()), 1e-300)
    pa = _margin(tallies.sum(axis=2), whole.sum(axis=1) / total, N)
    pb = _margin(tallies.sum(axis=1), whole.sum(axis=0) / total, N)
    return pa[:, :, np.newaxis] * pb[:, np.newaxis]


def _margin(tally: Floats, q: Floats, N: Floats) -> Floats:
    """Return the share of a bin in a class, drawn to that in all classes."""
    return (tally + _MARGIN_ROWS * q) / (N + _MARGIN_ROWS)


def _likeliest(tallies: Floats, expected: Floats) -> float:
    seen = tallies > 0
    C, e, N = tallies[seen], expected[seen], tallies.sum(axis=(1, 2))
    likelihoods = []
    for alpha in _STRENGTHS:
        base = np.maximum(alpha * e, _LEAST_BASE)
        classes = float((gammaln(alpha + N) - gammaln(alpha)).sum())
        likelihoods.append(float((gammaln(C + base) - gammaln(base)).sum()) - classes)
    return _STRENGTHS[int(np.argmax(likelihoods))]


def _log_ratio(a: Floats, b: Floats) -> Floats:
    """Return log(a / b); 0 where no class has a cell."""
    ratio = np.divide(a, b, out=np.ones(np.broadcast(a, b).shape), where=(a > 0) & (b > 0))
    return np.log(ratio)
