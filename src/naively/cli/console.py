"""What the program says: results on standard output, everything else on standard error.

Colours appear on a terminal only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from naively.data.remote import hidden

_PIPE_WIDTH = 200  # columns; what reads a pipe wants no line broken


_is_quiet = False


@contextmanager
def silence(wanted: bool) -> Iterator[None]:
    """Print no notes and draw no bars meanwhile, if that is wanted."""
    global _is_quiet
    before, _is_quiet = _is_quiet, wanted
    try:
        yield
    finally:
        _is_quiet = before


def shows_bars() -> bool:
    """Whether somebody watches standard error, and wants to."""
    return sys.stderr.isatty() and not _is_quiet


def note(text: str) -> None:
    """Tell what the user should know, in one line."""
    if not _is_quiet:
        _error_line("note", "yellow", text)


def fail(text: str) -> int:
    """Print in one line what is wrong; return the exit code for it."""
    _error_line("error", "red", text)
    return 2


def interrupted(text: str) -> None:
    """Print that the user stopped the work, and what is left of it."""
    _error_line("interrupted", "yellow", text or "nothing was finished.")


def _error_line(word: str, colour: str, text: str) -> None:
    line = hidden(" ".join(text.split("\n")))
    if not sys.stderr.isatty():
        with suppress(OSError):  # there is nobody left to tell
            print(f"{word}: {line}", file=sys.stderr, flush=True)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True).print(Text(f"{word}: ", style=f"bold {colour}") + line, soft_wrap=True)


def show(*what: Any) -> None:
    """Print results: text, or what rich can draw."""
    what = tuple(hidden(one) if isinstance(one, str) else one for one in what)
    if all(isinstance(one, str) for one in what):
        print(*what, sep="\n")
        return
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    for one in what:
        console.print(one, soft_wrap=isinstance(one, str))


def show_json(value: Any) -> None:
    """Print a value for another program. What is not a number is null."""
    from naively.tabular import plain

    print(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))
