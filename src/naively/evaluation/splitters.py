"""Which fold holds each row out: any splitter of scikit-learn's, and stratified folds quickly."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from naively.evaluation.folds import fold_of_each_row
from naively.evaluation.inputs import Truth
from naively.evaluation.stratification import stratified_folds
from naively.exceptions import NaivelyError

__all__ = ["ONE_OUT", "folds_by", "splitter_of"]

ONE_OUT = "leave-one-out"


def splitter_of(folds: Any, seed: Any) -> Any:
    """Return a splitter: stratified folds for a number of them."""
    if isinstance(folds, Integral):
        shuffle = seed is not None
        return StratifiedKFold(int(folds), shuffle=shuffle, random_state=seed)
    if isinstance(folds, str):
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
