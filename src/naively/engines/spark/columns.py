"""The columns of a Spark frame: chosen by their types, and read from Arrow on an executor.

`FrameColumns` are chosen on the driver, travel to the executors, and read batches there.
Numbers (decimals too) and vectors of `pyspark.ml.linalg` are numbers; text and booleans are
categories, unless text is read word by word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import CATEGORY, NUMBER, TEXT, Kind
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.engines.files.cells import numbers
from naively.engines.memory import categories, tables
from naively.engines.memory.columns import inputs_of, named_parts, names_to_read
from naively.engines.memory.tables import read_texts
from naively.engines.spark import types, vectors
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
        types.check_readable(df, [*exclude, *names])
        widths = tuple(types.width(df, name) for name in names)
        n_columns = sum(1 if width is None else width for width in widths)
        wanted = None if schema is None else len(schema.inputs or range(schema.n_columns))
        if wanted is not None and n_columns != wanted:
            raise NaivelyError(
                f"there must be {wanted} columns; got {n_columns}. Choose the columns."
            )
        measured = types.schema(df, names, widths, schema)
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
            types.expression(df, column.name, column.kind).alias(f"x{j}")
            for j, column in enumerate(self._columns())
        ]

    def rows(self, arrays: Sequence[Any], n_rows: int) -> Rows:
        """Read the arrays of a batch, one for each column."""
        if self.schema.dates:
            return tables.read(self.frame(arrays), self.schema, n_jobs=1)
        pyarrow = need("pyarrow", "Spark", extra="spark")
        found: list[Any] = []
        encoded: list[tuple[Any, Any]] = []
        texts: list[Any] = []
        for array, column in zip(arrays, self._columns(), strict=True):
            if column.kind is NUMBER:
                found.append(self._numbers(array, column))
            elif column.kind is CATEGORY:
                chunked = pyarrow.chunked_array([array])
                encoded.append(categories.encode(chunked, self.schema.name(column.at)))
            elif column.kind is TEXT:
                texts.append(array)
        is_table = len(found) == 1 and found[0].ndim == 2
        cells = found[0] if is_table else list(_side_by_side(found))
        words = read_texts(texts, self.schema, n_jobs=1)
        return Rows.of_columns((n_rows, self.schema.n_columns), cells, encoded, *words)

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
        return vectors.rows(array, column.width, f"column {column.name!r}")


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
