"""A journal beside a model file: rows that were learned since the model was last written.

A row is in the journal, and the journal on the disk, before anybody is told that the row was
learned. Whatever ends the program, the rows of the journal are learned again when it next begins,
each of them once: the first line names the model that they come after, by the hash of its file, and
a line at the end names the model that holds them, before that model takes its place.

Law::

    rows of the model + rows of the journal == rows that were acknowledged, or a few more
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from naively.exceptions import NaivelyError

__all__ = ["Journal"]

_NOTHING = "nothing"  # what is before the first model
_ROW = b" "  # which a line begins with that holds a row


class Journal:
    """Rows that were learned since a model was written.

    Parameters
    ----------
    model : path-like
        The model's file, which need not be there. The journal is beside it, as ``.journal``.
    """

    def __init__(self, model: str | os.PathLike[str]) -> None:
        self._model = Path(model).resolve()
        self.path = self._model.with_name(self._model.name + ".journal")
        try:
            self._file = self.path.open("a+b")
        except OSError as error:
            raise NaivelyError(f"cannot write {str(self.path)!r}: {error.strerror}.") from error
        _lock(self._file, self.path)

    def recover(self) -> list[str]:
        """Return the rows that the model lacks, in their order."""
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # a row that was not written to its end, and never acknowledged
            self._file.truncate(whole)
        lines, now = content[:whole].split(b"\n")[:-1], _hash_of(self._model)
        if not lines:
            self._begin(now)
            return []
        rows = [line[1:].decode() for line in lines if line.startswith(_ROW)]
        names = self._names(lines)
        if any(name.get("held by") == now for name in names):
            self._begin(now)
            return []
        if names[0]["after"] != now:
            raise NaivelyError(
                f"{str(self._model)!r} was changed since the rows in {str(self.path)!r} were "
                f"learned, {len(rows)} of them. Put the model back, or remove the journal."
            )
        return rows

    def append(self, rows: list[str]) -> None:
        """Put rows of JSON on the disk."""
        self._write(b"".join(_ROW + row.strip().encode() + b"\n" for row in rows))

    def checkpoint(self, model: Any) -> None:
        """Write the model, which holds all rows, and begin anew."""
        fresh = self._model.with_name(self._model.name + ".new")
        model.save(fresh)
        now = _hash_of(fresh)
        self._write(json.dumps({"held by": now}).encode() + b"\n")
        fresh.replace(self._model)
        _sync_folder(self._model.parent)
        self._begin(now)

    def close(self) -> None:
        """Close the journal, and remove it where the model holds all rows."""
        with suppress(OSError):  # of a full disk, which somebody was told of
            self._file.seek(0)
            content = self._file.read()
            if not content or (content.count(b"\n") == 1 and content.startswith(b'{"after"')):
                self.path.unlink(missing_ok=True)
        with suppress(OSError):
            self._file.close()

    def _names(self, lines: list[bytes]) -> list[dict[str, str]]:
        """Return the models that lines name, or raise where a line is not what was written."""
        names = []
        for number, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
                if not line.startswith(_ROW):
                    names.append({"after": found["after"]} if number == 1 else dict(found))
                elif number == 1 or not isinstance(found, dict):
                    raise ValueError
            except (ValueError, TypeError, KeyError):
                raise NaivelyError(
                    f"line {number} of {str(self.path)!r} is damaged: {line[:80].decode()!r}. "
                    "Remove the line; or put the model and its journal back from a copy."
                ) from None
        return names

    def _begin(self, now: str) -> None:
        self._file.truncate(0)
        self._write(json.dumps({"after": now}).encode() + b"\n")

    def _write(self, lines: bytes) -> None:
        """Put lines on the disk, or raise where it is full."""
        try:
            self._file.write(lines)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise NaivelyError(
                f"cannot write {str(self.path)!r}: {error.strerror}. All rows that were answered "
                "are kept."
            ) from error


def _hash_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return _NOTHING


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def _lock(file: Any, path: Path) -> None:
    """Let no second program write the same journal."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise NaivelyError(f"another program writes {str(path)!r}. Stop it first.") from None
