"""Counts of entries, as families read weights off them: by column, whatever their number.

Tables of counts may be as large as memory allows, so nothing of their size is made but the result,
a block of columns at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.sparse import SparseRows
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.statistics.counts import Counts

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

    codes: NDArray[np.int32]
    weights: Floats


class CellTerms(NamedTuple):
    """The terms of single cells: row, column, and what it adds to each class, (n_cells, K).

    Law: added up by row, they are what the family's form adds, or of seen rows its ``left_out``.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: Floats


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
