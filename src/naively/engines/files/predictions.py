r"""Predict the rows of files, and write the answers to a file.

It is the pass that also summarizes files: threads read and score rows ahead, and what they found is
written in turn. A row is scored whole, so the columns of a piece are decoded in parallel and put
side by side. `read_some` reads a few rows, up to the last one that is wanted.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "out.csv"
>>> with written(path, pa.schema([("x", pa.int64())])) as write:
...     write(pa.table({"x": [1, 2]}))
>>> path.read_text()
'x\n1\n2\n'
"""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from naively.data.plan import repeated
from naively.data.remote import shown
from naively.data.rows import Rows
from naively.data.whole_files import new_file
from naively.engines import Classifier
from naively.engines.files.cells import (
    Batch,
    arrow_labels,
    arrow_labels_among,
    arrow_numbers,
    columns_in,
    empty_table,
    number_columns,
    pa,
    raise_not_finite,
    rows_counted_from,
)
from naively.engines.files.csv import CsvDialect
from naively.engines.files.file_pass import FilePass, Progress
from naively.engines.files.plan import ColumnPlan, named
from naively.engines.files.readers import FirstRows, OpenFile
from naively.engines.files.sources import FilePiece
from naively.engines.memory.frames.arrow import decoded, floats
from naively.errors import NaivelyError, later, need

pacsv = later("pyarrow.csv", "writing CSV", extra="files")


def predict(
    model: Classifier,
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
    encoding: str | None = None,
) -> int:
    """Label the rows of files, and write the labels to a file; return how many.

    Parameters
    ----------
    model : GaussianNB or NaiveBayes
        Fitted. Its columns are found by name; others may be there.
    source : str, path-like, list of those, or an Arrow stream
        What `naively.engines.files.scan` reads.
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
    separator, decimal, missing, encoding
        How files of text are written, as for `scan`.
    """
    check_format(output)
    first = FirstRows.of(source, CsvDialect(separator, decimal, tuple(missing), encoding))
    first.check_sound()
    model = _on_one_thread(model)
    plan = ColumnPlan.of_model(first, model.summary_, columns, named(id))
    answers, rows = FileAnswers.of(model, first, plan, proba), 0
    with (
        FilePass(first, n_jobs) as passing,
        written(output, answers.schema) as write,
        ThreadPoolExecutor(1) as writer,
    ):
        writing = writer.submit(write, empty_table(answers.schema))
        scorer = PieceTables(plan, passing, answers.table, answers.schema)
        for tables in passing.results(plan, scorer.tasks, attrgetter("num_rows"), progress):
            for table in tables:
                writing.result()
                writing = writer.submit(write, table)
                rows += table.num_rows
        writing.result()
    return rows


# --- What is written about the rows of files ------------------------------------------------------


