"""Options that several commands share.

A group of options is a frozen dataclass; `grouped` lets a command take one as a single argument,
so that no command repeats them.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import partial, wraps
from glob import has_magic
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from naively.cli import console
from naively.cli.outputs import check_no_terminal, is_standard
from naively.data.remote import address_of, is_remote, shown
from naively.data.remote import check_output as check_remote_output
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
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Random seed for shuffling.")]

_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")]

_table = partial(typer.Option, rich_help_panel="The table")

Weight = Annotated[str | None, _table(metavar="NAME", help="The column of the rows' weights.")]


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
        separator = "\t" if self.separator == r"\t" else self.separator
        return {
            "separator": separator,
            "decimal": self.decimal,
            "missing": tuple(self.missing or ()),
            "encoding": self.encoding,
        }


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
class Labels:
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
    columns: Annotated[
        list[str] | None,
        _table(metavar="NAMES", help="The columns, for a model fitted without names."),
    ] = None
    drop_missing_target: _Drop = False


def check_output(path: Path, *inputs: Path, binary: str | None = None) -> Path:
    """Return where to write, or raise before work is done for nothing or an input is lost.

    Of what is binary, its name: it cannot be shown on a terminal.
    """
    if is_standard(path):
        check_no_terminal(binary)
        return path
    same = f"the output must be another file than the input; got {shown(path)!r}."
    if (address := address_of(path)) is not None:
        check_remote_output(address)
        if any(address == address_of(given) for given in inputs):
            raise NaivelyError(same)
        return path
    if path.is_dir():
        raise NaivelyError(f"cannot write {str(path)!r}: it is a directory.")
    if path.exists() and not path.is_file():
        raise NaivelyError(f"cannot write {str(path)!r}: it is not a plain file.")
    if not path.parent.is_dir():
        raise NaivelyError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}.")
    if not os.access(path.parent, os.W_OK):
        raise NaivelyError(f"cannot write {str(path)!r}: Permission denied.")
    if any(path.exists() and given.exists() and path.samefile(given) for given in inputs):
        raise NaivelyError(same)
    return path


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
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    read = [name for name, hint in hints.items() if hint in (Files, Saved)]
    flat: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            flat |= _parameters(groups[name])
        else:
            flat[name] = parameter.replace(
                annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY
            )

    flat["quiet"] = inspect.Parameter(
        "quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_Quiet
    )

    @wraps(command)
    def run(quiet: bool, **values: Any) -> None:
        for name in read:
            check_there(values[name])
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        with console.silence(quiet):
            command(**values)

    run.__signature__ = inspect.Signature(list(flat.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in flat.items()}
    return run


def _parameters(kind: Any) -> dict[str, inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        field.name: inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    }
