"""Hashes of rows and categories: the same on every machine, in every engine."""

from __future__ import annotations

import hashlib
import struct
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.rows import TextRows
from naively.data.sparse import SparseRows
from naively.data.types import Hashes

Codes = NDArray[np.int32]


def distinct_rows(
    hashes: NDArray[np.uint64], codes: NDArray[np.int32]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first of each distinct pair of hash and class, in their order, and the inverse.

    >>> hashes, codes = np.array([7, 3, 7], np.uint64), np.array([1, 0, 1], np.int32)
    >>> first, inverse = distinct_rows(hashes, codes)
    >>> first.tolist(), inverse.tolist()
    ([1, 0], [1, 0, 1])
    """
    order = np.argsort(hashes, kind="stable")
    same = np.diff(hashes[order]) == 0
    if (np.diff(codes[order])[same] < 0).any():  # rare: equal cells of different classes
        order = np.lexsort((codes, hashes))
    is_first = np.ones(hashes.size, dtype=bool)
    is_first[1:] = ~(same & (np.diff(codes[order]) == 0))
    inverse = np.empty(hashes.size, np.intp)
    inverse[order] = np.cumsum(is_first) - 1
    return order[is_first], inverse


def hash_rows(
    numbers: Any, codes: Any, category_hashes: list[Hashes], texts: TextRows | None, out: Hashes
) -> None:
    """Write the hash of each row's cells: numbers, categories, then text; then those of counts."""
    if texts is not None:  # a cell of text is hashed as a category of which it is the only cell
        columns = codes if isinstance(codes, list) else list(codes.T)
        rows = np.arange(len(texts), dtype=np.int32)
        cells = [np.ascontiguousarray(column) for column in texts.hashes.T]
        codes = [*columns, *(np.where(column, rows, -1).astype(np.int32) for column in cells)]
        category_hashes = [*category_hashes, *cells]
    if isinstance(numbers, SparseRows):
        _kernel.hash_rows(np.empty((out.size, 0)), codes, category_hashes, out)
        _kernel.hash_sparse(numbers, None, out)
        return
    _kernel.hash_rows(numbers, codes, category_hashes, out)


def hashes_of(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash for each category: the same on every machine.

    >>> hashes_of(np.array(["a", "b"]))
    array([3405396810240292928, 8453121595177857668], dtype=uint64)

    A number is hashed by its value, whatever type holds it, and true is 1. Text is text, whatever
    it looks like.

    >>> bool(hashes_of(np.array([1])) == hashes_of(np.array([1.0])) == hashes_of(np.array([True])))
    True
    >>> len(set(hashes_of(np.array(["1", "01", "1.0", "true"])).tolist()))
    4
    """
    is_text = values.dtype.kind not in "iubf"
    contents = map(_text if is_text else _number, values.tolist())
    hashed = partial(hashlib.blake2b, digest_size=8, person=b"" if is_text else b"number")
    digests = b"".join(hashed(content).digest() for content in contents)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _text(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def _number(value: float) -> bytes:
    """Return what is hashed of a number: a double, or the digits of an integer that is none."""
    return struct.pack("<d", value + 0.0) if float(value) == value else str(value).encode()


def places_of(hashes: Hashes, codes: Codes, among: Hashes, codes_among: Codes) -> NDArray[np.intp]:
    """Return where pairs of hash and class stand among others in order; -1 if they do not.

    >>> among, codes = np.array([3, 7, 7], np.uint64), np.array([0, 0, 1], np.int32)
    >>> places_of(np.array([7, 9], np.uint64), np.array([1, 0], np.int32), among, codes).tolist()
    [2, -1]
    """
    distinct = np.unique(among)
    n_classes = max(codes.max(initial=0), codes_among.max(initial=0)) + 1
    keys = np.searchsorted(distinct, among) * n_classes + codes_among
    at = np.searchsorted(keys, np.searchsorted(distinct, hashes) * n_classes + codes)
    inside = np.minimum(at, max(among.size - 1, 0))
    found = (at < among.size) & (among.size > 0)
    if found.any():
        found &= (among[inside] == hashes) & (codes_among[inside] == codes)
    return np.where(found, at, -1)


def least(hashes: Hashes, at: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Leave out rows that are surely too many: of great hashes, where enough differ below."""
    if at.size <= 8 * size:
        return at
    bound = np.uint64(4 * size / at.size * 2.0**64)
    low = at[hashes[at] < bound]
    return low if np.unique(hashes[low]).size > size else at


def enough(hashes: Hashes, size: int) -> int:
    """Return how many rows of ascending hashes a sample needs: one more shows what is left out.

    >>> enough(np.array([1, 2, 2, 3, 4], np.uint64), 2)
    4
    """
    if hashes.size <= size:
        return hashes.size
    return int(np.searchsorted(hashes, hashes[size - 1], side="right")) + 1


def cells_of(columns: Any, rows: NDArray[np.intp], dtype: Any) -> NDArray[Any]:
    """Return some rows of an array, or of a list of columns, as an array."""
    if isinstance(columns, np.ndarray):
        return columns[rows].astype(dtype)
    out = np.empty((rows.size, len(columns)), dtype)
    for j, column in enumerate(columns):
        out[:, j] = column[rows]
    return out
