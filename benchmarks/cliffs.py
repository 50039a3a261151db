"""Sizes at which time or memory could surprise: each has a bar, and runs in a fresh interpreter.

``python -m benchmarks.cliffs NAME`` measures one of them and prints what it found as JSON. A cliff
is a function of `benchmarks.cliff_works`: it makes its data and returns the work, beside a peer's
where there is one. Work that takes ten times its bar is stopped.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.cliff_works import CLIFFS, Cliff
from benchmarks.memory import high_water, settle
from benchmarks.quiet import Others
from benchmarks.tables import Columns, Options, mark, megabytes, seconds

__all__ = ["COLUMNS", "measure"]

_PREPARATION = 120.0  # seconds that making the data and the peer may take
_LONG = 0.5  # seconds of a call that is not repeated
_REPEATS = 5


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield time, memory and bars of every cliff."""
    for cliff in CLIFFS:
        if options.only in cliff.name:
            found = _in_fresh_interpreter(cliff)
            yield {"work": cliff.name, **found, **_bars(cliff, found)}


def _in_fresh_interpreter(cliff: Cliff) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.cliffs", cliff.name]
    patience = _PREPARATION + 10 * (_REPEATS + 1) * (cliff.seconds or _PREPARATION)
    try:
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=patience)
    except subprocess.TimeoutExpired:
        return {"ours": {"median": None, "quiet": True}, "memory": None, "peer": None}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _bars(cliff: Cliff, found: dict[str, Any]) -> dict[str, Any]:
    """Return the bars, and whether all of them are met."""
    takes, peer, memory = found["ours"]["median"], found["peer"], found["memory"]
    met = takes is not None
    if met and cliff.seconds is not None:
        met = takes < cliff.seconds
    if met and cliff.times is not None:
        met = takes < cliff.times * peer
    if met and cliff.memory is not None:
        met = memory < cliff.memory
    bars = {"seconds": cliff.seconds, "times": cliff.times, "memory": cliff.memory}
    return {"bars": bars, "met": met}


def _found(cliff: Cliff) -> dict[str, Any]:
    """Measure one cliff here."""
    works = cliff.works()
    work, peer = works if isinstance(works, tuple) else (works, None)
    start = settle()
    with Others() as others:
        takes = _seconds(work)
        memory = high_water() - start
        theirs = None if peer is None else _seconds(peer)
    ours = {"median": takes, "quiet": others.share < 0.05}
    return {"ours": ours, "memory": memory, "peer": theirs}


def _seconds(work: Callable[[], Any]) -> float:
    """Return the seconds of a call: of several the median, where calls are short."""
    first = _timed(work)
    return first if first > _LONG else median(_timed(work) for _ in range(_REPEATS))


def _timed(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _bar(record: dict[str, Any]) -> str:
    bars = record["bars"]
    shown = [] if bars["seconds"] is None else [seconds(bars["seconds"])]
    shown += [] if bars["times"] is None else [f"{bars['times']:g}x the peer"]
    shown += [] if bars["memory"] is None else [megabytes(bars["memory"])]
    return ", ".join(shown)


def _or_nothing(write: Callable[[float], str], value: float | None, otherwise: str = "") -> str:
    return otherwise if value is None else write(value)


COLUMNS: Columns = {
    "work": lambda r: r["work"],
    "time": lambda r: _or_nothing(seconds, r["ours"]["median"], "stopped"),
    "memory": lambda r: _or_nothing(megabytes, r["memory"]),
    "scikit-learn takes": lambda r: _or_nothing(seconds, r["peer"]),
    "goal": _bar,
    "met": lambda r: mark(r["met"]),
}

if __name__ == "__main__":
    print(json.dumps(_found(next(cliff for cliff in CLIFFS if cliff.name == sys.argv[1]))))
