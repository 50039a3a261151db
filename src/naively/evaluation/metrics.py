r"""Every metric, in one registry: evaluations, files, tuning, reports and the shell read it.

With :math:`p_{ik}` the probability of class k for row i, :math:`y_i` the row's true class and
:math:`\hat p_i = \max_k p_{ik}` the confidence,

.. math::

    \text{loss} = -\frac1n \sum_i \log p_{i y_i}, \qquad
    \text{Brier} = \frac1n \sum_i \sum_k (p_{ik} - [k = y_i])^2, \qquad
    \text{ECE} = \sum_b \frac{n_b}{n} \left| \text{acc}_b - \text{conf}_b \right|

where b runs over ten bins of equal width :math:`((b-1)/10, b/10]` of the confidence, and
:math:`\text{acc}_b` and :math:`\text{conf}_b` are the share of right rows and the mean confidence
in the bin. Of two classes, scikit-learn's Brier score looks at one: it is half of this.

A new metric is a function of a `Judgement` and a line in `METRICS`.

*Intervals.* Let m' be the metric of the rows and the *doubts* of `naively.evaluation.judgement`,
and se' its standard error. The interval is

.. math:: m' \pm z \, \widehat{\mathrm{se}}'

within the bounds of the metric, made wider where it does not hold the metric of the rows alone. For
accuracy it is Agresti and Coull's. A row that is judged several times counts once, its influences
added. Rows are taken as independent and the models as fixed; that models of other folds share
training rows is not counted. The calibration error and the parts of the Brier score have no
interval: of few rows in bins, they are biased by as much as they vary.

References
----------
C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger (2017), On calibration of modern neural networks.
A. H. Murphy (1973), A new vector partition of the probability score. D. B. Stephenson, C. A. S.
Coelho, I. T. Jolliffe (2008), Two extra components in the Brier score decomposition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from math import inf, isnan, nan
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.evaluation.curves import ClassCurve
from naively.evaluation.judgement import (
    N_BINS,
    UNDEFINED,
    Influence,
    Judgement,
    Metric,
    sums,
)

# --- of labels ------------------------------------------------------------------------------------


def _accuracy(rows: Judgement) -> Influence:
    return rows.mean(rows.right.astype(np.float64))


def _balanced_accuracy(rows: Judgement) -> Influence:
    """Mean recall of the classes that have rows."""
    there, n_classes = rows.class_share > 0, rows.n_classes
    recall = np.full(n_classes, np.nan)
    right = sums(rows.truth, rows.share * rows.right, n_classes)
    recall[there] = right[there] / rows.class_share[there]
    gain = rows.right - recall[rows.truth]
    of_rows = gain / rows.class_share[rows.truth] / there.sum()
    return Influence(float(recall[there].mean()), of_rows)


def _marginals(rows: Judgement) -> tuple[Floats, Floats, float, float]:
    """Return the shares of true and of predicted classes, of right rows, and of right by chance."""
    true, predicted = rows.class_share, sums(rows.predicted, rows.share, rows.n_classes)
    return true, predicted, float(rows.share @ rows.right), float(true @ predicted)


def _mcc(rows: Judgement) -> Influence:
    """Matthews' correlation coefficient; 0 where only one class is true or predicted."""
    true, predicted, agreed, by_chance = _marginals(rows)
    spread = 1 - true @ true, 1 - predicted @ predicted
    if not min(spread) > 1e-12:
        return Influence(0.0, np.zeros(rows.truth.size))
    scale = np.sqrt(spread[0] * spread[1])
    value = (agreed - by_chance) / scale
    y, p = rows.truth, rows.predicted
    change = rows.right - agreed - (predicted[y] - by_chance) - (true[p] - by_chance)
    spreads = (true[y] - true @ true) / spread[0] + (predicted[p] - predicted @ predicted) / spread[
        1
    ]
    of_rows = change / scale + value * spreads
    return Influence(float(np.clip(value, -1.0, 1.0)), of_rows)


def _kappa(rows: Judgement) -> Influence:
    """Cohen's kappa; NaN where chance alone agrees everywhere."""
    true, predicted, agreed, by_chance = _marginals(rows)
    if not 1 - by_chance > 1e-12:
        return UNDEFINED
    chance = predicted[rows.truth] + true[rows.predicted] - 2 * by_chance
    change = rows.right - agreed + chance * (agreed - 1) / (1 - by_chance)
    return Influence(float((agreed - by_chance) / (1 - by_chance)), change / (1 - by_chance))


def _macro_f1(rows: Judgement) -> Influence:
    """Mean F1 of the classes that are there, as truth or as prediction."""
    cells = sums(rows.truth * rows.n_classes + rows.predicted, rows.share, rows.n_classes**2)
    return Influence(float(precision_recall_f1(cells.reshape(-1, rows.n_classes), "macro")[2]))


