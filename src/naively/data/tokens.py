r"""Texts become rows of counts: the distinct tokens of each document, and how often it has them.

Tokens are those of scikit-learn's `CountVectorizer`: words (``(?u)\b\w\w+\b``) or n-grams of
characters within words (``char_wb``), in lower case. They are numbered by a vocabulary that is
gathered on the way and sorted, or looked up in a given one, or hashed as by `HashingVectorizer`.

>>> rows, words, lengths = tokenize(["Tea and tea", "No milk, please"], TextOptions())
>>> words.tolist(), rows.dense().tolist()
(['and', 'milk', 'no', 'please', 'tea'], [[1.0, 0.0, 0.0, 0.0, 2.0], [0.0, 1.0, 1.0, 1.0, 0.0]])
>>> rows, _, lengths = tokenize(["Green tea!", None], TextOptions(), words)
>>> rows.dense().tolist(), lengths.tolist()
([[0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0]], [2, -1])

In a file, a vocabulary is one block of UTF-8 and where each word begins.

>>> words = Words.of(["tea", "milk"])
>>> read_words(Tensors(word_tensors(words, "words.0")), "words.0", TextOptions()) == words
True
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from itertools import chain, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.sparse import SparseRows
from naively.data.tensors import Tensors, UnsoundError
from naively.data.texts import Texts, texts_of
from naively.data.threads import map_blocks, thread_count
from naively.errors import NaivelyError

UNICODE: str = unicodedata.unidata_version  # the version of Unicode that this Python knows
_BLOCK_POINTS, _N_POINTS = 256, 0x110000
_PLANES = (range(0x40000), range(0xE0000, 0xE1000))  # characters of the others have no properties
_WORD, _SPACE, _CASED, _IGNORABLE, _SIGMA, _EXPANSION = (1 << i for i in range(6))
_CAPITAL_SIGMA = 0x3A3
_BLOCK_BYTES = 1 << 18  # of text that are worth a thread
_MAX_WORDS = 1 << 25  # of a vocabulary that is gathered, as the kernel has it
_PROBLEMS = (  # by the kernel's status
    "",
    "hold text in UTF-8; got other bytes, or half of a surrogate pair, in row {row}. Decode it by "
    "its own encoding first.",
    "hold texts below 2^30 bytes; got a longer one in row {row}. Cut it.",
    f"have at most {_MAX_WORDS:,} different words; got more by row {{row}}. Hash the words to a "
    "fixed number of places by Text(hashed=2**20), or take shorter n-grams.",
)
_TOO_MANY_WORDS = 3


@dataclass(frozen=True)
class TextOptions:
    """What tokens are; two sides that are added must agree on it.

    Attributes
    ----------
    analyzer : {"word", "char_wb"}
        Words of two or more letters, digits and underscores; or n-grams of the characters of what
        stands between white space, with a space before and behind it.
    ngram_range : tuple of int
        The least and the greatest number of words, or characters, in a token.
    lowercase : bool
        Whether texts are made lower case first.
    hashed : int or None
        The number of places that tokens are hashed to; None for a vocabulary.
    unicode : str
        The version of Unicode that says what letters are, which is that of Python.
    """

    analyzer: Literal["word", "char_wb"] = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    hashed: int | None = None
    unicode: str = UNICODE

    def __post_init__(self) -> None:
        if self.analyzer not in ("word", "char_wb"):
            raise NaivelyError(f"analyzer must be 'word' or 'char_wb'; got {self.analyzer!r}.")
        if not _is_range(self.ngram_range):
            raise NaivelyError(
                "ngram_range must be two whole numbers from 1 to 65535, the lesser first; got "
                f"{self.ngram_range!r}."
            )
        if not isinstance(self.lowercase, bool):
            raise NaivelyError(f"lowercase must be True or False; got {self.lowercase!r}.")
        if self.hashed is not None and not (_is_whole(self.hashed) and 1 <= self.hashed < 2**31):
            raise NaivelyError(
                f"hashed must be a whole number from 1 to 2^31 - 1, or None; got {self.hashed!r}."
            )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_range(value: Any) -> bool:
    if not (isinstance(value, tuple) and len(value) == 2 and all(map(_is_whole, value))):
        return False
    return 1 <= value[0] <= value[1] < 2**16


class EncodedTexts(NamedTuple):
    """Documents as rows of counts.

    Attributes
    ----------
    rows : SparseRows
        The distinct tokens of each document in the order of their first appearance (for
        "char_wb", of the words they are in), and their counts as uint32.
    words : Words
        The vocabulary, whose places the columns are.
    lengths : ndarray of int64
        How many tokens each document has, unknown ones too; -1 where it is missing.
    """

    rows: SparseRows
    words: Words
    lengths: NDArray[np.int64]


def tokenize(
    texts: Any,
    options: TextOptions,
    words: Words | None = None,
    n_jobs: int | None = None,
    *,
    name: str = "the column",
) -> EncodedTexts:
    """Count the tokens of each document; the result is the same on any number of threads.

    Parameters
    ----------
    texts : list of str, ndarray, column of a frame, or Texts
        The documents; missing ones have no token.
    options : TextOptions
        What tokens are.
    words : Words, optional
        The vocabulary, of which tokens are kept; all tokens are where there is none.
    n_jobs : int, optional
        How many threads; all cores by default.
    name : str
        What messages call the column.
    """
    if words is not None and words.width != options.hashed:
        raise NaivelyError(
            f"the words must be hashed as the options say, to {options.hashed} places; got "
            f"{words.width}. Encode by the options that the words were made with."
        )
    documents = texts_of(texts, name)
    blocks = _blocks(documents, n_jobs)
    parts = map_blocks(lambda rows: _count(documents, rows, options, words, name), blocks, n_jobs)
    if options.hashed is not None:
        words = Words.hashed(options.hashed)
    elif words is None:
        words = _unite(parts, n_jobs)
        if words.size > _MAX_WORDS:  # each thread may have found fewer
            raise_status(_TOO_MANY_WORDS, len(documents.lengths) - 1, name)
    return _joined([part.take_rows() for part in parts], words)


def _blocks(documents: Texts, n_jobs: int | None) -> list[slice]:
    """Cut the documents into blocks of about as many bytes, one for each thread."""
    ends = np.cumsum(np.maximum(documents.lengths, 0))
    size = int(ends[-1]) if ends.size else 0
    n_blocks = max(1, min(thread_count(n_jobs), size // _BLOCK_BYTES))
    inner = np.searchsorted(ends, size * np.arange(1, n_blocks) / n_blocks).tolist()
    edges = [0, *inner, ends.size]
    return [slice(a, b) for a, b in pairwise(edges)]


def _count(
    documents: Texts, rows: slice, options: TextOptions, words: Words | None, name: str
) -> _kernel.CountedTokens:
    known = words.index if words is not None and options.hashed is None else None
    counted = _kernel.count_tokens(
        documents.addresses[rows],
        documents.lengths[rows],
        alphabet(options.lowercase),
        options.analyzer == "char_wb",
        *options.ngram_range,
        known,
        options.hashed or 0,
    )
    status, row = counted.status
    raise_status(status, rows.start + row, name)
    return counted


def raise_status(status: int, row: int, name: str) -> None:
    """Raise where the kernel could not read the text of a row."""
    if status:
        raise NaivelyError(f"{name} must {_PROBLEMS[status].format(row=row)}")


def _unite(parts: list[_kernel.CountedTokens], n_jobs: int | None) -> Words:
    """Return the words of all parts, and number the tokens by them."""
    vocabularies = map_blocks(lambda part: Words(*part.sort_words()), parts, n_jobs)
    words = reduce(Words.union, vocabularies)
    if len(parts) > 1:
        pairs = list(zip(parts, vocabularies, strict=True))
        map_blocks(lambda pair: pair[0].move_places(pair[1].positions(words)), pairs, n_jobs)
    return words


def _joined(parts: list[tuple[NDArray[Any], ...]], words: Words) -> EncodedTexts:
    if len(parts) == 1:
        ends, places, counts, lengths = parts[0]
    else:
        ends, places, counts, lengths = (
            np.concatenate(arrays) for arrays in zip(*parts, strict=True)
        )
        before = np.cumsum([0, *(part[1].size for part in parts[:-1])])
        ends += np.repeat(before, [part[0].size for part in parts])
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    return EncodedTexts(SparseRows(starts, places, counts, words.size), words, lengths)


# --- The vocabulary ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Words:
    """Words in the order of their code points, which is that of their bytes in UTF-8.

    Words that are hashed have no names; there are only so many places for them.

    >>> words = Words.of(["tea", "ähre", "coffee"])
    >>> words.tolist()
    ['coffee', 'tea', 'ähre']
    >>> both = words | Words.of(["milk", "tea"])
    >>> both.tolist(), words.positions(both).tolist()
    (['coffee', 'milk', 'tea', 'ähre'], [0, 2, 3])
    >>> words[np.array([True, False, True])].tolist()
    ['coffee', 'ähre']
    >>> Words.hashed(2**20).size
    1048576

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
        return cls(np.empty(0, np.uint8), np.zeros(1, np.int64), width)

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


