"""Tables of numbers and categories, column by column, as the kernel reads them.

A column's type says what it holds, by the rule of `naively.kinds`.

>>> import pandas
>>> kinds_of(pandas.DataFrame({"age": [30, 40], "town": ["Ulm", None]}))
(('age', 'town'), ('number', 'category'))
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.engines import arrays, frames
from naively.engines.arrays import Table
from naively.engines.categories import encode, recode
from naively.exceptions import NaivelyError
from naively.kinds import kind_of
from naively.schema import Kind, Schema

__all__ = ["Columns", "Mixed", "kinds_of", "kinds_under", "names_of", "read"]

_FLAGS = np.array([False, True])


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

    def known(self, categories: tuple[NDArray[Any], ...], schema: Schema) -> Mixed:
        """Return the table with codes of other categories: one more than they are if unknown."""
        if all(map(np.array_equal, self.categories, categories)):
            return self
        codes = self.codes[:]
        columns = codes if isinstance(codes, list) else list(codes.T)
        names = map(schema.name, schema.categories)
        recoded = map(recode, columns, self.categories, categories, names)
        return Mixed(self.shape, self.numbers, Columns([*recoded], self.shape[0]), categories)

    def flagged(self, columns: Set[int], schema: Schema) -> Mixed:
        """Return the table with booleans in some columns, in whatever spelling they came."""
        if not columns:
            return self
        codes, categories = self.codes[:], list(self.categories)
        codes = codes if isinstance(codes, list) else list(codes.T)
        for i, j in enumerate(schema.categories):
            if j in columns and categories[i].size and categories[i].dtype.kind != "b":
                codes[i] = recode(codes[i], categories[i], _FLAGS, schema.name(j))
                categories[i] = _FLAGS
        return replace(self, codes=Columns(codes, self.shape[0]), categories=tuple(categories))


def names_of(X: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns; None where it has none, as an array."""
    if isinstance(X, np.ndarray | list | tuple) or not frames.is_frame(X):
        return None
    return frames.names_of(X)


def kinds_of(
    X: Any, given: Mapping[Any, Kind] | None = None
) -> tuple[tuple[str, ...] | None, tuple[Kind, ...]]:
    """Return the names of a table's columns, and what they hold: as given, or by their types."""
    names, columns = names_of(X), _columns(X)
    schema, given = Schema(len(columns), names), given or {}
    kinds = [
        given[key]
        if (key := names[j] if names else j) in given
        else kind_of(frames.held_by(column), schema.name(j))
        for j, column in enumerate(columns)
    ]
    return names, tuple(kinds)


def kinds_under(X: Any, schema: Schema) -> tuple[Kind, ...]:
    """Return what columns hold by a schema, or by the table where the schema is undecided."""
    kinds = list(schema.kinds or ())
    columns = _columns_of(X, schema)
    for j in schema.undecided:
        kinds[j] = kind_of(frames.held_by(columns[j]), schema.name(j))
    return tuple(kinds)


def read(X: Any, schema: Schema) -> Mixed:
    """Make a table readable under a schema: by name, or by place where there are no names."""
    X = arrays.unmasked(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2:
        return _read_array(X, schema)
    columns = _columns_of(X, schema)
    n_rows = len(columns[0]) if columns else len(X)
    numbers = [frames.number_column(columns[j], schema.name(j)) for j in schema.numbers]
    encoded = [encode(columns[j], schema.name(j)) for j in schema.categories]
    codes = Columns([codes for codes, _ in encoded], n_rows)
    categories = tuple(categories for _, categories in encoded)
    return Mixed((n_rows, schema.n_columns), Columns(numbers, n_rows), codes, categories)


def _read_array(X: NDArray[Any], schema: Schema) -> Mixed:
    if X.shape[1] != schema.n_columns:
        raise NaivelyError(f"there must be {schema.n_columns} columns; got {X.shape[1]}.")
    if not schema.categories and not schema.undecided:
        return Mixed.of_numbers(arrays.table(X))
    numbers = arrays.table(X[:, schema.numbers])
    encoded = [encode(X[:, j], schema.name(j)) for j in schema.categories]
    codes = Columns([codes for codes, _ in encoded], X.shape[0])
    return Mixed(X.shape, numbers, codes, tuple(categories for _, categories in encoded))


def _columns_of(X: Any, schema: Schema) -> list[Any]:
    """Return the columns of a schema, by name, or by place where there are no names."""
    columns = _columns(X)
    names = None if schema.names is None else names_of(X)
    if names is not None and schema.names is not None and names != schema.names:
        places = {name: j for j, name in enumerate(names)}
        columns = [columns[_place(name, places)] for name in schema.names]
    if len(columns) != schema.n_columns:
        raise NaivelyError(f"there must be {schema.n_columns} columns; got {len(columns)}.")
    return columns


def _place(name: str, places: Mapping[str, int]) -> int:
    if name not in places:
        raise NaivelyError(
            f"the table has no column {name!r}, which the model was fitted on. "
            "Add it; a column of missing cells will do."
        )
    return places[name]


def _columns(X: Any) -> list[Any]:
    if not isinstance(X, np.ndarray | list | tuple) and frames.is_frame(X):
        return frames.columns_of(X)
    X = _array(X)
    if X.ndim != 2:
        raise NaivelyError(f"X must have two dimensions, rows and columns; got shape {X.shape}.")
    return list(X.T)


def _array(X: Any) -> NDArray[Any]:
    """Return an array in which numbers beside text stay numbers."""
    arrays.check_dense(X)
    X = arrays.unmasked(X)
    array = np.asarray(X)
    if not isinstance(X, np.ndarray) and arrays.holds_more(X):
        array = np.asarray(X, dtype=object)
    return array
