r"""Tables written piece by piece: to Parquet, CSV or Arrow, under their name only when whole.

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from naively.data.remote import shown
from naively.data.whole_files import new_file
from naively.engines.files.cells import empty_table
from naively.errors import NaivelyError, later, need

pa = later("pyarrow", "writing files", extra="files")
pacsv = later("pyarrow.csv", "writing CSV", extra="files")

_ROWS = 1 << 20  # of a row group, at most
_BYTES = 1 << 24  # that are held until they are written together

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
            if size >= _BYTES or sum(t.num_rows for t in held) >= _ROWS:
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
    if kind not in _FORMATS:
        endings = ", ".join(_FORMATS)
        raise NaivelyError(f"the output must end in one of {endings}; got {shown(name)!r}.")
    return _FORMATS[kind]


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


_FORMATS: dict[str, Callable[[Any, Any], Any]] = {
    ".parquet": _parquet,
    ".csv": _Csv,
    ".arrow": lambda file, schema: pa.ipc.new_file(file, schema),
    ".feather": lambda file, schema: pa.ipc.new_file(file, schema),
}
