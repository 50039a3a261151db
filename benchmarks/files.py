"""Files larger than memory: time beside a bare scan of pyarrow's, and peak memory.

Every run is a fresh interpreter, whose high-water mark is its peak. Contestants run in turns. Each
does its work twice, and the quicker pass counts: the first asks the system for memory that nobody
has touched, which on a virtual machine may take longer than the work, or no time at all.
The data is made in a temporary folder: 2 and 10 GB of Parquet, 1 GB of CSV; and the text of
`benchmarks.text_files`, a tenth of it where one round is asked for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.testing import assert_allclose

from benchmarks import zipf_texts
from benchmarks.quiet import Others
from benchmarks.tables import Columns, Options, mark, megabytes, seconds

__all__ = ["COLUMNS", "SCAN", "WORKS", "Work", "measure"]

_COLUMNS, _CLASSES = 50, 10
_ROWS = {"2 GB.parquet": 5_000_000, "1 GB.csv": 1_050_000, "10 GB.parquet": 25_000_000}
_ROWS |= {"text.parquet": 9_000_000, "text.csv": 850_000}
_GROUP = 1 << 20  # rows of a row group: pyarrow's own choice
_PEAK = 600e6
_TOLERABLE = 0.05  # of the cores, for others


class Work(NamedTuple):
    """A verb on a file; ``bars`` says how many times the peer's time it may take, or None."""

    name: str
    verb: str
    file: str
    bars: dict[str, float | None]
    peak: float = _PEAK


SCAN, WRITE = "pyarrow's scan", "pyarrow's scan and write"
TWICE = "pyarrow's scan, twice"
DEFAULT, PANDAS, H2O = "pyarrow's scan, by default", "pandas + scikit-learn", "H2O"
WORKS = [
    Work("fit, 2 GB of Parquet", "fit", "2 GB.parquet", {SCAN: 1.25, DEFAULT: None, PANDAS: 1 / 5}),
    Work("fit, 1 GB of CSV", "fit", "1 GB.csv", {SCAN: 1.25, PANDAS: 1 / 3, H2O: 1.0}),
    Work("predict, 2 GB of Parquet", "predict", "2 GB.parquet", {WRITE: 1.5}),
    Work("fit, 10 GB of Parquet", "fit", "10 GB.parquet", {SCAN: 1.25}),
    Work("predict, 10 GB of Parquet", "predict", "10 GB.parquet", {WRITE: 1.5}),
    Work("evaluate, 2 GB of Parquet", "evaluate", "2 GB.parquet", {TWICE: None}),
    Work("evaluate, 10 GB of Parquet", "evaluate", "10 GB.parquet", {TWICE: None}),
    Work("evaluate, 1 GB of CSV", "evaluate", "1 GB.csv", {TWICE: None}),
    Work("report, 10 GB of Parquet", "report", "10 GB.parquet", {TWICE: None}),
]


def measure(options: Options, works: list[Work] = WORKS) -> Iterator[dict[str, Any]]:
    """Yield the times and peaks of each work beside those of each peer."""
    with TemporaryDirectory(prefix="naively-") as folder:
        for work in works:
            if options.only in work.name:
                part = 10 if options.rounds == 1 and work.verb == "fit text" else 1
                rows = _ROWS[work.file] // part
                yield from _held(work, _made(Path(folder) / work.file, rows), rows, options.rounds)


def _held(work: Work, path: Path, rows: int, rounds: int) -> Iterator[dict[str, Any]]:
    names = ["naively", *work.bars]
    quiet, noisy = [], []
    while len(quiet) < rounds and len(quiet) + len(noisy) < 2 * rounds:
        with Others() as others:
            runs = {name: _run(name, work.verb, path) for name in names}
        _agree(runs, rows)
        (quiet if others.share <= _TOLERABLE else noisy).append(runs)
    kept = quiet or noisy
    for peer, bar in work.bars.items():
        ours, theirs = ([runs[name]["seconds"] for runs in kept] for name in ("naively", peer))
        ratio = median(a / b for a, b in zip(ours, theirs, strict=True))
        peak = max(runs["naively"]["peak"] for runs in kept)
        yield {
            "work": work.name,
            "bytes": path.stat().st_size,
            "peer": peer,
            "ours": {"best": min(ours), "median": median(ours), "quiet": bool(quiet)},
            "theirs": {"best": min(theirs), "median": median(theirs), "quiet": bool(quiet)},
            "peak": peak,
            "their_peak": max(runs[peer]["peak"] for runs in kept),
            "ratio": ratio,
            "ratio_of_best": min(ours) / min(theirs),
            "bar": bar,
            "met": None if bar is None else ratio <= bar and peak < work.peak,
        }


def _run(name: str, verb: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.file_works", name, verb, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return {**found, "seconds": min(found["passes"])}


def _agree(runs: dict[str, dict[str, Any]], rows: int) -> None:
    """Compare the models, and the numbers of rows of those who only count."""
    ours = runs["naively"]["answer"]
    for name, run in runs.items():
        answer = run["answer"]
        if isinstance(answer, int):
            assert answer == rows, f"{name}: {answer} rows instead of {rows}"
        else:
            assert_allclose(ours["theta"], answer["theta"], rtol=1e-9, atol=1e-9, err_msg=name)
            assert_allclose(ours["var"], answer["var"], rtol=1e-6, err_msg=name)


def _made(path: Path, rows: int) -> Path:
    """Write text, or clouds of numbers and a model of some of them, unless they are there."""
    if path.exists():
        return path
    if path.stem == "text":
        zipf_texts.write(path, rows)
        os.sync()
        return path
    names = [*(f"x{j}" for j in range(_COLUMNS)), "y"]
    schema = pa.schema([(name, pa.float64()) for name in names[:-1]] + [("y", pa.int64())])
    writer = (pa.csv.CSVWriter if path.suffix == ".csv" else pq.ParquetWriter)(path, schema)
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(_CLASSES, _COLUMNS))
    with writer:
        for start in range(0, rows, _GROUP):
            y = rng.integers(_CLASSES, size=min(_GROUP, rows - start))
            columns = [mean[y, j] + rng.standard_normal(y.size) for j in range(_COLUMNS)]
            writer.write_table(pa.table([*columns, y], schema=schema), _GROUP)
    if path.suffix == ".parquet":
        _save_model(path)
    os.sync()  # or the first who asks for his own bytes to reach the disk would wait for these
    return path


def _save_model(path: Path) -> None:
    from naively import GaussianNB

    some = next(pq.ParquetFile(path).iter_batches(100_000)).to_pandas()
    model = GaussianNB().fit(some.drop(columns="y"), some["y"])
    assert model.score(some.drop(columns="y"), some["y"]) > 0.99
    model.save(path.with_name("model.safetensors"))


COLUMNS: Columns = {
    "work": lambda r: r["work"],
    "naively": lambda r: seconds(r["ours"]["median"]),
    "MB/s": lambda r: f"{r['bytes'] / r['ours']['median'] / 1e6:.0f}",
    "peak": lambda r: megabytes(r["peak"]),
    "compared with": lambda r: r["peer"],
    "its time": lambda r: seconds(r["theirs"]["median"]),
    "its peak": lambda r: megabytes(r["their_peak"]),
    "ratio of times": lambda r: f"{r['ratio']:.2f}",
    "by best runs": lambda r: f"{r['ratio_of_best']:.2f}",
    "goal": lambda r: "" if r["bar"] is None else f"{r['bar']:.2f}",
    "met": lambda r: mark(r["met"]),
}
