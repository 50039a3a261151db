"""The command line: ``naively``, or ``python -m naively``.

One file per command; `options` holds what several of them take, `data` looks at their files,
`console` does the talking and `bars` show progress. Whatever is heavy is imported by the command
that needs it, so that ``naively --help`` is quick.
"""

from __future__ import annotations

import sys

from naively._optional import need
from naively.exceptions import NaivelyError

__all__ = ["app"]


def app() -> None:
    """Run the program and exit: 0 fine, 2 what was given will not do, 130 interrupted."""
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
