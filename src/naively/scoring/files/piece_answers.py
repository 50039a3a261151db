"""The rows of a piece become answers.

A row is scored whole, so the columns of a piece are decoded in parallel and put side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from naively.engines.files.arrow_arrays import empty_table
from naively.engines.files.batches import ArrayBatch, combined
from naively.engines.files.cells import RowError
from naively.engines.files.pieces import FilePiece
from naively.engines.files.read_ahead import FilePass
from naively.engines.files.readers import OpenFile
from naively.errors import need
from naively.scoring.files.answers import FileAnswers, copy_of

pa = need("pyarrow", "reading files", extra="files")


class PieceScorer(NamedTuple):
    """How the pieces of files become answers; a user of rows."""

    plan: FileAnswers
    passing: FilePass

    def tasks(self, opened: OpenFile, piece: FilePiece) -> Iterator[Sequence[Callable[[], Any]]]:
        """Yield a task for some rows after the other.

        Where reading some columns costs as much as reading all, that is left to the task.
        """
        types = self.plan.types
        names = list(opened.stored(types)) or list(opened.reader.types)[:1]
        if piece.width is None:
            kept = [name for name in self.plan.kept if name in names]
            yield [partial(self._scored, opened, partial(self._loaded, piece, names, kept))]
            return
        n_lanes = min(self.passing.threads, len(names))
        lanes = [piece.read(names[j::n_lanes]) for j in range(n_lanes)]
        for batch in _side_by_side(lanes, self.passing.pool):
            yield [partial(self._scored, opened, partial(list, [batch]))]

    def _loaded(self, piece: FilePiece, names: list[str], kept: list[str]) -> list[Any]:
        """Read some rows, and the columns that are kept as they are written."""
        if piece.as_written is None or not kept:
            return combined(list(piece.read(names)))
        names = [name for name in names if name in self.plan.columns] or names[:1]
        copies, start, found = pa.Table.from_batches(piece.as_written(kept)), 0, []
        for batch in combined(list(piece.read(names))):
            own = copies.slice(start, batch.num_rows)
            columns = {name: batch.column(name) for name in names}
            columns |= {copy_of(name): own.column(name) for name in kept}
            found.append(ArrayBatch(columns, batch.num_rows))
            start += batch.num_rows
        return found

    def _scored(self, opened: OpenFile, load: Callable[[], list[Any]]) -> Any:
        """Answer for the rows that are loaded, batch by batch."""
        tables, rows = [empty_table(self.plan.schema)], 0
        for batch in load():
            try:
                tables.append(self.plan.table(batch, opened.constants))
            except RowError as error:
                raise RowError(rows + error.row, error.what, error.advice) from None
            rows += batch.num_rows
        return pa.concat_tables(tables)


def _side_by_side(lanes: Sequence[Iterator[Any]], pool: ThreadPoolExecutor) -> Iterator[ArrayBatch]:
    """Put the columns of several lanes side by side, whatever the sizes of their batches.

    Batches of columns with dictionaries end where a dictionary does, those of others do not.
    """
    futures = [pool.submit(next, lane, None) for lane in lanes]
    held: list[Any] = [None] * len(lanes)
    while True:
        for i, lane in enumerate(lanes):
            if held[i] is None or not held[i].num_rows:
                held[i] = futures[i].result()
                futures[i] = pool.submit(next, lane, None)
        ended = [batch is None for batch in held]
        if all(ended):
            return
        if any(ended):
            raise pa.ArrowInvalid("its columns differ in length")
        n_rows = min(batch.num_rows for batch in held)
        yield ArrayBatch({n: b.column(n)[:n_rows] for b in held for n in b.schema.names}, n_rows)
        held = [batch.slice(n_rows) for batch in held]
