"""Options that several commands share.

A group of options is a frozen dataclass; `grouped` lets a command take one as a single argument,
so that no command repeats them.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from glob import has_magic
from pathlib import Path
from typing import Annotated, Any

import typer

from naively.cli import console
from naively.data.remote import is_remote
from naively.errors import NaivelyError

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="CSV, JSON lines, Parquet or Arrow: files, folders, 'globs', s3:// and https:// "
        "addresses, or - for standard input.",
        show_default=False,
    ),
]
Saved = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="A model file, written by 'naively fit'.", show_default=False
    ),
]
InPlace = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write here instead of in place.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for another program.")]
Page = Annotated[Path | None, typer.Option("--output", "-o", help="Write an HTML page.")]
Folds = Annotated[
    int | None, typer.Option(min=2, metavar="N", help="How many folds; 10 by default.")
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Random seed for shuffling.")]

_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")]

_table = partial(typer.Option, rich_help_panel="The table")

Weight = Annotated[str | None, _table(metavar="NAME", help="The column of the rows' weights.")]
Columns = Annotated[
    list[str] | None, _table(metavar="NAMES", help="The columns, for a model fitted without names.")
]


@dataclass(frozen=True)
class Reading:
    """How a file is read."""

    separator: Annotated[
        str | None,
        _table(metavar="CHAR", help=r"Between cells of CSV: a comma, but in .tsv a tab ('\t')."),
    ] = None
    decimal: Annotated[str, _table(metavar="CHAR", help="Decimal mark of CSV numbers.")] = "."
    missing: Annotated[
        list[str] | None, _table(metavar="TEXT", help="A text that means a missing cell, like '?'.")
    ] = None
    encoding: Annotated[
        str | None,
        _table(
            metavar="NAME",
            help="Encoding of CSV and JSON lines: latin-1, cp1252, utf-16; UTF-8 by default.",
        ),
    ] = None

    @property
    def dialect(self) -> dict[str, Any]:
        """How files of text are written, as the engine is told."""
        how = {field.name: getattr(self, field.name) for field in fields(Reading)}
        separator = "\t" if self.separator == r"\t" else self.separator
        return how | {"separator": separator, "missing": tuple(self.missing or ())}


@dataclass(frozen=True)
class _Target:
    target: Annotated[
        str,
        _table("--target", "-t", metavar="NAME", help="The column to predict."),
    ]


_Drop = Annotated[
    bool,
    _table("--drop-missing-target", help="Leave out rows without a label, instead of an error."),
]


@dataclass(frozen=True)
class Data(Reading, _Target):
    """Which columns of a file are learned from."""

    columns: Annotated[
        list[str] | None,
        _table(
            metavar="NAMES",
            help="Columns to use: 'a,b', or the option twice. Default: all usable ones.",
        ),
    ] = None
    exclude: Annotated[list[str] | None, _table(metavar="NAMES", help="Columns to leave out.")] = (
        None
    )
    drop_missing_target: _Drop = False


@dataclass(frozen=True)
class Labels(Reading):
    """Where the labels are of rows that a model is to learn or to forget."""

    target: Annotated[
        str | None,
        _table(
            "--target",
            "-t",
            metavar="NAME",
            help="The column of labels; by default the one that the model does not use.",
        ),
    ] = None
    weight: Weight = None
    columns: Columns = None
    drop_missing_target: _Drop = False


def check_there(given: Path | Sequence[Path | str]) -> None:
    """Raise at once where a file does not exist, before anything slow is imported.

    What else may be wrong with files is for those who read them to say.
    """
    for path in [given] if isinstance(given, Path) else given:
        name = os.fspath(path)
        if name != "-" and not is_remote(name) and not has_magic(name):
            try:
                os.stat(name)  # noqa: PTH116 - the name as it was given
            except OSError as error:
                raise NaivelyError(f"cannot read {name!r}: {error.strerror}.") from None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes groups of options, each as one argument."""
    own = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {n: p.annotation for n, p in own.items() if is_dataclass(p.annotation)}
    read = [name for name, p in own.items() if p.annotation in (Files, Saved)]
    flat: dict[str, inspect.Parameter] = {}
    for name, parameter in own.items():
        group = groups.get(name)
        flat |= inspect.signature(group, eval_str=True).parameters if group else {name: parameter}
    flat["quiet"] = inspect.Parameter("quiet", _KEYWORD, default=False, annotation=_Quiet)

    @wraps(command)
    def run(quiet: bool, **values: Any) -> None:
        for name in read:
            check_there(values[name])
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        with console.silence(quiet):
            command(**values)

    parameters = [parameter.replace(kind=_KEYWORD) for parameter in flat.values()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in flat.items()}
    return run


_KEYWORD = inspect.Parameter.KEYWORD_ONLY