@dataclass(frozen=True)
class FileAnswers:
    """What a model answers for rows of files."""

    model: Classifier  # what answers, on one thread
    plan: ColumnPlan
    proba: bool  # whether probabilities are wanted
    schema: Any  # what is written

    @classmethod
    def of(cls, model: Classifier, first: FirstRows, plan: ColumnPlan, proba: bool) -> FileAnswers:
        """Decide by the first file."""
        types = dict(zip(first.names, first.table.schema.types, strict=True))
        if first.file is not None and first.file.file.format == "csv":
            types = dict.fromkeys(types, pa.string())
        copied = [(name, _copied(types[name])) for name in plan.copied]
        return cls(model, plan, proba, _schema(model, copied, proba))

    def table(self, batch: Batch) -> Any:
        """Return what is written about the rows of a batch."""
        if not batch.num_rows:
            return empty_table(self.schema)
        columns = [_copy(name, batch) for name in self.plan.copied]
        answer = self._numbers if _takes_most_probable(self.model) else self._mixed
        labels, probabilities = answer(batch)
        columns.append(labels)
        if probabilities is not None:
            columns += [arrow_numbers(column) for column in np.ascontiguousarray(probabilities.T)]
        arrays = list(map(_as_first, columns, self.schema))
        return pa.Table.from_arrays(arrays, schema=self.schema)

    # --- inside -------------------------------------------------------------------------------

    def _numbers(self, batch: Batch) -> tuple[Any, Any]:
        """Label rows of numbers: the short way to the kernel."""
        scorer, classes = self.model.model_.scorer, self.model.classes_
        names, n_rows = self.plan.features, batch.num_rows
        X, at = number_columns(batch, names), np.empty(n_rows, dtype=np.int64)
        rows = Rows((n_rows, len(names)), X, [])
        if not scorer.write("labels", rows, at):
            raise_not_finite(X, names, 0)
        labels = arrow_labels(classes).take(arrow_numbers(at))
        if not self.proba:
            return labels, None
        out = np.empty((n_rows, classes.size))
        scorer.write("proba", rows, out)
        return labels, out

    def _mixed(self, batch: Batch) -> tuple[Any, Any]:
        rows = self.plan.table(batch, self.plan.schema, self.model.summary_.words)
        self.plan.check_finite(rows, self.plan.schema, 0)
        labels = arrow_labels_among(self.model.predict(rows), _answers(self.model))
        return labels, self.model.predict_proba(rows) if self.proba else None


def _copy(name: str, batch: Batch) -> Any:
    if name in batch.constants:
        return pa.array([batch.constants[name]] * batch.num_rows)
    return batch.as_written[name] if name in batch.as_written else batch.array(name)


def _on_one_thread(model: Classifier) -> Classifier:
    """Return a model as it is now: batches are what threads share."""
    model = model.__naively_snapshot__(n_jobs=1)
    model.model_.scorer  # noqa: B018 - it is read once, before threads do
    if model.model_.coded:
        raise NaivelyError(
            f"files are labelled by GaussianNB or NaiveBayes; got {type(model).__name__}. "
            "Read the rows into memory."
        )
    return model


def _takes_most_probable(model: Classifier) -> bool:
    """Whether a model reads numbers alone, and the most probable class is what it answers."""
    if model.summary_.schema.kinds is not None:
        return False
    return getattr(model, "reject", None) is None and getattr(model, "costs", None) is None


def _answers(model: Classifier) -> Any:
    """Return all labels that may be answered, sorted."""
    reject = getattr(model, "reject", None)
    return model.classes_ if reject is None else np.unique(np.append(model.classes_, reject[1]))


def _schema(model: Classifier, copied: Sequence[tuple[str, Any]], proba: bool) -> Any:
    fields = [*copied, ("prediction", arrow_labels(_answers(model)).type)]
    fields += [(f"p_{label}", pa.float64()) for label in model.classes_.tolist() if proba]
    if (twice := repeated(name for name, _ in fields)) is not None:
        raise NaivelyError(f"columns of the output must differ; {twice!r} is there twice.")
    return pa.schema(fields)


def _copied(kind: Any) -> Any:
    """Return the type of a column that is copied; what is empty so far may hold text later."""
    return pa.string() if pa.types.is_null(kind) else kind


def _as_first(column: Any, field: Any) -> Any:
    """Return a column that is written, in the type that the first rows have."""
    try:
        return column.cast(field.type)
    except pa.ArrowException as error:
        raise NaivelyError(
            f"column {field.name!r} must hold {field.type}, as the first rows do: {error}. Write "
            "it as text, or do not copy it."
        ) from None


# --- The rows of a piece become answers -----------------------------------------------------------


