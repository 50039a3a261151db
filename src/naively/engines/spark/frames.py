"""The columns of a Spark frame: chosen by their types, and read from Arrow on an executor.

`FrameColumns` are chosen on the driver, travel to the executors, and read batches there.
Numbers (decimals too) and vectors of `pyspark.ml.linalg` are numbers; text and booleans are
categories, unless text is read word by word.

Rows are read only for the length of vectors, where the frame's metadata lacks it, and to tell text
from categories.

Arrow shows a vector as the struct that Spark stores: its type, 1 for dense, and its values; of a
sparse one (type 0) also its size and where the values stand. What a sparse vector does not list
is 0, which is a number; a vector that is null is a row of missing cells.

>>> import pyarrow as pa
>>> dense = {"type": 1, "size": None, "indices": None, "values": [1.0, 2.0]}
>>> sparse = {"type": 0, "size": 2, "indices": [1], "values": [3.0]}
>>> vector_rows(pa.array([dense, sparse, None]), 2, "column 'features'")
array([[ 1.,  2.],
       [ 0.,  3.],
       [nan, nan]])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import (
    DATES,
    LOOKED_AT,
    NUMBER,
    UNDECIDED,
    Held,
    Kind,
    What,
)
from naively.data.plan import Source, inputs_of, named_parts, plan
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.engines.files.cells import numbers
from naively.engines.memory import tables
from naively.engines.memory.columns import names_to_read
from naively.errors import NaivelyError, need


class _FrameColumn(NamedTuple):
    """A column of a frame: its place among those measured, what it holds, a vector's length."""

    name: str
    at: int
    kind: Kind | None  # None for dates, of which there are parts
    width: int | None


@dataclass(frozen=True)
class FrameColumns:
    """The columns that are read from a frame."""

    names: tuple[str, ...]  # the columns, as the frame calls them
    # how many numbers a vector has; None for a column that is no vector
    widths: tuple[int | None, ...]
    # the columns as they are measured: a vector is as many columns as it has numbers
    schema: Schema

    @classmethod
    def of(
        cls,
        df: Any,
        columns: Sequence[str] | str | None = None,
        schema: Schema | None = None,
        exclude: Sequence[str] = (),
    ) -> FrameColumns:
        """Choose columns: those named, those of a schema, or all but some."""
        columns = (columns,) if isinstance(columns, str) else columns
        inputs = columns if schema is not None else inputs_of(columns, df.columns)
        names = names_to_read(df.columns, inputs, schema, exclude)
        check_readable(df, [*exclude, *names])
        widths = tuple(vector_width(df, name) for name in names)
        n_columns = sum(1 if width is None else width for width in widths)
        wanted = None if schema is None else len(schema.inputs or range(schema.n_columns))
        if wanted is not None and n_columns != wanted:
            raise NaivelyError(
                f"there must be {wanted} columns; got {n_columns}. Choose the columns."
            )
        measured = frame_schema(df, names, widths, schema)
        if schema is None:
            measured = named_parts(measured, columns)
        found = cls(names, widths, measured)
        for column in found._columns():
            inside = range(column.at, column.at + (column.width or 0))
            if set(inside) & set(found.schema.categories):
                raise NaivelyError(
                    f"column {column.name!r} holds vectors, which are numbers; got a schema with "
                    "categories among them. Choose plain columns for those."
                )
        return found

    def select(self, df: Any) -> list[Any]:
        """Return the columns as expressions, of types that are read."""
        return [
            column_expression(df, column.name, column.kind).alias(f"x{j}")
            for j, column in enumerate(self._columns())
        ]

    def rows(self, arrays: Sequence[Any]) -> Rows:
        """Read the arrays of a batch, one for each column."""
        return tables.read(self.frame(arrays), self.schema, n_jobs=1)

    def frame(self, arrays: Sequence[Any]) -> Any:
        """Return the arrays of a batch as a model reads them: by name, or as an array."""
        cells = [
            self._numbers(array, column) if column.kind is NUMBER else array
            for array, column in zip(arrays, self._columns(), strict=True)
        ]
        if self.schema.names is None and len(self.schema.numbers) < self.schema.n_columns:
            return _objects(list(_side_by_side(cells)))
        if self.schema.names is None:
            return cells[0] if cells[0].ndim == 2 else np.column_stack(cells)
        pyarrow = need("pyarrow", "Spark", extra="spark")
        names = list(self.schema.inputs or ())
        return pyarrow.table(list(_side_by_side(cells)), names=names)

    def _columns(self) -> Iterator[_FrameColumn]:
        schema, i = self.schema, 0
        kinds: list[Kind | None] = [*schema.held]
        places = list(range(schema.n_columns))
        if schema.dates:
            own = {name: j for j, name in enumerate(schema.names or ())}
            places = [own.get(name, -1) for name in schema.inputs or ()]
            kinds = [None if j < 0 else schema.held[j] for j in places]
        for name, width in zip(self.names, self.widths, strict=True):
            yield _FrameColumn(name, places[i], kinds[i], width)
            i += 1 if width is None else width

    @staticmethod
    def _numbers(array: Any, column: _FrameColumn) -> Any:
        if column.width is None:
            return numbers(array)
        return vector_rows(array, column.width, f"column {column.name!r}")


