"""Cost grows linearly in rows and columns, and that of predict in classes too.

One stretch of memory serves every size: its first numbers, cut into rows of any length. A row
of a sweep tells the seconds, and the cost of a cell (of a cell and class for predict), which
stays level where the growth is linear. The slope is the least-squares one on logarithms over
the sweep: 1 is linear, and 0 does not depend on the size at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from benchmarks.peers import peer
from benchmarks.tables import Columns, Options, seconds
from benchmarks.timing import Times, race
from benchmarks.workloads import clouds

__all__ = ["COLUMNS", "SWEEPS", "measure"]

_CELLS = 800_000_000  # 6.4 GB


class Sweep(NamedTuple):
    """What is varied, and the shapes: rows, columns, classes."""

    name: str
    shapes: list[tuple[int, int, int]]


SWEEPS = [
    Sweep("rows", [(n, 50, 10) for n in (62_500, 250_000, 1_000_000, 4_000_000, 16_000_000)]),
    Sweep("columns", [(20_000, d, 10) for d in (160, 640, 2_500, 10_000, 40_000)]),
    Sweep("classes", [(200_000, 50, k) for k in (10, 40, 160, 640, 2_560)]),
]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the seconds of each size, with the slope of its sweep."""
    numbers = _numbers()
    for sweep in SWEEPS:
        for work in ("fit", "predict"):
            if options.only not in f"{work}, {sweep.name}":
                continue
            times = [_time(numbers, work, shape, options) for shape in sweep.shapes]
            sizes = [n * d * k for n, d, k in sweep.shapes]  # of which one factor varies
            slope = float(np.polyfit(np.log(sizes), np.log([t.best for t in times]), 1)[0])
            for (n, d, k), time in zip(sweep.shapes, times, strict=True):
                yield {
                    "work": work,
                    "grows": sweep.name,
                    "rows": n,
                    "columns": d,
                    "classes": k,
                    "ours": time._asdict(),
                    "bytes_per_second": 8 * n * d / time.best,
                    "per_cell": time.best / (n * d),
                    "per_cell_and_class": time.best / (n * d * k) if work == "predict" else None,
                    "slope": slope,
                }


def _numbers() -> NDArray[np.float64]:
    """Repeat a million rows until the memory is full; other labels are drawn for each shape."""
    some = clouds(1_000_000, 50, 10).X.reshape(-1)
    numbers = np.empty(_CELLS)
    for start in range(0, _CELLS, some.size):
        numbers[start : start + some.size] = some
    clouds.cache_clear()
    return numbers


def _time(
    numbers: NDArray[np.float64], work: str, shape: tuple[int, int, int], options: Options
) -> Times:
    n, d, k = shape
    X, ours = numbers[: n * d].reshape(n, d), peer("naively")
    y = np.random.default_rng(3).integers(k, size=n)
    model = ours.fit(X, y)
    _check(model, X, y)
    act = (lambda: ours.fit(X, y)) if work == "fit" else (lambda: ours.predict(model, X))
    limits = {"rounds": options.rounds, "patience": options.patience / 8}  # there are 30 of them
    return race({"naively": act}, lambda answers: None, **limits)["naively"]


def _check(model: Any, X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    """Compare a class's mean, and the labels of some rows, with NumPy's formulas."""
    assert_array_equal(model.class_count_, np.bincount(y))
    assert_allclose(model.theta_[0, :2], X[y == 0, :2].mean(axis=0), rtol=1e-9, atol=1e-9)
    x = X[:4, np.newaxis]
    terms = (x - model.theta_) ** 2 / model.var_ + np.log(2 * np.pi * model.var_)
    joint = np.log(model.class_prior_) - 0.5 * terms.sum(axis=2)
    assert_array_equal(model.predict(X[:4]), joint.argmax(axis=1))


def _nanoseconds(value: float | None) -> str:
    return "" if value is None else f"{value * 1e9:.3g}"


COLUMNS: Columns = {
    "work": lambda r: r["work"],
    "grows": lambda r: r["grows"],
    "rows x columns": lambda r: f"{r['rows']:,} x {r['columns']:,}",
    "classes": lambda r: f"{r['classes']:,}",
    "time": lambda r: seconds(r["ours"]["best"]),
    "GB/s": lambda r: f"{r['bytes_per_second'] / 1e9:.2f}",
    "ns a cell": lambda r: _nanoseconds(r["per_cell"]),
    "ns a cell and class": lambda r: _nanoseconds(r["per_cell_and_class"]),
    "slope": lambda r: f"{r['slope']:.2f}",
}
