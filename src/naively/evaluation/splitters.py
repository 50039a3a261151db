"""Which fold holds each row out: any splitter of scikit-learn's, and stratified folds quickly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from naively.errors import NaivelyError
from naively.evaluation.folds import fold_of_each_row
from naively.evaluation.inputs import Truth
from naively.evaluation.stratification import stratified_folds

ONE_OUT = "leave-one-out"


def splitter_of(folds: Any, seed: Any, truth: Truth) -> Any:
    """Return a splitter: stratified folds for a number of them."""
    if isinstance(folds, int | np.integer):
        most = np.bincount(truth.codes).max()
        if isinstance(folds, bool) or not 2 <= folds <= most:
            raise NaivelyError(
                f"folds must be at least 2, and at most the rows of the largest class ({most}); "
                f"got {folds!r}."
            )
        shuffle = seed is not None
        return StratifiedKFold(int(folds), shuffle=shuffle, random_state=seed)
    known = folds is None or isinstance(folds, Iterable) or hasattr(folds, "split")
    if isinstance(folds, str) or not known:
        raise NaivelyError(f"folds must be a number, a splitter or {ONE_OUT!r}; got {folds!r}.")
    return check_cv(folds)


def folds_by(splitter: Any, X: Any, truth: Truth) -> NDArray[np.int32] | None:
    """Return the fold that holds each row out, or None where there is no such thing."""
    codes = truth.codes
    ordinary = type(splitter) is StratifiedKFold
    if ordinary and splitter.n_splits <= np.bincount(codes).min():  # nothing to warn of
        return stratified_folds(
            codes,
            splitter.n_splits,
            shuffle=splitter.shuffle,
            random_state=splitter.random_state,
        )
    return fold_of_each_row(splitter.split(X, codes), codes.size)
