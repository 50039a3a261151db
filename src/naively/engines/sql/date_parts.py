"""Columns of dates inside a database become columns of their parts, as SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from naively.data.dates import part_names
from naively.data.kinds import LOOKED_AT, Kind, dates_have_time, kind_of
from naively.data.schema import Schema
from naively.engines.memory.columns import find, inputs_of, is_index
from naively.engines.memory.date_columns import check_distinct, held_by_part
from naively.engines.sql.dialects import Spelling
from naively.engines.sql.execute import execute
from naively.engines.sql.types import held_by_type
from naively.engines.sql.views import dialect_of, view


class TableWithParts(NamedTuple):
    """A table with the parts of its dates, the columns that are read, and what is known of them."""

    table: Any
    columns: Sequence[str] | None  # as the table calls them; None for all
    dates: tuple[str, ...]
    kinds: Mapping[str, Kind]  # what parts hold
    read: dict[str, list[Any]]  # the first cells of text that have been read

    @classmethod
    def of(
        cls,
        table: Any,
        columns: Sequence[str] | str | None,
        schema: Schema | None,
        beside: Collection[str] = (),
    ) -> TableWithParts:
        """Find dates by their types and first cells, or as a schema has them."""
        columns = [columns] if isinstance(columns, str) else columns
        if schema is not None:
            return cls._known(table, columns, schema)
        types, parts, read = table.schema(), dict[str, list[str]](), dict[str, list[Any]]()
        for name in inputs_of(columns, table.columns) or table.columns:
            if name in types and name not in beside and not is_index(name):
                cells = partial(first_cells, table, name, read)
                times = dates_have_time(held_by_type(types[name]), cells)
                parts |= {} if times is None else {name: part_names(name, has_time=times)}
        if not parts:
            return cls(table, columns, (), {}, read)
        of = {part: name for name, its in parts.items() for part in its}
        check_distinct([*table.columns, *of])
        there = [n for n in table.columns if n not in beside and not is_index(n)]
        listed = [n for name in columns or there for n in parts.get(name, [name])]
        kinds = {part: kind_of(held_by_part(part), part) for part in of}
        return cls(_with_parts(table, of), listed, tuple(parts), kinds, read)

    @classmethod
    def _known(cls, table: Any, columns: Sequence[str] | None, schema: Schema) -> TableWithParts:
        """Find the columns of a schema: by their names, or in its order if they are given."""
        inputs = schema.inputs or ()
        given = inputs if columns is None else columns
        if not schema.dates or len(given) != len(inputs):
            return cls(table, columns, (), {}, {})
        own = dict(zip(inputs, given, strict=True))
        pairs = [(name, schema.input(name)) for name in schema.names or ()]
        parts = {n: own[i] for n, i in pairs if n != i and n not in table.columns}
        numbers = {pairs[j][0] for j in schema.numbers}
        listed = [own[name] if name == source else name for name, source in pairs]
        return cls(_with_parts(table, parts, numbers), listed, schema.dates, {}, {})


def first_cells(table: Any, name: str, read: dict[str, list[Any]]) -> list[Any]:
    """Return some cells of a column of text: a small query of its own, unless they were read."""
    if name not in read:
        column = table[name]
        few = table.filter(column.notnull()).select(cell=column).limit(LOOKED_AT)
        read[name] = execute(few)["cell"].tolist()
    return read[name]


def _with_parts(table: Any, parts: Mapping[str, str], numbers: Collection[str] = ()) -> Any:
    """Add columns to a table: the parts, by the columns of dates that they are of."""
    spelling = Spelling(dialect_of(table))
    cells = {name: _time(table, name, spelling) for name in dict.fromkeys(parts.values())}
    schema, values = dict(table.schema()), []
    for name, source in parts.items():
        part = name.rpartition(".")[2]
        is_text = part == "weekday" and name not in numbers
        value = spelling.date_part(cells[source], part, as_number=not is_text)
        schema[name] = "string" if is_text else "int64"
        values.append(
            f"{value if is_text else f'CAST({value} AS BIGINT)'} AS {spelling.name(name)}"
        )
    return view(
        table, lambda name: f"SELECT *, {', '.join(values)} FROM {spelling.name(name)}", schema
    )


def _time(table: Any, name: str, spelling: Spelling) -> str:
    """Write a column of dates as a time, or as an instant."""
    cell, kind = spelling.name(name), table[find(name, table.columns)].type()
    if kind.is_string():
        return spelling.instant(cell)
    return f"CAST({cell} AS TIMESTAMPTZ)" if kind.is_unknown() else cell  # of nanoseconds
