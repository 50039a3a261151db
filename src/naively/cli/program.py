"""The program: its commands, and what becomes of errors.

What is wrong with the user's input ends in one line on standard error and exit code 2. What is
wrong with the program ends in a traceback.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from naively import __version__
from naively.cli import console
from naively.cli.commands import OTHER_WORDS, Commands
from naively.cli.completion import ASKED_BY_SHELLS, answer_shells
from naively.cli.help_page import HelpPage
from naively.cli.values import read_plainly
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