class PieceTables(NamedTuple):
    """How the pieces of files become tables."""

    plan: ColumnPlan
    passing: FilePass
    table: Callable[[Batch], Any]
    schema: Any  # of the tables

    def tasks(self, opened: OpenFile, piece: FilePiece) -> Iterator[Sequence[Callable[[], Any]]]:
        """Yield a task for some rows after the other.

        Where reading some columns costs as much as reading all, that is left to the task.
        """
        names = list(self.plan.types)
        if piece.width is None:
            yield [partial(self._joined, partial(self._whole, opened, piece))]
            return
        sources = opened.sources(names)
        n_lanes = min(self.passing.threads, len(sources))
        lanes = [piece.read(sources[j::n_lanes]) for j in range(n_lanes)]
        for read in _side_by_side(lanes, self.passing.pool):
            yield [partial(self._joined, partial(_one, opened, read, names, piece))]

    def _whole(self, opened: OpenFile, piece: FilePiece) -> Iterator[Batch]:
        """Yield the rows of a piece, and the columns that are kept as they are written."""
        kept = [name for name in self.plan.copied if name not in opened.constants]
        if piece.as_written is None or not kept:
            yield from opened.batches(piece, list(self.plan.types))
            return
        copies, start = pa.Table.from_batches(piece.as_written(kept)), 0
        for batch in opened.batches(piece, self.plan.features):
            own = copies.slice(start, batch.num_rows)
            batch.as_written = dict(zip(kept, own.columns, strict=True))
            yield batch
            start += batch.num_rows

    def _joined(self, load: Callable[[], Iterable[Batch]]) -> Any:
        """Return the table of the rows that are loaded, batch by batch."""
        tables, rows = [empty_table(self.schema)], 0
        for batch in load():
            with rows_counted_from(rows):
                tables.append(self.table(batch))
            rows += batch.num_rows
        return pa.concat_tables(tables)


def _one(opened: OpenFile, read: Any, names: Sequence[str], piece: FilePiece) -> list[Batch]:
    return [opened.batch(read, names, piece)]


def _side_by_side(lanes: Sequence[Iterator[Any]], pool: ThreadPoolExecutor) -> Iterator[Batch]:
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
        yield Batch({n: b.column(n)[:n_rows] for b in held for n in b.schema.names}, n_rows)
        held = [batch.slice(n_rows) for batch in held]


# --- Some rows of files, as the columns of a model ------------------------------------------------


def read_some(
    model: Classifier,
    source: Any,
    rows: Sequence[int],
    at_most: bool = False,
    *,
    columns: Sequence[str] | None = None,
) -> Any:
    """Return some rows of files as `predict` takes them: a table, or an array without names.

    Parameters
    ----------
    model : Classifier
        Fitted. Its columns are found by name; others may be there.
    source : str, path-like, list of those, or FirstRows
        What `naively.engines.files.scan` reads.
    rows : sequence of int
        Which rows of all files together, from 0.
    at_most : bool, default=False
        Whether rows beyond the last are left out; or are an error.
    columns
        As for `naively.engines.files.predict`.
    """
    first = FirstRows.of(source, CsvDialect())
    first.check_sound()
    model = _on_one_thread(model)
    plan, tables, seen = ColumnPlan.of_model(first, model.summary_, columns), list[Any](), 0
    types = {"str": pa.string(), "text": pa.string(), "bool": pa.bool_()}
    forms = plan.forms(plan.features)
    schema = pa.schema([(n, types.get(form or "", pa.float64())) for n, form in forms.items()])
    with FilePass(first) as passing:
        reader = PieceTables(plan, passing, partial(_cells, forms, schema), schema)
        for read in passing.results(plan, reader.tasks, attrgetter("num_rows")):
            tables += read
            seen += sum(table.num_rows for table in read)
            if seen > max(rows):
                break  # what comes later is not read
    if at_most:
        rows = [row for row in rows if row < seen]
    if not rows:
        raise NaivelyError(f"there must be at least one row{first.where}; got none.")
    if not 0 <= min(rows) <= max(rows) < seen:
        wrong = min(rows) if min(rows) < 0 else max(rows)
        raise NaivelyError(f"rows must be from 0 to {seen - 1:,}{first.where}; got {wrong}.")
    table = pa.concat_tables(tables).take(list(rows))
    if model.summary_.schema.names is not None:
        return table
    holds_more = any(form is not None for form in forms.values())
    cells = [column.to_pylist() for column in table.columns]
    return np.array(cells, dtype=object if holds_more else np.float64).T


