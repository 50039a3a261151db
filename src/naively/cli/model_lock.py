"""One program at a time writes a model file.

Who writes a model holds a file beside it, ``model.safetensors.lock``, which names the process. The
system lets go of the file when the process ends, however it ends. A program that comes second
waits, but not for a stream, which may go on for ever. Reading needs no lock: a model file is
replaced as a whole.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from naively.cli import console
from naively.cli.journal import Journal
from naively.cli.outputs import check_output, is_standard
from naively.data.remote import address_of
from naively.errors import NaivelyError

_PAUSE_SECONDS = 0.1  # between two looks at a lock that another program holds
_LOCKED_BYTE = (
    1 << 62
)  # Windows lets nobody read bytes that are locked: this one is behind all others
_IS_HELD = errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK


@contextmanager
def hold(model: Path, command: str) -> Iterator[None]:
    """Let no other program write a model meanwhile, and check that no row of a stream is lost.

    Standard output and remote files have no lock.
    """
    if is_standard(model) or address_of(model) is not None:
        yield
        return
    target = check_output(model).resolve()
    path = target.with_name(target.name + ".lock")
    file = _taken(path, model)
    try:
        _write_holder(file, command)
        if command != "stream":
            _check_journal(model)
        yield
    finally:
        _let_go(file, path)


def _taken(path: Path, model: Path) -> BinaryIO:
    """Return the lock's file once it is ours; raise where a stream holds it."""
    stream, is_told = None, False
    while True:
        try:
            file = path.open("a+b")
        except OSError as error:
            raise NaivelyError(f"cannot write {str(path)!r}: {error.strerror}.") from error
        if _is_locked(file, path):
            with suppress(OSError):  # its last holder may have removed it since it was opened
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    return file
            file.close()
            continue
        holder = _holder(file)
        file.close()
        process, command = holder.get("process", "unknown"), holder.get("command", "")
        if command == "stream" and stream == process:  # at two looks: what a dead one left is gone
            raise NaivelyError(
                f"only one program may write {str(model)!r}; got another program, 'naively stream' "
                f"of process {process}. Stop it first, or give it the rows."
            )
        stream = process if command == "stream" else None
        if not is_told and command not in ("", "stream"):
            console.note(
                f"waiting for process {process}, 'naively {command}', which writes {str(model)!r}."
            )
            is_told = True
        time.sleep(_PAUSE_SECONDS)


def _is_locked(file: BinaryIO, path: Path) -> bool:
    """Lock a file, or return False where another program has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(_LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _IS_HELD:
            return False
        console.note(
            f"{str(path.parent)!r} cannot be locked: let one program at a time write here."
        )
    return True


def _write_holder(file: BinaryIO, command: str) -> None:
    with suppress(OSError):  # of a full disk: the lock holds without a name, too
        file.truncate(0)
        file.write(json.dumps({"process": os.getpid(), "command": command}).encode())
        file.flush()


def _holder(file: BinaryIO) -> dict[str, object]:
    """Return who has a lock, as far as it is written down."""
    try:
        file.seek(0)
        found = json.loads(file.read(1000))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _check_journal(model: Path) -> None:
    """Raise where rows wait in a journal beside a model: they would be lost with it."""
    if not Journal.path_of(model).exists():
        return
    journal = Journal(model)
    try:
        rows = journal.recover()
    finally:
        journal.close()
    if rows:
        raise NaivelyError(
            f"a model must hold all rows of its stream before it is changed; got {len(rows):,} "
            f"rows in {str(journal.path)!r} that it lacks. Add them: {journal.command()}"
        )


def _let_go(file: BinaryIO, path: Path) -> None:
    if sys.platform == "win32":  # no file is removed there that is open
        file.close()
        with suppress(OSError):
            path.unlink()
        return
    with suppress(OSError):
        path.unlink()
    file.close()
