"""The columns of data frames, one file for each library.

Every file here exports the same functions for one library:

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
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from naively.data.kinds import Kind

__all__ = ["frame_library", "is_column", "is_frame", "library_of", "native_of", "row_of"]

_LIBRARIES = {"pandas": "pandas", "polars": "polars", "pyarrow": "arrow"}
_COLUMNS = {("pandas", "Series"), ("polars", "Series")}
_COLUMNS |= {("pyarrow", "Array"), ("pyarrow", "ChunkedArray")}
_FRAMES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")}


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
            return import_module(f"naively.engines.memory.native.{_LIBRARIES[package]}")
    raise TypeError(f"{kind} is a column of no library that is known here")


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
