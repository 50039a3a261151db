"""The files of a command: looked at before the work begins, and read into memory for some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.cli import bars
from naively.cli.notes import tell_counting, tell_left_out, tell_model, tell_nearly_numeric
from naively.cli.options import Data, Reading
from naively.cli.parameters import Model
from naively.engines import columns
from naively.engines.files import BadFileError
from naively.engines.files.csv import SAMPLE, CsvReader, Dialect
from naively.engines.files.first_rows import filled
from naively.engines.files.folding import constants_of
from naively.engines.files.opening import open_file
from naively.engines.files.plan import with_partitions
from naively.engines.files.sources import File, look_ahead, resolve
from naively.engines.files.table import read
from naively.exceptions import NaivelyError

__all__ = ["Labelled", "Source", "decide", "look", "read_labelled"]


@dataclass(frozen=True)
class Source:
    """The files of a command, and what the first sound one of them looks like.

    Attributes
    ----------
    paths : list of str or File
        As they were given; standard input, of which some has been looked at, is a file.
    inputs : tuple of Path
        The files that they stand for, less standard input.
    sample : pyarrow.Table or None
        Some rows of the first file, or none with its types; None where it cannot be known.
    where : str
        That file, for messages.
    is_part : bool
        Whether there may be cells in columns that are empty in the sample.
    """

    paths: Sequence[str | File]
    inputs: tuple[Path, ...]
    sample: Any = None
    where: str = ""
    is_part: bool = False

    @property
    def names(self) -> list[str]:
        """The columns of the first file, as far as they are known."""
        return [] if self.sample is None else self.sample.column_names

    @property
    def title(self) -> str:
        """What is read, in a word."""
        if len(self.paths) > 1:
            return f"{len(self.paths)} files"
        first = self.paths[0]
        return first.name if isinstance(first, File) else Path(first).name

    def split(self, values: Sequence[str] | None) -> list[str]:
        """Split 'a,b' at its commas, unless a column is called that."""
        found: list[str] = []
        for value in values or ():
            found += [value] if value in self.names else [part.strip() for part in value.split(",")]
        return [name for name in found if name]

    def asked(self, options: Data) -> dict[str, Any]:
        """Return which columns the options ask for, as the engine is told."""
        return {
            "target": options.target,
            "columns": self.split(options.columns) or None,
            "exclude": self.split(options.exclude),
            "skip_columns": True,  # and the user is told
        }

    def chosen(
        self, options: Data, kinds: Mapping[str, Any] | None = None, weight: str | None = None
    ) -> dict[str, Any]:
        """Return which columns are learned from, as the engine is told.

        Columns that cannot be learned from are excluded, as far as the first file shows them, and
        the user is told which and why.
        """
        asked = self.asked(options)
        found = self._columns(options, kinds, weight)
        if found is None:
            return asked
        tell_left_out(found.left_out, is_part=self.is_part)
        if kinds is not None:
            free = [name for name in found.names if name not in kinds]
            tell_nearly_numeric(columns.nearly_numeric(self.sample, free))
        return asked | {"exclude": [*asked["exclude"], *(one.name for one in found.left_out)]}

    def has_categories(self, options: Data, weight: str | None = None) -> bool:
        """Whether columns of text, booleans or categories can be learned from."""
        found = self._columns(options, {}, weight)
        if found is None:
            return False
        types = dict(zip(self.sample.column_names, self.sample.schema.types, strict=True))
        return any(columns.is_category(types[name]) for name in found.names)

    def _columns(
        self, options: Data, kinds: Mapping[str, Any] | None, weight: str | None
    ) -> columns.Columns | None:
        """Choose columns by the first file; None where it cannot be looked at."""
        if self.sample is None:
            return None
        asked = self.asked(options)
        extra = [] if weight is None else [columns.find(weight, self.names, self.where)]
        if len(self.inputs) > 1:  # another file may have what this one lacks
            asked["exclude"] = [name for name in asked["exclude"] if name in self.names]
        asked["exclude"] += extra
        return columns.choose(self.sample, **asked, kinds=kinds, where=self.where)


def look(paths: Sequence[str], options: Reading) -> Source:
    """Look at the first file that is sound and holds rows.

    Where there is none, raise what is wrong with the first that is not sound; otherwise the
    engine says what is wrong with some.
    """
    if list(paths) == ["-"]:
        return _look_ahead(Dialect(**options.dialect))
    given = [path for path in paths if path != "-"]
    files = resolve(given) if given else []
    inputs = tuple(Path(file.name) for file in files)
    wrong: list[BadFileError] = []
    samples = _samples(files if len(given) == len(paths) else [], Dialect(**options.dialect), wrong)
    for file, first in samples:
        if file.format != "csv" or first.table.num_rows:
            seen = [first]
            sample = filled(first.table, _noted(samples, seen))
            is_part = any(one.is_part for one in seen)
            return Source(list(paths), inputs, sample, f" in {file.name!r}", is_part)
    if wrong:
        raise wrong[0]
    return Source(list(paths), inputs)


def _look_ahead(dialect: Dialect) -> Source:
    """Look at the beginning of standard input; what is wrong with it, the engine says."""
    (file,) = resolve("-")
    try:
        sample, is_part = _first_rows(look_ahead(file, 2 * SAMPLE), dialect)
    except BadFileError:
        return Source([file], ())
    known = file.format != "csv" or sample.num_rows
    return Source([file], (), sample, " in '-'", is_part) if known else Source([file], ())


class _FirstRows(NamedTuple):
    """The first rows of a file, and whether there are others."""

    table: Any
    is_part: bool


def _samples(
    files: Sequence[File], dialect: Dialect, wrong: list[BadFileError]
) -> Iterator[tuple[File, _FirstRows]]:
    """Yield the first rows of the files that are sound; append what is wrong with others."""
    for file in files:
        try:
            yield file, _first_rows(file, dialect)
        except BadFileError as error:
            wrong.append(error)


def _noted(samples: Iterator[tuple[File, _FirstRows]], seen: list[_FirstRows]) -> Iterator[Any]:
    """Yield tables, and note which have been asked for."""
    for _, first in samples:
        seen.append(first)
        yield first.table


def _first_rows(file: File, dialect: Dialect) -> _FirstRows:
    reader = open_file(file, dialect)
    alone = file.format == "csv" and len(reader.types) == 1
    header = next(iter(reader.types)) if alone else ""
    likely = max(";,\t|", key=header.count)
    if likely in header:
        shown = header if len(header) <= 40 else f"{header[:39]}…"
        raise NaivelyError(
            f"{file.name!r} has no {dialect.separator_of(file)!r} in its first line, {shown!r}; "
            f"it looks separated by {likely!r}. Set the separator: --separator {likely!r}."
        )
    table = with_partitions(reader.sample(), constants_of(file, reader))
    return _FirstRows(table, isinstance(reader, CsvReader) and reader.goes_on())


@dataclass(frozen=True)
class Labelled:
    """Rows and their labels: X is a ``pyarrow.Table`` of the columns to learn from."""

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]


def decide(model: Model, source: Source, options: Data, weight: str | None = None) -> Model:
    """Choose the model by the columns of the first file, if the options do not, and say so."""
    if model.asked_for is not None:
        return model.decided(has_categories=False)
    decided = model.decided(has_categories=source.has_categories(options, weight))
    if decided.model == "naive-bayes":
        tell_model()
    return decided


def read_labelled(
    source: Source, options: Data, kinds: Mapping[str, Any] | None = None
) -> Labelled:
    """Read the columns to learn from and the labels; say which columns were left out and why."""
    asked = source.chosen(options, kinds) | options.dialect
    with bars.streaming(f"reading {source.title}") as progress:
        table = read(source.paths, **asked, kinds=kinds, progress=progress)
    if source.sample is None:
        tell_left_out(table.left_out)
    tell_counting(columns.count_rows(table.X, table.X.column_names))
    classes = np.unique(table.y)
    if classes.size < 2:
        got = f"one, {classes[0].item()!r}" if classes.size else "no rows"
        raise NaivelyError(
            f"the target {options.target!r} must have at least two classes{source.where}; "
            f"got {got}."
        )
    return Labelled(table.X, table.y, classes)
