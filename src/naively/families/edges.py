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

from naively.families.family import Floats

__all__ = ["Edges", "bin_of", "edges"]

_MOST_BINS = 64
_CELLS_OF_A_BIN = 4


class Edges(NamedTuple):
    """Where the bins of each column end, and their middles.

    A cell x is in bin b where ``cuts[b - 1] < x <= cuts[b]``. Cuts may be equal, or infinite: then
    the bins between them stay empty.
    """

    cuts: Floats  # (d, B - 1)
    knots: Floats  # (d, B)


def edges(sample: Floats, bins: int | None = None) -> Edges:
    """Cut columns at the quantiles of a sample; the knots are the medians of the bins' cells.

    A column without cells is cut at 0. The number of bins is a power of two; by default the
    largest up to 64 that leaves four cells to a bin.
    """
    m, d = sample.shape
    bins = _bins_for(m) if bins is None else bins
    cells = np.sort(sample.T, axis=1)  # NaN last
    present = np.sum(~np.isnan(cells), axis=1)
    found = Edges(np.zeros((d, bins - 1)), np.zeros((d, bins)))
    plain = (present == m) & (cells[:, 1:] != cells[:, :-1]).all(axis=1) & (m > 0)
    if plain.any():  # these have their cuts at the same ranks
        rank = _ranks(np.arange(m + 1), bins)
        found.cuts[plain], found.knots[plain] = _cut(cells[plain], rank)
    for j in np.flatnonzero((present > 0) & ~plain):
        column = cells[j, : present[j]]
        ends = np.flatnonzero(column[1:] != column[:-1]) + 1
        rank = _ranks(np.concatenate(([0], ends, [column.size])), bins)
        found.cuts[j], found.knots[j] = _cut(column, rank)
    return found


def bin_of(x: Floats, edges: Edges) -> NDArray[np.intp]:
    """Return the bin of every cell of a table (n, d); -1 where it is missing."""
    found = np.empty(x.shape, dtype=np.intp)
    for j, cuts in enumerate(edges.cuts):
        found[:, j] = np.searchsorted(cuts, x[:, j], side="left")
    found[np.isnan(x)] = -1
    return found


def _bins_for(m: int) -> int:
    bins = 2
    while 2 * bins <= _MOST_BINS and 2 * bins * _CELLS_OF_A_BIN <= m:
        bins *= 2
    return bins


def _ranks(ends: NDArray[np.intp], bins: int) -> NDArray[np.intp]:
    """Return the ranks of the first cells above the cuts, where runs of equal cells end."""
    wanted = np.arange(1, bins) * (ends[-1] / bins)
    after = np.searchsorted(ends, wanted)
    low, high = ends[after - 1], ends[after]
    return np.where(wanted - low <= high - wanted, low, high)


def _cut(cells: Floats, rank: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return cuts and knots of cells that are sorted along the last axis."""
    m = cells.shape[-1]
    below, above = cells[..., np.maximum(rank - 1, 0)], cells[..., np.minimum(rank, m - 1)]
    middle = 0.5 * below + 0.5 * above
    cuts = np.where(middle < above, middle, below)  # of neighbouring floats, the lower
    cuts[..., rank == 0], cuts[..., rank == m] = -np.inf, np.inf
    start, stop = np.append(0, rank), np.append(rank, m)
    first, second = np.maximum(start + stop - 1, 0) // 2, np.minimum((start + stop) // 2, m - 1)
    return cuts, 0.5 * cells[..., np.minimum(first, m - 1)] + 0.5 * cells[..., second]
