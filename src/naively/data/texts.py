"""Columns of text as the tokenizer reads them: where each text lies in memory, and how long it is.

Text of Arrow (pyarrow, polars, the Arrow-backed columns of pandas) and Python's strings of ASCII
are read in place; other strings are encoded as UTF-8 first. A missing text has the length -1.

>>> texts_of(["Tea, please", None]).lengths
array([11, -1])
>>> texts_of(["tea", 3])
Traceback (most recent call last):
    ...
naively.errors.NaivelyError: the column must hold text; got 3 in row 1. Convert its cells to \
text, or read it as a column of categories.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.labels import is_missing
from naively.errors import NaivelyError, need

_CONVERT = "Convert its cells to text, or read it as a column of categories."
_INLINE_BYTES = 12  # bytes of a text that stands in its view


class Texts(NamedTuple):
    """Where texts lie in memory, in UTF-8.

    Attributes
    ----------
    addresses : ndarray of uint64
        The address of each text.
    lengths : ndarray of int64
        Their lengths in bytes; -1 where a text is missing.
    owners : tuple
        What keeps the texts alive.
    """

    addresses: NDArray[np.uint64]
    lengths: NDArray[np.int64]
    owners: tuple[Any, ...]

    def rows(self, rows: slice) -> Texts:
        """Return consecutive texts."""
        return Texts(self.addresses[rows], self.lengths[rows], self.owners)


def texts_of(column: Any, name: str = "the column") -> Texts:
    """Return the texts of a list, an array, or a column of pandas, polars or pyarrow.

    Parameters
    ----------
    column : list of str, ndarray, or column of a frame
        The texts; None, NaN and null are missing ones.
    name : str
        What messages call the column.
    """
    if isinstance(column, Texts):
        return column
    if isinstance(column, np.ndarray | list | tuple):
        return _of_objects(column, name)
    library = type(column).__module__.partition(".")[0]
    if library == "pandas":
        return _of_pandas(column, name)
    if library == "polars":
        return _of_polars(column, name)
    chunks = [column] if library == "pyarrow" and hasattr(column, "buffers") else column
    if library != "pyarrow" or not hasattr(column, "type"):
        return _of_objects(list(column), name)
    return _joined([_of_arrow(chunk, name) for chunk in getattr(chunks, "chunks", chunks)])


def _of_objects(column: Any, name: str) -> Texts:
    cells = column.tolist() if isinstance(column, np.ndarray) else list(column)
    addresses, lengths = np.empty(len(cells), np.uint64), np.empty(len(cells), np.int64)
    odd, encoded = _kernel.text_addresses(cells, addresses, lengths)
    if odd >= 0:
        cells = [None if is_missing(cell) else cell for cell in cells]
        odd, encoded = _kernel.text_addresses(cells, addresses, lengths)
    if odd >= 0:
        raise NaivelyError(f"{name} must hold text; got {cells[odd]!r} in row {odd}. {_CONVERT}")
    return Texts(addresses, lengths, (cells, encoded))


def _of_pandas(column: Any, name: str) -> Texts:
    kind = column.dtype
    if hasattr(kind, "categories"):
        inside = texts_of(column.cat.categories, name)
        return _by_codes(inside, column.cat.codes.to_numpy())
    if hasattr(kind, "pyarrow_dtype") or getattr(kind, "storage", "") == "pyarrow":
        return texts_of(need("pyarrow", "reading text", extra="files").array(column.array), name)
    return _of_objects(column.tolist(), name)


def _of_polars(column: Any, name: str) -> Texts:
    import polars

    if column.dtype == polars.Object:
        return _of_objects(column.to_list(), name)
    if column.dtype in (polars.Categorical, polars.Enum):
        column = column.cast(polars.String)
    need("pyarrow", "reading text of polars", extra="files")
    return texts_of(column.to_arrow(compat_level=polars.CompatLevel.newest()), name)


def _of_arrow(array: Any, name: str) -> Texts:
    """Return the texts of an Arrow array in its own buffers."""
    types = need("pyarrow", "reading text", extra="files").types
    if types.is_run_end_encoded(array.type):
        array = need("pyarrow.compute", "reading text", extra="files").run_end_decode(array)
    kind, n = array.type, len(array)
    if types.is_null(kind):
        return Texts(np.zeros(n, np.uint64), np.full(n, -1), ())
    if types.is_dictionary(kind):
        codes = array.indices.fill_null(-1) if array.indices.null_count else array.indices
        return _by_codes(_of_arrow(array.dictionary, name), codes.to_numpy())
    if types.is_string_view(kind):
        addresses, lengths = _of_views(array)
    elif types.is_string(kind) or types.is_large_string(kind):
        addresses, lengths = _of_offsets(array, types.is_large_string(kind))
    else:
        raise NaivelyError(f"{name} must hold text; got {kind}. {_CONVERT}")
    if array.null_count:
        lengths = np.where(array.is_valid().to_numpy(zero_copy_only=False), lengths, -1)
    return Texts(addresses, lengths, (array,))


def _of_offsets(array: Any, is_large: bool) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    _, offsets, data = array.buffers()
    if not len(array):
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    kind = np.dtype(np.int64 if is_large else np.int32)
    at = np.frombuffer(offsets, kind, len(array) + 1, array.offset * kind.itemsize)
    at = at.astype(np.int64, copy=False)
    return (at[:-1] + (data.address if data else 0)).astype(np.uint64), np.diff(at)


def _of_views(array: Any) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the texts of views, which hold short ones, and say where others are."""
    _, views, *data = array.buffers()
    if not len(array):
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    parts = np.frombuffer(views, np.int32, 4 * len(array), 16 * array.offset).reshape(-1, 4)
    lengths = parts[:, 0].astype(np.int64)
    addresses = np.arange(len(array)) * 16 + (views.address + 16 * array.offset + 4)
    if data:
        starts = np.array([buffer.address if buffer else 0 for buffer in data])
        far = lengths > _INLINE_BYTES
        addresses[far] = starts[parts[far, 2]] + parts[far, 3]
    return addresses.astype(np.uint64), lengths


def _by_codes(texts: Texts, codes: NDArray[Any]) -> Texts:
    """Return the texts of codes, of which negative ones are missing."""
    addresses = np.append(texts.addresses, np.uint64(0))[codes]
    return Texts(addresses, np.append(texts.lengths, -1)[codes], texts.owners)


def _joined(parts: list[Texts]) -> Texts:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Texts(np.empty(0, np.uint64), np.empty(0, np.int64), ())
    addresses, lengths, owners = zip(*parts, strict=True)
    return Texts(np.concatenate(addresses), np.concatenate(lengths), owners)
