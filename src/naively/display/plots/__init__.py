"""Displays: a picture each, of a model or of what was measured of it.

`DISPLAYS` says which of them draws a value: ``drift(a, b).plot()`` looks there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from naively.display.plots.scores import ConfusionDisplay, ReliabilityDisplay
from naively.display.plots.values import (
    DriftDisplay,
    FitDisplay,
    ImportanceDisplay,
    TuningDisplay,
    WaterfallDisplay,
)
from naively.evaluation import Comparison, Evaluation, PeerComparison, Tuning
from naively.inspection.diagnosis import Diagnosis
from naively.inspection.drifts import Drift
from naively.inspection.explanations import Explanation
from naively.inspection.importance import Importance

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
