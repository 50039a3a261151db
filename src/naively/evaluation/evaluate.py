"""Evaluate a classifier: by folds, on a test split, leaving one row out, or on given rows.

>>> from sklearn.datasets import load_iris
>>> from naively import GaussianNB
>>> X, y = load_iris(return_X_y=True)
>>> evaluate(GaussianNB(), X, y, folds="leave-one-out")
<Evaluation of 150 rows, leave-one-out: accuracy 0.9533, loss 0.1330>
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, train_test_split
from sklearn.utils import _safe_indexing

from naively.data import labels
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.loading import ESTIMATORS
from naively.estimators.state import snapshot
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.folds import (
    ONE_OUT,
    Splits,
    folds_by,
    judge_rows,
    measure_folds,
    splitter_of,
)
from naively.evaluation.inputs import (
    Files,
    Truth,
    check_no_options,
    clear_about_arguments,
    file_options,
    is_fitted,
    labelled,
    model_or_default,
)
from naively.evaluation.judgement import Judgement
from naively.evaluation.leave_one_out import leave_one_out


@clear_about_arguments
def evaluate(
    model: Any = None,
    data: Any = None,
    y: Any = None,
    *,
    target: str | None = None,
    folds: int | Literal["leave-one-out"] | Any = None,
    test_size: float | None = None,
    random_state: Any = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    skip_columns: bool | None = None,
    drop_missing_target: bool | None = None,
    label_type: str | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] | None = None,
    encoding: str | None = None,
    progress: Callable[..., None] | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Return how good a classifier is: ``evaluate(model, data, y)``.

    Labels that are a column of the data are named: ``evaluate(model, data, target="species")``. The
    model itself is never changed: copies of it are fitted.

    Parameters
    ----------
    model : classifier, default=NaiveBayes()
        Any with scikit-learn's interface. If it is fitted, and neither ``folds`` nor
        ``test_size`` is given, it is evaluated as it is. May be left out where data and labels
        are given by name: ``evaluate(data=X, y=y)``.
    data : array-like or data frame of shape (n_rows, n_columns), or files
        Rows; files as `naively.summarize` takes them.
    y : array-like of shape (n_rows,)
        Their true labels.
    target : str
        The column of the labels, of a frame or of files, instead of y.
    folds : int, splitter, iterable of (train, test), or "leave-one-out", default=10
        How many stratified folds, as scikit-learn's `StratifiedKFold` cuts them, by default as many
        as the smallest class has rows where those are fewer; or anything that its cross-validation
        takes. Each row is predicted by a model of the rows outside its fold. Of files, a number:
        the content of a row decides its fold.
    test_size : float or int, default=None
        The share or number of rows to hold out, stratified, as `train_test_split` does; the
        result has the figures of the other rows in ``train``. With 0, no row is held out: the model
        is evaluated on the rows that it is fitted on.
    random_state : int, RandomState or None, default=None
        Seeds the split; folds are shuffled if it is given.
    columns, exclude, skip_columns, drop_missing_target, label_type, types
        How files are read, as for `naively.engines.files.scan`.
    separator, decimal, missing, encoding, progress, n_jobs
        The same.

    Returns
    -------
    Evaluation
        Labels and probabilities are in the order of the rows; one that is evaluated twice is
        there twice. Rows cannot be weighted.

    Notes
    -----
    naively's own estimators are not fitted again and again: all folds are measured in one pass, and
    each is scored by the sum of the others (`naively.evaluation.folds`). The edges of histograms
    are fixed once, by the cells of all rows and without their labels, and shared by the folds.
    For a `GaussianNB` without calibration, single rows are removed in closed form
    (`naively.evaluation.leave_one_out`). A class that vanishes with the rows held out has
    probability 0; where a parameter such as the priors has an entry for it, its columns are
    described by the rows of all classes, as with `partial_fit` and all classes declared.

    Examples
    --------
    >>> from naively import GaussianNB
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = evaluate(GaussianNB(variance="shared"), X, y, folds=5, random_state=0)
    >>> result.accuracy, result.fold_accuracy.round(2)
    (0.9533333333333334, array([0.97, 0.97, 0.97, 0.97, 0.9 ]))
    >>> split = evaluate(GaussianNB(), X, y, test_size=0.3, random_state=42)
    >>> round(split.accuracy, 4), round(split.train.accuracy, 4)
    (0.9111, 0.981)
    """
    options = file_options(locals(), "progress")
    if folds is not None and test_size is not None:
        raise NaivelyError("rows are held out by folds or by test_size, not by both.")
    model = model_or_default(model, "evaluate")
    rows = labelled(data, y, target, "evaluate")
    if isinstance(rows, Files):
        from naively.evaluation.files import evaluate_files

        how: dict[str, Any] = {"folds": folds, "test_size": test_size, "random_state": random_state}
        return evaluate_files(model, rows.source, rows.target, **how, **options)
    check_no_options(options)
    truth = Truth.of(rows.X, rows.y)
    judged = _judged(model, rows.X, truth, folds, test_size, random_state)
    return replace(judged, model=type(model).__name__)


