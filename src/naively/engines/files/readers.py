"""Files that are open, each by the reader of its format, and their first rows.

First rows show what columns hold, before a pass begins; an empty column waits for a later file.

>>> first = pa.table({"age": [30], "town": pa.nulls(1)})
>>> filled(first, iter([pa.table({"age": [None], "town": ["Ulm"]})])).schema.types
[DataType(int64), DataType(string)]

Rows without a label are left out as pieces are read, and counted.

>>> is_labelled(pa.array(["a", None, " "])).tolist()
[True, False, True]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import remote
from naively.data.dates import PARTS, part_names, split_name
from naively.data.kinds import DATES, LOOKED_AT
from naively.engines.files.arrow import StreamReader, open_arrow
from naively.engines.files.cells import Batch, combined, pa, pc
from naively.engines.files.csv import CsvDialect, CsvReader
from naively.engines.files.json_lines import JsonLinesReader
from naively.engines.files.sources import (
    BadFileError,
    File,
    FilePiece,
    Position,
    Reader,
    change_of,
    resolve,
)
from naively.engines.memory.frames import first_cells
from naively.engines.memory.frames.arrow import decoded, held_by_type, without_views
from naively.engines.memory.tables import DateColumn, DatePart
from naively.errors import NaivelyError

_NOT_UTF_8 = "it holds text that is not in UTF-8. Write it as UTF-8, or as bytes and leave it out"


@dataclass(frozen=True)
class OpenFile:
    """A file that is open, and what it takes to read its rows as batches."""

    file: File
    reader: Reader
    constants: Mapping[str, Any]  # the columns that its path holds and the file itself does not
    # the columns of dates that are read by their parts, and whether they have times of day
    dates: Mapping[str, bool] = field(default_factory=dict)
    # the pieces of a stream, which can be read only once, where some were looked at
    replayed: Iterator[FilePiece] | None = None

    @property
    def where(self) -> str:
        """Name the file at the end of a message."""
        return f" in {self.file.name!r}"

    @property
    def types(self) -> dict[str, Any]:
        """All columns and their types; None where a type is what one makes of the text."""
        of_path = [name for name in self.file.partitions if name in self.constants]
        return {**self.reader.types, **{name: type_of(self.constants[name]) for name in of_path}}

    def with_parts(self, dates: Mapping[str, bool], types: Mapping[str, Any]) -> OpenFile:
        """Return the file with the parts of dates as columns, of the types that are read."""
        own = self.reader.types
        there = {name: dates[name] for name in dates if name in own}
        for name in there:
            held = None if own[name] is None else held_by_type(own[name])
            if held is not None and held.what not in (*DATES, "text", "nothing"):
                raise NaivelyError(
                    f"column {name!r} must hold dates as before; got {held.type}{self.where}. "
                    "Exclude it, or convert it."
                )
        constants = dict(self.constants)
        for name in dates.keys() & self.constants.keys():
            source = DateColumn(np.array([self.constants[name]], object), f"column {name!r}")
            for part, column in zip(PARTS, part_names(name, has_time=dates[name]), strict=False):
                cell = DatePart(source, part)
                is_number = types.get(column) == pa.float64()
                try:
                    value = cell.numbers().item() if is_number else cell[:].item()
                except NaivelyError as error:
                    raise BadFileError(self.file.name, f"in its path, {error}") from None
                constants[column] = float("nan") if value is None and part != "weekday" else value
        return replace(self, constants=constants, dates=there)

    def sample(self) -> Any:
        """Return the first rows as a table, with the columns that the path holds."""
        with errors_of_reading(self.file):
            table = self.reader.sample()
        for name, value in self.constants.items():
            table = table.append_column(name, pa.array([value] * table.num_rows, type_of(value)))
        return table

    def stored(self, types: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is read from the file itself, and as what: text, where it becomes dates."""
        own, stored = self.reader.types, dict[str, Any]()
        for name, kind in types.items():
            source = source_of(name, self.dates)
            is_typed = own.get(source) is not None and not pa.types.is_null(own[source])
            if name not in self.constants:
                as_dates = own[source] if is_typed else pa.string()
                stored[source] = kind if source == name else as_dates
        return stored

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield the pieces from a position on; ``types`` names the columns that will be read."""
        return self.replayed or self.reader.pieces(self.stored(types), start)

    def batches(self, piece: FilePiece, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of a piece, with some columns."""
        read = piece.read(self.sources(names))
        for batch in combined(list(read)) if piece.width is None else read:
            yield self.batch(batch, names, piece)

    def sources(self, names: Sequence[str]) -> list[str]:
        """Return what is read from the file itself: at least one column, to count the rows."""
        stored = [source_of(name, self.dates) for name in names if name not in self.constants]
        return list(dict.fromkeys(stored)) or list(self.reader.types)[:1]

    def batch(self, read: Any, names: Sequence[str], piece: FilePiece) -> Batch:
        """Return what was read as the columns that are wanted, with the parts of dates."""
        columns, dates = dict[str, Any](), dict[str, DateColumn]()
        for name in names:
            if name in self.constants:
                continue
            source = source_of(name, self.dates)
            columns[name] = read.column(source)
            if source != name:
                dates.setdefault(source, DateColumn(columns[name], f"column {source!r}"))
                columns[name] = DatePart(dates[source], name.removeprefix(f"{source}."))
        try:
            for column in dates.values():
                column.dates  # noqa: B018 - they are read now, so that the message names the piece
        except NaivelyError as error:
            raise BadFileError(self.file.name, f"in {piece.where}, {error}") from None
        return Batch(columns, read.num_rows, self.constants)


