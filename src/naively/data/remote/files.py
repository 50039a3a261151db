r"""Files that are not on this machine: which paths mean one, and how those paths are shown.

Passwords, and all values behind a question mark, since one of them may be a signature, are shown to
nobody.

>>> is_remote("s3://bucket/a.csv"), is_remote("data/a.csv")
(True, False)
>>> shown("https://ada:secret@example.org/a.csv?sig=abc&v=2")
'https://***@example.org/a.csv?sig=***&v=***'

A file is opened by the `Store` that keeps it, and read in blocks that are fetched ahead.

>>> blocks = ReadAhead(lambda place, size: bytes(range(place, place + size)), 10)
>>> blocks.read_at(7, 3)
b'\x07\x08\t'
"""

from __future__ import annotations

import io
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

from naively.errors import NaivelyError, need

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# pathlib makes one slash of two
_ADDRESS = r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://|(?P<short>s3|gs|gcs|az|abfss?|https?|hf):/(?!/)"
# from the start of a word, and not from each of its letters, as words may be of any length
_URL = r"""(?<![A-Za-z0-9+.-])([0-9+.-]*)([A-Za-z][A-Za-z0-9+.-]+:/{1,2}[^\s'"<>]+)"""
# who asks, in front of the host: a password may hold slashes, a port is none; containers of Azure's
# and "anonymous" are no secrets
_USER = r"^((?!abfss?://[^:/]*@)[^:]+://)(?!anonymous@)([^/@]*@|[^/@:]*:(?!\d+(/|$)).*@)"
_SECRET = r"KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL|CONNECTION_STRING|SIGNATURE"
_MIN_SECRET_CHARACTERS = 8  # characters of a secret; what is shorter may be part of any text

WEB = ("http", "https")
CREDENTIALS = "Credentials are read from the environment, as the store's own tools read them"
_MAX_REASON_CHARACTERS = 300  # characters of a store's own words
_DENIED = f"permission denied. {CREDENTIALS}"
_REASONS = {  # by the words of S3, Google's and Azure's stores
    "ACCESS_DENIED|PERMISSION_DENIED|UNAUTHENTICATED|INVALID_ACCESS_KEY|SIGNATURE_DOES": _DENIED,
    "AuthorizationFailure|AuthenticationFailed|HTTP status code: 40[13]": _DENIED,
    "NO_SUCH_BUCKET|ContainerNotFound": "there is no such bucket",
    "NO_SUCH_KEY|RESOURCE_NOT_FOUND|BlobNotFound|Status\\(NOT_FOUND": "there is no such file",
    "resolve host|curlCode: 6\\b": "its server is not known",
    "curlCode: (7|28)\\b": "its server does not answer",
    "SLOW_DOWN|SERVICE_UNAVAILABLE|HTTP status code: 50": "its server is too busy, or broken",
}

BLOCK = 1 << 22  # bytes that are fetched at once
_AHEAD_BLOCKS = 2  # blocks that are fetched before they are asked for
_KEPT_BLOCKS = 8  # blocks
_THREADS = 8


def address_of(path: str | os.PathLike[str]) -> str | None:
    """Return the address that a path means, or None where it is a file of this machine."""
    name = os.fspath(path)
    found = re.match(_ADDRESS, name) if isinstance(name, str) else None
    if found is None:
        return None
    return f"{found['scheme'] or found['short']}://{name[found.end() :]}"


def is_remote(path: str | os.PathLike[str]) -> bool:
    """Whether a path means a file that is not on this machine."""
    return address_of(path) is not None


def is_data(parts: Iterable[str]) -> bool:
    """Whether a file in a folder is data, by its path there: Spark writes _SUCCESS beside it."""
    return not any(part.startswith((".", "_")) for part in parts)


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as it may be printed and kept."""
    address = address_of(path)
    return os.fspath(path) if address is None else _without_secrets(address)


def hidden(text: str) -> str:
    """Return a text without the secrets of addresses in it, or of the environment."""
    text = re.sub(_URL, lambda at: at[1] + _without_secrets(address_of(at[2]) or at[2]), text)
    for name, value in os.environ.items():
        if len(value) >= _MIN_SECRET_CHARACTERS and re.search(_SECRET, name.upper()):
            text = text.replace(value, "***")
    return text


def _without_secrets(address: str) -> str:
    before, mark, query = address.partition("?")
    before = re.sub(_USER, r"\1***@", before)
    return before + mark + re.sub(r"=[^&#]*", "=***", query)


# --- Files, and the stores that keep them ---------------------------------------------------------


class Facts(NamedTuple):
    """What must not change while a file is read."""

    size: int
    modified: int | None  # the time of the last change in nanoseconds
    tag: str | None = None  # the server's name for this version


class Store(Protocol):
    """A place that keeps files."""

    def find(self, address: str) -> list[RemoteFile]:
        """Return the files that an address stands for."""

    def facts(self, address: str) -> Facts:
        """Return what is known about a file, or raise `OSError`."""

    def open(self, address: str, size: int) -> Any:
        """Return a file of pyarrow's, of which the size is known, that can be read at any place."""

    def write(self, address: str, content: BinaryIO) -> None:
        """Write a file."""

    def check_output(self, address: str) -> None:
        """Raise where no file can be written."""


