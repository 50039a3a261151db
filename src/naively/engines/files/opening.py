"""A file becomes a reader, by its format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from naively._optional import need
from naively.engines.files.arrow import StreamReader, open_arrow
from naively.engines.files.csv import CsvReader, Dialect
from naively.engines.files.parquet import ParquetReader
from naively.engines.files.pieces import Reader
from naively.engines.files.sources import BadFileError, File, change_of

__all__ = ["open_file", "reading"]

pa = need("pyarrow", "reading files", extra="files")

_NOT_UTF_8 = "it holds text that is not in UTF-8. Write it as UTF-8, or as bytes and leave it out"


def open_file(file: File, dialect: Dialect) -> Reader:
    """Open a file, or raise `BadFileError`; the dialect is that of CSV."""
    with reading(file):
        if file.size == 0 and file.format != "csv":
            raise BadFileError(file.name, "it is empty")
        if file.format == "csv":
            return CsvReader(file, dialect)
        if file.format == "parquet":
            return ParquetReader(file)
        return open_arrow(file) if file.format == "arrow" else StreamReader.of_object(file)


@contextmanager
def reading(file: File, where: str = "") -> Iterator[None]:
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
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise change_of(file) or BadFileError(file.name, f"{where}{reason}") from None
