"""Columns of polars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.dates import Dates
from naively.data.kinds import Held, What, held_by_objects, numbers_of_objects
from naively.errors import need

pl = need("polars", "reading polars frames")

_NO_DATE = np.iinfo(np.int64).min
_CODED = ("Categorical", "Enum")
_WHATS: dict[str, What] = {"Boolean": "boolean", "String": "text", "Null": "nothing"}
_WHATS |= dict.fromkeys(_CODED, "text")
_WHATS |= {"Date": "date", "Datetime": "datetime", "Duration": "time", "Time": "time"}


def columns(frame: Any) -> list[Any]:
    """Return the columns of a frame."""
    return frame.get_columns()


def held(column: Any) -> Held:
    """Return what a column's type says; of objects, the cells themselves."""
    if column.dtype == pl.Object:
        return held_by_objects(column.to_list())
    return held_by_type(column.dtype)


def held_by_type(kind: Any) -> Held:
    """Return what a type of polars' says."""
    name = str(kind.base_type())
    what = _WHATS.get(name, "other")
    return Held("number" if kind.is_numeric() else what, str(kind), name in _CODED)


def shared(column: Any) -> NDArray[Any] | None:
    """Return the column's own memory as an array, or None where that needs a copy."""
    if column.null_count() or column.n_chunks() > 1 or column.dtype == pl.Boolean:
        return None
    try:
        array: NDArray[Any] = column.to_numpy(allow_copy=False)
    except (RuntimeError, ValueError, TypeError):
        return None
    return array


def numbers(column: Any) -> NDArray[np.float64]:
    """Return the cells as float64, as exactly as that can be; null is NaN."""
    if column.dtype == pl.Object:
        return numbers_of_objects(column.to_list(), f"column {column.name!r}")
    return np.ascontiguousarray(column.cast(pl.Float64).to_numpy(), dtype=np.float64)


def dates(column: Any) -> Dates | None:
    """Return the cells as NumPy's dates, those with a zone in UTC; None for other types."""
    if column.dtype not in (pl.Date, pl.Datetime):
        return None
    unit = "D" if column.dtype == pl.Date else column.dtype.time_unit
    whole = column.to_physical().cast(pl.Int64).fill_null(_NO_DATE).to_numpy()
    return whole.view(f"M8[{unit}]")


def objects(column: Any) -> list[Any] | None:
    """Return cells that are Python's objects; None for others."""
    return column.to_list() if column.dtype == pl.Object else None


def distinct(column: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return a code for each cell, -1 where it is missing, and the values of the codes."""
    if len(column) == 1:  # of a stream of rows
        return np.zeros(1, np.int32), column.to_list()
    if str(column.dtype.base_type()) in _CODED:
        column = column.cast(pl.String)
    values = column.drop_nulls().unique()
    places = pl.Series(range(len(values)), dtype=pl.Int32)
    codes = column.replace_strict(values, places, default=None, return_dtype=pl.Int32)
    return codes.fill_null(-1).to_numpy(), values.to_list()


def types(frame: Any) -> list[Any]:
    """Return the types of the columns."""
    return frame.dtypes


def first_row(frame: Any) -> Sequence[Any]:
    """Return the cells of the first row as Python's objects."""
    return frame.row(0)
