"""Files that are open: each by the reader of its format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from naively._optional import later
from naively.engines.files.arrow import StreamReader, open_arrow
from naively.engines.files.csv import CsvDialect, CsvReader
from naively.engines.files.json_lines import JsonLinesReader
from naively.engines.files.pieces import Reader
from naively.engines.files.sources import BadFileError, File, change_of

__all__ = ["OpenFile", "errors_of_reading", "open_file"]

pa = later("pyarrow", "reading files", extra="files")

_NOT_UTF_8 = "it holds text that is not in UTF-8. Write it as UTF-8, or as bytes and leave it out"


class OpenFile(NamedTuple):
    """A file that is open, and the columns that its path holds and the file itself does not."""

    file: File
    reader: Reader
    constants: dict[str, Any]

    @property
    def where(self) -> str:
        """Name the file at the end of a message."""
        return f" in {self.file.name!r}"

    @property
    def types(self) -> dict[str, Any]:
        """All columns and their types; None where a type is what one makes of the text."""
        held = {name: type_of(value) for name, value in self.constants.items()}
        return {**self.reader.types, **held}

    def stored(self, types: Mapping[str, Any]) -> dict[str, Any]:
        """Return those columns that are read from the file itself."""
        return {name: kind for name, kind in types.items() if name not in self.constants}

    def sample(self) -> Any:
        """Return the first rows as a table, with the columns that the path holds."""
        with errors_of_reading(self.file):
            table = self.reader.sample()
        for name, value in self.constants.items():
            table = table.append_column(name, pa.array([value] * table.num_rows, type_of(value)))
        return table


def open_file(file: File, dialect: CsvDialect) -> OpenFile:
    """Open a file, or raise `BadFileError`."""
    with errors_of_reading(file):
        reader = _reader(file, dialect)
    constants = {name: v for name, v in file.partitions.items() if name not in reader.types}
    return OpenFile(file, reader, constants)


@contextmanager
def errors_of_reading(file: File, where: str = "") -> Iterator[None]:
    """Turn what pyarrow and the system say about a file into `BadFileError`.

    Where the file has changed since the pass began, that is the reason.
    """
    try:
        yield
    except BadFileError as error:
        raise change_of(file) or error from None
    except UnicodeDecodeError:
        raise change_of(file) or BadFileError(file.name, f"{where}{_NOT_UTF_8}") from None
    except (pa.ArrowException, OSError) as error:
        if file.remote is None:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        else:
            reason = file.remote.reason_of(error)
        raise change_of(file) or BadFileError(file.name, f"{where}{reason}") from None


def _reader(file: File, dialect: CsvDialect) -> Reader:
    if file.size == 0 and file.format != "csv":
        raise BadFileError(file.name, "it is empty")
    if file.format == "csv":
        return CsvReader(file, dialect)
    if file.format == "parquet":
        from naively.engines.files.parquet import ParquetReader  # it imports much

        return ParquetReader(file)
    if file.format == "json":
        return JsonLinesReader(file, dialect.encoding)
    return open_arrow(file) if file.format == "arrow" else StreamReader.of_object(file)


def type_of(value: Any) -> Any:
    """Return the type of a column that a path holds."""
    kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    return kinds.get(type(value), pa.string())
