"""Files that are not on this machine: which paths mean one, and how those paths are shown.

Passwords, and all values behind a question mark, since one of them may be a signature, are shown to
nobody.

>>> is_remote("s3://bucket/a.csv"), is_remote("data/a.csv")
(True, False)
>>> shown("https://ada:secret@example.org/a.csv?sig=abc&v=2")
'https://***@example.org/a.csv?sig=***&v=***'

Nothing heavy is imported before a remote file is asked for.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, BinaryIO

from naively.errors import NaivelyError

if TYPE_CHECKING:
    from naively.data.remote.files import RemoteFile

__all__ = ["address_of", "check_output", "find", "hidden", "is_remote", "read", "shown", "write"]

# pathlib makes one slash of two
_ADDRESS = r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://|(?P<short>s3|gs|gcs|az|abfss?|https?|hf):/(?!/)"
_URL = r"""[A-Za-z][A-Za-z0-9+.-]+:/{1,2}[^\s'"<>]+"""
# who asks, in front of the host: a password may hold slashes, a port is none; containers of Azure's
# and "anonymous" are no secrets
_USER = r"^((?!abfss?://[^:/]*@)[^:]+://)(?!anonymous@)([^/@]*@|[^/@:]*:(?!\d+(/|$)).*@)"
_SECRET = r"KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL|CONNECTION_STRING|SIGNATURE"
_SHORTEST = 8  # characters of a secret; what is shorter may be part of any text


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


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as it may be printed and kept."""
    address = address_of(path)
    return os.fspath(path) if address is None else _without_secrets(address)


def hidden(text: str) -> str:
    """Return a text without the secrets of addresses in it, or of the environment."""
    text = re.sub(_URL, lambda found: _without_secrets(address_of(found[0]) or found[0]), text)
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and re.search(_SECRET, name.upper()):
            text = text.replace(value, "***")
    return text


def _without_secrets(address: str) -> str:
    before, mark, query = address.partition("?")
    before = re.sub(_USER, r"\1***@", before)
    return before + mark + re.sub(r"=[^&#]*", "=***", query)


def find(address: str) -> list[RemoteFile]:
    """Return the files that an address stands for: one, those of a folder, those of a glob."""
    from naively.data.remote.files import find

    return find(address)


def read(address: str) -> bytes:
    """Return the content of a file."""
    found = find(address)
    if len(found) != 1 or found[0].address != address:
        raise NaivelyError(f"cannot read {shown(address)!r}: it must be one file.")
    return found[0].read()


def write(address: str, content: BinaryIO) -> None:
    """Write a file, whole or not at all."""
    from naively.data.remote.files import write

    write(address, content)


def check_output(address: str) -> None:
    """Raise where no file can be written there, before work is done for nothing."""
    from naively.data.remote.files import check_output

    check_output(address)
