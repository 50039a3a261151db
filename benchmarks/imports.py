"""How long an import takes: whole processes, ``python -c "import ..."``, in turns."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.tables import Columns, Options, mark, seconds
from benchmarks.timing import race

__all__ = ["COLUMNS", "measure"]

_BASE = "import numpy"
_BARS = {
    "pass": None,
    "import naively": 1.3,
    "from naively import summarize": None,
    "from naively import GaussianNB": None,
    "from sklearn.naive_bayes import GaussianNB": None,
}


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the time of each statement beside that of importing NumPy."""
    works = {code: partial(_run, code) for code in (_BASE, *_BARS) if options.only in code}
    works[_BASE] = partial(_run, _BASE)
    times = race(works, lambda answers: None, rounds=4 * options.rounds, patience=options.patience)
    base = times.pop(_BASE)
    for code, its in times.items():
        ratio, bar = its.median / base.median, _BARS[code]
        yield {
            "statement": code,
            "ours": its._asdict(),
            "numpy": base._asdict(),
            "ratio": ratio,
            "bar": bar,
            "met": None if bar is None else ratio < bar,
        }


def _run(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


COLUMNS: Columns = {
    "statement": lambda r: f"`{r['statement']}`",
    "time": lambda r: seconds(r["ours"]["median"]),
    "`import numpy` takes": lambda r: seconds(r["numpy"]["median"]),
    "ratio of times": lambda r: f"{r['ratio']:.2f}",
    "goal": lambda r: "" if r["bar"] is None else f"{r['bar']:.2f}",
    "met": lambda r: mark(r["met"]),
}
