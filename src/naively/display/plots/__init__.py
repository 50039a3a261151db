"""Displays: a picture each, of a model or of what was measured of it.

`DISPLAYS` says which of them draws a value: ``drift(a, b).plot()`` looks there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from naively.display.plots.values import (
    DriftDisplay,
    FitDisplay,
    ImportanceDisplay,
    TuningDisplay,
    WaterfallDisplay,
)
from naively.evaluation import Tuning
from naively.inspection.diagnosis import Diagnosis
from naively.inspection.drifts import Drift
from naively.inspection.explanations import Explanation
from naively.inspection.importance import Importance

DISPLAYS: dict[type, Callable[..., Any]] = {
    Diagnosis: FitDisplay.from_diagnosis,
    Drift: DriftDisplay.from_drift,
    Explanation: WaterfallDisplay.from_explanation,
    Importance: ImportanceDisplay.from_importance,
    Tuning: TuningDisplay.from_tuning,
}
