"""Partitions become summaries where they are; summaries add up in a tree.

Every partition gives one summary, some kilobytes of it, with the partition's number. While there
are more than 32, those of 32 neighbours are added on the executors. The order of the sums is
that of the partitions, never that in which tasks end, and a task that Spark runs twice counts
once: its result is a row, and Spark keeps one.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from naively.data.kinds import check_weights
from naively.data.schema import Schema
from naively.engines.memory.columns import check_some, find_targets
from naively.engines.spark.batches import LabelledColumns, added
from naively.engines.spark.columns import FrameColumns
from naively.engines.spark.errors import readable_errors
from naively.engines.spark.parquet import OddFileError, ParquetFiles
from naively.engines.spark.sums import summarize_by_sums
from naively.engines.spark.types import held_by_type, quoted
from naively.errors import need
from naively.statistics.summary import Summary

_FAN = 32  # summaries that are added together; the driver sees no more
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
    otherwise from the first row: a small job of its own. A frame that is nothing but Parquet files
    which the executors have mounted is read by Arrow, several times as fast as through Spark's
    rows. Of other frames of plain numbers, Spark adds up the moments itself, unless a class is so
    far from the others that digits would be lost; the first rows are then read twice, so cache a
    frame that is costly to compute. The result has the same bits whenever the same
    partitions hold the same rows in the same order.
    """
    keys = find_targets(target, weight, df.columns)
    chosen = FrameColumns.of(df, columns, schema, exclude=keys)
    check_some(chosen.names, target)
    expressions = [df[quoted(target)].alias("y"), *chosen.select(df)]
    if weight is not None:
        check_weights(held_by_type(df.schema[weight].dataType), weight)
        expressions.insert(1, df[quoted(weight)].cast("double").alias("w"))
    labelled = LabelledColumns(chosen, target, weight)
    files = ParquetFiles.behind(df, [*keys, *chosen.names])
    with readable_errors():
        found = None if files is None else _by_arrow(df.sparkSession, files, labelled)
        if found is None:
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


class _FilePartition(NamedTuple):
    """Summarizes rows that it reads itself."""

    labelled: LabelledColumns
    files: ParquetFiles

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the summaries of partitions whose numbers come."""
        for place in (place for batch in batches for place in batch.column(0).to_pylist()):
            yield from _row(place, added(self._summaries(place)))

    def _summaries(self, place: int) -> Iterator[Summary]:
        for rows in self.files.read(place):
            yield from self.labelled.summaries(rows.batches, repr(rows.path), rows.first)


def _by_arrow(session: Any, files: ParquetFiles, labelled: LabelledColumns) -> list[bytes] | None:
    """Summarize files that the executors read; None where Spark must read one of them."""
    errors = need("pyspark.errors", "Spark", extra="spark")
    count = len(files.partitions)
    try:
        numbers = session.range(0, count, 1, max(1, count))
        return _few(numbers.mapInArrow(_FilePartition(labelled, files), _PART))
    except errors.PythonException as error:
        if OddFileError.__qualname__ in str(error):
            return None
        raise


def _few(parts: Any) -> list[bytes]:
    """Run the pass, and add neighbours on the executors until few summaries are left."""
    functions = need("pyspark.sql.functions", "Spark", extra="spark")
    held = [parts.persist()]  # or every round would read the data again
    try:
        while (count := held[-1].count()) > _FAN:
            neighbours = functions.floor(held[-1].place / _FAN).cast("long")
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
    return pyarrow.Table.from_batches(list(_row(rows[0]["place"] // _FAN, total)))


def _row(place: int, summary: Summary | None) -> Iterator[Any]:
    """Yield a summary as Spark carries it, unless there is none."""
    pyarrow = need("pyarrow", "Spark", extra="spark")
    if summary is not None:
        columns = [pyarrow.array([place]), pyarrow.array([pickle.dumps(summary)])]
        yield pyarrow.RecordBatch.from_arrays(columns, names=["place", "summary"])
