"""Columns of polars."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._optional import need
from naively.kinds import Held, What, held_by_objects, numbers_of_objects

__all__ = ["columns", "held", "numbers", "shared"]

pl = need("polars", "reading polars frames", extra="files")

_CODED = ("Categorical", "Enum")
_WHATS: dict[str, What] = {"Boolean": "boolean", "String": "text", "Null": "nothing"}
_WHATS |= dict.fromkeys(_CODED, "text")


def columns(frame: Any) -> list[Any]:
    """Return the columns of a frame."""
    found: list[Any] = frame.get_columns()
    return found


def held(column: Any) -> Held:
    """Return what a column's type says; of objects, the cells themselves."""
    kind = column.dtype
    name = str(kind.base_type())
    if name == "Object":
        return held_by_objects(column.to_list())
    what = _WHATS.get(name, "dates" if kind.is_temporal() else "other")
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
    return _float64(column.cast(pl.Float64).to_numpy())


def _float64(cells: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(cells, dtype=np.float64)
