"""The files of a command: looked at once before the work begins, then measured, judged or read.

What a user should know about their columns is told on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naively.cli import console
from naively.cli.options import Data, Labels, Reading
from naively.cli.outputs import check_output
from naively.cli.parameters import ModelOptions
from naively.data.labels import quoted
from naively.data.remote import shown
from naively.engines import summarize
from naively.engines.files.csv import CsvDialect
from naively.engines.files.labelled_rows import LabelledRows, read
from naively.engines.files.plan import LABEL_TYPES, ColumnPlan, Request, types_of
from naively.engines.files.readers import FirstRows
from naively.engines.files.summary_pass import scan
from naively.engines.memory.columns import LeftOut, first_text, is_text, looks_numeric
from naively.errors import NaivelyError, need
from naively.model import row_numbers
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.evaluation.files import FilesToJudge


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
        path, *others = self.paths
        return f"{len(self.paths)} files" if others else Path(shown(path)).name

    def split(self, values: Sequence[str] | None) -> list[str]:
        """Split 'a,b' at its commas, unless a column is called that."""
        known = self.first.names
        parts = [[value] if value in known else value.split(",") for value in values or ()]
        return [name for part in parts for name in map(str.strip, part) if name]

    def others(self, known: Sequence[str] | None, weight: str | None) -> list[str]:
        """Return the columns beside those of a model; none where they cannot be told."""
        if known is None or not self.first.has_types:
            return []
        return [name for name in self.first.names if name and name not in {*known, weight}]

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
        plan = ColumnPlan.of(self.first, request)
        tell_left_out(plan.left_out, is_part=self.first.is_part)
        if kinds is not None:
            free = {*self.first.names} - {*kinds}
            _tell_nearly_numeric(self.first.table, [n for n in plan.features if n in free])
        return plan


def look(paths: Sequence[str], options: Reading) -> CommandFiles:
    """Look at the first file that is sound and holds rows.

    Where there is none, raise what is wrong with the first that is not sound; otherwise the
    engine says what is wrong with some.
    """
    first = FirstRows(list(paths), CsvDialect(**options.dialect))
    if not first.has_types:
        first.check_sound()
    # Its own handlers may lose an interrupt between two blocks; Python's do not.
    need("pyarrow", "reading files", extra="files").enable_signal_handlers(False)
    return CommandFiles(paths, first)


def read_labelled(
    source: CommandFiles, options: Data, kinds: Mapping[str, Any] | None = None
) -> LabelledRows:
    """Read the columns to learn from and the labels; say which columns were left out and why."""
    plan = source.plan(options, kinds)
    with console.streaming(f"reading {source.title}") as progress:
        table = read(source.first, plan, progress)
    tell_unlabelled(plan.n_unlabelled())
    if table.classes.size < 2:
        got = f"one, {table.classes.item(0)!r}" if table.classes.size else "no rows"
        raise NaivelyError(
            f"the target {options.target!r} must have at least two classes{source.first.where}; "
            f"got {got}."
        )
    numbers = [plan.features[j] for j in plan.schema.numbers]
    if numbers:
        tell_counting(summarize(table.X.select(numbers), table.y))
    return table


def rows_for(estimator: Any, files: Sequence[str], labels: Labels, output: Path) -> Summary:
    """Summarize files by the columns of a model, which may be in any order there."""
    source = look(files, labels)
    check_output(output, *source.inputs, binary="a model")
    inputs, target = estimator.summary_.schema.inputs, labels.target
    if target is None:
        if inputs is None or not source.first.has_types:
            raise NaivelyError("the column of labels must be named: --target.")
        others = source.others(inputs, labels.weight)
        if len(others) != 1:
            got = ", ".join(map(repr, others[:8])) or "none"
            raise NaivelyError(
                "without --target there must be one column beside the model's, the labels; "
                f"got {got}{source.first.where}."
            )
        target = tell_target(others[0])
    return summary_for(estimator, source, labels, target)


def summary_for(
    estimator: Any, source: CommandFiles, labels: Labels, target: str | None
) -> Summary:
    """Summarize files by the columns of a model; without a target, as rows of one class."""
    schema, kind = estimator.summary_.schema, LABEL_TYPES[estimator.classes_.dtype.kind]
    with console.streaming(f"measuring {source.title}") as progress:
        pass_ = scan(
            source.first,
            target=target,
            columns=None if schema.names else source.split(labels.columns) or None,
            weight=labels.weight,
            schema=schema,
            label_type=None if target is None else kind,
            types=types_of(estimator.summary_),
            skip_columns=True,
            drop_missing_target=labels.drop_missing_target,
            progress=progress,
        )
    tell_unlabelled(pass_.unlabelled)
    classes = pass_.summary.classes
    if target is not None and classes.size and LABEL_TYPES[classes.dtype.kind] != kind:
        raise NaivelyError(
            f"the labels must be {kind} as the model's are ({quoted(estimator.classes_)}); "
            f"got {quoted(classes)}."
        )
    return pass_.summary


def files_to_judge(source: CommandFiles, data: Data, model: ModelOptions) -> FilesToJudge:
    """Return what is judged, with a bar for each pass; standard input, read once, is a table."""
    from naively.evaluation.files import FilesToJudge

    first, plan = source.first, source.plan(data, model.kinds)
    if any(file.size is None for file in first.files):
        pa = need("pyarrow", "reading files", extra="files")
        with console.streaming(f"reading {source.title}") as progress:
            rows = read(first, plan, progress)
        tell_unlabelled(plan.n_unlabelled())
        first = FirstRows(rows.X.append_column(data.target, pa.array(rows.y)), CsvDialect())
        plan = ColumnPlan.of(first, replace(plan.request, columns=plan.features, exclude=()))
    return FilesToJudge(
        first=first,
        plan=plan,
        schema=model.measured(),
        model_of=model.estimator,
        watch=lambda name: console.streaming(f"{name} {source.title}"),
    )


def check_test_size(share: float) -> float:
    """Return the share of rows to hold out, or raise."""
    if not 0 < share < 1:
        raise NaivelyError(f"--test-size must lie between 0 and 1; got {share:g}.")
    return share


@contextmanager
def user_errors() -> Iterator[None]:
    """Take scikit-learn's complaints about the data as the user's errors."""
    try:
        yield
    except ValueError as error:
        raise NaivelyError(str(error)) from error


_MAX_NAMES = 20  # in one line
_EMPTY = (
    "no cell in the first rows, by which columns are chosen. If cells come later, say what they "
    "are: --family NAME=categorical or NAME=student_t."
)
_MIN_ROWS = 10  # by which a column is said to differ in every row


def tell_left_out(left_out: Sequence[LeftOut], *, is_part: bool = False) -> None:
    """Print which columns are not learned from, and why; by the first rows or by all."""
    by_reason: dict[str, list[str]] = {}
    for column in left_out:
        if column.cell is None:
            by_reason.setdefault(column.reason, []).append(repr(column.name))
            continue
        console.note(f"left out {column.name!r}: {_odd(column)}")
    for reason, names in by_reason.items():
        reason = _EMPTY if is_part and reason == "empty" else f"{reason}."
        console.note(f"left out {_list(names)}: {reason}")


def tell_unlabelled(count: int) -> None:
    """Print how many rows were left out for want of a label."""
    if count:
        were = "row without a label was" if count == 1 else "rows without a label were"
        console.note(f"{count:,} {were} left out.")


def tell_target(name: str) -> str:
    """Print where the labels are, if nobody has said so."""
    console.note(f"the labels are in {name!r}, the one column beside the model's.")
    return name


def _tell_nearly_numeric(table: Any, names: Sequence[str]) -> None:
    """Point out columns of text that are probably meant as numbers."""
    for name in names:
        column = table.column(name)
        if is_text(column.type) and looks_numeric(column):
            odd = LeftOut(name, "looks numeric", *first_text(column))
            console.note(f"{name!r} is learned from as text: {_odd(odd)}")


def _odd(column: LeftOut) -> str:
    cell = column.cell or ""
    hint = f"--missing {cell!r} if it means missing"
    if "," in cell and cell.replace(",", "").isdigit():
        hint = "--decimal ',' if it is a fraction"
    return f"it looks numeric, but {cell!r} in line {column.line} is no number; {hint}."


def tell_first_rows(first: Summary) -> Summary:
    """Point out columns whose text differs in every row, and those that are read word by word."""
    schema = first.schema
    names = [schema.name(j).removeprefix("column ") for j in range(schema.n_columns)]
    for place, (j, categories) in enumerate(zip(schema.categories, first.categories, strict=True)):
        if categories.size >= _MIN_ROWS and first.tally(place).sum() == categories.size:
            name = names[j]
            console.note(f"{name} differs in every row; --exclude {name} if it says nothing.")
    for name in (names[j] for j in schema.texts):
        console.note(f"{name} is read as text, word by word; --family {name}=categorical if not.")
    return first


def tell_counting(summary: Summary) -> None:
    """Point out columns that only count the rows, in any order, and say nothing else."""
    names = summary.schema.names
    for name in [names[j] for j in row_numbers.counting_columns(summary)] if names else []:
        console.note(f"{name!r} only counts the rows; --exclude {name!r} if it says nothing else.")


def tell_bad_files(bad_files: Sequence[tuple[str, str]]) -> None:
    """List the files that were skipped."""
    if bad_files:
        console.note(f"{len(bad_files)} of the files were skipped, and nothing of them counts:")
    for name, reason in bad_files:
        console.note(f"skipped {name!r}: {reason}.")


def _list(names: Sequence[str]) -> str:
    more = [f"{len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else []
    return ", ".join([*names[:_MAX_NAMES], *more])
