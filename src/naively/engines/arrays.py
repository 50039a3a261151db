"""Arrays in memory, read in place.

>>> import numpy as np
>>> summary = summarize(np.array([[1.0], [3.0]]), np.array(["a", "a"]))
>>> summary.moments
Moments(weight=[[2.]], mean=[[2.]], m2=[[2.]])
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel
from naively._threads import block_slices, map_blocks
from naively.exceptions import NaivelyError
from naively.labels import encode
from naively.stats import Moments
from naively.summary import Schema, Summary, check_weight

__all__ = ["Table", "as_weights", "check_dense", "holds_more", "is_readable", "raise_not_finite"]
__all__ += ["summarize", "summarize_table", "table", "unmasked"]

_Part: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]  # class weights, moments
_READABLE = "fdbhilqBHILQ?"  # the dtypes that the kernel reads in place
_MOST_BLOCKS = 16
_MOST_RESULTS = 1 << 24  # bytes that the blocks' summaries may take


class Table(Protocol):
    """What the kernel reads: an array, or columns, of which rows can be sliced."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def __getitem__(self, rows: slice, /) -> Any: ...


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
    rows = table(X)
    classes, codes = encode(y)
    weights = as_weights(sample_weight)
    return summarize_table(rows, Schema(rows.shape[1]), classes, codes, weights, n_jobs)


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
    """Return masked cells as missing ones: NaN, or None among text, booleans and objects.

    >>> unmasked(np.ma.array([[1, 2]], mask=[[False, True]]))
    array([[ 1., nan]])
    """
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.is_masked(X):
        return X.data
    if X.dtype.kind in "fiu":
        dtype = X.dtype if X.dtype.kind == "f" else np.float64
        return np.ma.filled(X.astype(dtype), np.nan)
    cells = X.data.astype(object)
    cells[np.ma.getmaskarray(X)] = None
    return cells


def holds_more(rows: Any) -> bool:
    """Whether rows as lists hold text or booleans, which NumPy would convert beside numbers."""
    cells = (cell for row in rows if isinstance(row, list | tuple) for cell in row)
    return any(isinstance(cell, str | bool | np.bool_) for cell in cells)


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
    is_dicts = isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], dict)
    if is_dicts or isinstance(X, dict | Iterator):
        raise NaivelyError(
            f"X must be a table or an array; got {'dicts' if is_dicts else type(X).__name__}. Make "
            "it a data frame, such as pandas.DataFrame(X)."
        )


def summarize_table(
    X: Table,
    schema: Schema,
    classes: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    n_jobs: int | None,
) -> Summary:
    """Summarize what the kernel reads, in blocks of rows, and add the blocks up."""
    n_rows, n_columns = X.shape
    if codes.size != n_rows:
        raise NaivelyError(
            f"X and y must be equally long; got {n_rows} rows and {codes.size} labels."
        )
    if weights is not None:
        weights = _checked_weights(weights, n_rows)
    shape = (4, classes.size, n_columns)

    def work(rows: slice) -> _Part:
        weight, values = np.zeros(classes.size), np.zeros(shape)
        given = None if weights is None else weights[rows]
        if not _kernel.summarize(X[rows], codes[rows], given, weight, values):
            raise_not_finite(X, schema)
        return weight, values

    most = max(1, min(_MOST_BLOCKS, _MOST_RESULTS // (32 * classes.size * n_columns + 1)))
    blocks = block_slices(n_rows, n_columns, most)
    class_weight, values = reduce(_added, map_blocks(work, blocks, n_jobs))
    check_weight(class_weight)
    if not np.isfinite(values).all():
        raise_not_finite(X, schema)
    if weights is not None and not class_weight.all():  # as if those rows had been left out
        seen = class_weight > 0
        classes, class_weight, values = classes[seen], class_weight[seen], values[:, seen].copy()
    return Summary(schema, classes, class_weight, Moments(values))


def _added(a: _Part, b: _Part) -> _Part:
    (weight, values), (other_weight, other_values) = a, b
    with np.errstate(over="ignore"):
        weight += other_weight
    _kernel.add(values, other_values)
    return weight, values


def _checked_weights(weights: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    if weights.shape != (n_rows,):
        raise NaivelyError(
            f"there must be one weight per row ({n_rows}); got shape {weights.shape}."
        )
    bad = ~((weights >= 0) & np.isfinite(weights))
    if bad.any():
        at = int(np.argmax(bad))
        raise NaivelyError(
            f"weights must be finite and >= 0; got sample_weight[{at}]={weights[at]}."
        )
    return np.ascontiguousarray(weights)


def raise_not_finite(X: Table, schema: Schema) -> None:
    """Say which cell is infinite, or which column too large for its variance."""
    X = getattr(X, "numbers", X)  # of a table that has categories too
    n_rows, n_columns = X.shape
    for rows in (slice(start, start + 4096) for start in range(0, n_rows, 4096)):
        block = X[rows]
        for j in range(n_columns):
            infinite = np.isinf(block[j] if isinstance(block, list) else block[:, j])
            if infinite.any():
                raise NaivelyError(
                    f"{schema.name(schema.numbers[j])} holds infinity (first at row "
                    f"{rows.start + int(np.argmax(infinite))}); naive Bayes needs finite numbers. "
                    "NaN is allowed and means missing."
                )
    j, largest = _largest(X)
    raise NaivelyError(
        f"{schema.name(schema.numbers[j])} holds numbers so large that their variance exceeds "
        f"every float64, such as {largest:g}. Rescale it, or the weights."
    )


def _largest(X: Table) -> tuple[int, float]:
    """Return the column of the largest number, and that."""
    found = (0, 0.0)
    for rows in (slice(start, start + 4096) for start in range(0, X.shape[0], 4096)):
        block = X[rows]
        for j in range(X.shape[1]):
            column = np.asarray(block[j] if isinstance(block, list) else block[:, j], np.float64)
            at = np.argmax(np.nan_to_num(np.abs(column)))
            if abs(column[at]) > abs(found[1]):
                found = j, float(column[at])
    return found
