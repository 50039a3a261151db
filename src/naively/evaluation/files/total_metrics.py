"""Metrics of more rows than are kept: values by their totals, what is left by a sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.evaluation.class_curve import ClassCurve
from naively.evaluation.files.totals import RowMoments, ScoreBins, Totals
from naively.evaluation.influence import Influence, Judgement
from naively.evaluation.metrics import bins

__all__ = ["TotalMetrics"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class TotalMetrics(Judgement):
    """What was judged of all rows, as totals, and row by row of a random sample.

    Values of metrics are those of all rows: sums are exact, and ROC areas and average precision are
    read off fine bins of the log odds. Standard errors are exact, too, but for the parts of the
    Brier score and, of more than two classes, ROC area and average precision: these are read off
    the sample.
    """

    totals: Totals
    scores: ScoreBins

    @cached_property
    def _sample(self) -> Judgement:
        rows = self.truth, self.predicted, self.n_classes, self.log_truth, self.squared_error
        return Judgement(*rows, self.probabilities)

    @cached_property
    def _by_cell(self) -> Judgement:
        """The cells of the confusion matrix as rows, each of the weight of its rows."""
        true, predicted = np.nonzero(self.totals.confusion)
        nothing, weight = np.zeros(true.size), self.totals.confusion[true, predicted]
        rows = true, predicted, self.n_classes, nothing, nothing, np.empty((true.size, 0))
        return Judgement(*rows, weight.astype(np.float64))

    @property
    def n_rows(self) -> float:
        """How many rows were judged."""
        return self.totals.n_rows

    @cached_property
    def class_share(self) -> Floats:
        """The part of all rows that each class has."""
        return self.totals.confusion.sum(axis=1) / self.n_rows

    def _grouped(self, groups: Judgement, found: Influence) -> Influence:
        """Return a metric of groups of equal rows: each row of a group has its influence."""
        if found.of_rows is None:
            return found
        variance = float(groups.share @ found.of_rows**2) / self.n_rows
        return Influence(found.value, None, float(np.sqrt(variance)))

    def _sampled(self, found: Influence) -> Influence:
        """Return a metric of all rows with the error that the rows of the sample tell."""
        if found.of_rows is None:
            return found
        variance = float(np.mean(found.of_rows**2)) / self.n_rows
        return found._replace(error=float(np.sqrt(variance)))

    def accuracy(self) -> Influence:
        """Share of right rows."""
        return self._grouped(self._by_cell, self._by_cell.accuracy())

    def balanced_accuracy(self) -> Influence:
        """Mean recall of the classes that have rows."""
        return self._grouped(self._by_cell, self._by_cell.balanced_accuracy())

    def mcc(self) -> Influence:
        """Matthews' correlation coefficient; 0 where only one class is true or predicted."""
        return self._grouped(self._by_cell, self._by_cell.mcc())

    def kappa(self) -> Influence:
        """Cohen's kappa; NaN where chance alone agrees everywhere."""
        return self._grouped(self._by_cell, self._by_cell.kappa())

    def loss(self) -> Influence:
        """Mean negative log-probability of the true class."""
        return _mean(self.totals.loss)

    def brier(self) -> Influence:
        """Mean squared distance of the probabilities from the truth, summed over classes."""
        return _mean(self.totals.squared_error)

    def calibration_error(self) -> Influence:
        """Mean distance of confidence and accuracy, over ten bins of the confidence."""
        _, right, sure, squares = self.totals.confidence
        value = float(np.abs(right - sure).sum()) / self.n_rows
        variance = max(0.0, float(squares.sum()) / self.n_rows - value**2) / self.n_rows
        return Influence(value, None, float(np.sqrt(variance)))

    def brier_reliability(self) -> Influence:
        """Mean squared distance of probability and frequency, over ten bins of each class."""
        rows, gaps = self.totals.class_bins
        mean = np.divide(gaps, rows, out=np.zeros(rows.shape), where=rows > 0)
        value = float((gaps * mean).sum()) / self.n_rows
        return self._sampled(Influence(value, self._reliability_of_sample(mean) - value))

    def _reliability_of_sample(self, mean: Floats) -> Floats:
        """Return what rows of the sample add, by the mean gaps of all rows."""
        assert self.probabilities is not None
        parts = np.zeros(self.truth.size)
        for k, p in enumerate(self.probabilities.T):
            its, gap = mean[k][bins(p)], p - (self.truth == k)
            parts += its * (2 * gap - its)
        return parts

    def brier_uncertainty(self) -> Influence:
        """Brier score of the classes' shares."""
        return self._grouped(self._by_cell, self._by_cell.brier_uncertainty())

    def brier_resolution(self) -> Influence:
        """Reliability + uncertainty - Brier score."""
        reliable, whole = self.brier_reliability(), self.brier()
        uncertain = self.brier_uncertainty()
        value = reliable.value + uncertain.value - whole.value
        assert reliable.of_rows is not None
        of_rows = reliable.of_rows - (self.squared_error - whole.value)
        concentrated = float(self.class_share @ self.class_share)
        of_rows = of_rows + 2 * (concentrated - self.class_share[self.truth])
        return self._sampled(Influence(value, of_rows))

    def top_k_accuracy(self, k: int) -> Influence:
        """Share of rows whose class is among the k most probable."""
        value = float(self.totals.ranks[:k].sum()) / self.n_rows
        return Influence(value, None, float(np.sqrt(value * (1 - value) / self.n_rows)))

    def curve(self, k: int) -> ClassCurve:
        """Return the curve of one class against the rest, over bins of its log odds."""
        return self.scores.curve(k)

    def roc_auc_bound(self) -> float:
        """Return by how much the area under the ROC curve may differ from that of all rows."""
        there = [k for k in self.scores.classes if self.class_share[k] > 0]
        bounds = np.array([self.scores.roc_auc_bound(k) for k in there])
        share = self.class_share[there]
        return float(bounds @ share / share.sum())

    def ranks_of(self, k: int) -> tuple[Influence, Influence]:
        """Return ROC area and average precision of one class against the rest, by bins."""
        positive, p, weight = self.scores.groups(k)
        true, nothing = positive.astype(np.intp), np.zeros(p.size)
        both = np.column_stack([1 - p, p])
        groups = Judgement(true, true, 2, nothing, nothing, both, weight)
        auc, ap = groups.ranks_of(1)
        return self._grouped(groups, auc), self._grouped(groups, ap)

    @cached_property
    def _ranked(self) -> tuple[Influence, Influence]:
        if self.n_classes == 2:
            return self.ranks_of(1)
        (auc, ap), (of_auc, of_ap) = self._values_of_classes, self._sample._ranked
        return self._sampled(of_auc._replace(value=auc)), self._sampled(of_ap._replace(value=ap))

    @property
    def _values_of_classes(self) -> tuple[float, float]:
        """Return ROC area and average precision, weighted by the rows of each class."""
        there = np.flatnonzero(self.class_share > 0).tolist()
        curves, share = [self.curve(k) for k in there], self.class_share[there]
        found = [(curve.roc_auc, curve.average_precision) for curve in curves]
        auc, ap = share @ np.array(found)
        return float(auc), float(ap)


def _mean(moments: RowMoments) -> Influence:
    return Influence(moments.mean, None, moments.error)
