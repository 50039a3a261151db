"""Set two classifiers side by side, on the same rows.

>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> result = compare(X, y)
>>> result.names
('naively GaussianNB', 'sklearn GaussianNB')
>>> result.agreement, round(result.confidence[0].overall, 4)
(1.0, 0.9698)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from naively.data.kinds import CATEGORY, NUMBER, TEXT
from naively.data.sparse import is_sparse
from naively.errors import NaivelyError
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.naive_bayes import NaiveBayes
from naively.evaluation.evaluate import Split, split
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.inputs import Truth, default_model, kinds_among, sort_inputs
from naively.evaluation.metrics import Confidence
from naively.evaluation.peers import PeerComparison, compare_with_peers
from naively.tabular import PrintedTable, Tabular, figure, plain


@dataclass(frozen=True)
class Timing:
    """Seconds of one call, over so many runs: median and quartiles, mean and standard deviation.

    The median is what is shown: a neighbour on the machine slows down a few runs by far, which
    moves the mean.

    >>> print(Timing.of([0.0123, 0.0121, 0.0127, 0.0122, 0.0913]))
    12.3 ms (12.2 to 12.7)
    """

    median: float
    quartiles: tuple[float, float]
    mean: float
    std: float  # NaN of one run
    runs: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Timing:
        """Return the timing of runs that took so many seconds."""
        lower, median, upper = map(float, np.quantile(seconds, (0.25, 0.5, 0.75)))
        std = float(np.std(seconds, ddof=1)) if len(seconds) > 1 else float("nan")
        return cls(median, (lower, upper), float(np.mean(seconds)), std, len(seconds))

    def __str__(self) -> str:
        units = {"s": 1.0, "ms": 1e3, "µs": 1e6}
        unit = next((unit for unit in units if self.median * units[unit] >= 1), "µs")
        median, lower, upper = (t * units[unit] for t in (self.median, *self.quartiles))
        digits = 2 if median < 10 else 1 if median < 100 else 0
        spread = f" ({lower:.{digits}f} to {upper:.{digits}f})" if self.runs > 1 else ""
        return f"{median:.{digits}f} {unit}{spread}"


class Difference(NamedTuple):
    """By how much probabilities differ, over all rows and classes."""

    max: float
    mean: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabular):
    """Two classifiers a and b, fitted on the same rows and evaluated on the same test rows.

    It prints as tables (`print`, rich, a notebook); `to_dict` gives plain numbers. Pairs are in
    the order a, b.

    Attributes
    ----------
    names : pair of str
        What the two are called.
    agreement : float
        Share of test rows for which both predict the same class.
    train_accuracy, test_accuracy : pair of float
        Share of rows whose predicted class is the true one.
    accuracy_difference : float
        That of a less that of b, on the test rows.
    confidence : pair of Confidence
        Mean of the largest probability of each test row.
    probability_difference : Difference
        Largest and mean difference of their probabilities on the test rows; NaN where one of
        them has none.
    fit_seconds, predict_seconds : pair of Timing
        Of fitting the training rows, and of predicting the test rows.
    fit_ratio, predict_ratio : float
        How many times as fast a is: the median time of b over that of a.
    evaluations : pair of Evaluation
        All other figures, of the test rows; those of the training rows are in their ``train``.

    Examples
    --------
    >>> from naively import GaussianNB, compare
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> found = compare(GaussianNB(), GaussianNB(variance="shared"), X, y, test_size=2, repeats=1)
    >>> found.agreement
    1.0
    """

    names: tuple[str, str]
    agreement: float
    train_accuracy: tuple[float, float]
    test_accuracy: tuple[float, float]
    accuracy_difference: float
    confidence: tuple[Confidence, Confidence]
    probability_difference: Difference
    fit_seconds: tuple[Timing, Timing]
    predict_seconds: tuple[Timing, Timing]
    fit_ratio: float
    predict_ratio: float
    evaluations: tuple[Evaluation, Evaluation]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it; what is NaN or infinite is None."""
        figures = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "evaluations"}
        figures["probability_difference"] = self.probability_difference._asdict()
        for name in ("confidence", "fit_seconds", "predict_seconds"):
            figures[name] = [asdict(value) for value in figures[name]]
        return {**plain(figures), "evaluations": [e.to_dict() for e in self.evaluations]}

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: figures of both, and how alike they are."""
        return [self._figures(), self._likeness()]

    def __repr__(self) -> str:
        return (
            f"<Comparison of {self.names[0]} and {self.names[1]}: agreement {self.agreement:.4f}, "
            f"fit {self.fit_ratio:.3g}x, predict {self.predict_ratio:.3g}x>"
        )

    def _figures(self) -> PrintedTable:
        a, b = self.confidence
        pairs = {
            "test accuracy": self.test_accuracy,
            "train accuracy": self.train_accuracy,
            "confidence": (a.overall, b.overall),
            "confidence where right": (a.correct, b.correct),
            "confidence where wrong": (a.wrong, b.wrong),
            "loss": (self.evaluations[0].loss, self.evaluations[1].loss),
        }
        rows: list[tuple[str, ...]] = [
            (name, figure(a), figure(b), figure(0.0 if a == b else a - b))
            for name, (a, b) in pairs.items()
        ]
        rows.append(("fit", *map(str, self.fit_seconds), f"{self.fit_ratio:.3g}x"))
        rows.append(("predict", *map(str, self.predict_seconds), f"{self.predict_ratio:.3g}x"))
        judged = self.evaluations[0]
        title = f"{judged.method}: {judged.n_rows:,} rows, {judged.classes.size} classes"
        return PrintedTable(title, ("", *self.names, "difference"), tuple(rows))

    def _likeness(self) -> PrintedTable:
        largest, mean = self.probability_difference
        rows = (
            ("same prediction", figure(self.agreement)),
            ("largest difference of a probability", f"{largest:.2g}"),
            ("mean difference of a probability", f"{mean:.2g}"),
        )
        return PrintedTable("how alike they are", ("", "value"), rows)


_Pair: TypeAlias = tuple[Timing, Timing]


@overload
def compare(
    a: Any = None,
    b: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    against: None = None,
    test_size: float = 0.3,
    random_state: Any = 42,
    repeats: int = 10,
) -> Comparison: ...
@overload
def compare(
    a: Any = None,
    b: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    against: Any,
    folds: int = 10,
    random_state: Any = 42,
) -> PeerComparison: ...
def compare(
    a: Any = None,
    b: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    against: Any = None,
    folds: int = 10,
    test_size: float = 0.3,
    random_state: Any = 42,
    repeats: int = 10,
) -> Comparison | PeerComparison:
    """Fit two classifiers on the same rows, evaluate them on the same test rows, and time both.

    Call it as ``compare(a, b, X, y)``, or as ``compare(X, y)`` for naively's GaussianNB against
    scikit-learn's; where not all columns hold numbers, for `NaiveBayes` against scikit-learn's
    GaussianNB on the columns of numbers, with means in the place of missing cells. The models
    themselves are never changed: copies of them are fitted.

    With ``against``, one model (or the default one) is set beside any number of others by
    cross-validation on the same folds, with tests of the differences.

    Parameters
    ----------
    a, b : classifiers
        Any two with scikit-learn's interface.
    X : array-like or data frame of shape (n_rows, n_columns)
        Rows, such as both can read.
    y : array-like of shape (n_rows,)
        Their true labels.
    against : list of str or classifiers, default=None
        Others to compare with: ``"logistic"``, ``"hgb"`` (gradient boosting), ``"forest"``,
        ``"tree"``, ``"knn"``, ``"gaussian"`` and ``"dummy"`` are scikit-learn's, with what makes
        them read tables of any columns with missing cells; or objects, which read X as it is.
    folds : int, default=10
        How many stratified folds, with ``against``.
    test_size : float or int, default=0.3
        The share or number of rows to hold out, stratified; without ``against``.
    random_state : int, RandomState or None, default=42
        Seeds the split.
    repeats : int, default=10
        Timed runs of each. The two take turns, so that noise hits both alike.

    Returns
    -------
    Comparison, or PeerComparison with ``against``

    Examples
    --------
    >>> from naively import GaussianNB
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = compare(GaussianNB(), GaussianNB(var_smoothing=0.1), X, y, repeats=1)
    >>> result.test_accuracy
    (0.9111111111111111, 0.8888888888888888)
    """
    models, X, y = sort_inputs(a, b, X, y)
    if against is not None:
        if len(models) > 1:
            raise NaivelyError(
                f"with against, compare takes one classifier or none; got {len(models)}."
            )
        model = models[0] if models else default_model(X)
        return compare_with_peers(model, against, X, y, folds=folds, random_state=random_state)
    if len(models) not in (0, 2):
        raise NaivelyError(f"compare takes two classifiers, or none; got {len(models)}.")
    if repeats < 1:
        raise NaivelyError(f"there must be at least one timed run; got repeats={repeats}.")
    a, b = models or _default_models(X)
    rows = split(X, Truth.of(X, y), test_size=test_size, random_state=random_state)
    y_train = rows.train.labels
    first, second = (rows.judge(clone(model).fit(rows.X_train, y_train)) for model in (a, b))
    fit, predict = _timed((a, b), rows, repeats)
    assert first.train is not None
    assert second.train is not None
    return Comparison(
        names=_names(a, b),
        agreement=float(np.mean(first.labels == second.labels)),
        train_accuracy=(first.train.accuracy, second.train.accuracy),
        test_accuracy=(first.accuracy, second.accuracy),
        accuracy_difference=first.accuracy - second.accuracy,
        confidence=(first.confidence, second.confidence),
        probability_difference=_difference(first, second),
        fit_seconds=fit,
        predict_seconds=predict,
        fit_ratio=fit[1].median / fit[0].median,
        predict_ratio=predict[1].median / predict[0].median,
        evaluations=(first, second),
    )


def _default_models(X: Any) -> tuple[Any, Any]:
    if is_sparse(X):
        raise NaivelyError(
            "scikit-learn's GaussianNB takes no sparse matrix. Give two models to compare, such as "
            "MultinomialNB of both libraries."
        )
    kinds = kinds_among(X)
    if kinds == {TEXT}:
        return NaiveBayes(), NaiveBayes(calibration=None)  # the multinomial of the textbooks
    ours = NaiveBayes() if kinds & {CATEGORY, TEXT} else GaussianNB()
    if kinds <= {NUMBER}:
        return ours, SklearnGaussianNB()
    from naively.evaluation.classifiers import (
        GaussianNB as NumbersGaussianNB,  # takes long to import
    )

    return ours, NumbersGaussianNB()


def _timed(models: tuple[Any, Any], rows: Split, repeats: int) -> tuple[_Pair, _Pair]:
    """Time both in turns. They have run once before: whatever is imported late, is now."""
    y_train = rows.train.labels
    fit: tuple[list[float], list[float]] = ([], [])
    predict: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for at, model in enumerate(models):
            fresh = clone(model)
            fit[at].append(_seconds(partial(fresh.fit, rows.X_train, y_train)))
            predict[at].append(_seconds(partial(fresh.predict, rows.X_test)))
    return (Timing.of(fit[0]), Timing.of(fit[1])), (Timing.of(predict[0]), Timing.of(predict[1]))


def _seconds(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _difference(a: Evaluation, b: Evaluation) -> Difference:
    if a.probabilities is None or b.probabilities is None:
        return Difference(float("nan"), float("nan"))
    gap = np.abs(a.probabilities - b.probabilities)
    return Difference(float(gap.max()), float(gap.mean()))


def _names(a: Any, b: Any) -> tuple[str, str]:
    """Name both by their class; if that is the same, by their package too, or by a and b."""
    names = type(a).__name__, type(b).__name__
    if names[0] != names[1]:
        return names
    homes = type(a).__module__.partition(".")[0], type(b).__module__.partition(".")[0]
    if homes[0] == homes[1]:
        homes = "a:", "b:"
    return f"{homes[0]} {names[0]}", f"{homes[1]} {names[1]}"
