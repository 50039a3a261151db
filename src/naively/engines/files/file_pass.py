"""One pass over files: threads work on rows ahead, and results are taken in the order of the rows.

Whatever reads files (summaries, predictions, tables in memory) says which columns it reads and what
is done with the rows of a piece; opening, reading ahead, and errors that name file and row are the
same for all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import tee
from threading import Event
from typing import Any, NamedTuple, Protocol

import numpy as np

from naively.data.dates import PARTS, part_names
from naively.data.kinds import DATES
from naively.data.threads import thread_count
from naively.engines.files.cells import RowError
from naively.engines.files.plan import source_of, with_parts
from naively.engines.files.readers import FirstRows, OpenFile, errors_of_reading
from naively.engines.files.sources import (
    BadFileError,
    File,
    FilePiece,
    Position,
    ReplayedReader,
    change_of,
)
from naively.engines.memory.date_columns import DateColumn, DatePart
from naively.engines.memory.native.arrow import held_by_type
from naively.errors import NaivelyError, later

pa = later("pyarrow", "reading files", extra="files")

Progress = Callable[[int, int, int | None], None]
Task = Callable[[], Any]

_AHEAD = 3  # tasks for each thread


class StoppedError(Exception):
    """The pass was stopped while these rows were being read, and nobody wants the result."""


class ColumnsToRead(Protocol):
    """Which columns are read from every file."""

    @property
    def dates(self) -> Mapping[str, bool]:
        """The columns of dates that are read by their parts, and whether they have times."""

    @property
    def types(self) -> Mapping[str, Any]:
        """As what each column of a CSV file is read."""

    def columns_of(self, opened: OpenFile) -> Mapping[str, Any]:
        """Return the columns to read from a file and, for text, as what; or raise."""


class RowUser(Protocol):
    """What uses the rows of files."""

    @property
    def plan(self) -> ColumnsToRead:
        """The columns that it reads."""

    def tasks(self, opened: OpenFile, piece: FilePiece) -> Iterator[Sequence[Task]]:
        """Yield what threads do with the rows of a piece: groups of tasks, in order."""


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
        self, user: RowUser, start: int = 0, position: Position | None = None
    ) -> Iterator[FileStep]:
        """Yield the steps in order, from a file and a position in it on, with work under way."""
        pending: deque[FileStep] = deque()
        for step in self._submitted(user, start, position or {}):
            pending.append(step)
            while sum(max(1, len(one.results)) for one in pending) > _AHEAD * self.threads:
                yield pending.popleft()
        yield from pending

    def _submitted(self, user: RowUser, start: int, position: Position) -> Iterator[FileStep]:
        files = self.first.files
        before = sum(file.size or 0 for file in files[:start])
        for file in files[start:]:
            error = None
            try:
                for opened, piece in pieces(self.first, file, user.plan, position):
                    if file.name in self.skipped:
                        break
                    for tasks in _groups(user, opened, piece):
                        futures = [self.pool.submit(task) for task in tasks]
                        yield FileStep(file, before + piece.bytes, piece, futures)
            except NaivelyError as wrong:
                error = wrong
            before, position = before + (file.size or 0), {}
            yield FileStep(file, before, error=error)


def _groups(user: RowUser, opened: OpenFile, piece: FilePiece) -> Iterator[Sequence[Task]]:
    groups = user.tasks(opened, piece)
    while True:
        with errors_of_reading(opened.file, f"in {piece.where}, "):
            tasks = next(groups, None)
        if tasks is None:
            return
        yield tasks


def pieces(
    first: FirstRows, file: File, plan: ColumnsToRead, position: Position, *, again: bool = False
) -> Iterator[tuple[OpenFile, FilePiece]]:
    """Open a file and yield its pieces from a position on; all will come once more if ``again``."""
    with errors_of_reading(file):
        opened = opened_with_parts(first.opened(file), plan.dates, plan.types)
        found = opened.reader.pieces(opened.stored(plan.columns_of(opened)), position)
        if again and file.size is None:
            found, rest = tee(found)
            first.keep_open(opened._replace(reader=ReplayedReader(opened.reader, rest)))
        unlabelled = getattr(plan, "unlabelled", None)  # of those alone that read labels
        for piece in found:
            yield opened, piece if unlabelled is None else unlabelled.left_out(opened, piece)


@contextmanager
def errors_in(step: FileStep, rows: int) -> Iterator[None]:
    """Name file and row in errors of a step, before which so many rows of the file came.

    Where the file has changed since the pass began, that is the reason.
    """
    try:
        with _errors_in(step, rows):
            if step.error is not None:
                raise step.error
            if step.piece is None and (change := change_of(step.file)) is not None:
                raise change
            yield
    except NaivelyError as error:
        raise change_of(step.file) or error from None


@contextmanager
def _errors_in(step: FileStep, rows: int) -> Iterator[None]:
    name = step.file.name
    try:
        with errors_of_reading(step.file, f"in {step.piece.where}, " if step.piece else ""):
            yield
    except RowError as error:
        row = rows + 1 + (step.piece.row_of(error.row) if step.piece else error.row)
        raise NaivelyError(f"{error.what} in row {row} of {name!r}. {error.advice}") from None
    except BadFileError:
        raise
    except NaivelyError as error:
        raise error if error is step.error else NaivelyError(f"in {name!r}, {error}") from None


# --- Columns of dates, read by their parts --------------------------------------------------------


def opened_with_parts(
    opened: OpenFile, dates: Mapping[str, bool], types: Mapping[str, Any]
) -> OpenFile:
    """Return a file that has the parts of dates as columns, of the types that are read."""
    own = opened.reader.types
    there = {name: dates[name] for name in dates if name in own}
    for name in there:
        held = None if own[name] is None else held_by_type(own[name])
        if held is not None and held.what not in (*DATES, "text", "nothing"):
            raise NaivelyError(
                f"column {name!r} must hold dates as before; got {held.type}{opened.where}. "
                "Exclude it, or convert it."
            )
    opened = opened._replace(constants=_constant_parts(opened, dates, types))
    return opened._replace(reader=_PartsReader(opened, there)) if there else opened


def _constant_parts(
    opened: OpenFile, dates: Mapping[str, bool], types: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the columns that the path holds, and the parts of the dates among them."""
    found = dict(opened.constants)
    for name in dates.keys() & found.keys():
        source = DateColumn(np.array([found[name]], object), f"column {name!r}")
        for part, its in zip(PARTS, part_names(name, has_time=dates[name]), strict=False):
            cell = DatePart(source, part)
            is_number = types.get(its) == pa.float64()
            try:
                value = cell.numbers().item() if is_number else cell[:].item()
            except NaivelyError as error:
                raise BadFileError(opened.file.name, f"in its path, {error}") from None
            found[its] = float("nan") if value is None and part != "weekday" else value
    return found


