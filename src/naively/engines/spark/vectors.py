"""Vectors of `pyspark.ml.linalg` as Arrow shows them, dense and sparse, become rows of an array.

Arrow shows a vector as the struct that Spark stores: its type, 1 for dense, and its values; of a
sparse one (type 0) also its size and where the values stand. What a sparse vector does not list
is 0, which is a number; a vector that is null is a row of missing cells.

>>> import pyarrow as pa
>>> dense = {"type": 1, "size": None, "indices": None, "values": [1.0, 2.0]}
>>> sparse = {"type": 0, "size": 2, "indices": [1], "values": [3.0]}
>>> rows(pa.array([dense, sparse, None]), 2, "column 'features'")
array([[ 1.,  2.],
       [ 0.,  3.],
       [nan, nan]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import NaivelyError


def rows(vectors: Any, width: int, name: str) -> NDArray[np.float64]:
    """Return vectors, each of so many numbers, as the rows of an array.

    Spark hands them over as structs of ``type``, ``size``, ``indices`` and ``values``.
    """
    fields = dict(zip((field.name for field in vectors.type), vectors.flatten(), strict=True))
    kinds = fields["type"].fill_null(-1).to_numpy(zero_copy_only=False)
    values, counts = _joined(fields["values"])
    sizes = fields["size"].fill_null(0).to_numpy(zero_copy_only=False)
    found = np.where(kinds == 0, sizes, counts)[kinds >= 0]
    if (found != width).any():
        raise NaivelyError(
            f"the vectors of {name} must be equally long ({width}); got one of "
            f"{found[found != width][0]}."
        )
    if (kinds == 1).all():
        return values.reshape(-1, width)
    table = np.zeros((kinds.size, width))
    table[kinds < 0] = np.nan
    indices, _ = _joined(fields["indices"])
    _scatter(table, kinds, counts, values, indices)
    return table


def _scatter(
    table: NDArray[np.float64],
    kinds: NDArray[Any],
    counts: NDArray[np.intp],
    values: NDArray[np.float64],
    indices: NDArray[np.int32],
) -> None:
    """Write values, which lie one row after the other, where they belong."""
    row_of = np.repeat(np.arange(kinds.size), counts)
    is_sparse = kinds[row_of] == 0
    table[kinds == 1] = values[~is_sparse].reshape(-1, table.shape[1])
    table[row_of[is_sparse], indices] = values[is_sparse]


def _joined(lists: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the items of all lists, one list after the other, and how many each has."""
    counts = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return lists.flatten().to_numpy(zero_copy_only=False), counts.astype(np.intp)
