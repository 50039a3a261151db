"""Files are written whole or not at all.

The bytes go to a temporary file beside the target, reach the disk, and take the target's name.
Whatever happens in between, the old file stays as it was.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from naively.exceptions import NaivelyError

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it holds either the old bytes or the new ones.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_atomically(target, b"new")
    >>> target.read_bytes()
    b'new'
    """
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise NaivelyError(f"cannot write {str(target)!r}: {error.strerror}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _as_any_new_file(temporary)
        Path(temporary).replace(target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise NaivelyError(f"cannot write {str(target)!r}: {error.strerror}.") from error
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _as_any_new_file(path: str) -> None:
    """Give the usual permissions: a temporary file is readable for its owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    Path(path).chmod(0o666 & ~mask)
