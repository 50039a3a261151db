r"""Metrics as functions of weighted rows, each with its derivative: what intervals are read off.

A metric m depends on the share :math:`u_i` that each row has of all, 1/n without weights. Its
influence function :math:`\psi_i` is its derivative as row i gets more weight at the expense of all,
and

.. math:: \widehat{\mathrm{se}}(m)^2 = \sum_i u_i^2 \psi_i^2

is the variance of m over samples of rows: the infinitesimal jackknife. For the area under the ROC
curve it is DeLong's variance. One sort or one sum, no resampling, no chance.

A sample of few rows may lack what is rare: a wrong answer, a row of a small class. Intervals are
therefore computed from the rows and a few more, the *doubts*: :math:`z^2` of them, which is four
for an interval of 95 %; the same number of each class, one half answered right and the other half
wrong. For accuracy that is Agresti and Coull's interval, for the balanced accuracy of two classes
Agresti and Caffo's. The losses and Brier scores of the doubts are root mean squares: over the right
rows, or the wrong ones, and over those that a model which is too sure by a factor of four expects:
:math:`p_{ik}^{1/4}` rows of each class k with the loss :math:`-\log p_{ik}`.

References
----------
L. A. Jaeckel (1972), The infinitesimal jackknife. E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson
(1988), Comparing the areas under two or more correlated ROC curves. A. Agresti, B. A. Coull (1998),
Approximate is better than "exact" for interval estimation of binomial proportions. A. Agresti,
B. Caffo (2000), Simple and effective confidence intervals for proportions and differences of
proportions result from adding two successes and two failures. A. H. Murphy (1973), A new vector
partition of the probability score. D. B. Stephenson, C. A. S. Coelho, I. T. Jolliffe (2008), Two
extra components in the Brier score decomposition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.evaluation.answers import Answers
from naively.evaluation.class_curve import ClassCurve
from naively.evaluation.metrics import N_BINS, bins


class Influence(NamedTuple):
    """A metric's value, and its derivative in the share of each row."""

    value: float
    of_rows: Floats | None = None  # None where the metric is not defined, or has no interval
    error: float = float("nan")  # the standard error, where it is not read off the rows


_UNDEFINED = Influence(float("nan"))


