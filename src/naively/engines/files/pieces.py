"""What a reader hands over: a file, piece by piece.

Where a piece ends depends on the file alone, never on threads, time or what was read before, so
that a pass that goes on at a position sees the pieces that an uninterrupted one would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from naively.engines.files.cells import plain
from naively.engines.files.sources import File
from naively.errors import NaivelyError, later

pa = later("pyarrow", "reading files", extra="files")

Position = dict[str, int]
CELLS = 1 << 22  # of a piece, about: 32 MB of float64


@dataclass(frozen=True)
class FilePiece:
    """Some rows of a file."""

    # given names of columns, it yields record batches, or `ArrayBatch`, that hold them
    read: Callable[[Sequence[str]], Iterator[Any]]
    after: Position  # where the next piece begins
    where: str  # which piece it is, for messages: "row group 3"
    bytes: int  # how much of the file lies before the next piece
    # how many columns are best read together; None: all of them, since reading some costs as much
    # as reading all
    width: int | None = None
    # as ``read``, but in batches that are small even if all columns are read; None: ``read`` does
    # that
    read_rows: Callable[[Sequence[str]], Iterator[Any]] | None = None
    # as ``read``, but with cells as the file writes them, to be copied; None: ``read`` does that
    as_written: Callable[[Sequence[str]], Iterator[Any]] | None = None
    # which row of the file one of those is, counted from the first piece that has been read; as
    # many are left out before it
    row_of: Callable[[int], int] = int


class Reader(Protocol):
    """A file that is open."""

    @property
    def types(self) -> Mapping[str, Any]:
        """The columns and their types; None where a type is what one makes of the text."""

    def sample(self) -> Any:
        """Return a table whose types are those of the columns: with some rows, or none."""

    def first_batches(self, name: str) -> Iterator[Any]:
        """Yield batches of the first rows, with one column, where `sample` has none of them."""

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield the pieces from a position on, ``{}`` being the beginning.

        ``types`` names the columns that will be read and, for text, as what.
        """


class TypedReader:
    """What readers of files and streams share whose types an Arrow schema declares."""

    def __init__(self, file: File, schema: Any) -> None:
        check_names(schema.names, file)
        self.file, self._schema = file, schema
        self.types: Mapping[str, Any] = dict(zip(schema.names, schema.types, strict=True))

    def sample(self) -> Any:
        """Return no rows, of plain types."""
        fields = zip(self._schema.names, map(plain, self._schema.types), strict=True)
        return pa.schema(list(fields)).empty_table()


class ReplayedReader:
    """A reader of a stream, which can be read only once: pieces that were looked at come again."""

    def __init__(self, reader: Reader, pieces: Iterator[FilePiece]) -> None:
        self.types, self.sample, self._pieces = reader.types, reader.sample, pieces
        self.first_batches = reader.first_batches

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield the pieces from the beginning on."""
        return self._pieces


def columns_together(rows: int) -> int:
    """Return how many columns are best read together: a million cells, at least two lanes.

    >>> columns_together(1_000_000), columns_together(10_000)
    (16, 112)
    """
    return max(16, (1 << 20) // max(1, rows) // 8 * 8 + 8)


def check_names(names: Sequence[str], file: File) -> None:
    """Raise where two columns have one name."""
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise NaivelyError(f"column names must differ; {file.name!r} has {twice!r} twice.")
