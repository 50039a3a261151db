"""Files of text as UTF-8, as they are read: decompressed by their content, and transcoded.

>>> import io
>>> stream = Transcoded("a.csv", io.BytesIO("tøwn".encode("utf-16")), "utf-16")
>>> stream.read(100).decode()
'tøwn'
"""

from __future__ import annotations

import codecs
import lzma
import re
from typing import Any

from naively._optional import later
from naively.engines.files.sources import BadFileError, File
from naively.exceptions import NaivelyError

__all__ = ["Transcoded", "check_encoding", "codec_of", "decompressed", "encoding_of", "first_bytes"]

pa = later("pyarrow", "reading files", extra="files")

START = 16  # bytes that tell how a file is compressed
NOT_UTF_8 = (
    "Give its encoding, such as encoding='cp1252', or --encoding cp1252 on the command line; text "
    "of Windows is often cp1252 or utf-16"
)
_CHUNK = 1 << 20  # bytes that are transcoded at once
_CODECS = {
    "gzip": rb"\x1f\x8b",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "bz2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
    "lz4": rb"\x04\x22M\x18",
}
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Without a mark, the last byte of the first character tells the order of bytes: it is 0 in
# little-endian text, whose first character is a letter, a digit or a quote.
_WIDTHS = {"utf-16": 2, "utf-32": 4}


def first_bytes(file: File) -> tuple[bytes, bool]:
    """Return how a file begins once it is decompressed, and whether it is compressed."""
    with file.open(ahead=False) as raw:
        start = raw.read(START)
        raw.seek(0)
        codec = codec_of(start)
        return (start if codec is None else decompressed(raw, codec).read(START)), codec is not None


def codec_of(start: bytes) -> str | None:
    """Return how a file is compressed that begins like this."""
    return next((codec for codec, magic in _CODECS.items() if re.match(magic, start)), None)


def decompressed(raw: Any, codec: str) -> Any:
    """Return a stream of what a file holds."""
    return lzma.LZMAFile(raw) if codec == "xz" else pa.CompressedInputStream(raw, codec)


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
        data = self._start or self._stream.read(_CHUNK)
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
