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
from pathlib import Path
from typing import Any

import numpy as np

from naively import __version__, model_file
from naively._atomic import write_atomically
from naively._optional import need
from naively.engines.files.pieces import Position
from naively.engines.files.sources import File
from naively.exceptions import NaivelyError
from naively.stats import Moments
from naively.summary import Schema, Summary

__all__ = ["State", "load", "save"]

_FORMAT = 1
_KINDS = {"U": "str", "i": "int", "u": "int", "b": "bool", "f": "float"}


@dataclass(frozen=True)
class State:
    """How far a pass has come.

    Attributes
    ----------
    summary, before : Summary
        Of all pieces so far; of the files that are finished.
    rows, rows_before : int
        The same for the number of rows.
    finished : tuple
        Name, size and time of each file that is finished.
    bad : tuple
        Name of and reason for each of them that was skipped.
    current : list or None
        Name, size and time of the file that is being read.
    position : Position
        Where it goes on in that file.
    """

    summary: Summary
    before: Summary
    rows: int = 0
    rows_before: int = 0
    finished: tuple[list[Any], ...] = ()
    bad: tuple[tuple[str, str], ...] = ()
    current: list[Any] | None = None
    position: Position | None = None

    @classmethod
    def beginning(cls, schema: Schema) -> State:
        """Nothing has been read."""
        return cls(Summary.zero(schema), Summary.zero(schema))

    def added(self, summary: Summary, rows: int, file: File, position: Position) -> State:
        """Add a piece of a file."""
        return replace(
            self,
            summary=self.summary + summary,
            rows=self.rows + rows,
            current=file.identity,
            position=position,
        )

    def ended(self, file: File) -> State:
        """Finish a file."""
        finished = (*self.finished, file.identity)
        return State(self.summary, self.summary, self.rows, self.rows, finished, self.bad)

    def skipped(self, file: File, reason: str) -> State:
        """Finish a file of which nothing is to count."""
        finished, bad = (*self.finished, file.identity), (*self.bad, (file.name, reason))
        return State(self.before, self.before, self.rows_before, self.rows_before, finished, bad)

    def resumed(self, files: Sequence[File], path: str) -> State:
        """Return where to go on with these files, of which those finished must be the first."""
        for old, file in zip(self.finished, files, strict=False):
            if old != file.identity:
                raise NaivelyError(
                    f"the checkpoint {path!r} is of other files: it has read {old[0]!r} "
                    f"({old[1]} bytes), and now there is {file.name!r} ({file.size} bytes, "
                    "changed since, or another). Remove the checkpoint to begin anew."
                )
        if len(files) < len(self.finished):
            raise NaivelyError(
                f"the checkpoint {path!r} is of other files: it has read "
                f"{self.finished[len(files)][0]!r}, which is not among them. "
                "Remove the checkpoint to begin anew."
            )
        rest = files[len(self.finished) :]
        if self.current is None or (rest and rest[0].identity == self.current):
            return self
        return State(
            self.before, self.before, self.rows_before, self.rows_before, self.finished, self.bad
        )


def save(path: str | os.PathLike[str], state: State, asked: dict[str, Any]) -> None:
    """Write a checkpoint, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file.
    state : State
        What has been read.
    asked : dict
        What the pass was asked for; another pass must ask for the same to go on.
    """
    write = need("safetensors.numpy", "saving a checkpoint", extra="files").save
    schema, summaries = state.summary.schema, (state.summary, state.before)
    header = {
        "format": _FORMAT,
        "kind": "checkpoint",
        "naively": __version__,
        "asked": asked,
        "columns": schema.names,
        "n_columns": schema.n_columns,
        "summaries": [
            {"labels": _KINDS[one.classes.dtype.kind], "classes": one.classes.tolist()}
            for one in summaries
        ],
        "rows": [state.rows, state.rows_before],
        "finished": state.finished,
        "bad": state.bad,
        "current": state.current,
        "position": state.position,
    }
    tensors = {
        "class_weight": np.concatenate([one.class_weight for one in summaries]),
        "moments": np.concatenate([one.moments.values for one in summaries], axis=1),
    }
    write_atomically(path, write(tensors, {"naively": json.dumps(header, allow_nan=False)}))


def load(path: str | os.PathLike[str], asked: dict[str, Any]) -> State:
    """Read a checkpoint of a pass that was asked for the same."""
    try:
        header, tensors = model_file._parse(Path(path))
        if header.get("kind") != "checkpoint" or header.get("format") != _FORMAT:
            raise model_file._UnsoundError("it is something else")
        state = _state(header, tensors)
    except OSError as error:
        raise NaivelyError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    except (model_file._UnsoundError, KeyError, TypeError, ValueError, IndexError) as error:
        raise NaivelyError(
            f"{str(path)!r} is not a sound checkpoint: {error}. Remove it to begin anew."
        ) from None
    for name, value in asked.items():
        if header["asked"].get(name) != value:
            raise NaivelyError(
                f"the checkpoint {str(path)!r} is of another pass: {name} was "
                f"{header['asked'].get(name)!r} and is now {value!r}. "
                "Remove the checkpoint to begin anew."
            )
    return state


def _state(header: dict[str, Any], tensors: dict[str, Any]) -> State:
    schema = model_file._schema(header)
    weight, values = tensors["class_weight"], tensors["moments"]
    classes = [model_file._classes(one) for one in header["summaries"]]
    n_classes = sum(one.size for one in classes)
    if weight.shape != (n_classes,) or values.shape != (3, n_classes, schema.n_columns):
        raise model_file._UnsoundError("its shapes do not fit its classes and columns")
    model_file._check_numbers(weight, values)
    at = classes[0].size
    first, second = slice(None, at), slice(at, None)
    summary, before = (
        Summary(schema, one, weight[part].copy(), Moments(np.ascontiguousarray(values[:, part])))
        for one, part in zip(classes, (first, second), strict=True)
    )
    rows, rows_before = header["rows"]
    return State(
        summary,
        before,
        rows,
        rows_before,
        tuple(header["finished"]),
        tuple((name, reason) for name, reason in header["bad"]),
        header["current"],
        header["position"],
    )
