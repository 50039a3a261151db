"""Pictures of models, by scikit-learn's convention for displays.

``from_estimator`` computes once and draws; ``plot`` draws again elsewhere, and sets ``ax_`` and
``figure_``. matplotlib is imported when something is drawn, and nothing global is changed: no
style, no backend.
"""

from naively.plots.bars import AccuracyBarsDisplay, TimeBarsDisplay
from naively.plots.bell_curves import BellCurveDisplay
from naively.plots.class_curves import GainDisplay, PrecisionRecallDisplay, RocCurveDisplay
from naively.plots.confusion import ConfusionDisplay
from naively.plots.decision_regions import DecisionRegionDisplay
from naively.plots.density_surface import DensitySurfaceDisplay
from naively.plots.drift import DriftDisplay
from naively.plots.fit import FitDisplay
from naively.plots.importance import ImportanceDisplay
from naively.plots.nomogram import NomogramDisplay
from naively.plots.reliability import ReliabilityDisplay
from naively.plots.separation import classes_by_separation, columns_by_separation, separation
from naively.plots.tuning import TuningDisplay
from naively.plots.waterfall import WaterfallDisplay

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
