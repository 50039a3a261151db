"""From Arrow's arrays to NumPy's and back, without pandas.

`pyarrow.array` and `to_numpy` import pandas wherever it is installed, to ask whether they were
given something of it. That takes longer than to read a small file.

>>> strings(["a", "", "ü"]).to_pylist(), numbers(np.array([True, False])).to_pylist()
(['a', '', 'ü'], [True, False])
>>> in_place(numbers(np.array([1.5, 2.5, 3.5])).slice(1)).tolist()
[2.5, 3.5]
>>> labels(np.array(["b", "a", "b"]), np.array(["a", "b"])).to_pylist()
['b', 'a', 'b']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import later

pa = later("pyarrow", "reading files", extra="files")


def strings(texts: Sequence[str]) -> Any:
    """Return texts as an array."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


def numbers(values: NDArray[Any]) -> Any:
    """Return numbers or booleans as an array."""
    cells = np.ascontiguousarray(values)
    if cells.dtype.kind == "b":
        cells = np.packbits(cells, bitorder="little")
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(cells)])


def of_labels(values: NDArray[Any]) -> Any:
    """Return a few labels, text or numbers, as an array."""
    return numbers(values) if values.dtype.kind in "biuf" else strings(values.tolist())


def labels(values: NDArray[Any], known: NDArray[Any]) -> Any:
    """Return labels, all of which are among the sorted known ones, as an array."""
    return of_labels(known).take(numbers(np.searchsorted(known, values)))


def in_place(array: Any) -> NDArray[Any]:
    """Return an array of numbers, none of which is missing, in its own memory."""
    dtype, buffer = np.dtype(array.type.to_pandas_dtype()), array.buffers()[1]
    if buffer is None or not len(array):
        return np.zeros(0, dtype)
    return np.frombuffer(buffer, dtype, len(array), array.offset * dtype.itemsize)


def empty_table(schema: Any) -> Any:
    """Return a table without rows."""
    return pa.Table.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)
