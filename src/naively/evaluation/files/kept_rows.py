"""A random sample of judged rows: as many as memory allows, in the order of the files.

Each row has a key that its place among the files gives, as if drawn at random, and the rows of the
least keys are kept: which ones does not depend on threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.evaluation.answers import Answers
from naively.evaluation.files.content_folds import mixed

__all__ = ["KeptRows", "RowSample", "keys_of"]

_EVERY = 2**64 - 1


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Some judged rows: their keys, the codes of their true classes, answers, and cells."""

    keys: NDArray[np.uint64]
    truth: NDArray[np.int32]
    answers: Answers
    cells: dict[str, Any]  # columns by name, where they are wanted

    def __getitem__(self, at: NDArray[Any]) -> KeptRows:
        """Return some of the rows."""
        answers = Answers(*(getattr(self.answers, one.name)[at] for one in fields(Answers)))
        cells = {name: column.take(at) for name, column in self.cells.items()}
        return KeptRows(self.keys[at], self.truth[at], answers, cells)

    def least(self, size: int) -> KeptRows:
        """Return the rows of the least keys, in the same order."""
        if self.keys.size <= size:
            return self
        last = np.partition(self.keys, size - 1)[size - 1]
        return self[np.flatnonzero(self.keys <= last)]


class RowSample:
    """The rows of the least keys of all that came."""

    def __init__(self, size: int) -> None:
        self.size, self.bound = size, _EVERY  # rows of keys above the bound are not wanted
        self._parts, self._rows = list[KeptRows](), 0

    def add(self, rows: KeptRows) -> None:
        """Add rows in the order of the files."""
        if rows.keys.size:
            self._parts.append(rows)
            self._rows += rows.keys.size
        if self._rows > 2 * self.size:
            self.parts()

    def parts(self) -> Sequence[KeptRows]:
        """Return the rows that are kept."""
        if self._rows > self.size:
            keys = np.concatenate([part.keys for part in self._parts])
            self.bound = int(np.partition(keys, self.size - 1)[self.size - 1])
            limit = np.uint64(self.bound)
            some = [part[np.flatnonzero(part.keys <= limit)] for part in self._parts]
            self._parts, self._rows = [part for part in some if part.keys.size], self.size
        return self._parts

    def truth(self) -> NDArray[np.int32]:
        """Return the codes of the true classes."""
        return np.concatenate([np.empty(0, np.int32), *(part.truth for part in self.parts())])

    def answers(self) -> Answers:
        """Return the answers."""
        found = [part.answers for part in self.parts()]
        return Answers.joined(found, np.arange(self._rows))


def keys_of(piece: int, start: int, n_rows: int) -> NDArray[np.uint64]:
    """Return the keys of rows: of the piece of that number, from one of its rows on."""
    return mixed(np.arange(start, start + n_rows, dtype=np.uint64), piece * 2**32)
