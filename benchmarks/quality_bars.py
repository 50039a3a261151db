"""What `quality` has recorded, beside the bars: what is asked of `NaiveBayes()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.quality_means import EVERYWHERE, Records, of, recorded, wins
from benchmarks.quality_peers import (
    CATBOOST,
    LIGHTGBM,
    LOGISTIC,
    NAIVELY,
    NAIVELY_ALONE,
    PEERS,
    SKLEARN_NB,
)
from benchmarks.tables import Columns, Options, mark

__all__ = ["COLUMNS", "measure"]

_MUCH_WORSE = 1.03


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield what was found, beside what is asked."""
    records = recorded()
    loss = {name: of(records, name, "loss").mean() for name in EVERYWHERE}
    accuracy = {name: of(records, name, "accuracy").mean() for name in EVERYWHERE}
    for name, bar in ((NAIVELY_ALONE, 0.90), (LIGHTGBM, 0.84), (CATBOOST, 0.97)):
        yield _at_most(f"mean log loss over {name}'s", loss[NAIVELY] / loss[name], bar)
    for name in (SKLEARN_NB, *PEERS):
        bar = 0.58 if name == CATBOOST else 0.8
        share, _ = wins(records, name)
        yield _at_least(f"share of tables of less log loss than {name}", share, bar)
    for name in (LIGHTGBM, CATBOOST):
        yield _at_least(f"mean accuracy, beside {name}'s", accuracy[NAIVELY], accuracy[name])
    ece = {name: float(of(records, name, "ece").mean()) for name in EVERYWHERE}
    least = min(value for name, value in ece.items() if name != NAIVELY)
    yield _at_most("calibration error, beside the least of all others", ece[NAIVELY], least)
    seconds = {name: of(records, name, "seconds").sum() for name in EVERYWHERE}
    for name, bar in ((CATBOOST, 0.1), (LIGHTGBM, 0.8), (LOGISTIC, 3.0)):
        yield _at_most(f"time over {name}'s", seconds[NAIVELY] / seconds[name], bar)
    yield from _worse(records)


def _worse(records: Records) -> Iterator[dict[str, Any]]:
    """Yield how many tables interactions harm, and how large the largest of them is."""
    worse = of(records, NAIVELY, "loss") > _MUCH_WORSE * of(records, NAIVELY_ALONE, "loss")
    yield _at_most(
        f"share of tables worse than {NAIVELY_ALONE} by more than 3 %", worse.mean(), 0.06
    )
    rows = max([r["rows"] for r, bad in zip(records, worse, strict=True) if bad], default=0)
    yield _at_most("rows of the largest of those", rows, 400)


def _at_most(what: str, found: float, bar: float) -> dict[str, Any]:
    return _row(what, f"{found:.3g}", f"at most {bar:.3g}", bool(found <= bar))


def _at_least(what: str, found: float, bar: float) -> dict[str, Any]:
    return _row(what, f"{found:.4g}", f"at least {bar:.4g}", bool(found >= bar))


def _row(what: str, found: str, bar: str, met: bool) -> dict[str, Any]:
    return {"what": what, "found": found, "bar": bar, "met": met}


COLUMNS: Columns = {
    "over all tables": lambda r: r["what"],
    "found": lambda r: r["found"],
    "goal": lambda r: r["bar"],
    "met": lambda r: mark(r["met"]),
}
