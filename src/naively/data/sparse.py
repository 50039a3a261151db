"""Sparse rows: the cells of each row that are not zero, as the kernel reads them.

A matrix of SciPy's and the words of documents are both of them.

>>> rows = SparseRows(np.array([0, 2, 2, 3]), np.array([0, 2, 1]), np.array([1, 5, 7]), 3)
>>> rows.dense()
array([[1., 0., 5.],
       [0., 0., 0.],
       [0., 7., 0.]])
>>> rows[1:].shape, rows[np.array([2, 0])].places.tolist()
((2, 3), [1, 0, 2])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.tensors import Tensors, UnsoundError
from naively.errors import NaivelyError

_READABLE = "fdbhilqBHILQ?"  # the dtypes of values that the kernel reads where they lie


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of which only cells that may differ from 0 are held; those of one place are added up.

    Slices share the arrays with the whole, and so do rows made of a matrix, which must not be
    changed while they are in use. The kernel checks places as it reads them.

    Attributes
    ----------
    starts : ndarray of int64 of shape (n_rows + 1,)
        Where the cells of each row begin, and the end; the first need not be 0.
    places : ndarray of int32 or int64
        The column of each cell, in any order within a row.
    values : ndarray of any real type
        The cells; NaN is missing.
    n_columns : int
        How many columns there are.
    """

    starts: NDArray[np.int64]
    places: NDArray[Any]
    values: NDArray[Any]
    n_columns: int

    @classmethod
    def of(cls, X: Any) -> SparseRows:
        """Return the rows of a sparse matrix or array of SciPy's; only CSR needs no copy."""
        if X.ndim != 2:
            raise NaivelyError(f"X must have two dimensions, rows and columns; got {X.ndim}.")
        if X.dtype.kind not in "fiub":
            raise NaivelyError(f"X must hold real numbers; got dtype {X.dtype}. Convert it first.")
        rows = X if X.format == "csr" else X.tocsr()
        starts = rows.indptr.astype(np.int64, copy=False)
        n_rows, n_columns = rows.shape
        if starts.size != n_rows + 1 or starts[0] < 0 or (starts[1:] < starts[:-1]).any():
            raise NaivelyError("X must be a valid sparse matrix; got one whose indptr descends.")
        if starts[-1] > min(rows.indices.size, rows.data.size):
            raise NaivelyError("X must be a valid sparse matrix; got fewer cells than indptr says.")
        return cls(starts, _readable_places(rows.indices), _readable(rows.data), n_columns)

    @classmethod
    def of_dense(cls, X: NDArray[Any]) -> SparseRows:
        """Return the rows of an array, without its zeros."""
        cells = np.asarray(X)
        rows, places = np.nonzero(cells)
        starts = _starts_of(np.bincount(rows, minlength=len(cells)))
        return cls(starts, _readable_places(places), _readable(cells[rows, places]), cells.shape[1])

    @classmethod
    def empty(cls, n_columns: int, n_rows: int = 0) -> SparseRows:
        """Return rows without a cell."""
        return cls(np.zeros(n_rows + 1, np.int64), np.empty(0, np.int64), np.empty(0), n_columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.starts.size - 1, self.n_columns

    @property
    def n_cells(self) -> int:
        """How many cells are held."""
        return int(self.starts[-1] - self.starts[0])

    @property
    def cells(self) -> slice:
        """Where the cells of these rows stand among `places` and `values`."""
        return slice(int(self.starts[0]), int(self.starts[-1]))

    @property
    def row_numbers(self) -> NDArray[np.intp]:
        """The row of each cell."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.starts))

    def __len__(self) -> int:
        return self.starts.size - 1

    def __getitem__(self, rows: slice | NDArray[Any]) -> SparseRows:
        """Return some rows: by a slice, which shares the cells; by numbers, or by a mask."""
        if isinstance(rows, slice) and rows.step in (None, 1):
            first, last, _ = rows.indices(len(self))
            starts = self.starts[first : max(first, last) + 1]
            return SparseRows(starts, self.places, self.values, self.n_columns)
        at = np.arange(len(self))[rows]
        sizes = np.diff(self.starts)[at]
        starts = _starts_of(sizes)
        cells = np.repeat(self.starts[at] - starts[:-1], sizes) + np.arange(starts[-1])
        return SparseRows(starts, self.places[cells], self.values[cells], self.n_columns)

    def compact(self, *dtypes: Any) -> SparseRows:
        """Return the same in memory of its own: starts, places and values of these types."""
        arrays = (self.starts - self.starts[0], self.places[self.cells], self.values[self.cells])
        starts, places, values = (a.astype(t) for a, t in zip(arrays, dtypes, strict=True))
        return SparseRows(starts, places, values, self.n_columns)

    def tidy(self) -> SparseRows:
        """Return the same rows with cells by ascending place, none of them twice, and no zeros.

        >>> SparseRows(np.array([0, 3]), np.array([2, 0, 2]), np.array([1, 0, 4]), 3).tidy().values
        array([5.])
        """
        places = self.places[self.cells].astype(np.int64)
        keys = self.row_numbers * max(1, self.n_columns) + places
        distinct, at = np.unique(keys, return_inverse=True)
        values = np.bincount(at, self.values[self.cells].astype(np.float64), distinct.size)
        kept = values != 0  # NaN is kept
        distinct, values = distinct[kept], values[kept] + 0.0
        starts = np.searchsorted(distinct, np.arange(len(self) + 1) * max(1, self.n_columns))
        places = distinct % max(1, self.n_columns)
        return SparseRows(starts.astype(np.int64), places, values, self.n_columns)

    def moved(self, places: NDArray[np.intp], n_columns: int) -> SparseRows:
        """Return the rows once each column went to another place; -1 where it is gone."""
        to = places[self.places[self.cells]]
        kept, values = to >= 0, self.values[self.cells]
        if kept.all():
            return SparseRows(self.starts - self.starts[0], to, values, n_columns)
        starts = _starts_of(kept)[self.starts - self.starts[0]]
        return SparseRows(starts, to[kept], values[kept], n_columns)

    @staticmethod
    def joined(parts: Sequence[SparseRows]) -> SparseRows:
        """Return the rows of several, one after the other, under the columns of the first."""
        return SparseRows(
            _starts_of(np.concatenate([np.diff(part.starts) for part in parts])),
            np.concatenate([part.places[part.cells] for part in parts]),
            np.concatenate([part.values[part.cells] for part in parts]),
            parts[0].n_columns,
        )

    def dense(self, rows: slice = slice(None), dtype: Any = np.float64) -> NDArray[Any]:
        """Return rows as an array."""
        part = self[rows]
        found = np.zeros(part.shape, dtype)
        places = part.places[part.cells]
        if places.size and not 0 <= places.min() <= places.max() < self.n_columns:
            raise NaivelyError("X must be a valid sparse matrix; got a place beyond its columns.")
        np.add.at(found, (part.row_numbers, places), part.values[part.cells].astype(dtype))
        return found

    def dense_as_held(self) -> NDArray[Any]:
        """Return all rows as an array that keeps booleans and large integers what they are."""
        dtypes = {"b": np.bool_, "i": np.int64, "u": np.uint64}
        return self.dense(dtype=dtypes.get(self.values.dtype.kind, np.float64))

    def __eq__(self, other: object) -> bool:
        """Whether all cells are the same, in the same order."""
        return (
            isinstance(other, SparseRows)
            and self.n_columns == other.n_columns
            and np.array_equal(self.starts - self.starts[0], other.starts - other.starts[0])
            and np.array_equal(self.places[self.cells], other.places[other.cells])
            and np.array_equal(self.values[self.cells], other.values[other.cells], equal_nan=True)
        )

    def tensors(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the cells as arrays, which a file can hold."""
        arrays = {"starts": self.starts - self.starts[0]}
        arrays |= {"places": self.places[self.cells], "values": self.values[self.cells]}
        return {f"{name}.{part}": array for part, array in arrays.items()}

    @classmethod
    def from_tensors(
        cls, tensors: Tensors, name: str, shape: tuple[int, int], *dtypes: Any
    ) -> SparseRows:
        """Return rows of a shape, of which starts, places and values have these types; or raise."""
        n_cells = tensors.length(f"{name}.places")
        sizes = {"starts": shape[0] + 1, "places": n_cells, "values": n_cells}
        starts, places, values = (
            tensors.take(f"{name}.{part}", dtype, (size,))
            for (part, size), dtype in zip(sizes.items(), dtypes, strict=True)
        )
        ends = starts[0] == 0 and starts[-1] == n_cells and (starts[1:] >= starts[:-1]).all()
        if not ends or (n_cells and not 0 <= places.min() <= places.max() < shape[1]):
            raise UnsoundError(f"{name} holds cells of no row or no column")
        return cls(starts.astype(np.int64), _readable_places(places), values, shape[1])


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy's, which is not imported for it."""
    return type(X).__module__.startswith("scipy.sparse")


def _starts_of(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Return where the cells of rows of so many cells begin, and the end."""
    starts = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _readable(values: NDArray[Any]) -> NDArray[Any]:
    """Return values as the kernel reads them."""
    plain = values.dtype.char in _READABLE and values.dtype.isnative and values.flags.aligned
    found: NDArray[Any] = values if plain else values.astype(np.float64)
    return np.ascontiguousarray(found)


def _readable_places(places: NDArray[Any]) -> NDArray[Any]:
    if places.dtype in (np.dtype(np.int32), np.dtype(np.int64)):
        return np.ascontiguousarray(places)
    return places.astype(np.int64)
