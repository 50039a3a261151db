"""Files are written whole or not at all.

The bytes go to a temporary file beside the target, reach the disk, and take the target's name.
Whatever happens in between, the old file stays as it was. A link stays a link: the file behind it
is the target.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from naively.data import remote
from naively.errors import NaivelyError


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it holds either the old bytes or the new ones.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_atomically(target, b"new")
    >>> target.read_bytes()
    b'new'
    """
    with new_file(path) as file:
        file.write(content)


@contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file that takes the place of the path when all has been written.

    What is remote is written here first, and sent when it is whole.
    """
    if (address := remote.address_of(path)) is not None:
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            remote.write(address, file)
        return
    target, temporary = Path(path).resolve(), None
    if target.exists() and not target.is_file():  # a device, a pipe or a folder would be lost
        raise NaivelyError(f"cannot write {str(path)!r}: it is not a plain file.")
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)  # temporary files are readable for their owner alone
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(target)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.strerror:
            raise NaivelyError(f"cannot write {str(path)!r}: {error.strerror}.") from error
        raise
