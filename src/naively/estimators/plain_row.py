"""One row of a stream as Python's own objects: a dict by column name, or a list in order.

>>> plain_row({"age": np.float32(30), 7: None}, None, lambda cell, name: cell and float(cell))
{'age': 30.0, '7': None}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import numbers_of_objects
from naively.data.labels import is_missing
from naively.data.schema import Schema
from naively.data.sparse import is_sparse
from naively.engines.memory.arrays import unmasked
from naively.engines.memory.date_columns import row_parts
from naively.engines.memory.devices import on_host
from naively.errors import NaivelyError

Row = dict[str, Any] | list[Any]
Cell = Callable[[Any, str], Any]


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
    names = [f"column {j}" for j in range(len(cells))]
    if schema is not None:
        names = [*map(schema.name, range(schema.n_columns))]
    return [*map(cell, cells, names)]


def named_cells(row: Any, schema: Schema | None) -> Any:
    """Return a pandas Series as a dict where columns have names; other rows, on the host."""
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


def filled_row(row: Any, schema: Schema, absent: Any) -> Any:
    """Return a row as it is asked about: of a dict, the columns that are known, in their order."""
    if not isinstance(row, Mapping) or schema.names is None:
        return row
    cells = {str(key): value for key, value in row.items()}
    if schema.dates:
        cells = {**row_parts(cells, schema), **cells}
    return [cells.get(name, absent) for name in schema.names]


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
        if not all(_same(cell, b.get(name, absent)) for name, cell in a.items()):
            return False
        return all(_same(absent, cell) for name, cell in b.items() if name not in a)
    return type(a) is type(b) and len(a) == len(b) and all(map(_same, a, b))


def _same(a: Any, b: Any) -> bool:
    return bool(a is b or a == b or (is_missing(a) and is_missing(b)))


def as_list(classes: NDArray[Any]) -> list[Any]:
    """Return labels as Python's objects; dates as they are."""
    return list(classes) if classes.dtype.kind == "M" else classes.tolist()
