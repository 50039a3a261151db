"""Files and streams whose types are declared: Arrow's own (Feather, IPC), any library's, Parquet.

Arrow's batches are read into memory, so that a file that is cut meanwhile is an error; one that is
mapped would end the process. Only batches too large for that are mapped, and looked at in slices;
what has been read is given back to the system as the pass goes on.

Of a Parquet file, a piece is a row group, or several small ones. The columns of a piece are read in
groups, each by one thread as a stream of batches, so that a row group of any size, with any number
of columns, is read in little memory by all cores.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from threading import local
from typing import Any

from naively.data.kinds import LOOKED_AT
from naively.engines.files.cells import pa
from naively.engines.files.sources import (
    CELLS,
    BadFileError,
    File,
    FilePiece,
    Position,
    Reader,
    change_of,
    columns_together,
)
from naively.errors import later

pq = later("pyarrow.parquet", "reading Parquet", extra="files")

_SLICE_ROWS = 1 << 16  # of a slice, after which memory is given back
_MAX_TOGETHER_BYTES = 1 << 25  # bytes of the columns that a thread reads together
_MAPPED_BYTES = 1 << 27  # bytes of a batch from which on it is mapped


def open_arrow(file: File) -> ArrowReader | StreamReader:
    """Open a file of Arrow: one with a table of contents at its end, or a stream."""
    opened = file.open()
    if file.content is not None:
        return StreamReader(file, pa.ipc.open_stream(opened))
    magic = opened.read(6)
    opened.seek(0)
    if magic.startswith(b"FEA1"):
        raise BadFileError(file.name, "it is Feather of version 1; write it again in version 2")
    if magic == b"ARROW1":
        return ArrowReader(file, opened)
    return StreamReader(file, pa.ipc.open_stream(opened))


class ArrowReader(Reader):
    """A file of record batches that is open."""

    def __init__(self, file: File, opened: Any) -> None:
        reader = pa.ipc.open_file(opened)
        super().__init__(file, reader.schema)
        self._remote = opened if file.remote is not None else None
        self._n_batches = reader.num_record_batches
        self._first_rows, self._first_bytes = (
            _first_batch(file, self._remote) if self._n_batches and len(self._schema) else (0, 0)
        )

    def first_batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield batches of the first rows, with some columns."""
        yield from self._read(range(self._n_batches), names)

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield record batches from one on; small ones together, by the size of the first."""
        rows, last = self._first_rows, self._n_batches
        step = max(1, CELLS // max(1, rows * len(types)))
        width = columns_together(rows * step)
        if self._map is None:
            width = min(width, max(1, _MAX_TOGETHER_BYTES // max(1, 8 * rows)))
        for first in range(start.get("batch", 0), last, step):
            behind = min(first + step, last)
            where = f"record batch {first}" if step == 1 else f"batches {first} to {behind - 1}"
            read = partial(self._read, range(first, behind))
            share = (self.file.size or 0) * behind // last
            yield FilePiece(read, {"batch": behind}, where, share, width)

    @cached_property
    def _map(self) -> mmap.mmap | None:
        """The file in memory, where its batches are large and lie there as they are used."""
        if self._first_bytes < _MAPPED_BYTES:
            return None
        with Path(self.file.name).open("rb") as content:
            return mmap.mmap(content.fileno(), 0, access=mmap.ACCESS_READ)

    def _opened(self, names: Sequence[str]) -> Any:
        if self._map is not None:
            return pa.ipc.open_file(pa.BufferReader(pa.py_buffer(self._map)))
        wanted = [self._schema.get_field_index(name) for name in names]
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=wanted)
        return pa.ipc.open_file(self._remote or pa.OSFile(self.file.name), options=options)

    def _read(self, batches: range, names: Sequence[str]) -> Iterator[Any]:
        reader = self._opened(names)
        for i in batches:
            batch = reader.get_batch(i).select(list(names))
            batch.validate(full=True)
            for start in range(0, batch.num_rows, _SLICE_ROWS):
                self._check_map()
                yield batch.slice(start, _SLICE_ROWS)
                self._give_back()
            if self._map is None and 8 * batch.num_rows > _MAX_TOGETHER_BYTES // 4:
                del batch
                pa.default_memory_pool().release_unused()  # room for all columns was taken

    def _check_map(self) -> None:
        """Raise where the file has changed: what lies behind its end must not be touched."""
        if self._map is not None and (change := change_of(self.file)) is not None:
            raise change

    def _give_back(self) -> None:
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)  # whoever still needs it, reads it again


def _first_batch(file: File, remote: Any) -> tuple[int, int]:
    """Return the rows of the first record batch, and the bytes that can be used where they lie.

    One column tells whether the file is compressed: what is decompressed lies elsewhere. Of a
    mapped file nothing is copied; a remote file is not mapped.
    """
    one = pa.ipc.IpcReadOptions(use_threads=False, included_fields=[0])
    if remote is not None:
        return pa.ipc.open_file(remote, options=one).get_batch(0).num_rows, 0
    with pa.memory_map(file.name) as mapped:
        start = mapped.read_buffer(1).address
        batch = pa.ipc.open_file(mapped, options=one).get_batch(0)
        buffers = [buffer for column in batch.columns for buffer in column.buffers() if buffer]
        in_place = all(0 <= buffer.address - start < mapped.size() for buffer in buffers)
        if not in_place:
            return batch.num_rows, 0
        whole = pa.ipc.open_file(mapped).get_batch(0)
        return batch.num_rows, whole.get_total_buffer_size()


class StreamReader(Reader):
    """Record batches that come one after the other, cut into pieces of equally many rows."""

    def __init__(self, file: File, stream: Any) -> None:
        super().__init__(file, stream.schema)
        self._stream = stream
        self._seen: list[Any] = []  # batches that have been looked at, and come again

    @classmethod
    def of_object(cls, file: File) -> StreamReader:
        """Read an object of some library: a data frame, a relation, a dataset, a reader."""
        content = file.content
        if hasattr(content, "collect_batches"):  # a lazy frame, which is never collected as a whole
            content = content.collect_batches(lazy=True)
        if hasattr(content, "__arrow_c_stream__"):
            return cls(file, pa.RecordBatchReader.from_stream(content))
        scanner = content if hasattr(content, "to_reader") else content.scanner()
        return cls(file, scanner.to_reader())

    def first_batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield the first batches, which come again."""
        yield from self._seen
        for batch in self._new_batches():
            self._seen.append(batch)
            yield batch

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield rows from one on."""
        at = start.get("row", 0)
        size, held, rows = max(1024, CELLS // max(1, len(types))), list[Any](), 0
        for batch in self._batches(at):
            while batch.num_rows:
                part = batch.slice(0, size - rows)
                batch, rows = batch.slice(part.num_rows), rows + part.num_rows
                held.append(part)
                if rows == size:
                    at += rows
                    yield _piece(held, at)
                    held, rows = [], 0
        if held:
            yield _piece(held, at + rows)

    def _batches(self, skip: int) -> Iterator[Any]:
        seen, self._seen = self._seen, []
        for batch in chain(seen, self._new_batches()):
            skipped = min(skip, batch.num_rows)
            skip -= skipped
            yield batch.slice(skipped)

    def _new_batches(self) -> Iterator[Any]:
        while True:
            try:
                batch = self._stream.read_next_batch()
            except StopIteration:
                return
            except (pa.ArrowException, OSError) as error:
                raise BadFileError(self.file.name, f"in the stream, {error}") from None
            yield batch


def _piece(batches: list[Any], end: int) -> FilePiece:
    def read(names: Sequence[str]) -> Iterator[Any]:
        yield from (batch.select(list(names)) for batch in batches)

    rows = sum(batch.num_rows for batch in batches)
    return FilePiece(read, {"row": end}, f"the rows after row {end - rows}", 0)


# --- Parquet files --------------------------------------------------------------------------------


_BATCH_CELLS = 1 << 20  # cells of a batch: what is decoded is summarized while it is in the cache
_MAX_BATCH_ROWS = 1 << 17  # of a batch
_TEXT_BATCH_BYTES = 1 << 23  # bytes of a batch with columns of text, whose cells may be long
_MAX_PIECE_BYTES = 1 << 28  # of small row groups that are read together
_BUFFER_BYTES = 1 << 16  # bytes of a column that are read at once
_REMOTE_BUFFER_BYTES = 1 << 20  # the same where each read is a request
_FETCHED_BYTES = 1 << 26  # bytes of a remote row group up to which its columns are fetched together


class ParquetReader(Reader):
    """A Parquet file that is open."""

    def __init__(self, file: File) -> None:
        with file.open(ahead=False) as opened:
            self._metadata = pq.read_metadata(opened)
        super().__init__(file, self._metadata.schema.to_arrow_schema())
        self._own = local()

    def first_batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield batches of the first rows, with some columns."""
        opened = self.file.open(ahead=False)
        reader = pq.ParquetFile(opened, metadata=self._metadata, pre_buffer=False)
        yield from reader.iter_batches(LOOKED_AT, columns=[*names], use_threads=False)

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield row groups from one on."""
        metadata, n_columns = self._metadata, max(1, len(types))
        self._texts = {name for name, kind in types.items() if pa.types.is_string(kind)}
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
                at == first or (rows * n_columns < CELLS and n_bytes < _MAX_PIECE_BYTES)
            ):
                rows += metadata.row_group(at).num_rows
                n_bytes += metadata.row_group(at).total_byte_size
                at += 1
            done += rows
            groups = f"row group {first}" if at == first + 1 else f"row groups {first} to {at - 1}"
            share = int((self.file.size or 0) * (done / total))
            size_of_row = n_bytes / max(1, rows)
            read = partial(self._read, range(first, at), size_of_row)
            width = columns_together(rows)
            yield FilePiece(read, {"row_group": at}, groups, share, width)

    # --- inside -------------------------------------------------------------------------------

    def _read(self, groups: range, size_of_row: float, names: Sequence[str]) -> Iterator[Any]:
        size = min(_MAX_BATCH_ROWS, max(1024, _BATCH_CELLS // max(1, len(names))))
        if not self._texts.isdisjoint(names):
            size = min(size, max(64, int(_TEXT_BATCH_BYTES / max(1.0, size_of_row))))
        handle = self._handle()
        yield from handle.iter_batches(size, list(groups), list(names), use_threads=False)

    def _handle(self) -> Any:
        """Return the file as this thread holds it: readers are not for several threads."""
        if not hasattr(self._own, "handle"):
            self._own.handle = pq.ParquetFile(
                self.file.open(ahead=False),
                metadata=self._metadata,
                read_dictionary=self._encoded,
                buffer_size=_BUFFER_BYTES if self.file.remote is None else _REMOTE_BUFFER_BYTES,
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
        return max((group.total_byte_size for group in groups), default=0) <= _FETCHED_BYTES
