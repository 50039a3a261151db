"""What is read: paths, globs, folders, hive partitions, standard input, Arrow streams.

>>> import pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> for name in ("day=2/b.csv.gz", "day=1/a.csv"):
...     (folder / name).parent.mkdir()
...     _ = (folder / name).write_bytes(b"")
>>> [(file.format, file.partitions) for file in resolve(folder)]
[('csv', {'day': 1}), ('csv', {'day': 2})]

Files are read in the order of their names, so that a folder always gives the same rows in the
same order.

A reader hands a file over piece by piece. Where a piece ends depends on the file alone, never on
threads, time or what was read before, so that a pass that goes on at a position sees the pieces
that an uninterrupted one would.
"""

from __future__ import annotations

import lzma
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import unquote

from naively.data import remote
from naively.data.plan import repeated
from naively.data.remote import hidden, shown
from naively.data.remote.files import is_data
from naively.engines.files.cells import pa, plain
from naively.engines.places import is_stream
from naively.errors import NaivelyError, need

_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    **dict.fromkeys((".parquet", ".parq", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".arrows", ".feather", ".ipc"), "arrow"),
}
_COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".lz4")
_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream
    b"{": "json",
    b"[{": "json",  # an array, which its reader refuses
}
START = 16  # bytes that tell how a file is compressed
_CODECS = {
    "gzip": rb"\x1f\x8b",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "bz2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
    "lz4": rb"\x04\x22M\x18",
}
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # how a missing value is called


