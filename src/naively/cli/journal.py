"""A journal beside a model file: rows that were learned since the model was last written.

A row is in the journal, and the journal on the disk, before anybody is told that the row was
learned. Whatever ends the program, the rows of the journal are learned again when it next begins,
each of them once: the first line names the model that they come after, by the hash of its file, and
a line at the end names the model that holds them, before that model takes its place.

Who uses a journal holds the lock of its model: see `naively.cli.model_lock`.

Law::

    rows of the model + rows of the journal == rows that were acknowledged, or a few more
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from naively.errors import NaivelyError

_NOTHING = "nothing"  # what is before the first model
_OF_NEW_MODELS = "model", "decay"  # options
_ROW = b" "  # which a line begins with that holds a row


class Journal:
    """Rows that were learned since a model was written, in a file beside the model's.

    The options are those by which rows are learned; some matter until there is a model.
    """

    def __init__(
        self, model: str | os.PathLike[str], options: Mapping[str, str | None] | None = None
    ) -> None:
        self._model = Path(model).resolve()
        self._options = dict(options or {})
        self._options_of_rows: dict[str, str | None] = {}
        self._now = _NOTHING  # the hash of the model that the rows come after
        self.path = self.path_of(model)
        try:
            self._file = self.path.open("a+b")
        except OSError as error:
            raise NaivelyError(f"cannot write {str(self.path)!r}: {error.strerror}.") from error

    @staticmethod
    def path_of(model: str | os.PathLike[str]) -> Path:
        """Return the path of a model's journal."""
        path = Path(model).resolve()
        return path.with_name(path.name + ".journal")

    def recover(self) -> list[str]:
        """Return the rows that the model lacks, in their order."""
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # a row that was not written to its end, and never acknowledged
            self._file.truncate(whole)
        lines, now = content[:whole].split(b"\n")[:-1], _hash_of(self._model)
        rows = [line[1:].decode() for line in lines if line.startswith(_ROW)]
        names = self._names(lines)
        if not rows or any(name.get("held by") == now for name in names):
            self._begin(now)
            return []
        self._now, self._options_of_rows = now, names[0].get("options", {})
        self._check_model(names[0]["after"], f"were learned, {len(rows)} of them")
        if self._options and self._options_of_rows not in ({}, self._options_after(now)):
            raise NaivelyError(
                f"the rows in {str(self.path)!r} must be learned with the options that they came "
                f"with; got {self._options_after(now)}. First run: {self.command()}"
            )
        return rows

    def command(self) -> str:
        """Return the command that adds the rows to the model."""
        options = {"target": "NAME", **self._options_of_rows}
        words = [f"--{name} {shlex.quote(value)}" for name, value in options.items() if value]
        model = shlex.quote(str(self._model))
        return f"naively stream {model} {' '.join(words)} < {os.devnull}"

    def append(self, rows: list[str]) -> None:
        """Put rows of JSON on the disk."""
        self._write(b"".join(_ROW + row.strip().encode() + b"\n" for row in rows))

    def checkpoint(self, model: Any) -> None:
        """Write the model, which holds all rows, and begin anew."""
        fresh = self._model.with_name(self._model.name + ".new")
        model.save(fresh)
        now = _hash_of(fresh)
        self._check_model(self._now, "were learned")
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

    def _check_model(self, after: str, were_learned: str) -> None:
        """Raise where somebody else has written the model: what it holds is not to be lost."""
        if after != _hash_of(self._model):
            raise NaivelyError(
                f"{str(self._model)!r} was changed since the rows in {str(self.path)!r} "
                f"{were_learned}. Put the model back, or remove the journal."
            )

    def _names(self, lines: list[bytes]) -> list[dict[str, Any]]:
        """Return the models that lines name, or raise where a line is not what was written."""
        names = []
        for number, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
                is_row = line.startswith(_ROW)
                if number == 1 and (is_row or "after" not in found):
                    raise ValueError
                if not is_row:
                    names.append(dict(found))
                elif not isinstance(found, dict):
                    raise ValueError
            except (ValueError, TypeError):
                raise NaivelyError(
                    f"line {number} of {str(self.path)!r} is damaged: {line[:80].decode()!r}. "
                    "Remove the line; or put the model and its journal back from a copy."
                ) from None
        return names

    def _options_after(self, now: str) -> dict[str, str | None]:
        """Return the options that matter for rows after a model."""
        left_out = () if now == _NOTHING else _OF_NEW_MODELS
        return {name: value for name, value in self._options.items() if name not in left_out}

    def _begin(self, now: str) -> None:
        self._file.truncate(0)
        self._now = now
        self._write(
            json.dumps({"after": now, "options": self._options_after(now)}).encode() + b"\n"
        )

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
    import hashlib  # which takes longer to load than all else that a command needs to begin

    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return _NOTHING


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
