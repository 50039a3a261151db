"""Contestants run in turns, so that noise hits all of them alike.

Rounds in which other processes took more than a twentieth of the cores count only if there was
no other round.

>>> times = race({"a": lambda: sum(range(9)), "b": lambda: 36}, agree=lambda answers: None)
>>> times["a"].best <= times["a"].median
True
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from benchmarks.quiet import Others

__all__ = ["Times", "race"]

Work = Callable[[], Any]

_SAMPLE = 2e-3  # seconds that a sample lasts at least: shorter work is called several times
_TURN = 0.2  # seconds of a turn, in which short work gives several samples
_MOST_SAMPLES = 5  # of one turn
_TOLERABLE = 0.05  # of the cores, for others


class Times(NamedTuple):
    """Seconds of one call, and whether other processes left the cores alone."""

    best: float
    median: float
    samples: int
    quiet: bool


def race(
    contestants: dict[str, Work],
    agree: Callable[[dict[str, Any]], None],
    *,
    rounds: int = 5,
    patience: float = 40.0,
) -> dict[str, Times]:
    """Time works in turns, once their answers agree.

    Parameters
    ----------
    contestants : dict of callables
        By name. Each is called once for its answer before any is timed.
    agree : callable
        Given the answers by name, it raises where they differ.
    rounds : int
        How many quiet turns each contestant gets, at most.
    patience : float
        Seconds after which no further round begins; a second one always does.
    """
    answers, calls = {}, {}
    for name, work in contestants.items():
        start = perf_counter()
        answers[name] = work()
        calls[name] = 1 if perf_counter() - start > _TURN else _calls(work)
    agree(answers)
    del answers
    quiet, noisy, start = [], [], perf_counter()
    while len(quiet) < rounds and (
        len(quiet) + len(noisy) < 2 or perf_counter() - start < patience
    ):
        with Others() as others:
            turns = {name: _turn(work, calls[name]) for name, work in contestants.items()}
        (quiet if others.share <= _TOLERABLE else noisy).append(turns)
    if not quiet:
        print("other processes disturbed every round")
    kept = {name: [s for turns in quiet or noisy for s in turns[name]] for name in contestants}
    return {name: Times(min(s), median(s), len(s), bool(quiet)) for name, s in kept.items()}


def _calls(work: Work) -> int:
    """Return how many calls last for a sample. What it times warms the caches up."""
    calls, seconds = 1, 0.0
    while (seconds := _seconds(work, calls)) < _SAMPLE / 2:
        calls *= 2
    return ceil(calls * _SAMPLE / seconds) if seconds < _SAMPLE else calls


def _turn(work: Work, calls: int) -> list[float]:
    seconds = [_seconds(work, calls)]
    while len(seconds) < _MOST_SAMPLES and sum(seconds) < _TURN:
        seconds.append(_seconds(work, calls))
    return [s / calls for s in seconds]


def _seconds(work: Work, calls: int) -> float:
    start = perf_counter()
    for _ in range(calls):
        work()
    return perf_counter() - start
