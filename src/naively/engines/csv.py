r"""CSV files, read by pyarrow into a table of typed columns.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
>>> _ = path.write_text("height,name\n1.7,Ada\n,Bob\n")
>>> [(field.name, str(field.type)) for field in read(path).schema]
[('height', 'double'), ('name', 'string')]

An empty cell is missing, and so are NA, NaN, null and their like. Spaces around column names do
not count. What cannot be read says why: no such file, another separator, a row too short.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from naively._optional import need
from naively.exceptions import NaivelyError

__all__ = ["read"]

_SEPARATORS = ";\t|,"


def read(
    path: str | os.PathLike[str],
    *,
    separator: str = ",",
    decimal: str = ".",
    missing: Sequence[str] = (),
    on_bytes: Callable[[int], None] | None = None,
) -> Any:
    """Read a CSV file into a ``pyarrow.Table``.

    Parameters
    ----------
    path : path-like
        The file; one that ends in .gz, .bz2 or .zst is decompressed. Its first line holds the
        names of the columns.
    separator, decimal : str, default="," and "."
        The characters between cells and before a fraction.
    missing : sequence of str
        Further texts that stand for a missing cell, such as "?".
    on_bytes : callable, optional
        Told how many bytes were read, each time some were.
    """
    path = Path(path)
    options = _options(separator, decimal, missing)
    _check_file(path, separator)
    try:
        table = _parse(path, on_bytes, options, patient=False)
    except ValueError:  # slowly once more: the reader's words are better, newlines may be quoted
        try:
            table = _parse(path, None, options, patient=True)
        except ValueError as error:
            reason = str(error).removeprefix("CSV parse error: ").strip()
            raise NaivelyError(f"cannot read {str(path)!r} as CSV: {reason}.") from None
    return _without(missing, _with_checked_names(table, path))


def _options(separator: str, decimal: str, missing: Sequence[str]) -> dict[str, Any]:
    csv = need("pyarrow.csv", "reading CSV", extra="files")
    for name, character in (("separator", separator), ("decimal", decimal)):
        if len(character) != 1 or not character.isascii():
            raise NaivelyError(f"{name} must be one ASCII character; got {character!r}.")
    convert = csv.ConvertOptions(decimal_point=decimal)
    convert.null_values = [*convert.null_values, *missing]
    return {"parse_options": csv.ParseOptions(delimiter=separator), "convert_options": convert}


def _check_file(path: Path, separator: str) -> None:
    """Raise what can be told from the first lines: no file, nothing in it, another separator."""
    pyarrow = need("pyarrow", "reading CSV", extra="files")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise NaivelyError(f"cannot read {str(path)!r}: it is not a plain file. Save it as one.")
    try:
        with _opened(path, path.open("rb")) as file:
            start: bytes = file.read(1 << 16)
    except OSError as error:
        raise NaivelyError(f"cannot read {str(path)!r}: {error.strerror or error}.") from None
    except pyarrow.ArrowException as error:
        raise NaivelyError(f"cannot read {str(path)!r}: {error}.") from None
    if not start.strip():
        raise NaivelyError(f"{str(path)!r} is empty; it must hold a line of column names and rows.")
    if b"\0" in start or start.startswith(b"PAR1"):
        raise NaivelyError(f"{str(path)!r} is not a CSV file in UTF-8: it holds binary data.")
    header = start.splitlines()[0].decode(errors="replace")
    likely = max(_SEPARATORS, key=header.count)
    if likely in header and separator not in header:
        raise NaivelyError(
            f"{str(path)!r} has no {separator!r} in its first line, {_cut(header)!r}; "
            f"it looks separated by {likely!r}. Set the separator: --separator {likely!r}."
        )


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def _parse(
    path: Path,
    on_bytes: Callable[[int], None] | None,
    options: dict[str, Any],
    *,
    patient: bool,
) -> Any:
    """Read the file: in parallel, or patiently, which finds quoted newlines and counts rows."""
    csv = need("pyarrow.csv", "reading CSV", extra="files")
    read_options = csv.ReadOptions(use_threads=not patient)
    options["parse_options"].newlines_in_values = patient
    plain: BinaryIO = path.open("rb", buffering=0)
    with _opened(path, plain if on_bytes is None else _Counted(plain, on_bytes)) as file:
        return csv.read_csv(file, read_options=read_options, **options)


def _opened(path: Path, file: BinaryIO) -> Any:
    """Return Arrow's view of an open file, decompressed if its name says so."""
    pyarrow = need("pyarrow", "reading CSV", extra="files")
    codec = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}.get(path.suffix.lower())
    return pyarrow.input_stream(file, compression=codec)


class _Counted(io.RawIOBase, BinaryIO):
    """A file that tells how much of it was read."""

    def __init__(self, file: BinaryIO, on_bytes: Callable[[int], None]) -> None:
        self.file, self.on_bytes = file, on_bytes

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        content = self.file.read(-1 if size is None else size)
        self.on_bytes(len(content))
        return content

    def close(self) -> None:
        self.file.close()
        super().close()


def _with_checked_names(table: Any, path: Path) -> Any:
    try:
        names = [name.strip() for name in table.column_names]
    except UnicodeDecodeError:
        raise NaivelyError(f"{str(path)!r} is not in UTF-8. Save it as UTF-8.") from None
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise NaivelyError(f"column names must differ; {str(path)!r} has {twice[0]!r} twice.")
    if table.num_rows == 0:
        raise NaivelyError(f"{str(path)!r} holds column names and no rows.")
    return table.rename_columns(names)


def _without(missing: Sequence[str], table: Any) -> Any:
    """Empty the cells that mean missing in columns of text, too."""
    pyarrow = need("pyarrow", "reading CSV", extra="files")
    compute = need("pyarrow.compute", "reading CSV", extra="files")
    for j, column in enumerate(table.columns if missing else []):
        if pyarrow.types.is_string(column.type):
            absent = compute.is_in(column, value_set=pyarrow.array(missing))
            column = compute.if_else(absent, None, column)
            table = table.set_column(j, table.field(j).name, column)
    return table
