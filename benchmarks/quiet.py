"""How much of the processor other processes take while something is measured.

>>> with Others() as others:
...     work = sum(range(1000))
>>> 0 <= others.share <= 1
True
"""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import Self

__all__ = ["Others"]

_COUNTABLE = 0.05  # seconds; the clock of the cores ticks in hundredths


class Others:
    """A stretch of time; afterwards ``share`` is the part of all cores that others used."""

    share = 0.0

    def __enter__(self) -> Self:
        self._start = perf_counter(), _used_by_others()
        return self

    def __exit__(self, *exception: object) -> None:
        wall, others = perf_counter() - self._start[0], _used_by_others() - self._start[1]
        if others > _COUNTABLE:
            self.share = min(1.0, others / (wall * (os.cpu_count() or 1)))


def _used_by_others() -> float:
    """Return seconds of all cores that were neither idle nor ours, since the machine started."""
    try:
        line = Path("/proc/stat").read_text().splitlines()[0]
    except OSError:
        return 0.0  # not Linux: nothing is known
    user, nice, system, _idle, _wait, interrupts, soft, steal = map(int, line.split()[1:9])
    busy = (user + nice + system + interrupts + soft + steal) / os.sysconf("SC_CLK_TCK")
    return busy - sum(os.times()[:4])
