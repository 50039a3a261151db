"""The columns of a table that are read: labels, weights, numbers, categories and text, renamed.

``y`` are the labels, ``w`` the weights if there are any, ``x0``, ``x1``, ... the columns of
numbers, ``c0``, ``c1``, ... those of categories and ``t0``, ... those of text.
Columns of dates become columns of their parts, as SQL. Nothing is executed yet, but for the first
cells that tell text from categories and dates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.kinds import (
    CATEGORY,
    LOOKED_AT,
    NUMBER,
    TEXT,
    Held,
    What,
    check_weights,
)
from naively.data.labels import is_missing
from naively.data.plan import Source, check_distinct, inputs_of, named_parts, plan
from naively.data.schema import Schema
from naively.engines.dialects import Spelling
from naively.engines.memory.columns import (
    check_some,
    find,
    find_targets,
    names_to_read,
)
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
        """Name the i-th column of numbers, for a message."""
        return self.schema.name(self.schema.numbers[i])


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
    columns = [columns] if isinstance(columns, str) else columns
    if schema is None:
        inputs = names_to_read(table.columns, inputs_of(columns, table.columns), None, own)
        check_some(inputs, target)
        schema = named_parts(plan(_source(table, inputs), out=_OUT), columns)
        names = schema.names or ()
        parts = {name: schema.input(name) for name in names if schema.input(name) != name}
        check_distinct([*table.columns, *parts])
        table = _with_parts(table, parts)
    else:
        table, columns = with_known_parts(table, columns, schema)
        names = names_to_read(table.columns, columns, schema, own)
        check_some(names, target)
        if len(names) != schema.n_columns:
            raise NaivelyError(
                f"there must be {schema.n_columns} columns, as in the schema; got {len(names)}."
            )
        schema = plan(_source(table, names), schema, out=_OUT)
    types = [table[name].type() for name in names]
    values = {"y": _label(table[target])}
    if weight is not None:
        values["w"] = _number(table[weight])
    for i, j in enumerate(schema.numbers):
        values[f"x{i}"] = _number(table[names[j]])
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


# --- Dates ----------------------------------------------------------------------------------------


def _source(table: Any, names: Sequence[str]) -> Source:
    """Return what `plan` asks of a table; first cells are a small query of their own."""

    def first_cells(name: str) -> list[Any]:
        column = table[name]
        few = table.filter(column.notnull()).select(cell=column).limit(LOOKED_AT)
        cells: list[Any] = execute(few)["cell"].tolist()
        return cells

    return Source(names, lambda name: held_by_type(table[name].type()), first_cells)


def with_known_parts(
    table: Any, columns: Sequence[str] | str | None, schema: Schema
) -> tuple[Any, Sequence[str] | None]:
    """Return a table with the parts of a schema's dates, and what it calls the schema's columns.

    Columns are found by their names, or in the schema's order if they are given; None is all.
    """
    columns = [columns] if isinstance(columns, str) else columns
    inputs = schema.inputs or ()
    given = inputs if columns is None else columns
    if not schema.dates or len(given) != len(inputs):
        return table, columns
    own = dict(zip(inputs, given, strict=True))
    pairs = [(name, schema.input(name)) for name in schema.names or ()]
    parts = {n: own[i] for n, i in pairs if n != i and n not in table.columns}
    numbers = {pairs[j][0] for j in schema.numbers}
    listed = [own[name] if name == source else name for name, source in pairs]
    return _with_parts(table, parts, numbers), listed


def _with_parts(table: Any, parts: Mapping[str, str], numbers: Collection[str] = ()) -> Any:
    """Add columns to a table: the parts, by the columns of dates that they are of."""
    if not parts:
        return table
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


# --- Queries and their results --------------------------------------------------------------------


def execute(query: Any) -> Any:
    """Execute an Ibis expression, and return its result as a pandas frame.

    An error of the database, such as a lost connection, becomes a `NaivelyError` with its cause.
    Ibis can return Arrow tables, too, but then PostgreSQL uses a cursor, and one core.
    """
    try:
        return query.execute()
    except Exception as error:  # every database has its own
        raise _unanswered(error) from error


def exact(query: Any, names: Iterable[str]) -> Any:
    """Return a query whose integers and decimals in some columns are text: pandas rounds them."""
    kinds = {name: query[name].type() for name in names}
    named = [name for name, kind in kinds.items() if kind.is_integer() or kind.is_decimal()]
    return query.mutate(**{name: query[name].cast("string") for name in named})


def exact_cells(cells: Any, kind: Any) -> NDArray[np.object_]:
    """Return cells that an `exact` query gave, of a column of this type; None for NULL and NaN."""
    number: Any = None
    if kind is not None and (kind.is_integer() or kind.is_decimal()):
        number = int if kind.is_integer() else Decimal
    known = [number(cell) if isinstance(cell, str) and number else cell for cell in cells]
    found = np.empty(len(known), dtype=object)
    found[:] = [None if is_missing(cell) else cell for cell in known]
    return found


def streamed(query: Any) -> Any:
    """Execute an Ibis expression, and return its rows as a stream of Arrow batches.

    A relation of DuckDB streams by itself; Ibis's way to do it is not that of every version, and
    may go through pandas, which rounds integers beside NULL: so they come as text.
    """
    backend = query.get_backend()
    try:
        if hasattr(backend, "_to_duckdb_relation"):
            relation = backend._to_duckdb_relation(query)
            if hasattr(relation, "__arrow_c_stream__"):
                return relation
        whole = [name for name, kind in query.schema().items() if kind.is_integer()]
        return _as_asked(exact(query, whole).to_pyarrow_batches(), query.schema().to_pyarrow())
    except Exception as error:
        raise _unanswered(error) from error


def _as_asked(batches: Any, schema: Any) -> Any:
    """Return batches with the types of a schema, which integers as text had lost."""
    pa = need("pyarrow", "reading tables inside a database", extra="sql")
    if batches.schema.equals(schema):
        return batches
    types = [schema.field(name).type for name in batches.schema.names]
    wanted = pa.schema(list(zip(batches.schema.names, types, strict=True)))
    tables = (pa.Table.from_batches([batch]).cast(wanted) for batch in batches)
    return pa.RecordBatchReader.from_batches(
        wanted, (batch for table in tables for batch in table.to_batches())
    )


def _unanswered(error: Exception) -> NaivelyError:
    said = str(error).strip().partition("\n")[0].rstrip(".")
    return NaivelyError(
        f"the database must answer; got {type(error).__name__}: {said}. If the connection was "
        "lost, connect again and repeat the call: nothing was changed."
    )


def floats(result: Any, name: str) -> NDArray[np.float64]:
    """Return a column of a result; NULL becomes NaN."""
    return result[name].to_numpy(dtype=np.float64, na_value=np.nan)


def class_places(result: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the place of each row's label among sorted classes.

    A label that is not among them was written after the classes were read.
    """
    if not len(result):
        return np.empty(0, np.intp)
    found, codes = labels.encode(result["y"].tolist())
    if not labels.contained(found, classes).all():
        raise NaivelyError(
            "a table must not change while it is read; got labels that were not there before. "
            "Repeat the call, or read a copy."
        )
    return labels.positions(found, classes)[codes]


