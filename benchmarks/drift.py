"""Drift of two summaries: how long it takes, and that no row is needed.

The shifts must be those of the raw rows before any time is taken.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from benchmarks.tables import Columns, Options, mark
from naively import NaiveBayes, drift, summarize
from naively.statistics.summary import Summary

__all__ = ["COLUMNS", "WORKS", "Work", "measure"]

_BAR = 0.05  # seconds
_ROWS = 2000


class Work(NamedTuple):
    """Two summaries of so many columns, of rows that are gone when they are compared."""

    name: str
    make: Callable[[], tuple[Any, Any]]
    n_columns: int
    with_bins: bool = False


def _numbers() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(2, _ROWS, 1000))
    return pd.DataFrame(before).add_prefix("x"), pd.DataFrame(after + 0.1).add_prefix("x")


def _mixed() -> tuple[Any, Any]:
    before, after = _numbers()
    rng = np.random.default_rng(1)
    towns = np.array([f"town {i}" for i in range(21)])
    for table, n_towns in ((before, 20), (after, 21)):  # of which one is new
        for j in range(500, 1000):
            table[f"x{j}"] = towns[rng.integers(n_towns, size=_ROWS)]
    return before, after


WORKS = [
    Work("moments of 1,000 columns, 2 classes", _numbers, 1000),
    Work("64 bins of 1,000 columns, 2 classes", _numbers, 1000, with_bins=True),
    Work("500 columns of bins and 500 of 20 categories, 2 classes", _mixed, 1000, with_bins=True),
]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the processor time of each comparison, on one thread."""
    for work in WORKS:
        if options.only in work.name:
            yield _measured(work, options)
            gc.collect()


def _measured(work: Work, options: Options) -> dict[str, Any]:
    tables = work.make()
    before, after = _summaries(work, tables)
    found = drift(before, after)
    numbers = [j for j, kind in enumerate(found.kinds) if kind == "number"]
    old, new = (table.iloc[:, numbers].to_numpy(np.float64) for table in tables)
    shift = (new.mean(axis=0) - old.mean(axis=0)) / old.std(axis=0, ddof=1)
    assert_allclose(found.measures.shift[0, numbers], shift, rtol=1e-9, atol=1e-9)
    del tables, old, new
    times = [_seconds(before, after) for _ in range(max(3, 4 * options.rounds))]
    median = float(np.median(times))
    return {
        "work": work.name,
        "columns": work.n_columns,
        "best": min(times),
        "median": median,
        "bar": _BAR,
        "met": median < _BAR,
    }


def _summaries(work: Work, tables: tuple[Any, Any]) -> tuple[Summary, Summary]:
    y = np.arange(_ROWS) % 2
    schema = NaiveBayes(interactions=None).fit(tables[0], y).summary_.schema
    how = {"schema": schema} if work.with_bins else {}
    return summarize(tables[0], y, **how), summarize(tables[1], y, **how)


def _seconds(before: Summary, after: Summary) -> float:
    start = time.process_time()
    drift(before, after)
    return time.process_time() - start


COLUMNS: Columns = {
    "two summaries": lambda r: r["work"],
    "median": lambda r: f"{1e3 * r['median']:.1f} ms",
    "best": lambda r: f"{1e3 * r['best']:.1f} ms",
    "goal": lambda r: f"{1e3 * r['bar']:.0f} ms",
    "met": lambda r: mark(r["met"]),
}
