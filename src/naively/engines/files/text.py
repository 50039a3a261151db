r"""Files of text as UTF-8, as they are read: decompressed by their content, and transcoded.

>>> import io
>>> stream = Transcoded("a.csv", io.BytesIO("tøwn".encode("utf-16")), "utf-16")
>>> stream.read(100).decode()
'tøwn'

The bytes of a file of text, and where the records of CSV end.

A newline within quotes ends no record:

>>> record_ends(b'1,"a\nb"\n2,"c\n', ",")
RecordEnds(first=8, last=8, is_open=True)
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from naively import _kernel
from naively.engines.files.sources import START, BadFileError, File, codec_of, decompressed
from naively.errors import NaivelyError

NOT_UTF_8 = (
    "Give its encoding, such as encoding='cp1252', or --encoding cp1252 on the command line; text "
    "of Windows is often cp1252 or utf-16"
)
_CHUNK_BYTES = 1 << 20  # bytes that are transcoded at once
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Without a mark, the last byte of the first character tells the order of bytes: it is 0 in
# little-endian text, whose first character is a letter, a digit or a quote.
_WIDTHS = {"utf-16": 2, "utf-32": 4}


def check_encoding(encoding: str | None) -> None:
    """Raise where Python does not know an encoding of text."""
    try:
        known = encoding is None or codecs.lookup(encoding)._is_text_encoding  # as open() asks
    except (LookupError, TypeError, ValueError):
        known = False
    if not known:
        raise NaivelyError(
            f"encoding must be one that Python knows, such as 'latin-1', 'cp1252' or 'utf-16'; "
            f"got {encoding!r}."
        )


def encoding_of(encoding: str | None, start: bytes) -> str | None:
    r"""Return the encoding of text that begins like this; None where it is UTF-8.

    >>> encoding_of(None, "a".encode("utf-16")), encoding_of("utf-16", b"\0a\0,")
    ('utf-16', 'utf-16-be')
    """
    marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    if encoding is None:
        return marked
    name = codecs.lookup(encoding).name
    if name in ("utf-8", "utf-8-sig"):
        return None
    if name in _WIDTHS and marked is None:
        is_little = start[_WIDTHS[name] - 1 : _WIDTHS[name]] in (b"", b"\0")
        return f"{name}-{'le' if is_little else 'be'}"
    return encoding


class Transcoded:
    """A stream of text in some encoding, as UTF-8."""

    def __init__(self, name: str, stream: Any, encoding: str, start: bytes = b"") -> None:
        self._name, self._stream, self._encoding, self._start = name, stream, encoding, start
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._bytes, self._lines = 0, 1  # that have been decoded, and the line that is being read
        self._held = b""

    def read(self, size: int) -> bytes:
        """Return the next bytes of UTF-8; none only at the end."""
        while len(self._held) < size and (part := self._next()) is not None:
            self._held += part
        found, self._held = self._held[:size], self._held[size:]
        return found

    def _next(self) -> bytes | None:
        data = self._start or self._stream.read(_CHUNK_BYTES)
        self._start = b""
        pending = self._decoder.getstate()[0]
        try:
            text = self._decoder.decode(data, final=not data)
            found = text.encode()
        except UnicodeDecodeError as error:
            self._raise(pending + data, error.start, len(pending))
        except UnicodeError as error:
            raise BadFileError(self._name, f"it is not in {self._encoding}: {error}") from None
        self._bytes += len(data)
        self._lines += text.count("\n")
        return found if data else (found or None)

    def _raise(self, data: bytes, place: int, pending: int) -> None:
        good = data[:place].decode(self._encoding, "ignore")
        raise BadFileError(
            self._name,
            f"byte {self._bytes - pending + place:,} (0x{data[place]:02x}), in line "
            f"{self._lines + good.count(chr(10)):,}, is not in {self._encoding}. Choose another "
            "encoding: encoding=, or --encoding on the command line",
        )


# --- The bytes of a file of text, and where the records of CSV end ------------------------------


_SEARCH_BYTES = 1 << 20  # read at once where a place is looked for
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
            for start in range(0, place, _SEARCH_BYTES):
                lines.add(self._stream.read_at(min(_SEARCH_BYTES, place - start), start))
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
            part = self._stream.read(min(place - self._start, _SEARCH_BYTES))
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
