r"""Judged rows that stream by: what is added up of them, and the metrics of that.

Every figure that is a sum is exact, however many rows there are.

Ranks need more. The log odds of each class fall into bins of equal width w, :math:`w = 1/2048` for
up to 8 classes, and rows of one bin count as ties. The area under the ROC curve that is read off
the bins differs from that of all rows by at most

.. math:: \frac12 \sum_b \frac{P_b}{P} \frac{N_b}{N}

where :math:`P_b` and :math:`N_b` are the rows of the class and of the rest in bin b: half of the
pairs that share a bin.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.evaluation.curves import ClassCurve
from naively.evaluation.judgement import Judgement, Metric, MetricValue, doubts_of

Ints = NDArray[np.int64]

_SMALL, _LARGE = -745.0, 40.0  # log odds: of the least float64, and beyond those of 1 - 2**-53
_MIDDLE = -40.0  # below, bins are sixteen times as wide
_BINS_PER_UNIT, _FINE_CLASSES = 2048, 8  # bins for a unit of log odds, of so many classes


@dataclass(frozen=True)
class RowMoments:
    """The number, the mean and the sum of squared deviations of a number that each row has.

    Law: ``of(a) + of(b)`` is ``of`` both together.
    """

    n: int = 0
    mean: float = 0.0
    m2: float = 0.0

    @classmethod
    def of(cls, values: Floats) -> RowMoments:
        """Measure some rows."""
        if not values.size:
            return cls()
        mean = float(values.mean())
        spread = values - mean if np.isfinite(mean) else np.full(1, np.nan)
        return cls(values.size, mean, float(np.sum(spread * spread)))

    def __add__(self, other: RowMoments) -> RowMoments:
        if not (self.n and other.n):
            return self if self.n else other
        n = self.n + other.n
        if not np.isfinite(self.mean + other.mean):
            return RowMoments(n, self.mean + other.mean, float("nan"))
        delta = other.mean - self.mean
        mean = self.mean + delta * other.n / n
        return RowMoments(n, mean, self.m2 + other.m2 + delta**2 * self.n * other.n / n)

    @property
    def halves(self) -> Floats:
        """Two values of the same mean and variance; the mean twice where it is infinite."""
        apart = np.sqrt(self.m2 / self.n) if np.isfinite(self.mean) else 0.0
        return self.mean + np.array([-apart, apart])


class ScoreBins:
    """How many rows of each class, and of the rest, have which log odds of the class.

    Threads share one: sums of whole numbers do not depend on their order. Of two classes, only the
    second is counted.
    """

    def __init__(self, n_classes: int) -> None:
        self.classes = range(1, 2) if n_classes == 2 else range(n_classes)
        self._fine = max(8, _BINS_PER_UNIT * _FINE_CLASSES // max(n_classes, _FINE_CLASSES))
        self._coarse = int((_MIDDLE - _SMALL) * self._fine / 16)  # how many bins are wide
        self.n_bins = self._coarse + int((_LARGE - _MIDDLE) * self._fine) + 1
        self.count: Ints = np.zeros((len(self.classes), 2, self.n_bins), np.int64)
        self._lock = Lock()

    def add(self, truth: NDArray[Any], probabilities: Floats) -> None:
        """Count rows."""
        for i, k in enumerate(self.classes):
            at = self._bins(probabilities[:, k]) + self.n_bins * (truth == k)
            with self._lock:
                np.add.at(self.count[i].reshape(-1), at, 1)

    def curve(self, k: int) -> ClassCurve:
        """Return the curve of a class against the rest: a threshold for each bin with rows."""
        return ClassCurve.of(*self.groups(k))

    def groups(self, k: int) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """Return groups of rows: whether they are of a class, their probability, and their number.

        The probability is the least that rows of the bin may have.
        """
        flip = k not in self.classes  # the first of two classes
        others, own = self.count[0 if flip else self.classes.index(k)]
        others, own, score = (own, others, -1.0) if flip else (others, own, 1.0)
        rows = np.concatenate([np.flatnonzero(own), np.flatnonzero(others)])
        positive = np.arange(rows.size) < np.count_nonzero(own)
        weight = np.where(positive, own[rows], others[rows]).astype(np.float64)
        p = _probability(score * self._lower(rows + flip))
        p[rows == (self.n_bins - 1 if flip else 0)] = 0.0  # whose bin has no lower end
        return positive, p, weight

    def roc_auc_bound(self, k: int) -> float:
        """Return by how much the area under the ROC curve may differ from that of all rows."""
        others, own = self.count[self.classes.index(k) if k in self.classes else 0]
        pairs = float(own.sum()) * float(others.sum())
        return float(own.astype(np.float64) @ others) / pairs / 2 if pairs else float("nan")

    def _bins(self, p: Floats) -> NDArray[np.intp]:
        with np.errstate(divide="ignore"):
            odds = np.log(p) - np.log1p(-p)
        odds = np.clip(odds, _SMALL, _LARGE)
        low = (odds - _SMALL) * (self._fine / 16)
        high = self._coarse + (odds - _MIDDLE) * self._fine
        return np.where(odds < _MIDDLE, np.minimum(low, self._coarse - 1), high).astype(np.intp)

    def _lower(self, at: NDArray[np.intp]) -> Floats:
        """Return the lower ends of bins."""
        low = _SMALL + at * (16 / self._fine)
        return np.where(at < self._coarse, low, _MIDDLE + (at - self._coarse) / self._fine)


def _probability(odds: Floats) -> Floats:
    e = np.exp(-np.abs(odds))
    return np.where(odds < 0, e, 1.0) / (1 + e)


@dataclass
class Totals:
    """The sums of judged rows.

    Law: the totals of two parts, added, are those of all rows, up to rounding.
    """

    confusion: Ints  # (n_classes, n_classes): rows by true and predicted class
    ranks: Ints  # (n_classes,): rows by how many classes are more probable than the true one
    by_fold: Ints  # (n_folds, 2): wrong and right rows
    loss: RowMoments  # of minus the log-probability of the truth
    squared_error: RowMoments
    confidence_bins: Floats  # these and the next, as a `Judgement` has them
    sure: Floats
    class_bins: Floats
    answer_squares: Floats  # times the number of rows

    @classmethod
    def of(cls, rows: Judgement, fold: NDArray[Any], n_folds: int) -> Totals:
        """Add up some rows."""
        return cls(
            rows.confusion,
            np.bincount(rows.rank, minlength=rows.n_classes),
            np.bincount(2 * fold + rows.right, minlength=2 * n_folds).reshape(n_folds, 2),
            RowMoments.of(-rows.log_truth),
            RowMoments.of(rows.squared_error),
            rows.confidence_bins,
            rows.sure,
            rows.class_bins,
            rows.truth.size * rows.answer_squares,
        )

    def __add__(self, other: Totals) -> Totals:
        return Totals(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return int(self.confusion.sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class TotalJudgement(Judgement):
    """What was judged of all rows, as totals, and row by row of a random sample.

    A metric is computed from groups of equal rows, which all rows are divided into by what the
    metric reads: values are those of all rows. ROC areas and average precision are read off fine
    bins of the log odds. Standard errors are exact, too, but for the ROC area and the average
    precision of more than two classes, which are those of the sample; and so is all of a metric
    that reads rows.
    """

    totals: Totals
    scores: ScoreBins
    doubts: Judgement | None = None

    @classmethod
    def of(cls, kept: Judgement, totals: Totals, scores: ScoreBins) -> TotalJudgement:
        """Put together what was kept and what was added up."""
        rows = {field.name: getattr(kept, field.name) for field in fields(Judgement)}
        return cls(**rows, totals=totals, scores=scores)

    def __post_init__(self) -> None:
        totals = self.totals
        for name in ("confusion", "confidence_bins", "sure", "class_bins"):
            self.__dict__[name] = getattr(totals, name)
        self.__dict__["class_share"] = totals.confusion.sum(axis=1) / totals.n_rows
        self.__dict__["answer_squares"] = totals.answer_squares / totals.n_rows

    def doubted(self, n_doubts: float) -> Judgement:
        """Return all rows and so many doubts: what intervals are computed from."""
        return replace(self, doubts=doubts_of(n_doubts, self.class_share, self.answer_squares))

    def measure(self, metric: Metric) -> MetricValue:
        """Return a metric of all rows, and its standard error."""
        if metric.reads == "bins":
            return super().measure(metric)  # the sums below are those of all rows
        if metric.reads != "curves" or self.n_classes == 2:
            return self._with_doubts(getattr(self, f"_{metric.reads}")).measure(metric)
        there = np.flatnonzero(self.class_share > 0).tolist()
        each = [metric.of(self.of_class(k)).value for k in there]
        value, error = self._with_doubts(self._rows).measure(metric)
        value += float(self.class_share[there] @ each) - metric.of(self._rows).value
        return MetricValue(value, error)

    def _with_doubts(self, groups: Judgement) -> Judgement:
        return groups if self.doubts is None else groups.with_doubts(self.doubts)

    def curve(self, k: int) -> ClassCurve:
        """Return the curve of one class against the rest, over bins of its log odds."""
        return self.scores.curve(k)

    def of_class(self, k: int) -> Judgement:
        """Return what is known of one class, the second of two, against the rest, by bins."""
        positive, p, weight = self.scores.groups(k)
        true, nothing = positive.astype(np.intp), np.zeros(p.size)
        both = np.column_stack([1 - p, p])
        return Judgement(true, true, 2, nothing, nothing, both, weight, size=weight)

    def roc_auc_bound(self) -> float:
        """Return by how much the area under the ROC curve may differ from that of all rows."""
        there = [k for k in self.scores.classes if self.class_share[k] > 0]
        bounds = np.array([self.scores.roc_auc_bound(k) for k in there])
        share = self.class_share[there]
        return float(bounds @ share / share.sum())

    # --- groups of equal rows, by what a metric reads ---------------------------------------------

    @cached_property
    def _labels(self) -> Judgement:
        """The cells of the confusion matrix."""
        true, predicted = np.nonzero(self.confusion)
        weight = self.confusion[true, predicted].astype(np.float64)
        return self._groups(weight, true, predicted)

    @cached_property
    def _ranks(self) -> Judgement:
        weight = self.totals.ranks.astype(np.float64)
        there = np.flatnonzero(weight)
        return replace(self._groups(weight[there]), given_rank=there)

    @cached_property
    def _losses(self) -> Judgement:
        """Two groups whose losses have the mean and the variance of all."""
        half = np.full(2, self.totals.n_rows / 2)
        loss, score = self.totals.loss.halves, self.totals.squared_error.halves
        return replace(self._groups(half), log_truth=-loss, squared_error=score)

    @property
    def _curves(self) -> Judgement:
        return self.of_class(1)

    @cached_property
    def _rows(self) -> Judgement:
        """The rows that were kept, each for as many."""
        rows = self.truth, self.predicted, self.n_classes, self.log_truth, self.squared_error
        each = np.full(self.truth.size, self.totals.n_rows / self.truth.size)
        return Judgement(*rows, self.probabilities, each, size=each)

    def _groups(self, size: Floats, truth: Any = None, predicted: Any = None) -> Judgement:
        nothing = np.zeros(size.size)
        truth, predicted = (nothing.astype(np.intp) if k is None else k for k in (truth, predicted))
        return Judgement(truth, predicted, self.n_classes, nothing, nothing, None, size, size=size)
