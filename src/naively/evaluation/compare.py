r"""Set classifiers side by side, on the same rows: two of them, or one and any number of others.

>>> from sklearn.datasets import load_iris
>>> from naively import GaussianNB
>>> X, y = load_iris(return_X_y=True)
>>> result = compare(GaussianNB(), X, y)
>>> result.names
('naively GaussianNB', 'sklearn GaussianNB')
>>> result.agreement, round(result.confidence[0].overall, 4)
(1.0, 0.9698)

One beside others is cross-validated on the same folds, and differences are tested on the same rows.

*Loss.* With :math:`d_f` the mean difference of the rows' losses in fold f of k, and :math:`s^2` the
variance of these,

.. math:: t = \frac{\bar d}{\sqrt{(1/k + n_\text{test} / n_\text{train}) \, s^2}}

has a t distribution with k - 1 degrees of freedom. Models of different folds learn from nearly
the same rows, so that :math:`d_f` are not independent; :math:`n_\text{test} / n_\text{train}` makes
up for it (Nadeau and Bengio).

*Accuracy.* Of the rows on which only one of the two is right, each is as often the one as the other
if they are equally good: McNemar's test, by the exact binomial distribution.

References
----------
C. Nadeau, Y. Bengio (2003), Inference for the generalization error. Q. McNemar (1947), Note on the
sampling error of the difference between correlated proportions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from math import nan, sqrt
from numbers import Integral
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from naively.data.kinds import NUMBER, TEXT, Kind
from naively.data.sparse import is_sparse
from naively.data.types import Floats
from naively.engines.memory.frames import is_frame
from naively.engines.memory.tables import read, schema_of
from naively.errors import NaivelyError
from naively.estimators.loading import ESTIMATORS
from naively.estimators.naive_bayes import NaiveBayes
from naively.evaluation.evaluate import Split, evaluate, split
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.folds import stratified_folds
from naively.evaluation.inputs import (
    FOLDS,
    Files,
    Labelled,
    Truth,
    clear_about_arguments,
    labelled,
    model_or_default,
)
from naively.evaluation.metrics import Confidence
from naively.tabular import Drawn, PrintedTable, Tabular, figure, frame, plain

_MIN_LOG_P = float(np.log(np.finfo(np.float64).eps))  # where scikit-learn's log_loss cuts them


@clear_about_arguments
def compare(
    model: Any = None,
    data: Any = None,
    y: Any = None,
    *,
    target: str | None = None,
    against: Any = None,
    folds: int = FOLDS,
    test_size: float = 0.3,
    random_state: Any = 42,
    repeats: int = 10,
) -> Comparison | PeerComparison:
    """Compare classifiers: ``compare((a, b), data, y)``, or ``compare(a, data, y)``.

    Two are fitted on the same rows, and evaluated on the same test rows. One alone is compared with
    scikit-learn's GaussianNB, which reads the columns of numbers, with means where cells are
    missing. With ``against``, one is compared with any number of others by cross-validation, and
    the differences are tested.

    Parameters
    ----------
    model : classifier, or pair of classifiers, default=NaiveBayes()
        Any with scikit-learn's interface. Copies are fitted. May be left out where data and labels
        are given by name: ``compare(data=X, y=y)``.
    data : array-like or data frame of shape (n_rows, n_columns), or files
        Rows; files are read into memory.
    y : array-like of shape (n_rows,)
        Their true labels.
    target : str
        The column of the labels, of a frame or of files, instead of y.
    against : list of str or classifiers, default=None
        Others to compare with: ``"logistic"``, ``"hgb"`` (gradient boosting), ``"forest"``,
        ``"tree"``, ``"knn"``, ``"gaussian"`` and ``"dummy"`` are scikit-learn's, with what makes
        them read tables of any columns with missing cells; or objects, which read data as it is.
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
    >>> result = compare((GaussianNB(), GaussianNB(var_smoothing=0.1)), X, y, repeats=1)
    >>> result.test_accuracy
    (0.9111111111111111, 0.8888888888888888)
    """
    given = list(model) if isinstance(model, tuple | list) else [model]
    if len(given) > 1 + (against is None) or not given:
        wanted = "one or two classifiers" if against is None else "with against, one classifier"
        raise NaivelyError(f"compare takes {wanted}; got {len(given)}.")
    models = [model_or_default(one, "compare") for one in given]
    rows = labelled(data, y, target, "compare")
    if isinstance(rows, Files):
        rows = _in_memory(rows, models[0])
    if against is not None:
        return _with_peers(models[0], against, rows, folds, random_state)
    if repeats < 1:
        raise NaivelyError(f"there must be at least one timed run; got repeats={repeats}.")
    a, b = models if len(models) == 2 else (models[0], _default_other(rows.X))
    parts = split(rows.X, Truth.of(*rows), test_size=test_size, random_state=random_state)
    y_train = parts.train.labels
    first, second = (parts.judge(clone(one).fit(parts.X_train, y_train)) for one in (a, b))
    fit, predict = _timed((a, b), parts, repeats)
    assert first.train is not None
    assert second.train is not None
    return Comparison(
        names=_names_of_two(a, b),
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


def _in_memory(files: Files, model: Any) -> Labelled:
    """Read the rows of files."""
    from naively.engines.files.csv import CsvDialect
    from naively.engines.files.labelled_rows import read
    from naively.engines.files.plan import ColumnPlan, Request
    from naively.engines.files.readers import FirstRows

    first = FirstRows.of(files.source, CsvDialect())
    own = model if type(model) in ESTIMATORS.values() else NaiveBayes()
    rows = read(first, ColumnPlan.of(first, Request.of(files.target, own.files_schema())))
    return Labelled(rows.X, rows.y)


# --- two ------------------------------------------------------------------------------------------


def _default_other(X: Any) -> Any:
    """Return what one classifier is compared with, that can read such a table."""
    if is_sparse(X):
        raise NaivelyError(
            "scikit-learn's GaussianNB takes no sparse matrix. Give two models to compare, such as "
            "MultinomialNB of both libraries."
        )
    kinds = _kinds_among(X)
    if kinds == {TEXT}:
        return NaiveBayes(calibration=None)  # the multinomial of the textbooks
    if kinds <= {NUMBER} and not (kinds and _lacks_cells(X)):
        return SklearnGaussianNB()
    from naively.evaluation.classifiers import GaussianNB  # takes long to import

    return GaussianNB()


def _kinds_among(X: Any) -> set[Kind]:
    """Return what the columns of a table hold; of one that cannot be read, nothing."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiu":
        return {NUMBER}
    try:
        return set(schema_of(X).held)
    except ValueError:
        if is_frame(X):  # a column of lists, say
            raise
        return set()  # the model says what is wrong with it


