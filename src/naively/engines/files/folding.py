"""The pass: pieces are summarized by threads, and added in the order of the rows.

The order of the sum is that of the files and of the rows in them, whatever the threads do and
wherever the pass was interrupted: the same bits always.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NamedTuple

from naively._threads import _thread_count
from naively.engines.files import checkpoint as checkpoints
from naively.engines.files.cells import RowError
from naively.engines.files.checkpoint import State
from naively.engines.files.csv import Dialect
from naively.engines.files.opening import open_file, reading
from naively.engines.files.pieces import Piece, Reader
from naively.engines.files.plan import Plan, Wish, type_of, with_partitions
from naively.engines.files.sources import BadFileError, File
from naively.engines.files.work import Part, Work
from naively.exceptions import NaivelyError

__all__ = ["SECONDS", "Fold", "Progress", "constants_of", "is_text"]

SECONDS = 3.0  # between two checkpoints
Progress = Callable[[int, int, int | None], None]


class _Step(NamedTuple):
    """A piece of a file, or its end, or what is wrong with it."""

    file: File
    work: Work | None = None
    piece: Piece | None = None
    error: Exception | None = None


class Fold:
    """A pass over files, and how far it has come."""

    def __init__(
        self,
        files: list[File],
        wish: Wish,
        dialect: Dialect,
        skip_bad_files: bool,
        checkpoint: str | os.PathLike[str] | None,
        progress: Progress | None,
    ) -> None:
        self.files, self.wish, self.dialect = files, wish, dialect
        self.skip_bad_files, self.checkpoint, self.progress = skip_bad_files, checkpoint, progress
        self._stop, self._saved_at = Event(), monotonic()
        self._streams: dict[str, Reader] = {}  # what has been opened and cannot be opened twice
        self._sizes = list(accumulate((file.size or 0 for file in files), initial=0))
        resumed = self._resumed()
        self.plan = self._planned(resumed.bad if resumed else ())
        self.state = resumed or State.beginning(self.plan.schema)
        if self.state.summary.schema != self.plan.schema:
            raise NaivelyError(
                f"the checkpoint {str(checkpoint)!r} is of other columns. Remove it to begin anew."
            )

    def run(self, n_jobs: int | None) -> State:
        """Read everything, from the checkpoint on if there is one."""
        threads = _thread_count(n_jobs)
        pool = ThreadPoolExecutor(threads)
        try:
            for step, futures in self._ahead(pool, 3 * threads):
                self._fold(step, futures)
                self._tell(step)
                if monotonic() - self._saved_at > SECONDS:
                    self._save()
        finally:
            self._stop.set()
            pool.shutdown(cancel_futures=True)
            self._save()
        return self.state

    # --- before: what to read, and from where -------------------------------------------------

    def _resumed(self) -> State | None:
        if self.checkpoint is None or not Path(self.checkpoint).exists():
            return None
        state = checkpoints.load(self.checkpoint, self._asked())
        return state.resumed(self.files, str(self.checkpoint))

    def _asked(self) -> dict[str, Any]:
        """Return what must be the same when a pass goes on, as JSON knows it."""
        return json.loads(json.dumps(asdict(self.wish) | asdict(self.dialect)))

    def _planned(self, bad: Sequence[tuple[str, str]]) -> Plan:
        """Decide by the first file that shows types: CSV without rows does not."""
        known = {name for name, _ in bad}
        for file in (file for file in self.files if file.name not in known):
            try:
                reader = self._opened(file)
                with reading(file):
                    sample = with_partitions(reader.sample(), constants_of(file, reader))
            except BadFileError:
                if not self.skip_bad_files:
                    raise
                continue
            if file.size is None:
                self._streams[file.name] = reader
            if file.format != "csv" or sample.num_rows:
                return Plan.of(sample, self.wish, file, alone=len(self.files) == 1)
        names = ", ".join(repr(file.name) for file in self.files[:3])
        more = f" and {len(self.files) - 3} more" if len(self.files) > 3 else ""
        raise NaivelyError(f"there must be a file that holds rows; got {names}{more}.")

    def _opened(self, file: File) -> Reader:
        return self._streams.pop(file.name, None) or open_file(file, self.dialect)

    # --- ahead: what can be done before its turn ----------------------------------------------

    def _ahead(
        self, pool: ThreadPoolExecutor, most: int
    ) -> Iterator[tuple[_Step, list[Future[Part]]]]:
        """Let threads work on the next steps while the results of earlier ones are added."""
        pending: deque[tuple[_Step, list[Future[Part]]]] = deque()
        for step in self._steps():
            tasks = step.work.tasks(step.piece) if step.work and step.piece else []
            pending.append((step, [pool.submit(task) for task in tasks]))
            while sum(max(1, len(futures)) for _, futures in pending) > most:
                yield pending.popleft()
        while pending:
            yield pending.popleft()

    def _steps(self) -> Iterator[_Step]:
        start = self.state
        for file in self.files[len(start.finished) :]:
            position = start.position if start.current == file.identity else None
            try:
                with reading(file):
                    yield from self._pieces(file, position or {})
                yield _Step(file)
            except NaivelyError as error:
                yield _Step(file, error=error)

    def _pieces(self, file: File, position: dict[str, int]) -> Iterator[_Step]:
        reader = self._opened(file)
        constants = constants_of(file, reader)
        held = {name: type_of(value) for name, value in constants.items()}
        self.plan.check(file, {**reader.types, **held})
        types = {name: kind for name, kind in self.plan.types.items() if name not in constants}
        work = Work(self.plan, constants, is_text([file], self.wish), self._stop)
        for piece in reader.pieces(types, position):
            if self._is_bad(file):
                return
            yield _Step(file, work, piece)

    # --- in turn ------------------------------------------------------------------------------

    def _fold(self, step: _Step, futures: list[Future[Part]]) -> None:
        file = step.file
        if self._is_bad(file):
            return
        try:
            self._add(step, futures)
        except BadFileError as error:
            if not self.skip_bad_files:
                raise
            self.state = self.state.skipped(file, error.reason)

    def _add(self, step: _Step, futures: list[Future[Part]]) -> None:
        file, work, piece, wrong = step
        if wrong is not None:
            raise wrong
        if work is None or piece is None:
            self.state = self.state.ended(file)
            return
        try:
            with reading(file, f"in {piece.where}, "):
                summary, rows = work.joined([future.result() for future in futures])
            self.state = self.state.added(summary, rows, file, piece.after)
        except RowError as error:
            row = self.state.rows - self.state.rows_before + error.row + 1
            raise NaivelyError(
                f"{error.what} in row {row} of {file.name!r}. {error.advice}"
            ) from None
        except BadFileError:
            raise
        except NaivelyError as error:
            raise NaivelyError(f"in {file.name!r}, {error}") from None

    def _is_bad(self, file: File) -> bool:
        return any(name == file.name for name, _ in self.state.bad)

    def _tell(self, step: _Step) -> None:
        if self.progress is None:
            return
        done = self._sizes[len(self.state.finished)]
        if step.piece is not None and self.state.current is not None:
            done += step.piece.bytes
        known = self.files[0].size is not None  # a stream stands alone
        self.progress(self.state.rows, done, self._sizes[-1] if known else None)

    def _save(self) -> None:
        if self.checkpoint is not None:
            checkpoints.save(self.checkpoint, self.state, self._asked())
        self._saved_at = monotonic()


def is_text(files: Sequence[File], wish: Wish) -> bool:
    """Whether labels are read as text, whose type shows only when all of it has been read."""
    return all(file.format == "csv" and wish.target not in file.partitions for file in files)


def constants_of(file: File, reader: Reader) -> dict[str, Any]:
    """Return the columns that a file's path holds and the file itself does not."""
    return {name: v for name, v in file.partitions.items() if name not in reader.types}
