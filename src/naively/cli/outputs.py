"""Where a command writes: to a file, or to standard output, called "-" or /dev/stdout."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from naively.cli import console
from naively.errors import NaivelyError

_STANDARD = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}


def is_standard(path: Path | None) -> bool:
    """Whether a path stands for standard output."""
    return path is not None and str(path) in _STANDARD


def check_no_terminal(what: str | None) -> None:
    """Raise where what nobody can read would go to a terminal."""
    if what is not None and sys.stdout.isatty():
        raise NaivelyError(
            f"{what} cannot be shown on a terminal; give --output a file, or send it to a pipe."
        )


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
