"""Data frames of pandas, polars and pyarrow, read in place, column by column.

A column is handed to the kernel where it lies if it is numeric, in one piece and without nulls.
Otherwise (nulls, several chunks, booleans in bits, decimals, sparse columns) it is converted a
block of rows at a time, so that no copy of the frame is ever made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import NUMBER, Held, held_by_dtype, held_by_objects, numbers_of_objects
from naively.data.rows import Rows
from naively.data.sparse import SparseRows
from naively.engines.memory.arrays import is_readable
from naively.engines.memory.native import library_of, native_of
from naively.errors import NaivelyError


def shape_of(X: Any) -> tuple[int, int]:
    """Return the numbers of rows and columns of a frame."""
    return X.shape


def names_of(X: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns, all different; None where some are not strings."""
    native = native_of(X)
    of_arrow = hasattr(type(native), "column_names")  # pandas looks for a column of that name
    names = tuple(native.column_names if of_arrow else native.columns)
    if not names or not all(isinstance(name, str) for name in names):
        return None
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise NaivelyError(
            f"columns must have different names; got {twice!r} twice. Rename one of them, or give "
            "an array, whose columns have none."
        )
    return tuple(map(str, names))  # NumPy's texts would show themselves in messages


def columns_of(X: Any) -> list[Any]:
    """Return the columns of a frame, as its library has them, or as arrays."""
    native = native_of(X)
    return library_of(native).columns(native)


def sparse_rows(X: Any) -> SparseRows | None:
    """Return a frame whose columns all leave zeros out; None for others."""
    native = native_of(X)
    find = getattr(library_of(native), "sparse_matrix", None)
    matrix = None if find is None else find(native)
    return None if matrix is None else SparseRows.of(matrix)


def held_by(column: Any) -> Held:
    """Return what the type of a column says: of an array, or of a frame's library."""
    if not isinstance(column, np.ndarray):
        return library_of(column).held(column)
    by_type = held_by_dtype(column.dtype)
    return held_by_objects(column.tolist()) if by_type is None else by_type


def first_cells(column: Any, n: int) -> list[Any]:
    """Return the first cells of a column of text that are not missing."""
    found: list[Any] = []
    for start in range(0, len(column), n):
        found += [cell for cell in cells_of(column[start : start + n]) if isinstance(cell, str)]
        if len(found) >= n:
            break
    return found[:n]


def cells_of(column: Any) -> list[Any]:
    """Return the cells of a column as Python's objects, whatever library it is of."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            break
    return getattr(column, name)()


def numbers_of(X: Any) -> Rows:
    """Return a frame of numbers as rows; messages call columns without names by their places."""
    n_rows, n_columns = shape_of(X)
    pairs = zip(names_of(X) or range(n_columns), columns_of(X), strict=True)
    numbers = [number_column(column, f"column {label!r}") for label, column in pairs]
    return Rows((n_rows, n_columns), numbers, [])


class _LaterColumn:
    """A column of a frame's library, whose rows become numbers when they are sliced."""

    def __init__(self, column: Any) -> None:
        self.column, self.numbers = column, library_of(column).numbers

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        return self.numbers(self.column[rows])


def number_column(column: Any, name: str) -> Any:
    """Return an array that shares the column's memory, or what converts rows of it later."""
    held = held_by(column)
    if held.what not in ("number", "boolean") or held.coded:
        NUMBER.check(held, name)
    array = column if isinstance(column, np.ndarray) else library_of(column).shared(column)
    if array is not None and is_readable(array):
        return array
    return _converted(column, name) if isinstance(column, np.ndarray) else _LaterColumn(column)


def _converted(column: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return the cells of an array of objects, or of a dtype that the kernel does not read."""
    if column.dtype.kind == "O":
        return numbers_of_objects(column.tolist(), name)
    with np.errstate(over="ignore"):  # infinity is an error that names the cell
        return column.astype(np.float64)
