r"""One pass over the rows, and then all candidates: models are read off sums of folds.

*Rows in memory* are measured by folds, and each fold is scored by models of all others.

*A summary* S that was measured in one pass, of files or anywhere else, holds rows as they are. What
a row holds decides its fold, by its hash, so equal rows are in one fold. The models that judge fold
f are read off

.. math:: S - S_f = R + \sum_{g \ne f} S_g, \qquad R = S - \sum_g S_g

where :math:`S_f` is the summary of the sample's rows in fold f, and R of all rows that were not
sampled: every row is judged by a model that has not seen it, and models are of nearly all rows.
Where the sample holds all rows, R is empty, and these are ordinary folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from naively.data import labels
from naively.data.rows import Rows, Targets, recode
from naively.data.schema import Schema
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.engines.files import SchemaFromFirstRows
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.measurement import Checked
from naively.evaluation.candidates import Candidate, candidates_of, reads_alike
from naively.evaluation.curves import ClassCurve
from naively.evaluation.folds import (
    FoldSummaries,
    measure_folds,
    needs_every_class,
    without_sample,
)
from naively.evaluation.inputs import Truth
from naively.evaluation.judgement import Judgement
from naively.evaluation.metrics import scoring_of
from naively.evaluation.quadratics import SCORED_TOGETHER, QuadraticModels
from naively.model.model import Model
from naively.statistics import Sample
from naively.statistics.measure import measure
from naively.statistics.sample import EVERYTHING
from naively.statistics.summary import Summary


@dataclass(frozen=True, eq=False)
class Measured:
    """Rows that several candidates read alike, and the summaries of their folds.

    ``fold`` is the one that holds each row out; ``dtype`` the type of the answers of their models.
    """

    table: Rows
    truth: Truth
    fold: NDArray[np.int32]
    weights: Floats | None
    summaries: FoldSummaries
    dtype: np.dtype[Any]

    @property
    def n_rows(self) -> int:
        """How many rows judge; equal ones that are held once count as often as they came."""
        return self.fold.size if self.weights is None else round(float(self.weights.sum()))

    def folds(self) -> Iterator[tuple[HeldOut, Summary]]:
        """Yield the rows of each fold, and the summary of all others."""
        schema = self.summaries.whole.schema
        for f, rest in enumerate(self.summaries.rests()):
            if not rest.class_weight.all():
                k = int(np.argmin(rest.class_weight))
                raise NaivelyError(
                    f"every class must have rows in two folds, to learn from and to score; class "
                    f"{labels.quoted(self.truth.classes[k : k + 1])} has all its rows in fold {f}. "
                    "Use fewer folds, or leave the class out."
                )
            # Words stay where the rows have them: those that a fold lacks contribute nothing.
            rest = rest.ordered(all_words=True)
            at = np.flatnonzero(self.fold == f)
            rows, known = self.table[at], rest.categories
            if rows.categories and known:  # categories that are not known come last
                columns = zip(rows.code_columns, rows.categories, known, strict=True)
                codes = [recode(*column) for column in columns]
                rows = replace(rows, codes=codes, categories=tuple(known))
            weights = None if self.weights is None else self.weights[at]
            yield HeldOut(rows, self.truth.codes[at], weights, schema), rest

    def best_model(self, candidate: Candidate) -> SummaryClassifier:
        """Return the model of all rows: the sum of the folds."""
        estimator, total = clone(candidate.estimator), self.summaries.total()
        total = total.ordered(empty_classes=needs_every_class(estimator))
        if not estimator.sample_size():
            total = without_sample(total)
        model: SummaryClassifier = estimator.with_summary(candidate.read_of(total), self.dtype)
        return model


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
    for candidate in candidates:
        if candidate.measured in group_of:
            continue
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
        measured[key] = Measured(own.table, truth, fold, None, summaries, own.dtype)
    return [measured[group_of[candidate.measured]] for candidate in candidates]


def score_candidates(
    candidates: Sequence[Candidate], measured: Sequence[Measured], scoring: str
) -> Floats:
    """Return the scores by candidate and fold."""
    scores = np.empty((len(candidates), int(measured[0].fold.max()) + 1))
    n_jobs = candidates[0].estimator.n_jobs
    for rows in dict.fromkeys(measured):
        at = [i for i, own in enumerate(measured) if own is rows]
        alike = [candidates[i] for i in at]
        slow = rows.summaries.size > 0
        with threadpool_limits(1, "blas"):  # threads of threads are slow
            for f, (held_out, rest) in enumerate(rows.folds()):
                read = partial(_model, rest)
                models = map_blocks(read, alike, n_jobs if slow else 1)
                scores[at, f] = held_out.scores(alike, models, scoring, n_jobs)
    return scores


def _model(rest: Summary, candidate: Candidate) -> Model:
    try:
        return candidate.estimator.read_model(candidate.read_of(rest))
    except NaivelyError as error:
        raise NaivelyError(f"the candidate {candidate.params} has no model: {error}") from error


# --- rows of a fold -------------------------------------------------------------------------------


_MIN_TOGETHER = 3  # models of Gaussians that are worth to be scored together


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows of one fold: cells, classes, weights, and their columns."""

    table: Rows
    codes: NDArray[np.int32]
    weights: Floats | None
    schema: Schema

    def scores(
        self,
        candidates: Sequence[Candidate],
        models: Sequence[Model],
        scoring: str,
        n_jobs: int | None,
    ) -> Floats:
        """Return the scores of models, each of which reads some of the columns, or all of them."""
        metric, scores = scoring_of(scoring), np.full(len(models), np.nan)

        def score(i: int) -> None:
            columns, table = candidates[i].columns, self.table
            rows = table if columns is None else table.columns(self.schema, set(columns))
            log_p = models[i].score(rows, "log_proba")
            scores[i] = metric.of(CandidateRows.by(log_p, self.codes, self.weights)).value
            if np.isnan(scores[i]) and np.unique(self.codes).size < models[i].classes.size:
                raise NaivelyError(
                    f"{metric.title} needs rows of every class in every fold. Use fewer folds, or "
                    "another scoring."
                )

        map_blocks(score, self._scored_alone(candidates, models, scoring, n_jobs, scores), n_jobs)
        return scores

    def _scored_alone(
        self,
        candidates: Sequence[Candidate],
        models: Sequence[Model],
        scoring: str,
        n_jobs: int | None,
        scores: Floats,
    ) -> list[int]:
        """Score Gaussians whose means agree; returns the places of all other models."""
        every = list(range(len(models)))
        score = SCORED_TOGETHER.get(scoring)
        if score is None or self.table.is_sparse or len(every) < _MIN_TOGETHER:
            return every
        numbers = self.schema.numbers
        place = {j: i for i, j in enumerate(numbers)}
        chosen = [numbers if one.columns is None else one.columns for one in candidates]
        places = [[place[j] for j in columns if j in place] for columns in chosen]
        together, taken = QuadraticModels.of(models, places, len(place))
        if len(taken) < _MIN_TOGETHER:
            return every
        x = np.ascontiguousarray(self.table.array())
        total = together.scores(x, self.codes, self.weights, score, n_jobs)
        if total is None:
            return every
        scores[taken] = total / (self.codes.size if self.weights is None else self.weights.sum())
        return sorted(set(every) - set(taken))


