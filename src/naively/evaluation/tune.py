"""Choose the parameters of a model, and its columns, by folds that are measured once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.engines import files
from naively.engines.memory.native import is_frame
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.loading import ESTIMATORS
from naively.estimators.naive_bayes import NaiveBayes
from naively.evaluation.candidates import Candidate, candidates_of, check_grid
from naively.evaluation.folds import folds_by, splitter_of
from naively.evaluation.inputs import Truth, default_model, labels_or_target, sort_inputs
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


def tune(
    model: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None,
    folds: int | Any = 5,
    scoring: str = "log_loss",
    random_state: Any = None,
    rows: int = JUDGES,
    **options: Any,
) -> Tuning:
    """Return the best of many candidates, each scored on rows that it has not seen.

    Call it as ``tune(model, X, y)``, or as ``tune(X, y)`` for a `GaussianNB`, or a `NaiveBayes`
    where not all columns hold numbers; as ``tune(model, files, "target")`` for files; or as
    ``tune(model, summary)`` for a summary that keeps rows. The model itself is never changed, and
    what it has learned does not count.

    Parameters
    ----------
    model : estimator of naively's, default=GaussianNB() or NaiveBayes()
        Parameters that the grid does not name are taken from it.
    X : array-like or data frame of shape (n_rows, n_columns), files, or Summary
        Rows; files as `naively.summarize` takes them; or what was measured of rows elsewhere.
    y : array-like of shape (n_rows,), or str
        Their true labels; the column of labels, of files.
    grid : dict of lists, or list of such dicts, default=None
        Values by parameter, of which all combinations are tried, as in scikit-learn's
        `GridSearchCV`. The name ``"columns"`` stands for the columns to read: lists of names or
        places, or None for all. None tries what is often better (`naively.evaluation.candidates`).
    folds : int or splitter, default=5
        How many stratified folds, as scikit-learn's `StratifiedKFold` cuts them, or a splitter that
        holds each row out once. Of files and summaries, a number: what a row holds decides its
        fold.
    scoring : str, default="log_loss"
        ``"log_loss"``, ``"f1"`` (macro), ``"roc_auc"`` (macro, one against the rest), or any other
        of `naively.evaluation.METRICS`, such as ``"accuracy"`` or ``"brier"``.
    random_state : int, RandomState or None, default=None
        Folds are shuffled if it is given.
    rows : int, default=20000
        On how many rows of files candidates are scored: a random sample, kept in memory.
    **options
        For files: those of `naively.engines.files.scan`, such as ``exclude`` or ``weight``.

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
    >>> found = tune(GaussianNB(), X, y, grid={"variance": ["class", "shared"]})
    >>> found.best_params
    {'variance': 'shared'}
    >>> found.best_model.predict(X[:2])
    array([0, 0])
    """
    y = labels_or_target(y, options)
    given = [value for value in (model, X, y) if value is not None]
    scoring_of(scoring)
    if given and isinstance(given[-1], str | Summary):
        model = _checked(given[0] if hasattr(given[0], "predict") else NaiveBayes(), grid)
        summary = given[-1]
        if isinstance(summary, str):
            schema = schema_of_files(model, grid, rows)
            summary = files.summarize(given[-2], target=summary, schema=schema, **options)
        return tune_summary(model, summary, grid, folds, scoring)
    if options:
        raise NaivelyError(f"only files take the option {next(iter(options))!r}.")
    models, X, y = sort_inputs(model, X, y)
    truth = Truth.of(X, y)
    truth.need_two_classes()
    model = _checked(models[0] if models else default_model(X), grid)
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
