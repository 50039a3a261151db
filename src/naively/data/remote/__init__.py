"""Files that are not on this machine, by whatever store keeps them: found, read and written.

`naively.data.remote.files` says which paths mean one, and how those paths are shown. Nothing heavy
is imported before a remote file is asked for.
"""

from __future__ import annotations

from typing import BinaryIO

from naively.data.remote.files import (
    BLOCK,
    CREDENTIALS,
    WEB,
    RemoteFile,
    Store,
    address_of,
    errors_of,
    hidden,
    is_remote,
    reason_of,
    shown,
)
from naively.errors import NaivelyError

__all__ = [
    "RemoteFile",
    "address_of",
    "check_output",
    "find",
    "hidden",
    "is_remote",
    "read",
    "reason_of",
    "shown",
    "write",
]


def find(address: str) -> list[RemoteFile]:
    """Return the files that an address stands for, in the order of their names."""
    with errors_of("read", address):
        return store_of(address).find(address)


def read(address: str) -> bytes:
    """Return the content of a file: in blocks, since the size may be a lie of the server's."""
    found = find(address)
    if len(found) != 1 or found[0].address != address:
        raise NaivelyError(f"cannot read {shown(address)!r}: it must be one file.")
    with errors_of("read", address):
        file = found[0].open()
        return b"".join(iter(lambda: file.read(BLOCK), b""))


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
    if address.partition(":")[0].lower() in WEB:
        from naively.data.remote.web import WebStore

        return WebStore()
    if "***@" in shown(address):
        raise NaivelyError(f"the address {shown(address)!r} must hold no password. {CREDENTIALS}.")
    from naively.data.remote.stores import arrow_store

    return arrow_store(address)
