"""How a column is cut into bins where it stands in a pair of columns.

Numbers are cut at quantiles of the sample; between the medians of bins a table is interpolated, and
flat beyond them. Of categories the most frequent have a bin of their own, and all others share one.

Examples
--------
>>> axis = PairAxis.of_numbers(0, np.array([1.0, 2.0, 3.0, 4.0]), 2)
>>> axis.knots.tolist()
[1.5, 3.5]
>>> axis.position(np.array([1.0, 2.5, 3.0, np.nan]))
(array([ 0,  0,  0, -1]), array([0.  , 0.5 , 0.75, 0.  ]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naively.families.edges import edges
from naively.schema import Schema

__all__ = ["PairAxis"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PairAxis:
    """The bins of one column.

    Attributes
    ----------
    kind : {"number", "category"}
        What the column holds.
    at : int
        Its place among the columns of its kind.
    n_bins : int
        How many bins there are.
    cuts, knots : arrays
        Of numbers: where bins end, and the medians of their cells, which ascend.
    bins : array of int
        Of categories: the bin of each code; the last is for all others.
    """

    kind: Literal["number", "category"]
    at: int
    n_bins: int
    cuts: Floats
    knots: Floats
    bins: Places

    @classmethod
    def of_numbers(cls, at: int, x: Floats, most: int, weight: Floats | None = None) -> PairAxis:
        """Cut a column of numbers; a bin without cells is left out."""
        found = edges(x[:, np.newaxis], most, weight)
        seen = np.bincount(np.searchsorted(found.cuts[0], x[~np.isnan(x)]), minlength=most) > 0
        last = np.flatnonzero(seen)
        cuts, knots = found.cuts[0][last[:-1]], found.knots[0][last]
        return cls("number", at, last.size, cuts, knots, np.empty(0, np.intp))

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
        return cls("category", at, best.size + 1, none, none, bins)

    def place_in(self, schema: Schema) -> int:
        """Return the place of the column in a schema."""
        return (schema.numbers if self.kind == "number" else schema.categories)[self.at]

    def bin_of(self, cells: NDArray[Any]) -> Places:
        """Return the bin of each cell; -1 where it is missing."""
        if self.kind == "category":
            return np.where(cells < 0, -1, self.bins[np.minimum(cells, self.bins.size - 1)])
        return np.where(np.isnan(cells), -1, np.searchsorted(self.cuts, cells))

    def position(self, cells: NDArray[Any]) -> tuple[Places, Floats]:
        """Return the bin before each cell, -1 where it is missing, and how far on the next one is.

        The fraction is 0 in the last bin and in those of categories.
        """
        if self.kind == "category" or self.n_bins < 2:
            return self.bin_of(cells), np.zeros(cells.shape)
        low = np.searchsorted(self.knots[1:-1], cells, side="right")
        a, b = self.knots[low], self.knots[low + 1]
        with np.errstate(invalid="ignore"):
            share = np.clip((0.5 * cells - 0.5 * a) / (0.5 * b - 0.5 * a), 0.0, 1.0)
        missing = np.isnan(cells)
        return np.where(missing, -1, low), np.where(missing, 0.0, share)
