"""ROC curves and precision over recall, by class, with as many points as a drawing needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.evaluation import Evaluation
from naively.evaluation.metrics import estimates

_MOST_CLASSES = 7
_MOST_POINTS = 60


def class_curves(judged: Evaluation) -> list[dict[str, Any]]:
    """Return the curves of the second of two classes, or of each of those with the most rows."""
    if judged.probabilities is None:
        return []
    order = np.argsort(-judged.support, kind="stable")[:_MOST_CLASSES]
    places = [1] if judged.classes.size == 2 else np.sort(order).tolist()
    return [found for k in places if (found := _of_class(judged, k)) is not None]


def _of_class(judged: Evaluation, k: int) -> dict[str, Any] | None:
    """Return the curves of a class against the rest; None where there are no rows of either."""
    curve = judged.rows.curve(k)
    if not curve.is_defined:
        return None
    rows = judged.rows.of_class(k)
    areas = estimates(rows, ("roc_auc", "average_precision"))
    precision = np.append(curve.precision[:1], curve.precision)
    recall = np.append(0.0, curve.recall)
    return {
        "class": str(judged.classes[k]),
        "share": curve.positives / (curve.positives + curve.negatives),
        **{name: area._asdict() for name, area in areas.items()},
        "roc": _thinned(np.append(0.0, curve.false_positive_rate), recall),
        "precision_recall": _thinned(recall, precision),
    }


def _thinned(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[list[float]]:
    """Return so many points of a line, evenly along it, in thousandths: its ends among them.

    >>> _thinned(np.array([0, 0, 1]), np.array([0, 0.5, 1]))
    [[0.0, 0.0], [0.0, 0.5], [1.0, 1.0]]
    """
    x, y = np.round(x, 3), np.round(y, 3)
    along = np.cumsum(np.hypot(np.diff(x, prepend=x[0]), np.diff(y, prepend=y[0])))
    wanted = np.linspace(0, along[-1], _MOST_POINTS)
    few = np.arange(x.size) if x.size <= _MOST_POINTS else np.searchsorted(along, wanted)
    at = np.unique(np.append(few, x.size - 1))
    return np.column_stack([x[at], y[at]]).tolist()
