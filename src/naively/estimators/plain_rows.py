"""One row as Python's own objects, or in the order of the columns of a model.

>>> plain_row({"age": np.float32(30), 7: None}, None, lambda cell, name: cell and float(cell))
{'age': 30.0, '7': None}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import NUMBER, held_by_dtype, held_by_objects, numbers_of_objects
from naively.data.labels import is_missing
from naively.data.schema import Schema
from naively.data.sparse import is_sparse
from naively.engines.memory.arrays import unmasked
from naively.engines.memory.devices import on_host
from naively.engines.memory.tables import row_parts
from naively.errors import NaivelyError

Row = dict[str, Any] | list[Any]
Cell = Callable[[Any, str], Any]

_FLOAT64 = np.dtype(np.float64)  # as the machine writes it, of which there is one


# --- rows that are learned ------------------------------------------------------------------------


def plain_row(row: Any, schema: Schema | None, cell: Cell) -> Row:
    """Return a row with plain cells, or raise.

    Parameters
    ----------
    row : dict, sequence, array, or sparse row
        Its cells, by name or in order.
    schema : Schema or None
        The columns, which a row without names must have all; None before the first row.
    cell : callable
        Returns a plain cell, given one and what messages call its column; or raises.
    """
    row = named_cells(row, schema)
    if isinstance(row, Mapping):
        if schema is not None and schema.names is None and schema.n_columns:
            raise NaivelyError(
                "a dict needs column names, and the rows before had none. Give the row as a list."
            )
        return _named(row, cell)
    if is_sparse(row):
        row = row.toarray().reshape(-1)
    row = unmasked(row)
    is_list = isinstance(row, Iterable) and isinstance(row, Sized) and getattr(row, "ndim", 1) == 1
    if isinstance(row, str | bytes | Set) or not is_list:
        raise NaivelyError(f"a row must be a list or a dict of cells; got {row!r}.")
    cells = row.tolist() if isinstance(row, np.ndarray) else list(row)
    if schema is not None and len(cells) != schema.n_columns:
        raise NaivelyError(
            f"a row must have {schema.n_columns} cells, as those before; got {len(cells)} of them. "
            "Give dicts where columns come and go."
        )
    name_of = "column {}".format if schema is None else schema.name
    return [cell(value, name_of(j)) for j, value in enumerate(cells)]


def named_cells(row: Any, schema: Schema | None) -> Any:
    """Return a pandas Series as a dict where columns have names; other rows, on the host."""
    if type(row) in (list, dict, tuple):
        return row
    if len(getattr(row, "shape", ())) > 1 and not is_sparse(row):
        raise NaivelyError(
            f"a row must be a list or a dict of cells; got a {type(row).__name__} of "
            f"{len(row.shape)} dimensions. Give one of its rows, such as X.iloc[0] or X[0]; tables "
            "are for predict, partial_fit and the like."
        )
    if not hasattr(row, "to_dict") or isinstance(row, Mapping):
        return on_host(row)
    has_names = schema is None or schema.names is not None or not schema.n_columns
    is_named = has_names and row.index.is_unique and all(isinstance(j, str) for j in row.index)
    return row.to_dict() if is_named else row


def _named(row: Mapping[Any, Any], cell: Cell) -> dict[str, Any]:
    plain = {str(key): cell(value, f"column {str(key)!r}") for key, value in row.items()}
    if len(plain) < len(row):
        raise NaivelyError(f"a row must have different column names; got {list(row)!r}.")
    return plain


def number_cell(cell: Any, name: str) -> float:
    """Return a cell as a finite number, NaN where it is missing; or raise."""
    if type(cell) is float and abs(cell) < np.inf:
        return cell
    number = float(numbers_of_objects([cell], name)[0])
    if np.isinf(number):
        raise NaivelyError(
            f"{name} holds infinity; naive Bayes needs finite numbers. "
            "NaN is allowed and means missing."
        )
    return number


def plain_weight(weight: Any) -> float:
    """Return the weight of a row, or raise."""
    try:
        number = np.nan if isinstance(weight, str | bytes) else float(weight)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not 0 <= number < np.inf:
        raise NaivelyError(f"the weight of a row must be finite and >= 0; got {weight!r}.")
    return number


def is_same_row(a: Row, b: Row, absent: Any) -> bool:
    """Whether two rows have the same cells; missing ones are equal, and a dict may lack some."""
    if isinstance(a, dict) and isinstance(b, dict):
        return all(_same(a.get(name, absent), b.get(name, absent)) for name in a.keys() | b)
    return type(a) is type(b) and len(a) == len(b) and all(map(_same, a, b))


def _same(a: Any, b: Any) -> bool:
    return bool(a is b or a == b or (is_missing(a) and is_missing(b)))


# --- rows that are asked about --------------------------------------------------------------------


def cells_in_order(row: Any, schema: Schema, absent: Any = ...) -> Any:
    """Return the cells of a row in the order of the columns, as a list or as they are.

    A dict must have every column, unless there is a cell for those that are ``absent``.
    """
    row = named_cells(row, schema)
    if is_sparse(row):
        return row.toarray().reshape(-1) if row.shape[0] == 1 or row.ndim == 1 else row.toarray()
    if schema.dates and isinstance(row, list | tuple) and len(row) == len(schema.inputs or ()):
        row = dict(zip(schema.inputs or (), row, strict=True))
    if not isinstance(row, Mapping):
        return row
    if schema.names is None and schema.n_columns:
        raise NaivelyError(
            "a dict needs column names, and the model was fitted on an array without any. "
            "Fit on a data frame, or give the row as a list."
        )
    if absent is not ...:
        row = {str(key): value for key, value in row.items()}
    if schema.dates:
        row = {**row_parts(row, schema), **row}
    names = schema.names or ()
    missing = [name for name in names if name not in row]
    if missing and absent is ...:
        raise NaivelyError(
            f"the row has no column {schema.input(missing[0])!r}. Use None for a missing cell."
        )
    return [row.get(name, absent) for name in names]


def numbers_of_row(row: Any, schema: Schema) -> NDArray[np.float64]:
    """Return the cells of a row in the order of the columns as numbers."""
    values = row if type(row) is np.ndarray else _array_of_row(row)
    if values.shape != (schema.n_columns,):
        raise NaivelyError(f"a row must have {schema.n_columns} numbers; got shape {values.shape}.")
    if values.dtype is _FLOAT64:
        return values
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):  # infinity is an error that names the cell
            return np.ascontiguousarray(values, dtype=np.float64)
    if values.dtype.kind == "O":
        cells = enumerate(values.tolist())
        return np.array([numbers_of_objects([cell], schema.name(j))[0] for j, cell in cells])
    NUMBER.check(held_by_dtype(values.dtype) or held_by_objects(values.tolist()), "the row")
    return values.astype(np.float64)


def _array_of_row(row: Any) -> NDArray[Any]:
    """Return a row as an array: of numbers, or of its cells as they are."""
    try:
        array = np.asarray(row if type(row) is list else unmasked(row))
    except (TypeError, ValueError):  # such as dates beside numbers
        return np.array(row, dtype=object)
    return array if array.dtype.kind in "fiub" else np.array(row, dtype=object)
