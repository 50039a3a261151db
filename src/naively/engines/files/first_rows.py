"""The first rows of several files: what a column is that is empty in the first of them.

>>> first = pa.table({"age": [30], "town": pa.nulls(1)})
>>> filled(first, iter([pa.table({"age": [None], "town": ["Ulm"]})])).schema.types
[DataType(int64), DataType(string)]
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from naively._optional import need
from naively.engines.native.arrow import held_by_type

__all__ = ["filled"]

pa = need("pyarrow", "reading files", extra="files")


def filled(table: Any, later: Iterator[Any], known: Collection[str] = ()) -> Any:
    """Give columns without a cell the type that they have in the first table that has one.

    What cannot be learned from, such as dates, decides nothing.

    Parameters
    ----------
    table : pyarrow.Table
        The first rows of the first file, or none where it declares its types.
    later : iterator of pyarrow.Table
        The same of the files after it; only as many are asked for as are needed.
    known : collection of str
        Columns whose type does not matter.
    """
    while empty := [name for name in _empty(table) if name not in known]:
        if (other := next(later, None)) is None:
            break
        for name in empty:
            if name in other.column_names and _is_learnable(kind := other.column(name).type):
                cells = pa.nulls(table.num_rows, kind)
                table = table.set_column(table.column_names.index(name), name, cells)
    return table


def _empty(table: Any) -> list[str]:
    return [field.name for field in table.schema if field.name and pa.types.is_null(field.type)]


def _is_learnable(kind: Any) -> bool:
    return held_by_type(kind).what in ("number", "boolean", "text")
