"""The columns of a table that are read: labels, weights, numbers, categories and text, renamed.

``y`` are the labels, ``w`` the weights if there are any, ``x0``, ``x1``, ... the columns of numbers
and then functions of them, ``c0``, ``c1``, ... those of categories and ``t0``, ... those of text.
Nothing is executed yet, but for the first cells that tell text from categories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from naively.data.kinds import CATEGORY, NUMBER, TEXT, check_weights
from naively.data.schema import Schema, schema_by_types
from naively.engines.memory.columns import check_some, find_targets, names_to_read
from naively.engines.sql.date_parts import TableWithParts, first_cells
from naively.engines.sql.functions import function_values
from naively.engines.sql.types import held_by_type
from naively.engines.sql.views import dialect_of
from naively.errors import NaivelyError, need

ibis = need("ibis", "reading tables inside a database", extra="sql")

_OUT = "leave it out with columns=[...]"
LARGEST = 1e150  # the squares of larger numbers cannot be added up


@dataclass(frozen=True)
class Selection:
    """The part of a table that is read, and what is measured of it."""

    table: Any  # as it was given
    values: dict[str, Any]  # the columns by their plain names
    schema: Schema  # with the columns' own names
    # target and weight: the own names of labels and weights
    target: str
    weight: str | None

    def select(self, names: Iterable[str]) -> Any:
        """Return a table of labels, weights and these columns."""
        always = ["y", "w"] if self.weight is not None else ["y"]
        return self.table.select(**{name: self.values[name] for name in (*always, *names)})

    def name(self, i: int) -> str:
        """Name the i-th column of numbers, or of functions behind those, for a message."""
        functions = [function.column for function in self.schema.functions]
        return self.schema.name([*self.schema.numbers, *functions][i])


def finite(x: Any, value: Any) -> Any:
    """Return the value where x is a finite number, else NULL.

    NaN is above all numbers in some databases and beside them in others; both make it NULL.
    """
    return (x.abs() <= LARGEST).ifelse(value, ibis.null())


def check_table(table: Any) -> None:
    """Raise unless the table is an Ibis table."""
    if not isinstance(table, ibis.Table):
        raise NaivelyError(
            f"a table inside a database must be one of Ibis; got {type(table).__name__}. "
            "Connect with ibis, and give connection.table(...)."
        )


def select_rows(
    table: Any,
    target: str,
    columns: Sequence[str] | None,
    weight: str | None,
    schema: Schema | None,
) -> Selection:
    """Choose columns of a table, and give them plain names."""
    check_table(table)
    own = find_targets(target, weight, table.columns)
    if weight is not None:  # rows of weight 0 decide nothing
        check_weights(held_by_type(table[weight].type()), weight)
        w = _number(table[weight])
        table = table.filter((w != 0) | w.isnull())
    table, columns, dates, given, read = TableWithParts.of(table, columns, schema, own)
    names = names_to_read(table.columns, columns, schema, own)
    check_some(names, target)
    if schema is not None and len(names) != schema.n_columns:
        raise NaivelyError(
            f"there must be {schema.n_columns} columns, as in the schema; got {len(names)}."
        )
    types = [table[name].type() for name in names]
    schema = schema_by_types(
        lambda j: held_by_type(types[j]),
        len(names),
        names,
        schema,
        given=given,
        out=_OUT,
        cells=lambda j: first_cells(table, names[j], read),
    )
    schema = replace(schema, dates=dates) if dates else schema
    values = {"y": _label(table[target])}
    if weight is not None:
        values["w"] = _number(table[weight])
    for i, j in enumerate(schema.numbers):
        values[f"x{i}"] = _number(table[names[j]])
    place, n = {j: i for i, j in enumerate(schema.numbers)}, len(schema.numbers)
    for i, (j, name, period) in enumerate(schema.functions, n):
        values[f"x{i}"] = function_values(values[f"x{place[j]}"], name, period)
    for i, j in enumerate(schema.categories):
        values[f"c{i}"] = _category(table[names[j]])
    for i, j in enumerate(schema.texts):
        TEXT.check(held_by_type(types[j]), f"column {names[j]!r}", _OUT)
        values[f"t{i}"] = table[names[j]]
    return Selection(table, values, schema, target, weight)


def _number(column: Any) -> Any:
    kind = column.type()
    NUMBER.check(held_by_type(kind), f"column {column.get_name()!r}", _OUT)
    if kind.is_boolean():
        return column.cast("int32").cast("float64")  # PostgreSQL knows no shorter way
    return column if kind.is_float64() else _double(column)


def _category(column: Any) -> Any:
    kind = column.type()
    CATEGORY.check(held_by_type(kind), f"column {column.get_name()!r}", _OUT)
    # SQLite has floats for decimals
    return _double(column) if kind.is_decimal() and dialect_of(column) == "sqlite" else column


def _double(column: Any) -> Any:
    """Cast numbers to float64; by their text where DuckDB would round twice: whole decimals."""
    kind = column.type()
    if kind.is_decimal() and kind.scale == 0 and dialect_of(column) == "duckdb":
        column = column.cast("string")
    return column.cast("float64")


def _label(column: Any) -> Any:
    kind = column.type()
    if not (kind.is_string() or kind.is_boolean() or kind.is_integer() or kind.is_floating()):
        raise NaivelyError(
            f"labels must be strings, integers or booleans; got {kind} in column "
            f"{column.get_name()!r}. Cast it."
        )
    return column
