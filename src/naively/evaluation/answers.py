"""Ask classifiers: any fitted one for rows of one table, or a model for each fold of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.rows import Rows, recode
from naively.data.threads import block_slices, map_blocks
from naively.data.types import Floats
from naively.estimators.answers import decide
from naively.evaluation.inputs import Truth
from naively.evaluation.judgement import Judgement
from naively.model.model import Model
from naively.model.scorer import Answer

_MAX_BLOCKS = 1 << 10


def ask(model: Any, X: Any, truth: Truth) -> Judgement:
    """Ask any fitted classifier whose classes are among the truth's.

    One that may reject rows is made to answer: by the class that it would have given. Without
    probabilities, all that depends on them is NaN.
    """
    if getattr(model, "reject", None) is not None:
        model = copy(model).set_params(reject=None)
    predicted = np.asarray(model.predict(X)).astype(truth.classes.dtype, copy=False)
    codes = labels.positions(predicted, truth.classes)
    if not hasattr(model, "predict_proba"):
        unknown = np.full(codes.size, np.nan)
        true = truth.codes.astype(np.intp)
        return Judgement(true, codes, truth.classes.size, unknown, unknown, None)
    judged = Judgement.room(truth.codes, truth.classes.size)
    assert judged.probabilities is not None
    judged.probabilities[:] = _by_class(model, model.predict_proba(X), truth, 0.0)
    unlikely = judged.settle(slice(None))
    if unlikely.size and hasattr(model, "predict_log_proba"):
        with np.errstate(divide="ignore"):  # many a classifier takes the logarithm of 0
            log_p = _by_class(model, model.predict_log_proba(X), truth, -np.inf)
        judged.log_truth[unlikely] = log_p[unlikely, truth.codes[unlikely]]
    return replace(judged, predicted=codes)  # its own, which need not be the likeliest


def _by_class(model: Any, values: Any, truth: Truth, otherwise: float) -> Floats:
    """Give each of the truth's classes its column; what the model does not know is impossible."""
    known, columns = labels.encode(model.classes_)
    every = np.full((len(values), truth.classes.size), otherwise)
    every[:, labels.positions(known, truth.classes)[columns]] = values
    return every


def judge_rows(
    table: Rows,
    truth: Truth,
    fold: NDArray[np.int32],
    models: Sequence[Model],
    costs: Any = None,
    *,
    n_jobs: int | None = None,
) -> Judgement:
    """Judge each row by the model of its fold; where there are costs, the cheapest class wins."""
    table = _recoded(table, fold, models)
    judged = Judgement.room(truth.codes, truth.classes.size)
    p = judged.probabilities
    assert p is not None

    def score(want: Answer, rows: Rows, folds: NDArray[np.int32], out: Floats) -> None:
        """Score rows by the models of their folds: copies of a block, not of the table."""
        for at in _members(folds):
            model = models[folds[at[0]]]
            if at.size == folds.size and model.classes.size == out.shape[1]:
                model.scorer.write(want, rows, out)
                return
            scores = np.empty((at.size, model.classes.size))
            model.scorer.write(want, rows[at], scores)
            if model.classes.size == out.shape[1]:
                out[at] = scores
                continue
            out[at] = 0.0 if want == "proba" else -np.inf  # of classes that the model lacks
            out[at[:, np.newaxis], labels.positions(model.classes, truth.classes)] = scores

    def judge(rows: slice) -> None:
        block, folds, codes = table[rows], fold[rows], truth.codes[rows]
        score("proba", block, folds, p[rows])
        unlikely = judged.settle(rows)
        if unlikely.size:
            log_p = np.empty((unlikely.size, truth.classes.size))
            score("log_proba", block[unlikely], folds[unlikely], log_p)
            judged.log_truth[rows][unlikely] = log_p[np.arange(unlikely.size), codes[unlikely]]

    map_blocks(judge, block_slices(*table.shape[:2], most=_MAX_BLOCKS), n_jobs)
    if costs is None:
        return judged
    return replace(
        judged, predicted=labels.positions(decide(p, truth.classes, costs), truth.classes)
    )


def _recoded(table: Rows, fold: NDArray[np.int32], models: Sequence[Model]) -> Rows:
    """Return the rows with the codes of the models that judge them: unseen categories come last."""
    if not table.categories:  # or codes are the categories
        return table
    members = _members(fold)
    columns = []
    for j, column in enumerate(table.code_columns):
        own, categories = np.empty(column.size, np.int32), table.categories[j]
        for at in members:
            known = models[fold[at[0]]].vocabularies[j]
            own[at] = recode(column[at], categories, known)
        columns.append(own)
    return replace(table, codes=columns)


def _members(folds: NDArray[np.int32]) -> list[NDArray[np.intp]]:
    """Return the rows of each fold that has some."""
    if (folds == folds[0]).all():  # as most blocks are where rows were not shuffled
        return [np.arange(folds.size)]
    order = np.argsort(folds, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(folds[order])) + 1)
