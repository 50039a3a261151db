r"""A bounded sample of rows that adds: those whose content has the least hash.

.. math:: S_k(A \cup B) = S_k(S_k(A) \cup S_k(B))

where :math:`S_k` keeps the k distinct rows of least hash. What a row holds decides whether it is
kept, so the sample depends neither on the order of rows nor on batches, engines or threads. Equal
rows are one row of more weight: a sample of distinct rows with their weights, which gives every
mean over rows without bias. Rows can be taken out again; then the sample is smaller, and
``bound`` remembers below which hash it is still complete.

References
----------
P. Gibbons (2001), Distinct sampling for highly-accurate answers to distinct values queries and
event reports.
E. Cohen, H. Kaplan (2007), Summarizing data using bottom-k sketches.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.exceptions import NaivelyError
from naively.stats import remaining

__all__ = ["EVERYTHING", "Sample", "hashes_of"]

EVERYTHING = np.iinfo(np.uint64).max  # a bound above every row
_NUMBER = re.compile(r"[+-]?(\d{1,18}|(\d{1,15}(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?)")


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of least hash, in the order of their hashes.

    Attributes
    ----------
    size : int
        How many rows are kept at most.
    bound : int
        All rows seen whose hash is below this are here.
    hashes : ndarray of uint64 of shape (n_rows,)
        Ascending and distinct.
    weight : ndarray of shape (n_rows,)
        The weight of all rows of the same content.
    codes : ndarray of int32 of shape (n_rows,)
        Their classes.
    numbers : ndarray of shape (n_rows, n_numbers)
        Cells of the columns of numbers; NaN is missing.
    categories : ndarray of int32 of shape (n_rows, n_categories)
        Codes of the others; -1 is missing.
    """

    size: int
    bound: int
    hashes: NDArray[np.uint64]
    weight: NDArray[np.float64]
    codes: NDArray[np.int32]
    numbers: NDArray[np.float64]
    categories: NDArray[np.int32]

    @classmethod
    def zero(cls, size: int, n_numbers: int, n_categories: int) -> Sample:
        """No rows."""
        return cls(
            size,
            EVERYTHING,
            np.empty(0, np.uint64),
            np.empty(0),
            np.empty(0, np.int32),
            np.empty((0, n_numbers)),
            np.empty((0, n_categories), np.int32),
        )

    @classmethod
    def least(cls, size: int, hashes: NDArray[np.uint64], *rows: NDArray[Any]) -> Sample:
        """Keep the least of distinct hashes in ascending order, and what belongs to them."""
        return cls(size, EVERYTHING, hashes, *rows)._below(EVERYTHING)

    def __len__(self) -> int:
        return self.hashes.size

    def __add__(self, other: Sample) -> Sample:
        if not len(other) and other.bound == EVERYTHING:
            return self
        if not len(self) and self.bound == EVERYTHING:
            return other
        bound = min(self.bound, other.bound)
        hashes = np.concatenate([self.hashes, other.hashes])
        hashes, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        weight = np.zeros(hashes.size)
        np.add.at(weight, inverse, np.concatenate([self.weight, other.weight]))
        whole = Sample(
            self.size,
            EVERYTHING,
            hashes,
            weight,
            np.concatenate([self.codes, other.codes])[first],
            np.concatenate([self.numbers, other.numbers])[first],
            np.concatenate([self.categories, other.categories])[first],
        )
        return whole._below(bound)

    def __sub__(self, other: Sample) -> Sample:
        gone = other.hashes < self.bound
        at = np.searchsorted(self.hashes, other.hashes[gone])
        found = at < len(self)
        if not found.all() or (self.hashes[at] != other.hashes[gone]).any():
            raise NaivelyError(
                "cannot subtract: a row was never added. Subtract only what was added."
            )
        taken = np.zeros(len(self))
        taken[at] = other.weight[gone]
        rest = remaining(self.weight, taken)
        if rest.min(initial=0.0) < 0:
            raise NaivelyError(
                "cannot subtract: a row would have a weight below zero. "
                "Subtract only what was added."
            )
        return replace(self, weight=rest)[rest > 0]

    def __mul__(self, factor: float) -> Sample:
        if factor == 0:
            return Sample.zero(self.size, self.numbers.shape[1], self.categories.shape[1])
        return replace(self, weight=self.weight * factor)

    __rmul__ = __mul__

    def __getitem__(self, at: Any) -> Sample:
        """Take some of the rows."""
        rows = self.hashes, self.weight, self.codes, self.numbers, self.categories
        return Sample(self.size, self.bound, *(array[at] for array in rows))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sample)
            and (self.size, self.bound) == (other.size, other.bound)
            and np.array_equal(self.hashes, other.hashes)
            and np.array_equal(self.weight, other.weight)
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.numbers, other.numbers, equal_nan=True)
            and np.array_equal(self.categories, other.categories)
        )

    __hash__ = None  # type: ignore[assignment]

    def recoded(self, classes: NDArray[Any], categories: list[NDArray[Any]]) -> Sample:
        """Return the same rows with codes of other classes and categories.

        Parameters
        ----------
        classes : ndarray of int
            For each class, its new code.
        categories : list of ndarray of int
            For each column of categories, their new codes.
        """
        codes = self.categories.copy()
        for j, places in enumerate(categories):
            present = codes[:, j] >= 0
            codes[present, j] = places[codes[present, j]]
        return replace(self, codes=classes[self.codes].astype(np.int32), categories=codes)

    def _below(self, bound: int) -> Sample:
        """Keep rows of a hash below the bound, and no more than there is room for."""
        if len(self) > self.size:
            bound = min(bound, int(self.hashes[self.size]))
        return replace(self[self.hashes < bound], bound=bound)


def hashes_of(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash for each label or category: the same on every machine.

    >>> hashes_of(np.array(["a", "b"]))
    array([3405396810240292928, 8453121595177857668], dtype=uint64)

    Text that looks like a number, or like true and false, has the hash of that: labels of a CSV
    file are text until all of them have been seen.

    >>> hashes_of(np.array([1, 2])) == hashes_of(np.array(["1.0", "02"]))
    array([ True,  True])
    """
    if values.dtype.kind in "iubf":
        texts = [(np.float64(value) + 0.0).tobytes() for value in values.tolist()]
    else:
        texts = [_key(str(value)) for value in values.tolist()]
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _key(text: str) -> bytes:
    if _NUMBER.fullmatch(text):
        return (np.float64(float(text)) + 0.0).tobytes()
    if text.lower() in ("true", "false"):
        return np.float64(text.lower() == "true").tobytes()
    return text.encode("utf-8", "surrogatepass")
