"""Parquet files, a row group or several small ones at a time.

The columns of a piece are read in groups, each by one thread as a stream of batches, so that a
row group of any size, with any number of columns, is read in little memory by all cores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from threading import local
from typing import Any

from naively.data.kinds import LOOKED_AT
from naively.engines.files.pieces import CELLS, FilePiece, Position, TypedReader, columns_together
from naively.engines.files.sources import BadFileError, File
from naively.errors import later

pa = later("pyarrow", "reading files", extra="files")
pq = later("pyarrow.parquet", "reading Parquet", extra="files")

_BATCH = 1 << 20  # cells of a batch: what is decoded is summarized while it is in the cache
_MOST_ROWS = 1 << 17  # of a batch
_TEXTS = 1 << 23  # bytes of a batch with columns of text, whose cells may be long
_MOST_BYTES = 1 << 28  # of small row groups that are read together
_BUFFER = 1 << 16  # bytes of a column that are read at once
_REMOTE_BUFFER = 1 << 20  # the same where each read is a request
_TOGETHER = 1 << 26  # bytes of a remote row group up to which its columns are fetched together


class ParquetReader(TypedReader):
    """A Parquet file that is open."""

    def __init__(self, file: File) -> None:
        with file.open(ahead=False) as opened:
            self._metadata = pq.read_metadata(opened)
        super().__init__(file, self._metadata.schema.to_arrow_schema())
        self._own = local()

    def first_batches(self, name: str) -> Iterator[Any]:
        """Yield batches of the first rows, with one column."""
        opened = self.file.open(ahead=False)
        reader = pq.ParquetFile(opened, metadata=self._metadata, pre_buffer=False)
        yield from reader.iter_batches(LOOKED_AT, columns=[name], use_threads=False)

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield row groups from one on."""
        metadata, n_columns = self._metadata, max(1, len(types))
        self._encoded = [
            name
            for name, kind in types.items()
            if pa.types.is_dictionary(kind) and pa.types.is_string(self.types[name])
        ]
        at, last = start.get("row_group", 0), metadata.num_row_groups
        total = max(1, metadata.num_rows)
        done = sum(metadata.row_group(i).num_rows for i in range(at))
        while at < last:
            first, rows, n_bytes = at, 0, 0
            while at < last and (
                at == first or (rows * n_columns < CELLS and n_bytes < _MOST_BYTES)
            ):
                rows += metadata.row_group(at).num_rows
                n_bytes += metadata.row_group(at).total_byte_size
                at += 1
            done += rows
            groups = f"row group {first}" if at == first + 1 else f"row groups {first} to {at - 1}"
            share = int((self.file.size or 0) * (done / total))
            width = columns_together(rows)
            size = min(_MOST_ROWS, max(1024, _BATCH // min(width, n_columns)))
            read = partial(self._read, range(first, at), size)
            few = min(_MOST_ROWS, max(1024, _BATCH // n_columns))
            if any(pa.types.is_string(kind) for kind in types.values()):
                few = min(few, max(64, _TEXTS * rows // max(1, n_bytes)))
            read_rows = partial(self._read, range(first, at), few)
            yield FilePiece(read, {"row_group": at}, groups, share, width, read_rows)

    # --- inside -------------------------------------------------------------------------------

    def _read(self, groups: range, size: int, names: Sequence[str]) -> Iterator[Any]:
        try:
            yield from self._handle().iter_batches(
                size, list(groups), list(names), use_threads=False
            )
        except (pa.ArrowException, OSError) as error:
            culprit = next((g for g in groups if not self._is_sound(g, names)), groups[0])
            reason = f"in row group {culprit}, {' '.join(str(error).split())}"
            raise BadFileError(self.file.name, reason) from None

    def _handle(self) -> Any:
        """Return the file as this thread holds it: readers are not for several threads."""
        if not hasattr(self._own, "handle"):
            self._own.handle = pq.ParquetFile(
                self.file.open(ahead=False),
                metadata=self._metadata,
                read_dictionary=self._encoded,
                buffer_size=_BUFFER if self.file.remote is None else _REMOTE_BUFFER,
                pre_buffer=self._fetches_together,  # which holds whole row groups
                page_checksum_verification=True,
            )
        return self._own.handle

    @cached_property
    def _fetches_together(self) -> bool:
        """Whether row groups are fetched in few requests: remote ones that are not large."""
        if self.file.remote is None:
            return False
        groups = map(self._metadata.row_group, range(self._metadata.num_row_groups))
        return max((group.total_byte_size for group in groups), default=0) <= _TOGETHER

    def _is_sound(self, group: int, names: Sequence[str]) -> bool:
        try:
            self._handle().read_row_group(group, columns=list(names), use_threads=False)
        except (pa.ArrowException, OSError):
            return False
        return True