@dataclass(frozen=True)
class RemoteFile:
    """A file that is not on this machine."""

    address: str
    store: Store
    facts: Facts

    @property
    def path(self) -> str:
        """The address without what follows a question mark, for endings and folders."""
        is_web = self.address.partition(":")[0].lower() in WEB
        return re.split(r"[?#]", self.address)[0] if is_web else self.address

    def open(self, *, ahead: bool = True) -> Any:
        """Return a file of pyarrow's; blocks are read ahead of what is asked for."""
        pa = need("pyarrow", "reading remote files", extra="files")
        opened = self.store.open(self.address, self.facts.size)
        if not ahead:
            return opened
        blocks = ReadAhead(lambda place, size: opened.read_at(size, place), self.facts.size)
        return pa.PythonFile(RangeFile(blocks.read_at, self.facts.size), mode="r")


@contextmanager
def errors_of(verb: str, address: str) -> Iterator[None]:
    """Turn what a store says into `NaivelyError`, without secrets."""
    pa = need("pyarrow", "reading remote files", extra="files")
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise NaivelyError(f"cannot {verb} {shown(address)!r}: {reason_of(error)}.") from None


def reason_of(error: Exception) -> str:
    """Return what is wrong in a sentence, with the store's own words where there is none.

    >>> reason_of(OSError("When reading: AWS Error ACCESS_DENIED during GetObject"))[:17]
    'permission denied'
    """
    text = hidden(getattr(error, "strerror", None) or " ".join(str(error).split())).rstrip(".")
    words = re.sub(r"'[^']*'", "", text)  # without names of files
    own = text if len(text) <= _MAX_REASON_CHARACTERS else f"{text[:_MAX_REASON_CHARACTERS]}…"
    return next((what for pattern, what in _REASONS.items() if re.search(pattern, words)), own)


# --- Blocks that are fetched ahead of what is asked for, of which few are kept --------------------


Fetch = Callable[[int, int], bytes]  # given a place and a size


class ReadAhead:
    """The bytes of a file, for several threads."""

    def __init__(self, fetch: Fetch, size: int) -> None:
        self._fetch, self._size, self._lock = fetch, size, Lock()
        self._blocks: OrderedDict[int, Future[bytes]] = OrderedDict()

    def read_at(self, place: int, size: int) -> bytes:
        """Return that many bytes from a place on; fewer only at the end of the file."""
        end = min(place + size, self._size)
        parts = []
        while place < end:
            i, skipped = divmod(place, BLOCK)
            part = self._block(i)[skipped : skipped + end - place]
            parts.append(part)
            place += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _block(self, i: int) -> bytes:
        with self._lock:
            goes_on = i == 0 or i - 1 in self._blocks or i in self._blocks
            block = self._submitted(i)
            for j in range(i + 1, i + 1 + _AHEAD_BLOCKS * goes_on):
                if j * BLOCK < self._size:
                    self._submitted(j)
            self._blocks.move_to_end(i)
            while len(self._blocks) > _KEPT_BLOCKS:
                self._blocks.popitem(last=False)
        try:
            found = block.result()
            expected = min(BLOCK, self._size - i * BLOCK)
            if len(found) != expected:
                raise OSError(f"it ended early: {len(found)} of {expected} bytes came")
            return found
        except BaseException:
            with self._lock:
                self._blocks.pop(i, None)  # whoever asks again, tries again
            raise

    def _submitted(self, i: int) -> Future[bytes]:
        if i not in self._blocks:
            start = i * BLOCK
            size = min(BLOCK, self._size - start)
            self._blocks[i] = _threads().submit(self._fetch, start, size)
        return self._blocks[i]


@cache
def _threads() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # it is slow, and most files are here

    return ThreadPoolExecutor(_THREADS, "naively-read-ahead")


class RangeFile(io.RawIOBase):
    """A file that is read by ranges."""

    def __init__(self, fetch: Fetch, size: int) -> None:
        super().__init__()
        self._fetch, self._size, self._place = fetch, size, 0

    def readable(self) -> bool:
        """Return that it is."""
        return True

    def seekable(self) -> bool:
        """Return that it is."""
        return True

    def tell(self) -> int:
        """Return the place of the next byte."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes."""
        left = max(0, self._size - self._place)
        size = left if size is None or size < 0 else min(size, left)
        found = self._fetch(self._place, size) if size else b""
        self._place += len(found)
        return found