def source_of(name: str, dates: Collection[str]) -> str:
    """Return the column of a file that a column is read from."""
    split = split_name(name) if dates else None
    return split[0] if split is not None and split[0] in dates else name


def open_file(file: File, dialect: CsvDialect) -> OpenFile:
    """Open a file, or raise `BadFileError`."""
    with errors_of_reading(file):
        reader = _reader(file, dialect)
    constants = {name: v for name, v in file.partitions.items() if name not in reader.types}
    return OpenFile(file, reader, constants)


@contextmanager
def errors_of_reading(file: File, where: str = "") -> Iterator[None]:
    """Turn what pyarrow and the system say about a file into `BadFileError`.

    Where the file has changed since the pass began, that is the reason.
    """
    try:
        yield
    except BadFileError as error:
        raise change_of(file) or error from None
    except UnicodeDecodeError:
        raise change_of(file) or BadFileError(file.name, f"{where}{_NOT_UTF_8}") from None
    except (pa.ArrowException, OSError) as error:
        if file.remote is None:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        else:
            reason = remote.reason_of(error)
        raise change_of(file) or BadFileError(file.name, f"{where}{reason}") from None


def _reader(file: File, dialect: CsvDialect) -> Reader:
    if file.size == 0 and file.format != "csv":
        raise BadFileError(file.name, "it is empty")
    if file.format == "csv":
        return CsvReader(file, dialect)
    if file.format == "parquet":
        from naively.engines.files.arrow import ParquetReader  # it imports much

        return ParquetReader(file)
    if file.format == "json":
        return JsonLinesReader(file, dialect.encoding)
    return open_arrow(file) if file.format == "arrow" else StreamReader.of_object(file)


def type_of(value: Any) -> Any:
    """Return the type of a column that a path holds."""
    kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    return kinds.get(type(value), pa.string())


# --- The first rows of files --------------------------------------------------------------------


_MAX_BATCHES = 64  # that are looked through for cells of text


