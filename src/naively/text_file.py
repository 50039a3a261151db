"""What belongs to columns of text in files: how they become words, and their vocabularies.

A vocabulary is one block of UTF-8 and where each word begins.

>>> words = Words.of(["tea", "milk"])
>>> read_words(Tensors(word_tensors(words, "words.0")), "words.0", TextOptions()) == words
True
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.tensors import Tensors, UnsoundError
from naively.tokens import TextOptions
from naively.words import Words

__all__ = ["no_words", "option_dict", "read_option", "read_words", "word_tensors"]


def no_words(options: TextOptions) -> Words:
    """Return the vocabulary of a column in which no text has been seen."""
    return Words.of(()) if options.hashed is None else Words.hashed(options.hashed)


def option_dict(options: TextOptions) -> dict[str, Any]:
    """Return options as JSON can hold them."""
    return {**asdict(options), "ngram_range": list(options.ngram_range)}


def read_option(given: dict[str, Any]) -> TextOptions:
    """Return the options of which `option_dict` returned this."""
    return TextOptions(**{**given, "ngram_range": tuple(given["ngram_range"])})


def word_tensors(words: Words, name: str) -> dict[str, NDArray[Any]]:
    """Return a vocabulary as arrays; hashed words need none."""
    if words.width is not None:
        return {}
    return {f"{name}.block": words.block, f"{name}.offsets": words.offsets}


def read_words(tensors: Tensors, name: str, options: TextOptions) -> Words:
    """Return a vocabulary, having checked that it is one: distinct words in UTF-8, sorted."""
    if options.hashed is not None:
        return no_words(options)
    size = tensors.length(f"{name}.block")
    block = tensors.take(f"{name}.block", np.uint8, (size,))
    n_offsets = tensors.length(f"{name}.offsets")
    offsets = tensors.take(f"{name}.offsets", np.int64, (n_offsets,))
    sound = n_offsets > 0 and offsets[0] == 0 and offsets[-1] == size
    if not sound or (np.diff(offsets) <= 0).any():
        raise UnsoundError(f"{name} must be words, one after the other")
    words = Words(block, offsets)
    try:
        listed = words.tolist()
    except UnicodeDecodeError:
        raise UnsoundError(f"{name} must be UTF-8") from None
    if any(a >= b for a, b in pairwise(listed)):
        raise UnsoundError(f"{name} must be distinct and sorted")
    return words
