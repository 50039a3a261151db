r"""Metrics with confidence intervals.

With :math:`\widehat{\mathrm{se}}` from `naively.evaluation.influence`, a metric that lies between
two bounds is scaled to v in [0, 1] and treated as the share of successes among

.. math:: n' = \frac{v (1 - v)}{\widehat{\mathrm{se}}(v)^2}

rows, whose interval is Wilson's: it respects the bounds and keeps a width where every row is right.
For accuracy n' is the number of rows. The loss has no upper bound: its logarithm is taken as
Gaussian. A row that is judged several times counts once, its influences added. Rows are taken as
independent and the models as fixed; that models of other folds share training rows is not counted.

>>> low, high = wilson(0.9, 100, z=1.96)
>>> round(low, 4), round(high, 4)
(0.8256, 0.9448)

References
----------
E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference.
"""

from __future__ import annotations

from difflib import get_close_matches
from math import exp, inf, isnan, nan, sqrt
from statistics import NormalDist
from typing import NamedTuple

from naively.evaluation.influence import Influence, Judgement
from naively.exceptions import NaivelyError

__all__ = ["METRICS", "Estimate", "estimate", "influence", "interval", "wilson"]


class Metric(NamedTuple):
    """What a metric is called, and between which bounds it lies."""

    title: str
    bounds: tuple[float, float] = (0.0, 1.0)
    by_class: bool = False  # whether each class counts by itself, however few rows it has


METRICS = {  # by the names of methods of `Judgement`
    "accuracy": Metric("accuracy"),
    "balanced_accuracy": Metric("balanced accuracy", by_class=True),
    "mcc": Metric("Matthews correlation", (-1.0, 1.0), by_class=True),
    "kappa": Metric("Cohen's kappa", (-1.0, 1.0), by_class=True),
    "top_2_accuracy": Metric("top-2 accuracy"),
    "roc_auc": Metric("ROC AUC", by_class=True),
    "average_precision": Metric("average precision", by_class=True),
    "loss": Metric("loss", (0.0, inf)),
    "brier": Metric("Brier score", (0.0, 2.0)),
    "brier_reliability": Metric("Brier: reliability", (0.0, 2.0)),
    "brier_resolution": Metric("Brier: resolution", (-2.0, 1.0)),
    "brier_uncertainty": Metric("Brier: uncertainty"),
    "calibration_error": Metric("calibration error"),
}


class Estimate(NamedTuple):
    """A metric, and the interval that holds it at the level asked for; NaN where undefined."""

    value: float
    low: float
    high: float


def estimate(rows: Judgement, name: str, level: float = 0.95) -> Estimate:
    """Compute a metric with its interval: by name, also ``"top_5_accuracy"`` and its likes."""
    found, metric = influence(rows, name), METRICS.get(name, Metric(""))
    share = rows.class_share
    least = float(share[share > 0].min()) if metric.by_class else 1.0
    return interval(found.value, rows.error(found), least * rows.n_rows, metric.bounds, level)


def interval(
    value: float,
    error: float,
    n_rows: float,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> Estimate:
    """Return a value with its interval; at the end of its range it rests on so many rows."""
    if not 0 < level < 1:
        raise NaivelyError(f"the level of an interval must lie between 0 and 1; got {level}.")
    if isnan(error):
        return Estimate(value, nan, nan)
    z = NormalDist().inv_cdf((1 + level) / 2)
    low, high = bounds
    if high == inf:
        factor = exp(min(z * error / value, 700.0)) if value > 0 else 1.0
        return Estimate(value, value / factor, value * factor)
    v, error = (value - low) / (high - low), error / (high - low)
    spread = v * (1 - v)
    if spread > 0 and not error**2 > 1e-30:
        return Estimate(value, value, value)
    n = spread / error**2 if spread > 1e-15 and error > 0 else n_rows
    ends = wilson(min(max(v, 0.0), 1.0), n, z)
    return Estimate(value, *(low + end * (high - low) for end in ends))


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


def wilson(share: float, n: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of n rows."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))
