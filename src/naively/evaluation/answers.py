r"""The answers of a classifier: for each row a class, and the probabilities of all classes.

Logarithms of probabilities are kept for the truth: :math:`\log p(y_i \mid x_i)` is finite where
the probability itself is too small for a float.

>>> answers = Answers.room(1, 2)
>>> answers.probabilities[0] = 0.25, 0.75
>>> answers.settle(slice(None), truth=np.array([0]))
array([], dtype=int64)
>>> answers.codes, answers.confidence, np.exp(answers.log_truth)
(array([1]), array([0.75]), array([0.25]))
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.rows import Rows, recode
from naively.data.threads import block_slices, map_blocks
from naively.estimators.decisions import decide
from naively.evaluation.inputs import Truth
from naively.model.model import Model
from naively.model.scorer import Answer

_MOST_BLOCKS = 1 << 10


@dataclass(frozen=True, eq=False)
class Answers:
    r"""One answer per row.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        The index of the predicted class.
    confidence : ndarray of shape (n_rows,)
        The largest probability, :math:`\max_k p_k`.
    log_truth : ndarray of shape (n_rows,)
        The log-probability of the true class, :math:`\log p_y`.
    squared_error : ndarray of shape (n_rows,)
        How far the probabilities are from the truth, :math:`\sum_k (p_k - [k = y])^2`.
    probabilities : ndarray of shape (n_rows, n_classes), or None
        Of every class. None where the classifier has none; then the numbers above are NaN.
    """

    codes: NDArray[np.intp]
    confidence: NDArray[np.float64]
    log_truth: NDArray[np.float64]
    squared_error: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None

    @classmethod
    def room(cls, n_rows: int, n_classes: int) -> Answers:
        """Return empty arrays for the answers to so many rows."""
        codes, (a, b, c) = np.empty(n_rows, dtype=np.intp), np.empty((3, n_rows))
        return cls(codes, a, b, c, np.empty((n_rows, n_classes)))

    @classmethod
    def without_probabilities(cls, codes: NDArray[np.intp]) -> Answers:
        """Take the classes for all there is."""
        unknown = np.full(codes.size, np.nan)
        return cls(codes, unknown, unknown, unknown, None)

    @classmethod
    def joined(cls, parts: Sequence[Answers], order: NDArray[np.intp]) -> Answers:
        """Put parts one after the other, and then in order."""

        def column(name: str) -> Any:
            values = [getattr(part, name) for part in parts]
            return None if values[0] is None else np.concatenate(values)[order]

        return cls(*(column(field.name) for field in fields(cls)))

    def settle(self, rows: slice, truth: NDArray[Any]) -> NDArray[np.intp]:
        """Read the rest off the probabilities of some rows; their classes are the likeliest.

        Returns the rows, counted from the first, whose truth is too improbable for a float:
        their ``log_truth`` is left to be filled in.
        """
        assert self.probabilities is not None
        p = self.probabilities[rows]
        cells, true = p.reshape(-1), np.arange(0, p.size, p.shape[1]) + truth
        likelihood = cells.take(true)
        self.codes[rows], self.confidence[rows] = truth, likelihood
        unsure = np.flatnonzero(likelihood <= 0.5)  # above, there is nothing likelier
        self.codes[rows][unsure] = best = p[unsure].argmax(axis=1)
        self.confidence[rows][unsure] = p[unsure, best]
        cells[true] = likelihood - 1  # for a moment, p is p_k - [k = y]
        np.einsum("ik,ik->i", p, p, out=self.squared_error[rows])
        cells[true] = likelihood
        with np.errstate(divide="ignore"):
            np.log(likelihood, out=self.log_truth[rows])
        return np.flatnonzero(likelihood == 0)


def ask(model: Any, X: Any, truth: Truth) -> Answers:
    """Ask any fitted classifier whose classes are among the truth's.

    One that may reject rows is made to answer: by the class that it would have given.
    """
    if getattr(model, "reject", None) is not None:
        model = copy(model).set_params(reject=None)
    predicted = np.asarray(model.predict(X)).astype(truth.classes.dtype, copy=False)
    codes = labels.positions(predicted, truth.classes)
    if not hasattr(model, "predict_proba"):
        return Answers.without_probabilities(codes)
    answers = Answers.room(codes.size, truth.classes.size)
    assert answers.probabilities is not None
    answers.probabilities[:] = _by_class(model, model.predict_proba(X), truth, 0.0)
    unlikely = answers.settle(slice(None), truth.codes)
    if unlikely.size and hasattr(model, "predict_log_proba"):
        with np.errstate(divide="ignore"):  # many a classifier takes the logarithm of 0
            log_p = _by_class(model, model.predict_log_proba(X), truth, -np.inf)
        answers.log_truth[unlikely] = log_p[unlikely, truth.codes[unlikely]]
    return replace(answers, codes=codes)  # its own, which need not be the likeliest


def _by_class(model: Any, values: Any, truth: Truth, otherwise: float) -> NDArray[np.float64]:
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


def _judge(
    table: Rows,
    truth: Truth,
    fold: NDArray[np.int32],
    models: Sequence[Model],
    answers: Answers,
    rows: slice,
) -> None:
    """Judge a block of rows."""
    block, folds, codes = table[rows], fold[rows], truth.codes[rows]
    assert answers.probabilities is not None

    def score(want: Answer, some: Rows, folds: NDArray[np.int32], out: NDArray[np.float64]) -> None:
        """Score rows by the models of their folds: copies of a block, not of the table."""
        for at in _members(folds):
            model = models[folds[at[0]]]
            if at.size == folds.size and model.classes.size == out.shape[1]:
                model.scorer.write(want, some, out)
                return
            found = np.empty((at.size, model.classes.size))
            model.scorer.write(want, some[at], found)
            if model.classes.size == out.shape[1]:
                out[at] = found
                continue
            out[at] = 0.0 if want == "proba" else -np.inf  # of classes that the model lacks
            out[at[:, np.newaxis], labels.positions(model.classes, truth.classes)] = found

    score("proba", block, folds, answers.probabilities[rows])
    unlikely = answers.settle(rows, codes)
    if unlikely.size:
        log_p = np.empty((unlikely.size, truth.classes.size))
        score("log_proba", block[unlikely], folds[unlikely], log_p)
        answers.log_truth[rows][unlikely] = log_p[np.arange(unlikely.size), codes[unlikely]]


def _members(folds: NDArray[np.int32]) -> list[NDArray[np.intp]]:
    """Return the rows of each fold that has some."""
    if (folds == folds[0]).all():  # as most blocks are where rows were not shuffled
        return [np.arange(folds.size)]
    order = np.argsort(folds, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(folds[order])) + 1)
