"""Data frames of pandas, polars and pyarrow, read in place, column by column.

A column is handed to the kernel where it lies if it is numeric, in one piece and without nulls.
Otherwise (nulls, several chunks, booleans in bits, decimals, sparse columns) it is converted a
block of rows at a time, so that no copy of the frame is ever made.

Each file of this folder exports the same functions for one library:

- ``columns(frame)``: its columns, without a copy, in a time that is linear in their number;
- ``held(column)``: what its type says, for `naively.data.kinds`;
- ``shared(column)``: an array in the column's own memory, or None where that needs a copy;
- ``numbers(column)``: its cells as float64, NaN where one is missing;
- ``dates(column)``: its cells as NumPy's dates, in UTC where it has a zone; None for other types;
- ``objects(column)``: its cells as Python's objects, where it has such or holds text as such; None
  for others;
- ``distinct(column)``: a code for each cell, -1 where it is missing, and the values of the codes;
- ``types(frame)``, ``held_by_type(type)``: the types of its columns, and what each says; None where
  the cells themselves do;
- ``first_row(frame)``: the cells of the first row as Python's objects.

pandas, which has sparse columns, also exports ``sparse_matrix(frame)``.

Frames of other libraries that narwhals knows are read as Arrow tables.

Rows of weight 0 are left out before anything is decided by what cells hold.

>>> X, y, w = without_zeros([["2024-02-29"], ["someday"]], ["a", "b"], [1.0, 0.0])
>>> X, y.tolist(), w.tolist()
([['2024-02-29']], ['a'], [1.0])
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.kinds import (
    NUMBER,
    Held,
    Kind,
    held_by_dtype,
    held_by_objects,
    numbers_of_objects,
)
from naively.data.plan import repeated
from naively.data.rows import Rows
from naively.data.sparse import SparseRows
from naively.engines.memory.arrays import as_weights, is_readable
from naively.errors import NaivelyError

_LIBRARIES = {"pandas": "pandas", "polars": "polars", "pyarrow": "arrow"}
_COLUMNS = {("pandas", "Series"), ("polars", "Series")}
_COLUMNS |= {("pyarrow", "Array"), ("pyarrow", "ChunkedArray")}
_FRAMES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")}


_VIEWS = "string_view[pyarrow]"  # a type of pandas


def is_frame(X: object) -> bool:
    """Whether X is an eager data frame that narwhals knows."""
    kind: Any = type(X)
    return _is_native(kind) or _narwhals().dependencies.is_into_dataframe(X)


def frame_library(X: object) -> str | None:
    """Return the name of the package that an eager data frame is of; None for anything else."""
    return type(X).__module__.partition(".")[0] if is_frame(X) else None


def is_column(X: object) -> bool:
    """Whether X is a single column of pandas, polars or pyarrow."""
    return any(
        (base.__module__.partition(".")[0], base.__name__) in _COLUMNS for base in type(X).__mro__
    )


def native_of(X: Any) -> Any:
    """Return a frame of pandas, polars or pyarrow, as it is if it is one."""
    kind: Any = type(X)
    if _is_native(kind):
        return X
    frame = _narwhals().from_native(X, eager_only=True)
    known = frame.implementation
    if known.is_pandas() or known.is_polars() or known.is_pyarrow():
        return frame.to_native()
    return frame.to_arrow()


def _narwhals() -> Any:
    return import_module("narwhals.stable.v2")  # it is slow, and files do without


@lru_cache(maxsize=64)
def _is_native(kind: type) -> bool:
    """Whether a type is a known frame, without narwhals, which is slow to tell."""
    return (kind.__module__.partition(".")[0], kind.__name__) in _FRAMES


def library_of(native: Any) -> Any:
    """Return the file of this folder that reads a frame or a column."""
    kind: Any = type(native)
    return _library(kind)


@lru_cache(maxsize=64)
def _library(kind: type) -> Any:
    for base in kind.__mro__:
        package = base.__module__.partition(".")[0]
        if package in _LIBRARIES:
            return import_module(f"naively.engines.memory.frames.{_LIBRARIES[package]}")
    raise TypeError(f"{kind} is a column of no library that is known here")


def names_of(X: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns, all different.

    None where some are not strings, and for what is no frame, such as an array.
    """
    if isinstance(X, np.ndarray | list | tuple) or not is_frame(X):
        return None
    native = native_of(X)
    of_arrow = hasattr(type(native), "column_names")  # pandas looks for a column of that name
    names = tuple(native.column_names if of_arrow else native.columns)
    if not names or not all(isinstance(name, str) for name in names):
        return None
    if (twice := repeated(names)) is not None:
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
    n_rows, n_columns = X.shape
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
    if not held.is_numeric:
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


