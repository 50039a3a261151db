"""Peak memory beyond data and outputs, each in a fresh interpreter.

The kernel's high-water mark of resident memory is set back once the data is there, so that what
it rises by afterwards is the work's own. ``python -m benchmarks.memory naively fit float64``
measures one work.
"""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers import peer, present
from benchmarks.tables import Columns, Options, mark, megabytes
from benchmarks.workloads import FORMS, Data, clouds, formed

__all__ = ["COLUMNS", "high_water", "measure", "settle"]

_BAR = 40e6
_SHAPE = (1_000_000, 50, 10)  # 400 MB


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the peak of each work, on each form of the rows, of each library."""
    for form in FORMS:
        for work in ("fit", "predict"):
            if options.only not in f"{work}, {form}":
                continue
            peaks = {name: _peak(name, work, form) for name in present("naively", "scikit-learn")}
            ours = peaks["naively"]
            yield {
                "work": f"{work}, {form}",
                "naively": ours,
                "scikit-learn": peaks.get("scikit-learn"),
                "bar": _BAR,
                "met": ours < _BAR,
            }


def _peak(name: str, work: str, form: str) -> float:
    command = [sys.executable, "-m", "benchmarks.memory", name, work, form]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _extra(name: str, work: str, form: str) -> int:
    """Return by how many bytes the peak rises above data and outputs."""
    data = formed(form, clouds(*_SHAPE))
    clouds.cache_clear()
    model = peer(name).fit(*_some(data))  # whatever is imported late, is now
    answer = getattr(peer(name), work)
    given = data if work == "fit" else (model, data.X)
    start = settle()
    output = answer(*given)
    return high_water() - start - getattr(output, "nbytes", 0)


def _some(data: Data) -> Data:
    return Data(data.X[:1000], data.y[:1000])


def settle() -> int:
    """Give free memory back, set the high-water mark to what is left, and return that."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def high_water() -> int:
    """Return the most memory that this process has held since it settled."""
    return _status("VmHWM")


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(field))
    return int(line.split()[1]) * 1024


COLUMNS: Columns = {
    "work": lambda r: r["work"],
    "naively": lambda r: megabytes(r["naively"]),
    "scikit-learn": lambda r: "" if r["scikit-learn"] is None else megabytes(r["scikit-learn"]),
    "goal": lambda r: megabytes(r["bar"]),
    "met": lambda r: mark(r["met"]),
}

if __name__ == "__main__":
    print(_extra(*sys.argv[1:]))
