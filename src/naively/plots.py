"""Pictures of models, by scikit-learn's convention for displays.

``from_estimator`` computes once and draws; ``plot`` draws again elsewhere, and sets ``ax_`` and
``figure_``. matplotlib is imported when something is drawn, and nothing global is changed: no
style, no backend.
"""

from naively.display.plots.columns import BellCurveDisplay
from naively.display.plots.figures import accuracy_bars, density_surface, time_bars
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
