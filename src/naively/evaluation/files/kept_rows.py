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

_EVERY = 2**64 - 1
_FIRST = 5


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Some judged rows: keys, numbers, the codes of their true classes, answers, and cells."""

    keys: NDArray[np.uint64]
    at: NDArray[np.int64]  # the numbers of the rows, counted from the first of a piece or of all
    truth: NDArray[np.int32]
    answers: Answers
    cells: dict[str, Any]  # columns by name, where they are wanted

    def __getitem__(self, at: NDArray[Any]) -> KeptRows:
        """Return some of the rows."""
        answers = Answers(*(getattr(self.answers, one.name)[at] for one in fields(Answers)))
        cells = {name: column.take(at) for name, column in self.cells.items()}
        return KeptRows(self.keys[at], self.at[at], self.truth[at], answers, cells)


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

    def at(self) -> NDArray[np.int64]:
        """Return the numbers of the rows among all."""
        return np.concatenate([np.empty(0, np.int64), *(part.at for part in self.parts())])

    def truth(self) -> NDArray[np.int32]:
        """Return the codes of the true classes."""
        return np.concatenate([np.empty(0, np.int32), *(part.truth for part in self.parts())])

    def answers(self) -> Answers:
        """Return the answers."""
        found = [part.answers for part in self.parts()]
        return Answers.joined(found, np.arange(self._rows))


def keys_of(piece: int, start: int, n_rows: int) -> NDArray[np.uint64]:
    """Return the keys of rows: of the piece of that number, from one of its rows on.

    The first rows of all are kept in any case: a report shows them.
    """
    at = np.arange(start, start + n_rows, dtype=np.uint64)
    keys = mixed(at, piece * 2**32)
    if piece == 0:
        keys[at < _FIRST] = at[at < _FIRST]
    return keys
