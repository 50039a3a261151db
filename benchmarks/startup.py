"""How long the command line takes from start to end: whole processes, in turns.

Modules are compiled beforehand, as they are where the package was installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.datasets import load_iris

from benchmarks.tables import Columns, Options, mark, seconds
from benchmarks.timing import race

__all__ = ["COLUMNS", "measure"]

_BASE = "import numpy"
_GOALS = {  # seconds
    "naively --help": 0.25,
    "naively --version": 0.25,
    "naively fit no.csv --target species": 0.3,
    "naively fit iris.csv --target species": 0.5,
    "naively predict model.safetensors iris.csv": 0.5,
    "naively fit iris.csv --target species --model naive-bayes": None,
}


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the time of each command beside that of importing NumPy."""
    with TemporaryDirectory() as folder:
        iris = load_iris(as_frame=True)
        table = iris.data.assign(species=iris.target_names[iris.target])
        table.to_csv(Path(folder) / "iris.csv", index=False)
        works = {line: partial(_run, line, folder) for line in _GOALS if options.only in line}
        _run("naively fit iris.csv --target species", folder)
        works[_BASE] = partial(_python, ["-c", _BASE], folder)
        how = {"rounds": 4 * options.rounds, "patience": options.patience}
        times = race(works, _check, **how)
    base = times.pop(_BASE)
    for line, its in times.items():
        goal = _GOALS[line]
        yield {
            "command": line,
            "ours": its._asdict(),
            "numpy": base._asdict(),
            "ratio": its.median / base.median,
            "goal": goal,
            "met": None if goal is None else its.median < goal,
        }


def _run(line: str, folder: str) -> tuple[int, str]:
    return _python(["-m", *line.split()], folder)


def _python(args: list[str], folder: str) -> tuple[int, str]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *args]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def _check(answers: dict[str, tuple[int, str]]) -> None:
    """Raise where a command did not do what it is timed for."""
    for line, (code, text) in answers.items():
        expected = 2 if " no.csv" in line else 0
        if code != expected:
            raise AssertionError(f"{line} ended with {code}: {text}")


COLUMNS: Columns = {
    "command": lambda r: f"`{r['command']}`",
    "time": lambda r: seconds(r["ours"]["median"]),
    "`import numpy` takes": lambda r: seconds(r["numpy"]["median"]),
    "ratio of times": lambda r: f"{r['ratio']:.2f}",
    "goal": lambda r: "" if r["goal"] is None else seconds(r["goal"]),
    "met": lambda r: mark(r["met"]),
}
