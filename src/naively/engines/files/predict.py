"""Files are labelled as they stream by, in the order of their rows.

A reader decodes ahead, threads score what it has decoded, and what they found is written in
turn.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain, repeat
from typing import Any, NamedTuple

from naively._optional import need
from naively._threads import _thread_count
from naively.engines.files.cells import RowError
from naively.engines.files.csv import Dialect
from naively.engines.files.folding import Progress, constants_of
from naively.engines.files.opening import open_file, reading
from naively.engines.files.pieces import Piece, Rows, combined
from naively.engines.files.plan import named
from naively.engines.files.scoring import Opened, Scoring
from naively.engines.files.sources import File, change_of, resolve
from naively.engines.files.writing import check_format, written
from naively.exceptions import NaivelyError

__all__ = ["predict"]

pa = need("pyarrow", "reading files", extra="files")


def predict(
    model: Any,
    source: Any,
    output: str | os.PathLike[str],
    *,
    proba: bool = False,
    id: Sequence[str] = (),  # noqa: A002 - as the command line calls it
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
    n_jobs: int | None = None,
    separator: str | None = None,
    decimal: str = ".",
    missing: Sequence[str] = (),
) -> int:
    """Label the rows of files, and write the labels to a file; return how many.

    Parameters
    ----------
    model : estimator
        Fitted. Its columns are found by name; others may be there.
    source : str, path-like, list of those, or an Arrow stream
        What `scan` reads.
    output : path-like
        A file that ends in .parquet, .csv, .arrow or .feather; "-" for CSV on standard output.
        It holds the columns ``id``, then ``prediction``, then, if wanted, ``p_a`` for the
        probability of each class ``a``. It appears when it is whole.
    proba : bool, default=False
        Whether to write probabilities.
    id : sequence of str
        Columns to copy.
    columns : sequence of str, optional
        The columns to read, for a model that was fitted without column names. None: all numeric.
    progress : callable, optional
        Called with the numbers of rows and bytes so far, and of all bytes (None if unknown).
    n_jobs : int, optional
        Threads; None for all cores.
    separator, decimal, missing
        How CSV is written, as for `scan`.
    """
    dialect = Dialect(separator, decimal, tuple(missing))
    check_format(output)
    files = resolve(source)
    opened = _opened(files, dialect)
    first = next(opened)
    scoring = Scoring.of(model, first, proba, named(id), columns)
    threads = _thread_count(n_jobs)
    pool = ThreadPoolExecutor(threads)
    scores = _in_turn(_ahead(chain([first], opened), scoring, pool, threads), 2 * threads)
    total = None if files[0].size is None else sum(file.size or 0 for file in files)
    try:
        with written(output, scoring.schema) as write, ThreadPoolExecutor(1) as writer:
            rows, writing = 0, writer.submit(write, scoring.schema.empty_table())
            for table, n_bytes in scores:
                writing.result()
                writing = writer.submit(write, table)
                rows += table.num_rows
                if progress is not None:
                    progress(rows, n_bytes, total)
            writing.result()
    finally:
        pool.shutdown(cancel_futures=True)
    return rows


class _Score(NamedTuple):
    """Rows of a file that are being scored, and how much of it lies before the next ones."""

    its: Opened
    table: Future[Any]
    bytes: int


def _opened(files: Sequence[File], dialect: Dialect) -> Iterator[Opened]:
    for file in files:
        reader = open_file(file, dialect)
        yield Opened(file, reader, constants_of(file, reader))


def _ahead(
    opened: Iterable[Opened], scoring: Scoring, pool: ThreadPoolExecutor, n_lanes: int
) -> Iterator[_Score]:
    """Read, and let threads score what has been read."""
    for its in opened:
        types = scoring.types(its)
        names = list(types) or list(its.reader.types)[:1]
        pieces = its.reader.pieces(types, {})
        while True:
            with reading(its.file):
                piece = next(pieces, None)
            if piece is None:
                break
            loads = _loads(piece, names, pool, n_lanes)
            while True:
                with reading(its.file, f"in {piece.where}, "):
                    load = next(loads, None)
                if load is None:
                    break
                score = partial(_scored, load, scoring, its)
                yield _Score(its, pool.submit(score), piece.bytes)
        _check_unchanged(its)


def _loads(
    piece: Piece, names: Sequence[str], pool: ThreadPoolExecutor, n_lanes: int
) -> Iterator[Callable[[], list[Any]]]:
    """Yield what gives the next rows: tables, decoded by groups of columns in parallel.

    Where reading some columns costs as much as reading all, that is left to those who score.
    """
    if piece.width is None:
        yield lambda: combined(list(piece.read(names)))
        return
    lanes = [piece.read(names[j::n_lanes]) for j in range(min(n_lanes, len(names)))]
    for rows in _beside(lanes, pool):
        yield partial(list, [rows])


def _beside(lanes: Sequence[Iterator[Any]], pool: ThreadPoolExecutor) -> Iterator[Rows]:
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
        yield Rows({n: b.column(n)[:n_rows] for b in held for n in b.schema.names}, n_rows)
        held = [batch.slice(n_rows) for batch in held]


def _scored(load: Callable[[], list[Any]], scoring: Scoring, its: Opened) -> Any:
    """Label the rows that are loaded, batch by batch."""
    tables, rows = [scoring.schema.empty_table()], 0
    for batch in load():
        try:
            tables.append(scoring.table(batch, its.constants))
        except RowError as error:
            raise RowError(rows + error.row, error.what, error.advice) from None
        rows += batch.num_rows
    return pa.concat_tables(tables)


def _in_turn(scores: Iterator[_Score], most: int) -> Iterator[tuple[Any, int]]:
    """Yield what was found in the order of the rows, and how many bytes have been read."""
    pending: deque[_Score] = deque()
    rows, before = 0, 0
    its: Opened | None = None
    for score in chain(scores, repeat(None)):
        if score is not None:
            pending.append(score)
        if not pending:
            _check_unchanged(its)
            return
        if score is None or len(pending) > most:
            first = pending.popleft()
            if first.its is not its:
                _check_unchanged(its)
                rows, before, its = 0, before + (its.file.size or 0 if its else 0), first.its
            table = _found(first, rows)
            rows += table.num_rows
            yield table, before + first.bytes


def _check_unchanged(its: Opened | None) -> None:
    """Raise where a file is not what it was before it was read."""
    if its is not None and (change := change_of(its.file)) is not None:
        raise change


def _found(score: _Score, rows: int) -> Any:
    """Return a result, or say what is wrong with a row of the file."""
    try:
        with reading(score.its.file):
            return score.table.result()
    except RowError as error:
        _check_unchanged(score.its)
        row = rows + error.row + 1
        message = f"{error.what} in row {row} of {score.its.file.name!r}. {error.advice}"
        raise NaivelyError(message) from None
