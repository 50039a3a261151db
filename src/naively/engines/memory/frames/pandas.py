"""Columns of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.dates import Dates
from naively.data.kinds import Held, What, held_by_dtype, held_by_objects, numbers_of_objects
from naively.errors import need

pd = need("pandas", "reading pandas frames")

_SHORT = 16  # cells
_NULLABLE: dict[str, What] = {"i": "number", "u": "number", "f": "number", "b": "boolean"}


def columns(frame: Any) -> list[Any]:
    """Return the columns of a frame; arrays where it is one table of numbers in memory."""
    shape = len(frame), frame.shape[1]  # of a single short row, types take longer than cells
    if min(shape) and max(shape) > _SHORT and len(kinds := set(frame.dtypes)) == 1:
        kind = kinds.pop()
        if isinstance(kind, np.dtype) and kind.kind in "fiub":
            table = frame.to_numpy()
            if np.shares_memory(table[:1], frame.iloc[:, 0].to_numpy()[:1]):
                return list(table.T)
    return [column for _, column in frame.items()]


def held(column: Any) -> Held:
    """Return what a column's type says; of objects, the cells themselves."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        inside = held(kind.categories.to_series()) if len(kind.categories) else None
        inner = f"category of {inside.type}" if inside else "category"
        return Held(inside.what if inside else "nothing", inner, coded=True)
    if isinstance(kind, pd.SparseDtype):
        kind = kind.subtype
    if isinstance(kind, np.dtype):
        by_type = held_by_dtype(kind)
        return _held_by_objects(_dense(column)) if by_type is None else by_type
    return _held_by_extension(kind)


def _held_by_objects(column: Any) -> Held:
    """Return what objects are; pandas sees that many are text in less time than Python."""
    if len(column) > _SHORT and pd.api.types.infer_dtype(column, skipna=True) == "string":
        return Held("text", "str")
    return held_by_objects(column.tolist())


def _held_by_extension(kind: Any) -> Held:
    if isinstance(kind, pd.ArrowDtype):
        from naively.engines.memory.frames.arrow import held_by_type

        return held_by_type(kind.pyarrow_dtype)
    if isinstance(kind, pd.StringDtype):
        return Held("text", str(kind))
    if isinstance(kind, pd.IntervalDtype):  # called by its text
        return Held("text", str(kind), coded=True)
    if isinstance(kind, pd.DatetimeTZDtype):
        return Held("datetime", str(kind))
    nullable = getattr(kind, "numpy_dtype", None)  # of Int64, Float64 and boolean
    what = _NULLABLE.get(nullable.kind, "other") if nullable is not None else "other"
    return Held(what, str(kind))


def shared(column: Any) -> NDArray[Any] | None:
    """Return the column's own memory as an array, or None where that needs a copy."""
    if not isinstance(column.dtype, np.dtype) or column.dtype.kind == "O":
        return None
    return column.to_numpy()


def numbers(column: Any) -> NDArray[np.float64]:
    """Return the cells as float64, as exactly as that can be; missing ones are NaN."""
    column = _dense(column)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.dtype == object:
        return numbers_of_objects(column.tolist(), f"column {column.name!r}")
    if isinstance(column.dtype, pd.ArrowDtype):
        from naively.engines.memory.frames import arrow

        return arrow.numbers(_arrow(column))
    found = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.ascontiguousarray(found, dtype=np.float64)


def dates(column: Any) -> Dates | None:
    """Return the cells as NumPy's dates, those with a zone in UTC; None for other types."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert(None)
    if isinstance(column.dtype, pd.ArrowDtype):
        from naively.engines.memory.frames import arrow

        return arrow.dates(_arrow(column))
    return column.to_numpy() if column.dtype.kind == "M" else None


def objects(column: Any) -> list[Any] | None:
    """Return cells that are Python's objects, or text: pandas compares some up to a zero byte."""
    column = _dense(column)
    is_coded = isinstance(column.dtype, pd.CategoricalDtype)
    return None if is_coded or column.dtype.kind != "O" else column.tolist()


def distinct(column: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return a code for each cell, -1 where it is missing, and the values of the codes."""
    if len(column) == 1:  # of a stream of rows
        return np.zeros(1, np.int32), column.tolist()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    codes, values = _dense(column).factorize()
    return codes, np.asarray(values, dtype=object).tolist()


def types(frame: Any) -> list[Any]:
    """Return the types of the columns; `frame.dtypes` takes as long to make as a row to learn."""
    quick = getattr(getattr(frame, "_mgr", None), "get_dtypes", None)
    return (frame.dtypes if quick is None else quick()).tolist()


def first_row(frame: Any) -> list[Any]:
    """Return the cells of the first row as Python's objects."""
    return frame.to_numpy(dtype=object)[0].tolist()


def held_by_type(kind: Any) -> Held | None:
    """Return what a type says; None for objects, which show it themselves."""
    if isinstance(kind, pd.CategoricalDtype | pd.SparseDtype):
        return Held("other", str(kind))
    return held_by_dtype(kind) if isinstance(kind, np.dtype) else _held_by_extension(kind)


def sparse_matrix(frame: Any) -> Any:
    """Return a frame whose columns are all sparse, with zeros left out, as a matrix; else None."""
    kinds = frame.dtypes
    if not kinds.size or not all(map(_leaves_zeros_out, kinds)):
        return None
    return frame.sparse.to_coo().tocsr()


def _leaves_zeros_out(kind: Any) -> bool:
    return isinstance(kind, pd.SparseDtype) and kind.subtype.kind in "fiub" and kind.fill_value == 0


def _dense(column: Any) -> Any:
    """Return a column with all its cells, also those that a sparse one does not write down."""
    return column.sparse.to_dense() if isinstance(column.dtype, pd.SparseDtype) else column


def _arrow(column: Any) -> Any:
    pyarrow = need("pyarrow", "reading Arrow tables", extra="files")
    found = pyarrow.array(column.array)
    return found if isinstance(found, pyarrow.ChunkedArray) else pyarrow.chunked_array([found])
