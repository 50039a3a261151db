"""Partitions become summaries where they are; summaries add up in a tree.

Every partition gives one summary, some kilobytes of it, with the partition's number. While there
are more than 32, those of 32 neighbours are added on the executors. The order of the sums is
that of the partitions, never that in which tasks end, and a task that Spark runs twice counts
once: its result is a row, and Spark keeps one.

Moments of plain numbers are Spark's own sums, so that no row goes to Python. The first rows tell a
number near each column's mean; Spark then adds up the differences from it, and their squares, by
block of rows and class: `naively.engines.column_sums` has the formula. Rounding errors grow within
a block only, also those of a column of few values, which all have one sign. Blocks are added in
their order, so that the same partitions give the same bits: here, or by Spark where they may be
many. Where digits would be lost, or a value is not valid, there is no answer, and the rows go to
Python after all.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import check_weights
from naively.data.rows import Targets
from naively.data.schema import Schema
from naively.data.types import Floats
from naively.engines.column_sums import ColumnSums
from naively.engines.files.cells import RowError, checked_weights, encode, numbers
from naively.engines.memory.columns import check_some, find_targets
from naively.engines.spark.frames import FrameColumns, held_by_type, quoted
from naively.errors import NaivelyError, need
from naively.statistics import STATISTICS, ClassWeight, Moments
from naively.statistics.axes import Axes
from naively.statistics.measure import measure
from naively.statistics.summary import Summary

_MAX_SUMMARIES = 32  # summaries that are added together; the driver sees no more
_PART = "place long, summary binary"


def summarize(
    df: Any,
    *,
    target: str,
    columns: Sequence[str] | str | None = None,
    weight: str | None = None,
    schema: Schema | None = None,
) -> Summary:
    """Summarize the rows of a Spark frame by their labels, in one pass on the executors.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Numbers, decimals, text, booleans, and vectors of `pyspark.ml.linalg`. Null and NaN are
        missing cells; in a sparse vector, what is not listed is 0.
    target : str
        The column of labels, none of them missing.
    columns : sequence of str, or str, optional
        The columns to learn from; None for all others.
    weight : str, optional
        The column of weights, finite and >= 0; weight 0 is the same as leaving the row out.
    schema : Schema, optional
        What to measure, where it has been agreed upon; by default, what the columns' types say.

    Returns
    -------
    Summary
        A vector is as many columns as it has numbers: ``features_0``, ``features_1``, ..., or
        without names where it stands alone and carries none.

    Notes
    -----
    The length of vectors is taken from the frame's metadata, which `VectorAssembler` writes, and
    otherwise from the first row: a small job of its own. Of plain numbers, Spark adds up the
    moments itself, unless a class is so far from the others that digits would be lost; the first
    rows are then read twice, so cache a frame that is costly to compute. The result has the same
    bits whenever the same partitions hold the same rows in the same order.
    """
    keys = find_targets(target, weight, df.columns)
    weighted = df
    if weight is not None:  # rows of weight 0 decide nothing
        check_weights(held_by_type(df.schema[weight].dataType), weight)
        w = df[quoted(weight)].cast("double")
        weighted = df.where((w != 0.0) | w.isNull())
    chosen = FrameColumns.of(weighted, columns, schema, exclude=keys)
    check_some(chosen.names, target)
    expressions = [df[quoted(target)].alias("y"), *chosen.select(df)]
    if weight is not None:
        expressions.insert(1, w.alias("w"))
    labelled = LabelledColumns(chosen, target, weight)
    with readable_errors():
        rows = df.select(*expressions)
        if (quick := summarize_by_sums(rows, labelled)) is not None:
            return quick
        found = _few(rows.mapInArrow(_Partition(labelled), _PART))
    total = added(pickle.loads(part) for part in found)
    return Summary.zero(chosen.schema) if total is None else total


class _Partition(NamedTuple):
    """Summarizes the rows that Spark brings."""

    labelled: LabelledColumns

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the summary of a partition, unless it has no rows."""
        place = need("pyspark", "Spark", extra="spark").TaskContext.get().partitionId()
        yield from _row(place, added(self.labelled.summaries(batches, f"partition {place}")))


def _few(parts: Any) -> list[bytes]:
    """Run the pass, and add neighbours on the executors until few summaries are left."""
    functions = need("pyspark.sql.functions", "Spark", extra="spark")
    held = [parts.persist()]  # or every round would read the data again
    try:
        while (count := held[-1].count()) > _MAX_SUMMARIES:
            neighbours = functions.floor(held[-1].place / _MAX_SUMMARIES).cast("long")
            parts = held[-1].groupBy(neighbours).applyInArrow(_neighbours, _PART)
            held.append(parts.persist())
        rows = held[-1].collect() if count else []
    finally:
        for parts in held:
            parts.unpersist()
    return [bytes(row.summary) for row in sorted(rows, key=lambda row: row.place)]


