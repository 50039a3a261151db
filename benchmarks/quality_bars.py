"""What `quality` has recorded, summed up over the tables and beside the bars.

Log loss, accuracy, Brier score and calibration error are means over tables, for the half of them
that is for tuning and for the other half apart. Times are those of all tables together. A share of
tables won has the p-value of a sign test beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, rankdata

from benchmarks.quality import TUNING
from benchmarks.quality_peers import (
    CATBOOST,
    CONTESTANTS,
    LIGHTGBM,
    LOGISTIC,
    NAIVELY,
    NAIVELY_ALONE,
    PEERS,
    SKLEARN_NB,
)
from benchmarks.tables import Columns, Options, mark

__all__ = ["COLUMNS", "measure"]

Records = list[dict[str, Any]]

_RECORDED = Path(__file__).parent / "results" / "quality.json"
_FIGURES = {"loss": "log loss", "accuracy": "accuracy", "brier": "Brier score", "ece": "ECE"}
_MUCH_WORSE = 1.03


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield means over tables, then what is asked of them."""
    records = json.loads(_RECORDED.read_text())["records"]
    if options.only in "means":
        yield from _means(records)
    yield from _bars(records)


def _means(records: Records) -> Iterator[dict[str, Any]]:
    halves = {
        "all tables": records,
        "tables for tuning": [record for record in records if record["table"] in TUNING],
        "tables kept aside": [record for record in records if record["table"] not in TUNING],
    }
    ranks = rankdata([_of(records, name, "loss") for name in CONTESTANTS], axis=0).mean(axis=1)
    for name, rank in zip(CONTESTANTS, ranks, strict=True):
        for half, some in halves.items():
            figures = [f"{_of(some, name, key).mean():.3f}" for key in _FIGURES]
            yield _row(f"{name}, {half}: {', '.join(_FIGURES.values())}", ", ".join(figures))
        yield _row(f"{name}: mean rank in log loss of {len(CONTESTANTS)}", f"{rank:.2f}")


def _bars(records: Records) -> Iterator[dict[str, Any]]:
    loss = {name: _of(records, name, "loss") for name in CONTESTANTS}
    accuracy = {name: _of(records, name, "accuracy").mean() for name in CONTESTANTS}
    ours = loss[NAIVELY].mean()
    for name, bar in ((NAIVELY_ALONE, 0.90), (LIGHTGBM, 0.84), (CATBOOST, 0.97)):
        yield _at_most(f"log loss over {name}'s", ours / loss[name].mean(), bar)
    for name in (SKLEARN_NB, *PEERS):
        bar = 0.58 if name == CATBOOST else 0.8
        yield _wins(f"tables of less log loss than {name}", loss[NAIVELY], loss[name], bar)
    for name in (LIGHTGBM, CATBOOST):
        yield _at_least(f"accuracy, beside {name}'s", accuracy[NAIVELY], accuracy[name])
    ece = {name: float(_of(records, name, "ece").mean()) for name in CONTESTANTS}
    least = min(value for name, value in ece.items() if name != NAIVELY)
    yield _at_most("calibration error, beside the least of all others", ece[NAIVELY], least)
    seconds = {name: _of(records, name, "seconds").sum() for name in CONTESTANTS}
    for name, bar in ((CATBOOST, 0.1), (LIGHTGBM, 0.8), (LOGISTIC, 3.0)):
        yield _at_most(f"time over {name}'s", seconds[NAIVELY] / seconds[name], bar)
    worse = loss[NAIVELY] > _MUCH_WORSE * loss[NAIVELY_ALONE]
    yield _at_most(f"tables worse than {NAIVELY_ALONE} by more than 3 %", worse.mean(), 0.06)
    rows = max([r["rows"] for r, bad in zip(records, worse, strict=True) if bad], default=0)
    yield _at_most("rows of the largest of those", rows, 400)


def _of(records: Records, name: str, what: str) -> NDArray[np.float64]:
    return np.array([record[name][what] for record in records])


def _row(what: str, found: str, bar: str = "", met: bool | None = None) -> dict[str, Any]:
    return {"what": what, "found": found, "bar": bar, "met": met}


def _wins(
    what: str, ours: NDArray[np.float64], theirs: NDArray[np.float64], bar: float
) -> dict[str, Any]:
    share, n = float(np.mean(ours < theirs)), int(np.sum(ours != theirs))
    p = binomtest(int(np.sum(ours < theirs)), n).pvalue if n else 1.0
    return _row(what, f"{share:.3g} (p = {p:.1g})", f"at least {bar:g}", bool(share >= bar))


def _at_most(what: str, found: float, bar: float) -> dict[str, Any]:
    return _row(what, f"{found:.3g}", f"at most {bar:.3g}", bool(found <= bar))


def _at_least(what: str, found: float, bar: float) -> dict[str, Any]:
    return _row(what, f"{found:.4g}", f"at least {bar:.4g}", bool(found >= bar))


COLUMNS: Columns = {
    "over all tables": lambda r: r["what"],
    "found": lambda r: r["found"],
    "bar": lambda r: r["bar"],
    "met": lambda r: mark(r["met"]),
}
