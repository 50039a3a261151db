"""Families of counts of entries, as of words: they describe all columns of a table at once.

Tables of counts may be as large as memory allows, so nothing of their size is made but the result,
a block of columns at a time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.sparse import SparseRows
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.families.family import Codes, Family
from naively.statistics import Documents, MissingCells, Occurrences
from naively.statistics.counts import Counts
from naively.statistics.summary import Summary

LEAST = -1e9  # the logarithm of 0: it outweighs every text, and leaves digits for the rest
_NOTHING = 1e-13  # of a whole: what rounding leaves of a difference of sums
_PLACES = 1 << 16  # of a block, which stays in the cache of a core
_LINE = 64  # bytes of a line of the cache


@dataclass(frozen=True, eq=False)
class EntryCounts:
    """What the families of counts read."""

    counts: Counts  # by class and entry
    class_weight: Floats  # (n_classes,): the weight of the rows of each class
    missing: Counts | None = None  # the weight of missing cells, where rows are counted
    n_jobs: int | None = None  # threads that read weights off

    @property
    def values(self) -> Floats:
        """The counts, of shape (n_classes, n_entries)."""
        return self.counts.values

    @cached_property
    def total(self) -> Floats:
        """The sum of all counts of each class."""
        return self.values.sum(axis=1)

    @cached_property
    def whole(self) -> Floats:
        """The counts of all classes together."""
        return self.values.sum(axis=0)


class SeenRows(NamedTuple):
    """Class and weight of rows that were seen, by which they are taken out again."""

    codes: Codes
    weights: Floats


class CellTerms(NamedTuple):
    """The terms of single cells: row, column, and what it adds to each class, (n_cells, K).

    Law: added up by row, they are what the family's form adds, or of seen rows its ``left_out``.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: Floats


class EntryFamily(Family):
    """A distribution of the entries of rows: all columns are one term, sparse rows stay sparse."""

    alpha: Any
    n_jobs: int | None

    reads = Occurrences  # or Documents: as the schema says
    support = (0.0, np.inf)
    discrete = True
    is_joint = True
    floor = 1e60

    def __post_init__(self) -> None:
        """Take alpha as it is: it may be an array."""

    def statistic_of(self, summary: Summary, columns: Sequence[int], at: Any) -> EntryCounts:
        """Return the counts of all columns."""
        by_row = summary.schema.counted == "documents"
        missing = summary[MissingCells] if by_row else None
        return EntryCounts(counts_of(summary), summary.class_weight, missing, self.n_jobs)

    def cells_of(self, numbers: Any, codes: Any, texts: Any, at: Any) -> SparseRows:
        """Return whole rows."""
        return numbers

    def log_density(self, x: SparseRows, parameters: Any) -> Floats:
        """Return the terms of rows, added up, of shape (n, K)."""
        total = np.zeros((len(x), parameters.statistic.class_weight.size))
        self.form(parameters, np.ones(1)).add(x, total)
        return total

    @abstractmethod
    def cell_terms(self, rows: SparseRows, parameters: Any, seen: SeenRows | None) -> CellTerms:
        """Return the terms of single cells; those of seen rows as if each had not been seen."""


def counts_of(summary: Summary) -> Counts:
    """Return how often each column occurs, or in how many rows: as the schema says."""
    return summary[Documents if summary.schema.counted == "documents" else Occurrences]


def log_or_least(x: Floats, out: Floats | None = None) -> Floats:
    """Return logarithms, and `LEAST` instead of that of 0.

    >>> log_or_least(np.array([1.0, 0.0])).tolist()
    [0.0, -1000000000.0]
    """
    if x.size and x.min() > 0:  # all at once, which is much faster
        return np.log(x, out=out)
    found = np.log(x, out=np.full(x.shape, LEAST), where=x > 0)
    if out is not None:
        out[...] = found
    return found


def what_is_left(whole: Any, *parts: Any) -> Floats:
    """Return a sum of weights without some of them: 0, where all but a rounding is taken away.

    >>> what_is_left(np.array([0.1 + 0.2, 2.0]), np.array([0.3, 0.5])).tolist()
    [0.0, 1.5]
    """
    rest = whole
    for part in parts:
        rest = rest - part
    return np.where(rest > _NOTHING * whole, rest, 0.0)


def aligned(shape: tuple[int, ...]) -> Floats:
    """Return memory that begins with a line of the cache: reading a row of it takes fewer lines.

    >>> aligned((3, 20)).ctypes.data % 64
    0
    """
    size = int(np.prod(shape))
    room = np.empty(size + _LINE // 8)
    first = -room.ctypes.data % _LINE // 8
    return room[first : first + size].reshape(shape)


def read_weights(
    write: Callable[[slice, Floats], None], shape: tuple[int, int], n_jobs: int | None
) -> Floats:
    """Return weights of shape (n_entries, n_classes), of some entries at a time.

    Parameters
    ----------
    write : callable
        Writes the weights of some entries into an array of shape (their number, n_classes).
    shape : tuple of int
        The numbers of classes and of entries.
    n_jobs : int or None
        Threads.
    """
    n_classes, n_entries = shape
    out = aligned((n_entries, n_classes))
    step = max(1, _PLACES // max(1, n_classes))
    blocks = [slice(start, start + step) for start in range(0, n_entries, step)]
    map_blocks(lambda at: write(at, out[at]), blocks, n_jobs)
    return out


def own_cells(rows: SparseRows) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return row, column and value of each cell that is present."""
    places, values = rows.places[rows.cells], rows.values[rows.cells].astype(np.float64)
    present = ~np.isnan(values)
    return rows.row_numbers[present], places[present].astype(np.intp), values[present]