class BadFileError(NaivelyError):
    """A file that cannot be read to its end: truncated, corrupt, malformed."""

    def __init__(self, file: str, reason: str) -> None:
        self.file, self.reason = file, hidden(reason).rstrip(".")
        super().__init__(f"cannot read {file!r}: {self.reason}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return BadFileError, (self.file, self.reason)


@dataclass(frozen=True)
class File:
    """A file, or something that is read like one."""

    name: str  # its path as it was given, without secrets; "-" is standard input
    format: str  # "csv", "json", "parquet", "arrow"; "stream" is an object of some other library
    # columns that its path holds: ``{"year": 2024}``; NaN is a missing number
    partitions: dict[str, Any] = field(default_factory=dict)
    # size and modified: bytes, and the time of the last change in nanoseconds; None where there is
    # no file
    size: int | None = None
    modified: int | None = None
    inode: int | str | None = None  # which file of the disk it is, or version of a remote one
    content: Any = None  # what is read, where it is not the file of that name
    remote: Any = None  # the `RemoteFile`, where it is not on this machine

    @property
    def address(self) -> str:
        """Where it is; this may hold secrets, and is not to be shown."""
        return self.name if self.remote is None else self.remote.address

    @property
    def path(self) -> PurePath:
        """What its ending and its folders are read off."""
        return PurePath(self.name if self.remote is None else self.remote.path)

    def open(self, *, ahead: bool = True) -> Any:
        """Return a file of pyarrow's; where it is remote, blocks are read ahead, if wanted."""
        pa = need("pyarrow", "reading files", extra="files")
        if self.content is not None:
            return pa.PythonFile(self.content, mode="r")
        return pa.OSFile(self.name) if self.remote is None else self.remote.open(ahead=ahead)

    def facts(self) -> tuple[int | None, int | None, int | str | None]:
        """Return its size, time and identity as they are now, or raise `OSError`."""
        if self.remote is not None:
            return tuple(self.remote.store.facts(self.remote.address))
        facts = Path(self.name).stat()
        return facts.st_size, facts.st_mtime_ns, facts.st_ino

    @property
    def identity(self) -> list[Any]:
        """What must not change between two halves of a pass."""
        return [self.name, self.size, self.modified]


def change_of(file: File) -> BadFileError | None:
    """Return what is wrong where a file is not what it was when the pass began."""
    if file.size is None:
        return None
    try:
        facts = file.facts()
    except OSError as error:
        return BadFileError(file.name, f"it changed while it was read: {error.strerror or error}")
    if facts == (file.size, file.modified, file.inode):
        return None
    return BadFileError(
        file.name,
        f"it changed while it was read: it had {file.size} bytes and now has {facts[0]}, "
        "or was written again. Read it when nothing writes to it",
    )


def are_text(files: Iterable[File], target: str | None) -> bool:
    """Whether labels are read as text, whose type shows only when all of it has been read."""
    if target is None:
        return False
    return all(file.format == "csv" and target not in file.partitions for file in files)


def resolve(source: Any) -> list[File]:
    """Return the files that a source stands for, in the order in which they are read.

    A source is a file, a folder (with all below it), a glob, each here or remote, "-" for standard
    input, several of those; or an object with ``__arrow_c_stream__``, a lazy frame of polars, or a
    dataset of pyarrow.
    """
    if is_stream(source):
        return [File(f"<{type(source).__name__}>", "stream", content=source)]
    is_one = isinstance(source, str | os.PathLike)
    is_listed = isinstance(source, Iterable) and not hasattr(source, "shape")
    listed = list(source) if is_listed and not is_one else [source]
    files: list[File] = []
    for one in listed:
        if not isinstance(one, str | os.PathLike | File):
            raise NaivelyError(
                "data must be a path, a glob, paths, or an object with __arrow_c_stream__; "
                f"got {type(one).__name__}."
            )
        files += [one] if isinstance(one, File) else _named(os.fspath(one))
    if not files:
        raise NaivelyError("there must be a file to read; got none.")
    return _with_typed_partitions(files if is_one else _distinct(files))


def _named(name: str) -> list[File]:
    if name == "-":
        return [_standard_input()]
    if (address := remote.address_of(name)) is not None:
        return [_remote_file(found) for found in remote.find(address)]
    path = Path(name)
    if path.is_dir():
        found = [
            one
            for one in sorted(path.rglob("*"))
            if one.is_file() and is_data(one.relative_to(path).parts)
        ]
        if not found:
            raise NaivelyError(f"there must be a file in the folder {name!r}; got none.")
        return [_file(one) for one in found]
    if path.is_file() or not has_magic(name):
        return [_file(path)]
    matches = sorted(glob(name, recursive=True))  # noqa: PTH207 - Path.glob takes no whole paths
    found = [path for path in map(Path, matches) if path.is_file()]
    if not found:
        raise NaivelyError(f"there must be a file that matches {name!r}; got none.")
    return [_file(one) for one in found]


def _file(path: Path) -> File:
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise NaivelyError(
                f"cannot read {str(path)!r}: it is not a plain file. Save it as one, or pipe it "
                "in and give '-'."
            )
    except OSError as error:
        raise NaivelyError(f"cannot read {str(path)!r}: {error.strerror}.") from None
    identity = facts.st_size, facts.st_mtime_ns, facts.st_ino
    return _with_format(File(str(path), "", _partitions(path), *identity))


def _remote_file(found: Any) -> File:
    partitions = _partitions(PurePath(found.path))
    size, modified, tag = found.facts
    file = File(shown(found.address), "", partitions, size, modified, tag, remote=found)
    return _with_format(file)


def _distinct(files: Iterable[File]) -> list[File]:
    """Return each file once; addresses that differ in secrets alone are numbered."""
    found: dict[str, File] = {}
    for file in {file.address: file for file in files}.values():
        same = sum(other.partition(" (")[0] == file.name for other in found)
        name = f"{file.name} ({same + 1})" if same and file.remote is not None else file.name
        found[name] = replace(file, name=name)
    return list(found.values())


def _with_format(file: File) -> File:
    """Decide by the name what kind of file it is, or else by the content."""
    path = file.path
    is_compressed = path.suffix.lower() in _COMPRESSED
    kind = _FORMATS.get((path.with_suffix("") if is_compressed else path).suffix.lower())
    if kind in ("parquet", "arrow") and is_compressed:
        raise NaivelyError(
            f"cannot read {file.name!r}: {kind.capitalize()} is compressed inside, and this is "
            "compressed again. Decompress it."
        )
    return replace(file, format=kind or _format_by_content(file))


def _format_by_content(file: File) -> str:
    try:
        start, is_compressed = first_bytes(file)
    except OSError as error:
        raise NaivelyError(f"cannot read {file.name!r}: {error.strerror or error}.") from None
    found = _format_of(start) or ("csv" if is_compressed else None)
    if found is None:
        raise NaivelyError(
            f"cannot tell what kind of file {file.name!r} is. Its name should end in .csv, "
            ".csv.gz, .csv.zst, .jsonl, .parquet, .arrow or .feather; a glob leaves others out."
        )
    return found


def first_bytes(file: File) -> tuple[bytes, bool]:
    """Return how a file begins once it is decompressed, and whether it is compressed."""
    with file.open(ahead=False) as raw:
        start = raw.read(START)
        raw.seek(0)
        codec = codec_of(start)
        return (start if codec is None else decompressed(raw, codec).read(START)), codec is not None


def codec_of(start: bytes) -> str | None:
    """Return how a file is compressed that begins like this."""
    return next((codec for codec, magic in _CODECS.items() if re.match(magic, start)), None)


def decompressed(raw: Any, codec: str) -> Any:
    """Return a stream of what a file holds."""
    return lzma.LZMAFile(raw) if codec == "xz" else pa.CompressedInputStream(raw, codec)


def _format_of(start: bytes) -> str | None:
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)


