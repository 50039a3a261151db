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
from functools import cache
from importlib import import_module
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
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_OTHER_WORDS = {  # all commands, each with what other programs call it
    "demo": "example try start",
    "fit": "train learn build",
    "predict": "classify infer label apply",
    "update": "partial-fit add append",
    "forget": "unlearn remove delete",
    "merge": "combine join sum",
    "stream": "serve online",
    "evaluate": "score test validate cv cross-validate",
    "compare": "benchmark versus",
    "report": "plot html",
    "tune": "search optimize grid-search",
    "drift": "monitor",
    "inspect": "show info describe summary summarize",
    "explain": "why",
    "diagnose": "check profile",
    "export": "convert onnx sql to-onnx to-sql",
    "completion": "",
}
OTHER_WORDS = {word: name for name, words in _OTHER_WORDS.items() for word in words.split()}
"""The commands by what other programs call them: they are named in messages, and do not run."""
_FILES = {"forget": "update", "merge": "update"}  # of commands that share one


class Commands(Mapping[str, Any]):
    """All commands; each is made when it is first looked up."""

    def __getitem__(self, name: str) -> Any:
        if name not in _OTHER_WORDS:
            raise KeyError(name)
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_OTHER_WORDS)

    def __len__(self) -> int:
        return len(_OTHER_WORDS)


@cache
def _command(name: str) -> Any:
    function = getattr(import_module(f"naively.cli.{_FILES.get(name, name)}"), name)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=_Command, context_settings=_SETTINGS)(grouped(function))
    return typer.main.get_command(alone)


class _Plain:
    """What reads its values and shows its help without pydantic and rich."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            parameter._runtime_param = _Values()
        return parameters

    def format_help(self, ctx: Any, formatter: Any) -> None:
        page = HelpPage.of(self, ctx)
        (page if ctx.meta.get("all") else page.in_short()).write(formatter)


class _Command(_Plain, TyperCommand):
    """A command, of which ``--help-all`` shows the options that few people use, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta["all"] = "--help-all" in args
        parsed: list[str] = super().parse_args(ctx, ["--help"] if ctx.meta["all"] else args)
        return parsed


class _Program(_Plain, TyperGroup):
    """The commands, with errors in one line."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands: Any = Commands()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if (meant := OTHER_WORDS.get(args[0].replace("_", "-").lower())) is not None:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

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
            raise typer.Exit(_INTERRUPTED) from None
        except BrokenPipeError:  # as of "| head": the reader has enough
            raise typer.Exit(_nobody_reads()) from None

    def _run(self, *args: Any, **kwargs: Any) -> int:
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs) or 0
            sys.stdout.flush()  # while what goes wrong can still be told
            return code
        except typer.Abort:  # of typer's own, where input ends early
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


class _Values:
    """What reads the value of a parameter, or several where it may come again."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of the words, or raise what is wrong with them."""
        several, kind = param.multiple or param.nargs == -1, param.type_descriptor.annotation
        if value is None:
            return () if several else None
        try:
            if several:
                return [_value(one, get_args(kind)[0], param) for one in value]
            return _value(value, kind, param)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from None


def _value(value: Any, kind: Any, param: Any) -> Any:
    if get_origin(kind) is Literal:
        if value not in (words := get_args(kind)):
            close = get_close_matches(str(value), words, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"it must be one of {', '.join(words)}; got {str(value)!r}.{hint}")
        return value
    if kind not in (int, float):
        return kind(value)
    try:
        number = kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise ValueError(f"it must be {what}; got {value!r}.") from None
    if param.min is not None and not number >= param.min:
        raise ValueError(f"it must be at least {param.min:g}; got {value}.")
    if param.max is not None and not number <= param.max:
        raise ValueError(f"it must be at most {param.max:g}; got {value}.")
    return number


program = typer.Typer(
    cls=_Program,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
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
