"""Arrays in memory, read in place.

>>> import numpy as np
>>> summary = summarize(np.array([[1.0], [3.0]]), np.array(["a", "a"]))
>>> summary.moments
Moments(weight=[[2.]], mean=[[2.]], m2=[[2.]])
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data.labels import encode
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.engines.places import is_stream_alone
from naively.errors import NaivelyError
from naively.statistics.measure import measure
from naively.statistics.summary import Summary

ONE_ROW = (
    "For one row, give a table of it, such as X.iloc[[0]], X[[0]] or pandas.DataFrame([row]), or "
    "use predict_one, learn_one and the like."
)
_READABLE = "fdbhilqBHILQ?"  # the dtypes that the kernel reads in place
_LARGEST_EXACT = 2**53  # integers below are different float64 numbers


class _Converted:
    """An array that the kernel cannot read, converted a block of rows at a time."""

    def __init__(self, X: NDArray[Any]) -> None:
        self.X, self.shape = X, X.shape

    def __getitem__(self, rows: slice) -> NDArray[np.float64]:
        try:
            with np.errstate(over="ignore"):  # infinity is an error that names the cell
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
    """Summarize the rows of an array of numbers by their labels; see `naively.summarize`."""
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


def table(X: ArrayLike) -> Any:
    """Make an array readable for the kernel, without a copy if possible."""
    X = np.asarray(unmasked(X))
    if X.ndim != 2:
        raise shape_error(X)
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
    is_large = X.dtype.kind in "iu" and (np.abs(X.astype(np.float64)) >= _LARGEST_EXACT).any()
    if X.dtype.kind in "fiu" and not is_large:
        dtype = X.dtype if X.dtype.kind == "f" else np.float64
        return np.ma.filled(X.astype(dtype), np.nan)
    cells = X.data.astype(object)
    cells[np.ma.getmaskarray(X)] = None
    return cells


def shape_error(X: Any) -> NaivelyError:
    """Return the error of what is no table, in words of scikit-learn's too."""
    shape = np.shape(X)
    return NaivelyError(
        f"Expected 2D array, got {len(shape)}D array instead: X must have two dimensions, rows and "
        f"columns; got shape {shape}. {ONE_ROW} Reshape your data for one column: "
        "X.reshape(-1, 1), or X.to_frame() of a Series."
    )


def check_no_scalar(X: Any) -> None:
    """Raise where X has no rows, as a number has none."""
    if getattr(X, "shape", None) == () or not (hasattr(X, "shape") or hasattr(X, "__len__")):
        raise shape_error(X)


def check_no_file(X: Any) -> None:
    """Raise where X is a single text, or a path: files are read by other functions."""
    if isinstance(X, str | os.PathLike):
        raise NaivelyError(
            "X must be a table, or texts must be given in a list or a column; got "
            f"the text {str(X)[:60]!r}. For one text, give [text], or use predict_one; for a file, "
            "use from_files, or naively.engines.files.predict."
        )


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
    return not isinstance(cell, np.timedelta64) and abs(int(cell)) >= _LARGEST_EXACT


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
    check_in_memory(X)


def check_in_memory(X: Any) -> None:
    """Raise where X is no table of rows that are here."""
    if type(X).__module__.startswith("pyspark.sql"):
        raise NaivelyError(
            "X must be in memory, as labels are; got a frame of Spark. Fit by "
            "from_summary(naively.summarize(X, target=...)), and predict by "
            "naively.engines.spark.predict(model, X)."
        )
    if type(X).__name__ == "LazyFrame" or is_stream_alone(X):
        whole = "X.collect()" if hasattr(X, "collect") else "pyarrow.table(X)"
        whole = "X.to_table()" if type(X).__module__.startswith("pyarrow._dataset") else whole
        raise NaivelyError(
            f"X must be in memory, as labels are; got a {type(X).__name__}. Give {whole}, or write "
            "it to files and give those."
        )
    is_dicts = isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], dict)
    if is_dicts or isinstance(X, dict | Iterator):
        raise NaivelyError(
            f"X must be a table or an array; got {'dicts' if is_dicts else type(X).__name__}. Make "
            f"it a data frame, such as pandas.DataFrame(X). {ONE_ROW}"
        )
