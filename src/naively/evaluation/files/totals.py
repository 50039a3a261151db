r"""What is added up of judged rows, however many they are: every figure that is a sum is exact.

Ranks need more. The log odds of each class fall into bins of equal width w, :math:`w = 1/2048` for
up to 8 classes, and rows of one bin count as ties. The area under the ROC curve that is read off
the bins differs from that of all rows by at most

.. math:: \frac12 \sum_b \frac{P_b}{P} \frac{N_b}{N}

where :math:`P_b` and :math:`N_b` are the rows of the class and of the rest in bin b: half of the
pairs that share a bin.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.evaluation import metrics
from naively.evaluation.answers import Answers
from naively.evaluation.class_curve import ClassCurve
from naively.evaluation.influence import Judgement
from naively.evaluation.metrics import N_BINS, bins

Ints = NDArray[np.int64]

_SMALL, _LARGE = -745.0, 40.0  # log odds: of the least float64, and beyond those of 1 - 2**-53
_MIDDLE = -40.0  # below, bins are sixteen times as wide
_FINEST, _MANY = 2048, 8  # bins for a unit of log odds, of so many classes


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
        self._fine = max(8, _FINEST * _MANY // max(n_classes, _MANY))
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
    # (3, N_BINS), by the bin of the confidence: rows, right ones, and the sums of the confidence
    confidence: Floats
    sure: Floats  # (2,): the sums of the confidence of wrong and right rows
    # (2, n_classes, N_BINS), by the bin of each class's probability: rows, and the sum of p - truth
    class_bins: Floats
    answer_squares: Floats  # (2, 3): the sums of those of a `Judgement`

    @classmethod
    def of(cls, truth: NDArray[Any], fold: NDArray[Any], answers: Answers, n_folds: int) -> Totals:
        """Add up some rows."""
        p = answers.probabilities
        assert p is not None
        n, n_classes = p.shape
        right = answers.codes == truth
        own = p[np.arange(n), truth][:, np.newaxis]
        later = np.arange(n_classes) > truth[:, np.newaxis]
        rank = ((p > own) | ((p == own) & later)).sum(axis=1)
        at = bins(answers.confidence)
        sums = [np.bincount(at, w, N_BINS) for w in (None, right, answers.confidence)]
        columns = np.ascontiguousarray(p.T)
        of_class = [bins(column) for column in columns]
        gaps = [column - (truth == k) for k, column in enumerate(columns)]
        return cls(
            metrics.confusion_matrix(truth, answers.codes, n_classes),
            np.bincount(rank, minlength=n_classes),
            np.bincount(2 * fold + right, minlength=2 * n_folds).reshape(n_folds, 2),
            RowMoments.of(-answers.log_truth),
            RowMoments.of(answers.squared_error),
            np.array(sums, dtype=np.float64),
            np.bincount(right, answers.confidence, 2).astype(np.float64),
            np.array(
                [
                    [np.bincount(b, minlength=N_BINS) for b in of_class],
                    [np.bincount(b, g, N_BINS) for b, g in zip(of_class, gaps, strict=True)],
                ],
                dtype=np.float64,
            ),
            n * Judgement.of(truth, answers, n_classes).answer_squares,
        )

    def __add__(self, other: Totals) -> Totals:
        return Totals(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return int(self.confusion.sum())
