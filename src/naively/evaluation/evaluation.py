"""How good a classifier is: every figure of it, in one value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.errors import NaivelyError
from naively.evaluation.curves import Criterion, Thresholds, place_of
from naively.evaluation.judgement import Judgement
from naively.evaluation.metrics import (
    METRICS,
    Averages,
    Confidence,
    Estimate,
    Reliability,
    estimates,
    metric_of,
    precision_recall_f1,
)
from naively.tabular import Drawn, PrintedTable, Tabular, figure, frame, plain

_MAX_SHOWN_CLASSES = 20  # classes in a table
_MAX_CONFUSION_CLASSES = 10  # classes in a confusion matrix that still fits a line
_FIGURES = (  # of `to_dict`
    *("classes", "n_rows", "method", "accuracy", "precision", "recall", "f1", "support", "macro"),
    *("weighted", "confusion", "loss", "brier", "calibration_error", "confidence", "reliability"),
    *("fold_accuracy", "model"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Drawn, Tabular):
    r"""How good a classifier is.

    It prints as tables (`print`, rich, a notebook); `to_dict` gives plain numbers, `to_frame` a
    frame, `plot` a picture. The formulas stand in `naively.evaluation.metrics`. Each metric of
    `naively.evaluation.METRICS` is an attribute.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Labels, sorted.
    n_rows : int
        Number of rows that were evaluated.
    method : str
        How, such as ``"10 folds"``, ``"leave-one-out"`` or ``"a test split of 30 %"``.
    accuracy : float
        Share of rows whose predicted class is the true one.
    precision, recall, f1 : ndarray of shape (n_classes,)
        Of each class; 0 where undefined, as in scikit-learn.
    support : ndarray of shape (n_classes,)
        Rows of each class.
    macro, weighted : Averages
        Of these over the classes, each counting the same or by its rows.
    confusion : ndarray of shape (n_classes, n_classes)
        Rows by true class (down) and predicted class (across).
    loss : float
        Mean negative log-likelihood of the true class; infinite where one had probability 0.
    brier : float
        Mean over rows of :math:`\sum_k (p_k - [k = y])^2`: twice scikit-learn's for two classes.
    calibration_error : float
        Expected calibration error, over ten bins of the confidence.
    confidence : Confidence
        Mean of the largest probability: over all rows, the right and the wrong ones.
    reliability : Reliability
        Confidence and accuracy in each bin.
    fold_accuracy : ndarray of shape (n_folds,), or None
        Accuracy of each fold.
    train : Evaluation, or None
        The same of the training rows, where there was a split.
    model : str
        The name of the classifier's class, where `evaluate` was given it.
    roc_auc, average_precision : float
        Area under the ROC curve, and average precision: of the second of two classes; of more, of
        each class against the rest, weighted by its rows.
    balanced_accuracy, mcc, kappa : float
        Mean recall of the classes, Matthews' correlation coefficient, Cohen's kappa.
    brier_reliability, brier_resolution, brier_uncertainty : float
        Parts of the Brier score, which is reliability - resolution + uncertainty.
    labels : ndarray of shape (n_rows,)
        What was predicted.
    rows : Judgement
        What was true and what was answered, row by row.
    probabilities : ndarray of shape (n_rows, n_classes), or None
        Of every row and class. Where the classifier has none, every figure that needs them is
        NaN.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from naively import GaussianNB, evaluate
    >>> print(evaluate(GaussianNB(), *load_wine(return_X_y=True), folds=5))
    GaussianNB, 5 folds: 178 rows, 3 classes
                                 value     95 % interval
    accuracy                    0.9663  0.9268 to 0.9861
    balanced accuracy           0.9690  0.9306 to 0.9870
    Matthews correlation        0.9490  0.8891 to 0.9790
    Cohen's kappa               0.9489  0.8888 to 0.9790
    top-2 accuracy              1.0000  0.9746 to 1.0000
    ROC AUC                     0.9956  0.9689 to 1.0000
    average precision           0.9926  0.9715 to 0.9990
    loss                        0.1845  0.0561 to 0.4486
    Brier score                 0.0615  0.0275 to 0.1301
    Brier: reliability          0.0117
    Brier: resolution           0.6085
    Brier: uncertainty          0.6583
    calibration error           0.0265
    confidence                  0.9882
    confidence where right      0.9906
    confidence where wrong      0.9178
    lowest accuracy of a fold   0.9429
    highest accuracy of a fold  1.0000
    <BLANKLINE>
    by class
              precision  recall      F1  rows
    0            0.9825  0.9492  0.9655    59
    1            0.9577  0.9577  0.9577    71
    2            0.9600  1.0000  0.9796    48
    macro        0.9667  0.9690  0.9676   178
    weighted     0.9665  0.9663  0.9662   178
    <BLANKLINE>
    confusion: true (down), predicted (across)
        0   1   2
    0  56   3   0
    1   1  68   2
    2   0   0  48
    """

    classes: NDArray[Any]
    method: str
    rows: Judgement
    fold_accuracy: NDArray[np.float64] | None = None
    train: Evaluation | None = None
    model: str = ""

    def __getattr__(self, name: str) -> float:
        if name not in METRICS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = self.rows.measure(METRICS[name]).value
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *METRICS]

    @property
    def n_rows(self) -> int:
        """Number of rows that were evaluated."""
        return int(self.confusion.sum())

    @property
    def truth(self) -> NDArray[Any]:
        """The true label of each row."""
        return self.classes.take(self.rows.truth)

    @property
    def labels(self) -> NDArray[Any]:
        """What was predicted."""
        return self.classes.take(self.rows.predicted)

    @property
    def probabilities(self) -> NDArray[np.float64] | None:
        """Of every row and class."""
        return self.rows.probabilities

    @property
    def confusion(self) -> NDArray[np.int64]:
        """Rows by true and predicted class."""
        return self.rows.confusion

    @property
    def support(self) -> NDArray[np.int64]:
        """Rows of each class."""
        return self.confusion.sum(axis=1)

    @cached_property
    def _by_class(self) -> tuple[NDArray[np.float64], ...]:
        return precision_recall_f1(self.confusion)

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of right ones among the rows answered with each class."""
        return self._by_class[0]

    @property
    def recall(self) -> NDArray[np.float64]:
        """Share of the rows of each class that are answered with it."""
        return self._by_class[1]

    @property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall of each class."""
        return self._by_class[2]

    @cached_property
    def macro(self) -> Averages:
        """The means of these over the classes, each counting the same."""
        return Averages(*map(float, precision_recall_f1(self.confusion, "macro")))

    @cached_property
    def weighted(self) -> Averages:
        """The means of these over the classes, each counting by its rows."""
        return Averages(*map(float, precision_recall_f1(self.confusion, "weighted")))

    @cached_property
    def confidence(self) -> Confidence:
        """Mean of the largest probability: over all rows, the right and the wrong ones."""
        return Confidence.of(self.rows)

    @cached_property
    def reliability(self) -> Reliability:
        """Confidence and accuracy in each bin."""
        return Reliability.of(self.rows.confidence_bins)

    def top_k_accuracy(self, k: int = 2) -> float:
        """Return the share of rows whose class is among the k most probable."""
        return self.rows.measure(metric_of(f"top_{k}_accuracy")).value

    def interval(self, metric: str, level: float = 0.95) -> Estimate:
        """Return a metric with its confidence interval.

        The ends are NaN for a metric without one: the calibration error and the parts of the Brier
        score.

        Parameters
        ----------
        metric : str
            One of `naively.evaluation.METRICS`, such as ``"roc_auc"``, or ``"top_5_accuracy"``.
        level : float, default=0.95
            How often such an interval holds the truth.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from naively import GaussianNB, evaluate
        >>> result = evaluate(GaussianNB(), *load_wine(return_X_y=True), folds=5)
        >>> found = result.interval("accuracy")
        >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
        (0.9663, 0.9268, 0.9861)
        """
        return estimates(self.rows, [metric], level)[metric]

    def thresholds(
        self,
        by: Criterion = "f1",
        *,
        at_least: float | None = None,
        costs: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> Thresholds:
        """Return from which probability on to answer with a class, by the rows that were judged.

        Parameters
        ----------
        by : {"f1", "cost", "precision", "recall"}, default="f1"
            The largest F1; the least cost; the largest recall with a precision of ``at_least``;
            the largest precision with a recall of ``at_least``.
        at_least : float, default=None
            The precision or recall that is wanted.
        costs : array-like of shape (2, 2), default=None
            What answers cost: others right, others taken for the class; the class missed, right.
        pos_label : label, default=None
            The class; the second of two by default, to be given where there are more.
        """
        if self.probabilities is None:
            raise NaivelyError("thresholds need probabilities, and the classifier has none.")
        k = place_of(pos_label, self.classes)
        label = self.classes.tolist()[k]
        return Thresholds.of(self.rows.curve(k), label, by, at_least=at_least, costs=costs)

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Every metric with its interval at the level 0.95; NaN where it has none."""
        few = self.classes.size < 3  # whose top two are all of them
        names = [name for name in METRICS if not (few and name == "top_2_accuracy")]
        return estimates(self.rows, names)

    def to_dict(self) -> dict[str, Any]:
        """Return all but labels and probabilities, as JSON holds it: NaN and infinity are None."""
        figures = {name: getattr(self, name) for name in _FIGURES}
        for name in ("macro", "weighted", "confidence", "reliability"):
            figures[name] = asdict(figures[name])
        figures["estimates"] = {name: e._asdict() for name, e in self.estimates.items()}
        return {**plain(figures), "train": None if self.train is None else self.train.to_dict()}

    def to_frame(self) -> Any:
        """Return a frame of pandas with a line for each metric: its value and 95 % interval."""
        lines = [(name, *estimate) for name, estimate in self.estimates.items()]
        names = ("metric", *Estimate._fields)
        columns = dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))
        return frame(columns, None)

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: the figures, the classes, and who was taken for whom."""
        tables = [self._figures(), self._class_table()]
        return tables + [self._confusion()] * (self.classes.size <= _MAX_CONFUSION_CLASSES)

    def __repr__(self) -> str:
        return (
            f"<Evaluation of {self.n_rows} rows, {self.method}: "
            f"accuracy {self.accuracy:.4f}, loss {self.loss:.4f}>"
        )

    def _figures(self) -> PrintedTable:
        both = [self] if self.train is None else [self, self.train]
        rows: list[tuple[str, ...]] = []
        for name, found in self.estimates.items():
            values = [figure(e.estimates[name].value) for e in both]
            ends = f"{figure(found.low)} to {figure(found.high)}"
            values.insert(1, "" if isnan(found.low) else ends)
            rows.append((METRICS[name].title, *values))
        more = {
            "confidence": [e.confidence.overall for e in both],
            "confidence where right": [e.confidence.correct for e in both],
            "confidence where wrong": [e.confidence.wrong for e in both],
        }
        if self.fold_accuracy is not None:
            more["lowest accuracy of a fold"] = [self.fold_accuracy.min()]
            more["highest accuracy of a fold"] = [self.fold_accuracy.max()]
        rows += [(name, figure(a), "", *map(figure, b)) for name, (a, *b) in more.items()]
        judged = f"{self.model}, {self.method}" if self.model else self.method
        title = f"{judged}: {self.n_rows:,} rows, {self.classes.size} classes"
        header = ("", "value" if self.train is None else "test", "95 % interval")
        return PrintedTable(title, header + ("train",) * (len(both) - 1), tuple(rows))

    def _class_table(self) -> PrintedTable:
        by_class = zip(self.classes.tolist(), self.precision, self.recall, self.f1, strict=True)
        rows = [
            (str(label), *map(figure, figures), f"{n:,}")
            for (label, *figures), n in zip(by_class, self.support, strict=True)
        ]
        hidden = len(rows) - _MAX_SHOWN_CLASSES
        if hidden > 0:
            rows[_MAX_SHOWN_CLASSES:] = [(f"... {hidden} more", "", "", "", "")]
        for name, a in (("macro", self.macro), ("weighted", self.weighted)):
            rows.append((name, *map(figure, (a.precision, a.recall, a.f1)), f"{self.n_rows:,}"))
        return PrintedTable("by class", ("", "precision", "recall", "F1", "rows"), tuple(rows))

    def _confusion(self) -> PrintedTable:
        names = tuple(map(str, self.classes.tolist()))
        rows = ((name, *map(str, row)) for name, row in zip(names, self.confusion, strict=True))
        return PrintedTable("confusion: true (down), predicted (across)", ("", *names), tuple(rows))
