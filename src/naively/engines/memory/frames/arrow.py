"""Columns of pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.dates import Dates
from naively.data.kinds import Held, What
from naively.errors import later

pa = later("pyarrow", "reading Arrow tables", extra="files")
pc = later("pyarrow.compute", "reading Arrow tables", extra="files")

_NO_DATE = np.iinfo(np.int64).min
_MAX_EXACT_POWER = 22  # of ten that float64 holds
_TESTS: tuple[tuple[What, tuple[str, ...]], ...] = (
    ("nothing", ("is_null",)),
    ("number", ("is_integer", "is_floating", "is_decimal")),
    ("boolean", ("is_boolean",)),
    ("text", ("is_string", "is_large_string", "is_string_view")),
    ("date", ("is_date",)),
    ("datetime", ("is_timestamp",)),
    ("time", ("is_temporal",)),
)


def columns(frame: Any) -> list[Any]:
    """Return the columns of a table."""
    return list(frame.columns)


def held(column: Any) -> Held:
    """Return what a column's type says."""
    return held_by_type(column.type)


def held_by_type(kind: Any) -> Held:
    """Return what a type of Arrow's says."""
    inside = _inside(kind)
    for what, tests in _TESTS:
        if any(getattr(pa.types, test)(inside) for test in tests):
            return Held(what, str(kind), pa.types.is_dictionary(kind))
    return Held("other", str(kind))


def shared(column: Any) -> NDArray[Any] | None:
    """Return the column's own memory as an array, or None where that needs a copy."""
    if column.null_count or column.num_chunks > 1:
        return None
    chunk = column.chunk(0) if column.num_chunks else column.combine_chunks()
    try:
        array: NDArray[Any] = chunk.to_numpy(zero_copy_only=True)
    except (pa.ArrowException, ValueError, TypeError):
        return None
    return array


def numbers(column: Any) -> NDArray[np.float64]:
    """Return the cells as float64, as exactly as that can be; null is NaN."""
    found = floats(decoded(column)).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(found, dtype=np.float64)


def floats(column: Any) -> Any:
    """Return plain numbers or booleans as float64, each the nearest; null remains null.

    Arrow itself rounds twice where it casts decimals, so that one in eight is not the nearest.
    """
    if not pa.types.is_decimal(column.type):
        return pc.cast(column, pa.float64(), safe=False)
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array(map(floats, column.chunks), pa.float64())
    digits, scale, bits = column.type.precision, column.type.scale, column.type.bit_width
    try:
        whole = column.view(getattr(pa, f"decimal{bits}")(digits, 0)).cast(pa.int64())
        if 0 <= scale <= _MAX_EXACT_POWER:  # a quotient of two exact doubles is rounded once
            return pc.divide(whole.cast(pa.float64()), float(10**scale))
    except pa.ArrowInvalid:  # beyond int64, or beyond 2^53: not all of those are doubles
        pass
    return column.cast(pa.string()).cast(pa.float64())


def dates(column: Any) -> Dates | None:
    """Return the cells as NumPy's dates, those with a zone in UTC; None for other types."""
    column = decoded(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = _read_dates(column)
    if not (pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)):
        return None
    unit = {"date32[day]": "D", "date64[ms]": "ms"}.get(str(column.type)) or column.type.unit
    whole = column.cast(pa.int32()) if unit == "D" else column
    filled = whole.cast(pa.int64()).fill_null(_NO_DATE).to_numpy()
    return filled.view(f"M8[{unit}]")


def _read_dates(column: Any) -> Any:
    """Return text as dates where all of it has no zone, or all has one; and else as it is."""
    for zone in (None, "UTC"):
        try:
            return pc.cast(column, pa.timestamp("us", zone))
        except pa.ArrowInvalid:
            continue
    return column


def objects(column: Any) -> list[Any] | None:
    """Return None: no column of Arrow's holds Python's objects."""
    return None


def distinct(column: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return a code for each cell, -1 where it is missing, and the values of the codes."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # of no chunk, or of too many bytes for one
        column = pa.concat_arrays([*column.chunks, pa.array([], column.type)])
    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    indices = column.indices.cast(pa.int64())  # polars' are unsigned: they have no -1
    return indices.fill_null(-1).to_numpy(zero_copy_only=False), column.dictionary.to_pylist()


def types(frame: Any) -> list[Any]:
    """Return the types of the columns."""
    return frame.schema.types


def first_row(frame: Any) -> list[Any]:
    """Return the cells of the first row as Python's objects."""
    return [column[0].as_py() for column in frame.columns]


def decoded(column: Any) -> Any:
    """Return the cells without a dictionary, and without runs."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return pc.run_end_decode(column) if pa.types.is_run_end_encoded(column.type) else column


def without_views(column: Any) -> Any:
    """Return a column as it is, but views of text, as polars writes them, and runs as plain cells.

    Arrow itself can neither take rows of those nor spell out a dictionary of views.
    """
    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    kind = column.type
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return column.cast(pa.dictionary(kind.index_type, pa.large_string(), kind.ordered))
    return column


def _inside(kind: Any) -> Any:
    """Return the type of the cells themselves."""
    is_wrapped = pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind)
    return _inside(kind.value_type) if is_wrapped else kind
