"""CSV files, plain or compressed, cut into pieces at the ends of records.

A piece begins where the one before it ended, and ends with the last whole record in the next
`BLOCK` bytes; so a position is a number of bytes.

Plain CSV, read by the kernel at twice pyarrow's speed.

Plain is what nearly all large files are: no quotes, numbers as programs write them. What is not
plain is left to pyarrow, which knows all of CSV.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.labels import number_array
from naively.engines.files.cells import Batch, arrow_numbers, arrow_strings, number_of, pa, pc
from naively.engines.files.sources import (
    BadFileError,
    File,
    FilePiece,
    Position,
    Reader,
    check_names,
)
from naively.engines.files.text import (
    NOT_UTF_8,
    Blocks,
    Line,
    RecordEnds,
    check_encoding,
    last_record_end,
    record_ends,
)
from naively.engines.memory.frames.arrow import held_by_type
from naively.errors import NaivelyError, later

pacsv = later("pyarrow.csv", "reading CSV", extra="files")

BLOCK = 1 << 21  # bytes of a piece
SAMPLE = 1 << 23  # bytes that types are guessed from
_HEADER_BYTES = 1 << 16  # bytes in which the first record is looked for
_MAX_RECORD_BYTES = 1 << 28  # bytes of a record
_MARK = b"\xef\xbb\xbf"  # which some write before UTF-8


@dataclass(frozen=True)
class CsvDialect:
    """How CSV is written, and files of text in general."""

    # the character between cells; None: a tab in files that end in .tsv, and else a comma
    separator: str | None = None
    decimal: str = "."  # the character before a fraction
    # texts that mean a missing cell, beside the empty one, NA, NaN, null and their like
    missing: tuple[str, ...] = ()
    # as Python calls it; None: UTF-8, or what a byte-order mark says. JSON lines have one, too.
    encoding: str | None = None

    def __post_init__(self) -> None:
        check_encoding(self.encoding)
        for name, character in (("separator", self.separator or ","), ("decimal", self.decimal)):
            if len(character) != 1 or not character.isascii() or character in '"\r\n\0':
                raise NaivelyError(
                    f"{name} must be one ASCII character, and no quote or newline; "
                    f"got {character!r}."
                )

    def check_files(self, files: Sequence[File]) -> None:
        """Raise where something is said about text, and no file is of text."""
        formats, usual = {file.format for file in files}, CsvDialect()
        for name in ("separator", "decimal", "missing", "encoding"):
            value, text = getattr(self, name), {"csv", *(["json"] * (name == "encoding"))}
            if value != getattr(usual, name) and formats.isdisjoint(text):
                what = "CSV and JSON lines" if "json" in text else "CSV"
                raise NaivelyError(
                    f"{name} is for {what} alone; got {name}={value!r} for {files[0].name!r}. "
                    "Leave it out."
                )

    def separator_of(self, file: File) -> str:
        """Return the character between the cells of a file."""
        is_tsv = re.search(r"\.tsv(\.\w+)?$", file.path.name)
        return self.separator or ("\t" if is_tsv else ",")


class CsvReader(Reader):
    """A CSV file that is open."""

    def __init__(self, file: File, dialect: CsvDialect) -> None:
        self.file, self.dialect = file, dialect
        self._blocks = Blocks(file, dialect.encoding)
        self._separator = dialect.separator_of(file)
        self._names, self._first = self._header()

    @property
    def types(self) -> Mapping[str, Any]:
        """The columns; what they hold is not known."""
        return dict.fromkeys(self._names)

    def sample(self) -> Any:
        """Return the first rows, with the types that pyarrow guesses, but for some that mislead."""
        rows, start = self._records(self._first, SAMPLE), self._place(self._first)
        table = self._parse(rows, self._numbered(), {}, start)
        data = bytes(rows)
        # One letter is sought many times as fast as two of which the first is a digit.
        may_be_hex = any(x in data and b"0" + x in data for x in (b"x", b"X"))
        doubtful = [f.name for f in table.schema if _misleads(table.column(f.name), may_be_hex)]
        again = dict.fromkeys(doubtful, pa.string())
        texts = self._parse(rows, list(again), again, start) if again else table.select([])
        for name in texts.column_names:
            at, column = table.column_names.index(name), texts.column(name)
            table = table.set_column(at, name, _guessed(column, table.column(name)))
        return _without_bytes(table).rename_columns(self._names)

    def goes_on(self) -> bool:
        """Whether there are rows beyond those of the sample."""
        size = len(self._records(self._first, SAMPLE))
        return len(self._blocks.at(self._first, size + 1)) > size

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield blocks of records from a byte on."""
        at = start.get("byte", self._first)
        while data := self._records(at, BLOCK):
            place = self._place(at)
            at += len(data)
            read, copy = partial(self._read, data, types, place), partial(self._texts, data, place)
            of_file = self._blocks.read_of_the_file(at)
            yield FilePiece(read, {"byte": at}, place.where, of_file, as_written=copy)

    # --- inside -------------------------------------------------------------------------------

    def _place(self, at: int) -> _Place:
        return _Place(f"the rows after byte {at}", self._blocks.line_at(at))

    def _records(self, at: int, size: int) -> memoryview:
        """Return whole records from a place on: about as many bytes, more where one is longer."""
        data, ends = self._ended(last_record_end, at, size)
        return memoryview(data)[: ends.last or None]

    def _ended(
        self, ends_of: Callable[[bytes, str], RecordEnds], at: int, size: int
    ) -> tuple[bytes, RecordEnds]:
        """Return bytes in which a record ends, with their newline or with the file."""
        while True:
            data = self._blocks.at(at, size)
            ends = ends_of(data, self._separator)
            is_whole = len(data) < size
            if is_whole and ends.is_open:
                self._raise_open(data, at + ends.last, ends.last)
            if is_whole or ends.last:
                return data, ends
            if size >= (most := max(BLOCK, _MAX_RECORD_BYTES)):
                why = f"{most >> 20} MB. Perhaps a quote in it is never closed"
                self._raise_record(at, f"does not end within {why}")
            size *= 2

    def _raise_open(self, data: bytes, at: int, start: int) -> None:
        blank = len(data) - start - len(data[start:].lstrip(b"\r\n"))
        self._raise_record(
            at + blank,
            "has a quote that is never closed. Close it, or double it if it belongs to the text",
        )

    def _raise_record(self, at: int, what: str) -> None:
        line = self._blocks.line(at)
        raise BadFileError(self.file.name, f"the record that begins in line {line} {what}")

    def _header(self) -> tuple[list[str], int]:
        """Return the names of the columns, and where the rows begin."""
        begin = len(_MARK) if self._blocks.at(0, len(_MARK)) == _MARK else 0
        while self._blocks.at(begin, 1) in (b"\r", b"\n"):
            begin += 1
        data, ends = self._ended(record_ends, begin, min(BLOCK, _HEADER_BYTES))
        line = data[: ends.first or None]
        if not line.strip():
            raise BadFileError(self.file.name, "it is empty; it must begin with column names")
        self._check_encoding(line)
        names = [name.strip() for name in self._names_in(line)]
        check_names([name for name in names if name], self.file)
        self._check_separator(names)
        return names, begin + len(line)

    def _check_separator(self, names: Sequence[str]) -> None:
        """Raise where all columns seem to be in one, since another character separates them."""
        header = names[0] if len(names) == 1 else ""
        likely = max(";,\t|", key=header.count)
        if likely in header:
            shown = header if len(header) <= 40 else f"{header[:39]}…"
            raise NaivelyError(
                f"{self.file.name!r} has no {self._separator!r} in its first line, {shown!r}; it "
                f"looks separated by {likely!r}. Set the separator: separator={likely!r}, or "
                f"--separator {likely!r} on the command line."
            )

    def _names_in(self, line: bytes) -> list[str]:
        """Read the first record as all others are read."""
        options = pacsv.ReadOptions(use_threads=False, block_size=len(line) + 1)
        parse = pacsv.ParseOptions(delimiter=self._separator)
        return pacsv.read_csv(pa.BufferReader(line), options, parse).column_names

    def _check_encoding(self, line: bytes) -> None:
        reason: str | None = f"it is not CSV in UTF-8: it holds binary data. {NOT_UTF_8}"
        if b"\0" not in line:
            reason = _not_utf_8(line, lambda: 1)
        if reason is not None:
            raise BadFileError(self.file.name, reason)

    def _numbered(self) -> list[str]:
        """Return the names that the parser is given: a column without one needs one, too."""
        return [name or f"\0{j}" for j, name in enumerate(self._names)]

    def _read(
        self, rows: memoryview, types: Mapping[str, Any], start: _Place, names: Sequence[str]
    ) -> Iterator[Any]:
        """Read plain CSV by the kernel, and the rest by pyarrow."""
        cells = self._cells(tuple(names), tuple(types.items()))
        found = None if cells is None else parse(rows, cells)
        yield from [found] if found else self._parse(rows, names, types, start).to_batches()

    def _texts(self, rows: memoryview, start: _Place, names: Sequence[str]) -> Iterator[Any]:
        """Read columns as text, of which only the empty one is missing."""
        types = dict.fromkeys(names, pa.string())
        yield from self._parse(rows, names, types, start, missing=[""]).to_batches()

    @lru_cache(maxsize=1)  # noqa: B019 - it lives as long as the reader, of which it is part
    def _cells(self, names: tuple[str, ...], types: tuple[tuple[str, Any], ...]) -> Cells | None:
        if self.dialect.decimal != ".":
            return None
        wanted = {name: kind for name, kind in types if name in names}
        missing = (*pacsv.ConvertOptions().null_values, *self.dialect.missing)
        return Cells.of(self._names, wanted, self._separator, missing)

    def _parse(
        self,
        rows: memoryview,
        names: Sequence[str],
        types: Mapping[str, Any],
        start: _Place,
        missing: list[str] | None = None,
    ) -> Any:
        if not bytes(rows[:64]).strip() and not bytes(rows).strip():
            return pa.table({name: pa.nulls(0) for name in names})
        read = pacsv.ReadOptions(
            use_threads=False, block_size=len(rows) + 1, column_names=self._numbered()
        )
        wanted = {name: types[name] for name in names if name in types}
        numbers = {name for name, kind in wanted.items() if _is_number_category(kind)}
        convert = pacsv.ConvertOptions(
            include_columns=names,
            column_types=wanted | dict.fromkeys(numbers, pa.dictionary(pa.int32(), pa.string())),
            strings_can_be_null=True,
            decimal_point=self.dialect.decimal,
        )
        convert.null_values = missing or [*convert.null_values, *self.dialect.missing]
        parse = pacsv.ParseOptions(delimiter=self._separator)
        try:
            table = pacsv.read_csv(pa.BufferReader(pa.py_buffer(rows)), read, parse, convert)
        except pa.ArrowInvalid as error:
            reason = _not_utf_8(bytes(rows), start.line) if "invalid UTF8" in str(error) else None
            reason = reason or self._explained(str(error), start.where)
            raise BadFileError(self.file.name, reason) from None
        for name in numbers:
            found = self._numbers_in(table.column(name), name)
            if found is None:  # pyarrow says where the cell is that is no number, or reads it
                return self._parse(rows, names, {**types, name: pa.float64()}, start)
            table = table.set_column(table.column_names.index(name), name, found)
        return table

    def _numbers_in(self, column: Any, name: str) -> Any:
        """Return categories of text as the numbers they write, exactly; None where one is none."""
        chunks = []
        for chunk in column.chunks:
            texts = chunk.dictionary.to_pylist()
            found = [number_of(text, self.dialect.decimal) for text in texts]
            if None in found:
                return None
            try:
                values = arrow_numbers(number_array(found))
            except NaivelyError as error:
                raise BadFileError(self.file.name, f"column {name!r}: {error}") from None
            chunks.append(pa.DictionaryArray.from_arrays(chunk.indices, values))
        return pa.chunked_array(chunks, chunks[0].type if chunks else column.type)

    def _explained(self, message: str, where: str) -> str:
        """Call a column in a message of pyarrow's by its name."""
        found = re.match(r"In CSV column #(\d+): (?:Row #(\d+): )?(.*)", message, re.DOTALL)
        if found is None:
            return f"in {where}, {message.removeprefix('CSV parse error: ')}"
        name = self._names[int(found[1])]
        place = f"in row {found[2]} of {where}, column {name!r}"
        value = re.search(r"to (\S+): invalid value '(.*)'", found[3], re.DOTALL)
        if value is None:
            return f"{place}: {found[3]}"
        wanted = "true or false" if value[1] == "bool" else "numbers"
        return (
            f"{place} must hold {wanted}; got {value[2]!r}. "
            "If that means a missing cell, name it with the texts that do. A column to learn from "
            "can be excluded, or read as text, which the first rows did not show: "
            f"NaiveBayes with families={{{name!r}: 'categorical'}}"
        )


