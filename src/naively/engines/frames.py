"""Data frames of pandas, polars and pyarrow, read in place, column by column.

A column is handed to the kernel where it lies if it is numeric, in one piece and without nulls.
Otherwise (nulls, several chunks, booleans in bits, decimals) it is converted a block of rows at
a time, so that no copy of the frame is ever made.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.engines.arrays import _READABLE, summarize_table
from naively.exceptions import NaivelyError
from naively.labels import encode
from naively.summary import Schema, Summary

__all__ = ["Frame", "block", "is_frame", "number_column", "shape_of", "summarize"]


def is_frame(X: object) -> bool:
    """Whether X is an eager data frame that narwhals knows."""
    return nw.dependencies.is_into_dataframe(X)


def shape_of(X: Any) -> tuple[int, int]:
    """Return the numbers of rows and columns of a frame."""
    shape: tuple[int, int] = nw.from_native(X, eager_only=True).shape
    return shape


class Frame:
    """The columns of a data frame, as the kernel reads them.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    names : tuple of str, or None
        None where a pandas frame has column names that are not strings.
    dtype : numpy dtype
        float32 if every column is, and otherwise float64.
    """

    def __init__(self, frame: Any) -> None:
        native = nw.from_native(frame, eager_only=True)
        self.shape = native.shape
        labels = [native[:, j].name for j in range(self.shape[1])]
        strings = all(isinstance(label, str) for label in labels)
        self.names = tuple(labels) if strings and labels else None
        self._columns = [
            number_column(native[:, j], f"column {label!r}") for j, label in enumerate(labels)
        ]
        short = all(getattr(column, "dtype", None) == np.float32 for column in self._columns)
        self.dtype = np.dtype(np.float32 if short and self._columns else np.float64)

    def __getitem__(self, rows: slice) -> list[NDArray[Any]]:
        return [block(column, rows) for column in self._columns]


def summarize(
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Summary:
    """Summarize the rows of a data frame by their labels; the columns keep their names."""
    frame = Frame(X)
    classes, codes = encode(y)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    schema = Schema(frame.shape[1], frame.names)
    return summarize_table(frame, schema, classes, codes, weights, n_jobs)


def block(column: NDArray[Any] | nw.Series[Any], rows: slice) -> NDArray[Any]:
    """Return rows of a column as an array."""
    return column[rows] if isinstance(column, np.ndarray) else _numbers(column[rows])


def number_column(series: nw.Series[Any], name: str) -> NDArray[Any] | nw.Series[Any]:
    """Return an array that shares the column's memory, or the column for later conversion."""
    dtype = series.dtype
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        if dtype == nw.Object:
            return _object_column(series, name)
        raise NaivelyError(
            f"{name} must hold numbers; got {dtype}. Encode it as numbers or leave it out."
        )
    array = _shared(series)
    if array is not None and array.dtype.char in _READABLE:
        return array
    return series


def _shared(series: nw.Series[Any]) -> NDArray[Any] | None:
    """Return the column's own memory as an array, or None where that needs a copy."""
    native = series.to_native()
    if series.implementation.is_pandas():
        plain = isinstance(native.dtype, np.dtype)
        return native.to_numpy() if plain else None
    if series.implementation.is_polars():
        if native.null_count() or native.n_chunks() > 1 or native.dtype == nw.Boolean:
            return None
        return _if_possible(lambda: native.to_numpy(allow_copy=False))
    if series.implementation.is_pyarrow():
        if native.null_count or native.num_chunks > 1:
            return None
        chunk = native.chunk(0) if native.num_chunks else native.combine_chunks()
        return _if_possible(lambda: chunk.to_numpy(zero_copy_only=True))
    return None


def _if_possible(view: Any) -> NDArray[Any] | None:
    try:
        return view()
    except (RuntimeError, ValueError, TypeError):
        return None


def _object_column(series: nw.Series[Any], name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(series.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        raise NaivelyError(
            f"{name} must hold numbers; got objects that are none. "
            "Encode it as numbers or leave it out."
        ) from None


def _numbers(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Convert a block of a column: nulls become NaN."""
    return np.ascontiguousarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