class FirstRows:
    """Files that `scan` reads, and the first rows of the first sound one that has some.

    What reads the files takes this in their place, so that they are looked at once. A stream that
    was looked at stays open, since it cannot be opened twice. It ``is_part`` where columns that are
    empty in the rows looked at may have cells further on.
    """

    def __init__(self, source: Any, dialect: CsvDialect) -> None:
        self.files, self.dialect = resolve(source), dialect
        dialect.check_files(self.files)
        self._bad: list[BadFileError] = []
        self._streams: dict[str, OpenFile] = {}
        self.is_part = False
        self._rest = self._samples()
        self._first_cells: dict[tuple[str, str | None], list[Any]] = {}  # by name and weight

    @classmethod
    def of(cls, source: Any, dialect: CsvDialect) -> FirstRows:
        """Return the first rows of a source, which may have been looked at already."""
        return source if isinstance(source, FirstRows) else cls(source, dialect)

    @property
    def file(self) -> OpenFile | None:
        """The first sound file that shows types, as a CSV file without rows does not.

        Where none does, the first that is sound; None where no file is.
        """
        return self._seen[0]

    @property
    def table(self) -> Any:
        """Its first rows, or none where it declares types, as a ``pyarrow.Table``, or None."""
        return self._seen[1]

    @property
    def names(self) -> list[str]:
        """The columns of that file, as far as they are known."""
        return [] if self.table is None else list(self.table.column_names)

    @property
    def where(self) -> str:
        """Name that file at the end of a message."""
        return "" if self.file is None else self.file.where

    @property
    def has_types(self) -> bool:
        """Whether there is a file that holds rows, or declares types."""
        return self.file is not None and _shows_types(self.file, self.table)

    @property
    def n_bytes(self) -> int | None:
        """The size of all files; None where it is not known, since a stream stands alone."""
        known = self.files[0].size is not None
        return sum(file.size or 0 for file in self.files) if known else None

    @cached_property
    def _seen(self) -> tuple[OpenFile | None, Any]:
        found: tuple[OpenFile | None, Any] = (None, None)
        for opened, table in self._rest:
            if _shows_types(opened, table):
                return opened, table
            found = found if found[0] is not None else (opened, table)
        return found

    def check(self) -> None:
        """Raise where no file shows what columns hold."""
        if self.has_types:
            return
        names = ", ".join(repr(file.name) for file in self.files[:3])
        more = f" and {len(self.files) - 3} more" if len(self.files) > 3 else ""
        raise NaivelyError(f"there must be a file that holds rows; got {names}{more}.")

    def check_sound(self) -> None:
        """Raise where a file that was looked at cannot be read."""
        self._seen  # noqa: B018 - it is found by looking
        if self._bad:
            raise self._bad[0]

    def cells(self, name: str, weight: str | None = None) -> list[Any]:
        """Return the first cells of a column of text, from the first file with types on.

        Rows of weight 0 decide nothing, as they are left out.
        """
        found: list[Any] = []
        if self.file is None or name in self.file.constants:
            return found
        if (name, weight) in self._first_cells:
            return self._first_cells[name, weight]
        for cells in islice(self._cells(name, weight, self.file), _MAX_BATCHES):
            found += cells
            if len(found) >= LOOKED_AT:
                break
        if not found and weight is not None:  # its type, too, is that of cells of weight 0
            found = self.cells(name)
        self._first_cells[name, weight] = found[:LOOKED_AT]
        return self._first_cells[name, weight]

    def _cells(self, name: str, weight: str | None, first: OpenFile) -> Iterator[list[Any]]:
        """Yield the first cells of a column, batch by batch, from one file on."""
        start = self.files.index(first.file)
        for file in self.files[start : start + _MAX_BATCHES]:
            try:
                opened = first if file is first.file else open_file(file, self.dialect)
                table = self.table if opened is first else opened.sample()
            except BadFileError:
                continue
            if not _has(table, name) or name in opened.constants:
                continue
            beside = [weight] if weight is not None and _has(table, weight) else []
            with errors_of_reading(file):
                for batch in (
                    [table] if table.num_rows else opened.reader.first_batches([name, *beside])
                ):
                    yield first_cells(_weighted(batch, name, *beside), LOOKED_AT)

    def fill(self, known: Collection[str] = ()) -> Any:
        """Return the rows, with the types of empty columns by later files; see `filled`."""
        table = filled(self.table, (table for _, table in self._rest), known)
        self._seen = self.file, table
        return table

    def opened(self, file: File) -> OpenFile:
        """Open a file, or return the stream that was."""
        return self._streams.pop(file.name, None) or open_file(file, self.dialect)

    def keep_open(self, opened: OpenFile) -> None:
        """Keep a stream, which cannot be opened twice."""
        if opened.file.size is None:
            self._streams[opened.file.name] = opened

    def _samples(self) -> Iterator[tuple[OpenFile, Any]]:
        for file in self.files:
            try:
                opened = open_file(file, self.dialect)
                table = opened.sample()
            except BadFileError as error:
                self._bad.append(error)
                continue
            self.keep_open(opened)
            self.is_part |= opened.reader.goes_on()
            yield opened, table


