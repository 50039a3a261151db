"""Rows of numbers and categories, as the kernel reads them.

>>> batch = pa.record_batch({"age": [30.0, None], "town": ["Bonn", "Ulm"]})
>>> rows = mixed_rows(batch, {"age": None, "town": "str"}, {})
>>> [codes.tolist() for codes in rows.codes[:]], rows.categories
([[0, 1]], (array(['Bonn', 'Ulm'], dtype='<U4'),))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._optional import need
from naively.engines import categories
from naively.engines.files.cells import numbers
from naively.rows import Columns, Rows

__all__ = ["columns_of", "mixed_rows"]

pa = need("pyarrow", "reading files", extra="files")


def mixed_rows(batch: Any, columns: Mapping[str, str | None], constants: Mapping[str, Any]) -> Rows:
    """Return the columns of a batch.

    Parameters
    ----------
    batch : RecordBatch or CSV rows
        What was read.
    columns : mapping
        For each column, in order, what its categories are; None where it holds numbers.
    constants : mapping
        Columns that the file's path holds.
    """
    n_rows = batch.num_rows
    plain = [name for name, form in columns.items() if form is None]
    coded = [_coded(batch, name, form, constants) for name, form in columns.items() if form]
    return Rows(
        (n_rows, len(columns)),
        Columns(columns_of(batch, plain, constants), n_rows),
        Columns([codes for codes, _ in coded], n_rows),
        tuple(found for _, found in coded),
    )


def columns_of(batch: Any, names: Any, constants: Mapping[str, Any]) -> list[NDArray[Any]]:
    """Return columns of numbers; a constant takes no memory."""
    return [
        np.broadcast_to(np.float64(constants[name]), batch.num_rows)
        if name in constants
        else numbers(batch.column(name))
        for name in names
    ]


def _coded(batch: Any, name: str, form: str, constants: Mapping[str, Any]) -> categories.Encoded:
    """Return the codes of a column of categories, and what they mean."""
    if name in constants:
        return _constant(constants[name], batch.num_rows)
    column = batch.column(name)
    if not isinstance(column, np.ndarray) and _is_odd(column.type):
        column = numbers(column)
    encode = categories.encode if isinstance(column, np.ndarray) else categories._of_arrow
    codes, found = encode(column, f"column {name!r}")
    if form in ("int", "uint") and found.dtype.kind == "f" and (found == np.floor(found)).all():
        found = found.astype(np.int64)  # as they were written
    return codes, found


def _constant(value: Any, n_rows: int) -> categories.Encoded:
    if value is None or value != value:
        return np.full(n_rows, -1, np.int32), np.empty(0, dtype=str)
    return np.zeros(n_rows, np.int32), np.array([value])


def _is_odd(kind: Any) -> bool:
    """Whether numbers are of a type that has no plain counterpart in Python."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_decimal(kind) or pa.types.is_float16(kind)
