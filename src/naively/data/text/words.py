"""The vocabulary of a column of text: one UTF-8 block and offsets, sorted by code points.

>>> words = Words.of(["tea", "ähre", "coffee"])
>>> words.tolist()
['coffee', 'tea', 'ähre']
>>> both = words | Words.of(["milk", "tea"])
>>> both.tolist(), words.positions(both).tolist()
(['coffee', 'milk', 'tea', 'ähre'], [0, 2, 3])
>>> words[np.array([True, False, True])].tolist()
['coffee', 'ähre']

Words that are hashed have no names; there are only so many places for them.

>>> Words.hashed(2**20).size
1048576
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.errors import NaivelyError

_NO_BYTES = np.empty(0, np.uint8)


@dataclass(frozen=True, eq=False)
class Words:
    """Words in the order of their code points, which is that of their bytes in UTF-8.

    Attributes
    ----------
    block : ndarray of uint8
        The bytes of all words, one after the other.
    offsets : ndarray of int64 of shape (size + 1,)
        Where each word begins, and the end.
    width : int or None
        The number of places of hashed words, which have no bytes; None where words have names.
    """

    block: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    width: int | None = None

    @classmethod
    def of(cls, words: Iterable[str]) -> Words:
        """Return the distinct ones of some words, sorted."""
        encoded = [word.encode() for word in sorted(set(words))]
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    @classmethod
    def hashed(cls, width: int) -> Words:
        """Return so many places for words that have no names."""
        return cls(_NO_BYTES, np.zeros(1, np.int64), width)

    @property
    def size(self) -> int:
        """The number of words, or of places for hashed ones."""
        return self.offsets.size - 1 if self.width is None else self.width

    @cached_property
    def index(self) -> _kernel.WordIndex:
        """The table by which the tokenizer finds words; made once."""
        return _kernel.WordIndex(self.block, self.offsets)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, at: NDArray[Any]) -> Words:
        """Return some of the words, by a mask or by ascending places."""
        at = np.flatnonzero(at) if at.dtype == bool else at
        if self.width is not None:
            return Words.hashed(at.size)
        lengths = np.diff(self.offsets)[at]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        bytes_at = np.repeat(self.offsets[at] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Words(self.block[bytes_at], offsets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Words):
            return NotImplemented
        return self is other or (
            self.width == other.width
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.block, other.block)
        )

    __hash__ = None  # type: ignore[assignment]

    def union(self, other: Words) -> Words:
        """Return the words of both."""
        if self.width is not None or other.width is not None:
            if self.width == other.width:
                return self
            raise NaivelyError(
                "words must be hashed to as many places on both sides, or on none; got "
                f"{self.width} and {other.width}. Share the schema first."
            )
        if other.size == 0 or self == other:
            return self
        if self.size == 0:
            return other
        both = Words(*_kernel.unite_words(self.block, self.offsets, other.block, other.offsets))
        return self if both.size == self.size else other if both.size == other.size else both

    __or__ = union

    def positions(self, among: Words) -> NDArray[np.int32]:
        """Return where each word stands among others, or -1 where it is not there."""
        if self is among or self.width is not None:
            return np.arange(self.size, dtype=np.int32)
        found = np.empty(self.size, np.int32)
        _kernel.word_positions(self.block, self.offsets, among.block, among.offsets, found)
        return found

    def word(self, at: int) -> str:
        """Return one word; of hashed words, its place in brackets."""
        if self.width is not None:
            return f"[{at}]"
        return self.block[self.offsets[at] : self.offsets[at + 1]].tobytes().decode()

    def tolist(self) -> list[str]:
        """Return all words."""
        if self.width is not None:
            return [f"[{at}]" for at in range(self.width)]
        block, ends = self.block.tobytes(), self.offsets.tolist()
        return [block[a:b].decode() for a, b in pairwise(ends)]

    def __getstate__(self) -> dict[str, Any]:
        """Leave the index out of pickles: it is made again."""
        return {name: self.__dict__[name] for name in ("block", "offsets", "width")}