def _lacks_cells(X: Any) -> bool:
    """Whether cells of a table of numbers are missing, which scikit-learn's GaussianNB refuses."""
    return bool(np.isnan(read(X, schema_of(X)).array()).any())


def _timed(models: tuple[Any, Any], rows: Split, repeats: int) -> tuple[_Pair, _Pair]:
    """Time both in turns. They have run once before: whatever is imported late, is now."""
    y_train, seconds = rows.train.labels, np.empty((2, 2, repeats))
    for i in range(repeats):
        for at, model in enumerate(models):
            fresh = clone(model)
            seconds[0, at, i] = _seconds(partial(fresh.fit, rows.X_train, y_train))
            seconds[1, at, i] = _seconds(partial(fresh.predict, rows.X_test))
    fit, predict = ((Timing.of(a), Timing.of(b)) for a, b in seconds)
    return fit, predict


def _seconds(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _difference(a: Evaluation, b: Evaluation) -> Difference:
    if a.probabilities is None or b.probabilities is None:
        return Difference(float("nan"), float("nan"))
    gap = np.abs(a.probabilities - b.probabilities)
    return Difference(float(gap.max()), float(gap.mean()))


def _names_of_two(a: Any, b: Any) -> tuple[str, str]:
    """Name both by their class; if that is the same, by their package too, or by a and b."""
    names = type(a).__name__, type(b).__name__
    if names[0] != names[1]:
        return names
    homes = [_home(one) for one in (a, b)]
    if homes[0] == homes[1]:
        homes = ["a:", "b:"]
    return f"{homes[0]} {names[0]}", f"{homes[1]} {names[1]}"


def _home(model: Any) -> str:
    """Return the package of a model; what evaluations derive from another's is of that one."""
    modules = (kind.__module__ for kind in type(model).__mro__)
    of_model = next(one for one in modules if not one.startswith("naively.evaluation."))
    return of_model.partition(".")[0]


# --- one and others -------------------------------------------------------------------------------


def _with_peers(
    model: Any, against: Any, rows: Labelled, folds: int, random_state: Any
) -> PeerComparison:
    """Cross-validate a classifier and others on the same folds."""
    from naively.evaluation.classifiers import classifier  # takes long to import

    others = [against] if isinstance(against, str) or hasattr(against, "predict") else [*against]
    if not others:
        raise NaivelyError("against must name at least one classifier; got none.")
    models = [model, *(classifier(other, rows.X) for other in others)]
    truth = Truth.of(*rows)
    truth.need_two_classes()
    fold = _folds(truth, folds, random_state)
    evaluations, seconds = [], []
    for each in models:
        start = perf_counter()
        evaluations.append(evaluate(each, *rows, folds=PredefinedSplit(fold)))
        seconds.append(perf_counter() - start)
    first, *rest = [(_losses(e), e.rows.right) for e in evaluations]
    differences = [paired_difference((first[0], o[0]), (first[1], o[1]), fold) for o in rest]
    names = _names([model, *others])
    return PeerComparison(names, tuple(evaluations), tuple(seconds), tuple(differences))


def _folds(truth: Truth, folds: int, seed: Any) -> NDArray[np.int32]:
    """Return each row's fold; all have every class to learn from."""
    rows = np.bincount(truth.codes)
    least = int(rows.argmin())
    if not isinstance(folds, Integral) or not 2 <= folds <= rows[least]:
        raise NaivelyError(
            f"folds must be a number, at least 2 and at most the rows of the smallest class "
            f"({rows[least]} of {truth.classes.item(least)!r}); got {folds!r}."
        )
    return stratified_folds(truth.codes, int(folds), shuffle=seed is not None, random_state=seed)


def _losses(judged: Evaluation) -> Floats:
    return -np.maximum(judged.rows.log_truth, _MIN_LOG_P)


def _loss(judged: Evaluation) -> float:
    """Return the loss with probabilities cut as in scikit-learn's log_loss, so never infinite."""
    return float(_losses(judged).mean())


def _names(models: Sequence[Any]) -> tuple[str, ...]:
    """Name classifiers by what they were asked for, or by their class; equal ones are numbered."""
    names: list[str] = []
    for model in models:
        name = model if isinstance(model, str) else type(model).__name__
        if name in names:
            name = f"{name} {sum(other.partition(' ')[0] == name for other in names) + 1}"
        names.append(name)
    return tuple(names)


def _p(value: float) -> str:
    return "-" if np.isnan(value) else "< 0.0001" if value < 1e-4 else f"{value:.4f}"


# --- tests of differences -------------------------------------------------------------------------


class PairedDifference(NamedTuple):
    """The first classifier less the other: negative losses and positive accuracies favour it.

    Attributes
    ----------
    loss, loss_low, loss_high : float
        The difference of the losses, and its 95 % interval.
    loss_p : float
        How probable so large a difference of losses is if there is none.
    accuracy : float
        The difference of the accuracies.
    only_first, only_other : int
        Rows on which only one of the two is right.
    accuracy_p : float
        How probable so large a difference of these is if there is none.
    """

    loss: float
    loss_low: float
    loss_high: float
    loss_p: float
    accuracy: float
    only_first: int
    only_other: int
    accuracy_p: float


def corrected_t(by_fold: Floats, ratio: float) -> tuple[float, float, float]:
    """Return the p-value of folds' differences, and the ends of the 95 % interval of their mean.

    The ratio is that of test rows to training rows.
    """
    from scipy.stats import t  # takes long to import

    k, mean = by_fold.size, float(by_fold.mean())
    error = sqrt((1 / k + ratio) * by_fold.var(ddof=1))
    if not error > 0:
        return (1.0 if mean == 0 else 0.0), mean, mean
    half = float(t.ppf(0.975, k - 1)) * error
    return float(2 * t.sf(abs(mean) / error, k - 1)), mean - half, mean + half


def mcnemar(only_first: int, only_other: int) -> float:
    """Return the p-value of the rows on which one of two classifiers is right.

    >>> mcnemar(1, 5)
    0.21875
    """
    from scipy.stats import binomtest  # takes long to import

    n = only_first + only_other
    return float(binomtest(only_first, n, 0.5).pvalue) if n else 1.0


def paired_difference(
    losses: tuple[Floats, Floats],
    right: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    fold: NDArray[np.int32],
) -> PairedDifference:
    """Compare the losses and the right answers of two classifiers, row by row."""
    rows = np.bincount(fold)
    gap = losses[0] - losses[1]
    by_fold = np.bincount(fold, weights=gap) / rows
    ratio = float(np.mean(rows / (fold.size - rows)))
    p, low, high = corrected_t(by_fold, ratio)
    first, other = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    return PairedDifference(
        loss=float(by_fold.mean()),
        loss_low=low,
        loss_high=high,
        loss_p=p,
        accuracy=(first - other) / fold.size,
        only_first=first,
        only_other=other,
        accuracy_p=mcnemar(first, other),
    )


# --- what is returned -----------------------------------------------------------------------------


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
    def of(cls, seconds: Sequence[float] | Floats) -> Timing:
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


_Pair: TypeAlias = tuple[Timing, Timing]


class Difference(NamedTuple):
    """By how much probabilities differ, over all rows and classes."""

    max: float
    mean: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Drawn, Tabular):
    """Two classifiers a and b, fitted on the same rows and evaluated on the same test rows.

    It prints as tables (`print`, rich, a notebook); `to_dict` gives plain numbers, `to_frame` a
    frame, `plot` a picture. Pairs are in the order a, b.

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
    >>> found = compare((GaussianNB(), GaussianNB(variance="shared")), X, y, test_size=2, repeats=1)
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

    def to_frame(self) -> Any:
        """Return a frame of pandas with a line for each of the two."""
        columns = {
            "model": self.names,
            "test_accuracy": self.test_accuracy,
            "train_accuracy": self.train_accuracy,
            "confidence": [one.overall for one in self.confidence],
            "loss": [one.loss for one in self.evaluations],
            "fit_seconds": [one.median for one in self.fit_seconds],
            "predict_seconds": [one.median for one in self.predict_seconds],
        }
        return frame({name: list(values) for name, values in columns.items()}, None)

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


@dataclass(frozen=True, eq=False, repr=False)
class PeerComparison(Drawn, Tabular):
    """A classifier and others, each evaluated on the same folds.

    It prints as tables (`print`, rich, a notebook); `to_dict` gives plain numbers, `to_frame` a
    frame, `plot` a picture.

    Attributes
    ----------
    names : tuple of str
        What the classifiers are called, the first one first.
    evaluations : tuple of Evaluation
        All metrics of each.
    seconds : tuple of float
        What the cross-validation of each took.
    differences : tuple of PairedDifference
        The first one less each of the others, with tests of the difference.
    """

    names: tuple[str, ...]
    evaluations: tuple[Evaluation, ...]
    seconds: tuple[float, ...]
    differences: tuple[PairedDifference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it; what is NaN or infinite is None."""
        return {
            "names": list(self.names),
            "seconds": list(self.seconds),
            "differences": plain([difference._asdict() for difference in self.differences]),
            "evaluations": [judged.to_dict() for judged in self.evaluations],
        }

    def to_frame(self) -> Any:
        """Return a frame of pandas with a line for each; differences are the first less it."""
        columns: dict[str, list[Any]] = {
            "model": list(self.names),
            "accuracy": [e.accuracy for e in self.evaluations],
            "roc_auc": [e.roc_auc for e in self.evaluations],
            "loss": [_loss(e) for e in self.evaluations],
            "brier": [e.brier for e in self.evaluations],
            "seconds": list(self.seconds),
        }
        for name in ("loss", "loss_p", "accuracy", "accuracy_p"):
            of_each = [nan, *(getattr(difference, name) for difference in self.differences)]
            columns[f"{name}_difference" if "_p" not in name else name] = of_each
        return frame(columns, None)

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: the metrics of each, and the differences from the first."""
        return [self._metrics(), self._differences()]

    def __repr__(self) -> str:
        both = zip(self.names, self.evaluations, strict=True)
        losses = (f"{name} {_loss(e):.4f}" for name, e in both)
        return f"<PeerComparison of {self.evaluations[0].n_rows} rows, loss: {', '.join(losses)}>"

    def _metrics(self) -> PrintedTable:
        rows = tuple(
            (name, *map(figure, (e.accuracy, e.roc_auc, _loss(e), e.brier)), f"{seconds:.3g} s")
            for name, e, seconds in zip(self.names, self.evaluations, self.seconds, strict=True)
        )
        first = self.evaluations[0]
        title = f"{first.method}: {first.n_rows:,} rows, {first.classes.size} classes"
        return PrintedTable(title, ("", "accuracy", "ROC AUC", "loss", "Brier score", "time"), rows)

    def _differences(self) -> PrintedTable:
        rows = tuple(
            (
                name,
                figure(d.loss),
                f"{figure(d.loss_low)} to {figure(d.loss_high)}",
                _p(d.loss_p),
                figure(d.accuracy),
                f"{d.only_first} : {d.only_other}",
                _p(d.accuracy_p),
            )
            for name, d in zip(self.names[1:], self.differences, strict=True)
        )
        header = ("", "loss", "95 % interval", "p", "accuracy", "only one right", "p")
        return PrintedTable(f"{self.names[0]} less the other", header, rows)
