"""Arrays in memory, read in place.

>>> import numpy as np
>>> summary = summarize(np.array([[1.0], [3.0]]), np.array(["a", "a"]))
>>> summary.moments
Moments(weight=[[2.]], mean=[[2.]], m2=[[2.]])
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.exceptions import NaivelyError
from naively.labels import encode
from naively.measure import measure
from naively.rows import Rows, Table, Targets
from naively.summary import Schema, Summary

__all__ = ["as_weights", "check_dense", "holds_more", "is_readable", "summarize", "table"]
__all__ += ["unmasked"]

_READABLE = "fdbhilqBHILQ?"  # the dtypes that the kernel reads in place
_LARGEST = 2**53  # integers below are different float64 numbers


class _Converted:
    """An array that the kernel cannot read, converted a block of rows at a time."""

    def __init__(self, X: NDArray[Any]) -> None:
        self.X, self.shape = X, X.shape

    def __getitem__(self, rows: slice) -> NDArray[np.float64]:
        try:
            return self.X[rows].astype(np.float64)
        except (TypeError, ValueError) as error:
            raise NaivelyError(f"X must hold real numbers; {error}.") from None


def summarize(
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Summary:
    """Summarize the rows of an array by their labels.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Numbers; NaN is a missing cell.
    y : array-like of shape (n_rows,)
        Labels.
    sample_weight : array-like of shape (n_rows,), optional
        Weights, finite and >= 0; weight 0 is the same as leaving the row out.
    n_jobs : int, optional
        Threads; None for all cores where there is enough to do.
    """
    rows = Rows.of_numbers(table(X))
    targets = Targets(*encode(y), as_weights(sample_weight))
    return measure(rows, targets, Schema(rows.shape[1]), n_jobs=n_jobs)


def as_weights(sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
    """Return weights as float64; a masked one is NaN, which no weight may be."""
    if sample_weight is None:
        return None
    weights: Any = sample_weight
    if not isinstance(weights, np.ma.MaskedArray):
        weights = np.asarray(weights)
    if weights.dtype.kind not in "fiubO":
        raise NaivelyError(
            f"weights must be real numbers; got dtype {weights.dtype} in sample_weight. "
            "Convert them."
        )
    try:
        return np.asarray(np.ma.filled(weights.astype(np.float64), np.nan))
    except (TypeError, ValueError):
        raise NaivelyError(
            "weights must be real numbers; got other objects in sample_weight. Convert them."
        ) from None


def table(X: ArrayLike) -> Table:
    """Make an array readable for the kernel, without a copy if possible."""
    X = np.asarray(unmasked(X))
    if X.ndim != 2:
        raise NaivelyError(f"X must have two dimensions, rows and columns; got shape {X.shape}.")
    if is_readable(X):
        return X
    if X.dtype.kind not in "fiubO":
        raise NaivelyError(f"X must hold real numbers; got dtype {X.dtype}. Convert it first.")
    return _Converted(X)


def is_readable(array: NDArray[Any]) -> bool:
    """Whether the kernel reads an array where it lies."""
    return array.dtype.char in _READABLE and array.dtype.isnative and array.flags.aligned


def unmasked(X: Any) -> Any:
    """Return masked cells as missing ones: NaN, or None among objects, text and booleans.

    Integers from 2^53 on become objects too: as float64 some of them would be equal.

    >>> unmasked(np.ma.array([[1, 2]], mask=[[False, True]]))
    array([[ 1., nan]])
    """
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.is_masked(X):
        return X.data
    is_large = X.dtype.kind in "iu" and (np.abs(X.astype(np.float64)) >= _LARGEST).any()
    if X.dtype.kind in "fiu" and not is_large:
        dtype = X.dtype if X.dtype.kind == "f" else np.float64
        return np.ma.filled(X.astype(dtype), np.nan)
    cells = X.data.astype(object)
    cells[np.ma.getmaskarray(X)] = None
    return cells


def holds_more(rows: Any) -> bool:
    """Whether rows as lists hold what NumPy would convert beside numbers.

    That is text, booleans, dates, and integers from 2^53 on, which might be equal beside fractions.
    """
    lists = (row for row in rows if isinstance(row, list | tuple) or _may_be_rounded(row))
    cells = (cell for row in lists for cell in row)
    return any(
        isinstance(cell, str | bool | np.bool_ | np.datetime64 | date)
        or (isinstance(cell, int | np.integer) and _is_large(cell))
        for cell in cells
    )


def _is_large(cell: Any) -> bool:
    """Whether an integer may be equal to others as a fraction; a duration of NumPy's is none."""
    return not isinstance(cell, np.timedelta64) and abs(int(cell)) >= _LARGEST


def _may_be_rounded(row: Any) -> bool:
    """Whether a row is an array whose cells NumPy might convert beside other rows."""
    return isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.kind != "f"


def check_dense(X: Any) -> None:
    """Raise where X is a sparse matrix, or something else that NumPy takes for a single object."""
    if type(X).__module__.startswith("scipy.sparse"):
        raise NaivelyError(
            f"X must be dense; got a sparse {type(X).__name__}. Give X.toarray(), or some of its "
            "columns if that is too large."
        )
    if type(X).__name__ == "LazyFrame":
        raise NaivelyError(
            "X must be in memory, as labels are; got a LazyFrame. Give X.collect(), or write it to "
            "files and give those."
        )
    if type(X).__module__.startswith("pyspark.sql"):
        raise NaivelyError(
            "X must be in memory, as labels are; got a frame of Spark. Fit by "
            "from_summary(naively.summarize(X, target=...)), and predict by "
            "naively.scoring.spark.predict(model, X)."
        )
    is_dicts = isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], dict)
    if is_dicts or isinstance(X, dict | Iterator):
        raise NaivelyError(
            f"X must be a table or an array; got {'dicts' if is_dicts else type(X).__name__}. Make "
            "it a data frame, such as pandas.DataFrame(X)."
        )
