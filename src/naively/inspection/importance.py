r"""Importance: how much worse a model predicts unseen rows without each of its columns.

The importance of a column is the increase of the log loss, in nats for each row, when its terms are
left out, as if its cells were missing. Rows are those of the summary's sample; each is scored by
the terms of all other rows, so that a column that differs in every row comes out at about 0.

Below 0, the model predicts better without the column: what it says is noise, or other columns say
it already and it is counted twice, which calibration with weights mends. Of two columns that say
the same, neither is important: the other one is still there.

Interactions count. A missing number is its mean in directions and in the quadratic term, and a pair
with a missing cell adds nothing; so the increase holds what a column says together with others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.rows import Rows
from naively.data.types import Floats
from naively.engines import engine_of
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.measurement import check_labels, check_weights
from naively.inspection.inputs import (
    Inspected,
    arranged,
    labelled_pair,
    read,
)
from naively.model.column_losses import ColumnLosses, column_losses, rows_to_judge
from naively.model.model import SAMPLE
from naively.statistics.summary import Summary
from naively.tabular import Drawn, PrintedTable, Tabular, figure, frame, plain

_MAX_LINES, _MAX_CLASSES = 20, 6  # that are printed


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Drawn, Tabular):
    """How important the columns of a model are; it prints as a table, the most important first.

    Attributes
    ----------
    columns : tuple of str
        Their names, in the order of the model.
    classes : ndarray of shape (n_classes,)
        Labels, sorted.
    increase : ndarray of shape (n_columns,)
        Increase of the log loss of unseen rows without a column.
    error : ndarray of shape (n_columns,)
        The standard error of the increase.
    by_class : ndarray of shape (n_classes, n_columns)
        The increase in the rows of each class; NaN where there are none.
    loss : float
        The log loss of the model.
    n_rows : int
        Number of rows that were scored.

    Examples
    --------
    >>> from naively import GaussianNB
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> importance = GaussianNB().fit(X, y).importance(X, y)
    >>> importance.increase.round(3).tolist()
    [0.693]
    """

    model: str
    columns: tuple[str, ...]
    classes: NDArray[Any]
    increase: Floats
    error: Floats
    by_class: Floats
    loss: float
    n_rows: int

    @classmethod
    def of(cls, estimator: SummaryClassifier, losses: ColumnLosses) -> Importance:
        """Name the columns and classes of losses."""
        schema = estimator.summary_.schema
        names = schema.names or [f"column {j}" for j in range(schema.n_columns)]
        return cls(
            model=type(estimator).__name__,
            columns=tuple(map(str, names)),
            classes=estimator.classes_,
            increase=losses.increase,
            error=losses.error,
            by_class=losses.by_class,
            loss=losses.loss,
            n_rows=losses.n_rows,
        )

    @property
    def order(self) -> NDArray[np.intp]:
        """The places of the columns, the most important first."""
        return np.argsort(-self.increase, kind="stable")

    def to_frame(self) -> Any:
        """Return a frame of pandas with a line for each column, the most important first.

        It has the columns ``column``, ``increase``, ``error``, and one for each class,
        such as ``increase of 'yes'``.
        """
        at = self.order
        columns = {
            "column": [self.columns[j] for j in at],
            "increase": self.increase[at],
            "error": self.error[at],
        }
        of_classes = zip(self.classes.tolist(), self.by_class, strict=True)
        return frame(
            columns | {f"increase of {label!r}": line[at] for label, line in of_classes}, None
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it, columns in the order of the model."""
        parts = {
            "model": self.model,
            "classes": self.classes,
            "rows": self.n_rows,
            "loss": self.loss,
            "columns": [
                {"column": name, "increase": more, "error": error, "by_class": each}
                for name, more, error, each in zip(
                    self.columns, self.increase, self.error, self.by_class.T, strict=True
                )
            ],
        }
        written: dict[str, Any] = plain(parts)
        return written

    def tables(self) -> list[PrintedTable]:
        """Return what is printed."""
        labels_shown = self.classes[:_MAX_CLASSES].tolist()
        few = labels_shown if len(labels_shown) > 1 else []
        header = ("", "increase", "error", *(f"in {label}" for label in few))
        rows = []
        for j in self.order[:_MAX_LINES].tolist():
            own = self.increase[j], self.error[j], *self.by_class[: len(few), j]
            rows.append((self.columns[j], *map(figure, own)))
        more = len(self.columns) - len(rows)
        if more:
            rows.append((f"... {more:,} more", *[""] * (len(header) - 1)))
        title = (
            f"{self.model}: increase of the log loss ({figure(self.loss)}) of {self.n_rows:,} "
            "unseen rows without each column"
        )
        return [PrintedTable(title, header, tuple(rows))]

    def __repr__(self) -> str:
        return f"<Importance of {len(self.columns)} columns for {self.model}: {self.n_rows} rows>"


def importance_of_sample(estimator: SummaryClassifier) -> Importance:
    """Return the importance of columns on the sample of an estimator's summary."""
    sample, model = estimator.summary_.sample, estimator.model_
    if sample is None or not len(sample):
        raise NaivelyError(
            f"the importance of columns is measured on rows, and the summary of this "
            f"{type(estimator).__name__} holds none. Give it unseen rows, "
            "model.importance(X_test, y_test), or measure with Schema(..., sample=4000) or, where "
            "there is such a parameter, with calibration."
        )
    return Importance.of(estimator, column_losses(model, sample))


def importance_of_rows(
    estimator: SummaryClassifier,
    data: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    target: str | None = None,
) -> Importance:
    """Return the importance of columns on rows that the model has not learned from."""
    model = estimator.model_
    weight: Floats | None
    if isinstance(data, Summary) or (y is None and engine_of(data).has_labels):
        rows, classes, codes, weight = _sampled(estimator, data, target)
    else:
        X, y = labelled_pair(data, y, target)
        if y is None:
            raise NaivelyError("rows need labels: importance(X, y), or importance(X, target='y').")
        rows = estimator.rows_for(X).table
        classes, codes = labels.encode(check_labels(estimator, y, len(rows)))
        weight = check_weights(codes.size, sample_weight)
    unknown = ~labels.contained(classes, model.classes)
    if unknown.any():
        raise NaivelyError(
            f"y must hold classes that the model has learned ({labels.quoted(model.classes)}); got "
            f"{labels.quoted(classes[unknown])} too. Leave those rows out."
        )
    codes = labels.positions(classes, model.classes).astype(np.int32)[codes]
    judged = rows_to_judge(model, rows, codes, weight)
    return Importance.of(estimator, column_losses(model, judged, seen=False))


def _sampled(
    estimator: SummaryClassifier, data: Any, target: str | None
) -> tuple[Rows, NDArray[Any], NDArray[np.int32], Floats]:
    """Return rows in the sample of a summary or of files, with their classes and weights."""
    own = estimator.summary_
    schema = replace(own.schema, sample=own.schema.sample or SAMPLE)
    like = Inspected(Summary(schema, own.axes, own.statistics), model=estimator)
    _, summary = arranged(own, read(data, target=target, like=like).summary)
    if summary.sample is None or not len(summary.sample):
        raise NaivelyError(
            "the importance of columns is measured on rows, and the summary holds none. Measure "
            f"with Schema(..., sample={SAMPLE})."
        )
    sample = summary.sample
    return summary.sampled_rows, summary.classes, sample.codes, sample.weight
