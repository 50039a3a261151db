"""Metrics of more rows than are kept: values by their totals, what is left by a sample of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from naively.data.types import Floats
from naively.evaluation.class_curve import ClassCurve
from naively.evaluation.files.totals import ScoreBins, Totals
from naively.evaluation.influence import Influence, Judgement, doubts_of


@dataclass(frozen=True, eq=False, kw_only=True)
class TotalMetrics(Judgement):
    """What was judged of all rows, as totals, and row by row of a random sample.

    Values of metrics are those of all rows: sums are exact, and ROC areas and average precision are
    read off fine bins of the log odds. Standard errors are exact, too, but for the ROC area and the
    average precision of more than two classes: these are read off the sample.
    """

    totals: Totals
    scores: ScoreBins
    doubts: Judgement | None = None

    def doubted(self, n_doubts: float) -> Judgement:
        """Return all rows and so many doubts: what intervals are computed from."""
        doubts = doubts_of(n_doubts, self.class_share, self.totals.answer_squares)
        return replace(self, doubts=doubts)

    @property
    def n_rows(self) -> float:
        """How many rows were judged."""
        return self.totals.n_rows

    @cached_property
    def class_share(self) -> Floats:
        """The part of all rows that each class has."""
        return self.totals.confusion.sum(axis=1) / self.n_rows

    @cached_property
    def _sample(self) -> Judgement:
        rows = self.truth, self.predicted, self.n_classes, self.log_truth, self.squared_error
        each = np.full(self.truth.size, self.n_rows / self.truth.size)
        return Judgement(*rows, self.probabilities, each, size=each)

    @cached_property
    def _cells(self) -> Judgement:
        """The cells of the confusion matrix as rows, each of the weight of its rows."""
        true, predicted = np.nonzero(self.totals.confusion)
        weight = self.totals.confusion[true, predicted].astype(np.float64)
        nothing = np.zeros(true.size)
        return Judgement(
            true, predicted, self.n_classes, nothing, nothing, None, weight, size=weight
        )

    @cached_property
    def _halves(self) -> Judgement:
        """Two rows, of the weight of all, whose losses have the mean and the variance of all."""
        true, weight = np.zeros(2, np.intp), np.full(2, self.n_rows / 2)
        loss, score = self.totals.loss.halves, self.totals.squared_error.halves
        return Judgement(true, true, self.n_classes, -loss, score, None, weight, size=weight)

    def _found(self, groups: Judgement, name: str) -> Influence:
        """Return a metric of groups of equal rows, and of the doubts if they are to count."""
        rows = groups if self.doubts is None else groups.with_doubts(self.doubts)
        found: Influence = getattr(rows, name)()
        return Influence(found.value, None, rows.error(found))

    def accuracy(self) -> Influence:
        """Share of right rows."""
        return self._found(self._cells, "accuracy")

    def balanced_accuracy(self) -> Influence:
        """Mean recall of the classes that have rows."""
        return self._found(self._cells, "balanced_accuracy")

    def mcc(self) -> Influence:
        """Matthews' correlation coefficient; 0 where only one class is true or predicted."""
        return self._found(self._cells, "mcc")

    def kappa(self) -> Influence:
        """Cohen's kappa; NaN where chance alone agrees everywhere."""
        return self._found(self._cells, "kappa")

    def loss(self) -> Influence:
        """Mean negative log-probability of the true class."""
        return self._found(self._halves, "loss")

    def brier(self) -> Influence:
        """Mean squared distance of the probabilities from the truth, summed over classes."""
        return self._found(self._halves, "brier")

    def calibration_error(self) -> Influence:
        """Mean distance of confidence and accuracy, over ten bins of the confidence."""
        _, right, sure = self.totals.confidence
        return Influence(float(np.abs(right - sure).sum()) / self.n_rows)

    def brier_reliability(self) -> Influence:
        """Mean squared distance of probability and frequency, over ten bins of each class."""
        rows, gaps = self.totals.class_bins
        squares = np.divide(gaps**2, rows, out=np.zeros(rows.shape), where=rows > 0)
        return Influence(float(squares.sum()) / self.n_rows)

    def top_k_accuracy(self, k: int) -> Influence:
        """Share of rows whose class is among the k most probable."""
        if k >= self.n_classes:
            return Influence(1.0, None, 0.0)
        right = float(self.totals.ranks[:k].sum())
        weight, true = np.array([right, self.n_rows - right]), np.zeros(2, np.intp)
        rows = true, np.arange(2), self.n_classes, np.zeros(2), np.zeros(2), None
        return self._found(Judgement(*rows, weight, size=np.maximum(weight, 1.0)), "accuracy")

    def curve(self, k: int) -> ClassCurve:
        """Return the curve of one class against the rest, over bins of its log odds."""
        return self.scores.curve(k)

    def roc_auc_bound(self) -> float:
        """Return by how much the area under the ROC curve may differ from that of all rows."""
        there = [k for k in self.scores.classes if self.class_share[k] > 0]
        bounds = np.array([self.scores.roc_auc_bound(k) for k in there])
        share = self.class_share[there]
        return float(bounds @ share / share.sum())

    def of_class(self, k: int) -> Judgement:
        """Return what is known of one class, the second of two, against the rest, by bins."""
        positive, p, weight = self.scores.groups(k)
        true, nothing = positive.astype(np.intp), np.zeros(p.size)
        both = np.column_stack([1 - p, p])
        return Judgement(true, true, 2, nothing, nothing, both, weight, size=weight)

    def roc_auc(self) -> Influence:
        """Area under the ROC curve: of the second of two classes; of more, weighted by rows."""
        return self._of_ranks("roc_auc")

    def average_precision(self) -> Influence:
        """Average precision: of the second of two classes; of more, weighted by rows."""
        return self._of_ranks("average_precision")

    def _of_ranks(self, name: str) -> Influence:
        if self.n_classes == 2:
            return self._found(self.of_class(1), name)
        there = np.flatnonzero(self.class_share > 0).tolist()
        values = [getattr(self.curve(k), name) for k in there]
        found, sampled = self._found(self._sample, name), getattr(self._sample, name)()
        value = float(self.class_share[there] @ values) + found.value - sampled.value
        return found._replace(value=value)
