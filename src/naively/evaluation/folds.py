r"""Cross-validation: every row is judged by a model that has not seen it.

All folds are measured in one pass over the rows, and added all but one:

.. math:: S_{-f} = S_1 + \dots + S_{f-1} + S_{f+1} + \dots + S_F

where :math:`S_f` is the summary of fold f. The model that judges fold f is read off
:math:`S_{-f}`, calibration included, so that all folds together cost one pass to measure and one to
predict. Classifiers that have no summary are cloned and fitted for each fold.

What a schema fixes before measuring is shared by the folds, since only summaries of one schema add:
the kinds of columns, and the edges of histograms, which are quantiles of a sample of all rows. They
are read off cells alone and never off labels, so no label of a fold reaches the model that judges
it. Everything else is that of a model fitted on the other folds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from naively.data import labels
from naively.data.rows import Columns, Rows
from naively.data.threads import block_slices, map_blocks
from naively.engines.memory.categories import recode
from naively.engines.memory.tables import code_columns
from naively.errors import NaivelyError
from naively.estimators.decisions import decide
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.interface import check_rows
from naively.evaluation.answers import Answers, ask
from naively.evaluation.fold_models import fold_models
from naively.evaluation.inputs import Truth
from naively.model.model import Model

_Splits = Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]

_MOST_BLOCKS = 1 << 10


class Judged(NamedTuple):
    """The rows that were judged, what was answered, and the accuracy of each fold."""

    truth: Truth
    answers: Answers
    fold_accuracy: NDArray[np.float64]
    source: NDArray[np.intp] | None = None  # rows of the table, where some are judged twice


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
    if not rows:
        raise NaivelyError("folds must hold rows out at least once; got no split.")
    held_out_rows = np.concatenate(rows)
    order = np.argsort(held_out_rows, kind="stable")
    source = held_out_rows[order]
    judged = Truth(truth.classes, truth.codes[source])
    twice = source if (np.diff(source) == 0).any() else None
    return Judged(judged, Answers.joined(parts, order), np.array(accuracy), twice)


def by_summaries(
    model: SummaryClassifier, X: Any, truth: Truth, fold: NDArray[np.int32]
) -> Judged | None:
    """Measure all folds at once, and judge each by the sum of the others.

    A class that no other fold has gets the probability 0, unless a parameter such as the priors
    has an entry for it. None where the summaries of so many folds would take too much memory.
    """
    model = clone(model)
    checked = check_rows(model, X)
    models = fold_models(model, checked.table, checked.schema, truth, fold)
    if models is None:
        return None
    costs = getattr(model, "costs", None)
    answers = judge_rows(checked.table, truth, fold, models, costs, n_jobs=model.n_jobs)
    count = np.bincount(fold)
    wrong = np.bincount(fold[answers.codes != truth.codes], minlength=count.size)
    return Judged(truth, answers, (count - wrong) / count)


def judge_rows(
    table: Any,
    truth: Truth,
    fold: NDArray[np.int32],
    models: Sequence[Model],
    costs: Any = None,
    *,
    n_jobs: int | None = None,
) -> Answers:
    """Judge each row by the model of its fold; where there are costs, the cheapest class wins."""
    table = _recoded(table, fold, models)
    answers = Answers.room(fold.size, truth.classes.size)
    blocks = block_slices(table.shape[0], table.shape[1], most=_MOST_BLOCKS)
    map_blocks(partial(_judge, table, truth, fold, models, answers), blocks, n_jobs)
    if costs is None:
        return answers
    assert answers.probabilities is not None
    cheapest = decide(answers.probabilities, truth.classes, costs)
    return replace(answers, codes=labels.positions(cheapest, truth.classes))


def _recoded(table: Any, fold: NDArray[np.int32], models: Sequence[Model]) -> Any:
    """Return the rows with the codes of the models that judge them: unseen categories come last."""
    if not isinstance(table, Rows):
        return table
    if not table.codes.shape[1]:
        return only_numbers(table)
    members = _members(fold)
    if not table.categories:  # codes are the categories
        codes = table.codes.copy()
        for at in members:
            sizes = [known.size for known in models[fold[at[0]]].vocabularies]
            codes[at] = np.minimum(codes[at], sizes)
        return replace(table, codes=codes)
    columns = []
    for j, column in enumerate(code_columns(table)):
        own, categories = np.empty(column.size, np.int32), table.categories[j]
        for at in members:
            known = models[fold[at[0]]].vocabularies[j]
            own[at] = recode(column[at], categories, known)
        columns.append(own)
    return replace(table, codes=Columns(columns, fold.size))


def _judge(
    table: Any,
    truth: Truth,
    fold: NDArray[np.int32],
    models: Sequence[Model],
    answers: Answers,
    rows: slice,
) -> None:
    """Judge a block of rows."""
    block, folds, codes = table[rows], fold[rows], truth.codes[rows]
    assert answers.probabilities is not None

    def score(want: str, some: Any, folds: NDArray[np.int32], out: NDArray[np.float64]) -> None:
        """Score rows by the models of their folds: copies of a block, not of the table."""
        for at in _members(folds):
            model = models[folds[at[0]]]
            if at.size == folds.size and model.classes.size == out.shape[1]:
                getattr(model.kernel_for(some), want)(some, out)
                return
            found = np.empty((at.size, model.classes.size))
            getattr(model.kernel_for(some), want)(taken(some, at), found)
            if model.classes.size == out.shape[1]:
                out[at] = found
                continue
            out[at] = 0.0 if want == "proba" else -np.inf  # of classes that the model lacks
            out[at[:, np.newaxis], labels.positions(model.classes, truth.classes)] = found

    score("proba", block, folds, answers.probabilities[rows])
    unlikely = answers.settle(rows, codes)
    if unlikely.size:
        log_p = np.empty((unlikely.size, truth.classes.size))
        score("log_proba", taken(block, unlikely), folds[unlikely], log_p)
        answers.log_truth[rows][unlikely] = log_p[np.arange(unlikely.size), codes[unlikely]]


def only_numbers(table: Any) -> Any:
    """Return rows that hold numbers alone as the kernel's own models read them."""
    if not isinstance(table, Rows) or table.texts is not None:
        return table
    n_codes = len(table.codes) if isinstance(table.codes, list) else table.codes.shape[1]
    return table if n_codes else table.numbers


def _members(folds: NDArray[np.int32]) -> list[NDArray[np.intp]]:
    """Return the rows of each fold that has some."""
    if (folds == folds[0]).all():  # as most blocks are where rows were not shuffled
        return [np.arange(folds.size)]
    order = np.argsort(folds, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(folds[order])) + 1)


def taken(block: Any, at: NDArray[np.intp]) -> Any:
    """Return some of the rows of a block."""
    if isinstance(block, Rows):
        cells = taken(block.numbers, at), taken(block.codes, at)
        texts = None if block.texts is None else block.texts[at]
        return Rows((at.size, block.shape[1]), *cells, block.categories, texts, block.words)
    if isinstance(block, list):
        return [column.take(at) for column in block]
    return block[at]