def row_of(frame: Any, kinds: tuple[Kind, ...]) -> Sequence[Any] | None:
    """Return the cells of the first row, or None where the types do not show what they must be."""
    native = native_of(frame)
    library = library_of(native)
    return library.first_row(native) if _fit(library, tuple(library.types(native)), kinds) else None


@lru_cache(maxsize=64)
def _fit(library: Any, types: tuple[Any, ...], kinds: tuple[Kind, ...]) -> bool:
    held = [library.held_by_type(kind) for kind in types]
    pairs = zip(kinds, held, strict=False)
    return len(held) == len(kinds) and all(its is None or kind.fits(its) for kind, its in pairs)


# --- Rows of weight 0 --------------------------------------------------------------------------


def without_zeros(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return rows, labels and weights without those of weight 0; all of them where all have it.

    Arrays of numbers stay as they are, since the kernel skips such rows. What is wrong with labels
    or weights is an error in such rows, too.
    """
    weights = as_weights(sample_weight)
    if weights is None or weights.ndim != 1 or weights.all() or not weights.any():
        return X, y, sample_weight
    if not (isinstance(X, list | tuple) or _holds_objects(X) or is_column(X) or is_frame(X)):
        return X, y, sample_weight
    there = np.asarray(labels.as_array(y))
    n_rows = X.num_rows if hasattr(X, "num_rows") else len(X)
    if there.shape != weights.shape or n_rows != weights.size:
        return X, y, sample_weight
    labels.encode(there)
    kept = np.flatnonzero(weights)  # weights that are wrong are kept, and refused later
    return _taken(X, kept), there[kept], weights[kept]


def _holds_objects(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.kind not in "fiub"


def _taken(X: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(X, list | tuple):
        return [X[i] for i in rows]
    if isinstance(X, np.ndarray):
        return X[rows]
    X = divisible(X if is_column(X) else native_of(X))
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X.take(rows) if hasattr(X, "take") else X[rows]


def divisible(X: Any) -> Any:
    """Return a table or a column of which rows can be taken: Arrow cannot take views of text."""
    library = type(X).__module__.partition(".")[0]
    if library == "pandas" and X.ndim == 1:
        return _without_views(X) if X.dtype == _VIEWS else X
    if library == "pandas":
        views = np.flatnonzero(X.dtypes == _VIEWS)
        X = X.copy(deep=False) if views.size else X
        for j in views:
            X.isetitem(j, _without_views(X.iloc[:, j]))
        return X
    if library != "pyarrow" or (not hasattr(X, "type") and not hasattr(X, "schema")):
        return X
    from naively.engines.memory.frames.arrow import without_views

    if hasattr(X, "type"):
        return without_views(X)
    columns, names = list(map(without_views, X.columns)), list(X.schema.names)
    return import_module("pyarrow").Table.from_arrays(columns, names=names)


def _without_views(column: Any) -> Any:
    """Return a column of pandas as plain text, which not every version of pandas can make of it."""
    from naively.engines.memory.frames.arrow import without_views

    plain = type(column.array)(without_views(column.array.__arrow_array__()))
    return type(column)(plain, index=column.index, name=column.name)
