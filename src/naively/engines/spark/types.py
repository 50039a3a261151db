"""The types of Spark: what columns hold, how long vectors are, and what is cast.

Rows are read only for the length of vectors, where the frame's metadata lacks it, and to tell text
from categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from naively.data.dates import part_names
from naively.data.kinds import (
    DATES,
    LOOKED_AT,
    NUMBER,
    UNDECIDED,
    Held,
    Kind,
    What,
    dates_have_time,
)
from naively.data.schema import Schema, schema_by_types
from naively.engines.memory.date_columns import check_distinct, held_by_part
from naively.errors import NaivelyError, need

_OUT = "choose other columns: columns=[...]"


def check_readable(df: Any, names: Sequence[str]) -> None:
    """Raise where a frame is a stream, or where Spark takes the names of two columns for one."""
    if df.isStreaming:
        raise NaivelyError(
            "a frame must not be a stream; got one. Summarize its batches, which "
            "df.writeStream.foreachBatch hands over, and add the summaries."
        )
    exact = df.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    same = str if exact else str.casefold
    for name in names:
        alike = [other for other in df.columns if same(other) == same(name)]
        if len(alike) > 1:
            raise NaivelyError(
                f"columns must have names that Spark can tell apart; got {alike[0]!r} and "
                f"{alike[1]!r}. Rename one of them, or leave it out."
            )


def schema(
    df: Any, names: Sequence[str], widths: Sequence[int | None], agreed: Schema | None
) -> Schema:
    """Return what columns hold: as agreed, or by their types. A vector is as many columns.

    One vector alone has the names of its attributes.
    """
    if agreed is None and len(names) == 1 and widths[0] is not None:
        return Schema(widths[0], _attributes(df.schema[names[0]], widths[0]))
    if agreed is not None and not agreed.undecided:
        return agreed
    found: list[tuple[str, Held, str]] = []  # names, what they hold, and of which column
    dates: dict[str, bool] = {}
    first_cells = cache(partial(_first_cells, df))
    for name, length in zip(names, widths, strict=True):
        its = held_by_type(df.schema[name].dataType)
        times = dates_have_time(its, partial(first_cells, name)) if length is None else None
        if length is not None:
            found += [(f"{name}_{i}", Held("number", "vector"), name) for i in range(length)]
        elif times is None:
            found.append((name, its, name))
        else:
            dates[name] = times
            parts = part_names(name, has_time=times)
            found += [(part, held_by_part(part), name) for part in parts]
    check_distinct([name for name, _, _ in found])
    schema = schema_by_types(
        lambda j: found[j][1],
        len(found),
        tuple(name for name, _, _ in found),
        agreed,
        out=_OUT,
        cells=lambda j: first_cells(found[j][2]),
    )
    return replace(schema, dates=tuple(dates)) if dates and agreed is None else schema


def _first_cells(df: Any, name: str) -> list[Any]:
    """Return some cells of a column of text: a small job of its own."""
    column = df[quoted(name)]
    rows = df.select(column).where(column.isNotNull()).limit(LOOKED_AT).collect()
    return [row[0] for row in rows]


def width(df: Any, name: str) -> int | None:
    """Return how many numbers a vector has; None where the column holds no vectors."""
    field = df.schema[name]
    if not _is_vector(field.dataType):
        return None
    known = field.metadata.get("ml_attr", {}).get("num_attrs")
    if known is not None:
        return int(known)
    column = df[quoted(name)]
    first = df.select(column).where(column.isNotNull()).first()
    if first is None:
        raise NaivelyError(
            f"column {name!r} must hold a vector, to know how long they are; got none."
        )
    return len(first[0])


def expression(df: Any, name: str, agreed: Kind | None) -> Any:
    """Return a column as an expression, cast to double where Arrow does not read it as numbers."""
    sql = need("pyspark.sql.types", "Spark", extra="spark")
    column, held = df[quoted(name)], df.schema[name].dataType
    if _is_vector(held):
        return column
    if agreed is None:  # dates, or texts of them
        its = held_by_type(held)
        if its.what not in (*DATES, "text", "nothing"):
            raise NaivelyError(f"column {name!r} must hold dates; got {its.type}. Convert it.")
        return column.cast("string") if its.what == "nothing" else column
    if agreed is UNDECIDED:  # no cell has been seen, and none is read
        return need("pyspark.sql.functions", "Spark", extra="spark").lit(None).cast("double")
    agreed.check(held_by_type(held), f"column {name!r}", _OUT)
    cast = sql.BooleanType | sql.DecimalType  # of a decimal, the nearest
    if isinstance(held, sql.NullType) or (agreed is NUMBER and isinstance(held, cast)):
        return column.cast("double")
    return column


def quoted(name: str) -> str:
    """Quote the name of a column.

    >>> quoted("a.b")
    '`a.b`'
    """
    return "`" + name.replace("`", "``") + "`"


def _is_vector(held: Any) -> bool:
    return bool(held.simpleString() == "vector")


def held_by_type(kind: Any) -> Held:
    """Return what a type of Spark's says."""
    sql = need("pyspark.sql.types", "Spark", extra="spark")
    intervals = "interval", "time"
    tests: dict[What, bool] = {
        "nothing": isinstance(kind, sql.NullType),
        "number": isinstance(kind, sql.NumericType),
        "boolean": isinstance(kind, sql.BooleanType),
        "text": isinstance(kind, sql.StringType | sql.CharType | sql.VarcharType),
        "date": isinstance(kind, sql.DateType),
        "datetime": isinstance(kind, sql.TimestampType | sql.TimestampNTZType),
        "time": kind.simpleString().startswith(intervals),
    }
    other: What = "other"
    what = next((what for what, holds in tests.items() if holds), other)
    return Held(what, kind.simpleString())


def _attributes(field: Any, length: int) -> tuple[str, ...] | None:
    """Return the names that `VectorAssembler` noted for the numbers of a vector, if it did."""
    groups = field.metadata.get("ml_attr", {}).get("attrs", {}).values()
    found = {attr["idx"]: attr.get("name") for group in groups for attr in group}
    names = tuple(found[i] for i in sorted(found))
    return names if None not in names and len(set(names)) == length else None
