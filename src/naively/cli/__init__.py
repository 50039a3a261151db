"""The command line: ``naively``, or ``python -m naively``.

A file for each command; `options` and `parameters` hold what several of them take, `data` looks at
their files, `outputs` says where they may write, `console` talks and shows progress, and `program`
puts them together. Whatever is heavy is imported by the command that needs it, so that
``naively --help`` is quick.
"""

from __future__ import annotations

import os
import sys

from naively.errors import NaivelyError, need

__all__ = ["app"]


def app() -> None:
    """Run the program and exit: 0 fine, 2 what was given will not do, 130 interrupted."""
    _open_closed_streams()
    try:
        need("typer", "the command line", extra="cli")
        from naively.cli.program import program

        program(prog_name="naively")
    except NaivelyError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted.", file=sys.stderr)
        sys.exit(130)


def _open_closed_streams() -> None:
    """Open closed standard streams: there is nothing to read, and what is written is lost."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, PTH123 - it stays open
