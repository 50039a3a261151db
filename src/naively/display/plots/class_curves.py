"""Curves over all thresholds: ROC, precision and recall, and gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.display.plots import palette
from naively.display.plots._class_curves import ClassCurveDisplay
from naively.evaluation.curves import ClassCurve

__all__ = ["GainDisplay", "PrecisionRecallDisplay", "RocCurveDisplay"]

_FAINT = {"color": palette.FAINT, "linewidth": 1, "linestyle": (0, (4, 3))}


Points = tuple[NDArray[np.float64], NDArray[np.float64], float]


@dataclass(eq=False, repr=False, kw_only=True)
class RocCurveDisplay(ClassCurveDisplay):
    """ROC curve: recall of a class over the false positive rate.

    With two classes the curve is that of the second, with more there is one for each class against
    the rest. Make it with `from_estimator`, `from_predictions`, `from_evaluation` or
    `from_comparison`; ``curves`` holds the points and the areas.

    Examples
    --------
    >>> from naively.plots import RocCurveDisplay
    >>> proba = [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]
    >>> display = RocCurveDisplay.from_predictions(["a", "b", "b"], proba, classes=["a", "b"])
    >>> display.curves[0].area
    1.0
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    _title, _area = "ROC curve", "area"
    _axes = "false positive rate: share of the others", "recall: share of the class"

    @classmethod
    def _line(cls, curve: ClassCurve) -> Points:
        x, y = np.append(0.0, curve.false_positive_rate), np.append(0.0, curve.recall)
        return x, y, curve.roc_auc

    def _draw_baseline(self) -> list[Any]:
        return list(self.ax_.plot([0, 1], [0, 1], **_FAINT))


@dataclass(eq=False, repr=False, kw_only=True)
class PrecisionRecallDisplay(ClassCurveDisplay):
    """Precision of a class over its recall.

    With two classes the curve is that of the second, with more there is one for each class against
    the rest. Make it with `from_estimator`, `from_predictions`, `from_evaluation` or
    `from_comparison`; ``curves`` holds the points and the average precisions.

    Examples
    --------
    >>> from naively.plots import PrecisionRecallDisplay
    >>> truth, proba = ["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]
    >>> display = PrecisionRecallDisplay.from_predictions(truth, proba, classes=["a", "b"])
    >>> display.curves[0].area
    1.0
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    _title, _area = "Precision and recall", "average precision"
    _axes = "recall: share of the class that is found", "precision: share that is right"
    _drawstyle = "steps-pre"  # a precision holds for the recall up to it

    @classmethod
    def _line(cls, curve: ClassCurve) -> Points:
        x, y = np.append(0.0, curve.recall), np.append(curve.precision[:1], curve.precision)
        return x, y, curve.average_precision

    def _draw_baseline(self) -> list[Any]:
        if np.isnan(self.share):  # each class has another
            return []
        return list(self.ax_.plot([0, 1], [self.share, self.share], **_FAINT))


@dataclass(eq=False, repr=False, kw_only=True)
class GainDisplay(ClassCurveDisplay):
    """Cumulative gain: recall of a class among the rows with the highest probabilities.

    The lift is the share of the class among the first tenth of these rows, divided by its share of
    all rows. Of two classes the curve is that of the second, of more there is one for
    each class against the rest. Make it with `from_estimator`, `from_predictions`,
    `from_evaluation` or `from_comparison`; ``curves`` holds the points and the lifts.

    Examples
    --------
    >>> from naively.plots import GainDisplay
    >>> truth, proba = ["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]
    >>> display = GainDisplay.from_predictions(truth, proba, classes=["a", "b"])
    >>> round(display.curves[0].area, 2)  # the lift
    1.5
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    _title, _area = "Cumulative gain", "lift of the first 10 %"
    _axes = "share of all rows, the most probable first", "share of the class that is found"

    @classmethod
    def _line(cls, curve: ClassCurve) -> Points:
        answered = curve.true_positive + curve.false_positive
        x, y = np.append(0.0, answered / answered[-1]), np.append(0.0, curve.recall)
        return x, y, float(np.interp(0.1, x, y) / 0.1)

    def _draw_baseline(self) -> list[Any]:
        if not np.isnan(self.share):
            best = {**_FAINT, "linestyle": (0, (1, 2))}
            self.ax_.plot([0, self.share, 1], [0, 1, 1], **best)
        return list(self.ax_.plot([0, 1], [0, 1], **_FAINT))
