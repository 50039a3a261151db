"""Tables of numbers and categories, column by column, as the kernel reads them.

A column's type says what it holds: numbers stay numbers; text, booleans and a frame's own
categories are categories. Dates and anything else are errors that say what to do.

>>> import pandas
>>> kinds_of(pandas.DataFrame({"age": [30, 40], "town": ["Ulm", None]}))
(('age', 'town'), ('number', 'category'))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from naively.engines import arrays, frames
from naively.engines.arrays import Table
from naively.engines.categories import encode, recode
from naively.exceptions import NaivelyError
from naively.schema import Kind, Schema

__all__ = ["Columns", "Mixed", "kinds_of", "names_of", "read"]

Column: TypeAlias = "NDArray[Any] | nw.Series[Any]"


class Columns:
    """Columns of equal length, as a table."""

    def __init__(self, columns: list[Any], n_rows: int) -> None:
        self.columns, self.shape = columns, (n_rows, len(columns))

    def __getitem__(self, rows: slice) -> list[NDArray[Any]] | NDArray[Any]:
        if not self.columns:  # a list of none would not say how many rows there are
            return np.empty((len(range(*rows.indices(self.shape[0]))), 0))
        return [frames.block(column, rows) for column in self.columns]


@dataclass(frozen=True)
class Mixed:
    """Columns of numbers, and columns of codes with the categories that they mean.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns, of both kinds.
    numbers : Table
        Columns of numbers; NaN is missing.
    codes : Table
        Columns of codes; a negative one is missing.
    categories : tuple of ndarray
        The categories of each column of codes, in the order of the codes.
    """

    shape: tuple[int, int]
    numbers: Any
    codes: Any
    categories: tuple[NDArray[Any], ...]

    @classmethod
    def of_numbers(cls, numbers: Table) -> Mixed:
        """Return a table of numbers alone."""
        n_rows, n_columns = numbers.shape
        return cls((n_rows, n_columns), numbers, np.empty((n_rows, 0), np.int32), ())

    def __getitem__(self, rows: slice) -> Mixed:
        """Return some rows: arrays or lists of columns, which the kernel reads."""
        count = len(range(*rows.indices(self.shape[0])))
        shape = (count, self.shape[1])
        return Mixed(shape, self.numbers[rows], self.codes[rows], self.categories)

    def known(self, categories: tuple[NDArray[Any], ...]) -> Mixed:
        """Return the table with codes of other categories: one more than they are if unknown."""
        if all(map(np.array_equal, self.categories, categories)):
            return self
        codes = self.codes[:]
        columns = codes if isinstance(codes, list) else list(codes.T)
        recoded = map(recode, columns, self.categories, categories)
        return Mixed(self.shape, self.numbers, Columns([*recoded], self.shape[0]), categories)


def names_of(X: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns; None where it has none, as an array."""
    if isinstance(X, np.ndarray | list | tuple) or not frames.is_frame(X):
        return None
    names = nw.from_native(X, eager_only=True).columns
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None


def kinds_of(
    X: Any, given: Mapping[Any, Kind] | None = None
) -> tuple[tuple[str, ...] | None, tuple[Kind, ...]]:
    """Return the names of a table's columns, and what they hold: as given, or by their types."""
    names, columns = names_of(X), _columns(X)
    schema, given = Schema(len(columns), names), given or {}
    kinds = [
        given[key] if (key := names[j] if names else j) in given else _kind(column, schema.name(j))
        for j, column in enumerate(columns)
    ]
    return names, tuple(kinds)


