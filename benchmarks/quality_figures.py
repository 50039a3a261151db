"""Figures of the quality of probabilities, drawn from what was recorded, into docs/images.

`quality.svg` has a point for each table: the log loss of NaiveBayes beside that of the best peer on
that table. `ladder.svg` has a bar for each choice of interactions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.quality import TUNING
from benchmarks.quality_means import of, recorded
from benchmarks.quality_peers import NAIVELY, PEERS

__all__ = ["draw"]

_ROOT = Path(__file__).parent
_IMAGES = _ROOT.parent / "docs" / "images"
_LADDER = _ROOT / "results" / "quality_ladder.json"


def draw() -> None:
    """Draw all figures whose results have been recorded."""
    style = {"svg.hashsalt": "naively", "font.size": 9}  # the same figure, the same bytes
    with mpl.rc_context(style):
        _save(_rivals(), "quality.svg")
        if _LADDER.exists():
            _save(_ladder(json.loads(_LADDER.read_text())["records"]), "ladder.svg")


def _rivals() -> Figure:
    """Draw the log loss of each table beside that of the best peer."""
    records = recorded()
    ours = of(records, NAIVELY, "loss")
    best = np.min([of(records, name, "loss") for name in PEERS], axis=0)
    tuning = np.array([record["table"] in TUNING for record in records])
    figure = Figure(figsize=(5, 4.6), layout="constrained")
    ax = figure.subplots()
    least, most = 3e-3, 1.1 * max(ours.max(), best.max())
    ax.plot([least, most], [least, most], color="0.6", linewidth=1)
    for half, label in ((tuning, "for tuning"), (~tuning, "kept aside")):
        x, y = best[half], ours[half]
        label = f"{label}: better on {np.mean(y < x):.0%}"
        at = np.maximum(x, least), np.maximum(y, least)  # the least are drawn on the edge
        ax.scatter(*at, s=14, alpha=0.8, label=label, clip_on=False)
    ax.set(xscale="log", yscale="log", xlim=(least, most), ylim=(least, most), aspect="equal")
    ax.set_xlabel("log loss of the best of the five peers on that table")
    ax.set_ylabel("log loss of NaiveBayes()")
    ax.legend(loc="upper left", frameon=False)
    return figure


def _ladder(records: list[dict[str, Any]]) -> Figure:
    """Draw the mean log loss of each choice of interactions, by half."""
    figure = Figure(figsize=(6, 3), layout="constrained")
    ax = figure.subplots()
    places = np.arange(len(records))
    for shift, half in ((-0.2, "for tuning"), (0.2, "kept aside")):
        values = [record[half]["loss"] for record in records]
        bars = ax.barh(places + shift, values, 0.38, label=half)
        ax.bar_label(bars, fmt="%.3f", padding=2, fontsize=7)
    ax.set_yticks(places, [record["interactions"] for record in records])
    ax.invert_yaxis()
    ax.set_xlim(0.3, 0.5)
    ax.set_xlabel("mean log loss (the axis begins at 0.3)")
    ax.legend(loc="lower right", frameon=False)
    return figure


def _save(figure: Figure, name: str) -> None:
    figure.savefig(_IMAGES / name, metadata={"Date": None})
