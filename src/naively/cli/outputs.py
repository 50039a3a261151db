"""Where a command writes: to a file, or to standard output, called "-" or /dev/stdout."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from naively.cli import console
from naively.data.remote import address_of, shown
from naively.data.remote import check_output as check_remote_output
from naively.errors import NaivelyError

_STANDARD = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}


def is_standard(path: Path | None) -> bool:
    """Whether a path stands for standard output."""
    return path is not None and str(path) in _STANDARD


def check_output(path: Path, *inputs: Path, binary: str | None = None) -> Path:
    """Return where to write, or raise before work is done for nothing or an input is lost.

    Of what is binary, its name: it cannot be shown on a terminal.
    """
    if is_standard(path):
        if binary is not None and sys.stdout.isatty():
            raise NaivelyError(
                f"{binary} cannot be shown on a terminal; give --output a file, or send it to a "
                "pipe."
            )
        return path
    same = f"the output must be another file than the input; got {shown(path)!r}."
    if (address := address_of(path)) is not None:
        check_remote_output(address)
        if any(address == address_of(given) for given in inputs):
            raise NaivelyError(same)
        return path
    if path.is_dir():
        raise NaivelyError(f"cannot write {str(path)!r}: it is a directory.")
    if path.exists() and not path.is_file():
        raise NaivelyError(f"cannot write {str(path)!r}: it is not a plain file.")
    if not path.parent.is_dir():
        raise NaivelyError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}.")
    if not os.access(path.parent, os.W_OK):
        raise NaivelyError(f"cannot write {str(path)!r}: Permission denied.")
    if any(path.exists() and given.exists() and path.samefile(given) for given in inputs):
        raise NaivelyError(same)
    return path


@contextmanager
def file_at(path: Path, ending: str = "") -> Iterator[Path]:
    """Yield where to write a file; one for standard output is copied there when it is whole."""
    if not is_standard(path):
        yield path
        return
    with TemporaryDirectory() as folder:
        held = Path(folder) / f"output{ending}"
        yield held
        sys.stdout.flush()
        with held.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def tell_written(path: Path, what: str) -> None:
    """Print what a file holds; nothing where standard output holds it."""
    if not is_standard(path):
        console.show(f"{path}: {what}")
