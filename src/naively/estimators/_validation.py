"""What comes in is checked here: a short way for plain arrays, scikit-learn's for the rest.

Nothing here changes the estimator: it is set only after all of a call has succeeded.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    _check_y,
    check_array,
)

from naively import labels
from naively.engines import arrays
from naively.exceptions import NaivelyError

__all__ = ["Checked", "check_labels", "check_table", "check_weights"]


class Checked(NamedTuple):
    """A table that the kernel can read."""

    table: arrays.Table
    names: tuple[str, ...] | None
    dtype: np.dtype[Any]


def check_table(estimator: BaseEstimator, X: Any, *, fitted: bool) -> Checked:
    """Make X readable in place; if the estimator is fitted, X must have its columns."""
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.char in "df":
        checked = Checked(arrays.table(X), None, X.dtype)
    else:
        checked = _check_other(estimator, X)
    if fitted:
        if checked.names is not None or hasattr(estimator, "feature_names_in_"):
            _check_feature_names(estimator, X, reset=False)
        if checked.table.shape[1] != estimator.n_features_in_:
            _check_n_features(estimator, X, reset=False)
    return checked


def _check_other(estimator: BaseEstimator, X: Any) -> Checked:
    if not isinstance(X, np.ndarray | list | tuple):
        from naively.engines import frames

        if frames.is_frame(X):
            frame = frames.Frame(X)
            _check_not_empty(estimator, frame.shape)
            return Checked(frame, frame.names, frame.dtype)
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        array = check_array(X, ensure_all_finite=False, estimator=estimator, input_name="X")
    except ValueError as error:
        if "Expected 2D array, got 1D array" not in str(error):
            raise
        raise NaivelyError(f"{error} For one row, use predict_one or predict_proba_one.") from None
    dtype = np.dtype(np.float32 if array.dtype in (np.float32, np.float16) else np.float64)
    return Checked(arrays.table(array), None, dtype)


def _check_not_empty(estimator: BaseEstimator, shape: tuple[int, ...]) -> None:
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise NaivelyError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required "
                f"by {type(estimator).__name__}."
            )


def check_labels(estimator: BaseEstimator, y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return the labels as an array, one per row."""
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU"):
        y = _check_other_labels(estimator, y)
    if y.shape[0] != n_rows:
        raise NaivelyError(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, y.shape[0]]}"
        )
    return y


def _check_other_labels(estimator: BaseEstimator, y: Any) -> NDArray[Any]:
    if y is None:
        raise NaivelyError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    array = labels.as_array(y)
    if array.dtype.kind in "iubOTUS" and array.ndim == 1:
        return array  # encode says what is wrong with them
    array = _check_y(y, multi_output=False, y_numeric=False, estimator=estimator)
    check_classification_targets(array)
    return array


def check_weights(X: Any, sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
    """Return one weight per row as float64, or None."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