class _Place(NamedTuple):
    """Where rows begin: in words, and the number of their line."""

    where: str
    line: Line


def _not_utf_8(rows: bytes, first_line: Line) -> str | None:
    """Return which byte is not UTF-8, if one is not."""
    try:
        rows.decode()
    except UnicodeDecodeError as error:
        line = first_line() + rows.count(b"\n", 0, error.start)
        return f"byte 0x{rows[error.start]:02x} in line {line} is not in UTF-8. {NOT_UTF_8}"
    return None


def _without_bytes(table: Any) -> Any:
    """Return first rows in which text that is not UTF-8 is text, for whoever does not read it."""
    for j, field in enumerate(table.schema):
        if pa.types.is_binary(field.type):
            cells = table.column(j).to_pylist()
            texts = [None if cell is None else cell.decode(errors="replace") for cell in cells]
            table = table.set_column(j, field.name, pa.array(texts, pa.string()))
    return table


def _is_number_category(kind: Any) -> bool:
    return pa.types.is_dictionary(kind) and held_by_type(kind).what == "number"


def _misleads(guessed: Any, may_be_hex: bool) -> bool:
    """Whether pyarrow may have taken text for dates or numbers, or integers for floats."""
    if pa.types.is_integer(guessed.type):
        return may_be_hex
    if not pa.types.is_floating(guessed.type):
        return pa.types.is_temporal(guessed.type)
    return (pc.max(pc.abs(guessed)).as_py() or 0) >= 2**63