# --- of probabilities -----------------------------------------------------------------------------


def _loss(rows: Judgement) -> Influence:
    return rows.mean(-rows.log_truth)


def _brier(rows: Judgement) -> Influence:
    return rows.mean(rows.squared_error)


def _top_k_accuracy(rows: Judgement, k: int) -> Influence:
    """Share of rows whose class is among the k most probable."""
    if rows.probabilities is None and rows.given_rank is None:
        return UNDEFINED
    return rows.mean((rows.rank < k).astype(np.float64))


def _calibration_error(rows: Judgement) -> Influence:
    if rows.probabilities is None:
        return UNDEFINED
    weight, right, sure = rows.confidence_bins
    return Influence(float(np.abs(right - sure).sum() / weight.sum()))


def _brier_reliability(rows: Judgement) -> Influence:
    r"""Mean squared distance of probability and frequency, over ten bins of each class.

    :math:`\sum_k \sum_b n_{kb}/n \, (\bar p_{kb} - \bar o_{kb})^2`: 0 is the best.
    """
    if rows.probabilities is None:
        return UNDEFINED
    weight, gaps = rows.class_bins
    squares = np.divide(gaps**2, weight, out=np.zeros(weight.shape), where=weight > 0)
    return Influence(float(squares.sum() / weight[0].sum()))


def _brier_uncertainty(rows: Judgement) -> Influence:
    r"""Brier score of the classes' shares, :math:`1 - \sum_k \pi_k^2`."""
    if rows.probabilities is None:
        return UNDEFINED
    return Influence(1 - float(rows.class_share @ rows.class_share))


def _brier_resolution(rows: Judgement) -> Influence:
    """Reliability + uncertainty - Brier score: what probabilities tell beyond the shares.

    It holds the differences within bins, so that the three parts add up exactly.
    """
    parts = _brier_reliability(rows).value + _brier_uncertainty(rows).value
    return Influence(parts - rows.measure(METRICS["brier"]).value)


# --- of ranks: of the second of two classes; of more, each against the rest -----------------------


def _of_curves(rows: Judgement, name: Literal["roc_auc", "average_precision"]) -> Influence:
    """Return the mean of a figure of curves over classes, weighted by their rows.

    The shares of classes vary as well.
    """
    if rows.probabilities is None or rows.n_classes < 2:
        return UNDEFINED
    if rows.n_classes == 2:
        return _of_curve(rows.curve(1), name)
    value, of_rows = np.zeros(rows.n_classes), np.zeros(rows.truth.size)
    for k in np.flatnonzero(rows.class_share > 0).tolist():
        value[k], part = _of_curve(rows.curve(k), name)
        if part is None:
            return UNDEFINED
        of_rows += rows.class_share[k] * part
    mean = float(value @ rows.class_share)
    return Influence(mean, of_rows + value[rows.truth] - mean)


def _of_curve(curve: ClassCurve, name: str) -> Influence:
    value = getattr(curve, name)
    return UNDEFINED if isnan(value) else Influence(value, getattr(curve, f"{name}_influence")())


def _macro_roc_auc(rows: Judgement) -> Influence:
    """Mean ROC area of the classes, each counting the same; NaN unless all have rows."""
    if rows.n_classes == 2:
        return _of_curves(rows, "roc_auc")
    areas = [rows.curve(k).roc_auc for k in range(rows.n_classes)]
    return Influence(float(np.mean(areas)))


METRICS: dict[str, Metric] = {
    "accuracy": Metric("accuracy", _accuracy, reads="labels"),
    "balanced_accuracy": Metric("balanced accuracy", _balanced_accuracy, reads="labels"),
    "mcc": Metric("Matthews correlation", _mcc, (-1.0, 1.0), reads="labels"),
    "kappa": Metric("Cohen's kappa", _kappa, (-1.0, 1.0), reads="labels"),
    "top_2_accuracy": Metric("top-2 accuracy", partial(_top_k_accuracy, k=2), reads="ranks"),
    "roc_auc": Metric("ROC AUC", partial(_of_curves, name="roc_auc"), reads="curves"),
    "average_precision": Metric(
        "average precision", partial(_of_curves, name="average_precision"), reads="curves"
    ),
    "loss": Metric("loss", _loss, (0.0, inf), False, "losses"),
    "brier": Metric("Brier score", _brier, (0.0, 2.0), False, "losses"),
    "brier_reliability": Metric(
        "Brier: reliability", _brier_reliability, (0.0, 2.0), False, "bins"
    ),
    "brier_resolution": Metric("Brier: resolution", _brier_resolution, (-2.0, 1.0), True, "bins"),
    "brier_uncertainty": Metric(
        "Brier: uncertainty", _brier_uncertainty, (0.0, 1.0), False, "bins"
    ),
    "calibration_error": Metric("calibration error", _calibration_error, (0.0, 1.0), False, "bins"),
}
_SCORINGS = {  # as scikit-learn calls them, and as it means them where that is another figure
    "log_loss": replace(METRICS["loss"], title="log loss"),
    "f1": Metric("F1", _macro_f1),
    "roc_auc": Metric("ROC AUC", _macro_roc_auc),
}


