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
from naively.engines.files.pieces import Piece, Rows
from naively.engines.files.plan import named
from naively.engines.files.scoring import Opened, Scoring
from naively.engines.files.sources import File, resolve
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


def _loads(
    piece: Piece, names: Sequence[str], pool: ThreadPoolExecutor, n_lanes: int
) -> Iterator[Callable[[], Any]]:
    """Yield what gives the next rows: tables, decoded by groups of columns in parallel.

    Where reading some columns costs as much as reading all, that is left to those who score.
    """
    if piece.width is None:
        yield partial(_whole, piece, names)
        return
    lanes = [piece.read(names[j::n_lanes]) for j in range(min(n_lanes, len(names)))]
    futures = [pool.submit(next, lane, None) for lane in lanes]
    batches: list[Any]
    while (batches := [future.result() for future in futures])[0] is not None:
        futures = [pool.submit(next, lane, None) for lane in lanes]
        yield partial(_beside, batches)


def _whole(piece: Piece, names: Sequence[str]) -> Any:
    """Read a piece in one."""
    batches = list(piece.read(names)) or [Rows({}, 0)]
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _beside(batches: Sequence[Any]) -> Rows:
    """Put the columns of several batches side by side."""
    columns = {n: batch.column(n) for batch in batches for n in batch.schema.names}
    return Rows(columns, batches[0].num_rows)


def _scored(load: Callable[[], Any], scoring: Scoring, its: Opened) -> Any:
    return scoring.table(load(), its.constants)


def _in_turn(scores: Iterator[_Score], most: int) -> Iterator[tuple[Any, int]]:
    """Yield what was found in the order of the rows, and how many bytes have been read."""
    pending: deque[_Score] = deque()
    rows, before, its = 0, 0, None
    for score in chain(scores, repeat(None)):
        if score is not None:
            pending.append(score)
        if not pending:
            return
        if score is None or len(pending) > most:
            first = pending.popleft()
            if first.its is not its:
                rows, before, its = 0, before + (its.file.size or 0 if its else 0), first.its
            table = _found(first, rows)
            rows += table.num_rows
            yield table, before + first.bytes


def _found(score: _Score, rows: int) -> Any:
    """Return a result, or say what is wrong with a row of the file."""
    try:
        with reading(score.its.file):
            return score.table.result()
    except RowError as error:
        row = rows + error.row + 1
        message = f"{error.what} in row {row} of {score.its.file.name!r}. {error.advice}"
        raise NaivelyError(message) from None
