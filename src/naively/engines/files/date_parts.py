"""Files whose columns of dates are read by their parts.

>>> table = pa.table({"x": [1.5], "day": ["2024-02-29"]})
>>> with_parts(table, {"day": False}).column_names
['x', 'day.year', 'day.month', 'day.weekday']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from naively._optional import later
from naively.dates import PARTS, part_names, split_name
from naively.engines.columns import inputs_of, is_index
from naively.engines.date_columns import DateColumn, DatePart, check_distinct
from naively.engines.files.first_rows import FirstRows
from naively.engines.files.pieces import FilePiece, Position
from naively.engines.files.readers import OpenFile
from naively.engines.files.request import Request
from naively.engines.files.sources import BadFileError
from naively.engines.native.arrow import held_by_type
from naively.exceptions import NaivelyError
from naively.kinds import DATES, dates_have_time
from naively.schema import Schema

__all__ = ["date_columns", "opened_with_parts", "source_of", "with_parts"]

pa = later("pyarrow", "reading files", extra="files")


def date_columns(first: FirstRows, request: Request, fixed: Schema | None) -> dict[str, bool]:
    """Return which columns are read by the parts of their dates, and whether those have times."""
    if fixed is not None:
        return {name: f"{name}.hour" in (fixed.names or ()) for name in fixed.dates}
    if not request.takes_categories:
        return {}
    settled = {*request.settled, request.target, request.weight}
    wanted = inputs_of(request.columns, first.names) or first.names
    found: dict[str, bool] = {}
    declared = {} if first.file is None else first.file.reader.types
    for name, kind in zip(first.names, first.table.schema.types, strict=True):
        own = declared.get(name)  # which may have a dictionary; null is the type of no cell
        kind = kind if own is None or pa.types.is_null(own) else own
        if name in wanted and name not in settled and not is_index(name):
            times = dates_have_time(held_by_type(kind), partial(_cells, first, name))
            found |= {} if times is None else {name: times}
    return found


def _cells(first: FirstRows, name: str) -> list[Any]:
    """Return the first cells of a column, which files or their paths hold."""
    if first.file is not None and name in first.file.constants:
        return [file.partitions.get(name) for file in first.files]
    return first.cells(name)


def with_parts(table: Any, dates: Mapping[str, bool]) -> Any:
    """Return a table in which parts are in the place of dates; only their types matter."""
    fields = []
    for field in table.schema if dates else ():
        parts = part_names(field.name, has_time=dates[field.name]) if field.name in dates else []
        fields += [pa.field(part, _type(part)) for part in parts] or [field]
    if not dates:
        return table
    check_distinct([field.name for field in fields])
    there = {*table.column_names} - {*dates}
    columns = [
        table.column(field.name) if field.name in there else pa.nulls(table.num_rows, field.type)
        for field in fields
    ]
    return pa.table(columns, schema=pa.schema(fields))


def _type(name: str) -> Any:
    """Return the type of a part: all but years are categories."""
    split = split_name(name)
    if split is None or split[1] == "year":
        return pa.float64()
    values = pa.string() if split[1] == "weekday" else pa.int64()
    return pa.dictionary(pa.int8(), values)


def source_of(name: str, dates: Mapping[str, bool]) -> str:
    """Return the column of a file that a column is read from."""
    split = split_name(name) if dates else None
    return split[0] if split is not None and split[0] in dates else name


def opened_with_parts(
    opened: OpenFile, dates: Mapping[str, bool], types: Mapping[str, Any]
) -> OpenFile:
    """Return a file that has the parts of dates as columns, of the types that are read."""
    own = opened.reader.types
    there = {name: dates[name] for name in dates if name in own}
    for name in there:
        held = None if own[name] is None else held_by_type(own[name])
        if held is not None and held.what not in (*DATES, "text", "nothing"):
            raise NaivelyError(
                f"column {name!r} must hold dates as before; got {held.type}{opened.where}. "
                "Exclude it, or convert it."
            )
    opened = opened._replace(constants=_constant_parts(opened, dates, types))
    return opened._replace(reader=_PartsReader(opened, there)) if there else opened


def _constant_parts(
    opened: OpenFile, dates: Mapping[str, bool], types: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the columns that the path holds, and the parts of the dates among them."""
    found = dict(opened.constants)
    for name in dates.keys() & found.keys():
        source = DateColumn(np.array([found[name]], object), f"column {name!r}")
        for part, its in zip(PARTS, part_names(name, has_time=dates[name]), strict=False):
            cell = DatePart(source, part)
            is_number = types.get(its) == pa.float64()
            try:
                value = cell.numbers().item() if is_number else cell[:].item()
            except NaivelyError as error:
                raise BadFileError(opened.file.name, f"in its path, {error}") from None
            found[its] = float("nan") if value is None and part != "weekday" else value
    return found


class _PartsReader:
    """A reader of a file, whose dates are read by their parts; they can be read themselves, too."""

    def __init__(self, opened: OpenFile, dates: Mapping[str, bool]) -> None:
        self._opened, self._dates, self._reader = opened, dates, opened.reader
        self.first_batches = opened.reader.first_batches

    @property
    def types(self) -> Mapping[str, Any]:
        """The columns and their types; what parts hold is known."""
        found, its = dict[str, Any](), self._dates
        for name, kind in self._reader.types.items():
            parts = part_names(name, has_time=its[name]) if name in its else []
            found |= dict.fromkeys(parts) or {name: kind}
        return found

    def sample(self) -> Any:
        """Return a table whose types are those of the columns."""
        return with_parts(self._reader.sample(), self._dates)

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield the pieces; text is read as text, and becomes dates afterwards."""
        own = self._reader.types
        read: dict[str, Any] = {}
        for name, kind in types.items():
            source = source_of(name, self._dates)
            is_typed = own.get(source) is not None and not pa.types.is_null(own[source])
            as_dates = own[source] if is_typed else pa.string()
            read[source] = kind if source == name else as_dates
        for piece in self._reader.pieces(read, start):
            yield replace(
                piece,
                read=partial(self._read, piece.read, types, piece.where),
                read_rows=piece.read_rows
                and partial(self._read, piece.read_rows, types, piece.where),
            )

    def _read(
        self,
        read: Callable[[Sequence[str]], Iterator[Any]],
        types: Mapping[str, Any],
        where: str,
        names: Sequence[str],
    ) -> Iterator[Any]:
        sources = dict.fromkeys(source_of(name, self._dates) for name in names)
        for batch in read(list(sources)):
            if {*sources} == {*names}:
                yield batch
                continue
            used = [name for name in sources if name in self._dates]
            dates = {n: DateColumn(batch.column(n), f"column {n!r}") for n in used}
            try:
                arrays = [self._array(batch, dates, name, types[name]) for name in names]
            except NaivelyError as error:
                raise BadFileError(self._opened.file.name, f"in {where}, {error}") from None
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))

    def _array(self, batch: Any, dates: Mapping[str, DateColumn], name: str, kind: Any) -> Any:
        source = source_of(name, self._dates)
        if source == name:
            return batch.column(name)
        part = DatePart(dates[source], name.removeprefix(f"{source}."))
        return pa.array(part.numbers()) if kind == pa.float64() else _categories(part)


def _categories(part: DatePart) -> Any:
    """Return a part of dates as categories."""
    codes, categories = part.codes()
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(categories))
