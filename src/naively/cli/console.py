"""What the program says: results on standard output, everything else on standard error.

Colours and bars appear on a terminal only, and bars not before a moment: a pass over files tells
rows and bytes; other work tells how much more has been done.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from time import monotonic
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
    terminal = Console(width=width, highlight=False, markup=False, emoji=False)
    for one in what:
        terminal.print(one, soft_wrap=isinstance(one, str))


def result(value: Any, as_json: bool) -> None:
    """Print what a command has found, for people or for another program."""
    show_json(value.to_dict()) if as_json else show(value)


def show_json(value: Any) -> None:
    """Print a value for another program. What is not a number is null."""
    from naively.tabular import plain

    print(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


PATIENCE = 0.8  # seconds of work before a bar appears


@contextmanager
def working(what: str, n_steps: int | None = None) -> Iterator[Callable[[float | str], None]]:
    """Show a bar while work goes on; yield a function that takes how much more has been done.

    It may take what is being done, too.
    """
    if not shows_bars():
        yield lambda _done: None
        return
    from rich import progress as rich

    counted = [rich.MofNCompleteColumn(), rich.TextColumn("steps"), rich.TimeRemainingColumn()]
    bar = _bar([rich.TimeElapsedColumn()] if n_steps is None else counted)
    task = bar.add_task(what, total=n_steps)

    def tell(done: float | str) -> None:
        if isinstance(done, str):
            bar.update(task, description=f"{what}: {done}")
        else:
            bar.advance(task, done)

    with _shown(bar):
        yield tell


@contextmanager
def streaming(
    what: str, *, hidden: bool = False
) -> Iterator[Callable[[int, int, int | None], None] | None]:
    """Show a bar while files are read: bytes, rows per second, and the time that remains.

    Yields what the engine calls with the rows and bytes so far, and all bytes if known. A bar is
    hidden where results go to the same terminal.
    """
    if hidden or not shows_bars():
        yield None
        return
    from rich import progress as rich

    rows = rich.TextColumn("{task.fields[rows]}")
    bar = _bar([rich.DownloadColumn(), rows, rich.TimeRemainingColumn()])
    task, first = bar.add_task(what, total=None, rows=""), list[tuple[float, int]]()

    def tell(rows: int, done: int, total: int | None) -> None:
        if not first:  # what a checkpoint held says nothing about the speed
            first.append((monotonic(), rows))
            bar.reset(task, total=total, completed=done)
        since, before = first[0]
        rate = (rows - before) / max(monotonic() - since, 1e-3)
        speed = f", {rate:,.0f} rows/s" if rows > before else ""
        bar.update(task, completed=done, total=total, rows=f"{rows:,} rows{speed}")

    with _shown(bar):
        yield tell


def _bar(columns: list[Any]) -> Any:
    from rich import progress as rich
    from rich.console import Console

    front = rich.TextColumn("{task.description}"), rich.BarColumn()
    return rich.Progress(*front, *columns, console=Console(stderr=True), transient=True)


@contextmanager
def _shown(bar: Any) -> Iterator[None]:
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