def metric_of(name: Any) -> Metric:
    """Return a metric by its name, also ``"top_5_accuracy"`` and its likes."""
    parts = str(name).split("_")
    if len(parts) == 3 and (parts[0], parts[2]) == ("top", "accuracy") and parts[1].isdecimal():
        k = int(parts[1])
        if k > 0:
            return Metric(f"top-{k} accuracy", partial(_top_k_accuracy, k=k), reads="ranks")
    if isinstance(name, str) and name in METRICS:
        return METRICS[name]
    close = get_close_matches(str(name), METRICS, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(METRICS)}."
    raise NaivelyError(f"a metric must be one that naively knows; got {name!r}. {hint}")


def scorings() -> list[str]:
    """Return the names of what candidates can be tuned by, those of scikit-learn first."""
    first = ("log_loss", "accuracy", "brier", "balanced_accuracy", "f1", "roc_auc")
    return list(dict.fromkeys([*first, *METRICS]))


def scoring_of(name: Any) -> Metric:
    """Return the metric that candidates are tuned by."""
    if not isinstance(name, str) or name not in scorings():
        raise NaivelyError(f"scoring must be one of {', '.join(scorings())}; got {name!r}.")
    return _SCORINGS.get(name) or METRICS[name]


# --- intervals ------------------------------------------------------------------------------------


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
    return {name: _estimate(rows, doubted, metric_of(name), z) for name in names}


def _estimate(rows: Judgement, doubted: Judgement, metric: Metric, z: float) -> Estimate:
    value, (middle, error) = rows.measure(metric).value, doubted.measure(metric)
    half = z * error
    if isnan(value) or isnan(half):
        return Estimate(value, nan, nan)
    ends = max(metric.bounds[0], middle - half), min(metric.bounds[1], middle + half)
    return Estimate(value, min(value, ends[0]), max(value, ends[1]))


# --- figures that are no single number ------------------------------------------------------------


@dataclass(frozen=True)
class Averages:
    """Precision, recall and F1, averaged over the classes."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Confidence:
    """Mean confidence over all rows, the right and the wrong ones; NaN where there are none."""

    overall: float
    correct: float
    wrong: float

    @classmethod
    def of(cls, rows: Judgement) -> Confidence:
        """Average the confidence of judged rows."""
        right, n_rows = int(rows.confusion.trace()), int(rows.confusion.sum())
        wrong_sure, right_sure = map(float, rows.sure)
        return cls(
            (wrong_sure + right_sure) / n_rows,
            right_sure / right if right else nan,
            wrong_sure / (n_rows - right) if n_rows > right else nan,
        )


@dataclass(frozen=True, eq=False)
class Reliability:
    """How often a classifier is right when it is so sure: what a reliability diagram shows.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Of the bins; each holds its upper edge.
    confidence, accuracy : ndarray of shape (n_bins,)
        Mean confidence and share of right rows; NaN in an empty bin.
    count : ndarray of shape (n_bins,)
        Rows in each bin.
    """

    edges: NDArray[np.float64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, confidence_bins: Floats) -> Reliability:
        """Read it off the sums of rows, of right ones and of the confidence, by bin."""
        count, right, sure = confidence_bins
        nothing = np.full((2, N_BINS), np.nan)
        confidence, accuracy = np.divide([sure, right], count, out=nothing, where=count > 0)
        edges = np.linspace(0.0, 1.0, N_BINS + 1)
        return cls(edges, confidence, accuracy, count.astype(np.int64))

    @property
    def error(self) -> float:
        """The expected calibration error; NaN where no bin holds a row."""
        if not self.count.any():
            return nan
        gap = np.abs(self.accuracy - self.confidence)
        return float(np.nansum(self.count * gap) / self.count.sum())


def precision_recall_f1(
    confusion: NDArray[Any], average: Literal["macro", "weighted"] | None = None
) -> tuple[Any, Any, Any]:
    """Return scikit-learn's figures, which are 0 where they are undefined.

    A cell of the confusion matrix is a row with a weight: scikit-learn need not see them all. An
    average is over the classes that are there, as truth or as prediction.
    """
    from sklearn.metrics import precision_recall_fscore_support

    truth, predicted = np.nonzero(confusion)
    figures = precision_recall_fscore_support(
        truth,
        predicted,
        labels=np.arange(len(confusion)) if average is None else None,
        average=average,
        sample_weight=confusion[truth, predicted],
        zero_division=0.0,
    )
    return figures[:3]
