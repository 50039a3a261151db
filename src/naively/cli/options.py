"""Options that several commands share.

A group of options is a frozen dataclass; `grouped` lets a command take one as a single argument,
so that no command repeats them.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from naively.exceptions import NaivelyError

__all__ = ["AsJson", "Data", "File", "Model", "Reading", "Saved", "Seed", "check_output", "grouped"]

File = Annotated[
    Path,
    typer.Argument(
        metavar="DATA.csv", help="A table; its first line names the columns.", show_default=False
    ),
]
Saved = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="What 'naively fit' wrote.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for another program.")]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Shuffle by this number.")]

_DATA, _MODEL = "The table", "The model"


@dataclass(frozen=True)
class Reading:
    """How a file is read."""

    separator: Annotated[
        str,
        typer.Option(metavar="CHAR", help=r"Between cells; '\t' for a tab.", rich_help_panel=_DATA),
    ] = ","
    decimal: Annotated[
        str, typer.Option(metavar="CHAR", help="Before a fraction.", rich_help_panel=_DATA)
    ] = "."
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A text that means a missing cell, like '?'.",
            rich_help_panel=_DATA,
        ),
    ] = None


@dataclass(frozen=True)
class _Target:
    target: Annotated[
        str,
        typer.Option(
            "--target", "-t", metavar="NAME", help="The column to predict.", rich_help_panel=_DATA
        ),
    ]


@dataclass(frozen=True)
class Data(Reading, _Target):
    """Which columns of a file are learned from."""

    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Learn from these: 'a,b', or the option twice. Default: all that are numeric.",
            rich_help_panel=_DATA,
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Do not learn from these.", rich_help_panel=_DATA),
    ] = None


@dataclass(frozen=True)
class Model:
    """How the model is read off what was seen: GaussianNB's parameters."""

    variance: Annotated[
        Literal["class", "shared"],
        typer.Option(
            help="One per class and column, or one per column: a linear model.",
            rich_help_panel=_MODEL,
        ),
    ] = "class"
    ddof: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="1 for the sample variance (n - 1).", rich_help_panel=_MODEL
        ),
    ] = 0
    smoothing: Annotated[
        Literal["global", "column"],
        typer.Option(
            help="Smooth by the largest variance of all, or each column by its own.",
            rich_help_panel=_MODEL,
        ),
    ] = "global"
    var_smoothing: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="X",
            help="The part of it that is added to variances.",
            rich_help_panel=_MODEL,
        ),
    ] = 1e-9
    priors: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Class probabilities, 'yes=0.2,no=0.8'; the shares in the data by default.",
            rich_help_panel=_MODEL,
        ),
    ] = None

    def estimator(self, classes: Any) -> Any:
        """Return the estimator for labels of these classes."""
        from naively.estimators.gaussian_nb import GaussianNB

        priors = None if self.priors is None else _priors(self.priors, classes.tolist())
        return GaussianNB(**{**asdict(self), "priors": priors})


def _priors(text: str, classes: list[Any]) -> list[float]:
    """Read 'a=0.2,b=0.8', or '0.2,0.8' in the order of the sorted classes."""
    names = [str(label) for label in classes]
    pairs = [part.rpartition("=") for part in text.split(",")]
    try:
        values = [float(number) for _, _, number in pairs]
    except ValueError:
        raise NaivelyError(f"priors must be like 'a=0.2,b=0.8'; got {text!r}.") from None
    given = [name.strip() for name, equals, _ in pairs if equals]
    if not given:
        return values
    if sorted(given) != sorted(names):
        raise NaivelyError(
            f"priors must name each class once ({', '.join(names)}); got {', '.join(given)}."
        )
    by_name = dict(zip(given, values, strict=False))
    return [by_name[name] for name in names]


def check_output(path: Path, *inputs: Path) -> Path:
    """Return where to write, or raise before work is done for nothing or an input is lost."""
    if path.is_dir():
        raise NaivelyError(f"cannot write {str(path)!r}: it is a directory.")
    if path.exists() and not path.is_file():
        raise NaivelyError(f"cannot write {str(path)!r}: it is not a plain file.")
    if not path.parent.is_dir():
        raise NaivelyError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}.")
    if not os.access(path.parent, os.W_OK):
        raise NaivelyError(f"cannot write {str(path)!r}: Permission denied.")
    if any(path.exists() and given.exists() and path.samefile(given) for given in inputs):
        raise NaivelyError(f"the output must be another file than the input; got {str(path)!r}.")
    return path


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take groups of options, each as one argument."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    flat: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            flat |= _parameters(groups[name])
        else:
            flat[name] = parameter.replace(
                annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY
            )

    @wraps(command)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
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
