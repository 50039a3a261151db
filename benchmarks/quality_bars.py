"""What `quality` has recorded, summed up over the tables and beside the bars.

Log loss and accuracy are means over tables. Times are those of all tables together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality_peers import CONTESTANTS, GRADIENT_BOOSTING, LOGISTIC, NAIVELY, SKLEARN_NB
from benchmarks.tables import Columns, Options, mark

__all__ = ["COLUMNS", "measure"]

_RECORDED = Path(__file__).parent / "results" / "quality.json"


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield means over tables, then what is asked of them."""
    records = json.loads(_RECORDED.read_text())["records"]
    if options.only in "means":
        for name in CONTESTANTS:
            yield _row(f"log loss of {name}", f"{_of(records, name, 'loss').mean():.3f}")
            yield _row(f"accuracy of {name}", f"{_of(records, name, 'accuracy').mean():.3f}")
    yield from _bars(records)


def _bars(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    loss = {name: _of(records, name, "loss") for name in CONTESTANTS}
    accuracy = {name: _of(records, name, "accuracy") for name in CONTESTANTS}
    seconds = {name: _of(records, name, "seconds") for name in CONTESTANTS}
    ours = loss[NAIVELY].mean()
    better = np.mean(loss[NAIVELY] < loss[SKLEARN_NB])
    as_right = np.mean(accuracy[NAIVELY] >= accuracy[SKLEARN_NB] - 1e-9)
    points = 100 * (accuracy[NAIVELY].mean() - accuracy[SKLEARN_NB].mean())
    yield _at_most(f"log loss over {LOGISTIC}'s", ours / loss[LOGISTIC].mean(), 1.0)
    yield _at_most(
        f"log loss over {GRADIENT_BOOSTING}'s", ours / loss[GRADIENT_BOOSTING].mean(), 0.92
    )
    yield _at_least(f"tables of less log loss than {SKLEARN_NB}", float(better), 0.97)
    yield _at_least(f"tables of no less accuracy than {SKLEARN_NB}", float(as_right), 0.92)
    yield _at_least(f"points of accuracy above {SKLEARN_NB}", float(points), 7.0)
    for name, bar in ((LOGISTIC, 2.0), (GRADIENT_BOOSTING, 0.1)):
        yield _at_most(f"time over {name}'s", seconds[NAIVELY].sum() / seconds[name].sum(), bar)
        each = float(np.median(seconds[NAIVELY] / seconds[name]))
        yield _row(f"time over {name}'s, median of tables", f"{each:.3g}")


def _of(records: list[dict[str, Any]], name: str, what: str) -> NDArray[np.float64]:
    return np.array([record[name][what] for record in records])


def _row(what: str, found: str, bar: str = "", met: bool | None = None) -> dict[str, Any]:
    return {"what": what, "found": found, "bar": bar, "met": met}


def _at_most(what: str, found: float, bar: float) -> dict[str, Any]:
    return _row(what, f"{found:.3g}", f"at most {bar:g}", bool(found <= bar))


def _at_least(what: str, found: float, bar: float) -> dict[str, Any]:
    return _row(what, f"{found:.4g}", f"at least {bar:g}", bool(found >= bar))


COLUMNS: Columns = {
    "over all tables": lambda r: r["what"],
    "found": lambda r: r["found"],
    "bar": lambda r: r["bar"],
    "met": lambda r: mark(r["met"]),
}