# --- Queries that are written as SQL, as tables of Ibis -------------------------------------------


_DIALECTS = {"pyspark": "spark"}  # what Ibis calls otherwise


def dialect_of(table: Any) -> str:
    """Return the SQL dialect of the database that holds an Ibis table."""
    name: str = table.get_backend().name
    return _DIALECTS.get(name, name)


def view(table: Any, query: Callable[[str], str], schema: Mapping[str, Any]) -> Any:
    """Return a query on a table as another table, whose columns and types are given.

    `Table.sql` does this, too, but first asks the database for the types, which are known here.
    Both tables have names of their own. So their SQL is written once, however often a larger query
    refers to them.
    """
    name, operations = ibis.util.gen_name("naively"), ibis.expr.operations
    found = operations.SQLStringView(
        parent=table.alias(name).op(), query=query(name), schema=ibis.schema(dict(schema))
    )
    return found.to_expr().alias(f"{name}_found")


# --- Types ----------------------------------------------------------------------------------------


def held_by_type(kind: Any) -> Held:
    """Return what a type of Ibis's says."""
    tests: dict[What, bool] = {
        "nothing": kind.is_null() or 'kind="NULL"' in str(kind),  # of a file that DuckDB reads
        "boolean": kind.is_boolean(),
        "number": kind.is_numeric(),
        "text": kind.is_string(),
        "date": kind.is_date(),
        "datetime": kind.is_timestamp() or "TIMESTAMPTZ_NS" in str(kind),  # of DuckDB
        "time": kind.is_temporal() or kind.is_interval(),
    }
    return Held(next((what for what, holds in tests.items() if holds), "other"), str(kind))
