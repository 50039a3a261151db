"""JSON lines, plain or compressed: one object a line, whose keys are columns.

A piece is the whole lines of the next `BLOCK` bytes. The first lines say what columns hold, as the
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

from naively._optional import need
from naively.engines.files.blocks import Blocks, Line
from naively.engines.files.cells import numbers, plain
from naively.engines.files.pieces import FilePiece, Position, TypedReader
from naively.engines.files.sources import BadFileError, File
from naively.engines.files.text_streams import NOT_UTF_8
from naively.exceptions import NaivelyError

__all__ = ["BLOCK", "SAMPLE", "JsonLinesReader"]

pa = need("pyarrow", "reading files", extra="files")
pajson = need("pyarrow.json", "reading JSON lines", extra="files")

BLOCK = 1 << 21  # bytes of a piece
SAMPLE = 1 << 20  # bytes that say what columns hold
_LONGEST = 1 << 28  # bytes of a line
_MARK = b"\xef\xbb\xbf"  # which some write before UTF-8
_EXACT = 2**53  # integers from here on are not all float64
_HELD = {
    bool: ("boolean", pa.bool_()),
    int: ("integer", pa.int64()),
    float: ("number", pa.float64()),
    str: ("text", pa.string()),
    dict: ("object", pa.struct([])),
    list: ("array", pa.list_(pa.null())),
}
_WANTED = {pa.float64(): "numbers", pa.int64(): "numbers", pa.bool_(): "true or false"}
_TAKEN = {pa.float64(): (int, float), pa.int64(): (int, float), pa.bool_(): (bool,)}
_NotJson = json.JSONDecodeError
_OBJECTS = 'Write one object a line, such as {"age": 30, "town": "Ulm"}'


class JsonLinesReader(TypedReader):
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

    def goes_on(self) -> bool:
        """Whether there are lines beyond those that were looked at."""
        size = len(self._sample)
        return len(self._blocks.at(self._begin, size + 1)) > size

    def first_batches(self, name: str) -> Iterator[Any]:
        """Yield the first rows, with one column."""
        yield from self._read(self._sample, lambda: 1, {name: pa.string()}, [name])

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield blocks of lines from a byte on."""
        at = start.get("byte", self._begin)
        while data := self._whole_lines(at, BLOCK):
            read = partial(self._read, data, self._blocks.line_at(at), types)
            where = f"the lines after byte {at}"
            at += len(data)
            yield FilePiece(read, {"byte": at}, where, self._blocks.read_of_the_file(at))

    # --- inside -------------------------------------------------------------------------------

    def _whole_lines(self, at: int, size: int) -> bytes:
        """Return whole lines from a place on: about as many bytes, more where one is longer."""
        while True:
            data = self._blocks.at(at, size)
            if len(data) < size:
                return data
            if end := data.rfind(b"\n") + 1:
                return data[:end]
            if size >= max(BLOCK, _LONGEST):
                reason = f"line {self._blocks.line(at)} does not end within {_LONGEST >> 20} MB"
                raise BadFileError(self.file.name, reason)
            size *= 2

    def _read(
        self, data: bytes, line: Line, types: Mapping[str, Any], names: Sequence[str]
    ) -> Iterator[Any]:
        kinds = {name: self._kind(name, types[name]) for name in names}
        table = _parse(data, kinds)
        if table is None:
            table = self._parse_slowly(data, line, kinds)
        for name, column in zip(names, table.columns, strict=True):
            if types[name] != pa.float64() and column.type == pa.float64():
                self._check_exact(name, column)
        yield from table.to_batches()

    def _kind(self, name: str, wanted: Any) -> Any:
        """Return as what a column is read: what the first lines show, if they show anything."""
        own = self.types.get(name, pa.null())
        if pa.types.is_null(own):
            return plain(wanted)
        if pa.types.is_nested(own):
            raise NaivelyError(
                f"column {name!r} in {self.file.name!r} must hold text, numbers, or true and "
                f"false; got {own}. Leave it out."
            )
        return wanted if pa.types.is_integer(own) and wanted == pa.float64() else own

    def _check_exact(self, name: str, column: Any) -> None:
        """Raise where different integers may have become one float."""
        if any((np.abs(numbers(chunk)) >= _EXACT).any() for chunk in column.chunks):
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
                if cell is not None and type(cell) not in _TAKEN.get(kind, (str,)):
                    self._raise_cell(line() + i, name, cell, kind)
                cells[name].append(_sound(cell) if isinstance(cell, str) else cell)
        return pa.table({name: self._column(name, cells[name], kinds[name]) for name in kinds})

    def _column(self, name: str, cells: list[Any], kind: Any) -> Any:
        if kind == pa.int64():
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
            f"in line {number}, column {name!r} must hold {_WANTED.get(kind, 'text')}, as the "
            f"first lines do; got {shown}. Write null for a missing cell, or exclude the column",
        )

    def _objects(self, data: bytes, line: Line) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects of lines, each with its place among them, or raise `BadFileError`."""
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


def _types(rows: Iterable[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """Return what the columns of objects hold, in the order in which they appear."""
    seen: dict[str, set[type]] = {}
    for _, row in rows:
        for name, cell in row.items():
            seen.setdefault(name, set()).add(type(cell))
    return {name: _type(kinds - {type(None)}) for name, kinds in seen.items()}


def _type(kinds: set[type]) -> Any:
    """Return the type of cells; that of a mixture cannot be learned from."""
    if kinds == {int, float}:
        return pa.float64()
    held = [_HELD[kind] for kind in _HELD if kind in kinds]
    if len(held) < 2:
        return held[0][1] if held else pa.null()
    return pa.struct([(name, kind) for name, kind in held])


def _parse(data: bytes, kinds: Mapping[str, Any]) -> Any:
    """Read lines by pyarrow; None where it refuses them, or they are not one object a line."""
    read = pajson.ReadOptions(use_threads=False, block_size=len(data) + 1)
    schema = pa.schema(list(kinds.items()))  # no type is guessed: a date is text
    parse = pajson.ParseOptions(schema, unexpected_field_behavior="ignore")
    try:
        table = pajson.read_json(pa.BufferReader(data), read, parse)
        table.validate(full=True)
    except pa.ArrowInvalid:
        return None
    is_usual = data.count(b"\n{") + data.startswith(b"{") == table.num_rows
    if is_usual or len(re.findall(rb"^[ \t\r]*\{", data, re.MULTILINE)) == table.num_rows:
        return table
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
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
