r"""What characters are, by Python's own `str`, in the table that the tokenizer reads.

A character belongs to words where ``\w`` of `re` matches its lower case; ``str.lower`` says what
that is, and ``str.isspace`` what separates words. The table has two stages, blocks of 256 code
points of which equal ones are kept once. It is made when it is first needed, in about a tenth of a
second.

>>> alphabet(lowercase=True) is alphabet(lowercase=True)
True
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel

UNICODE: str = unicodedata.unidata_version  # the version of Unicode that this Python knows
_BLOCK_POINTS, _N_POINTS = 256, 0x110000
_PLANES = (range(0x40000), range(0xE0000, 0xE1000))  # characters of the others have no properties
_WORD, _SPACE, _CASED, _IGNORABLE, _SIGMA, _EXPANSION = (1 << i for i in range(6))
_CAPITAL_SIGMA, _FINAL_SIGMA = 0x3A3, 0x3C2


@cache
def alphabet(lowercase: bool) -> _kernel.Alphabet:
    """Return the kernel's table, whose characters have a lower case of their own or not."""
    points = np.concatenate([np.arange(plane.start, plane.stop) for plane in _PLANES])
    text = _text(points)
    lower, expansions = _lower(points, text) if lowercase else (points, {})
    is_word = np.zeros(_N_POINTS, dtype=bool)
    is_word[points] = _matches(r"\w+", text)
    entries = np.zeros(_N_POINTS, np.int32)
    entries[points] = (lower - points) << 8 | np.where(is_word[lower], _WORD, 0)
    entries[points] |= np.where(_matches(r"\s+", text), _SPACE, 0)
    if lowercase:
        plain = np.setdiff1d(points, list(expansions))  # whose lower case does not move the others
        entries[plain] |= _around_sigma(plain)
        entries[list(expansions)] |= _CASED | _EXPANSION
        entries[_CAPITAL_SIGMA] |= _SIGMA
    numbered: dict[bytes, int] = {}
    table = entries.reshape(-1, _BLOCK_POINTS)
    blocks = [numbered.setdefault(block.tobytes(), len(numbered)) for block in table]
    distinct = np.frombuffer(b"".join(numbered), np.int32)
    found = np.array(blocks, np.uint16)
    return _kernel.Alphabet(found, distinct, list(expansions.items()), lowercase)


def _text(points: NDArray[Any]) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def _points(text: str) -> NDArray[np.int64]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)


def _matches(pattern: str, text: str) -> NDArray[np.bool_]:
    """Return which characters of all match."""
    found = np.zeros(len(text), dtype=bool)
    for match in re.finditer(pattern, text):
        found[match.start() : match.end()] = True
    return found


def _lower(points: NDArray[np.int64], text: str) -> tuple[NDArray[np.int64], dict[int, list[int]]]:
    """Return the lower case of characters, and of those that have several."""
    lower, expansions = points.copy(), {}
    for start in range(0, len(text), _BLOCK_POINTS):
        block = text[start : start + _BLOCK_POINTS]
        made = block.lower()
        if len(made) == len(block):
            lower[start : start + _BLOCK_POINTS] = _points(made)
            continue
        for at, character in enumerate(block, start):
            parts = _points(character.lower()).tolist()
            if len(parts) == 1:
                lower[at] = parts[0]
            else:
                expansions[int(points[at])] = parts
    return lower, expansions


def _around_sigma(points: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what each character is to a capital sigma: part of its word, looked through, or not.

    Behind a character that is part of a word, and behind any that is looked through, the
    lower case of a sigma at the end is another one.
    """
    sigma, letter, space = _CAPITAL_SIGMA, ord("A"), ord(" ")

    def ends(*before: int) -> NDArray[np.bool_]:
        rows = np.empty((points.size, len(before) + 3), "<u4")
        rows[:] = [*before, space, sigma, space]
        rows[:, len(before)] = points
        return np.asarray(_points(_text(rows).lower()).reshape(rows.shape)[:, -2] == _FINAL_SIGMA)

    cased, seen = ends(), ends(letter)
    return np.where(cased, _CASED, np.where(seen, _IGNORABLE, 0))
