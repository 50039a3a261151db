"""How long a diagnosis takes: processor time of one thread, whatever else the machine does.

The columns are independent Gaussians, so that there is nothing to find: that is asserted first.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.tables import Columns, Options, mark, seconds
from naively import GaussianNB, NaiveBayes, diagnose

__all__ = ["COLUMNS", "WORKS", "Work", "measure"]

_ROWS, _CLASSES = 20_000, 10


class Work(NamedTuple):
    """A model of so many columns, and how many seconds its diagnosis may take."""

    model: Any
    n_columns: int
    bar: float


WORKS = [
    Work(NaiveBayes(n_jobs=1), 100, 2.0),
    Work(GaussianNB(calibration="temperature", n_jobs=1), 100, 2.0),
    Work(NaiveBayes(n_jobs=1), 1000, 20.0),
    Work(GaussianNB(calibration="temperature", n_jobs=1), 1000, 20.0),
]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the processor time of each diagnosis."""
    rng = np.random.default_rng(0)
    for work in WORKS:
        name = f"{type(work.model).__name__}, {work.n_columns:,} columns"
        if options.only not in name:
            continue
        y = rng.integers(_CLASSES, size=_ROWS)
        shift = 0.3 * rng.normal(size=(_CLASSES, work.n_columns))
        model = work.model.fit(rng.normal(size=(_ROWS, work.n_columns)) + shift[y], y)
        found = diagnose(model)
        assert not found.findings, str(found)
        times = [_time(model) for _ in range(options.rounds)]
        median = float(np.median(times))
        yield {"work": name, "time": median, "bar": work.bar, "met": median < work.bar}
        gc.collect()


def _time(model: Any) -> float:
    with threadpool_limits(1):
        start = time.process_time()
        diagnose(model)
        return time.process_time() - start


COLUMNS: Columns = {
    "model": lambda r: r["work"],
    "processor time": lambda r: seconds(r["time"]),
    "goal": lambda r: seconds(r["bar"]),
    "met": lambda r: mark(r["met"]),
}
