r"""Choose the parameters of a model, and its columns, by folds that are measured once.

*Rows in memory* are measured by folds, and each fold is scored by models of all others.

*A summary* S that was measured in one pass, of files or anywhere else, holds rows as they are. What
a row holds decides its fold, by its hash, so equal rows are in one fold. The models that judge fold
f are read off

.. math:: S - S_f = R + \sum_{g \ne f} S_g, \qquad R = S - \sum_g S_g

where :math:`S_f` is the summary of the sample's rows in fold f, and R of all rows that were not
sampled: every row is judged by a model that has not seen it, and models are of nearly all rows.
Where the sample holds all rows, R is empty, and these are ordinary folds.

*Many Gaussian models* whose means agree, as smoothing, priors and columns leave them, are scored
together:

.. math:: \text{joint}_{kc}(x) = o_{kc} - \sum_j B_{kjc} (x_j - \mu_{kj})^2

for class k and candidate c. The squares are computed once for all candidates, and the sums over
columns are products of matrices. All terms of a sum are positive, so nothing cancels. A missing
cell takes its :math:`A_{kjc}` out of :math:`o_{kc} = b_k + \sum_j A_{kjc}` again. A hundred
candidates take 0.6 of the time that they take one by one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from numbers import Integral
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from naively import _kernel
from naively.data import labels
from naively.data.rows import Rows, Targets
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.engines import files
from naively.engines.memory.frames import is_frame
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.loading import ESTIMATORS
from naively.estimators.measurement import Checked
from naively.evaluation.candidates import (
    Candidate,
    candidates_of,
    check_grid,
    reads_alike,
    schema_of_files,
)
from naively.evaluation.curves import ClassCurve
from naively.evaluation.folds import (
    FoldSummaries,
    folds_by,
    measure_folds,
    needs_every_class,
    splitter_of,
    without_sample,
)
from naively.evaluation.inputs import (
    FOLDS,
    Files,
    Truth,
    check_no_options,
    clear_about_arguments,
    file_options,
    labelled,
    model_or_default,
)
from naively.evaluation.judgement import Judgement, Metric
from naively.evaluation.metrics import scoring_of
from naively.evaluation.tuning import Tuning, best_of
from naively.families.forms import Quadratics
from naively.model.model import Model
from naively.statistics.measure import measure
from naively.statistics.sample import EVERYTHING
from naively.statistics.summary import Summary

JUDGES = 20_000  # rows of files that judge candidates


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
    fold.

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
    options = file_options(locals(), "progress")
    scoring_of(scoring)
    model = _checked(model, grid)
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
    return _searched(candidates, [measured] * len(candidates), scoring, method=method)


def _searched(
    candidates: list[Candidate],
    measured: list[Measured],
    scoring: str,
    **more: Any,
) -> Tuning:
    """Score candidates, and read the best model."""
    scores = np.empty((len(candidates), int(measured[0].fold.max()) + 1))
    for rows in dict.fromkeys(measured):
        alike = [i for i, own in enumerate(measured) if own is rows]
        scores[alike] = rows.scores([candidates[i] for i in alike], scoring)
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


# --- what is measured -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Measured:
    """Rows that several candidates read alike, and the summaries of their folds."""

    table: Rows
    rows: Targets  # their classes, and weights
    fold: NDArray[np.int32]  # that holds each row out
    summaries: FoldSummaries
    dtype: np.dtype[Any] | None = None  # of the answers of the models; None for float64

    @property
    def n_rows(self) -> int:
        """How many rows judge; equal ones that are held once count as often as they came."""
        weights = self.rows.weights
        return self.fold.size if weights is None else round(float(weights.sum()))

    def scores(self, candidates: Sequence[Candidate], scoring: str) -> Floats:
        """Return the scores by candidate and fold."""
        n_jobs = candidates[0].estimator.n_jobs
        metric, by_fold = scoring_of(scoring), []
        with threadpool_limits(1, "blas"):  # threads of threads are slow
            for held_out in self._folds():
                read = partial(_model, held_out.rest)
                models = map_blocks(read, [*candidates], n_jobs if self.summaries.size else 1)
                scores = held_out.scored_together(candidates, models, scoring, n_jobs)
                alone = np.flatnonzero(np.isnan(scores)).tolist()
                score = partial(held_out.score, metric, candidates, models)
                scores[alone] = map_blocks(score, alone, n_jobs)
                by_fold.append(scores)
        return np.column_stack(by_fold)

    def best_model(self, candidate: Candidate) -> SummaryClassifier:
        """Return the model of all rows: the sum of the folds."""
        estimator, total = clone(candidate.estimator), self.summaries.total()
        total = total.ordered(empty_classes=needs_every_class(estimator))
        if not estimator.sample_size():
            total = without_sample(total)
        model: SummaryClassifier = estimator.with_summary(candidate.read_of(total), self.dtype)
        return model

    def _folds(self) -> Iterator[HeldOut]:
        """Yield the rows of each fold, with the summary of all others."""
        classes, codes, weights = self.rows
        for f, rest in enumerate(self.summaries.rests()):
            if not rest.class_weight.all():
                k = int(np.argmin(rest.class_weight))
                raise NaivelyError(
                    f"every class must have rows in two folds, to learn from and to score; class "
                    f"{labels.quoted(classes[k : k + 1])} has all its rows in fold {f}. "
                    "Use fewer folds, or leave the class out."
                )
            # Words stay where the rows have them: those that a fold lacks contribute nothing.
            rest = rest.ordered(all_words=True)
            at = np.flatnonzero(self.fold == f)
            rows = self.table[at].known(rest.categories, rest.schema, rest.words)
            yield HeldOut(rows, codes[at], None if weights is None else weights[at], rest)


def _model(rest: Summary, candidate: Candidate) -> Model:
    try:
        return candidate.estimator.read_model(candidate.read_of(rest))
    except NaivelyError as error:
        raise NaivelyError(f"the candidate {candidate.params} has no model: {error}") from error


def measure_candidates(
    candidates: Sequence[Candidate],
    model: SummaryClassifier,
    checked: Checked,
    X: Any,
    truth: Truth,
    fold: NDArray[np.int32],
) -> list[Measured]:
    """Measure what all candidates read, in one pass; for each candidate, which rows it reads.

    The rows have been read as a model reads them. Another pass is made only for candidates that
    read columns as something else, such as numbers as categories.
    """
    tables: dict[Any, Checked] = {}
    groups: dict[Any, list[SummaryClassifier]] = {}
    group_of: dict[Any, Any] = {}
    for candidate in {one.measured: one for one in candidates}.values():
        estimator = candidate.estimator
        alike = reads_alike(estimator, model, checked.schema)
        own = checked if alike else estimator.check_rows(X)
        schema = own.schema
        key = schema.held, schema.options, schema.counted, schema.threshold
        tables.setdefault(key, own)
        groups.setdefault(key, []).append(estimator)
        group_of[candidate.measured] = key
    measured: dict[Any, Measured] = {}
    for key, models in groups.items():
        own = tables[key]
        summaries = measure_folds(models, own.table, own.schema, truth, fold)
        if summaries is None:
            raise NaivelyError(
                "the summaries of all folds must fit into memory, and do not. Use fewer folds, or "
                "fewer columns."
            )
        measured[key] = Measured(own.table, Targets(*truth), fold, summaries, own.dtype)
    return [measured[group_of[candidate.measured]] for candidate in candidates]


def measured_off(candidates: Sequence[Candidate], summary: Summary, n_folds: int) -> Measured:
    """Return the rows of a summary's sample, by folds; all candidates read the same."""
    if n_folds < 2:
        raise NaivelyError(f"there must be at least two folds; got folds={n_folds}.")
    sample, classes = summary.sample, summary.classes
    if sample is None or not len(sample):
        raise NaivelyError(
            "candidates are scored on the rows that a summary keeps, and this one keeps none. "
            f"Measure with Schema(..., sample={JUDGES})."
        )
    Truth(classes, sample.codes).need_two_classes()
    fold = (sample.hashes % np.uint64(n_folds)).astype(np.int32)
    if not np.bincount(fold, minlength=n_folds).all():
        raise NaivelyError(
            f"every fold must hold rows, and {len(sample):,} distinct rows do not fill {n_folds} "
            "folds. Use fewer folds."
        )
    by_fold = fold * np.int32(classes.size) + sample.codes
    targets = Targets(np.arange(n_folds * classes.size), by_fold, sample.weight)
    rows = summary.sampled_rows
    parts = measure(rows, targets, summary.schema, sample=replace(sample, codes=by_fold))
    axes = replace(summary.axes, classes=targets.classes)
    whole = Summary.of(summary.schema, axes) + parts  # with every class of every fold
    size = max(candidate.estimator.sample_size() for candidate in candidates)
    summaries = FoldSummaries(whole, classes, size * (2 if summary.schema.texts else 1))
    if sample.bound != EVERYTHING:
        summaries = replace(summaries, others=_others(summary, summaries))
    return Measured(rows, Targets(classes, sample.codes, sample.weight), fold, summaries)


