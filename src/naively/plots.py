"""Pictures of models, by scikit-learn's convention for displays.

``from_estimator`` computes once and draws; ``plot`` draws again elsewhere, and sets ``ax_`` and
``figure_``. matplotlib is imported when something is drawn, and nothing global is changed: no
style, no backend.
"""

from naively.display.plots.bars import AccuracyBarsDisplay, TimeBarsDisplay
from naively.display.plots.bell_curves import BellCurveDisplay
from naively.display.plots.class_curves import GainDisplay, PrecisionRecallDisplay, RocCurveDisplay
from naively.display.plots.confusion import ConfusionDisplay
from naively.display.plots.decision_regions import DecisionRegionDisplay
from naively.display.plots.density_surface import DensitySurfaceDisplay
from naively.display.plots.drift import DriftDisplay
from naively.display.plots.fit import FitDisplay
from naively.display.plots.importance import ImportanceDisplay
from naively.display.plots.nomogram import NomogramDisplay
from naively.display.plots.reliability import ReliabilityDisplay
from naively.display.plots.separation import (
    classes_by_separation,
    columns_by_separation,
    separation,
)
from naively.display.plots.tuning import TuningDisplay
from naively.display.plots.waterfall import WaterfallDisplay

__all__ = [
    "AccuracyBarsDisplay",
    "BellCurveDisplay",
    "ConfusionDisplay",
    "DecisionRegionDisplay",
    "DensitySurfaceDisplay",
    "DriftDisplay",
    "FitDisplay",
    "GainDisplay",
    "ImportanceDisplay",
    "NomogramDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "RocCurveDisplay",
    "TimeBarsDisplay",
    "TuningDisplay",
    "WaterfallDisplay",
    "classes_by_separation",
    "columns_by_separation",
    "separation",
]