def _has(table: Any, name: str) -> bool:
    return bool(table.schema.get_field_index(name) >= 0)


def _weighted(batch: Any, name: str, *weights: str) -> Any:
    """Return a column without rows of weight 0. What is no weight is an error later on."""
    cells = batch.column(name)
    for weight in weights:
        column = batch.column(weight)
        if held_by_type(column.type).what in ("number", "boolean"):
            has_weight = pc.not_equal(column.cast(pa.float64(), safe=False), 0.0)
            cells = without_views(cells).filter(pc.fill_null(has_weight, True))
    return cells


def _shows_types(opened: OpenFile, table: Any) -> bool:
    return opened.file.format != "csv" or table.num_rows > 0


def filled(table: Any, later: Iterator[Any], known: Collection[str] = ()) -> Any:
    """Give columns without a cell the type that they have in the first table that has one.

    The first table holds no rows where its file declares types. Of the later ones, only as many
    are asked for as are needed. What cannot be learned from, such as lists, decides nothing; the
    types of the known columns do not matter.
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
    return held_by_type(kind).what in ("number", "boolean", "text", *DATES)


# --- Rows without a label, left out as the pieces of files are read, and counted ----------------


class Unlabelled:
    """The rows of files whose label is missing; several passes over them count each row once."""

    def __init__(self, target: str) -> None:
        self.target = target
        self._counts: dict[tuple[str, int], int] = {}  # by file, and where a piece ends in it

    def count(self, skipped: Collection[str] = ()) -> int:
        """Return how many there are in the pieces that have been read, but for files skipped."""
        return sum(n for (name, _), n in self._counts.items() if name not in skipped)

    def left_out(self, opened: OpenFile, piece: FilePiece) -> FilePiece:
        """Return a piece without its rows that have no label.

        Which rows have one is known once the labels have been read, as is usual.
        """
        name, (end_of_piece,) = opened.file.name, piece.after.values()
        masks: list[NDArray[np.bool_]] = []

        def read(names: Sequence[str]) -> Iterator[Any]:
            has_labels = self.target in names or self.target in opened.constants
            own, start = list[NDArray[np.bool_]](), 0
            known = None if has_labels else labelled()
            for batch in piece.read(names):
                if known is None:
                    own.append(self._labelled(opened, batch))
                end = start + batch.num_rows
                yield _filtered(batch, own[-1] if known is None else known[start:end])
                start = end
            if has_labels:
                masks[:] = own
                self._counts[name, end_of_piece] = sum(int((~mask).sum()) for mask in own)

        def labelled() -> NDArray[np.bool_]:
            if not masks:
                deque(read([self.target]), maxlen=0)
            return np.concatenate(masks)

        def row_of(row: int) -> int:
            before = [n for (of, at), n in self._counts.items() if of == name and at < end_of_piece]
            return sum(before) + int(np.flatnonzero(labelled())[row])

        return replace(piece, read=read, row_of=row_of)

    def _labelled(self, opened: OpenFile, batch: Any) -> NDArray[np.bool_]:
        if self.target not in opened.constants:
            return is_labelled(batch.column(self.target))
        value = opened.constants[self.target]
        return np.full(batch.num_rows, value is not None and value == value)


def is_labelled(column: Any) -> NDArray[np.bool_]:
    """Return which cells hold a label."""
    missing = pc.is_null(decoded(without_views(column)), nan_is_null=True)
    return ~missing.to_numpy(zero_copy_only=False)


def _filtered(batch: Any, kept: NDArray[np.bool_]) -> Any:
    if kept.all():
        return batch
    if not isinstance(batch, Batch):
        return batch.filter(pa.array(kept))
    columns = {
        name: column[kept] if isinstance(column, np.ndarray) else column.filter(pa.array(kept))
        for name, column in batch.columns.items()
    }
    return Batch(columns, int(kept.sum()))
