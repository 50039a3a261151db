"""Displays: a picture each, of a model or of what was measured of it.

`DISPLAYS` says which of them draws a value: ``drift(a, b).plot()`` looks there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from naively.display.plots.columns import BellCurveDisplay
from naively.display.plots.density import density_surface
from naively.display.plots.nomogram import NomogramDisplay
from naively.display.plots.overlap import (
    classes_by_separation,
    columns_by_separation,
    separation,
)
from naively.display.plots.regions import DecisionRegionDisplay
from naively.display.plots.scores import (
    ConfusionDisplay,
    GainDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
)
from naively.display.plots.values import (
    DriftDisplay,
    FitDisplay,
    ImportanceDisplay,
    TuningDisplay,
    WaterfallDisplay,
    accuracy_bars,
    time_bars,
)
from naively.evaluation import Comparison, Evaluation, PeerComparison, Tuning
from naively.inspection.diagnosis import Diagnosis
from naively.inspection.drifts import Drift
from naively.inspection.explanations import Explanation
from naively.inspection.importance import Importance

__all__ = [
    "BellCurveDisplay",
    "ConfusionDisplay",
    "DecisionRegionDisplay",
    "DriftDisplay",
    "FitDisplay",
    "GainDisplay",
    "ImportanceDisplay",
    "NomogramDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "RocCurveDisplay",
    "TuningDisplay",
    "WaterfallDisplay",
    "accuracy_bars",
    "classes_by_separation",
    "columns_by_separation",
    "density_surface",
    "separation",
    "time_bars",
]

DISPLAYS: dict[type, Callable[..., Any]] = {
    Comparison: ConfusionDisplay.from_comparison,
    Diagnosis: FitDisplay.from_diagnosis,
    Drift: DriftDisplay.from_drift,
    Evaluation: ConfusionDisplay.from_evaluation,
    Explanation: WaterfallDisplay.from_explanation,
    Importance: ImportanceDisplay.from_importance,
    PeerComparison: ReliabilityDisplay.from_comparison,
    Tuning: TuningDisplay.from_tuning,
}
