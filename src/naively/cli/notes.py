"""What a user should know about the columns and files of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naively.cli import console
from naively.engines.memory.columns import LeftOut, first_text, is_text, looks_numeric
from naively.model import row_numbers
from naively.statistics.summary import Summary

_MOST = 20  # names in one line
_EMPTY = (
    "no cell in the first rows, by which columns are chosen. If cells come later, say what they "
    "are: --family NAME=categorical or NAME=student_t."
)
_FEWEST = 10  # rows by which a column is said to differ in every row


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


def tell_model() -> None:
    """Print that the model was chosen by the columns of the table."""
    console.note(
        "not all columns hold numbers, so the model is NaiveBayes; --model gaussian learns from "
        "the numbers alone."
    )


def tell_nearly_numeric(table: Any, names: Sequence[str]) -> None:
    """Point out columns of text that are probably meant as numbers."""
    texts = {name: table.column(name) for name in names if is_text(table.column(name).type)}
    for name, column in texts.items():
        if looks_numeric(column):
            odd = LeftOut(name, "looks numeric", *first_text(column))
            console.note(f"{name!r} is learned from as text: {_odd(odd)}")


def _odd(column: LeftOut) -> str:
    cell = column.cell or ""
    hint = f"--missing {cell!r} if it means missing"
    if "," in cell and cell.replace(",", "").isdigit():
        hint = "--decimal ',' if it is a fraction"
    return f"it looks numeric, but {cell!r} in line {column.line} is no number; {hint}."


def tell_identifiers(first: Summary) -> None:
    """Point out columns whose text differs in every one of the first rows."""
    schema = first.schema
    for place, (j, categories) in enumerate(zip(schema.categories, first.categories, strict=True)):
        if categories.size >= _FEWEST and first.tally(place).sum() == categories.size:
            name = schema.name(j).removeprefix("column ")
            console.note(f"{name} differs in every row; --exclude {name} if it says nothing.")


def tell_texts(first: Summary) -> None:
    """Say which columns are read word by word."""
    schema = first.schema
    for j in schema.texts:
        name = schema.name(j).removeprefix("column ")
        console.note(f"{name} is read as text, word by word; --family {name}=categorical if not.")


def tell_counting(names: Sequence[str]) -> None:
    """Point out columns that are probably not to be learned from."""
    for name in names:
        console.note(f"{name!r} only counts the rows; --exclude {name!r} if it says nothing else.")


def tell_bad_files(bad_files: Sequence[tuple[str, str]]) -> None:
    """List the files that were skipped."""
    if bad_files:
        console.note(f"{len(bad_files)} of the files were skipped, and nothing of them counts:")
    for name, reason in bad_files:
        console.note(f"skipped {name!r}: {reason}.")


def counting_columns(summary: Summary) -> list[str]:
    """Return the names of the columns that only count the rows, in any order."""
    names = summary.schema.names
    return [names[j] for j in row_numbers.counting_columns(summary)] if names else []


def _list(names: Sequence[str]) -> str:
    more = [f"{len(names) - _MOST} more"] if len(names) > _MOST else []
    return ", ".join([*names[:_MOST], *more])
