r"""Metrics with confidence intervals.

Let m' be the metric of the rows and the *doubts* of `naively.evaluation.influence`, and se' its
standard error. The interval is

.. math:: m' \pm z \, \widehat{\mathrm{se}}'

within the bounds of the metric, made wider where it does not hold the metric of the rows alone. For
accuracy it is Agresti and Coull's. A row that is judged several times counts once, its influences
added. Rows are taken as independent and the models as fixed; that models of other folds share
training rows is not counted.

The calibration error and the parts of the Brier score have no interval: of few rows in bins, they
are biased by as much as they vary.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from math import inf, isnan, nan
from statistics import NormalDist
from typing import NamedTuple

from naively.errors import NaivelyError
from naively.evaluation.influence import Influence, Judgement


class Metric(NamedTuple):
    """What a metric is called, and between which bounds it lies."""

    title: str
    bounds: tuple[float, float] = (0.0, 1.0)


METRICS = {  # by the names of methods of `Judgement`
    "accuracy": Metric("accuracy"),
    "balanced_accuracy": Metric("balanced accuracy"),
    "mcc": Metric("Matthews correlation", (-1.0, 1.0)),
    "kappa": Metric("Cohen's kappa", (-1.0, 1.0)),
    "top_2_accuracy": Metric("top-2 accuracy"),
    "roc_auc": Metric("ROC AUC"),
    "average_precision": Metric("average precision"),
    "loss": Metric("loss", (0.0, inf)),
    "brier": Metric("Brier score", (0.0, 2.0)),
    "brier_reliability": Metric("Brier: reliability", (0.0, 2.0)),
    "brier_resolution": Metric("Brier: resolution", (-2.0, 1.0)),
    "brier_uncertainty": Metric("Brier: uncertainty"),
    "calibration_error": Metric("calibration error"),
}


class Estimate(NamedTuple):
    """A metric, and the interval that holds it at the level asked for; NaN where there is none."""

    value: float
    low: float
    high: float


def estimates(rows: Judgement, names: Iterable[str], level: float = 0.95) -> dict[str, Estimate]:
    """Compute metrics with their intervals: by name, also ``"top_5_accuracy"`` and its likes."""
    if not 0 < level < 1:
        raise NaivelyError(f"the level of an interval must lie between 0 and 1; got {level}.")
    z = NormalDist().inv_cdf((1 + level) / 2)
    doubted = rows.doubted(z**2)
    return {name: _estimate(rows, doubted, name, z) for name in names}


def _estimate(rows: Judgement, doubted: Judgement, name: str, z: float) -> Estimate:
    value, middle = influence(rows, name).value, influence(doubted, name)
    half = z * doubted.error(middle)
    if isnan(value) or isnan(half):
        return Estimate(value, nan, nan)
    low, high = METRICS.get(name, Metric("")).bounds
    ends = max(low, middle.value - half), min(high, middle.value + half)
    return Estimate(value, min(value, ends[0]), max(value, ends[1]))


def influence(rows: Judgement, name: str) -> Influence:
    """Compute a metric by its name."""
    parts = str(name).split("_")
    if len(parts) == 3 and (parts[0], parts[2]) == ("top", "accuracy") and parts[1].isdecimal():
        k = int(parts[1])
        if k > 0:
            return rows.top_k_accuracy(k)
    if isinstance(name, str) and name in METRICS:
        found: Influence = getattr(rows, name)()
        return found
    close = get_close_matches(str(name), METRICS, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(METRICS)}."
    raise NaivelyError(f"a metric must be one that naively knows; got {name!r}. {hint}")