@dataclass(frozen=True, eq=False, kw_only=True)
class CandidateRows(Judgement):
    """Rows with their log-probabilities, which tell rows of two classes apart where p is 1."""

    log_p: Floats

    @classmethod
    def by(cls, log_p: Floats, codes: NDArray[np.int32], weights: Floats | None) -> CandidateRows:
        """Return what a model answers whose log-probabilities these are."""
        p, at = np.exp(log_p), np.arange(codes.size)
        likelihood = p[at, codes]
        p[at, codes] = likelihood - 1  # for a moment, p is p_k - [k = y]
        squared_error = np.einsum("ik,ik->i", p, p)
        p[at, codes] = likelihood
        answers = log_p.argmax(axis=1), log_p.shape[1], log_p[at, codes], squared_error, p
        return cls(codes.astype(np.intp), *answers, weights, log_p=log_p)

    def curve(self, k: int) -> ClassCurve:
        """Return the curve of one class against the rest."""
        if self.n_classes != 2:
            return super().curve(k)
        odds = self.log_p[:, k] - self.log_p[:, 1 - k]
        return ClassCurve.of(self.truth == k, odds, self.weight)


# --- a summary ------------------------------------------------------------------------------------


JUDGES = 20_000  # rows of files that judge candidates


def schema_of_files(model: SummaryClassifier, grid: Any, size: int) -> SchemaFromFirstRows:
    """Return what is measured of files, so that any candidate can be read off their summary.

    A column holds the same for all candidates.
    """
    own = model.files_schema()
    kinds = None if own.kinds is None else {**own.kinds, **_given_kinds(model, grid)}

    def complete(first: Summary) -> Schema:
        found = candidates_of(model, grid, first.schema)
        schemas = []
        for estimator in {one.measured: one.estimator for one in found}.values():
            its = estimator.files_schema().complete
            schemas.append(first.schema if its is None else its(first))
        return replace(reduce(Schema.widened, schemas), sample=size)

    return SchemaFromFirstRows(kinds, complete, own.sample)


