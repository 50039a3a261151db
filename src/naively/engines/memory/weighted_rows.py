"""Rows of weight 0 are left out before anything is decided by what cells hold.

>>> X, y, w = without_zeros([["2024-02-29"], ["someday"]], ["a", "b"], [1.0, 0.0])
>>> X, y.tolist(), w.tolist()
([['2024-02-29']], ['a'], [1.0])
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.engines.memory.arrays import as_weights
from naively.engines.memory.native import is_column, is_frame, native_of

_VIEWS = "string_view[pyarrow]"  # a type of pandas


def without_zeros(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return rows, labels and weights without those of weight 0; all of them where all have it.

    Arrays of numbers stay as they are, since the kernel skips such rows. What is wrong with labels
    or weights is an error in such rows, too.
    """
    weights = as_weights(sample_weight)
    if weights is None or weights.ndim != 1 or weights.all() or not weights.any():
        return X, y, sample_weight
    if not (isinstance(X, list | tuple) or _holds_objects(X) or is_column(X) or is_frame(X)):
        return X, y, sample_weight
    there = np.asarray(labels.as_array(y))
    n_rows = X.num_rows if hasattr(X, "num_rows") else len(X)
    if there.shape != weights.shape or n_rows != weights.size:
        return X, y, sample_weight
    labels.encode(there)
    kept = np.flatnonzero(weights)  # weights that are wrong are kept, and refused later
    return _taken(X, kept), there[kept], weights[kept]


def _holds_objects(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.kind not in "fiub"


def _taken(X: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(X, list | tuple):
        return [X[i] for i in rows]
    if isinstance(X, np.ndarray):
        return X[rows]
    X = divisible(X if is_column(X) else native_of(X))
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X.take(rows) if hasattr(X, "take") else X[rows]


def divisible(X: Any) -> Any:
    """Return a table or a column of which rows can be taken: Arrow cannot take views of text."""
    library = type(X).__module__.partition(".")[0]
    if library == "pandas" and X.ndim == 1:
        return _without_views(X) if X.dtype == _VIEWS else X
    if library == "pandas":
        views = np.flatnonzero(X.dtypes == _VIEWS)
        X = X.copy(deep=False) if views.size else X
        for j in views:
            X.isetitem(j, _without_views(X.iloc[:, j]))
        return X
    if library != "pyarrow" or (not hasattr(X, "type") and not hasattr(X, "schema")):
        return X
    from naively.engines.memory.native.arrow import without_views

    if hasattr(X, "type"):
        return without_views(X)
    columns, names = list(map(without_views, X.columns)), list(X.schema.names)
    return import_module("pyarrow").Table.from_arrays(columns, names=names)


def _without_views(column: Any) -> Any:
    """Return a column of pandas as plain text, which not every version of pandas can make of it."""
    from naively.engines.memory.native.arrow import without_views

    plain = type(column.array)(without_views(column.array.__arrow_array__()))
    return type(column)(plain, index=column.index, name=column.name)
