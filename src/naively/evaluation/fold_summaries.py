r"""The summaries of folds: all are measured in one pass, and added all but one.

.. math:: S_{-f} = S_1 + \dots + S_{f-1} + S_{f+1} + \dots + S_F

where :math:`S_f` is the summary of fold f. The model that judges fold f is read off
:math:`S_{-f}`, calibration included, so that all folds together cost one pass to measure and one to
predict.

What a schema fixes before measuring is shared by the folds, since only summaries of one schema add:
the kinds of columns, and the edges of histograms, which are quantiles of a sample of all rows. They
are read off cells alone and never off labels, so no label of a fold reaches the model that judges
it. Everything else is that of a model fitted on the other folds.

Examples
--------
>>> list(all_but_one([1, 10, 100]))
[110, 101, 11]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, reduce
from itertools import islice
from math import ceil
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.data.threads import map_blocks
from naively.estimators.estimator import SummaryClassifier
from naively.evaluation.inputs import Truth
from naively.model.model import Model
from naively.statistics import Sample
from naively.statistics.measure import measure_sample
from naively.statistics.sample import EVERYTHING, distinct_rows
from naively.statistics.summary import Summary

T = TypeVar("T")

MAX_BYTES = 1 << 29  # that the summaries of all folds may take


@dataclass(frozen=True, eq=False)
class FoldSummaries:
    """The summaries of all folds in one: for the kernel, a class of a fold is a class.

    Attributes
    ----------
    whole : Summary
        By fold and class; the number of class k of fold f is ``f * n_classes + k``.
    classes : ndarray of shape (n_classes,)
        Labels.
    size : int
        How many rows the sample of a sum has.
    others : Summary or None
        Rows that are in no fold: every model has seen them. It has no sample.
    """

    whole: Summary
    classes: NDArray[Any]
    size: int
    others: Summary | None = None

    def rests(self) -> Iterator[Summary]:
        """Yield for each fold the summary of all others.

        Samples are not added but taken from the one of all folds, which gives the same in less
        time.
        """
        fold, _ = self._places
        for f, rest in enumerate(all_but_one(self.parts(), self.others)):
            yield self._sampled(rest, fold != f)

    def models(self, model: SummaryClassifier) -> list[Model]:
        """Read the model of each fold off all the others, as one that is given.

        A class that no other fold has is left out, unless a parameter such as the priors has an
        entry for it.
        """
        return read_models(model, self.rests(), slow=self.size > 0)

    def total(self) -> Summary:
        """Return the sum of all folds."""
        parts = self.parts() if self.others is None else [self.others, *self.parts()]
        return self._sampled(reduce(add, parts), np.ones(self._places[0].size, np.bool_))

    @property
    def _places(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The folds and the classes of the sample's rows."""
        sample = self.whole.sample
        codes = np.empty(0, np.int32) if sample is None else sample.codes
        fold, k = np.divmod(codes, np.int32(self.classes.size))
        return fold, k

    def parts(self) -> list[Summary]:
        """Return the summaries of the folds, without samples."""
        whole, n_classes = self.whole, self.classes.size
        whole = without_sample(whole)
        places = np.split(np.arange(whole.classes.size), whole.classes.size // n_classes)
        return [whole.with_classes(part).relabelled(self.classes) for part in places]

    def _sampled(self, summary: Summary, kept: NDArray[np.bool_]) -> Summary:
        """Give a sum its sample: some of the rows of the sample of all folds."""
        sample = self.whole.sample
        if sample is None or not self.size:
            return summary
        rows = replace(sample[kept], codes=self._places[1][kept]).merged().least(self.size)
        schema = replace(summary.schema, sample=self.size)
        return Summary.of(schema, summary.axes, *summary.statistics.values(), rows)


def without_sample(summary: Summary) -> Summary:
    """Return the same without the rows of its sample."""
    schema = replace(summary.schema, sample=0)
    kept = (part for kind, part in summary.statistics.items() if kind is not Sample)
    return summary if summary.sample is None else Summary.of(schema, summary.axes, *kept)


def measure_folds(
    models: Sequence[SummaryClassifier],
    rows: Rows,
    schema: Schema,
    truth: Truth,
    fold: NDArray[np.int32],
) -> FoldSummaries | None:
    """Measure all folds in one pass, so that any of several models can be read off their sums.

    The models read columns as the first does. None where the summaries of so many folds would take
    too much memory.
    """
    model = models[0]
    n_summarized = truth.classes.size * (int(fold.max()) + 1)
    if n_summarized * _bytes(schema, rows) > MAX_BYTES:
        return None
    by_fold = Targets(np.arange(n_summarized), fold * np.int32(truth.classes.size) + truth.codes)
    size = max(one.sample_size() for one in models)
    size *= 2 if schema.texts else 1  # as it is measured
    sample = _sample(rows, by_fold, fold, replace(schema, sample=size), model.n_jobs)

    @cache
    def first(few: int) -> Sample:
        return _unlabelled_sample(rows, sample, replace(schema, sample=few), model.n_jobs)

    schema = united_schema([one.settled(schema, first) for one in models])
    if n_summarized * _bytes(schema, rows) > MAX_BYTES:  # with histograms, now
        return None
    if sample is not None:
        schema = replace(schema, sample=sample.size)
    whole = model.measure_rows(rows, schema, by_fold, sample)
    return FoldSummaries(whole, truth.classes, size)


def united_schema(schemas: list[Schema]) -> Schema:
    """Return the schema that measures what any of several asks for; columns hold the same in all.

    Edges and centres are read off the same rows, so those of one are those of all.
    """
    return reduce(Schema.widened, schemas)


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


def _unlabelled_sample(
    rows: Rows, sample: Sample | None, schema: Schema, n_jobs: int | None
) -> Sample:
    """Return a sample of all rows as if they were of one class, from one that is there if it does.

    What is read off it is shared by the folds, so labels must not decide which rows are in it.
    """
    if sample is not None:
        merged = without_labels(sample)
        if len(merged) >= schema.sample or sample.bound == EVERYTHING:
            return merged.least(schema.sample)
    alone = Targets(np.zeros(1), np.zeros(rows.shape[0], np.int32))
    return measure_sample(rows, alone, schema, n_jobs=n_jobs)


def without_labels(sample: Sample) -> Sample:
    """Return a sample as if its rows were of one class; rows of the same cells become one."""
    return replace(sample, codes=np.zeros_like(sample.codes)).merged()


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
    if not rows.categories and rows.code_columns:  # codes are the categories
        categories = int(np.nan_to_num(np.fmax.reduce(rows.codes, axis=0)).sum())
    p = len(schema.numbers)
    products = 0 if schema.centres is None else p * (p + 3) // 2
    return 8 * (p * (4 + schema.n_bins) + categories + products)


_MODELS_AT_ONCE = 16  # models that are read together
_BY_CLASS = ("priors", "class_prior", "costs")  # parameters with an entry for each class


def needs_every_class(model: SummaryClassifier) -> bool:
    """Whether a parameter of a model has an entry for each class."""
    given = any(getattr(model, name, None) is not None for name in _BY_CLASS)
    return given or isinstance(model.class_weight, dict)


def read_models(model: SummaryClassifier, rests: Iterator[Summary], *, slow: bool) -> list[Model]:
    """Read models off summaries; those with calibration, which are slow, in threads."""
    params, by_class = model.get_params(), needs_every_class(model)

    def read(rest: Summary) -> Model:
        # Words stay where the rows have them: those that a fold lacks contribute nothing.
        rest = rest.ordered(empty_classes=by_class, all_words=True)
        return type(model).from_summary(rest, **params).model_

    models: list[Model] = []
    with threadpool_limits(1, "blas") if slow else nullcontext():  # threads of threads are slow
        while some := list(islice(rests, _MODELS_AT_ONCE)):
            models += map_blocks(read, some, model.n_jobs if slow else 1)
    return models