@dataclass(frozen=True, eq=False)
class Judgement:
    """What was true and what was answered, row by row; each method is a metric.

    Attributes
    ----------
    truth, predicted : ndarray of shape (n_rows,)
        Indices of the true and of the predicted class.
    n_classes : int
        How many classes there are; not all of them need have rows.
    log_truth, squared_error : ndarray of shape (n_rows,)
        Log-probability of the true class, and the Brier score of each row.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        Of every class.
    weight : ndarray of shape (n_rows,) or None
        Of the rows; None for one each.
    source : ndarray of shape (n_rows,) or None
        Which row of the table each is, where one may be judged several times.
    size : ndarray of shape (n_sources,) or None
        How many rows of the table each of those is; None for one each.
    """

    truth: NDArray[np.intp]
    predicted: NDArray[np.intp]
    n_classes: int
    log_truth: Floats
    squared_error: Floats
    probabilities: Floats | None
    weight: Floats | None = None
    source: NDArray[np.intp] | None = None
    size: Floats | None = None

    @classmethod
    def of(cls, truth: NDArray[Any], answers: Answers, n_classes: int, **more: Any) -> Self:
        """Return what was answered beside what was true."""
        return cls(
            truth=truth.astype(np.intp),
            predicted=answers.codes,
            n_classes=n_classes,
            log_truth=answers.log_truth,
            squared_error=answers.squared_error,
            probabilities=answers.probabilities,
            **more,
        )

    @cached_property
    def share(self) -> Floats:
        """The part of all weight that each row has."""
        weight = np.ones(self.truth.size) if self.weight is None else self.weight
        return weight / weight.sum()

    @cached_property
    def class_share(self) -> Floats:
        """The part of all weight that each class has."""
        return _sums(self.truth, self.share, self.n_classes)

    @cached_property
    def cells(self) -> Floats:
        """The share of each cell of the confusion matrix."""
        at = self.truth * self.n_classes + self.predicted
        return _sums(at, self.share, self.n_classes**2).reshape(-1, self.n_classes)

    @property
    def n_rows(self) -> float:
        """How many rows of equal weight say as much as these."""
        return 1 / self._squares(self.share)

    def error(self, found: Influence) -> float:
        """Return the standard error of a metric; NaN where it has none."""
        if found.of_rows is None:
            return found.error
        return float(np.sqrt(self._squares(self.share * found.of_rows)))

    def _squares(self, parts: Floats) -> float:
        squares = self.by_source(parts) ** 2
        return float(np.sum(squares if self.size is None else squares / self.size))

    def by_source(self, values: Floats) -> Floats:
        """Add up what a row of the table has each time that it is judged."""
        if self.source is None:
            return values
        return _sums(self.source, values, int(self.source.max()) + 1)

    def doubted(self, n_doubts: float) -> Judgement:
        """Return these rows and so many doubts: what intervals are computed from."""
        return self.with_doubts(doubts_of(n_doubts, self.class_share, self.answer_squares))

    @cached_property
    def answer_squares(self) -> Floats:
        """What right answers and wrong ones, below, cost: those that were seen and are expected.

        For each, their share, and the sums of the squares of their losses and Brier scores.
        """
        p, rows = self.probabilities, np.arange(self.truth.size)
        if p is None:
            return np.zeros((2, 3))
        wrong = self.truth != self.predicted
        with np.errstate(divide="ignore"):
            loss = np.where(p > 0, np.log(p), 0.0)
        score = 1 + np.einsum("ik,ik->i", p, p)[:, np.newaxis] - 2 * p
        sums = []
        for of_class, own in ((1.0, 1.0), (loss, self.log_truth), (score, self.squared_error)):
            expected, seen = np.sqrt(np.sqrt(p)) * np.square(of_class), np.square(own)
            of_right = expected[rows, self.predicted] + np.where(wrong, 0.0, seen)
            expected[rows, self.predicted] = 0.0
            of_wrong = expected.sum(axis=1) + np.where(wrong, seen, 0.0)
            sums.append([self.share @ of_right, self.share @ of_wrong])
        return np.array(sums).T

    def with_doubts(self, doubts: Judgement) -> Judgement:
        """Return these rows and the doubts, each row of its own source."""
        n, more = self.truth.size, doubts.truth.size
        source = np.arange(n) if self.source is None else self.source
        n_sources = int(source.max()) + 1
        p, its_p = self.probabilities, doubts.probabilities
        assert doubts.size is not None
        assert its_p is not None
        return Judgement(
            truth=np.concatenate([self.truth, doubts.truth]),
            predicted=np.concatenate([self.predicted, doubts.predicted]),
            n_classes=self.n_classes,
            log_truth=np.concatenate([self.log_truth, doubts.log_truth]),
            squared_error=np.concatenate([self.squared_error, doubts.squared_error]),
            probabilities=None if p is None else np.concatenate([p, its_p]),
            weight=np.concatenate([self.share * self.n_rows, doubts.size]),
            source=np.concatenate([source, n_sources + np.arange(more)]),
            size=np.append(np.ones(n_sources) if self.size is None else self.size, doubts.size),
        )

    def of_class(self, k: int) -> Judgement:
        """Return what is known of one class, the second of two, against the rest."""
        assert self.probabilities is not None
        p = self.probabilities[:, k]
        return replace(
            self,
            truth=(self.truth == k).astype(np.intp),
            predicted=(self.predicted == k).astype(np.intp),
            n_classes=2,
            probabilities=np.column_stack([1 - p, p]),
        )

    def mean(self, values: Floats) -> Influence:
        """Return the mean of a number that each row has by itself."""
        value = float(values.mean() if self.weight is None else self.share @ values)
        if np.isnan(value):
            return _UNDEFINED
        return Influence(value, values - value if np.isfinite(value) else None)

    # --- of labels ----------------------------------------------------------------------------

    def accuracy(self) -> Influence:
        """Share of right rows."""
        return self.mean((self.truth == self.predicted).astype(np.float64))

    def balanced_accuracy(self) -> Influence:
        """Mean recall of the classes that have rows."""
        there = self.class_share > 0
        recall = np.full(self.n_classes, np.nan)
        recall[there] = np.diag(self.cells)[there] / self.class_share[there]
        gain = (self.truth == self.predicted) - recall[self.truth]
        of_rows = gain / self.class_share[self.truth] / there.sum()
        return Influence(float(recall[there].mean()), of_rows)

    def mcc(self) -> Influence:
        """Matthews' correlation coefficient; 0 where only one class is true or predicted."""
        true, predicted, agreed, by_chance = self._marginals()
        spread = 1 - true @ true, 1 - predicted @ predicted
        if not min(spread) > 1e-12:
            return Influence(0.0, np.zeros(self.truth.size))
        scale = np.sqrt(spread[0] * spread[1])
        value = (agreed - by_chance) / scale
        y, p = self.truth, self.predicted
        change = (y == p) - agreed - (predicted[y] - by_chance) - (true[p] - by_chance)
        spreads = (true[y] - true @ true) / spread[0] + (
            predicted[p] - predicted @ predicted
        ) / spread[1]
        of_rows = change / scale + value * spreads
        return Influence(float(np.clip(value, -1.0, 1.0)), of_rows)

    def kappa(self) -> Influence:
        """Cohen's kappa; NaN where chance alone agrees everywhere."""
        true, predicted, agreed, by_chance = self._marginals()
        if not 1 - by_chance > 1e-12:
            return _UNDEFINED
        y, p = self.truth, self.predicted
        chance = predicted[y] + true[p] - 2 * by_chance
        change = (y == p) - agreed + chance * (agreed - 1) / (1 - by_chance)
        return Influence(float((agreed - by_chance) / (1 - by_chance)), change / (1 - by_chance))

    def _marginals(self) -> tuple[Floats, Floats, float, float]:
        predicted = self.cells.sum(axis=0)
        return self.class_share, predicted, self.cells.trace(), float(self.class_share @ predicted)

    # --- of probabilities ---------------------------------------------------------------------

    def loss(self) -> Influence:
        """Mean negative log-probability of the true class."""
        return self.mean(-self.log_truth)

    def brier(self) -> Influence:
        """Mean squared distance of the probabilities from the truth, summed over classes."""
        return self.mean(self.squared_error)

    def calibration_error(self) -> Influence:
        """Mean distance of confidence and accuracy, over ten bins of the confidence."""
        if self.probabilities is None:
            return _UNDEFINED
        confidence = self.probabilities.max(axis=1)
        gap = (self.truth == self.predicted) - confidence
        at = bins(confidence)
        return Influence(float(np.abs(_sums(at, self.share * gap, N_BINS)).sum()))

    def brier_reliability(self) -> Influence:
        r"""Mean squared distance of probability and frequency, over ten bins of each class.

        :math:`\sum_k \sum_b n_{kb}/n \, (\bar p_{kb} - \bar o_{kb})^2`: 0 is the best.
        """
        if self.probabilities is None:
            return _UNDEFINED
        value = 0.0
        for k, p in enumerate(self.probabilities.T):
            at = bins(p)
            mass = _sums(at, self.share, N_BINS)
            gap = _sums(at, self.share * (p - (self.truth == k)), N_BINS)
            value += float(np.sum(gap**2 / np.where(mass > 0, mass, 1.0)))
        return Influence(value)

    def brier_uncertainty(self) -> Influence:
        r"""Brier score of the classes' shares, :math:`1 - \sum_k \pi_k^2`."""
        if self.probabilities is None:
            return _UNDEFINED
        return Influence(1 - float(self.class_share @ self.class_share))

    def brier_resolution(self) -> Influence:
        """Reliability + uncertainty - Brier score: what probabilities tell beyond the shares.

        It holds the differences within bins, so that the three parts add up exactly.
        """
        reliability, uncertainty = self.brier_reliability(), self.brier_uncertainty()
        return Influence(reliability.value + uncertainty.value - self.brier().value)

    def top_k_accuracy(self, k: int) -> Influence:
        """Share of rows whose class is among the k most probable; ties as in scikit-learn."""
        if self.probabilities is None:
            return _UNDEFINED
        p = self.probabilities
        own = p[np.arange(len(p)), self.truth][:, np.newaxis]
        later = np.arange(self.n_classes) > self.truth[:, np.newaxis]
        rank = ((p > own) | ((p == own) & later)).sum(axis=1)
        return self.mean((rank < k).astype(np.float64))

    def roc_auc_bound(self) -> float:
        """Return a bound of the error of `roc_auc`: 0, since it is computed from all rows."""
        return 0.0

    def roc_auc(self) -> Influence:
        """Area under the ROC curve: of the second of two classes; of more, weighted by rows."""
        return self._ranked[0]

    def average_precision(self) -> Influence:
        """Average precision: of the second of two classes; of more, weighted by rows."""
        return self._ranked[1]

    def curve(self, k: int) -> ClassCurve:
        """Return the curve of one class against the rest."""
        assert self.probabilities is not None
        return ClassCurve.of(self.truth == k, self.probabilities[:, k], self.weight)

    @cached_property
    def _ranked(self) -> tuple[Influence, Influence]:
        """ROC area and average precision, of one sort for each class that has rows."""
        if self.probabilities is None or self.n_classes < 2:
            return _UNDEFINED, _UNDEFINED
        if self.n_classes == 2:
            return _of_curve(self.curve(1))
        there = np.flatnonzero(self.class_share > 0)
        found = [_of_curve(self.curve(int(k))) for k in there]
        return self._weighted([auc for auc, _ in found]), self._weighted([ap for _, ap in found])

    def _weighted(self, by_class: list[Influence]) -> Influence:
        """Return the mean over classes, weighted by their rows, whose shares vary as well."""
        if any(part.of_rows is None for part in by_class):
            return _UNDEFINED
        there = self.class_share > 0
        values = np.full(self.n_classes, np.nan)
        values[there] = [part.value for part in by_class]
        value = float(values[there] @ self.class_share[there])
        of_rows = values[self.truth] - value
        for share, part in zip(self.class_share[there], by_class, strict=True):
            of_rows += share * part.of_rows
        return Influence(value, of_rows)


