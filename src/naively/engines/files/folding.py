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
from dataclasses import asdict, replace
from itertools import accumulate, tee
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NamedTuple

from naively._optional import need
from naively._threads import _thread_count
from naively.engines.files import checkpoint as checkpoints
from naively.engines.files.cells import RowError, settled, typed
from naively.engines.files.checkpoint import State
from naively.engines.files.csv import Dialect
from naively.engines.files.first_rows import filled
from naively.engines.files.measuring import MixedWork
from naively.engines.files.opening import open_file, reading
from naively.engines.files.pieces import Begun, Piece, Reader
from naively.engines.files.plan import FORMS, Plan, Undecided, Wish, type_of, with_partitions
from naively.engines.files.sources import BadFileError, File, change_of
from naively.engines.files.work import Work
from naively.exceptions import NaivelyError
from naively.schema import Schema
from naively.statistics.sample import EVERYTHING
from naively.summary import Summary

__all__ = ["FIRST", "SECONDS", "Fold", "Progress", "constants_of", "is_text"]

pa = need("pyarrow", "reading files", extra="files")

SECONDS = 3.0  # between two checkpoints
FIRST = 1 << 15  # rows that are looked at where they decide what is measured
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
        schema: Schema | Undecided | None = None,
    ) -> None:
        self.files, self.wish, self.dialect, self.schema = files, wish, dialect, schema
        self.skip_bad_files, self.checkpoint, self.progress = skip_bad_files, checkpoint, progress
        self._stop, self._saved_at = Event(), monotonic()
        self._streams: dict[str, Reader] = {}  # what has been opened and cannot be opened twice
        self._sizes = list(accumulate((file.size or 0 for file in files), initial=0))
        resumed = self._resumed()
        plan = self._planned(resumed.bad if resumed else ())
        self.plan = self._decided(plan, resumed)
        self.state = resumed or State.beginning(self.plan.schema)
        if not _agree(self.state.summary.schema, self.plan.schema):
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
        """Decide by the first file that shows types: CSV without rows does not.

        What a column holds that is empty there, the next file in which it is not decides.
        """
        known = {name for name, _ in bad}
        samples = self._samples([file for file in self.files if file.name not in known])
        for file, reader, sample in samples:
            if file.format != "csv" or sample.num_rows:
                if self.wish.kinds is not None or self.wish.skip_columns:  # not all are numbers
                    sample = filled(sample, (table for *_, table in samples), self.wish.settled)
                fixed = self.schema if isinstance(self.schema, Schema) else None
                alone = len(self.files) == 1
                return Plan.of(sample, self.wish, file, reader.types, alone=alone, fixed=fixed)
        names = ", ".join(repr(file.name) for file in self.files[:3])
        more = f" and {len(self.files) - 3} more" if len(self.files) > 3 else ""
        raise NaivelyError(f"there must be a file that holds rows; got {names}{more}.")

    def _samples(self, files: Sequence[File]) -> Iterator[tuple[File, Reader, Any]]:
        """Yield the first rows of files; a stream is kept open, since it cannot be opened twice."""
        for file in files:
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
            yield file, reader, sample

    def _decided(self, plan: Plan, resumed: State | None) -> Plan:
        """Return what is measured: if it depends on the first rows, they are measured before."""
        if not isinstance(self.schema, Undecided) or self.schema.complete is None:
            return plan
        sampling = replace(plan, schema=replace(plan.schema, sample=self.schema.sample))
        first = self._first_rows(sampling)
        text = is_text(self.files, self.wish)
        decided = self.schema.complete(typed(first, None) if text else settled(first))
        before = None if resumed is None else resumed.summary.schema
        if before is not None and (before.edges is None) == (decided.edges is None):
            # Its edges may be of rows that have been skipped since.
            before = before.decided(decided.held, decided)
            decided = replace(decided, edges=before.edges, knots=before.knots)
        found = zip(first.schema.categories, first.categories, strict=True)
        forms = {plan.features[j]: FORMS.get(names.dtype.kind, "str") for j, names in found}
        return replace(plan, schema=decided, categories=forms | plan.categories)

    def _first_rows(self, plan: Plan) -> Summary:
        """Summarize the first rows. Whatever is wrong with a file, the pass itself will say."""
        total, rows = Summary.zero(plan.schema), 0
        for file in self.files if plan.schema.sample else []:
            its = Summary.zero(plan.schema)
            try:
                for step in self._pieces(file, {}, plan, again=True):
                    work: Any = step.work
                    for summary, n in work.summaries(step.piece):
                        its, rows = its + summary, rows + n
                        if rows >= FIRST:
                            return total + its
                total = total + its
            except (NaivelyError, RowError, OSError, UnicodeDecodeError, pa.ArrowException):
                if not self.skip_bad_files:
                    break
        return total

    def _opened(self, file: File) -> Reader:
        return self._streams.pop(file.name, None) or open_file(file, self.dialect)

    # --- ahead: what can be done before its turn ----------------------------------------------

    def _ahead(
        self, pool: ThreadPoolExecutor, most: int
    ) -> Iterator[tuple[_Step, list[Future[Any]]]]:
        """Let threads work on the next steps while the results of earlier ones are added."""
        pending: deque[tuple[_Step, list[Future[Any]]]] = deque()
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
                    yield from self._pieces(file, position or {}, self.plan)
                yield _Step(file)
            except NaivelyError as error:
                yield _Step(file, error=error)

    def _pieces(
        self, file: File, position: dict[str, int], plan: Plan, *, again: bool = False
    ) -> Iterator[_Step]:
        """Yield the pieces of a file; ``again`` if all of them are to come a second time."""
        reader = self._opened(file)
        constants = constants_of(file, reader)
        held = {name: type_of(value) for name, value in constants.items()}
        plan.check(file, {**reader.types, **held})
        types = {name: kind for name, kind in plan.types.items() if name not in constants}
        pieces = reader.pieces(types, position)
        if again and file.size is None:
            pieces, rest = tee(pieces)
            self._streams[file.name] = Begun(reader, rest)
        work = self._work(plan, constants, is_text([file], self.wish))
        for piece in pieces:
            if not again and self._is_bad(file):
                return
            yield _Step(file, work, piece)

    def _work(self, plan: Plan, constants: dict[str, Any], is_text: bool) -> Work:
        if plan.is_of_numbers:
            return Work(plan, constants, is_text, self._stop)
        return MixedWork(plan, constants, is_text, self._stop, self._bound)

    def _bound(self) -> int:
        """Return the hash below which rows may still come into the sample of the whole pass.

        What a file adds that may be skipped in the end says nothing.
        """
        if not hasattr(self, "state"):
            return EVERYTHING
        sample = (self.state.before if self.skip_bad_files else self.state.summary).sample
        return EVERYTHING if sample is None else sample.bound

    # --- in turn ------------------------------------------------------------------------------

    def _fold(self, step: _Step, futures: list[Future[Any]]) -> None:
        file = step.file
        if self._is_bad(file):
            return
        try:
            self._add(step, futures)
        except NaivelyError as error:
            wrong = change_of(file) or error
            if not (self.skip_bad_files and isinstance(wrong, BadFileError)):
                raise wrong from None
            self.state = self.state.skipped(file, wrong.reason)

    def _add(self, step: _Step, futures: list[Future[Any]]) -> None:
        file, work, piece, wrong = step
        if wrong is not None:
            raise wrong
        if work is None or piece is None:
            if (change := change_of(file)) is not None:
                raise change
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


def _agree(before: Schema, now: Schema) -> bool:
    """Whether a pass goes on: with the same schema, but for what was decided on the way."""
    try:
        before.united(now)
    except NaivelyError:
        return False
    return True


def is_text(files: Sequence[File], wish: Wish) -> bool:
    """Whether labels are read as text, whose type shows only when all of it has been read."""
    return all(file.format == "csv" and wish.target not in file.partitions for file in files)


def constants_of(file: File, reader: Reader) -> dict[str, Any]:
    """Return the columns that a file's path holds and the file itself does not."""
    return {name: v for name, v in file.partitions.items() if name not in reader.types}
