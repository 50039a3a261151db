r"""One class against the rest: rows in the order of their probabilities of the class.

At a threshold t, rows whose probability is at least t are answered with the class. With TP and FP
the weight of the right and of the wrong ones among them, P and N that of all rows of the class and
of the rest,

.. math::

    \text{recall} = \frac{TP}{P}, \qquad \text{precision} = \frac{TP}{TP + FP}, \qquad
    \text{false positive rate} = \frac{FP}{N}

and, over thresholds from high to low, the area under the ROC curve is that of trapezoids, and
:math:`\text{AP} = \sum_t (\text{recall}_t - \text{recall}_{t-1}) \, \text{precision}_t`.

>>> curve = ClassCurve.of(np.array([True, False, True]), np.array([0.9, 0.8, 0.4]))
>>> curve.threshold.tolist(), curve.true_positive.tolist(), curve.false_positive.tolist()
([0.9, 0.8, 0.4], [1.0, 1.0, 2.0], [0.0, 1.0, 1.0])
>>> curve.roc_auc, round(curve.average_precision, 4)
(0.5, 0.8333)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats


@dataclass(frozen=True, eq=False)
class ClassCurve:
    """The weight of right and wrong answers at each threshold, the highest first.

    Attributes
    ----------
    threshold : ndarray of shape (n_thresholds,)
        The distinct probabilities, in descending order.
    true_positive, false_positive : ndarray of shape (n_thresholds,)
        Weight of the rows of the class, and of the rest, at or above each threshold.
    positive : ndarray of shape (n_rows,)
        Whether each row is of the class.
    group : ndarray of shape (n_rows,)
        The place of each row's probability among the thresholds.
    """

    threshold: Floats
    true_positive: Floats
    false_positive: Floats
    positive: NDArray[np.bool_]
    group: NDArray[np.intp]

    @classmethod
    def of(
        cls, positive: NDArray[np.bool_], score: Floats, weight: Floats | None = None
    ) -> ClassCurve:
        """Sort rows by their scores; equal ones share a threshold."""
        order = np.argsort(score)[::-1]
        descending, right = score[order], positive[order].astype(np.float64)
        mass = np.ones(score.size) if weight is None else weight[order]
        last = np.append(np.diff(descending) != 0, True)[: score.size]
        group = np.empty(score.size, dtype=np.intp)
        group[order] = np.cumsum(last) - last
        true = np.cumsum(right * mass)[last]
        return cls(descending[last], true, np.cumsum((1 - right) * mass)[last], positive, group)

    @property
    def positives(self) -> float:
        """Weight of the rows of the class."""
        return float(self.true_positive[-1]) if self.threshold.size else 0.0

    @property
    def negatives(self) -> float:
        """Weight of the rest."""
        return float(self.false_positive[-1]) if self.threshold.size else 0.0

    @property
    def is_defined(self) -> bool:
        """Whether there are rows of the class and of the rest."""
        return self.positives > 0 and self.negatives > 0

    @cached_property
    def recall(self) -> Floats:
        """Share of the class's rows that are found; NaN where it has none."""
        return _divide(self.true_positive, self.positives)

    @cached_property
    def false_positive_rate(self) -> Floats:
        """Share of the other rows that are taken for the class; NaN where there are none."""
        return _divide(self.false_positive, self.negatives)

    @cached_property
    def precision(self) -> Floats:
        """Share of right ones among the rows answered with the class."""
        return _divide(self.true_positive, self.true_positive + self.false_positive)

    @cached_property
    def f1(self) -> Floats:
        """Harmonic mean of precision and recall."""
        found = self.true_positive + self.false_positive + self.positives
        return _divide(2 * self.true_positive, found)

    @property
    def roc_auc(self) -> float:
        """Area under the ROC curve; NaN unless there are rows of the class and of the rest."""
        if not self.is_defined:
            return float("nan")
        width = np.diff(self.false_positive_rate, prepend=0.0)
        height = self.recall + np.append(0.0, self.recall[:-1])
        return float(width @ height / 2)

    @property
    def average_precision(self) -> float:
        """Mean precision at the rows of the class; NaN where it has none."""
        if not self.positives > 0:
            return float("nan")
        return float(np.diff(self.recall, prepend=0.0) @ self.precision)

    def roc_auc_influence(self) -> Floats:
        r"""Return the derivative of the ROC area in the share of each row.

        It is :math:`(V_i - \text{AUC}) / \pi`, where V is the share of the other side that the
        row is on the right side of (ties count half), and :math:`\pi` the share of its own side.
        """
        above = _middle(self.false_positive) / self.negatives, _middle(self.true_positive)
        placed = np.where(
            self.positive, 1 - above[0][self.group], above[1][self.group] / self.positives
        )
        total = self.positives + self.negatives
        own = np.where(self.positive, self.positives, self.negatives) / total
        return (placed - self.roc_auc) / own

    def average_precision_influence(self) -> Floats:
        """Return the derivative of the average precision in the share of each row.

        A row counts by its own precision if it is of the class, and changes the precision at all
        thresholds at or below its own.
        """
        total = self.positives + self.negatives
        above = (self.true_positive + self.false_positive) / total
        mass = _divide(np.diff(self.true_positive, prepend=0.0) / total, above)
        below = np.cumsum(mass[::-1])[::-1]
        precise_below = np.cumsum((mass * self.precision)[::-1])[::-1]
        own = self.precision[self.group] - self.average_precision + below[self.group]
        change = np.where(self.positive, own, 0.0) - precise_below[self.group]
        return change * (total / self.positives)


def _middle(cumulative: Floats) -> Floats:
    """Return the weight above each threshold and half of that at it."""
    return cumulative - np.diff(cumulative, prepend=0.0) / 2


def _divide(a: Any, b: Any) -> Floats:
    a, b = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    return np.divide(a, b, out=np.full(a.shape, np.nan), where=b > 0)