def _cells(forms: Mapping[str, str | None], schema: Any, batch: Batch) -> Any:
    """Return the columns of a model as a table; numbers that are categories are float64, too."""
    arrays = columns_in(forms, batch)
    for name, kind in zip(schema.names, schema.types, strict=True):
        column = decoded(pa.array(arrays[name], from_pandas=True))
        arrays[name] = floats(column) if kind == pa.float64() else column.cast(kind)
    return pa.Table.from_arrays([*arrays.values()], schema=schema)


# --- Tables written piece by piece, under their name only when whole ------------------------------


_GROUP_ROWS = 1 << 20  # of a row group, at most
_HELD_BYTES = 1 << 24  # that are held until they are written together

Write = Callable[[Any], None]


@contextmanager
def written(path: str | os.PathLike[str], schema: Any) -> Iterator[Write]:
    """Give a function that appends tables of a schema to a file.

    The file's ending says the format: .parquet, .csv, .arrow, .feather; "-" is standard output, in
    CSV. It appears when all is written; if anything goes wrong, it does not.
    """
    begin = check_format(path)
    with _sink(path) as file:
        sink, held = begin(file, schema), list[Any]()

        def flush() -> None:
            table = pa.concat_tables([empty_table(schema), *held]).combine_chunks()
            held.clear()  # no empty chunks are left: pyarrow 26 writes rubbish for one in CSV
            sink.write_table(table)

        def write(table: Any) -> None:
            held.append(table)
            size = sum(
                t.get_total_buffer_size() for t in held
            )  # nbytes: no views before pyarrow 26
            if size >= _HELD_BYTES or sum(t.num_rows for t in held) >= _GROUP_ROWS:
                flush()

        try:
            yield write
            flush()
        except BaseException:
            with suppress(Exception):  # the file goes anyway, and so must its writer
                sink.close()
            raise
        sink.close()


def check_format(path: str | os.PathLike[str]) -> Any:
    """Return what writes such a file, or raise where nothing does."""
    name = os.fspath(path)
    kind = ".csv" if name == "-" else Path(name).suffix.lower()
    if kind not in _WRITERS:
        endings = ", ".join(_WRITERS)
        raise NaivelyError(f"the output must end in one of {endings}; got {shown(name)!r}.")
    return _WRITERS[kind]


@contextmanager
def _sink(path: str | os.PathLike[str]) -> Iterator[Any]:
    if os.fspath(path) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with new_file(path) as file:
        yield file


class _Csv:
    """CSV with quotes only where a text needs them."""

    def __init__(self, file: Any, schema: Any) -> None:
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(schema.names)
        self._file, self._header = file, header.getvalue().encode()

    def write_table(self, table: Any) -> None:
        """Append rows; before the first, and not before an error, the names of the columns."""
        self._file.write(self._header)
        self._header = b""
        for quotes in ("none", "needed") if table.num_rows else ():
            sink = io.BytesIO()
            options = pacsv.WriteOptions(include_header=False, quoting_style=quotes)
            try:
                pacsv.write_csv(table, sink, options)
            except pa.ArrowInvalid:
                continue  # some text holds a comma or a quote
            self._file.write(sink.getbuffer())
            return

    def close(self) -> None:
        """Leave the file to its owner."""


def _parquet(file: Any, schema: Any) -> Any:
    """Write numbers as they are: probabilities do not repeat, and a dictionary would not pay."""
    repeated = [field.name for field in schema if not pa.types.is_floating(field.type)]
    pq = need("pyarrow.parquet", "writing Parquet", extra="files")
    return pq.ParquetWriter(file, schema, use_dictionary=repeated)


_WRITERS: dict[str, Callable[[Any, Any], Any]] = {
    ".parquet": _parquet,
    ".csv": _Csv,
    ".arrow": lambda file, schema: pa.ipc.new_file(file, schema),
    ".feather": lambda file, schema: pa.ipc.new_file(file, schema),
}
