"""JSON lines, plain or compressed: one object a line, whose keys are columns.

A piece is the whole lines of the next `BLOCK` bytes, or fewer where there are many columns: short
lines that hold few of them could make a huge table. The first lines say what columns hold, as the
schema of a Parquet file does; a key that a line lacks is a missing cell. pyarrow reads the pieces;
what it refuses is read again line by line, which finds the line that is wrong, or finds none.

>>> rows = [(1, {"age": 30, "town": "Ulm"}), (2, {"age": 30.5, "day": "2024-02-29"})]
>>> [str(kind) for kind in _types(rows).values()]
['double', 'string', 'string']
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from naively.data.plan import repeated
from naively.engines.files.cells import numbers, pa, plain
from naively.engines.files.sources import (
    CELLS,
    BadFileError,
    File,
    FilePiece,
    Position,
    Reader,
)
from naively.engines.files.text import NOT_UTF_8, Blocks, Line
from naively.errors import NaivelyError, later

pajson = later("pyarrow.json", "reading JSON lines", extra="files")

BLOCK = 1 << 21  # bytes of a piece
SAMPLE = 1 << 20  # bytes that say what columns hold
_MAX_LINE_BYTES = 1 << 28  # bytes of a line
_MARK = b"\xef\xbb\xbf"  # which some write before UTF-8
_MAX_PLAIN_COLUMNS = 100  # columns that are read without looking which of them occur
_MAX_EXACT_INTEGER = 2**53  # integers from here on are not all float64
_NUMBERS = ("double", "int64", "uint64")  # as Arrow calls types
_WANTED = dict.fromkeys(_NUMBERS, "numbers") | {"bool": "true or false"}
_TAKEN: dict[str, tuple[type, ...]] = dict.fromkeys(_NUMBERS, (int, float)) | {"bool": (bool,)}
_Objects = Iterator[tuple[int, dict[str, Any]]]  # each with its place among the lines
_NotJson = json.JSONDecodeError
_OBJECTS = 'Write one object a line, such as {"age": 30, "town": "Ulm"}'


class JsonLinesReader(Reader):
    """A file of JSON lines that is open."""

    def __init__(self, file: File, encoding: str | None = None) -> None:
        self.file, self._blocks = file, Blocks(file, encoding)
        self._begin = len(_MARK) if self._blocks.at(0, len(_MARK)) == _MARK else 0
        self._sample = self._whole_lines(self._begin, SAMPLE)
        start = self._sample[:64].lstrip()
        if b"\0" in start:
            raise BadFileError(file.name, f"it is not JSON lines in UTF-8. {NOT_UTF_8}")
        if start.startswith(b"["):
            raise BadFileError(file.name, f"it is one JSON array. {_OBJECTS}")
        kinds = _types(self._objects(self._sample, lambda: 1))
        if not kinds:
            raise BadFileError(file.name, f"it holds no objects. {_OBJECTS}")
        super().__init__(file, pa.schema(list(kinds.items())))
        self._first_texts: dict[tuple[str, ...], list[Any]] = {}  # by the columns read beside them

    def goes_on(self) -> bool:
        """Whether there are lines beyond those that were looked at."""
        size = len(self._sample)
        return len(self._blocks.at(self._begin, size + 1)) > size

    def first_batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield the first rows, with some columns; where the first is text, rows with a cell."""
        name, *others = names
        if self.types.get(name) != pa.string():
            types = {name: pa.string()} | {other: self.types[other] for other in others}
            yield from self._read(self._sample, lambda: 1, types, names)
            return
        key = tuple(others)
        if key not in self._first_texts:
            self._first_texts[key] = [*self._all_texts(others)]
        for batch in self._first_texts[key]:
            yield batch.select(names).filter(batch.column(name).is_valid())

    def _all_texts(self, others: Sequence[str]) -> Iterator[Any]:
        """Yield the first rows, with all columns of text: lines may have thousands of keys."""
        types = {n: kind for n, kind in self.types.items() if kind == pa.string() or n in others}
        return self._read(self._sample, lambda: 1, types, [*types])

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield blocks of lines from a byte on."""
        at, n_lines = start.get("byte", self._begin), CELLS // len(self.types) + 1
        while data := _first_lines(self._whole_lines(at, BLOCK), n_lines):
            read = partial(self._read, data, self._blocks.line_at(at), types)
            copy = partial(self._read, data, self._blocks.line_at(at), {})
            where, at = f"the lines after byte {at}", at + len(data)
            of_file = self._blocks.read_of_the_file(at)
            yield FilePiece(read, {"byte": at}, where, of_file, as_written=copy)

    # --- inside -------------------------------------------------------------------------------

    def _whole_lines(self, at: int, size: int) -> bytes:
        """Return whole lines from a place on: about as many bytes, more where one is longer."""
        while True:
            data = self._blocks.at(at, size)
            if len(data) < size:
                return data
            if end := data.rfind(b"\n") + 1:
                return data[:end]
            if size >= max(BLOCK, _MAX_LINE_BYTES):
                reason = (
                    f"line {self._blocks.line(at)} does not end within {_MAX_LINE_BYTES >> 20} MB"
                )
                raise BadFileError(self.file.name, reason)
            size *= 2

    def _read(
        self, data: bytes, line: Line, types: Mapping[str, Any], names: Sequence[str]
    ) -> Iterator[Any]:
        types = {name: types.get(name, pa.null()) for name in names}  # one alone counts rows
        kinds = {name: self._kind(name, plain(types[name])) for name in names}
        table = _parse(data, kinds)
        if table is None:
            table = self._parse_slowly(data, line, kinds)
        for name, column in zip(names, table.columns, strict=True):
            if types[name] != pa.float64() and column.type == pa.float64():
                self._check_exact(name, column, self._objects(data, line))
        yield from table.to_batches()

    def _kind(self, name: str, wanted: Any) -> Any:
        """Return as what a column is read: what the first lines show, if they show anything."""
        own = self.types.get(name, pa.null())
        if pa.types.is_null(own):
            return wanted
        if pa.types.is_nested(own):
            raise NaivelyError(
                f"column {name!r} in {self.file.name!r} must hold text, numbers, or true and "
                f"false; got {own}. Leave it out."
            )
        return wanted if pa.types.is_integer(own) and wanted == pa.float64() else own

    def _check_exact(self, name: str, column: Any, rows: _Objects) -> None:
        """Raise where different integers may have become one float."""
        if not any((np.abs(numbers(chunk)) >= _MAX_EXACT_INTEGER).any() for chunk in column.chunks):
            return
        cells = (row.get(name) for _, row in rows)
        if any(type(cell) is int and abs(cell) > _MAX_EXACT_INTEGER for cell in cells):
            raise BadFileError(
                self.file.name,
                f"column {name!r} holds labels or categories beyond 64-bit integers, or fractions "
                "beside integers beyond 2^53. Write them as text",
            )

    def _parse_slowly(self, data: bytes, line: Line, kinds: Mapping[str, Any]) -> Any:
        """Read what pyarrow refuses, such as half a surrogate pair, or raise what is wrong."""
        cells: dict[str, list[Any]] = {name: [] for name in kinds}
        for i, row in self._objects(data, line):
            for name, kind in kinds.items():
                cell = row.get(name)
                if cell is not None and type(cell) not in _TAKEN.get(str(kind), (str,)):
                    self._raise_cell(line() + i, name, cell, kind)
                cells[name].append(_sound(cell) if isinstance(cell, str) else cell)
        return pa.table({name: self._column(name, cells[name], kinds[name]) for name in kinds})

    def _column(self, name: str, cells: list[Any], kind: Any) -> Any:
        if pa.types.is_integer(kind):
            kind = _type_of_integers([cell for cell in cells if cell is not None])
        if kind != pa.float64():
            return pa.chunked_array([pa.array(cells, kind)])
        try:
            floats = [None if cell is None else float(cell) for cell in cells]
        except OverflowError:
            reason = f"column {name!r} holds an integer beyond every float64"
            raise BadFileError(self.file.name, reason) from None
        return pa.chunked_array([pa.array(floats, kind)])

    def _raise_cell(self, number: int, name: str, cell: Any, kind: Any) -> None:
        shown = json.dumps(cell)
        shown = shown if len(shown) <= 40 else f"{shown[:39]}…"
        raise BadFileError(
            self.file.name,
            f"in line {number}, column {name!r} must hold {_WANTED.get(str(kind), 'text')}, as the "
            f"first lines do; got {shown}. Write null for a missing cell, or exclude the column",
        )

    def _objects(self, data: bytes, line: Line) -> _Objects:
        """Yield the objects of lines, or raise `BadFileError`."""
        lines = data.split(b"\n")
        for i, text in enumerate(lines):
            if not text.strip():
                continue
            try:
                found = json.loads(text.decode(), object_pairs_hook=_object)
            except UnicodeDecodeError:
                self._raise_line(line() + i, f"is not in UTF-8. {NOT_UTF_8}")
            except RecursionError:
                self._raise_line(line() + i, "is nested too deeply")
            except ValueError as error:
                is_last = i == len(lines) - 1
                cut = ". It is the last line, and has no end: the file may have been cut"
                place = f" (column {error.colno})" if isinstance(error, _NotJson) else ""
                reason = f"{getattr(error, 'msg', error)}{place}{cut if is_last else ''}"
                self._raise_line(line() + i, f"is not JSON: {reason}")
            if not isinstance(found, dict):
                self._raise_line(line() + i, f"is no object. {_OBJECTS}")
            yield i, found

    def _raise_line(self, number: int, what: str) -> None:
        raise BadFileError(self.file.name, f"line {number} {what}")


def _first_lines(data: bytes, n_lines: int) -> bytes:
    """Return the first lines, of whole ones; all of them where they are no more than that."""
    if data.count(b"\n") <= n_lines:
        return data
    end = 0
    for _ in range(n_lines):
        end = data.index(b"\n", end) + 1
    return data[:end]


def _types(rows: Iterable[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """Return what the columns of objects hold, in the order in which they appear."""
    seen: dict[str, set[type]] = {}
    for _, row in rows:
        for name, cell in row.items():
            is_beyond = type(cell) is int and cell >= 2**63
            seen.setdefault(name, set()).add(np.uint64 if is_beyond else type(cell))
    return {name: _type(kinds - {type(None)}) for name, kinds in seen.items()}


def _type(kinds: set[type]) -> Any:
    """Return the type of cells; that of a mixture cannot be learned from."""
    if kinds == {int, np.uint64}:
        return pa.uint64()
    if float in kinds and kinds <= {int, np.uint64, float}:
        return pa.float64()
    known = {
        bool: ("boolean", pa.bool_()),
        int: ("integer", pa.int64()),
        np.uint64: ("large integer", pa.uint64()),
        float: ("number", pa.float64()),
        str: ("text", pa.string()),
        dict: ("object", pa.struct([])),
        list: ("array", pa.list_(pa.null())),
    }
    held = [known[kind] for kind in known if kind in kinds]
    if len(held) < 2:
        return held[0][1] if held else pa.null()
    return pa.struct([(name, kind) for name, kind in held])


def _parse(data: bytes, kinds: Mapping[str, Any]) -> Any:
    """Read lines by pyarrow; None where it refuses them, or they are not one object a line."""
    read = pajson.ReadOptions(use_threads=False, block_size=len(data) + 1)
    schema = pa.schema(list(_present(data, kinds).items()))  # no type is guessed: a date is text
    parse = pajson.ParseOptions(schema, unexpected_field_behavior="ignore")
    try:
        table = pajson.read_json(pa.BufferReader(data), read, parse)
        table.validate(full=True)
    except pa.ArrowInvalid:
        return None
    n_rows = data.count(b"\n{") + data.startswith(b"{")
    if n_rows != table.num_rows:
        n_rows = len(re.findall(rb"^[ \t\r]*\{", data, re.MULTILINE))
    if n_rows != table.num_rows:
        return None
    own = dict(zip(table.column_names, table.columns, strict=True))
    own |= {name: pa.nulls(n_rows, kinds[name]) for name in kinds if name not in own}
    return pa.table({name: own[name] for name in kinds})


def _present(data: bytes, kinds: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the keys that may be in lines: pyarrow takes time for those that are in none."""
    if len(kinds) <= _MAX_PLAIN_COLUMNS or b"\\" in data:
        return kinds
    keys = set(re.findall(rb'"(?=([^"]*)"[ \t\r]*:)', data))
    return {name: kind for name, kind in kinds.items() if name.encode() in keys}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = repeated(key for key, _ in pairs)
        raise ValueError(f"the key {twice!r} is there twice")
    return {_sound(key): value for key, value in found.items()}


def _sound(text: str) -> str:
    """Return text in which half a surrogate pair is the replacement character."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _type_of_integers(cells: Sequence[float]) -> Any:
    """Return what holds integers exactly, or float64 where there are fractions or nothing does."""
    if all(isinstance(cell, int) for cell in cells):
        low, high = min(cells, default=0), max(cells, default=0)
        if low >= -(2**63) and high < 2**63:
            return pa.int64()
        if low >= 0 and high < 2**64:
            return pa.uint64()
    return pa.float64()
