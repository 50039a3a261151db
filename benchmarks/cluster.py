"""What a thousand workers would take for 10^12 rows: from figures measured on this machine.

A worker reads its partitions and runs the kernel; the scheduler hands out the tasks; summaries go
up a tree. All but the storage's speed, which is assumed, is measured here.
"""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Iterator
from functools import reduce
from math import ceil, log
from operator import add
from time import perf_counter
from typing import Any

from benchmarks.tables import Columns, Options, megabytes, seconds
from benchmarks.workloads import clouds
from naively import summarize

__all__ = ["COLUMNS", "measure"]

_ROWS, _WORKERS, _COLUMNS, _CLASSES = 10**12, 1000, 50, 10
_PARTITION = 1 << 30  # bytes
_STORAGE = 1e9  # bytes per second and worker: assumed
_BRANCHES = 8  # summaries that are added by one task
_TASKS = 1000


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the figures, and what follows from them."""
    rate, size, adding = _kernel(options)
    task, memory = _scheduler()
    data = 8 * _COLUMNS * _ROWS
    partitions = ceil(data / _PARTITION)
    depth = ceil(log(partitions, _BRANCHES))
    tasks = partitions * _BRANCHES / (_BRANCHES - 1)
    yield _figure("the kernel, one thread", rate, "bytes/s")
    yield _figure(f"a summary of {_CLASSES} classes and {_COLUMNS} columns", size, "bytes")
    yield _figure(f"adding {_BRANCHES} summaries", adding, "s")
    yield _figure("a task, scheduler and all", task, "s")
    yield _figure(f"the client's memory, per partition of {_TASKS}", memory / _TASKS, "bytes")
    yield _figure("10^12 rows: bytes to read", data, "bytes")
    yield _figure("partitions of 1 GiB", partitions, "")
    yield _figure("depth of the tree", depth, "")
    yield _figure("each worker's reading, at 1 GB/s (assumed)", data / _WORKERS / _STORAGE, "s")
    yield _figure("each worker's kernel, one thread", data / _WORKERS / rate, "s")
    yield _figure("the scheduler's tasks", tasks * task, "s")
    yield _figure("summaries that travel", tasks * size, "bytes")
    yield _figure("the last sums, after the last partition", depth * (adding + task), "s")


def _kernel(options: Options) -> tuple[float, float, float]:
    """Return the bytes per second of one thread, a summary's bytes, seconds of adding some."""
    X, y = clouds(300_000, _COLUMNS, _CLASSES)
    parts = [summarize(X, y, n_jobs=1)] * _BRANCHES
    reading, adding = [], []
    for _ in range(options.rounds):
        start = perf_counter()
        summarize(X, y, n_jobs=1)
        middle = perf_counter()
        reduce(add, parts)
        reading.append(middle - start)
        adding.append(perf_counter() - middle)
    return X.nbytes / min(reading), len(pickle.dumps(parts[0])), min(adding)


def _scheduler() -> tuple[float, float]:
    """Return a task's seconds on a cluster of two processes, and the client's peak of memory."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    from naively.engines.dask import summarize

    X = da.zeros((2 * _TASKS, 1), chunks=(2, 1))
    y = da.zeros(2 * _TASKS, chunks=2, dtype=int)
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        dask.config.set(scheduler=client),
    ):
        summarize(X[:20], y[:20])  # the workers import what they need
        start = perf_counter()
        assert summarize(X, y).weight == 2 * _TASKS
        task = (perf_counter() - start) / (_TASKS * _BRANCHES / (_BRANCHES - 1))
        tracemalloc.start()
        summarize(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return task, peak


def _figure(what: str, value: float, unit: str) -> dict[str, Any]:
    return {"what": what, "value": value, "unit": unit}


def _written(value: float, unit: str) -> str:
    """Write a figure.

    >>> _written(4e14, "bytes"), _written(372530, "")
    ('400 TB', '372,530')
    """
    if unit == "s":
        return seconds(value)
    if unit == "":
        return f"{value:,.0f}"
    for power, prefix in ((1e12, "TB"), (1e9, "GB")):
        if value >= power:
            return f"{value / power:.3g} {prefix}{unit.removeprefix('bytes')}"
    return megabytes(value) if value >= 1e6 else f"{value / 1e3:.3g} kB"


COLUMNS: Columns = {
    "figure": lambda r: r["what"],
    "value": lambda r: _written(r["value"], r["unit"]),
}