def no_words(options: TextOptions) -> Words:
    """Return the vocabulary of a column in which no text has been seen."""
    return Words.of(()) if options.hashed is None else Words.hashed(options.hashed)


def word_tensors(words: Words, name: str) -> dict[str, NDArray[Any]]:
    """Return a vocabulary as arrays; hashed words need none."""
    if words.width is not None:
        return {}
    return {f"{name}.block": words.block, f"{name}.offsets": words.offsets}


def read_words(tensors: Tensors, name: str, options: TextOptions) -> Words:
    """Return a vocabulary, having checked that it is one: distinct words in UTF-8, sorted."""
    if options.hashed is not None:
        return no_words(options)
    words = Words(*tensors.texts(name))
    if not np.diff(words.offsets).all():
        raise UnsoundError(f"{name} must be words, none of them empty")
    try:
        listed = words.tolist()
    except UnicodeDecodeError:
        raise UnsoundError(f"{name} must be UTF-8") from None
    if any(a >= b for a, b in pairwise(listed)):
        raise UnsoundError(f"{name} must be distinct and sorted")
    return words


# --- What characters are -------------------------------------------------------------------------


@cache
def alphabet(lowercase: bool) -> _kernel.Alphabet:
    r"""Return what characters are, by Python's own `str`, in the table that the tokenizer reads.

    A character belongs to words where its lower case is a letter, a digit or an underscore, as
    ``\w`` of `re` has it. The table, whose characters have a lower case of their own or not, has
    two stages: blocks of 256 code points, of which equal ones are kept once. It is made when it is
    first needed, in about a fifth of a second.

    >>> alphabet(lowercase=True) is alphabet(lowercase=True)
    True
    """
    text = "".join(map(chr, chain(*_PLANES)))
    lower = list(map(str.lower, text)) if lowercase else list(text)
    several = {ord(c): [*map(ord, its)] for c, its in zip(text, lower, strict=True) if its[1:]}
    pairs = zip(text, lower, strict=True)
    points = np.fromiter(map(ord, text), np.int64)
    to = np.fromiter((ord(c if its[1:] else its) for c, its in pairs), np.int64)
    is_word = np.zeros(_N_POINTS, dtype=bool)
    is_word[points] = [c.isalnum() or c == "_" for c in text]
    entries = np.zeros(_N_POINTS, np.int32)
    entries[points] = (to - points) << 8 | np.where(is_word[to], _WORD, 0)
    entries[points] |= np.where([c.isspace() for c in text], _SPACE, 0)
    if lowercase:
        entries[points] |= np.fromiter(map(_around_sigma, text), np.int32)
        entries[list(several)] |= _EXPANSION
        entries[_CAPITAL_SIGMA] |= _SIGMA
    numbered: dict[bytes, int] = {}
    table = entries.reshape(-1, _BLOCK_POINTS)
    blocks = [numbered.setdefault(block.tobytes(), len(numbered)) for block in table]
    distinct = np.frombuffer(b"".join(numbered), np.int32)
    return _kernel.Alphabet(np.array(blocks, np.uint16), distinct, list(several.items()), lowercase)


def _around_sigma(character: str) -> int:
    """Return what a character is to a capital sigma: part of its word, looked through, or neither.

    Behind a character that is part of a word, and behind any that is looked through, the lower
    case of a sigma at the end is another one.
    """
    if f"{character}\u03a3 ".lower()[-2] == "\u03c2":
        return _CASED
    return _IGNORABLE if f"A{character}\u03a3 ".lower()[-2] == "\u03c2" else 0
