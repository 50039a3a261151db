r"""The bytes of a CSV file, and where its records end.

A newline within quotes ends no record:

>>> record_end(b'1,"a\nb"\n2,"c\n', b",")
8
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from naively._optional import need
from naively.engines.files.sources import File

__all__ = ["Blocks", "first_record_end", "record_end"]

pa = need("pyarrow", "reading files", extra="files")


class Blocks:
    """The bytes of a file, decompressed; they are asked for from front to back."""

    def __init__(self, file: File) -> None:
        content = file.content
        self._raw = pa.OSFile(file.name) if content is None else pa.PythonFile(content, mode="r")
        self._is_plain = file.codec is None and content is None
        self._stream = pa.CompressedInputStream(self._raw, file.codec) if file.codec else self._raw
        self._held, self._start = b"", 0  # read ahead, and the place it begins at

    def at(self, place: int, size: int) -> bytes:
        """Return that many bytes from a place on; fewer only at the end of the file."""
        if self._is_plain:
            return self._stream.read_at(size, place)
        self._skip_to(place)
        parts, missing = [self._held], size - len(self._held)
        while missing > 0 and (part := self._stream.read(missing)):
            parts.append(part)
            missing -= len(part)
        self._held = b"".join(parts)
        return self._held[:size]

    def read_of_the_file(self, place: int) -> int:
        """Return how much of the file itself lies before a place, about."""
        return place if self._raw is self._stream else self._raw.tell()

    def _skip_to(self, place: int) -> None:
        skipped = min(place - self._start, len(self._held))
        self._held, self._start = self._held[skipped:], self._start + skipped
        while self._start < place:
            part = self._stream.read(min(place - self._start, 1 << 20))
            if not part:
                return
            self._start += len(part)


def record_end(data: bytes, separator: bytes) -> int:
    """Return where the last whole record ends, 0 where none does; data begins with a record."""
    if b'"' not in data:
        return data.rfind(_newline(data)) + 1
    ends = _ends(data, separator)
    return int(ends[-1]) + 1 if ends.size else 0


def first_record_end(data: bytes, separator: bytes) -> int:
    """Return where the first record ends, 0 where it does not; data begins with it."""
    ends = _ends(data, separator)
    return int(ends[0]) + 1 if ends.size else 0


def _newline(data: bytes) -> bytes:
    return b"\n" if b"\n" in data else b"\r"


def _ends(data: bytes, separator: bytes) -> NDArray[np.intp]:
    """Return the places of all newlines outside quotes."""
    letters = np.frombuffer(data, np.uint8)
    newlines = np.flatnonzero(letters == ord(_newline(data)))
    quotes = np.flatnonzero(letters == ord('"'))
    if _are_regular(quotes, letters, separator):  # then every second one closes
        return newlines[np.searchsorted(quotes, newlines) % 2 == 0]
    cell = rb'(?<![^%b\r\n])"[^"]*+(?:""[^"]*+)*+(?:"|\Z)' % re.escape(separator)
    spans = np.array([found.span() for found in re.finditer(cell, data)]).reshape(-1, 2)
    opened = np.searchsorted(spans[:, 0], newlines)
    return newlines[opened == np.searchsorted(spans[:, 1], newlines, side="right")]


def _are_regular(quotes: NDArray[np.intp], letters: NDArray[np.uint8], separator: bytes) -> bool:
    """Whether each quote opens a cell, closes one, or is one of two within a cell."""
    if not quotes.size:
        return True
    beside = np.array([*separator, *b'\r\n"'], np.uint8)
    before = letters[np.maximum(quotes[::2] - 1, 0)]
    behind = letters[np.minimum(quotes[1::2] + 1, letters.size - 1)]
    return bool(np.isin(before, beside).all() and np.isin(behind, beside).all())
