"""The probability from which on a row is answered with a class.

>>> from sklearn.datasets import load_breast_cancer
>>> from naively import GaussianNB, evaluate
>>> judged = evaluate(GaussianNB(), *load_breast_cancer(return_X_y=True), folds=5)
>>> found = judged.thresholds("precision", at_least=0.97)
>>> found
<Thresholds of class 1: 0.997112, precision 0.9713, recall 0.9468>
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data import labels
from naively.errors import NaivelyError
from naively.evaluation.curves import ClassCurve
from naively.evaluation.judgement import Judgement
from naively.tabular import PrintedTable, Tabular, figure, frame, plain

Criterion = Literal["f1", "cost", "precision", "recall"]

_N_SHOWN = 10  # candidates in a printed table
_MAX_COST = 1e290  # a cost of which many can be added


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
    threshold: NDArray[np.float64]
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]
    cost: NDArray[np.float64]
    answered: NDArray[np.float64]

    @classmethod
    def read(
        cls,
        rows: Judgement,
        classes: NDArray[Any],
        by: Criterion,
        *,
        at_least: float | None = None,
        costs: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> Thresholds:
        """Try every probability that a row has; see `Evaluation.thresholds`."""
        _check(by, at_least, costs)
        if rows.probabilities is None:
            raise NaivelyError("thresholds need probabilities, and the classifier has none.")
        k = place_of(pos_label, classes)
        curve = rows.curve(k)
        if not curve.is_defined:
            raise NaivelyError(
                "thresholds need rows of the class and of others; of "
                f"{classes.item(k)!r} there are {curve.positives:g} of {rows.truth.size}."
            )
        columns = _columns(curve, costs)
        at = _best(by, columns, at_least)
        best = Threshold(*(float(column[at]) for column in columns.values()))
        said = by if at_least is None else f"{by} of at least {at_least:g}"
        return cls(classes.tolist()[k], said, best, **columns)

    def to_frame(self) -> Any:
        """Return all candidates as a frame of pandas."""
        return frame({name: getattr(self, name) for name in Threshold._fields}, None)

    def to_dict(self) -> dict[str, Any]:
        """Return the best threshold as JSON can hold it."""
        found = {"label": self.label, "by": self.by, **self.best._asdict()}
        return {name: plain(value) for name, value in found.items()}

    def tables(self) -> list[PrintedTable]:
        """Return the best threshold, and some others for comparison."""
        costly = not np.isnan(self.cost).all()
        header = ("", "threshold", "precision", "recall", "F1", "answered")
        shares = np.linspace(0, 1, _N_SHOWN)
        some = np.unique(np.searchsorted(self.answered, shares).clip(0, self.answered.size - 1))
        lines = [("best", self.best)]
        lines += [("", self._at(int(at))) for at in some]
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

    def _at(self, at: int) -> Threshold:
        return Threshold(*(float(getattr(self, name)[at]) for name in Threshold._fields))


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


def _columns(curve: ClassCurve, costs: ArrayLike | None) -> dict[str, NDArray[np.float64]]:
    def first(value: float, others: NDArray[np.float64]) -> NDArray[np.float64]:
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


def _cost(
    true: NDArray[np.float64],
    false: NDArray[np.float64],
    curve: ClassCurve,
    costs: ArrayLike | None,
) -> NDArray[np.float64]:
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


def _best(by: str, columns: dict[str, NDArray[np.float64]], at_least: float | None) -> int:
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