def measured_off(candidates: Sequence[Candidate], summary: Summary, n_folds: int) -> list[Measured]:
    """Return the rows of a summary's sample, by folds; all candidates read the same."""
    if n_folds < 2:
        raise NaivelyError(f"there must be at least two folds; got folds={n_folds}.")
    sample, classes = _checked(summary), summary.classes
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
    estimators = [candidate.estimator for candidate in candidates]
    size = max(one.sample_size() for one in estimators) * (2 if summary.schema.texts else 1)
    summaries = FoldSummaries(whole, classes, size)
    if sample.bound != EVERYTHING:
        summaries = replace(summaries, others=_others(summary, summaries))
    truth = Truth(classes, sample.codes)
    found = Measured(rows, truth, fold, sample.weight, summaries, np.dtype(np.float64))
    return [found] * len(candidates)


def _checked(summary: Summary) -> Sample:
    sample = summary.sample
    if sample is None or not len(sample):
        raise NaivelyError(
            "candidates are scored on the rows that a summary keeps, and this one keeps none. "
            f"Measure with Schema(..., sample={JUDGES})."
        )
    Truth(summary.classes, sample.codes).need_two_classes()
    return sample


def _others(summary: Summary, folds: FoldSummaries) -> Summary:
    """Return what was measured of the rows that are not in the sample."""
    everything = without_sample(summary)
    judged = reduce(add, FoldSummaries(without_sample(folds.whole), folds.classes, 0).parts())
    nothing = Summary.of(everything.schema, everything.axes)  # with every category
    return nothing + (everything - judged)


def _given_kinds(model: SummaryClassifier, grid: Any) -> dict[Any, Any]:
    """Return what columns must hold for the families of a grid; raise where candidates differ."""
    kinds: dict[Any, Any] = {}
    parts = [] if grid is None else [grid] if isinstance(grid, dict) else grid
    for families in (one for part in parts for one in part.get("families", ())):
        candidate: Any = type(model)(families=families)
        for column, kind in candidate.fixed_kinds().items():
            if kinds.setdefault(column, kind) != kind:
                raise NaivelyError(
                    f"in files, column {column!r} must hold the same for all candidates; the "
                    f"families of the grid read it as {kinds[column]} and as {kind}."
                )
    return kinds
