"""Bars that show how far long work has come: on a terminal only, and not before a moment.

A pass over files tells rows and bytes; other work tells how much more has been done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import Any, Literal

from naively.cli import console

PATIENCE = 0.8  # seconds of work before a bar appears


@contextmanager
def working(
    what: str, total: float | None = None, unit: Literal["rows", "steps"] | None = None
) -> Iterator[Callable[[float], None]]:
    """Show a bar while work goes on; yield a function that takes how much more has been done."""
    if not console.shows_bars():
        yield lambda _amount: None
        return
    from rich import progress as rich

    counted = [rich.MofNCompleteColumn(), rich.TextColumn(unit or ""), rich.TimeRemainingColumn()]
    bar = _bar(counted if unit is not None else [rich.TimeElapsedColumn()])
    task = bar.add_task(what, total=total)
    with _shown(bar):
        yield lambda amount: bar.advance(task, amount)


@contextmanager
def steps(what: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done while work goes on; yield a function that takes it."""
    if not console.shows_bars():
        yield lambda _step: None
        return
    from rich import progress as rich

    bar = _bar([rich.TimeElapsedColumn()])
    task = bar.add_task(what, total=None)
    with _shown(bar):
        yield lambda step: bar.update(task, description=f"{what}: {step}")


@contextmanager
def streaming(
    what: str, *, hidden: bool = False
) -> Iterator[Callable[[int, int, int | None], None] | None]:
    """Show a bar while files are read: bytes, rows per second, and the time that remains.

    Yields what the engine calls with the rows and bytes so far, and all bytes if known. A bar is
    hidden where results go to the same terminal.
    """
    if hidden or not console.shows_bars():
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
