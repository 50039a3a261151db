"""A few rows in memory that have the columns and the types of a Dask collection.

>>> import dask.array as da
>>> example(da.zeros((1000, 2), dtype="float32"))
array([[nan, nan]], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.engines.dask.partitions import check_table, count, is_array

__all__ = ["example", "missing_row"]

_ROWS = 100


def example(X: Any) -> Any:
    """Return rows of X's types: missing cells, or the first rows where objects may be anything.

    X is computed only where it holds Python's objects, and then its first partition that is not
    empty.
    """
    check_table(X)
    dtypes = [X.dtype] if is_array(X) else list(X.dtypes)
    if np.dtype(object) in dtypes:
        for i in range(count(X)):
            part = X.blocks[i] if is_array(X) else X.partitions[i]
            rows = part[:_ROWS].compute() if is_array(X) else part.head(_ROWS)
            if len(rows):
                return rows
    return missing_row(X)


def missing_row(X: Any) -> Any:
    """Return one row without cells."""
    if not is_array(X):
        meta = X._meta.reset_index(drop=True)  # in which booleans, also sparse, need a null
        is_flag = [getattr(kind, "subtype", kind) == np.dtype(bool) for kind in meta.dtypes]
        return meta.astype(dict.fromkeys(meta.columns[is_flag], "boolean")).reindex([0])
    row: NDArray[Any] = np.zeros((1, X.shape[1]), X.dtype)
    if X.dtype.kind in "fO":
        row[:] = np.nan
    return row
