"""The columns of text of some rows: the words of each cell, and a hash of its text.

>>> words = SparseRows(np.array([0, 2, 3]), np.array([0, 2, 1]), np.ones(3), 3)
>>> rows = TextRows(np.array([[5], [7]], np.uint64), (words,))
>>> TextRows.joined([rows[1:], rows]).columns[0].places.tolist()
[1, 0, 2, 1]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.axes import Move
from naively.data.sparse import SparseRows
from naively.data.tensors import Tensors, UnsoundError


@dataclass(frozen=True, eq=False)
class TextRows:
    """Cells of columns of text.

    Attributes
    ----------
    hashes : ndarray of uint64 of shape (n_rows, n_columns)
        Of the text of each cell; 0 where it is missing.
    columns : tuple of SparseRows
        For each column, how often each of its words occurs in each row.
    """

    hashes: NDArray[np.uint64]
    columns: tuple[SparseRows, ...]

    @classmethod
    def empty(cls, n_rows: int, sizes: Sequence[int]) -> TextRows:
        """Return missing cells, of columns of so many words."""
        columns = tuple(SparseRows.empty(size, n_rows) for size in sizes)
        return cls(np.zeros((n_rows, len(sizes)), np.uint64), columns)

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, at: Any) -> TextRows:
        """Return some rows: a slice of them shares their memory."""
        if isinstance(at, slice):
            return TextRows(self.hashes[at], tuple(column[at] for column in self.columns))
        return TextRows(self.hashes[at], tuple(column.take(at) for column in self.columns))

    @staticmethod
    def joined(parts: Sequence[TextRows]) -> TextRows:
        """Return the rows of several, one after the other, under the words of the first."""
        columns = zip(*(part.columns for part in parts), strict=True)
        hashes = np.concatenate([part.hashes for part in parts])
        return TextRows(hashes, tuple(SparseRows.joined(column) for column in columns))

    def moved(self, move: Move) -> TextRows:
        """Return the same once words went to other places."""
        if move.words is None:
            return self
        return self.placed(move.words, [words.size for words in move.after.words])

    def placed(self, places: Sequence[NDArray[Any]], sizes: Sequence[int]) -> TextRows:
        """Return the same with words in other places; -1 where one is gone."""
        triples = zip(self.columns, places, sizes, strict=True)
        columns = tuple(column.moved(at, size) for column, at, size in triples)
        return TextRows(self.hashes, columns)

    def with_columns(self, to: Sequence[int], of: Sequence[int], sizes: Sequence[int]) -> TextRows:
        """Return some of the columns in other places; cells of the others are missing."""
        other = TextRows.empty(len(self), sizes)
        columns = list(other.columns)
        for i, j in zip(to, of, strict=True):
            columns[i] = self.columns[j]
            other.hashes[:, i] = self.hashes[:, j]
        return TextRows(other.hashes, tuple(columns))

    def compact(self) -> TextRows:
        """Return the same in memory of its own, without what other rows need."""
        return TextRows(self.hashes, tuple(map(_compact, self.columns)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TextRows)
            and np.array_equal(self.hashes, other.hashes)
            and self.columns == other.columns
        )

    __hash__ = None  # type: ignore[assignment]

    def tensors(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the whole content as arrays, by names that begin with this one."""
        found: dict[str, NDArray[Any]] = {f"{name}.hashes": self.hashes}
        for i, column in enumerate(map(_compact, self.columns)):
            found |= {
                f"{name}.{i}.starts": column.starts,
                f"{name}.{i}.places": column.places,
                f"{name}.{i}.values": column.values,
            }
        return found

    @classmethod
    def from_tensors(
        cls, tensors: Tensors, name: str, n_rows: int, sizes: Sequence[int]
    ) -> TextRows:
        """Return what `tensors` was told of, having checked every number."""
        hashes = tensors.take(f"{name}.hashes", np.uint64, (n_rows, len(sizes)))
        columns = []
        for i, size in enumerate(sizes):
            n_cells = tensors.length(f"{name}.{i}.places")
            starts = tensors.take(f"{name}.{i}.starts", np.int64, (n_rows + 1,))
            places = tensors.take(f"{name}.{i}.places", np.int32, (n_cells,))
            values = tensors.take(f"{name}.{i}.values", np.uint32, (n_cells,))
            ends = starts[0] == 0 and starts[-1] == n_cells and (np.diff(starts) >= 0).all()
            inside = not n_cells or (places.min() >= 0 and places.max() < size)
            if not (ends and inside and values.all()):
                raise UnsoundError(f"{name} must hold the words of rows, by their places")
            columns.append(SparseRows(starts, places, values, size))
        return cls(hashes, tuple(columns))


def joined_texts(*parts: TextRows | None) -> TextRows | None:
    """Return the rows of text of several; None where there are no columns of text."""
    texts = [part for part in parts if part is not None]
    return TextRows.joined(texts) if texts else None


def _compact(column: SparseRows) -> SparseRows:
    places = column.places[column.cells].astype(np.int32)
    values = column.values[column.cells].astype(np.uint32)
    return SparseRows(column.starts - column.starts[0], places, values, column.n_columns)