def _sums(at: NDArray[np.intp], values: Floats, size: int) -> Floats:
    """Return the sum of the values at each place."""
    sums: Any = np.bincount(at, values, size)
    return sums


def _of_curve(curve: ClassCurve) -> tuple[Influence, Influence]:
    auc = ap = _UNDEFINED
    if curve.is_defined:
        auc = Influence(curve.roc_auc, curve.roc_auc_influence())
    if curve.positives > 0:
        ap = Influence(curve.average_precision, curve.average_precision_influence())
    return auc, ap


def doubts_of(n_doubts: float, class_share: Floats, squares: Floats) -> Judgement:
    """Return the doubts, of which each class has as many right as wrong, below.

    The wrong answer is the class of the most rows, and for that class the next one. Where there is
    no wrong answer, and none is expected, the loss of one is infinite.
    """
    n_classes = class_share.size
    largest = np.argsort(-class_share, kind="stable")
    every, wrong = np.arange(n_classes), np.full(n_classes, largest[0])
    wrong[largest[0]] = largest[min(1, n_classes - 1)]
    own = np.eye(n_classes)
    none = np.array([[0.0, 0.0], [np.inf, 4.0]])
    rows = squares[:, :1]
    means = np.divide(squares[:, 1:], rows, out=none, where=rows > 0)
    loss, score = np.repeat(np.sqrt(means), n_classes, axis=0).T
    return Judgement(
        truth=np.tile(every, 2),
        predicted=np.append(every, wrong),
        n_classes=n_classes,
        log_truth=-loss,
        squared_error=score,
        probabilities=np.concatenate([own, (1 - own) / max(n_classes - 1, 1)]),
        size=np.full(2 * n_classes, n_doubts / (2 * n_classes)),
    )
