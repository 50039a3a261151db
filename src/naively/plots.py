"""Pictures of models, by scikit-learn's convention for displays.

``from_estimator`` computes once and draws; ``plot`` draws again elsewhere, and sets ``ax_`` and
``figure_``. matplotlib is imported when something is drawn, and nothing global is changed: no
style, no backend.
"""

from naively.display.plots.bars import AccuracyBarsDisplay, TimeBarsDisplay
from naively.display.plots.columns import BellCurveDisplay
from naively.display.plots.density_surface import DensitySurfaceDisplay
from naively.display.plots.nomogram import NomogramDisplay
from naively.display.plots.regions import DecisionRegionDisplay
from naively.display.plots.scores import (
    ConfusionDisplay,
    GainDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
)
from naively.display.plots.separation import (
    classes_by_separation,
    columns_by_separation,
    separation,
)
from naively.display.plots.values import (
    DriftDisplay,
    FitDisplay,
    ImportanceDisplay,
    TuningDisplay,
    WaterfallDisplay,
)

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
