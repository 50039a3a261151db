"""How far a pass has come, kept in a file that is always whole.

The file is written like a model's: safetensors, with a JSON text in its header. It holds two
summaries, one after the other: of all that was read, and of the files before the one that is
being read. If that one turns out to be bad, or has changed when the pass goes on, nothing of
it counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from naively import __version__, model_file, model_formats
from naively._atomic import write_atomically
from naively._optional import need
from naively.engines.files.batch_sum import absorbed
from naively.engines.files.pieces import Position
from naively.engines.files.sources import File
from naively.exceptions import NaivelyError, warn
from naively.summary import Schema, Summary
from naively.summary_file import pack, unpack
from naively.tensors import UnsoundError

__all__ = ["PassState", "load", "save"]

_FORMAT = 4


@dataclass(frozen=True)
class PassState:
    """How far a pass has come."""

    # summary and before: of all pieces so far; of the files that are finished
    summary: Summary
    before: Summary
    # rows and rows_before: the same for the number of rows
    rows: int = 0
    rows_before: int = 0
    finished: tuple[list[Any], ...] = ()  # name, size and time of each file that is finished
    bad: tuple[tuple[str, str], ...] = ()  # name of and reason for each of them that was skipped
    current: list[Any] | None = None  # name, size and time of the file that is being read
    position: Position | None = None  # where it goes on in that file

    @classmethod
    def beginning(cls, schema: Schema) -> PassState:
        """Nothing has been read."""
        return cls(Summary.zero(schema), Summary.zero(schema))

    def added(self, summary: Summary, rows: int, file: File, position: Position) -> PassState:
        """Add a piece of a file; the summary so far is given up, unless it is also that before."""
        shared = self.summary is self.before
        return replace(
            self,
            summary=self.summary + summary if shared else absorbed(self.summary, summary),
            rows=self.rows + rows,
            current=file.identity,
            position=position,
        )

    def ended(self, file: File) -> PassState:
        """Finish a file."""
        finished = (*self.finished, file.identity)
        return PassState(self.summary, self.summary, self.rows, self.rows, finished, self.bad)

    def skipped(self, file: File, reason: str) -> PassState:
        """Finish a file of which nothing is to count."""
        finished, bad = (*self.finished, file.identity), (*self.bad, (file.name, reason))
        return PassState(
            self.before, self.before, self.rows_before, self.rows_before, finished, bad
        )

    def resumed(self, files: Sequence[File], path: str) -> PassState:
        """Return where to go on with these files, of which those finished must be the first."""
        for old, file in zip(self.finished, files, strict=False):
            if old != file.identity:
                raise NaivelyError(
                    f"the checkpoint {path!r} is of other files: it has read {old[0]!r} "
                    f"({old[1]} bytes), and now there is {file.name!r} ({file.size} bytes, "
                    "changed since, or another). Remove the checkpoint to start again."
                )
        if len(files) < len(self.finished):
            raise NaivelyError(
                f"the checkpoint {path!r} is of other files: it has read "
                f"{self.finished[len(files)][0]!r}, which is not among them. "
                "Remove the checkpoint to start again."
            )
        rest = files[len(self.finished) :]
        if self.current is None or (rest and rest[0].identity == self.current):
            return self
        warn(
            f"{self.current[0]!r} has changed since the checkpoint {path!r} was written, or is "
            "not the next file: it is read again from its beginning.",
        )
        return PassState(
            self.before, self.before, self.rows_before, self.rows_before, self.finished, self.bad
        )


def save(path: str | os.PathLike[str], state: PassState, asked: dict[str, Any]) -> None:
    """Write a checkpoint, whole or not at all; only a pass that asks for the same may go on."""
    write = need("safetensors.numpy", "saving a checkpoint", extra="files").save
    packed = [pack(summary) for summary in (state.summary, state.before)]
    header = {
        "format": _FORMAT,
        "kind": "checkpoint",
        "naively": __version__,
        "asked": asked,
        "summaries": [words for words, _ in packed],
        "rows": [state.rows, state.rows_before],
        "finished": state.finished,
        "bad": state.bad,
        "current": state.current,
        "position": state.position,
    }
    tensors = {
        f"{i}.{name}": tensor for i, (_, its) in enumerate(packed) for name, tensor in its.items()
    }
    text = model_file.as_json(header)
    for words, its in packed:
        model_file.check(json.loads(model_file.as_json(words)), its)
    write_atomically(path, write(tensors, {"naively": text}))


def load(path: str | os.PathLike[str], asked: dict[str, Any]) -> PassState:
    """Read a checkpoint of a pass that was asked for the same."""
    try:
        header, tensors = model_file.parse(path)
        if header.get("kind") != "checkpoint":
            raise UnsoundError("it is something else")
        model_formats.check_format(header.get("format"), _FORMAT, header)
        if header["format"] != _FORMAT:
            raise UnsoundError("it was written by an older version")
        state = _state(header, tensors)
    except OSError as error:
        raise NaivelyError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    except model_formats.NewerError as error:
        raise NaivelyError(f"{str(path)!r} {error}, or remove it to start again.") from None
    except (UnsoundError, KeyError, TypeError, ValueError, IndexError) as error:
        raise NaivelyError(
            f"{str(path)!r} is not a valid checkpoint: {error}. Remove it to start again."
        ) from None
    for name, value in asked.items():
        if header["asked"].get(name) != value:
            raise NaivelyError(
                f"the checkpoint {str(path)!r} is of another pass: {name} was "
                f"{header['asked'].get(name)!r} and is now {value!r}. "
                "Remove the checkpoint to start again."
            )
    return state


def _state(header: dict[str, Any], tensors: dict[str, Any]) -> PassState:
    summary, before = (
        unpack(words, {n[2:]: tensor for n, tensor in tensors.items() if n.startswith(f"{i}.")})
        for i, words in enumerate(header["summaries"])
    )
    rows, rows_before = header["rows"]
    return PassState(
        summary,
        before,
        rows,
        rows_before,
        tuple(header["finished"]),
        tuple((name, reason) for name, reason in header["bad"]),
        header["current"],
        header["position"],
    )
