"""Frames that are nothing but Parquet files: Arrow reads them on the executors.

Spark decodes Parquet into columns, writes them out as rows, cell by cell, and cell by cell into
columns again for Python: several times the work of reading them. Where a frame is files, all of
them on a file system that executors have mounted, and some of their columns, the executors open
the files themselves. Spark reads everything else, and files whose types differ from its schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from naively.errors import need

_FORMAT = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_TYPES = {  # as Spark calls them, and as Arrow does
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float",
    "double": "double",
    "boolean": "bool",
    "string": "string",
}
_LARGEST, _SMALLEST = 1 << 27, 1 << 22  # bytes of a partition
_CELLS = 1 << 20  # of a batch: what is decoded is measured while it is in the cache


class OddFileError(Exception):
    """A file does not have the types of Spark's schema, so that Spark must read it."""


class Span(NamedTuple):
    """The row groups of a file that begin between two of its bytes."""

    path: str
    start: int
    end: int


class RowGroup(NamedTuple):
    """The batches of a row group of a file, and the number of its first row."""

    batches: Iterator[Any]
    path: str
    first: int


@dataclass(frozen=True)
class ParquetFiles:
    """The files behind a frame, cut into partitions."""

    partitions: list[list[Span]]  # what one task reads
    columns: dict[str, str]  # the columns to read, in order, and their types as Spark calls them

    @classmethod
    def behind(cls, df: Any, names: Sequence[str]) -> ParquetFiles | None:
        """Return the files that a frame consists of, or None where it is more than files."""
        columns = {name: df.schema[name].dataType.simpleString() for name in names}
        plain = all(kind in _TYPES and "." not in name for name, kind in columns.items())
        if not plain or not _is_scan(df):
            return None
        places = [urlsplit(uri) for uri in df.inputFiles()]
        paths = sorted(unquote(place.path) for place in places)
        if any(place.scheme != "file" for place in places) or not all(
            Path(path).is_file() for path in paths
        ):
            return None
        files = cls(_partitions(paths, df.sparkSession.sparkContext.defaultParallelism), columns)
        return files if all(map(files._is_plain, paths[:1])) else None

    def read(self, place: int) -> Iterator[RowGroup]:
        """Read a partition, on an executor."""
        for span in self.partitions[place]:
            file = self._opened(span.path)
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            for i, group in enumerate(groups):
                if span.start <= _begin(group) < span.end:
                    first = sum(before.num_rows for before in groups[:i])
                    yield RowGroup(self._batches(file, i), span.path, first)

    def _is_plain(self, path: str) -> bool:
        try:
            self._opened(path)
        except OddFileError:
            return False
        return True

    def _opened(self, path: str) -> Any:
        parquet = need("pyarrow.parquet", "reading Parquet", extra="spark")
        try:
            file = parquet.ParquetFile(path, pre_buffer=False)
        except Exception as error:
            raise OddFileError(path) from error
        schema = file.schema_arrow
        for name, kind in self.columns.items():
            at = schema.get_field_index(name)
            if at < 0 or str(schema.field(at).type) != _TYPES[kind]:
                raise OddFileError(path)
        return file

    def _batches(self, file: Any, group: int) -> Iterator[Any]:
        names = list(self.columns)
        size = max(1024, _CELLS // len(names))
        try:
            for batch in file.iter_batches(size, [group], names, use_threads=False):
                yield batch.select(names)
        except OSError as error:  # which errors of Arrow's are
            raise OddFileError from error


def _is_scan(df: Any) -> bool:
    """Whether a frame is columns of Parquet files, unchanged: Spark's plan knows."""
    try:
        plan = df._jdf.queryExecution().optimizedPlan()
        while _name(plan) == "Project":
            listed = plan.projectList()
            if any(_name(listed.apply(i)) != "AttributeReference" for i in range(listed.size())):
                return False
            plan = plan.child()
        if _name(plan) != "LogicalRelation" or _name(plan.relation()) != "HadoopFsRelation":
            return False
        relation = plan.relation()
        own = relation.fileFormat().getClass().getName() == _FORMAT
        return own and relation.partitionSchema().isEmpty()
    except Exception:  # Spark Connect has no such plan, and another Spark may have others
        return False


def _name(node: Any) -> str:
    return node.getClass().getSimpleName()


def _partitions(paths: Sequence[str], n_cores: int) -> list[list[Span]]:
    """Cut large files, and put small ones together: about as Spark does."""
    sizes = {path: Path(path).stat().st_size for path in paths}
    step = min(_LARGEST, max(_SMALLEST, sum(sizes.values()) // n_cores + 1))
    partitions, room = list[list[Span]](), 0
    for path, size in sizes.items():
        for start in range(0, size, step):
            span = Span(path, start, min(start + step, size))
            if span.end - span.start > room:
                partitions.append([])
                room = step
            partitions[-1].append(span)
            room -= span.end - span.start
    return partitions


def _begin(group: Any) -> int:
    """Return the byte at which a row group begins."""
    column = group.column(0)
    offsets = column.dictionary_page_offset, column.data_page_offset
    return min(offset for offset in offsets if offset is not None)
