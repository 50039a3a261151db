"""A few rows in memory that have the columns and the types of a Dask collection.

>>> import dask.array as da
>>> example(da.zeros((1000, 2), dtype="float32"))
array([[nan, nan]], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import LOOKED_AT
from naively.engines.dask.partitions import check_table, count, is_array
from naively.engines.memory.frames import held_by
from naively.errors import need

dask: Any = need("dask", "reading Dask collections", extra="dask")
pd: Any = need("pandas", "reading Dask collections", extra="dask")


def example(X: Any) -> Any:
    """Return rows of X's types: missing cells, or the first rows where cells must be looked at.

    X is computed only where it holds text or Python's objects, and then as many of its first
    partitions as hold `LOOKED_AT` cells of each such column.
    """
    check_table(X)
    looked_at = _looked_at(X)
    found: list[Any] = []
    start, n_parts = 0, count(X) if looked_at else 0
    while start < n_parts and not _are_enough(found, looked_at):
        stop = min(n_parts, 2 * start + 1)  # one, then twice as many as before
        found += [rows for rows in _first_rows(X, start, stop, looked_at) if len(rows)]
        start = stop
    if not found:
        return missing_row(X)
    return np.concatenate(found) if is_array(X) else pd.concat(found, ignore_index=True)


def _looked_at(X: Any) -> list[int]:
    """Return the columns that hold text or objects."""
    if is_array(X):
        return list(range(X.shape[1])) if X.dtype.kind in "OUT" else []
    columns = [column for _, column in X._meta.items()]
    held = [(column.dtype == np.dtype(object), held_by(column)) for column in columns]
    return [
        j
        for j, (is_object, its) in enumerate(held)
        if is_object or (its.what == "text" and not its.coded)
    ]


def _first_rows(X: Any, start: int, stop: int, columns: list[int]) -> list[Any]:
    """Return the rows of some partitions that hold the first cells of columns."""
    if is_array(X):
        parts = [X.blocks[i].compute() for i in range(start, stop)]
        return [_rows_with_cells(part, columns) for part in parts]
    parts = X.partitions[start:stop].to_delayed()
    found: tuple[Any, ...] = dask.compute(
        *(dask.delayed(_rows_with_cells)(part, columns) for part in parts)
    )
    return list(found)


def _rows_with_cells(rows: Any, columns: list[int]) -> Any:
    """Return the first row, and those that hold the first `LOOKED_AT` present cells of columns."""
    present = _present(rows, columns)
    first = np.arange(len(present)) == 0
    return rows[first | (present & (np.cumsum(present, axis=0) <= LOOKED_AT)).any(axis=1)]


def _present(rows: Any, columns: list[int]) -> NDArray[np.bool_]:
    cells = pd.DataFrame(rows) if isinstance(rows, np.ndarray) else rows
    return np.asarray(cells.iloc[:, columns].notna())


def _are_enough(found: list[Any], columns: list[int]) -> bool:
    counts = [_present(rows, columns).sum(axis=0) for rows in found]
    return bool(counts) and bool((np.sum(counts, axis=0) >= LOOKED_AT).all())


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
