"""Categories become codes: text, booleans and numbers of any data frame, without a loop over rows.

>>> encode(np.array(["red", None, "blue"], dtype=object), "column 'colour'")
(array([ 0, -1,  1], dtype=int32), array(['red', 'blue'], dtype='<U4'))

What a category is called is kept as text, as a number or as a boolean, so that the same category
means the same in every batch, file and engine. Missing cells have the code -1.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.kinds import CATEGORY, Held, held_by_dtype, is_interval
from naively.data.labels import are_booleans, is_hashable, is_missing, number_array, text_array
from naively.engines.memory.frames import library_of
from naively.errors import NaivelyError

Encoded = tuple[NDArray[Any], NDArray[Any]]  # codes, categories
_NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)


def encode(column: Any, name: str) -> Encoded:
    """Return a code for each cell, and the categories in the order of their codes.

    The column is an array, or one of pandas, polars or pyarrow: text, booleans, numbers or a
    frame's own categories. Messages call it by the name: ``column 'town'``.
    """
    if not isinstance(column, np.ndarray):
        return _of_native(column, name)
    if column.dtype.kind not in "OT":
        CATEGORY.check(held_by_dtype(column.dtype) or Held("nothing", ""), name)
    if are_booleans(column):
        return column.view(np.int8), np.array([False, True])
    if column.dtype.kind in "iuf":
        return _of_numbers(column)
    if column.dtype.kind == "U":
        categories, codes = np.unique(column, return_inverse=True)
        return codes.astype(np.int32), categories
    return _of_objects(column.tolist(), name)


def _of_native(native: Any, name: str) -> Encoded:
    """Encode a column of a data frame."""
    library = library_of(native)
    cells = library.objects(native)
    encoded = None if cells is None else _of_text(cells)
    if encoded is not None:
        return encoded
    held = library.held(native)
    CATEGORY.check(held, name)
    if held.what == "nothing":
        return np.full(len(native), -1, np.int32), np.empty(0, dtype=str)
    if cells is not None:
        return _of_objects(cells, name)
    if held.what == "boolean" and not held.coded:
        flags = library.numbers(native)
        return np.where(flags == flags, flags, -1).astype(np.int8), np.array([False, True])
    codes, values = library.distinct(native)
    return _plain(codes, values, name)


def _of_numbers(column: NDArray[Any]) -> Encoded:
    if column.dtype.char == "g" or not column.dtype.isnative:
        with np.errstate(over="ignore"):
            column = column.astype(
                np.float64 if column.dtype.kind == "f" else f"={column.dtype.str[1:]}"
            )
    present = column == column
    categories, codes = np.unique(column[present], return_inverse=True)
    every = np.full(column.size, -1, dtype=np.int32)
    every[present] = codes
    return every, categories


def _of_text(values: list[Any]) -> Encoded | None:
    """Encode Python's objects that are text or missing; None where there is no text, or more."""
    codes = np.empty(len(values), dtype=np.int32)
    first = _kernel.encode_text(values, codes)
    return (codes, text_array([values[i] for i in first])) if first else None


def _of_objects(values: list[Any], name: str) -> Encoded:
    encoded = _of_text(values)
    if encoded is not None:
        return encoded
    _check_unmixed(values, name)
    try:
        distinct = dict.fromkeys(values)
    except TypeError:  # a list, say; or a signalling NaN of decimal's, which is a missing cell
        values = [None if is_missing(value) else value for value in values]
        odd = [value for value in values if not is_hashable(value)]
        if odd:
            raise NaivelyError(
                f"{name} must hold text, numbers or booleans; got objects such as {odd[0]!r}. "
                "Convert it or leave it out."
            ) from None
        distinct = dict.fromkeys(values)
    code_of = {value: code for code, value in enumerate(distinct)}
    codes = np.fromiter(map(code_of.__getitem__, values), np.int32, len(values))
    return _plain(codes, list(distinct), name)


def _check_unmixed(values: list[Any], name: str) -> None:
    """Raise where numbers are beside booleans: True equals 1, and the first would name both."""
    kinds = set(map(type, values))
    if not kinds & {bool, np.bool_} or len(kinds) == 1:
        return
    if any(_kind(value) == "number" and not is_missing(value) for value in values):
        raise NaivelyError(
            f"{name} must hold text, numbers or booleans, all of one type; got boolean and number. "
            "Convert it or leave it out."
        )


def _plain(codes: NDArray[Any], values: list[Any], name: str) -> Encoded:
    """Return categories of one plain type, without those that are missing."""
    kept = [i for i, value in enumerate(values) if not is_missing(value)]
    kinds = {_kind(values[i]) for i in kept}
    if len(kinds) > 1 or not kinds <= {"text", "number", "boolean"}:
        shown = " and ".join(sorted(kinds))
        raise NaivelyError(
            f"{name} must hold text, numbers or booleans, all of one type; got {shown}. "
            "Convert it or leave it out."
        )
    found = [values[i] for i in kept]
    places = np.full(len(values) + 1, -1, dtype=np.int32)
    if kinds == {"number"}:
        try:
            categories, places[kept] = np.unique(number_array(found), return_inverse=True)
        except NaivelyError as error:
            raise NaivelyError(f"{name}: {error}") from None
        return places[codes], categories
    found = [*map(str, found)] if kinds <= {"text"} else found
    code_of = {value: code for code, value in enumerate(dict.fromkeys(found))}
    places[kept] = [code_of[value] for value in found]  # Arrow's dictionaries may repeat a value
    categories = text_array([*code_of]) if kinds <= {"text"} else np.array([*code_of])
    return (codes if len(code_of) == len(values) else places[codes]), categories


def _kind(value: Any) -> str:
    """Return what a category is: text, boolean or number, or the name of its type."""
    if isinstance(value, str) or is_interval(value):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    return "number" if isinstance(value, _NUMBERS) else type(value).__name__
