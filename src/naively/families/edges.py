r"""Edges of histograms: bins that hold about equally many cells of a column.

The cut at a quantile goes halfway between two neighbouring values of the column; where many cells
share one value, to that end of theirs which is nearer. So a frequent value has a bin of its own,
whatever else the column holds, and no cell of the sample lies on a cut.

Examples
--------
>>> found = edges(np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]), bins=4)
>>> found.cuts.tolist(), found.knots.tolist()
([[0.5, 1.5, 7.5]], [[0.0, 1.0, 4.5, 8.5]])
>>> bin_of(np.array([[0.0], [7.5], [7.6], [np.nan]]), found)[:, 0]
array([ 0,  2,  3, -1])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats

_MOST_BINS = 64
_CELLS_OF_A_BIN = 4
_LAST_BITS = 4 * np.finfo(np.float64).eps  # by which equal cells may differ
_LEAST_CELL = np.finfo(np.float64).tiny  # below which a cell is 0


class Edges(NamedTuple):
    """Where the bins of each column end, and their middles.

    A cell x is in bin b where ``cuts[b - 1] < x <= cuts[b]``. Cuts may be equal, or infinite: then
    the bins between them stay empty.
    """

    cuts: Floats  # (d, B - 1)
    knots: Floats  # (d, B)


def edges(sample: Floats, bins: int | None = None, weight: Floats | None = None) -> Edges:
    """Cut columns at the quantiles of a sample; the knots are the medians of the bins' cells.

    A column without cells is cut at 0. The number of bins is a power of two; by default the
    largest up to 64 that leaves four cells to a bin. Rows may have weights: one of weight 2 is two
    rows.
    """
    m, d = sample.shape
    bins = _bins_for(m) if bins is None else bins
    same = weight is None or m == 0 or bool((weight == weight[0]).all())
    cells = np.sort(sample.T, axis=1)  # NaN last
    present = np.sum(~np.isnan(cells), axis=1)
    at = Edges(np.zeros((d, bins - 1)), np.zeros((d, bins)))
    plain = (present == m) & _differ(cells).all(axis=1) & same & (m > 0)
    if plain.any():  # these have their cuts at the same ranks
        total = np.arange(m + 1.0)
        rank = _ranks(np.arange(m + 1), total, bins)
        at.cuts[plain], at.knots[plain] = _cut(cells[plain], rank, total)
    for j in np.flatnonzero((present > 0) & ~plain):
        column, total = cells[j, : present[j]], np.arange(present[j] + 1.0)
        if weight is not None and not same:
            order = np.argsort(sample[:, j], kind="stable")[: column.size]
            total[1:] = np.cumsum(weight[order])
        ends = np.flatnonzero(_differ(column)) + 1
        rank = _ranks(np.concatenate(([0], ends, [column.size])), total, bins)
        at.cuts[j], at.knots[j] = _cut(column, rank, total)
    return at


def bin_of(x: Floats, edges: Edges) -> NDArray[np.intp]:
    """Return the bin of every cell of a table (n, d); -1 where it is missing."""
    bins = np.empty(x.shape, dtype=np.intp)
    for j, cuts in enumerate(edges.cuts):
        bins[:, j] = np.searchsorted(cuts, x[:, j], side="left")
    bins[np.isnan(x)] = -1
    return bins


def _bins_for(m: int) -> int:
    bins = 2
    while 2 * bins <= _MOST_BINS and 2 * bins * _CELLS_OF_A_BIN <= m:
        bins *= 2
    return bins


def _differ(cells: Floats) -> NDArray[np.bool_]:
    """Whether neighbours among sorted cells differ by more than their last bits."""
    low, high = cells[..., :-1], cells[..., 1:]
    span = np.nanmax(cells, axis=-1, keepdims=True, initial=-np.inf) - cells[..., :1]
    last_bits = np.maximum(_LAST_BITS * np.maximum(np.abs(low), np.abs(high)), _LEAST_CELL)
    return np.asarray(high - low > np.minimum(last_bits, 1e-9 * span))


def _ranks(ends: NDArray[np.intp], total: Floats, bins: int) -> NDArray[np.intp]:
    """Return the ranks of the first cells above the cuts, where runs of equal cells end.

    The totals are the weights of all cells before each rank.
    """
    wanted = np.arange(1, bins) * (total[-1] / bins)
    after = np.minimum(np.searchsorted(total[ends], wanted), ends.size - 1)
    low, high = ends[after - 1], ends[after]
    return np.where(wanted - total[low] <= total[high] - wanted, low, high)


def _cut(cells: Floats, rank: NDArray[np.intp], total: Floats) -> tuple[Floats, Floats]:
    """Return cuts and knots of cells that are sorted along the last axis."""
    m = cells.shape[-1]
    below, above = cells[..., np.maximum(rank - 1, 0)], cells[..., np.minimum(rank, m - 1)]
    middle = 0.5 * below + 0.5 * above
    cuts = np.where(middle < above, middle, below)  # of neighbouring floats, the lower
    cuts[..., rank == 0], cuts[..., rank == m] = -np.inf, np.inf
    half = 0.5 * total[np.append(0, rank)] + 0.5 * total[np.append(rank, m)]
    first, second = (np.searchsorted(total[1:], half, side) for side in ("left", "right"))
    return cuts, 0.5 * cells[..., np.minimum(first, m - 1)] + 0.5 * cells[
        ..., np.minimum(second, m - 1)
    ]
