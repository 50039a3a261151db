"""Evaluate a classifier: on given rows, on a test split, by folds, or leaving one row out.

>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> evaluate(X, y, folds="leave-one-out")
<Evaluation of 150 rows, leave-one-out: accuracy 0.9533, loss 0.1330>
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut

from naively.errors import NaivelyError
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.loading import ESTIMATORS
from naively.evaluation.defaults import default_model
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.folds import by_refitting, by_summaries
from naively.evaluation.inputs import Truth, is_fitted, labels_or_target, sort_inputs
from naively.evaluation.leave_one_out import leave_one_out
from naively.evaluation.split import judge, split
from naively.evaluation.splitters import ONE_OUT, folds_by, splitter_of


def evaluate(
    model: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    folds: int | Literal["leave-one-out"] | Any = None,
    test_size: float | None = None,
    random_state: Any = None,
    **options: Any,
) -> Evaluation:
    """Return how good a classifier is.

    Call it as ``evaluate(model, X, y)``, or as ``evaluate(X, y)`` for a `GaussianNB` with its
    defaults, or a `NaiveBayes` where not all columns hold numbers; the result says which. Call it
    as ``evaluate(model, files, "target")`` for files of any size. The model itself is never
    changed: copies of it are fitted.

    Parameters
    ----------
    model : classifier, default=GaussianNB() or NaiveBayes()
        Any with scikit-learn's interface. If it is fitted, and neither ``folds`` nor
        ``test_size`` is given, it is evaluated as it is. If not, it is fitted on the same rows.
    X : array-like or data frame of shape (n_rows, n_columns), or files
        Rows; files as `naively.summarize` takes them.
    y : array-like of shape (n_rows,), or str
        Their true labels; the column of labels, of files.
    folds : int, splitter, iterable of (train, test), or "leave-one-out", default=None
        How many stratified folds, as scikit-learn's `StratifiedKFold` cuts them; or anything that
        its cross-validation takes. Each row is predicted by a model of the rows outside its fold.
        Of files, a number: the content of a row decides its fold.
    test_size : float or int, default=None
        The share or number of rows to hold out, stratified, as `train_test_split` does; the
        result has the figures of the other rows in ``train``.
    random_state : int, RandomState or None, default=None
        Seeds the split; folds are shuffled if it is given.
    **options
        For files: ``columns``, ``exclude``, ``skip_columns``, ``label_type``, ``types``,
        ``drop_missing_target``, ``progress``, ``n_jobs``, ``separator``, ``decimal``, ``missing``
        and ``encoding``, as for `naively.summarize`.

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
    >>> split = evaluate(X, y, test_size=0.3, random_state=42)
    >>> round(split.accuracy, 4), round(split.train.accuracy, 4)
    (0.9111, 0.981)
    """
    if folds is not None and test_size is not None:
        raise NaivelyError("rows are held out by folds or by test_size, not by both.")
    y = labels_or_target(y, options)
    given = [value for value in (model, X, y) if value is not None]
    if len(given) > 1 and isinstance(given[-1], str):
        from naively.evaluation.files.evaluate import evaluate_files

        *models, source, target = given
        how = {"folds": folds, "test_size": test_size, "random_state": random_state}
        return evaluate_files(models[0] if models else None, source, target, **how, **options)
    if options:
        raise NaivelyError(f"only files take the option {next(iter(options))!r}.")
    models, X, y = sort_inputs(model, X, y)
    truth = Truth.of(X, y)
    model = models[0] if models else default_model(X)
    return replace(
        _judged(model, X, truth, folds, test_size, random_state), model=type(model).__name__
    )


def _judged(
    model: Any, X: Any, truth: Truth, folds: Any, test_size: float | None, random_state: Any
) -> Evaluation:
    if folds is not None:
        return _by_folds(model, X, truth, folds, random_state)
    if test_size is not None:
        rows = split(X, truth, test_size=test_size, random_state=random_state)
        return rows.judge(clone(model).fit(rows.X_train, rows.train.labels))
    if is_fitted(model):
        return judge(model, X, truth, "the given rows")
    return judge(clone(model).fit(X, truth.labels), X, truth, "the training rows")


def _by_folds(model: Any, X: Any, truth: Truth, folds: Any, seed: Any) -> Evaluation:
    truth.need_two_classes()
    if isinstance(folds, LeaveOneOut) or (isinstance(folds, str) and folds == ONE_OUT):
        return _by_leaving_one_out(model, X, truth)
    splitter = splitter_of(folds, seed, truth)
    fold = folds_by(splitter, X, truth) if _adds(model) else None
    judged = None if fold is None else by_summaries(model, X, truth, fold)
    if judged is None:
        judged = by_refitting(model, X, truth, splitter.split(X, truth.codes))
    method = f"{judged.fold_accuracy.size} folds"
    found = judged.truth, judged.answers, method, judged.source
    return Evaluation.of(*found, fold_accuracy=judged.fold_accuracy)


def _by_leaving_one_out(model: Any, X: Any, truth: Truth) -> Evaluation:
    if type(model) is GaussianNB and model.calibration is None:
        return Evaluation.of(truth, leave_one_out(model, X, truth), ONE_OUT)
    fold = np.arange(truth.codes.size, dtype=np.int32)
    judged = by_summaries(model, X, truth, fold) if _adds(model) else None
    if judged is None:
        judged = by_refitting(model, X, truth, LeaveOneOut().split(truth.codes))
    return Evaluation.of(judged.truth, judged.answers, ONE_OUT)


def _adds(model: Any) -> bool:
    """Whether summaries of folds can be added: a subclass may learn from something else."""
    return type(model) in ESTIMATORS.values()
