"""Remote files: found, opened, read ahead, written. A store knows how; see `store_of`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, Protocol

from naively.data.remote import hidden, shown
from naively.data.remote.read_ahead import BLOCK, RangeFile, ReadAhead
from naively.errors import NaivelyError, need

_WEB = ("http", "https")
_CREDENTIALS = "Credentials are read from the environment, as the store's own tools read them"
_LONGEST = 300  # characters of a store's own words
_DENIED = f"permission denied. {_CREDENTIALS}"
_REASONS = {  # by the words of S3, Google's and Azure's stores
    "ACCESS_DENIED|PERMISSION_DENIED|UNAUTHENTICATED|INVALID_ACCESS_KEY|SIGNATURE_DOES": _DENIED,
    "AuthorizationFailure|AuthenticationFailed|HTTP status code: 40[13]": _DENIED,
    "NO_SUCH_BUCKET|ContainerNotFound": "there is no such bucket",
    "NO_SUCH_KEY|RESOURCE_NOT_FOUND|BlobNotFound|Status\\(NOT_FOUND": "there is no such file",
    "resolve host|curlCode: 6\\b": "its server is not known",
    "curlCode: (7|28)\\b": "its server does not answer",
    "SLOW_DOWN|SERVICE_UNAVAILABLE|HTTP status code: 50": "its server is too busy, or broken",
}


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
        is_web = self.address.partition(":")[0].lower() in _WEB
        return re.split(r"[?#]", self.address)[0] if is_web else self.address

    def open(self, *, ahead: bool = True) -> Any:
        """Return a file of pyarrow's; blocks are read ahead of what is asked for."""
        pa = need("pyarrow", "reading remote files", extra="files")
        opened = self.store.open(self.address, self.facts.size)
        if not ahead:
            return opened
        blocks = ReadAhead(lambda place, size: opened.read_at(size, place), self.facts.size)
        return pa.PythonFile(RangeFile(blocks.read_at, self.facts.size), mode="r")

    def read(self) -> bytes:
        """Return all of it: in blocks, since the size may be a lie of the server's."""
        with errors_of("read", self.address):
            file = self.open()
            return b"".join(iter(lambda: file.read(BLOCK), b""))

    def reason_of(self, error: Exception) -> str:
        """Return what its store says in a sentence."""
        return reason_of(error)

    def facts_now(self) -> Facts:
        """Return what is known about it at this moment, or raise `OSError`."""
        return self.store.facts(self.address)


def find(address: str) -> list[RemoteFile]:
    """Return the files that an address stands for, in the order of their names."""
    with errors_of("read", address):
        return store_of(address).find(address)


def write(address: str, content: BinaryIO) -> None:
    """Write a file, whole or not at all."""
    with errors_of("write", address):
        store_of(address).write(address, content)


def check_output(address: str) -> None:
    """Raise where no file can be written there."""
    with errors_of("write", address):
        store_of(address).check_output(address)


def store_of(address: str) -> Store:
    """Decide what reads an address: this package for the web, Arrow if it can, or else fsspec."""
    if address.partition(":")[0].lower() in _WEB:
        from naively.data.remote.web import WebStore

        return WebStore()
    if "***@" in shown(address):
        raise NaivelyError(f"the address {shown(address)!r} must hold no password. {_CREDENTIALS}.")
    from naively.data.remote.stores import arrow_store

    return arrow_store(address)


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
    own = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return next((what for pattern, what in _REASONS.items() if re.search(pattern, words)), own)