def _partitions(path: PurePath) -> dict[str, str | None]:
    pairs = (part.partition("=") for part in path.parts[:-1])
    return {
        unquote(key): None if value == _NO_PARTITION else unquote(value)
        for key, equals, value in pairs
        if key and equals
    }


def _with_typed_partitions(files: list[File]) -> list[File]:
    """Turn the values of a partition column into numbers, where all of them are."""
    texts: dict[str, set[str]] = {}
    for file in files:
        for key, value in file.partitions.items():
            texts.setdefault(key, set()).update([] if value is None else [value])
    kinds = {key: _partition_type(values) for key, values in texts.items()}

    def made(key: str, text: str | None) -> Any:
        kind = kinds[key]
        return (None if kind is str else float("nan")) if text is None else kind(text)

    return [
        replace(file, partitions={key: made(key, text) for key, text in file.partitions.items()})
        for file in files
    ]


def _partition_type(texts: set[str]) -> type[int] | type[float] | type[str]:
    if all(re.fullmatch(r"[+-]?[0-9]{1,18}", text) for text in texts):
        return int
    number = r"[+-]?([0-9]{1,15}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?"
    return float if all(re.fullmatch(number, text) for text in texts) else str


class _StandardInput:
    """Standard input, whose first bytes have been looked at."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self.start, self.rest, self.place, self.closed = start, rest, 0, False

    def read(self, size: int) -> bytes:
        start, self.start = self.start[:size], self.start[size:]
        found = start + self.rest.read(size - len(start)) if len(start) < size else start
        self.place += len(found)
        return found

    def tell(self) -> int:
        return self.place

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True  # standard input is not ours to close


def _standard_input() -> File:
    import sys

    start = sys.stdin.buffer.read(START)
    kind = _format_of(start) or "csv"
    if kind == "parquet" or start.startswith(b"ARROW1"):
        raise NaivelyError(
            f"standard input must be CSV, JSON lines or an Arrow stream; got a file of {kind}, "
            "whose end is read first. Save it, and give its name."
        )
    return File("-", kind, content=_StandardInput(start, sys.stdin.buffer))


# --- The pieces in which a reader hands a file over -----------------------------------------------


Position = dict[str, int]
CELLS = 1 << 22  # of a piece, about: 32 MB of float64


@dataclass(frozen=True)
class FilePiece:
    """Some rows of a file."""

    # given names of columns, it yields record batches, or `Batch`, that hold them
    read: Callable[[Sequence[str]], Iterator[Any]]
    after: Position  # where the next piece begins
    where: str  # which piece it is, for messages: "row group 3"
    bytes: int  # how much of the file lies before the next piece
    # how many columns are best read together; None: all of them, since reading some costs as much
    # as reading all
    width: int | None = None
    # as ``read``, but with cells as the file writes them, to be copied; None: ``read`` does that
    as_written: Callable[[Sequence[str]], Iterator[Any]] | None = None
    # which row of the file one of those is, counted from the first piece that has been read; as
    # many are left out before it
    row_of: Callable[[int], int] = int


class Reader:
    """A file that is open, whose types an Arrow schema declares unless `types` is overridden."""

    def __init__(self, file: File, schema: Any) -> None:
        check_names(schema.names, file)
        self.file, self._schema = file, schema

    @cached_property
    def types(self) -> Mapping[str, Any]:
        """The columns and their types; None where a type is what one makes of the text."""
        return dict(zip(self._schema.names, self._schema.types, strict=True))

    def sample(self) -> Any:
        """Return a table whose types are those of the columns: with some rows, or none."""
        fields = zip(self._schema.names, map(plain, self._schema.types), strict=True)
        return pa.schema(list(fields)).empty_table()

    def first_batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield batches of the first rows, with some columns, where `sample` has none of them."""
        yield from ()

    def goes_on(self) -> bool:
        """Whether types are those of the first rows, and there are more."""
        return False

    def pieces(self, types: Mapping[str, Any], start: Position) -> Iterator[FilePiece]:
        """Yield the pieces from a position on, ``{}`` being the beginning.

        ``types`` names the columns that will be read and, for text, as what.
        """
        raise NotImplementedError


def columns_together(rows: int) -> int:
    """Return how many columns are best read together: a million cells, at least two lanes.

    >>> columns_together(1_000_000), columns_together(10_000)
    (16, 112)
    """
    return max(16, (1 << 20) // max(1, rows) // 8 * 8 + 8)


def check_names(names: Sequence[str], file: File) -> None:
    """Raise where two columns have one name."""
    if (twice := repeated(names)) is not None:
        raise NaivelyError(f"column names must differ; {file.name!r} has {twice!r} twice.")
