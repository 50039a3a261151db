"""The first pass over files that are judged: one summary for each fold, all in one pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.schema import Schema
from naively.engines.files.cells import settled, typed_labels
from naively.engines.files.plan import ColumnPlan, Request, SchemaFromFirstRows
from naively.engines.files.read_ahead import Progress
from naively.engines.files.readers import FirstRows
from naively.engines.files.scan import SummaryPass
from naively.engines.files.sources import are_text
from naively.errors import NaivelyError
from naively.evaluation.files.content_folds import ContentFolds, FoldTargets
from naively.evaluation.fold_summaries import FoldSummaries
from naively.statistics.summary import Summary

_MORE = 1.1  # times as many rows are sampled, so that enough are outside of any fold
_SPARE = 4  # times as many first rows, so that enough are left where some differ in labels alone


@dataclass(frozen=True)
class MeasuredFiles:
    """What the first pass has found.

    Attributes
    ----------
    plan : ColumnPlan
        The columns that were read, and how.
    folds : FoldSummaries
        The summaries of the folds.
    place_of : dict
        The place of each label, as files hold it, among the classes.
    """

    plan: ColumnPlan
    folds: FoldSummaries
    place_of: dict[Any, int]

    @property
    def rows_of_folds(self) -> NDArray[np.float64]:
        """How many rows each fold has."""
        by_class = self.folds.whole.class_weight.reshape(-1, self.folds.classes.size)
        return by_class.sum(axis=1)


def measure_files(
    first: FirstRows,
    request: Request,
    schema: SchemaFromFirstRows,
    folds: ContentFolds,
    *,
    plan: ColumnPlan | None = None,
    label_type: str | None = None,
    sample: int = 0,
    progress: Progress | None = None,
    n_jobs: int | None = None,
) -> MeasuredFiles:
    """Summarize files by folds, so that models like one of this schema can be read off them.

    Their sums keep at least so many rows in their samples.
    """
    size, targets = 0, FoldTargets(folds)

    def complete(seen: Summary) -> Schema:
        nonlocal size
        seen, found = _without_labels(seen, schema.sample), seen.schema
        found = found if schema.complete is None else schema.complete(seen)
        size = max(found.sample, sample)
        return replace(found, sample=ceil(_MORE * size / folds.learned_share))

    larger = schema
    if sample or schema.complete is not None:
        larger = replace(schema, complete=complete, sample=_SPARE * schema.sample)
    how: dict[str, Any] = {"plan": plan, "progress": progress, "regroup": targets.regroup}
    passing = SummaryPass(first, request, larger, **how)
    whole = passing.run(n_jobs).summary
    found = np.array([], dtype=np.int64)
    if are_text(first.files, request.target):
        found = typed_labels(labels.text_array(targets.found), label_type)
        classes, places = labels.encode(found)
    else:
        classes = targets.classes
        at = {label: k for k, label in enumerate(classes.tolist())}
        places = np.array([at[label] for label in targets.found], dtype=np.int32)
    if classes.size < 2:
        got = f"one, {classes.item(0)!r}" if classes.size else "no rows"
        raise NaivelyError(
            f"the target {request.target!r} must have at least two classes{first.where}; got {got}."
        )
    summaries = FoldSummaries(_by_place(whole, classes, places, folds.n_folds), classes, size)
    place_of = dict(zip(targets.found, places.tolist(), strict=True))
    return MeasuredFiles(passing.plan, summaries, place_of)


def _without_labels(first: Summary, size: int) -> Summary:
    """Return the first rows as if they were of one class: labels must not decide what folds share.

    Rows of the same cells and of several classes become one.
    """
    if first.sample is None:
        return first
    merged = replace(first.sample, codes=np.zeros_like(first.sample.codes)).merged()
    return first.with_statistic(merged.least(size))


def _by_place(whole: Summary, classes: NDArray[Any], places: NDArray[Any], n_folds: int) -> Summary:
    """Return the summary with class k of fold f as number ``f * n_classes + k``: all are there."""
    number, fold = np.divmod(whole.classes, n_folds)
    relabelled = settled(whole.relabelled(fold * classes.size + places[number]))
    axes = replace(relabelled.axes, classes=np.arange(n_folds * classes.size))
    return Summary.of(relabelled.schema, axes) + relabelled
