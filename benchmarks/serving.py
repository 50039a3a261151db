"""How long a served model takes to answer, at a fixed rate of requests on the loopback.

The server of ``examples/serve.py`` has one core, the client another. Requests are due at fixed
times, whether or not the answers before them have come, and the time of an answer counts from when
its request was due: what waits behind a slow answer is slow as well.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.quiet import Others
from benchmarks.served import served
from benchmarks.tables import Columns, Options, mark, seconds
from naively import GaussianNB, NaiveBayes

__all__ = ["COLUMNS", "measure"]

_BARS = {100: None, 500: 5e-3, 1000: None}  # by requests a second
_SECONDS = 5.0
_CONNECTIONS = 16


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the times of each model and rate, in the round that others disturbed least."""
    X = np.random.default_rng(0).normal(size=(1000, 10))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
    row = frame.iloc[0].to_dict()
    cores = sorted(os.sched_getaffinity(0))
    server = ["taskset", "--cpu-list", str(cores[0])]
    fast = ["--loop", "uvloop", "--http", "httptools"]
    for estimator in (GaussianNB(), NaiveBayes()):
        model = estimator.fit(frame, np.where(X.sum(axis=1) > 0, "yes", "no"))
        answer = dict(zip(["no", "yes"], model.predict_proba_one(row).tolist(), strict=True))
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "model")
            with served(Path(folder) / "model", before=server, options=fast) as (port, process):
                os.sched_setaffinity(0, set(cores[1:]))
                for rate, bar in _BARS.items():
                    rounds = [
                        _round(port, process, row, answer, rate) for _ in range(options.rounds)
                    ]
                    best = min(rounds, key=lambda found: found["others"])
                    name = f"{type(model).__name__}, {rate} requests a second"
                    met = None if bar is None else best["p99"] < bar
                    yield {"work": name, **best, "bar": bar, "met": met}
                os.sched_setaffinity(0, set(cores))


def _round(
    port: int, process: int, row: dict[str, float], answer: dict[str, float], rate: int
) -> dict[str, Any]:
    before = _cpu_seconds(process)
    with Others() as others:
        times = asyncio.run(_load(port, row, answer, rate))
    busy = _cpu_seconds(process) - before
    return {
        "requests": len(times),
        "p50": float(np.quantile(times, 0.5)),
        "p99": float(np.quantile(times, 0.99)),
        "worst": max(times),
        "busy": busy / _SECONDS,
        "others": max(0.0, others.share - busy / _SECONDS / (os.cpu_count() or 1)),
    }


async def _load(
    port: int, row: dict[str, float], answer: dict[str, float], rate: int
) -> list[float]:
    """Send requests for some seconds; the times of all answers, each of which is compared."""
    body = json.dumps(row).encode()
    head = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    request = (head + "Content-Type: application/json\r\n\r\n").encode() + body
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(_CONNECTIONS)]
    idle: asyncio.Queue[Any] = asyncio.Queue()
    for connection in opened:
        idle.put_nowait(connection)
    times: list[float] = []

    async def ask(due: float) -> None:
        reader, writer = connection = await idle.get()
        writer.write(request)
        status = await reader.readuntil(b"\r\n\r\n")
        length = int(status.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        content = await reader.readexactly(length)
        times.append(perf_counter() - due)
        idle.put_nowait(connection)
        if not status.startswith(b"HTTP/1.1 200") or json.loads(content) != answer:
            raise RuntimeError(f"the server answered {status + content!r}")

    start = perf_counter() + 0.05
    async with asyncio.TaskGroup() as tasks:
        for i in range(int(rate * _SECONDS)):
            due = start + i / rate
            await asyncio.sleep(max(0.0, due - perf_counter()))
            tasks.create_task(ask(due))
    for _, writer in opened:
        writer.close()
    return times


def _cpu_seconds(process: int) -> float:
    """Return what a process has used of the processor."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


COLUMNS: Columns = {
    "model and load": lambda r: r["work"],
    "median": lambda r: seconds(r["p50"]),
    "99 % are below": lambda r: seconds(r["p99"]),
    "the slowest": lambda r: seconds(r["worst"]),
    "busy part of the server's core": lambda r: f"{r['busy']:.0%}",
    "goal": lambda r: "" if r["bar"] is None else seconds(r["bar"]),
    "met": lambda r: mark(r["met"]),
}