def read(X: Any, schema: Schema) -> Mixed:
    """Make a table readable under a schema: by name, or by place where there are no names."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2:
        return _read_array(X, schema)
    columns, names = _columns(X), names_of(X)
    if names is not None and schema.names is not None:
        columns = [columns[_place(name, names)] for name in schema.names]
    if len(columns) != schema.n_columns:
        raise NaivelyError(f"there must be {schema.n_columns} columns; got {len(columns)}.")
    n_rows = len(columns[0]) if columns else len(X)
    numbers = [_numbers(columns[j], schema.name(j)) for j in schema.numbers]
    encoded = [encode(columns[j], schema.name(j)) for j in schema.categories]
    codes = Columns([codes for codes, _ in encoded], n_rows)
    categories = tuple(categories for _, categories in encoded)
    return Mixed((n_rows, schema.n_columns), Columns(numbers, n_rows), codes, categories)


def _read_array(X: NDArray[Any], schema: Schema) -> Mixed:
    if X.shape[1] != schema.n_columns:
        raise NaivelyError(f"there must be {schema.n_columns} columns; got {X.shape[1]}.")
    if not schema.categories:
        return Mixed.of_numbers(arrays.table(X))
    numbers = arrays.table(X[:, schema.numbers])
    encoded = [encode(X[:, j], schema.name(j)) for j in schema.categories]
    codes = Columns([codes for codes, _ in encoded], X.shape[0])
    return Mixed(X.shape, numbers, codes, tuple(categories for _, categories in encoded))


def _place(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise NaivelyError(
            f"the table has no column {name!r}, which the model was fitted on. "
            "Add it; a column of missing cells will do."
        )
    return names.index(name)


def _columns(X: Any) -> list[Column]:
    if not isinstance(X, np.ndarray | list | tuple) and frames.is_frame(X):
        native = nw.from_native(X, eager_only=True)
        return [native[:, j] for j in range(native.shape[1])]
    X = _array(X)
    if X.ndim != 2:
        raise NaivelyError(f"X must have two dimensions, rows and columns; got shape {X.shape}.")
    return list(X.T)


def _array(X: Any) -> NDArray[Any]:
    """Return an array in which numbers beside text stay numbers."""
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)
    return array


def _kind(column: Column, name: str) -> Kind:
    """Return what a column holds, or raise where it can be no column of a model."""
    if isinstance(column, np.ndarray):
        return _kind_of_array(column, name)
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Unknown:  # of missing cells alone
        return "number"
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean):
        return "category"
    if dtype.is_temporal():
        raise NaivelyError(_DATES.format(name=name))
    if dtype == nw.Object:
        return _kind_of_objects(column.to_list(), name)
    raise NaivelyError(
        f"{name} must hold numbers or categories; got {dtype}. Convert it or leave it out."
    )


def _kind_of_array(column: NDArray[Any], name: str) -> Kind:
    if column.dtype.kind in "fiu":
        return "number"
    if column.dtype.kind in "USb":
        return "category"
    if column.dtype.kind in "mM":
        raise NaivelyError(_DATES.format(name=name))
    if column.dtype.kind == "O":
        return _kind_of_objects(column.tolist(), name)
    raise NaivelyError(
        f"{name} must hold numbers or categories; got {column.dtype}. Convert it or leave it out."
    )


def _kind_of_objects(values: list[Any], name: str) -> Kind:
    """Return what Python's objects are: numbers, unless there are text or booleans among them."""
    for value in values:
        if isinstance(value, str | bool | np.bool_):
            return "category"
        if value is not None and hasattr(value, "isoformat") and value == value:
            raise NaivelyError(_DATES.format(name=name))
    try:
        np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        odd = next(value for value in values if not _is_number(value))
        raise NaivelyError(
            f"{name} must hold numbers or categories; got objects such as {odd!r}. "
            "Convert it or leave it out."
        ) from None
    return "number"


def _is_number(value: Any) -> bool:
    try:
        float(np.nan if value is None else value)
    except (TypeError, ValueError):
        return False
    return True


def _numbers(column: Column, name: str) -> Column:
    if not isinstance(column, np.ndarray):
        if column.dtype == nw.Unknown:
            return np.full(len(column), np.nan)
        return frames.number_column(column, name)
    if column.dtype.char in arrays._READABLE:
        return column
    try:
        cells = column.tolist() if column.dtype.kind == "O" else column
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    except (TypeError, ValueError):
        raise NaivelyError(
            f"{name} must hold numbers; got text or other objects. "
            "It held numbers when the model was fitted, or was said to."
        ) from None


_DATES = (
    "{name} holds dates or times, which are neither numbers nor categories. Give numbers, such "
    "as the year or the days since a day, or categories, such as the month; or leave it out."
)