class _PartsReader:
    """A reader of a file, whose dates are read by their parts; they can be read themselves, too."""

    def __init__(self, opened: OpenFile, dates: Mapping[str, bool]) -> None:
        self._opened, self._dates, self._reader = opened, dates, opened.reader
        self.first_batches = opened.reader.first_batches

    @property
    def types(self) -> Mapping[str, Any]:
        """The columns and their types; what parts hold is known."""
        found, its = dict[str, Any](), self._dates
        for name, kind in self._reader.types.items():
            parts = part_names(name, has_time=its[name]) if name in its else []
            found |= dict.fromkeys(parts) or {name: kind}
        return found

    def sample(self) -> Any:
        """Return a table whose types are those of the columns."""
        return with_parts(self._reader.sample(), self._dates)

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield the pieces; text is read as text, and becomes dates afterwards."""
        own = self._reader.types
        read: dict[str, Any] = {}
        for name, kind in types.items():
            source = source_of(name, self._dates)
            is_typed = own.get(source) is not None and not pa.types.is_null(own[source])
            as_dates = own[source] if is_typed else pa.string()
            read[source] = kind if source == name else as_dates
        for piece in self._reader.pieces(read, start):
            yield replace(
                piece,
                read=partial(self._read, piece.read, types, piece.where),
                read_rows=piece.read_rows
                and partial(self._read, piece.read_rows, types, piece.where),
            )

    def _read(
        self,
        read: Callable[[Sequence[str]], Iterator[Any]],
        types: Mapping[str, Any],
        where: str,
        names: Sequence[str],
    ) -> Iterator[Any]:
        sources = dict.fromkeys(source_of(name, self._dates) for name in names)
        for batch in read(list(sources)):
            if {*sources} == {*names}:
                yield batch
                continue
            used = [name for name in sources if name in self._dates]
            dates = {n: DateColumn(batch.column(n), f"column {n!r}") for n in used}
            try:
                arrays = [self._array(batch, dates, name, types[name]) for name in names]
            except NaivelyError as error:
                raise BadFileError(self._opened.file.name, f"in {where}, {error}") from None
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))

    def _array(self, batch: Any, dates: Mapping[str, DateColumn], name: str, kind: Any) -> Any:
        source = source_of(name, self._dates)
        if source == name:
            return batch.column(name)
        part = DatePart(dates[source], name.removeprefix(f"{source}."))
        return pa.array(part.numbers()) if kind == pa.float64() else _categories(part)


def _categories(part: DatePart) -> Any:
    """Return a part of dates as categories."""
    codes, categories = part.codes()
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(categories))