def _neighbours(table: Any) -> Any:
    """Add the summaries of neighbours, on an executor."""
    pyarrow = need("pyarrow", "Spark", extra="spark")
    rows = sorted(table.to_pylist(), key=lambda row: row["place"])
    total = added(pickle.loads(row["summary"]) for row in rows)
    return pyarrow.Table.from_batches(list(_row(rows[0]["place"] // _MAX_SUMMARIES, total)))


def _row(place: int, summary: Summary | None) -> Iterator[Any]:
    """Yield a summary as Spark carries it, unless there is none."""
    pyarrow = need("pyarrow", "Spark", extra="spark")
    if summary is not None:
        columns = [pyarrow.array([place]), pyarrow.array([pickle.dumps(summary)])]
        yield pyarrow.RecordBatch.from_arrays(columns, names=["place", "summary"])


# --- Arrow's batches become summaries, on an executor ---------------------------------------------


_MAX_TEXT_ROWS = 1 << 14  # rows with text, whose cells may be long
_MAX_CELLS = 1 << 22  # of the rows that are measured together: sparse vectors become dense


class LabelledColumns(NamedTuple):
    """Columns to be measured, and the names of those that hold labels and perhaps weights."""

    columns: FrameColumns
    target: str
    weight: str | None

    def summaries(self, batches: Iterable[Any], where: str, first: int = 0) -> Iterator[Summary]:
        """Yield summaries of batches, which hold the labels, the weights if any, and the columns.

        For messages: where they come from, and the number of the first row there.
        """
        schema = self.columns.schema
        step = max(1, _MAX_CELLS // max(1, schema.n_columns))
        step = min(step, _MAX_TEXT_ROWS) if schema.texts else step
        for batch in batches:
            for start in range(0, batch.num_rows, step):
                rows = batch.slice(start, step)
                try:
                    yield self._summary(rows)
                except RowError as error:
                    what = f"{error.what} in row {first + error.row}. {error.advice}"
                    raise NaivelyError(f"{where}: {what}") from None
                except NaivelyError as error:
                    raise NaivelyError(f"{where}, from row {first}: {error}") from None
                first += rows.num_rows

    def _summary(self, rows: Any) -> Summary:
        pyarrow = need("pyarrow", "Spark", extra="spark")
        schema, columns = self.columns.schema, rows.columns
        classes, codes = encode(pyarrow.chunked_array([columns.pop(0)]), self.target)
        weights = None
        if self.weight is not None:
            weights = checked_weights(numbers(columns.pop(0)), self.weight)
        cells = self.columns.rows(columns)
        return measure(cells, Targets(classes, codes, weights), schema, n_jobs=1)


def added(summaries: Iterable[Summary]) -> Summary | None:
    """Add summaries in pairs, and pairs of pairs: rounding errors grow with the logarithm."""
    held: list[tuple[int, Summary]] = []
    for total in summaries:
        size = 1
        while held and held[-1][0] == size:
            total, size = held.pop()[1] + total, 2 * size
        held.append((size, total))
    parts = [part for _, part in reversed(held)]
    return reduce(lambda after, before: before + after, parts) if parts else None


# --- Moments of plain numbers by Spark's own sums -------------------------------------------------


_FIRST_ROWS = 2048  # rows that the means are estimated from; a smaller frame goes to Python
_BLOCK_BITS = 14  # of the number of a row, to tell its place in a block of 16,384
_MAX_SUMS = 100_000  # sums of a block and class, about, that are added up here
_MAX_CLASSES = 32  # since partitions may be small, and many
_MIN_ROWS = 20  # rows of a class, to see how far it is from the others
_MAX_COLUMNS = 64  # columns: Spark compiles no code for the sums of more


def summarize_by_sums(rows: Any, labelled: LabelledColumns) -> Summary | None:
    """Summarize rows of plain numbers; None where they must be read one by one.

    The columns are the labels ``y``, the weights ``w`` if there are any, and ``x0``, ``x1``, ...
    """
    schema, weighted = labelled.columns.schema, labelled.weight is not None
    if not _is_plain(labelled) or schema.n_columns > _MAX_COLUMNS or not _has_plain_labels(rows):
        return None
    first = rows.take(_FIRST_ROWS)  # of the first partitions, whichever task ends first
    if len(first) < _FIRST_ROWS:
        return None
    pyarrow = need("pyarrow", "Spark", extra="spark")
    cells = [pyarrow.array(column) for column in zip(*first, strict=True)]
    try:
        batch = pyarrow.RecordBatch.from_arrays(cells, names=rows.columns)
        sample = added(labelled.summaries([batch], "the first rows"))
        if sample is None:
            return None
        c = _centres(sample)
        if _estimated(sample, c).doubtful().any():
            return None
        K = sample.classes.size
        few = K <= _MAX_CLASSES and _n_blocks(rows) * K <= _MAX_SUMS
        none_missing = (sample.moments.weight == sample.class_weight[:, np.newaxis]).all()
        for complete in (True, False) if none_missing else (False,):
            blocks = _query(rows, c, weighted, complete)
            found = _sums((blocks if few else _added(blocks)).toArrow(), c, labelled)
            if found is not None:
                break
    except (RowError, NaivelyError):  # which row it is, Python will tell
        return None
    if found is None or found.doubtful().any():
        return None
    values = found.moments()
    if not np.isfinite(values).all():
        return None
    axes = Axes(found.classes, ())
    total = Summary.of(schema, axes, ClassWeight(found.weight), Moments(values))
    return total.ordered(empty_classes=False)


def _is_plain(labelled: LabelledColumns) -> bool:
    """Whether nothing but moments is measured, and no column is a vector."""
    schema: Schema = labelled.columns.schema
    measured = {kind for kind in STATISTICS if kind.is_measured(schema)}
    no_vectors = all(width is None for width in labelled.columns.widths)
    only_numbers = len(schema.numbers) == schema.n_columns and not schema.dates
    return measured == {ClassWeight, Moments} and no_vectors and only_numbers


def _has_plain_labels(rows: Any) -> bool:
    """Whether Spark and Python agree on which labels are equal."""
    kind = rows.schema["y"].dataType
    is_plain_text = kind.simpleString() == "string"  # otherwise "string collate UTF8_LCASE"
    return is_plain_text or held_by_type(kind).what in ("number", "boolean")


def _centres(sample: Summary) -> Floats:
    """Return the means over all classes, to the nearest binary fraction of the spread.

    Differences of whole numbers from it, and their squares, add up without rounding.
    """
    moments = sample.moments.pooled()
    variance = moments.m2 / np.maximum(moments.weight, np.finfo(np.float64).tiny)
    _, exponent = np.frexp(np.sqrt(variance))
    unit = np.ldexp(1.0, exponent - 4)
    return np.where(variance > 0, np.rint(moments.mean / unit) * unit, moments.mean)


def _estimated(sample: Summary, c: Floats) -> ColumnSums:
    """Return the sums that a sample has, of the classes that have enough rows in it."""
    sample = sample.with_classes(np.flatnonzero(sample.class_weight >= _MIN_ROWS))
    v, shift = sample.moments.weight, sample.moments.mean - c
    s, q = v * shift, sample.moments.m2 + v * shift**2
    weight, c = sample.class_weight, np.broadcast_to(c, v.shape)
    return ColumnSums(sample.classes, weight, weight, v, v, v, s, q, c)


def _query(rows: Any, c: Floats, weighted: bool, complete: bool) -> Any:
    """Return a frame of sums by block and class.

    If all rows seem to be complete, no cells are counted, which saves time. Where one is missing
    after all, there are fewer complete rows than rows, or a sum is NaN.
    """
    functions = need("pyspark.sql.functions", "Spark", extra="spark")
    nothing = functions.lit(None).cast("double")
    number = functions.monotonically_increasing_id()  # the partition's, and the row's in it
    keys = [functions.shiftright(number, _BLOCK_BITS).alias("block"), rows.y]
    keys += [rows.w] if weighted else []
    cells = [rows[f"x{j}"].cast("double") for j in range(c.size)]
    if not complete:
        cells = [functions.nanvl(cell, nothing) for cell in cells]
    pairs = enumerate(zip(cells, c.tolist(), strict=True))
    table = rows.select(*keys, *((x - functions.lit(c_j)).alias(f"d{j}") for j, (x, c_j) in pairs))
    sums = [functions.count(functions.lit(1)).alias("n")]
    if complete:
        every = reduce(add, (table[f"d{j}"] for j in range(c.size)))
        sums.append(functions.count(every).alias("complete"))
    if weighted:
        usable = (table.w >= 0) & (table.w < float("inf"))
        sums.append(functions.count(functions.when(usable, 1)).alias("good"))
        sums.append(functions.sum(table.w).alias("weight"))
    for j in range(c.size):
        d = table[f"d{j}"]
        if not complete:
            sums.append(functions.count(d).alias(f"n{j}"))
        if weighted and not complete:
            sums.append(functions.sum(functions.when(d.isNotNull(), table.w)).alias(f"v{j}"))
        w_d = table.w * d if weighted else d
        sums += [functions.sum(w_d).alias(f"s{j}"), functions.sum(w_d * d).alias(f"q{j}")]
    return table.groupBy("block", "y").agg(*sums, functions.lit(1).alias("blocks"))


def _n_blocks(rows: Any) -> float:
    """Return about how many blocks a frame has, as far as Spark knows its size."""
    plan = getattr(rows, "_jdf", None)  # not behind a server
    if plan is None:
        return math.inf
    size = int(str(plan.queryExecution().optimizedPlan().stats().sizeInBytes()))
    return size / (8 * len(rows.columns)) / 2**_BLOCK_BITS


def _added(blocks: Any) -> Any:
    """Return a frame of sums by class, added up in the order of the blocks."""
    functions = need("pyspark.sql.functions", "Spark", extra="spark")
    added = [functions.sum(name).alias(name) for name in blocks.columns[2:]]
    in_order = blocks.repartition("y").sortWithinPartitions("block")
    return in_order.groupBy("y").agg(functions.lit(0).alias("block"), *added)


def _sums(result: Any, c: Floats, labelled: LabelledColumns) -> ColumnSums | None:
    """Return the sums of all classes; None where a weight is not valid, or a cell is missing."""
    result = result.sort_by("block")
    classes, codes = encode(result["y"], labelled.target)

    def by_class(name: str) -> NDArray[np.float64]:
        cells = numbers(result[name].combine_chunks().fill_null(0))
        return np.bincount(codes, cells, classes.size).astype(np.float64, copy=False)

    def by_column(name: str) -> Floats:
        return np.stack([by_class(f"{name}{j}") for j in range(c.size)], axis=1)

    rows, complete = by_class("n"), "complete" in result.column_names
    weight = by_class("weight") if labelled.weight is not None else rows
    if labelled.weight is not None and (by_class("good") != rows).any():
        return None
    shape = classes.size, c.size
    used = np.broadcast_to(rows[:, np.newaxis], shape) if complete else by_column("n")
    v = used
    if labelled.weight is not None:
        v = np.broadcast_to(weight[:, np.newaxis], shape) if complete else by_column("v")
    s, q, centres = by_column("s"), by_column("q"), np.broadcast_to(c, v.shape)
    if complete and ((by_class("complete") != rows).any() or np.isnan(s).any()):
        return None
    terms = np.minimum(rows, 2**_BLOCK_BITS) + by_class("blocks")  # of a sum, and of its sums
    return ColumnSums(classes, terms, weight, used, used, v, s, q, centres)


# --- Errors on an executor, as one sentence -------------------------------------------------------


_OURS = f"{NaivelyError.__module__}.{NaivelyError.__qualname__}: "


@contextmanager
def readable_errors() -> Iterator[None]:
    """Raise errors of Python code on an executor as `NaivelyError`; leave others as they are."""
    errors = need("pyspark.errors", "Spark", extra="spark")
    try:
        yield
    except errors.PythonException as error:
        raise NaivelyError(cause(str(error))) from error


def cause(traceback: str) -> str:
    r"""Return what a traceback ends with.

    >>> cause("Traceback (most recent call last):\n  ...\nValueError: 7 is odd\n")
    'a partition could not be read: ValueError: 7 is odd'
    >>> cause("Traceback ...\nnaively.errors.NaivelyError: partition 3: ...\n")
    'partition 3: ...'
    >>> cause("Traceback ...\nValueError: 7 is odd\n SQLSTATE: 38000")  # of Spark's server
    'a partition could not be read: ValueError: 7 is odd'
    """
    lines = [line for line in map(str.rstrip, traceback.splitlines()) if line]
    lines = [line for line in lines if not line.lstrip().startswith("SQLSTATE: ")]
    for line in lines:
        if line.startswith(_OURS):
            return line.removeprefix(_OURS)
    if lines[-1] == "ModuleNotFoundError: No module named 'naively'":
        return (
            "the executors must have naively; got a Python without it. Install it there, and let "
            "PYSPARK_PYTHON name that Python."
        )
    return f"a partition could not be read: {lines[-1]}"
