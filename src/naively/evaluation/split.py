"""Rows to learn from and rows to be judged on.

>>> X, y = [[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"]
>>> rows = split(X, Truth.of(X, y), test_size=0.5, random_state=0)
>>> sorted(rows.test.labels.tolist()), rows.method
(['a', 'b'], 'a test split of 50 %')
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from naively.errors import NaivelyError
from naively.estimators.state import snapshot
from naively.evaluation.answers import ask
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.inputs import Truth


class Split(NamedTuple):
    """Training and test rows, each with their truth, and how the test rows came about."""

    X_train: Any
    train: Truth
    X_test: Any
    test: Truth
    method: str

    def judge(self, fitted: Any) -> Evaluation:
        """Judge a model of the training rows on the test rows, and on its own."""
        seen = judge(fitted, self.X_train, self.train, "the training rows")
        return judge(fitted, self.X_test, self.test, self.method, train=seen)


def split(X: Any, truth: Truth, *, test_size: float, random_state: Any) -> Split:
    """Hold rows out, stratified, as scikit-learn's `train_test_split` does."""
    truth.need_two_classes()
    rows = np.bincount(truth.codes)
    if (least := int(rows.argmin())) in np.flatnonzero(rows < 2):
        raise NaivelyError(
            "every class must have rows to learn from and rows to hold out; class "
            f"{truth.classes.item(least)!r} has one row. Leave it out, or use evaluate with folds."
        )
    how = {"test_size": test_size, "random_state": random_state, "stratify": truth.codes}
    try:
        X_train, X_test, train, test = train_test_split(X, truth.codes, **how)
    except ValueError as error:
        raise NaivelyError(f"test_size must leave rows on both sides; {error}") from None
    size = f"{100 * test_size:g} %" if isinstance(test_size, float) else f"{test_size} rows"
    of = truth.classes
    return Split(X_train, Truth(of, train), X_test, Truth(of, test), f"a test split of {size}")


def judge(fitted: Any, X: Any, truth: Truth, method: str, **more: Any) -> Evaluation:
    """Judge a fitted model, whose classes may be more or fewer than those of the rows."""
    fitted = snapshot(fitted)
    truth = truth.among(fitted.classes_)
    name = type(fitted).__name__
    return Evaluation.of(truth, ask(fitted, X, truth), method, model=name, **more)