def _judged(
    model: Any, X: Any, truth: Truth, folds: Any, test_size: float | None, random_state: Any
) -> Evaluation:
    if folds is None and test_size is None and is_fitted(model):
        return judge(model, X, truth, "the given rows")
    if test_size is None:
        return _by_folds(model, X, truth, folds, random_state)
    if test_size == 0:
        return judge(clone(model).fit(X, truth.labels), X, truth, "the training rows")
    rows = split(X, truth, test_size=test_size, random_state=random_state)
    return rows.judge(clone(model).fit(rows.X_train, rows.train.labels))


def judge(fitted: Any, X: Any, truth: Truth, method: str, **more: Any) -> Evaluation:
    """Judge a fitted model, whose classes may be more or fewer than those of the rows."""
    fitted = snapshot(fitted)
    truth = truth.among(fitted.classes_)
    rows = ask(fitted, X, truth)
    return Evaluation(truth.classes, method, rows, model=type(fitted).__name__, **more)


# --- any classifier -------------------------------------------------------------------------------


def ask(model: Any, X: Any, truth: Truth) -> Judgement:
    """Ask any fitted classifier whose classes are among the truth's.

    One that may reject rows is made to answer: by the class that it would have given. Without
    probabilities, all that depends on them is NaN.
    """
    if getattr(model, "reject", None) is not None:
        model = copy(model).set_params(reject=None)
    predicted = np.asarray(model.predict(X)).astype(truth.classes.dtype, copy=False)
    codes = labels.positions(predicted, truth.classes)
    if not hasattr(model, "predict_proba"):
        unknown = np.full(codes.size, np.nan)
        true = truth.codes.astype(np.intp)
        return Judgement(true, codes, truth.classes.size, unknown, unknown, None)
    judged = Judgement.room(truth.codes, truth.classes.size)
    assert judged.probabilities is not None
    judged.probabilities[:] = _by_class(model, model.predict_proba(X), truth, 0.0)
    unlikely = judged.settle(slice(None))
    if unlikely.size and hasattr(model, "predict_log_proba"):
        with np.errstate(divide="ignore"):  # many a classifier takes the logarithm of 0
            log_p = _by_class(model, model.predict_log_proba(X), truth, -np.inf)
        judged.log_truth[unlikely] = log_p[unlikely, truth.codes[unlikely]]
    return replace(judged, predicted=codes)  # its own, which need not be the likeliest


def _by_class(model: Any, values: Any, truth: Truth, otherwise: float) -> Floats:
    """Give each of the truth's classes its column; what the model does not know is impossible."""
    known, columns = labels.encode(model.classes_)
    every = np.full((len(values), truth.classes.size), otherwise)
    every[:, labels.positions(known, truth.classes)[columns]] = values
    return every


# --- a test split ---------------------------------------------------------------------------------


class Split(NamedTuple):
    """Training and test rows, each with their truth, and how the test rows came about."""

    X_train: Any
    train: Truth
    X_test: Any
    test: Truth
    method: str

    def judge(self, fitted: Any) -> Evaluation:
        """Judge a model of the training rows on the test rows, and on its own."""
        seen = judge(fitted, self.X_train, self.train, "the training rows")
        return judge(fitted, self.X_test, self.test, self.method, train=seen)