def _side_by_side(found: Sequence[Any]) -> Iterator[Any]:
    """Yield columns one by one, those of vectors too."""
    for part in found:
        if getattr(part, "ndim", 1) == 2:
            yield from np.ascontiguousarray(part.T)
        else:
            yield part


def _objects(columns: list[Any]) -> NDArray[Any]:
    """Return columns of any types as an array, which has no names."""
    table = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        table[:, j] = column.tolist()
    return table


# --- Types ----------------------------------------------------------------------------------------


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


def frame_schema(
    df: Any, names: Sequence[str], widths: Sequence[int | None], agreed: Schema | None
) -> Schema:
    """Return what columns hold: as agreed, or by their types. A vector is as many columns.

    One vector alone has the names of its attributes.
    """
    if agreed is None and len(names) == 1 and widths[0] is not None:
        return Schema(widths[0], _attributes(df.schema[names[0]], widths[0]))
    return plan(_source(df, names, widths), agreed, out=_OUT)


def _source(df: Any, names: Sequence[str], widths: Sequence[int | None]) -> Source:
    """Return what `plan` asks of a frame, in which a vector is as many columns as it has numbers.

    First cells are a small job of their own.
    """
    pairs = list(zip(names, widths, strict=True))
    every = [[name] if n is None else [f"{name}_{i}" for i in range(n)] for name, n in pairs]
    plain = {name for name, n in pairs if n is None}

    def held(name: str) -> Held:
        return held_by_type(df.schema[name].dataType) if name in plain else Held("number", "vector")

    def first_cells(name: str) -> list[Any]:
        column = df[quoted(name)]
        rows = df.select(column).where(column.isNotNull()).limit(LOOKED_AT).collect()
        return [row[0] for row in rows]

    return Source(list(chain(*every)), held, first_cells)


def vector_width(df: Any, name: str) -> int | None:
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


def column_expression(df: Any, name: str, agreed: Kind | None) -> Any:
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


# --- Vectors --------------------------------------------------------------------------------------


def vector_rows(vectors: Any, width: int, name: str) -> NDArray[np.float64]:
    """Return vectors, each of so many numbers, as the rows of an array.

    Spark hands them over as structs of ``type``, ``size``, ``indices`` and ``values``.
    """
    fields = dict(zip((field.name for field in vectors.type), vectors.flatten(), strict=True))
    kinds = fields["type"].fill_null(-1).to_numpy(zero_copy_only=False)
    values, counts = _joined(fields["values"])
    sizes = fields["size"].fill_null(0).to_numpy(zero_copy_only=False)
    found = np.where(kinds == 0, sizes, counts)[kinds >= 0]
    if (found != width).any():
        raise NaivelyError(
            f"the vectors of {name} must be equally long ({width}); got one of "
            f"{found[found != width][0]}."
        )
    if (kinds == 1).all():
        return values.reshape(-1, width)
    table = np.zeros((kinds.size, width))
    table[kinds < 0] = np.nan
    indices, _ = _joined(fields["indices"])
    _scatter(table, kinds, counts, values, indices)
    return table


def _scatter(
    table: NDArray[np.float64],
    kinds: NDArray[Any],
    counts: NDArray[np.intp],
    values: NDArray[np.float64],
    indices: NDArray[np.int32],
) -> None:
    """Write values, which lie one row after the other, where they belong."""
    row_of = np.repeat(np.arange(kinds.size), counts)
    is_sparse = kinds[row_of] == 0
    table[kinds == 1] = values[~is_sparse].reshape(-1, table.shape[1])
    table[row_of[is_sparse], indices] = values[is_sparse]


def _joined(lists: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the items of all lists, one list after the other, and how many each has."""
    counts = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return lists.flatten().to_numpy(zero_copy_only=False), counts.astype(np.intp)
