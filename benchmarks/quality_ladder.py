"""What each kind of interaction adds: the tables of `quality`, for every choice of kinds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.quality import TUNING, judged
from benchmarks.quality_tables import TABLES
from benchmarks.tables import Columns, Options
from naively import NaiveBayes

__all__ = ["COLUMNS", "LADDER", "means", "measure"]

KINDS = ("canonical", "quadratic", "pairs")
LADDER = {" + ".join(kinds) or "none": kinds for n in range(4) for kinds in combinations(KINDS, n)}
_FIGURES = ("loss", "accuracy", "brier", "ece", "seconds")


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the means over tables of each choice of kinds."""
    tables = [table for table in TABLES if options.only in table.name]
    models = {name: partial(_model, kinds) for name, kinds in LADDER.items()}
    found = {table.name: judged(*table.load(), models) for table in tables}
    yield from means(found)


def means(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the means of all tables, and of both halves, of each choice of kinds."""
    for name in LADDER:
        record: dict[str, Any] = {"interactions": name}
        for half in ("all", "for tuning", "kept aside"):
            some = [
                of_table[name]
                for table, of_table in found.items()
                if half in ("all", "for tuning" if table in TUNING else "kept aside")
            ]
            record[half] = {
                what: float(np.mean([each[what] for each in some])) for what in _FIGURES
            }
        yield record


def _model(kinds: tuple[str, ...], X: Any) -> Any:
    return NaiveBayes(interactions=kinds or None, n_jobs=1)


def _figure(half: str, what: str) -> Any:
    return lambda r: f"{r[half][what]:.4f}"


COLUMNS: Columns = {
    "interactions": lambda r: r["interactions"],
    "log loss": _figure("all", "loss"),
    "for tuning": _figure("for tuning", "loss"),
    "kept aside": _figure("kept aside", "loss"),
    "accuracy": _figure("all", "accuracy"),
    "Brier score": _figure("all", "brier"),
    "ECE": _figure("all", "ece"),
    "seconds of a fold": lambda r: f"{r['all']['seconds']:.3f}",
}
