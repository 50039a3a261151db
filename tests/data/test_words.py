"""Vocabularies: sorted words in one block."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaivelyError
from naively.data.text.tokens import TextOptions, tokenize
from naively.data.text.words import Words

WORDS = st.sets(st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["a", "a\0"]))


@given(WORDS)
def test_words_are_sorted_by_code_points(words):
    made = Words.of(words)
    assert made.tolist() == sorted(words)
    assert [made.word(at) for at in range(made.size)] == sorted(words)
    assert len(made) == made.size == len(words)


@given(WORDS, WORDS)
def test_the_union_holds_the_words_of_both_and_knows_their_places(a, b):
    mine, theirs = Words.of(a), Words.of(b)
    both = mine | theirs
    assert both.tolist() == sorted(a | b)
    assert both == theirs.union(mine)
    for some, words in ((a, mine), (b, theirs)):
        assert [both.word(at) for at in words.positions(both)] == sorted(some)
    found = mine.positions(theirs)
    assert [at >= 0 for at in found] == [word in b for word in sorted(a)]


@given(WORDS, st.data())
def test_some_of_the_words_are_found_by_a_mask_or_by_places(words, data):
    made = Words.of(words)
    kept = np.array(
        data.draw(st.lists(st.booleans(), min_size=made.size, max_size=made.size)), bool
    )
    expected = [word for word, keep in zip(made.tolist(), kept, strict=True) if keep]
    assert made[kept].tolist() == made[np.flatnonzero(kept)].tolist() == expected


def test_hashed_words_have_no_names():
    words = Words.hashed(4)
    assert words.union(Words.hashed(4)) == words
    assert words.tolist() == ["[0]", "[1]", "[2]", "[3]"]
    assert words.positions(words).tolist() == [0, 1, 2, 3]
    with pytest.raises(NaivelyError, match="hashed to as many places on both sides"):
        words.union(Words.hashed(8))
    with pytest.raises(NaivelyError, match="Share the schema first"):
        words.union(Words.of(["tea"]))


def test_words_survive_a_pickle_without_their_index():
    words = Words.of(["milk", "tea"])
    size = len(pickle.dumps(words))
    assert tokenize(["tea"], TextOptions(), words).rows.places.tolist() == [1]
    assert len(pickle.dumps(words)) == size
    assert pickle.loads(pickle.dumps(words)) == words
    assert words != Words.of(["milk"])
    assert words != ["milk", "tea"]