def _others(summary: Summary, folds: FoldSummaries) -> Summary:
    """Return what was measured of the rows that are not in the sample."""
    everything = without_sample(summary)
    nothing = Summary.of(everything.schema, everything.axes)  # with every category
    return nothing + (everything - reduce(add, folds.parts()))


# --- rows of a fold -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class CandidateRows(Judgement):
    """Rows with their log-probabilities, which tell rows of two classes apart where p is 1."""

    log_p: Floats

    def curve(self, k: int) -> ClassCurve:
        """Return the curve of one class against the rest."""
        if self.n_classes != 2:
            return super().curve(k)
        odds = self.log_p[:, k] - self.log_p[:, 1 - k]
        return ClassCurve.of(self.truth == k, odds, self.weight)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows of one fold: cells, classes and weights; and what was measured of all others."""

    table: Rows
    codes: NDArray[np.int32]
    weights: Floats | None
    rest: Summary

    def score(
        self, metric: Metric, candidates: Sequence[Candidate], models: Sequence[Model], i: int
    ) -> float:
        """Return the score of a model, which reads some of the columns, or all of them."""
        columns, rows = candidates[i].columns, self.table
        if columns is not None:
            rows = rows.columns(self.rest.schema, set(columns))
        log_p = models[i].score(rows, "log_proba")
        judged = CandidateRows.room(self.codes, log_p.shape[1], weight=self.weights, log_p=log_p)
        np.exp(log_p, out=judged.probabilities)
        judged.settle(slice(None))
        judged.log_truth[:] = log_p[np.arange(len(log_p)), judged.truth]
        score = metric.of(judged).value
        if np.isnan(score) and np.unique(self.codes).size < models[i].classes.size:
            raise NaivelyError(
                f"{metric.title} needs rows of every class in every fold. Use fewer folds, or "
                "another scoring."
            )
        return score

    def scored_together(
        self,
        candidates: Sequence[Candidate],
        models: Sequence[Model],
        scoring: str,
        n_jobs: int | None,
    ) -> Floats:
        """Return the scores of Gaussians whose means agree; NaN for all other models."""
        scores, wanted = np.full(len(models), np.nan), _SCORED_TOGETHER.get(scoring)
        if wanted is None or self.table.is_sparse or len(models) < _MIN_TOGETHER:
            return scores
        place = {j: i for i, j in enumerate(self.rest.schema.numbers)}
        chosen = [place if one.columns is None else one.columns for one in candidates]
        places = [[place[j] for j in columns if j in place] for columns in chosen]
        together, at = QuadraticModels.of(models, places, len(place))
        if len(at) < _MIN_TOGETHER:
            return scores
        x = np.ascontiguousarray(self.table.array())
        total = together.scores(x, self.codes, self.weights, wanted, n_jobs)
        if total is not None:
            weight = self.codes.size if self.weights is None else self.weights.sum()
            scores[at] = total / weight
        return scores


# --- Gaussians whose means agree ------------------------------------------------------------------

_SCORED_TOGETHER = {
    "log_loss": "log_loss",
    "loss": "log_loss",
    "accuracy": "accuracy",
    "brier": "brier",
}
_MIN_TOGETHER = 3  # models that are worth to be scored together
_BLOCK_NUMBERS = 1 << 16  # of a block's distances: they stay in the cache
_MIN_ROWS = 32
_MAX_SQUARE = 1e290  # sums of squares below are finite


@dataclass(frozen=True, eq=False)
class QuadraticModels:
    """Models of one table: means by column and class; A and B by class, column and candidate."""

    mu: Floats
    A: Floats
    B: Floats
    constant: Floats  # by class and candidate

    @classmethod
    def of(
        cls, models: Sequence[Model], places: Sequence[Any], n_columns: int
    ) -> tuple[QuadraticModels, list[int]]:
        """Put together the models that can be; returns their places among those given.

        Each model describes some of the columns of numbers, by their places.
        """
        n_classes = models[0].classes.size
        mu, forms = np.full((n_columns, n_classes), np.nan), dict[int, Quadratics]()
        for i, (model, at) in enumerate(zip(models, places, strict=True)):
            form = _plain_form(model)
            if form is None:
                continue
            before = mu[at]
            known = (form.B > 0) & ~np.isnan(before)
            if (before[known] != form.mu[known]).any():
                continue
            mu[at] = np.where(form.B > 0, form.mu, before)
            forms[i] = form
        A, B = np.zeros((2, len(forms), n_columns, n_classes))
        for c, (i, form) in enumerate(forms.items()):
            A[c, places[i]], B[c, places[i]] = form.A, form.B
        left_out = ~(B > 0)  # terms of columns that are constant or unknown
        A[left_out] = B[left_out] = 0.0
        A, B = (np.ascontiguousarray(part.transpose(2, 1, 0)) for part in (A, B))
        constant = np.array([models[i].constant for i in forms]).T.reshape(n_classes, -1)
        return cls(np.nan_to_num(mu), A, B, np.ascontiguousarray(constant)), [*forms]

    def scores(
        self,
        x: Floats,
        codes: NDArray[np.int32],
        weights: Floats | None,
        score: str,
        n_jobs: int | None,
    ) -> Floats | None:
        """Return the sums of scores over rows, by candidate; None where numbers are too far."""
        n_classes, n_columns, n_candidates = self.B.shape
        largest = np.fmax(np.fmax.reduce(x, None, initial=0), -np.fmin.reduce(x, None, initial=0))
        farthest = largest + float(np.abs(self.mu).max(initial=0.0))
        steepest = max(1.0, n_columns * float(self.B.max(initial=0.0)))
        if not farthest < np.sqrt(_MAX_SQUARE / steepest):
            return None
        has_missing = bool(np.isnan(x).any())
        offset = np.ascontiguousarray(self.constant + self.A.sum(axis=1))
        step = max(_MIN_ROWS, _BLOCK_NUMBERS // (n_classes * n_candidates))

        def added(rows: slice) -> Floats:
            total, own = np.zeros(n_candidates), None if weights is None else weights[rows]
            distance = self._distances(x[rows], has_missing)
            _kernel.add_scores(distance, offset, codes[rows], own, score, total)
            return total

        blocks = [slice(start, start + step) for start in range(0, codes.size, step)]
        return np.asarray(np.sum(map_blocks(added, blocks, n_jobs), axis=0))

    def _distances(self, x: Floats, has_missing: bool) -> Floats:
        """Return distances by class, row and candidate."""
        square = x - self.mu.T[:, np.newaxis]
        square *= square
        if not has_missing:
            return np.matmul(square, self.B)
        missing = np.isnan(x)
        square[:, missing] = 0.0
        return np.matmul(square, self.B) + np.matmul(missing.astype(np.float64), self.A)


def _plain_form(model: Model) -> Quadratics | None:
    """Return the form of a model of Gaussians alone, if squares are only subtracted."""
    if len(model.terms) != 1 or model.interactions is not None:
        return None
    form = model.terms[0].form
    return form if isinstance(form, Quadratics) and form.is_plain and form.s is None else None
