"""The program: its commands, the values of their options, and what becomes of errors.

What is wrong with the user's input ends in one line on standard error and exit code 2. What is
wrong with the program ends in a traceback. The file of a command is imported when it is asked for.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from naively import __version__
from naively.cli import console
from naively.cli.completion import ASKED_BY_SHELLS, answer_shells
from naively.cli.help_page import HelpPage
from naively.cli.options import grouped
from naively.errors import NaivelyError

_INTERRUPTED, _NOBODY_READS = 130, 141  # exit codes, as shells have them


class _Program(TyperGroup):
    """The commands, with errors in one line."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands: Any = Commands()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        found: list[str] = super().parse_args(ctx, args)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and (meant := OTHER_WORDS.get(args[0].replace("_", "-").lower())) is not None:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(str(HelpPage.of(self, ctx)))

    def main(self, *args: Any, standalone_mode: bool = True, **kwargs: Any) -> Any:
        if ASKED_BY_SHELLS in os.environ:
            answer_shells()
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_args, **_kwargs: console.note(str(message))
            code = self._run(*args, **kwargs)
        if standalone_mode:
            sys.exit(code)
        return code

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            console.interrupted(str(error))
            raise
        except BrokenPipeError:  # as of "| head": the reader has enough
            raise typer.Exit(_nobody_reads()) from None

    def _run(self, *args: Any, **kwargs: Any) -> int:
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs) or 0
            sys.stdout.flush()  # while what goes wrong can still be told
            return code
        except (KeyboardInterrupt, typer.Abort):
            return _INTERRUPTED
        except BrokenPipeError:
            return _nobody_reads()
        except NaivelyError as error:
            return console.fail(str(error))
        except OSError as error:
            return console.fail(_refused(error))
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            return console.fail(_usage(error))


def _refused(error: OSError) -> str:
    """Return what the system refused to do: with a file, or else with standard output."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{reason}: {str(error.filename)!r}."
    _write_nowhere()
    return f"cannot write to standard output: {reason}."


def _nobody_reads() -> int:
    _write_nowhere()
    return _NOBODY_READS


def _write_nowhere() -> None:
    """Drop what standard output still holds: it would be written again at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _usage(error: Any) -> str:
    """Return what is wrong with the command itself, and where to look."""
    context = getattr(error, "ctx", None)
    hint = f" Try '{context.command_path} --help'." if context is not None else ""
    message = " ".join(error.format_message().split())
    return message + ("" if message[-1:] in ".?!" else ".") + hint


program = typer.Typer(
    cls=_Program,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"naively {__version__}")
        raise typer.Exit


@program.callback(invoke_without_command=True)
def _naively(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Naive Bayes on files of any size: fit, predict, evaluate, explain.

    'naively COMMAND --help' says more about a command.

    For example:

      naively demo
      naively fit iris.csv --target species -o iris.safetensors
      naively predict iris.safetensors new.csv -o predictions.csv
      naively explain iris.safetensors new.csv --row 3
      naively evaluate iris.csv --target species --folds 10
      naively report iris.csv --target species -o report.html
    """
    if context.invoked_subcommand is None:
        print(_FIRST_STEPS)


_FIRST_STEPS = """\
naively learns from a table to predict one of its columns. With a file of your own:

  naively fit iris.csv --target species -o iris.safetensors
  naively predict iris.safetensors iris.csv
  naively evaluate iris.csv --target species

Without a file, 'naively demo' shows what it does. 'naively --help' lists all commands."""


_LEARNING = "fit", "predict", "update", "forget", "merge", "stream"
_JUDGING = "evaluate", "compare", "report", "tune", "drift"
_NAMES = "demo", *_LEARNING, *_JUDGING, "inspect", "explain", "diagnose", "export", "completion"
_FILES = {"forget": "update"}  # of commands that share one

_OTHER_WORDS = {
    "fit": "train learn build",
    "predict": "classify infer label apply",
    "evaluate": "score test validate cv cross-validate",
    "update": "partial-fit add append",
    "forget": "unlearn remove delete",
    "stream": "serve online",
    "merge": "combine join sum",
    "tune": "search optimize grid-search",
    "compare": "benchmark versus",
    "drift": "monitor",
    "inspect": "show info describe summary summarize",
    "explain": "why",
    "diagnose": "check profile",
    "export": "convert onnx sql to-onnx to-sql",
    "report": "plot html",
    "demo": "example try start",
}
OTHER_WORDS = {word: name for name, words in _OTHER_WORDS.items() for word in words.split()}
"""The commands by what other programs call them: they are named in messages, and do not run."""


class _Command(TyperCommand):
    """A command that reads its values and shows its help without pydantic and rich."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--help-all" in args:
            typer.echo(str(HelpPage.of(self, ctx)))
            raise typer.Exit
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(str(HelpPage.of(self, ctx).in_short()))


class Commands(Mapping[str, Any]):
    """All commands; each is made when it is first looked up."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in _NAMES:
            raise KeyError(name)
        if name not in self._made:
            function = getattr(import_module(f"naively.cli.{_FILES.get(name, name)}"), name)
            alone = typer.Typer(add_completion=False, rich_markup_mode=None)
            settings = {"help_option_names": ["-h", "--help"]}
            alone.command(name, cls=_Command, context_settings=settings)(grouped(function))
            self._made[name] = typer.main.get_command(alone)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


def read_plainly(parameter: Any) -> Any:
    """Return a parameter of typer's that reads its values here, if they are plain."""
    described = getattr(parameter, "type_descriptor", None)
    if described is None:
        return parameter
    is_list = get_origin(described.annotation) is list
    kind = get_args(described.annotation)[0] if is_list else described.annotation
    if kind in (bool, str, Path, int, float) or _words_of(kind):
        parameter._runtime_param = PlainValue(kind)
    return parameter


class PlainValue:
    """A value, or several where the parameter may come again, of one type."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of the words, or raise what is wrong with them."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        try:
            return [self._one(v, param) for v in value] if several else self._one(value, param)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from None

    def _one(self, value: Any, param: Any) -> Any:
        words = _words_of(self._kind)
        if words:
            if value not in words:
                close = get_close_matches(str(value), words, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise ValueError(f"it must be one of {', '.join(words)}; got {str(value)!r}.{hint}")
            return words[value]
        if self._kind not in (int, float):
            return self._kind(value)
        what = "a whole number" if self._kind is int else "a number"
        try:
            number = self._kind(value)
        except ValueError:
            raise ValueError(f"it must be {what}; got {value!r}.") from None
        if param.min is not None and not number >= param.min:
            raise ValueError(f"it must be at least {param.min:g}; got {value}.")
        return number


def _words_of(kind: Any) -> dict[str, Any]:
    """Return the words of which one must be given, and what each means; none for other types."""
    if get_origin(kind) is Literal:
        return {word: word for word in get_args(kind)}
    is_enum = isinstance(kind, type) and issubclass(kind, Enum)
    return {one.value: one for one in kind} if is_enum else {}
