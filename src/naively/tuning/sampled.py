r"""Tuning off a summary: rows of its sample judge the candidates, and no other row is needed.

A summary S that was measured in one pass, of files or anywhere else, holds rows as they are. What a
row holds decides its fold, by its hash, so equal rows are in one fold. The models that judge fold f
are read off

.. math:: S - S_f = R + \sum_{g \ne f} S_g, \qquad R = S - \sum_g S_g

where :math:`S_f` is the summary of the sample's rows in fold f, and R of all rows that were not
sampled: every row is judged by a model that has not seen it, and models are of nearly all rows.
Where the sample holds all rows, R is empty, and these are ordinary folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.engines.files import SchemaFromFirstRows
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.interface import kinds_of, sample_size
from naively.estimators.interface import schema_of_files as schema_of_model
from naively.evaluation.fold_summaries import FoldSummaries, united_schema, without_sample
from naively.evaluation.folds import only_numbers
from naively.evaluation.inputs import Truth
from naively.statistics import Sample
from naively.statistics.measure import measure
from naively.statistics.sample import EVERYTHING
from naively.statistics.summary import Summary
from naively.tuning.candidates import Candidate, candidates_of
from naively.tuning.search import Measured

JUDGES = 20_000  # rows of files that judge candidates


def schema_of_files(model: SummaryClassifier, grid: Any, size: int) -> SchemaFromFirstRows:
    """Return what is measured of files, so that any candidate can be read off their summary.

    A column holds the same for all candidates.
    """
    own = schema_of_model(model)
    kinds = None if own.kinds is None else {**own.kinds, **_given_kinds(model, grid)}

    def complete(first: Summary) -> Schema:
        found = candidates_of(model, grid, first.schema)
        schemas = []
        for estimator in {one.measured: one.estimator for one in found}.values():
            its = schema_of_model(estimator).complete
            schemas.append(first.schema if its is None else its(first))
        return replace(united_schema(schemas), sample=size)

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
    shape = len(sample), summary.schema.n_columns
    cells = sample.numbers, sample.categories, summary.categories, sample.texts, summary.words
    rows = Rows(shape, *cells)
    by_fold = fold * np.int32(classes.size) + sample.codes
    targets = Targets(np.arange(n_folds * classes.size), by_fold, sample.weight)
    parts = measure(rows, targets, summary.schema, sample=replace(sample, codes=by_fold))
    axes = replace(summary.axes, classes=targets.classes)
    whole = Summary.of(summary.schema, axes) + parts  # with every class of every fold
    estimators = [candidate.estimator for candidate in candidates]
    size = max(sample_size(one) for one in estimators) * (2 if summary.schema.texts else 1)
    summaries = FoldSummaries(whole, classes, size)
    if sample.bound != EVERYTHING:
        summaries = replace(summaries, others=_others(summary, summaries))
    truth = Truth(classes, sample.codes)
    found = Measured(
        only_numbers(rows), truth, fold, sample.weight, summaries, np.dtype(np.float64)
    )
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
        for column, kind in kinds_of(candidate).items():
            if kinds.setdefault(column, kind) != kind:
                raise NaivelyError(
                    f"in files, column {column!r} must hold the same for all candidates; the "
                    f"families of the grid read it as {kinds[column]} and as {kind}."
                )
    return kinds
