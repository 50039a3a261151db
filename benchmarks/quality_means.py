"""What `quality` has recorded, as means over the tables: one line for each contestant.

Log loss and accuracy are given for the half of the tables that is for tuning and for the other half
apart. The share of tables on which NaiveBayes has less log loss has the p-value of a sign test
beside it; the rank is the mean over tables, 1 being the least log loss. Seconds are those of `fit`
and `predict_proba` on one fold, of all tables together.

EBM is asked about small tables only, so its line is followed by that of NaiveBayes on those.
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
from benchmarks.quality_peers import CONTESTANTS, EBM, NAIVELY
from benchmarks.tables import Columns, Options

__all__ = ["COLUMNS", "EVERYWHERE", "Records", "measure", "of", "recorded", "wins"]

Records = list[dict[str, Any]]

EVERYWHERE = [name for name in CONTESTANTS if name != EBM]
_RECORDED = Path(__file__).parent / "results" / "quality.json"


def recorded() -> Records:
    """Return what `quality` has recorded, table by table."""
    records: Records = json.loads(_RECORDED.read_text())["records"]
    return records


def of(records: Records, name: str, what: str) -> NDArray[np.float64]:
    """Return one figure of a contestant, table by table."""
    return np.array([record[name][what] for record in records])


def wins(records: Records, name: str) -> tuple[float, float]:
    """Return the share of tables on which NaiveBayes has less log loss, and a sign test's p."""
    ours, theirs = of(records, NAIVELY, "loss"), of(records, name, "loss")
    less, n = int(np.sum(ours < theirs)), int(np.sum(ours != theirs))
    return less / len(records), float(binomtest(less, n).pvalue) if n else 1.0


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the means of each contestant."""
    records = recorded()
    ranks = rankdata([of(records, name, "loss") for name in EVERYWHERE], axis=0).mean(axis=1)
    for name, rank in zip(EVERYWHERE, ranks, strict=True):
        yield _means(records, name) | {"rank": float(rank)}
    small = [record for record in records if EBM in record]
    for name in (EBM, NAIVELY) if small else ():
        found = _means(small, name)
        yield found | {"contestant": f"{name}, the {len(small)} small tables"}


def _means(records: Records, name: str) -> dict[str, Any]:
    tuning = np.array([record["table"] in TUNING for record in records])
    found: dict[str, Any] = {"contestant": name}
    for what in ("loss", "accuracy", "brier", "ece"):
        values = of(records, name, what)
        found[what] = float(values.mean())
        if tuning.any() and not tuning.all():
            found[f"{what} by half"] = [float(values[half].mean()) for half in (tuning, ~tuning)]
    if name != NAIVELY:
        found["wins"], found["p"] = wins(records, name)
    return found | {"seconds": float(of(records, name, "seconds").sum())}


def _halves(what: str) -> Any:
    return lambda r: f"{r[what]:.3f} ({' / '.join(f'{v:.3f}' for v in r[f'{what} by half'])})"


COLUMNS: Columns = {
    "mean over tables": lambda r: r["contestant"],
    "log loss (for tuning / kept aside)": _halves("loss"),
    "accuracy (for tuning / kept aside)": _halves("accuracy"),
    "Brier score": lambda r: f"{r['brier']:.3f}",
    "ECE": lambda r: f"{r['ece']:.3f}",
    "rank": lambda r: f"{r['rank']:.2f}" if "rank" in r else "",
    "naively has less log loss": lambda r: (
        f"{r['wins']:.0%} (p = {r['p']:.0e})" if "p" in r else ""
    ),
    "seconds": lambda r: f"{r['seconds']:.3g}",
}
