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

`Thresholds` chooses one of them.

>>> from sklearn.datasets import load_breast_cancer
>>> from naively import GaussianNB, evaluate
>>> judged = evaluate(GaussianNB(), *load_breast_cancer(return_X_y=True), folds=5)
>>> judged.thresholds("precision", at_least=0.97)
<Thresholds of class 1: 0.997112, precision 0.9713, recall 0.9468>
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data import labels
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.tabular import PrintedTable, Tabular, figure, frame, plain

Criterion = Literal["f1", "cost", "precision", "recall"]

_N_SHOWN = 10  # candidates in a printed table
_MAX_COST = 1e290  # a cost of which many can be added


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


# --- thresholds -----------------------------------------------------------------------------------


class Threshold(NamedTuple):
    """What comes of answering with a class where its probability is at least so large.

    The cost is the mean of all rows; NaN where no costs are given. Precision is NaN where no row is
    answered with the class.
    """

    threshold: float
    precision: float
    recall: float
    f1: float
    cost: float
    answered: float


@dataclass(frozen=True, eq=False, repr=False)
class Thresholds(Tabular):
    """All thresholds of a class, and the best by one criterion.

    Attributes
    ----------
    label : label
        The class.
    by : str
        The criterion.
    best : Threshold
        The best one; of equal ones, the highest.
    threshold, precision, recall, f1, cost, answered : ndarray of shape (n_thresholds,)
        All candidates, from the highest. The first, infinity, never answers with the class;
        ``answered`` is the share of rows that are answered with it.
    """

    label: Any
    by: str
    best: Threshold
    threshold: Floats
    precision: Floats
    recall: Floats
    f1: Floats
    cost: Floats
    answered: Floats

    @classmethod
    def of(
        cls,
        curve: ClassCurve,
        label: Any,
        by: Criterion,
        *,
        at_least: float | None = None,
        costs: ArrayLike | None = None,
    ) -> Thresholds:
        """Try every probability that a row has; see `Evaluation.thresholds`."""
        _check(by, at_least, costs)
        if not curve.is_defined:
            raise NaivelyError(
                "thresholds need rows of the class and of others; of "
                f"{label!r} there are {curve.positives:,.10g} of "
                f"{curve.positives + curve.negatives:,.10g}."
            )
        columns = _columns(curve, costs)
        at = _best(by, columns, at_least)
        best = Threshold(*(float(column[at]) for column in columns.values()))
        criterion = by if at_least is None else f"{by} of at least {at_least:g}"
        return cls(label, criterion, best, **columns)

    def to_frame(self) -> Any:
        """Return all candidates as a frame of pandas."""
        return frame({name: getattr(self, name) for name in Threshold._fields}, None)

    def to_dict(self) -> dict[str, Any]:
        """Return the best threshold as JSON can hold it."""
        return dict(plain({"label": self.label, "by": self.by, **self.best._asdict()}))

    def tables(self) -> list[PrintedTable]:
        """Return the best threshold, and some others for comparison."""
        costly = not np.isnan(self.cost).all()
        header = ("", "threshold", "precision", "recall", "F1", "answered")
        shares = np.linspace(0, 1, _N_SHOWN)
        shown = np.unique(np.searchsorted(self.answered, shares).clip(0, self.answered.size - 1))
        columns = (getattr(self, name)[shown].tolist() for name in Threshold._fields)
        lines = [("best", self.best), *(("", Threshold(*t)) for t in zip(*columns, strict=True))]
        rows = tuple(
            (name, *map(figure, (t.threshold, t.precision, t.recall, t.f1, t.answered)))
            + (figure(t.cost),) * costly
            for name, t in lines
        )
        title = f"thresholds of class {self.label!r} by {self.by}, of {self.threshold.size:,}"
        return [PrintedTable(title, header + ("cost",) * costly, rows)]

    def __repr__(self) -> str:
        best = self.best
        return (
            f"<Thresholds of class {self.label!r}: {best.threshold:.6g}, "
            f"precision {best.precision:.4f}, recall {best.recall:.4f}>"
        )


def place_of(pos_label: Any, classes: NDArray[Any]) -> int:
    """Return the place of a class; of two classes it is the second by default."""
    if pos_label is None and classes.size == 2:
        return 1
    known = labels.listed(classes)
    if pos_label is None or pos_label not in known:
        got = "none" if pos_label is None else repr(pos_label)
        raise NaivelyError(
            f"pos_label must be one of the classes ({labels.quoted(classes)}); got {got}."
        )
    return known.index(pos_label)


def _check(by: str, at_least: float | None, costs: ArrayLike | None) -> None:
    if by not in get_args(Criterion):
        known = ", ".join(map(repr, get_args(Criterion)))
        raise NaivelyError(f"thresholds are chosen by one of {known}; got {by!r}.")
    if (by in ("precision", "recall")) != (at_least is not None):
        raise NaivelyError(
            f'at_least goes with "precision" or "recall", such as ("precision", at_least=0.9); '
            f"got {by!r} and at_least={at_least}."
        )
    if at_least is not None and not (isinstance(at_least, Real) and 0 <= at_least <= 1):
        raise NaivelyError(f"at_least must lie between 0 and 1; got {at_least!r}.")
    if by == "cost" and costs is None:
        raise NaivelyError('by="cost" needs costs, such as [[0, 1], [5, 0]]; got none.')


def _columns(curve: ClassCurve, costs: ArrayLike | None) -> dict[str, Floats]:
    def first(value: float, others: Floats) -> Floats:
        return np.append(value, others)

    true, false = first(0.0, curve.true_positive), first(0.0, curve.false_positive)
    total = curve.positives + curve.negatives
    return {
        "threshold": first(np.inf, curve.threshold),
        "precision": first(np.nan, curve.precision),
        "recall": first(0.0, curve.recall),
        "f1": first(0.0, curve.f1),
        "cost": _cost(true, false, curve, costs) / total,
        "answered": (true + false) / total,
    }


def _cost(true: Floats, false: Floats, curve: ClassCurve, costs: ArrayLike | None) -> Floats:
    """Return what all answers cost together at each threshold."""
    if costs is None:
        return np.full(true.size, np.nan)
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (2, 2) or not (np.abs(matrix) < _MAX_COST).all():
        raise NaivelyError(
            "costs must be finite numbers, [[others right, others taken for the class], [class "
            f"missed, class right]]; got {costs!r}."
        )
    others = (curve.negatives - false) * matrix[0, 0] + false * matrix[0, 1]
    return others + (curve.positives - true) * matrix[1, 0] + true * matrix[1, 1]


def _best(by: str, columns: dict[str, Floats], at_least: float | None) -> int:
    if by == "f1":
        return int(np.argmax(columns["f1"]))
    if by == "cost":
        return int(np.argmin(columns["cost"]))
    assert at_least is not None
    reached = np.nan_to_num(columns[by], nan=-1.0)
    if not (reached >= at_least).any():
        raise NaivelyError(
            f"no threshold reaches a {by} of {at_least:g}; the highest is {reached.max():.4f}, at "
            f"a threshold of {columns['threshold'][reached.argmax()]:.6g}."
        )
    other = np.nan_to_num(columns["recall" if by == "precision" else "precision"], nan=-1.0)
    return int(np.argmax(np.where(reached >= at_least, other, -2.0)))
