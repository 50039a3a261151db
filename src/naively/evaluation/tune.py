"""Choose the parameters of a model, and its columns, by folds that are measured once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.engines import files
from naively.engines.memory.frames import is_frame
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.loading import ESTIMATORS
from naively.evaluation.candidates import Candidate, candidates_of, check_grid
from naively.evaluation.folds import folds_by, splitter_of
from naively.evaluation.inputs import (
    FOLDS,
    Files,
    Truth,
    check_no_options,
    clear_about_arguments,
    given_options,
    labelled,
    model_or_default,
)
from naively.evaluation.metrics import scoring_of
from naively.evaluation.search import (
    JUDGES,
    Measured,
    measure_candidates,
    measured_off,
    schema_of_files,
    score_candidates,
)
from naively.evaluation.tuning import Tuning, best_of
from naively.statistics.sample import EVERYTHING
from naively.statistics.summary import Summary


@clear_about_arguments
def tune(
    model: Any = None,
    data: Any = None,
    y: Any = None,
    *,
    target: str | None = None,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None,
    folds: int | Any = None,
    scoring: str = "log_loss",
    random_state: Any = None,
    rows: int = JUDGES,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    weight: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    skip_bad_files: bool | None = None,
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
) -> Tuning:
    """Return the best of many candidates, each scored on rows that it has not seen.

    Call it as ``tune(model, data, y)``; as ``tune(model, data, target="species")`` where the labels
    are a column of the data; or as ``tune(model, summary)`` for a summary that keeps rows. The
    model itself is never changed, and what it has learned does not count.

    Parameters
    ----------
    model : estimator of naively's, default=NaiveBayes()
        Parameters that the grid does not name are taken from it. May be left out where data is
        given by name: ``tune(data=X, y=y)``.
    data : array-like or data frame of shape (n_rows, n_columns), files, or Summary
        Rows; files as `naively.summarize` takes them; or what was measured of rows elsewhere.
    y : array-like of shape (n_rows,)
        Their true labels.
    target : str
        The column of the labels, of a frame or of files, instead of y.
    grid : dict of lists, or list of such dicts, default=None
        Values by parameter, of which all combinations are tried, as in scikit-learn's
        `GridSearchCV`. The name ``"columns"`` stands for the columns to read: lists of names or
        places, or None for all. None tries what is often better (`naively.evaluation.candidates`).
    folds : int or splitter, default=10
        How many stratified folds, as scikit-learn's `StratifiedKFold` cuts them, by default as many
        as the smallest class has rows where those are fewer; or a splitter that holds each row out
        once. Of files and summaries, a number: what a row holds decides its fold.
    scoring : str, default="log_loss"
        ``"log_loss"``, ``"f1"`` (macro), ``"roc_auc"`` (macro, one against the rest), or any other
        of `naively.evaluation.METRICS`, such as ``"accuracy"`` or ``"brier"``.
    random_state : int, RandomState or None, default=None
        Folds are shuffled if it is given.
    rows : int, default=20000
        On how many rows of files candidates are scored: a random sample, kept in memory.
    columns, exclude, weight, checkpoint, skip_bad_files, skip_columns, drop_missing_target
        How files are read, as for `naively.engines.files.scan`.
    label_type, types, separator, decimal, missing, encoding, progress, n_jobs
        The same.

    Returns
    -------
    Tuning
        All candidates with their scores, and ``best_model``, fitted on all rows.

    Notes
    -----
    Rows are read once: the summaries of all folds are measured in one pass, and each candidate's
    models are read off the sums of all folds but one. The best model is read off the sum of all.
    Candidates whose means agree are scored together, by products of matrices. Files are read once,
    and not again for the scores: rows of a sample are scored by models of all rows outside their
    fold (`naively.evaluation.search`).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from naively import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> found = tune(GaussianNB(), X, y, grid={"variance": ["class", "shared"]}, folds=5)
    >>> found.best_params
    {'variance': 'shared'}
    >>> found.best_model.predict(X[:2])
    array([0, 0])
    """
    scoring_of(scoring)
    model = _checked(model, grid)
    options = given_options(
        columns=columns,
        exclude=exclude,
        weight=weight,
        checkpoint=checkpoint,
        skip_bad_files=skip_bad_files,
        skip_columns=skip_columns,
        drop_missing_target=drop_missing_target,
        label_type=label_type,
        types=types,
        separator=separator,
        decimal=decimal,
        missing=missing,
        encoding=encoding,
        progress=progress,
        n_jobs=n_jobs,
    )
    if isinstance(data, Summary):
        return tune_summary(model, data, grid, folds, scoring)
    given = labelled(data, y, target, "tune")
    if isinstance(given, Files):
        schema = schema_of_files(model, grid, rows)
        summary = files.summarize(given.source, target=given.target, schema=schema, **options)
        return tune_summary(model, summary, grid, folds, scoring)
    check_no_options(options)
    X, truth = given.X, Truth.of(*given)
    truth.need_two_classes()
    fold = _folds(folds, random_state, X, truth)
    checked = model.check_rows(X)
    candidates = candidates_of(model, grid, checked.schema)
    measured = measure_candidates(candidates, model, checked, X, truth, fold)
    library = type(X).__module__.partition(".")[0] if is_frame(X) else None
    return _searched(candidates, measured, scoring, library=library)


def tune_summary(
    model: SummaryClassifier,
    summary: Summary,
    grid: Any,
    folds: Any,
    scoring: str,
) -> Tuning:
    """Return the best of many candidates, judged by the rows that a summary keeps."""
    folds = FOLDS if folds is None else folds
    if not isinstance(folds, Integral):
        raise NaivelyError(f"folds of files and of summaries must be a number; got {folds!r}.")
    candidates = candidates_of(model, grid, summary.schema)
    measured = measured_off(candidates, summary, int(folds))
    kept = summary.sample
    all_rows = kept is not None and kept.bound == EVERYTHING
    method = f"{folds} folds" + ("" if all_rows else f" of a sample of {summary.weight:,.0f} rows")
    return _searched(candidates, measured, scoring, method=method)


def _searched(
    candidates: list[Candidate],
    measured: list[Measured],
    scoring: str,
    **more: Any,
) -> Tuning:
    """Score candidates, and read the best model."""
    scores = score_candidates(candidates, measured, scoring)
    params = [candidate.params for candidate in candidates]
    at = best_of(scores.mean(axis=1), params, scoring_of(scoring))
    return Tuning(
        model=type(candidates[0].estimator).__name__,
        params=tuple(params),
        scores=scores,
        scoring=scoring,
        best_model=measured[at].best_model(candidates[at]),
        n_rows=measured[at].n_rows,
        **{"method": f"{scores.shape[1]} folds", **more},
    )


def _checked(model: Any, grid: Any) -> Any:
    """Return the model, or raise where it or the grid cannot be tuned."""
    model = model_or_default(model, "tune")
    if type(model) not in ESTIMATORS.values():
        raise NaivelyError(
            "tune reads candidates off summaries, so the model must be one of naively's "
            f"({', '.join(ESTIMATORS)}); got "
            f"{type(model).__module__}.{type(model).__qualname__}. scikit-learn's GridSearchCV "
            "tunes others."
        )
    if grid is not None:
        check_grid(model, grid)
    return model


def _folds(folds: Any, seed: Any, X: Any, truth: Truth) -> NDArray[np.int32]:
    """Return the fold of each row."""
    if isinstance(folds, str):
        raise NaivelyError(f"folds must be a number or a splitter; got {folds!r}.")
    fold = folds_by(splitter_of(folds, seed, truth), X, truth)
    if fold is None:
        raise NaivelyError("folds must hold each row out once, and learn from all others.")
    return fold
