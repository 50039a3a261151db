"""The files of a command: looked at once before the work begins, and read into memory for some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naively.cli import bars
from naively.cli.notes import (
    counting_columns,
    tell_counting,
    tell_left_out,
    tell_model,
    tell_nearly_numeric,
    tell_unlabelled,
)
from naively.cli.options import Data, Reading
from naively.cli.parameters import ModelOptions
from naively.data.remote import shown
from naively.engines import summarize
from naively.engines.files.csv import CsvDialect
from naively.engines.files.labelled_rows import LabelledRows, read
from naively.engines.files.plan import ColumnPlan, Request
from naively.engines.files.readers import FirstRows
from naively.errors import NaivelyError


@dataclass(frozen=True)
class CommandFiles:
    """The files of a command, as they were given, and their first rows."""

    paths: Sequence[str]
    first: FirstRows

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that they stand for, less standard input."""
        return tuple(Path(file.address) for file in self.first.files if file.size is not None)

    @property
    def title(self) -> str:
        """What is read, in a word."""
        return (
            Path(shown(self.paths[0])).name if len(self.paths) == 1 else f"{len(self.paths)} files"
        )

    def split(self, values: Sequence[str] | None) -> list[str]:
        """Split 'a,b' at its commas, unless a column is called that."""
        found: list[str] = []
        for value in values or ():
            is_one = value in self.first.names
            found += [value] if is_one else [part.strip() for part in value.split(",")]
        return [name for name in found if name]

    def asked(self, options: Data) -> dict[str, Any]:
        """Return which columns the options ask for, as the engine is told."""
        return {
            "target": options.target,
            "columns": tuple(self.split(options.columns)) or None,
            "exclude": tuple(self.split(options.exclude)),
            "skip_columns": True,  # and the user is told
            "drop_missing_target": options.drop_missing_target,  # the same
        }

    def plan(
        self, options: Data, kinds: Mapping[str, Any] | None = None, weight: str | None = None
    ) -> ColumnPlan:
        """Choose the columns to learn from; tell the user which are left out, and why."""
        held = None if kinds is None else dict(kinds)
        request = Request(**self.asked(options), kinds=held, weight=weight)
        found = ColumnPlan.of(self.first, request)
        tell_left_out(found.left_out, is_part=self.first.is_part)
        if kinds is not None:
            free = [name for name in found.features if name not in kinds]
            tell_nearly_numeric(self.first.table, [n for n in free if n in self.first.names])
        return found

    def has_categories(self, options: Data, weight: str | None = None) -> bool:
        """Whether columns of text, booleans or categories can be learned from."""
        request = Request(**self.asked(options), kinds={}, weight=weight)
        schema = ColumnPlan.of(self.first, request).schema
        return bool(schema.categories or schema.texts)


def look(paths: Sequence[str], options: Reading) -> CommandFiles:
    """Look at the first file that is sound and holds rows.

    Where there is none, raise what is wrong with the first that is not sound; otherwise the
    engine says what is wrong with some.
    """
    first = FirstRows(list(paths), CsvDialect(**options.dialect))
    if not first.has_types:
        first.check_sound()
    return CommandFiles(paths, first)


def decide(
    model: ModelOptions, source: CommandFiles, options: Data, weight: str | None = None
) -> ModelOptions:
    """Choose the model by the columns of the first file, if the options do not, and say so."""
    if model.asked_for is not None:
        return model.decided(has_categories=False)
    decided = model.decided(has_categories=source.has_categories(options, weight))
    if decided.model == "naive-bayes":
        tell_model()
    return decided


def read_labelled(
    source: CommandFiles, options: Data, kinds: Mapping[str, Any] | None = None
) -> LabelledRows:
    """Read the columns to learn from and the labels; say which columns were left out and why."""
    plan = source.plan(options, kinds)
    with bars.streaming(f"reading {source.title}") as progress:
        table = read(source.first, plan, progress)
    tell_unlabelled(plan.n_unlabelled())
    if table.classes.size < 2:
        got = f"one, {table.classes.item(0)!r}" if table.classes.size else "no rows"
        raise NaivelyError(
            f"the target {options.target!r} must have at least two classes{source.first.where}; "
            f"got {got}."
        )
    numbers = [plan.features[j] for j in plan.schema.numbers]
    tell_counting(counting_columns(summarize(table.X.select(numbers), table.y)) if numbers else [])
    return table
