"""Rows without a label, left out as the pieces of files are read, and counted.

>>> is_labelled(pa.array(["a", None, " "])).tolist()
[True, False, True]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._optional import later
from naively.engines.files.batches import ArrayBatch
from naively.engines.files.pieces import FilePiece
from naively.engines.files.readers import OpenFile
from naively.engines.native.arrow import decoded, without_views

__all__ = ["Unlabelled", "is_labelled"]

pa = later("pyarrow", "reading files", extra="files")
pc = later("pyarrow.compute", "reading files", extra="files")

Read = Callable[[Sequence[str]], Iterator[Any]]


class Unlabelled:
    """The rows of files whose label is missing; several passes over them count each row once."""

    def __init__(self, target: str) -> None:
        self.target = target
        self._counts: dict[tuple[str, int], int] = {}  # by file, and where a piece ends in it

    def count(self, skipped: Collection[str] = ()) -> int:
        """Return how many there are in the pieces that have been read, but for files skipped."""
        return sum(n for (name, _), n in self._counts.items() if name not in skipped)

    def left_out(self, opened: OpenFile, piece: FilePiece) -> FilePiece:
        """Return a piece without its rows that have no label."""
        (end,) = piece.after.values()
        name = opened.file.name

        def tell(n: int) -> None:
            self._counts[name, end] = n

        def before() -> int:
            return sum(n for (of, at), n in self._counts.items() if of == name and at < end)

        rows = _LabelledPiece(self.target, opened, piece, tell)
        return replace(
            piece,
            read=lambda names: rows.batches(piece.read, names),
            read_rows=piece.read_rows and (lambda names: rows.batches(piece.read_rows, names)),
            row_of=lambda row: before() + rows.row_of(row),
        )


class _LabelledPiece:
    """Which rows of a piece have a label: known once the labels have been read, as is usual."""

    def __init__(
        self, target: str, opened: OpenFile, piece: FilePiece, tell: Callable[[int], None]
    ) -> None:
        self._target, self._opened, self._piece, self._tell = target, opened, piece, tell
        self._found: list[NDArray[np.bool_]] = []

    def batches(self, read: Any, names: Sequence[str]) -> Iterator[Any]:
        """Yield the rows with a label."""
        own = self._target in names or self._target in self._opened.constants
        if own:
            self._found = []
        elif not self._found:
            list(self.batches(self._piece.read, [self._target]))
        at, known = 0, None if own else np.concatenate(self._found)
        for batch in read(names):
            if known is None:
                kept = self._labelled(batch)
                self._found.append(kept)
            else:
                kept = known[at : at + batch.num_rows]
            at += batch.num_rows
            yield _filtered(batch, kept)
        if own:
            self._tell(sum(int((~kept).sum()) for kept in self._found))

    def row_of(self, row: int) -> int:
        """Return which row of the piece is the one with this number among those with a label."""
        return int(np.flatnonzero(np.concatenate(self._found))[row])

    def _labelled(self, batch: Any) -> NDArray[np.bool_]:
        constants = self._opened.constants
        if self._target in constants:
            value = constants[self._target]
            return np.full(batch.num_rows, value is not None and value == value)
        return is_labelled(batch.column(self._target))


def is_labelled(column: Any) -> NDArray[np.bool_]:
    """Return which cells hold a label."""
    missing = pc.is_null(decoded(without_views(column)), nan_is_null=True)
    return ~missing.to_numpy(zero_copy_only=False)


def _filtered(batch: Any, kept: NDArray[np.bool_]) -> Any:
    if kept.all():
        return batch
    if not isinstance(batch, ArrayBatch):
        return batch.filter(pa.array(kept))
    columns = {
        name: column[kept] if isinstance(column, np.ndarray) else column.filter(pa.array(kept))
        for name, column in batch.columns.items()
    }
    return ArrayBatch(columns, int(kept.sum()))