def _guessed(texts: Any, guessed: Any) -> Any:
    """Return cells as text where they are dates or hexadecimal, and large integers as such."""
    if pa.types.is_temporal(guessed.type):
        return texts
    if pa.types.is_integer(guessed.type):
        return (
            texts if pc.any(pc.match_substring(texts, "x", ignore_case=True)).as_py() else guessed
        )
    try:
        return pc.utf8_trim_whitespace(texts).cast(pa.uint64())
    except pa.ArrowInvalid:
        return guessed


# --- Plain CSV, read by the kernel at twice pyarrow's speed -------------------------------------


_SKIPPED, _NUMBER, _LABEL = range(3)  # as the kernel counts


class Cells(NamedTuple):
    """What the cells of a record are."""

    separator: str  # the character between them
    kinds: NDArray[np.uint8]  # for each, whether it is skipped, a number or a label
    numbers: list[str]  # the columns of numbers that are wanted
    labels: list[str]  # the same of labels; there is at most one
    missing: list[bytes]  # the texts that mean a missing cell

    @classmethod
    def of(
        cls, names: Sequence[str], types: Mapping[str, Any], separator: str, missing: Sequence[str]
    ) -> Cells | None:
        """Return what the kernel can read, or None where columns have types beyond it."""
        read_as = {pa.float64(): _NUMBER, pa.dictionary(pa.int32(), pa.string()): _LABEL}
        kinds = [read_as.get(types.get(name), _SKIPPED) for name in names]
        numbers, labels = (
            [name for name, kind in zip(names, kinds, strict=True) if kind == wanted]
            for wanted in (_NUMBER, _LABEL)
        )
        if len(labels) > 1 or len(numbers) + len(labels) < len(types):
            return None
        words = [text.encode() for text in missing]
        return cls(separator, np.array(kinds, np.uint8), numbers, labels, words)


def parse(rows: memoryview, cells: Cells) -> Batch | None:
    """Return whole records, NaN where a cell is missing; None where they are not plain."""
    text = np.frombuffer(rows, np.uint8)
    n_lines = _kernel.count_lines(text)
    values = np.empty((len(cells.numbers), n_lines))
    codes = np.empty(n_lines if cells.labels else 0, np.int32)
    found = _kernel.parse_csv(text, cells.separator, cells.kinds, cells.missing, values, codes)
    if found is None:
        return None
    n_rows, labels = found
    columns: dict[str, Any] = dict(zip(cells.numbers, values[:, :n_rows], strict=True))
    for name in cells.labels:
        try:
            texts = arrow_strings([label.decode() for label in labels])
        except UnicodeDecodeError:
            return None
        columns[name] = pa.DictionaryArray.from_arrays(arrow_numbers(codes[:n_rows]), texts)
    return Batch(columns, n_rows)
