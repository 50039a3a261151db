"""The kernel's tokenizer, beside the pattern of scikit-learn written out."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naively import _kernel
from naively.data.tokens import TextOptions, Words, alphabet, tokenize

TEXTS = st.lists(
    st.text(st.characters(codec="utf-8") | st.sampled_from("abΣİ' \t\u0301_é"), max_size=90)
)


def characters(text, least, greatest):
    """Return the n-grams of what stands between white space, as scikit-learn documents them."""
    for word in text.split():
        padded = f" {word} "
        for n in range(least, greatest + 1):
            yield from (padded[i : i + n] for i in range(max(1, len(padded) - n + 1)))
            if n >= len(padded):
                break


def grams(text, least, greatest):
    words = re.findall(r"(?u)\b\w\w+\b", text)
    for n in range(least, greatest + 1):
        yield from (" ".join(words[i : i + n]) for i in range(len(words) - n + 1))


@settings(deadline=None)
@given(TEXTS, st.integers(1, 3), st.integers(0, 2), st.booleans())
def test_tokens_are_those_of_the_pattern(texts, least, more, by_characters):
    split = characters if by_characters else grams
    options = TextOptions("char_wb" if by_characters else "word", (least, least + more))
    tokens = [list(split(text.lower(), *options.ngram_range)) for text in texts]
    rows, words, lengths = tokenize(texts, options)
    assert words.tolist() == sorted({token for document in tokens for token in document})
    assert lengths.tolist() == list(map(len, tokens))
    names = words.tolist()
    for i, document in enumerate(tokens):
        at = slice(rows.starts[i], rows.starts[i + 1])
        found = {names[place]: n for place, n in zip(rows.places[at], rows.values[at], strict=True)}
        assert found == {token: document.count(token) for token in document}


def test_words_of_characters_beyond_the_memory_are_cut_again():
    """Words whose n-grams are remembered are forgotten when they are too many."""
    texts = [" ".join(f"w{i:05d}{'x' * (i % 40)}" for i in range(n, n + 4000)) for n in
             range(0, 60_000, 4000)]  # fmt: skip
    texts += texts[:2]
    rows, _, lengths = tokenize(texts, TextOptions("char_wb", (1, 6)), n_jobs=1)
    for i in (0, 14, 15):
        document = list(characters(texts[i], 1, 6))
        assert lengths[i] == len(document)
        assert rows[i : i + 1].n_cells == len(set(document))
    assert rows[:2][[0, 1]] == rows[15:][[0, 1]]


def test_tables_that_are_not_sound_are_refused():
    blocks, entries = np.zeros(0x1100, np.uint16), np.zeros(256, np.int32)
    _kernel.Alphabet(blocks, entries, [], False)
    for wrong in (
        (blocks[1:], entries, []),
        (blocks + np.uint16(1), entries, []),
        (blocks, entries + np.int32(32), []),
        (blocks, entries + np.int32(32), [(0, [1, 1])]),
        (blocks, entries + np.int32(0x110000 << 8 & 0x7FFFFFFF), []),
        (blocks, entries + np.int32(0x800 << 8), []),
    ):
        with pytest.raises(ValueError, match=r"block|expansion|Unicode|long"):
            _kernel.Alphabet(*wrong, True)


def test_vocabularies_that_are_not_sound_are_refused():
    block = np.zeros(3, np.uint8)
    for offsets in ([], [1, 3], [0, 2, 1], [0, 4]):
        with pytest.raises(ValueError, match="offsets of words"):
            _kernel.WordIndex(block, np.array(offsets, np.int64))


def test_arguments_that_do_not_fit_are_refused():
    one, two = np.zeros(1, np.uint64), np.full(2, -1)
    with pytest.raises(ValueError, match="one length per text"):
        _kernel.count_tokens(one, two, alphabet(True), False, 1, 1, None, 0)
    with pytest.raises(ValueError, match="must have a length"):
        _kernel.count_tokens(one, two[:1], alphabet(True), False, 0, 1, None, 0)
    words = Words.of(["a"])
    with pytest.raises(ValueError, match="one position per word"):
        _kernel.word_positions(*(words.block, words.offsets) * 2, np.empty(2, np.int32))
    with pytest.raises(ValueError, match="place for every text"):
        _kernel.text_addresses(["a"], np.empty(2, np.uint64), np.empty(1, np.int64))
