"""A table read from a file, as a command's options ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.cli import console
from naively.cli.options import Data, Reading
from naively.engines import columns, csv
from naively.exceptions import NaivelyError

__all__ = ["Labelled", "read_labelled", "read_table", "split_names"]


@dataclass(frozen=True)
class Labelled:
    """Rows and their labels: X is a ``pyarrow.Table`` of numeric columns."""

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]


def read_table(path: Path, options: Reading) -> Any:
    """Read a file into a ``pyarrow.Table``, with a bar if that takes a while."""
    size = path.stat().st_size if path.is_file() else None
    with console.progress(f"reading {path.name}", size, "bytes") as on_bytes:
        return csv.read(
            path,
            separator="\t" if options.separator == r"\t" else options.separator,
            decimal=options.decimal,
            missing=options.missing or (),
            on_bytes=on_bytes,
        )


def read_labelled(path: Path, options: Data) -> Labelled:
    """Read the columns to learn from and the labels; say which columns were left out and why."""
    table, where = read_table(path, options), f" in {path.name}"
    chosen = columns.choose(
        table,
        target=options.target,
        columns=split_names(options.columns, table.column_names) or None,
        exclude=split_names(options.exclude, table.column_names),
        where=where,
    )
    _tell(chosen.left_out)
    if not chosen.names:
        raise NaivelyError(f"there must be a numeric column beside the target{where}; got none.")
    X = columns.numbers(table, chosen.names, where)
    for name in columns.count_rows(X, chosen.names):
        console.note(f"{name!r} only counts the rows; --exclude {name!r} if it says nothing else.")
    y = columns.labels(table, options.target)
    classes = np.unique(y)
    if classes.size < 2:
        raise NaivelyError(
            f"the target {options.target!r} must have at least two classes{where}; "
            f"got one, {classes[0].item()!r}."
        )
    return Labelled(X, y, classes)


def split_names(values: Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """Split 'a,b' at its commas, unless a column is called that."""
    found: list[str] = []
    for value in values or ():
        found += [value] if value in names else [part.strip() for part in value.split(",")]
    return [name for name in found if name]


def _tell(left_out: Sequence[columns.LeftOut]) -> None:
    by_reason: dict[str, list[str]] = {}
    for column in left_out:
        if column.cell is None:
            by_reason.setdefault(column.reason, []).append(repr(column.name))
            continue
        hint = f"--missing {column.cell!r} if it means missing"
        if "," in column.cell and column.cell.replace(",", "").isdigit():
            hint = "--decimal ',' if it is a fraction"
        console.note(
            f"left out {column.name!r}: it looks numeric, but {column.cell!r} in line "
            f"{column.line} is no number; {hint}."
        )
    for reason, names in by_reason.items():
        console.note(f"left out {_list(names)}: {reason}.")


def _list(names: Sequence[str]) -> str:
    return ", ".join([*names[:20], *([f"{len(names) - 20} more"] if len(names) > 20 else [])])
