r"""The bytes of a file of text, and where the records of CSV end.

A newline within quotes ends no record:

>>> record_ends(b'1,"a\nb"\n2,"c\n', ",")
RecordEnds(first=8, last=8, is_open=True)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from naively import _kernel
from naively.engines.files.sources import File
from naively.engines.files.text_streams import (
    START,
    Transcoded,
    codec_of,
    decompressed,
    encoding_of,
)

__all__ = ["Blocks", "Line", "RecordEnds", "last_record_end", "record_ends"]

_BYTES = 1 << 20  # read at once where a place is looked for
Line = Callable[[], int]  # what returns the number of a line


class Blocks:
    """The bytes of a file, decompressed and in UTF-8; they are asked for from front to back."""

    def __init__(self, file: File, encoding: str | None = None) -> None:
        self._raw = self._stream = file.open()
        is_stream = file.content is not None
        start = file.content.start if is_stream else self._raw.read(START)
        if not is_stream:
            self._raw.seek(0)
        if (codec := codec_of(start)) is not None:
            self._stream, is_stream = decompressed(self._raw, codec), True
        start = self._stream.read(START) if is_stream else start
        held = start if is_stream else b""
        if (encoding := encoding_of(encoding, start)) is not None:
            self._stream, held = Transcoded(file.name, self._stream, encoding, held), b""
        self._is_plain = not is_stream and encoding is None
        self._held, self._start = held, 0  # read ahead, and the place it begins at
        self._lines = _Lines()  # of what lies before that place

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

    def line(self, place: int) -> int:
        """Return the number of the line in which a place lies; the first is 1."""
        if self._is_plain:
            lines = _Lines()
            for start in range(0, place, _BYTES):
                lines.add(self._stream.read_at(min(_BYTES, place - start), start))
            return lines.count + 1
        self._skip_to(place)
        return self._lines.count + 1

    def line_at(self, place: int) -> Line:
        """Return what tells the number of a line later, when another thread may have read on."""
        if self._is_plain:
            return lambda: self.line(place)
        number = self.line(place)
        return lambda: number

    def _skip_to(self, place: int) -> None:
        skipped = min(place - self._start, len(self._held))
        self._lines.add(self._held[:skipped])
        self._held, self._start = self._held[skipped:], self._start + skipped
        while self._start < place:
            part = self._stream.read(min(place - self._start, _BYTES))
            if not part:
                return
            self._lines.add(part)
            self._start += len(part)


class _Lines:
    """How many lines have ended, with either newline or both."""

    def __init__(self) -> None:
        self.count, self._after_return = 0, False

    def add(self, data: bytes) -> None:
        """Count the newlines of the next bytes."""
        returns = data.count(b"\r")
        self.count += data.count(b"\n") + returns - (data.count(b"\r\n") if returns else 0)
        self.count -= self._after_return and data.startswith(b"\n")
        self._after_return = data.endswith(b"\r") if data else self._after_return


class RecordEnds(NamedTuple):
    """Where the first and the last whole record end, 0 where none does.

    ``is_open`` tells whether the data ends within a quoted cell.
    """

    first: int
    last: int
    is_open: bool


def record_ends(data: bytes, separator: str) -> RecordEnds:
    """Return where records end in data that begins with one."""
    return RecordEnds(*_kernel.record_ends(np.frombuffer(data, np.uint8), separator))


def last_record_end(data: bytes, separator: str) -> RecordEnds:
    """Return where the last record ends; the first is not looked for where that takes time."""
    if b'"' in data:
        return record_ends(data, separator)
    return RecordEnds(0, data.rfind(b"\n") + 1 or data.rfind(b"\r") + 1, False)
