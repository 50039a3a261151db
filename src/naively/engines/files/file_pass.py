"""One pass over files: threads work on rows ahead, and results are taken in the order of the rows.

Whatever reads files (summaries, predictions, tables in memory) says which columns it reads and what
is done with the rows of a piece; opening, reading ahead, and errors that name file and row are the
same for all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import tee
from threading import Event
from typing import Any, NamedTuple

from naively.data.threads import thread_count
from naively.engines.files.cells import RowError
from naively.engines.files.plan import ColumnPlan
from naively.engines.files.readers import FirstRows, OpenFile, errors_of_reading
from naively.engines.files.sources import (
    BadFileError,
    File,
    FilePiece,
    Position,
    change_of,
)
from naively.errors import NaivelyError

Progress = Callable[[int, int, int | None], None]
# what threads do with the rows of a piece: groups of tasks, in order
Tasks = Callable[[OpenFile, FilePiece], Iterator[Sequence[Callable[[], Any]]]]

_TASKS_AHEAD = 3  # tasks for each thread


class StoppedError(Exception):
    """The pass was stopped while these rows were being read, and nobody wants the result."""


class FileStep(NamedTuple):
    """Some rows of a file; or its end, without a piece; or what is wrong with it."""

    file: File  # whose rows they are
    bytes: int  # how much of all files lies before the next step
    piece: FilePiece | None = None  # to which they belong
    results: Sequence[Future[Any]] = ()
    error: NaivelyError | None = None  # why the file cannot be read on


class FilePass:
    """A pass over files; as a context, it ends its threads."""

    def __init__(self, first: FirstRows, n_jobs: int | None = None) -> None:
        self.first, self.stop, self.threads = first, Event(), thread_count(n_jobs)
        self.pool = ThreadPoolExecutor(self.threads)
        self.skipped: set[str] = set()  # names of files that are not read on

    def __enter__(self) -> FilePass:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop.set()
        self.pool.shutdown(cancel_futures=True)

    def steps(
        self,
        plan: ColumnPlan,
        tasks: Tasks,
        start: int = 0,
        position: Position | None = None,
    ) -> Iterator[FileStep]:
        """Yield the steps in order, from a file and a position in it on, with work under way."""
        pending: deque[FileStep] = deque()
        for step in self._submitted(plan, tasks, start, position or {}):
            pending.append(step)
            while sum(max(1, len(one.results)) for one in pending) > _TASKS_AHEAD * self.threads:
                yield pending.popleft()
        yield from pending

    def results(
        self,
        plan: ColumnPlan,
        tasks: Tasks,
        rows_of: Callable[[Any], int],
        progress: Progress | None = None,
    ) -> Iterator[list[Any]]:
        """Yield what the tasks of each step return, and ask how many rows one of them is."""
        rows, before = 0, 0  # in all; of the files before this one
        for step in self.steps(plan, tasks):
            with errors_in(step, rows - before):
                results = [result.result() for result in step.results]
            yield results
            rows += sum(map(rows_of, results))
            before = rows if step.piece is None else before
            if progress is not None:
                progress(rows, step.bytes, self.first.n_bytes)

    def _submitted(
        self, plan: ColumnPlan, tasks_of: Tasks, start: int, position: Position
    ) -> Iterator[FileStep]:
        files = self.first.files
        before = sum(file.size or 0 for file in files[:start])
        for file in files[start:]:
            error = None
            try:
                for opened, piece in pieces(self.first, file, plan, position):
                    if file.name in self.skipped:
                        break
                    with errors_of_reading(file, f"in {piece.where}, "):
                        stoppable = replace(piece, read=partial(self._until_stopped, piece.read))
                        for tasks in tasks_of(opened, stoppable):
                            futures = [self.pool.submit(task) for task in tasks]
                            yield FileStep(file, before + piece.bytes, piece, futures)
            except NaivelyError as wrong:
                error = wrong
            before, position = before + (file.size or 0), {}
            yield FileStep(file, before, error=error)

    def _until_stopped(
        self, read: Callable[[Sequence[str]], Iterator[Any]], names: Sequence[str]
    ) -> Iterator[Any]:
        for batch in read(names):
            if self.stop.is_set():
                raise StoppedError
            yield batch


def one_task(work: Callable[[OpenFile, FilePiece], Any]) -> Tasks:
    """Return what makes one task of a piece."""
    return lambda opened, piece: iter([[partial(work, opened, piece)]])


def pieces(
    first: FirstRows, file: File, plan: ColumnPlan, position: Position, *, again: bool = False
) -> Iterator[tuple[OpenFile, FilePiece]]:
    """Open a file and yield its pieces from a position on; all will come once more if ``again``."""
    with errors_of_reading(file):
        opened = first.opened(file).with_parts(plan.dates, plan.types)
        yielded = opened.pieces(plan.columns_of(opened), position)
        if again and file.size is None:
            yielded, rest = tee(yielded)
            first.keep_open(replace(opened, replayed=rest))
        for piece in yielded:
            yield opened, plan.unlabelled.left_out(opened, piece) if plan.unlabelled else piece


@contextmanager
def errors_in(step: FileStep, rows: int) -> Iterator[None]:
    """Name file and row in errors of a step, before which so many rows of the file came.

    Where the file has changed since the pass began, that is the reason.
    """
    file, where = step.file, f"in {step.piece.where}, " if step.piece else ""
    try:
        with errors_of_reading(file, where):
            if step.error is not None:
                raise step.error
            if step.piece is None and (change := change_of(file)) is not None:
                raise change
            yield
    except RowError as error:
        row = rows + 1 + (step.piece.row_of(error.row) if step.piece else error.row)
        reason = f"{error.what} in row {row} of {file.name!r}. {error.advice}"
        raise change_of(file) or NaivelyError(reason) from None
    except NaivelyError as error:
        is_named = isinstance(error, BadFileError) or error is step.error
        named = error if is_named else NaivelyError(f"in {file.name!r}, {error}")
        raise change_of(file) or named from None