def split(X: Any, truth: Truth, *, test_size: float, random_state: Any) -> Split:
    """Hold rows out, stratified, as scikit-learn's `train_test_split` does."""
    truth.need_two_classes()
    rows = np.bincount(truth.codes)
    if (least := int(rows.argmin())) in np.flatnonzero(rows < 2):
        raise NaivelyError(
            "every class must have rows to learn from and rows to hold out; class "
            f"{truth.classes.item(least)!r} has one row. Leave it out, or use evaluate with folds."
        )
    how = {"test_size": test_size, "random_state": random_state, "stratify": truth.codes}
    try:
        X_train, X_test, train, test = train_test_split(X, truth.codes, **how)
    except ValueError as error:
        raise NaivelyError(f"test_size must leave rows on both sides; {error}") from None
    size = f"{100 * test_size:g} %" if isinstance(test_size, float) else f"{test_size} rows"
    of = truth.classes
    return Split(X_train, Truth(of, train), X_test, Truth(of, test), f"a test split of {size}")


# --- folds ----------------------------------------------------------------------------------------


class Judged(NamedTuple):
    """The rows that were judged, and the accuracy of each fold."""

    rows: Judgement
    fold_accuracy: NDArray[np.float64]


def _by_folds(model: SummaryClassifier, X: Any, truth: Truth, folds: Any, seed: int) -> Evaluation:
    truth.need_two_classes()
    is_one_out = isinstance(folds, LeaveOneOut) or (isinstance(folds, str) and folds == ONE_OUT)
    if is_one_out and type(model) is GaussianNB and model.calibration is None:
        return Evaluation(truth.classes, ONE_OUT, leave_one_out(model, X, truth))
    splitter = LeaveOneOut() if is_one_out else splitter_of(folds, seed, truth)
    judged = None
    if type(model) in ESTIMATORS.values():  # a subclass may learn from something else
        each = np.arange(truth.codes.size, dtype=np.int32)
        fold = each if is_one_out else folds_by(splitter, X, truth)
        judged = None if fold is None else by_summaries(model, X, truth, fold)
    judged = judged or by_refitting(model, X, truth, splitter.split(X, truth.codes))
    if is_one_out:
        return Evaluation(truth.classes, ONE_OUT, judged.rows)
    method = f"{judged.fold_accuracy.size} folds"
    return Evaluation(truth.classes, method, judged.rows, judged.fold_accuracy)


def by_summaries(
    model: SummaryClassifier, X: Any, truth: Truth, fold: NDArray[np.int32]
) -> Judged | None:
    """Measure all folds at once, and judge each by the sum of the others.

    A class that no other fold has gets the probability 0, unless a parameter such as the priors
    has an entry for it. None where the summaries of so many folds would take too much memory.
    """
    model = clone(model)
    checked = model.check_rows(X)
    folds = measure_folds([model], checked.table, checked.schema, truth, fold)
    if folds is None:
        return None
    models, costs = folds.models(model), getattr(model, "costs", None)
    rows = judge_rows(checked.table, truth, fold, models, costs, n_jobs=model.n_jobs)
    count = np.bincount(fold)
    wrong = np.bincount(fold[~rows.right], minlength=count.size)
    return Judged(rows, (count - wrong) / count)


def by_refitting(model: SummaryClassifier, X: Any, truth: Truth, splits: Splits) -> Judged:
    """Fit any classifier anew for each split; the rows come in their order."""
    y, rows, parts = truth.labels, [], []
    for train, test in splits:
        fitted = clone(model).fit(_safe_indexing(X, train), y[train])
        held_out = Truth(truth.classes, truth.codes[test])
        rows.append(test)
        parts.append(ask(fitted, _safe_indexing(X, test), held_out))
    if not rows:
        raise NaivelyError("folds must hold rows out at least once; got no split.")
    held_out_rows = np.concatenate(rows)
    order = np.argsort(held_out_rows, kind="stable")
    source = held_out_rows[order]
    twice = source if (np.diff(source) == 0).any() else None
    judged = replace(Judgement.joined(parts)[order], source=twice)
    return Judged(judged, np.array([part.right.mean() for part in parts]))
