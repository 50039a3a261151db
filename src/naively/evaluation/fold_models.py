"""The models that judge folds: each is read off the sum of the summaries of all other folds.

Examples
--------
>>> list(all_but_one([1, 10, 100]))
[110, 101, 11]
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import reduce
from itertools import islice
from math import ceil
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from naively._threads import map_blocks
from naively.estimators._base import SummaryClassifier
from naively.evaluation.inputs import Truth
from naively.measure import measure_sample
from naively.model import Model
from naively.rows import Rows, Targets
from naively.schema import Schema
from naively.statistics import Sample
from naively.statistics.row_hashes import distinct_rows
from naively.statistics.sample import EVERYTHING
from naively.summary import Summary

__all__ = ["MOST_BYTES", "all_but_one", "fold_models"]

T = TypeVar("T")

MOST_BYTES = 1 << 29  # that the summaries of all folds may take
_AT_ONCE = 16  # models that are read together
_BY_CLASS = ("priors", "class_prior", "costs")  # parameters with an entry for each class


def fold_models(
    model: SummaryClassifier, table: Any, schema: Schema, truth: Truth, fold: NDArray[np.int32]
) -> list[Model] | None:
    """Measure all folds in one pass, and read the model of each fold off all the others.

    For the kernel, a class of a fold is a class. A class that no other fold has is left out, unless
    a parameter such as the priors has an entry for it. None where the summaries of so many folds
    would take too much memory.
    """
    rows = table if isinstance(table, Rows) else Rows.of_numbers(table)
    n_summarized = truth.classes.size * (int(fold.max()) + 1)
    if n_summarized * _bytes(schema, rows) > MOST_BYTES:
        return None
    by_fold = Targets(np.arange(n_summarized), fold * np.int32(truth.classes.size) + truth.codes)
    size = model._sample_size() * (2 if schema.texts else 1)  # as it is measured
    sample = _sample(rows, by_fold, fold, replace(schema, sample=size), model.n_jobs)
    schema = model._settled(
        schema, lambda few: _without_labels(rows, sample, replace(schema, sample=few), model.n_jobs)
    )
    if n_summarized * _bytes(schema, rows) > MOST_BYTES:  # with histograms, now
        return None
    if sample is not None:
        schema = replace(schema, sample=sample.size)
    return _read(model, model._measure(table, schema, by_fold, sample), size, truth)


def all_but_one(parts: list[T], others: T | None = None) -> Iterator[T]:
    r"""Yield, for each of several parts, the sum of all the others.

    Each half of the parts is handed the sum of the other half: about :math:`\log_2 n` additions for
    each of n parts, and as many sums in memory at a time.
    """
    if len(parts) == 1 and others is not None:
        yield others
        return
    halves = parts[: len(parts) // 2], parts[len(parts) // 2 :]
    for kept, left in (halves, halves[::-1]):
        yield from all_but_one(kept, reduce(add, left if others is None else [others, *left]))


def _sample(
    rows: Rows, by_fold: Targets, fold: NDArray[np.int32], schema: Schema, n_jobs: int | None
) -> Sample | None:
    """Draw a sample so large that as many rows as the schema asks for are outside of any fold."""
    if not schema.sample:
        return None
    rows_of = np.bincount(fold)
    size = ceil(1.1 * schema.sample * fold.size / (fold.size - rows_of.max()))
    while True:
        sample = measure_sample(rows, by_fold, replace(schema, sample=size), n_jobs=n_jobs)
        if _is_enough(sample, schema.sample, rows_of.size, by_fold.classes.size // rows_of.size):
            return sample
        size *= 4


def _without_labels(
    rows: Rows, sample: Sample | None, schema: Schema, n_jobs: int | None
) -> Sample:
    """Return a sample of all rows as if they were of one class, from one that is there if it does.

    What is read off it is shared by the folds, so labels must not decide which rows are in it.
    """
    if sample is not None:
        merged = replace(sample, codes=np.zeros_like(sample.codes)).merged()
        if len(merged) >= schema.sample or sample.bound == EVERYTHING:
            return merged.least(schema.sample)
    alone = Targets(np.zeros(1), np.zeros(rows.shape[0], np.int32))
    return measure_sample(rows, alone, schema, n_jobs=n_jobs)


def _is_enough(sample: Sample, size: int, n_folds: int, n_classes: int) -> bool:
    """Whether a sample holds a sample of some size of the rows outside of any fold."""
    if sample.bound == EVERYTHING:
        return True
    fold, k = np.divmod(sample.codes, n_classes)
    outside = ((sample.hashes[fold != f], k[fold != f]) for f in range(n_folds))
    return all(len(distinct_rows(*rows)[0]) >= size for rows in outside)


def _bytes(schema: Schema, rows: Rows) -> int:
    """Return about how much memory the statistics of a class take."""
    categories = sum(column.size for column in rows.categories)
    categories += 2 * sum(words.size for words in rows.words)
    if not rows.categories and rows.codes.shape[1]:  # codes are the categories
        categories = int(np.nan_to_num(np.fmax.reduce(rows.codes, axis=0)).sum())
    p = len(schema.numbers)
    products = 0 if schema.centres is None else p * (p + 3) // 2
    return 8 * (p * (4 + schema.n_bins) + categories + products)


def _read(model: SummaryClassifier, whole: Summary, sample: int, truth: Truth) -> list[Model]:
    """Read the models of all folds; those with calibration, which take long, in threads."""
    params = model.get_params()
    by_class = any(params.get(name) is not None for name in _BY_CLASS)
    by_class |= isinstance(params["class_weight"], dict)

    def read(rest: Summary) -> Model:
        # Words stay where the rows have them: those that a fold lacks contribute nothing.
        rest = rest.ordered(empty_classes=by_class, all_words=True)
        return type(model).from_summary(rest, **params).model_

    rests, models = _rests(whole, sample, truth), []
    with threadpool_limits(1, "blas") if sample else nullcontext():  # threads of threads are slow
        while some := list(islice(rests, _AT_ONCE)):
            models += map_blocks(read, some, model.n_jobs if sample else 1)
    return models


def _rests(whole: Summary, size: int, truth: Truth) -> Iterator[Summary]:
    """Yield for each fold the summary of all others, whose sample has the size given.

    Samples are not added but taken from the one of all folds, which gives the same in less time.
    """
    n_classes, sample = truth.classes.size, whole.sample
    if sample is not None:
        fold, codes = np.divmod(sample.codes, np.int32(n_classes))
        none = replace(sample[:0], size=size, bound=EVERYTHING)
        whole = replace(whole, schema=replace(whole.schema, sample=size)).with_statistic(none)
    places = np.split(np.arange(whole.classes.size), whole.classes.size // n_classes)
    parts = [whole.with_classes(part).relabelled(truth.classes) for part in places]
    for f, rest in enumerate(all_but_one(parts)):
        if sample is None:
            yield rest
        else:
            kept = replace(sample[fold != f], codes=codes[fold != f])
            yield rest.with_statistic(kept.merged().least(size))
