"""What the program says: results on standard output, everything else on standard error.

Colours and progress bars appear on a terminal only.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any, Literal

__all__ = ["PATIENCE", "fail", "note", "progress", "show", "show_json"]

PATIENCE = 0.8  # seconds of work before a bar appears
_PIPE_WIDTH = 200  # columns; what reads a pipe wants no line broken


def note(text: str) -> None:
    """Tell what the user should know, in one line."""
    _error_line("note", "yellow", text)


def fail(text: str) -> int:
    """Say in one line what is wrong; return the exit code for it."""
    _error_line("error", "red", text)
    return 2


def _error_line(word: str, colour: str, text: str) -> None:
    line = " ".join(text.split("\n"))
    if not sys.stderr.isatty():
        print(f"{word}: {line}", file=sys.stderr)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True).print(Text(f"{word}: ", style=f"bold {colour}") + line, soft_wrap=True)


def show(*what: Any) -> None:
    """Print results: text, or what rich can draw."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    for one in what:
        console.print(one, soft_wrap=isinstance(one, str))


def show_json(value: Any) -> None:
    """Print a value for another program. What is not a number is null."""
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def progress(
    what: str, total: float | None = None, unit: Literal["bytes", "rows", "steps"] | None = None
) -> Iterator[Callable[[float], None]]:
    """Show a bar on the terminal while work goes on, once it has taken a moment.

    Parameters
    ----------
    what : str
        What is being done.
    total : float, optional
        How much there is to do; None where nobody knows.
    unit : str, optional
        What is counted.

    Yields
    ------
    callable
        Call it with how much more has been done.
    """
    if not sys.stderr.isatty():
        yield lambda _amount: None
        return
    bar = _bar(unit)
    task = bar.add_task(what, total=total)
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda amount: bar.advance(task, amount)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def _bar(unit: str | None) -> Any:
    from rich import progress as rich
    from rich.console import Console

    columns: list[Any] = [rich.TextColumn("{task.description}"), rich.BarColumn()]
    if unit == "bytes":
        columns += [rich.DownloadColumn(), rich.TransferSpeedColumn(), rich.TimeRemainingColumn()]
    elif unit is not None:
        columns += [rich.MofNCompleteColumn(), rich.TextColumn(unit), rich.TimeRemainingColumn()]
    else:
        columns += [rich.TimeElapsedColumn()]
    return rich.Progress(*columns, console=Console(stderr=True), transient=True)
