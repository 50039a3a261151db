"""One pass over the rows, and then all candidates: models are read off sums of folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from naively.data import labels
from naively.data.schema import Schema
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.interface import check_rows, fitted, read_model, sample_size
from naively.estimators.validation import Checked
from naively.evaluation.fold_models import needs_every_class
from naively.evaluation.fold_summaries import FoldSummaries, measure_folds, without_sample
from naively.evaluation.inputs import Truth
from naively.model.model import Model
from naively.statistics.summary import Summary
from naively.tuning.candidates import Candidate, reads_alike
from naively.tuning.held_out import HeldOut
from naively.tuning.scoring import Scoring


@dataclass(frozen=True, eq=False)
class Measured:
    """Rows that several candidates read alike, and the summaries of their folds.

    Attributes
    ----------
    table : Table or Rows
        Cells.
    truth : Truth
        Classes.
    fold : ndarray of int of shape (n_rows,)
        The fold that holds each row out.
    weights : ndarray of shape (n_rows,), or None
        Weights of the rows.
    summaries : FoldSummaries
        What was measured.
    dtype : dtype
        The type of the answers of a model of these rows.
    """

    table: Any
    truth: Truth
    fold: NDArray[np.int32]
    weights: Floats | None
    summaries: FoldSummaries
    dtype: np.dtype[Any]

    @property
    def schema(self) -> Schema:
        """What was measured."""
        return self.summaries.whole.schema

    @property
    def n_rows(self) -> int:
        """How many rows judge; equal ones that are held once count as often as they came."""
        return self.fold.size if self.weights is None else round(float(self.weights.sum()))

    def folds(self) -> Iterator[tuple[HeldOut, Callable[[Candidate], Model]]]:
        """Yield the rows of each fold, and what reads the model of a candidate off all others."""
        for f, rest in enumerate(self.summaries.rests()):
            if not rest.class_weight.all():
                k = int(np.argmin(rest.class_weight))
                raise NaivelyError(
                    f"every class must have rows in two folds, to learn from and to score; class "
                    f"{labels.quoted(self.truth.classes[k : k + 1])} has all its rows in fold {f}. "
                    "Use fewer folds, or leave the class out."
                )
            at, read = np.flatnonzero(self.fold == f), _ModelReader(rest)
            known = read.rest.categories
            yield HeldOut.of(self.table, self.truth.codes, self.weights, at, known), read

    def best_model(self, candidate: Candidate) -> SummaryClassifier:
        """Return the model of all rows: the sum of the folds."""
        estimator, total = clone(candidate.estimator), self.summaries.total()
        total = total.ordered(empty_classes=needs_every_class(estimator))
        if not sample_size(estimator):
            total = without_sample(total)
        if candidate.columns is not None:
            total = total.with_columns(candidate.columns)
        model: SummaryClassifier = fitted(estimator, total, self.dtype)
        return model


class _ModelReader:
    """Reads the models of candidates off the sum of all folds but one."""

    def __init__(self, rest: Summary) -> None:
        # Every class has weight. Words stay where the rows have them: those that a fold lacks
        # contribute nothing.
        self.rest = rest.ordered(all_words=True)

    def __call__(self, candidate: Candidate) -> Model:
        estimator, rest = candidate.estimator, self.rest
        if candidate.columns is not None:
            rest = rest.with_columns(candidate.columns)
        try:
            return read_model(estimator, rest)
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
    for candidate in candidates:
        if candidate.measured in group_of:
            continue
        estimator = candidate.estimator
        alike = reads_alike(estimator, model, checked.schema)
        own = checked if alike else check_rows(estimator, X)
        schema = own.schema
        key = schema.held, schema.options, schema.counted, schema.threshold
        tables.setdefault(key, own)
        groups.setdefault(key, []).append(estimator)
        group_of[candidate.measured] = key
    found: dict[Any, Measured] = {}
    for key, models in groups.items():
        own = tables[key]
        summaries = measure_folds(models, own.table, own.schema, truth, fold)
        if summaries is None:
            raise NaivelyError(
                "the summaries of all folds must fit into memory, and do not. Use fewer folds, or "
                "fewer columns."
            )
        found[key] = Measured(own.table, truth, fold, None, summaries, own.dtype)
    return [found[group_of[candidate.measured]] for candidate in candidates]


def score_candidates(
    candidates: Sequence[Candidate], measured: Sequence[Measured], scoring: Scoring
) -> Floats:
    """Return the scores by candidate and fold."""
    n_folds = int(measured[0].fold.max()) + 1
    found = np.empty((len(candidates), n_folds))
    for rows in dict.fromkeys(measured):
        at = [i for i, its in enumerate(measured) if its is rows]
        own, n_jobs = [candidates[i] for i in at], candidates[0].estimator.n_jobs
        slow = rows.summaries.size > 0
        with threadpool_limits(1, "blas"):  # threads of threads are slow
            for f, (held_out, read) in enumerate(rows.folds()):
                models = map_blocks(read, own, n_jobs if slow else 1)
                columns = [candidate.columns for candidate in own]
                scores = held_out.scores(models, columns, rows.schema, scoring, n_jobs)
                found[at, f] = scores
    return found
