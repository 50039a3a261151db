r"""Cross-validation: every row is judged by a model that has not seen it.

Folds are summarized once, all in one pass over the rows, and added all but one:

.. math:: S_{-f} = (S_1 + \dots + S_{f-1}) + (S_{f+1} + \dots + S_F)

where :math:`S_f` is the summary of fold f. The model that judges fold f is read off
:math:`S_{-f}`, so k folds cost one fit and one prediction, whatever k. Classifiers that have no
summary are cloned and fitted for each fold.

Examples
--------
>>> [sum(rest) for rest in all_but_one([[1], [10], [100]], [])]
[110, 101, 11]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate
from operator import add
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from naively._threads import block_slices, map_blocks
from naively.estimators._validation import check_table
from naively.estimators.gaussian_nb import GaussianNB
from naively.evaluation.answers import Answers, ask
from naively.evaluation.given import Truth
from naively.measure import measure
from naively.rows import Rows, Table, Targets
from naively.summary import Schema, Summary

__all__ = ["Judged", "all_but_one", "by_refitting", "by_summaries", "fold_of_each_row"]

T = TypeVar("T")
_Splits = Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]

_MOST_BLOCKS = 1 << 10


class Judged(NamedTuple):
    """The rows that were judged, what was answered, and the accuracy of each fold."""

    truth: Truth
    answers: Answers
    fold_accuracy: NDArray[np.float64]


def fold_of_each_row(splits: _Splits, n_rows: int) -> NDArray[np.int32] | None:
    """Return the fold that holds each row out.

    None where there is no such thing: rows are held out twice or never, or a model does not
    learn from all the others.
    """
    fold = np.full(n_rows, -1, dtype=np.int32)
    held_out = 0
    for f, (train, test) in enumerate(splits):
        there = np.zeros(n_rows, dtype=np.bool_)
        there[train] = there[test] = True
        if not there.all() or len(train) + len(test) != n_rows or len(test) == 0:
            return None
        fold[test] = f
        held_out += len(test)
    return fold if held_out == n_rows and fold.min() >= 0 else None


def all_but_one(parts: list[T], nothing: T) -> Iterator[T]:
    """Yield, for each part, the sum of all the others: three additions for each."""
    before = accumulate(parts[:-1], add, initial=nothing)
    after = [*accumulate(reversed(parts[1:]), add, initial=nothing)]
    return map(add, before, reversed(after))


def by_summaries(model: GaussianNB, X: Any, truth: Truth, fold: NDArray[np.int32]) -> Judged:
    """Summarize each fold, and judge it by the sum of the others.

    A class that no other fold has keeps its place: its probability is 0, unless priors are
    given, and it borrows the mean and variance of all rows.
    """
    checked = check_table(model, X, None)
    table, schema = checked.table, Schema(checked.table.shape[1], checked.names)
    parts = _summaries(table, schema, truth, fold, model.n_jobs)
    nothing = Summary.zero(schema, truth.classes)
    params = model.get_params()
    kernels = [
        GaussianNB.from_summary(rest, **params).model_.kernel
        for rest in all_but_one(parts, nothing)
    ]
    answers = Answers.room(fold.size, truth.classes.size)
    blocks = block_slices(fold.size, schema.n_columns, most=_MOST_BLOCKS)
    map_blocks(partial(_judge, table, truth, fold, kernels, answers), blocks, model.n_jobs)
    count = np.bincount(fold)
    wrong = np.bincount(fold[answers.codes != truth.codes], minlength=count.size)
    return Judged(truth, answers, (count - wrong) / count)


def by_refitting(model: Any, X: Any, truth: Truth, splits: _Splits) -> Judged:
    """Fit any classifier anew for each split; the rows come in their order."""
    y, rows, parts, accuracy = truth.labels, [], [], []
    for train, test in splits:
        fitted = clone(model).fit(_safe_indexing(X, train), y[train])
        held_out = Truth(truth.classes, truth.codes[test])
        answers = ask(fitted, _safe_indexing(X, test), held_out)
        rows.append(test)
        parts.append(answers)
        accuracy.append(np.mean(answers.codes == held_out.codes))
    order = np.argsort(np.concatenate(rows), kind="stable")
    judged = Truth(truth.classes, truth.codes[np.concatenate(rows)[order]])
    return Judged(judged, Answers.joined(parts, order), np.array(accuracy))


def _summaries(
    table: Table, schema: Schema, truth: Truth, fold: NDArray[np.int32], n_jobs: int | None
) -> list[Summary]:
    """Summarize the folds in one pass: for the kernel, a class of a fold is a class."""
    n_folds, n_classes = int(fold.max()) + 1, truth.classes.size
    every = np.arange(n_folds * n_classes)
    targets = Targets(every, fold * n_classes + truth.codes)
    whole = measure(Rows.of_numbers(table), targets, schema, n_jobs=n_jobs)
    parts = np.split(every, n_folds)
    return [whole.with_classes(part).relabelled(truth.classes) for part in parts]


def _judge(
    table: Table,
    truth: Truth,
    fold: NDArray[np.int32],
    kernels: list[Any],
    answers: Answers,
    rows: slice,
) -> None:
    """Judge a block of rows."""
    block, folds, codes = table[rows], fold[rows], truth.codes[rows]
    assert answers.probabilities is not None
    _score("proba", kernels, block, folds, answers.probabilities[rows])
    unlikely = answers.settle(rows, codes)
    if unlikely.size:
        log_p = np.empty((unlikely.size, truth.classes.size))
        _score("log_proba", kernels, _taken(block, unlikely), folds[unlikely], log_p)
        answers.log_truth[rows][unlikely] = log_p[np.arange(unlikely.size), codes[unlikely]]


def _score(
    want: str,
    kernels: list[Any],
    block: Any,
    folds: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """Score rows by the models of their folds, gathered by fold: copies of a block, not of X."""
    if (folds == folds[0]).all():  # as nearly always where rows were not shuffled
        getattr(kernels[folds[0]], want)(block, out)
        return
    order = np.argsort(folds)
    for at in np.split(order, np.flatnonzero(np.diff(folds[order])) + 1):
        some = np.empty((at.size, out.shape[1]))
        getattr(kernels[folds[at[0]]], want)(_taken(block, at), some)
        out[at] = some


def _taken(block: Any, at: NDArray[np.intp]) -> Any:
    if isinstance(block, list):
        return [column.take(at) for column in block]
    return block.take(at, axis=0)
