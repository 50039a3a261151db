"""Tokens are those of scikit-learn's vectorizers, whatever characters a document has."""
# ruff: noqa: RUF001 (letters of several scripts are what is tested)

import pickle
import re
from unicodedata import category

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from naively import NaivelyError
from naively.data.tokens import TextOptions, Words, tokenize

SCRIPTS = [
    "The quick brown fox; it's over_there 42 times, x y z!",
    "我爱北京天安门。 你好 world 世界",
    "مرحبا بالعالم، كيف حالك؟ ٣٤٥",
    "İSTANBUL'da IĞDIR ığdır Iı İi",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ΑΣ'Β ΑΣ. ΑΣ\u0301 ΑΣ\u0301Α Α\u00adΣ .Σ ΑΣ\u00ad",
    "🙂 emoji 👩‍👩‍👧 word🙂word e\u0301te\u0301 ⅷ Ⅷ ²³ ½ ª",
    "naïve café — “quotes” … ﬁne ǅ ᾈ ẞ straße",
    "हिन्दी में पाठ ไทยแลนด์ 한국어 עברית",
    "a\u2028b\u00a0c\u3000d\x1ce\x85f  g\t\nh",
    "A\u0130B \u0130 \u0130\u0130",
    "",
    "   ",
]
CHARACTERS = st.characters(codec="utf-8") | st.sampled_from("aΣσςİıA' .\u0301\u00ad_0é中🙂\t")
TEXTS = st.lists(st.text(CHARACTERS, max_size=40) | st.sampled_from(SCRIPTS), min_size=1)
RANGES = st.tuples(st.integers(1, 3), st.integers(0, 3)).map(lambda n: (n[0], n[0] + n[1]))


def matrix(encoded):
    rows = encoded.rows
    return scipy.sparse.csr_matrix((rows.values, rows.places, rows.starts), shape=rows.shape)


def check(texts, options, encoded=None):
    encoded = tokenize(texts, options, n_jobs=1) if encoded is None else encoded
    given = {"analyzer": options.analyzer, "ngram_range": options.ngram_range}
    given["lowercase"] = options.lowercase
    if options.hashed is None:
        peer = CountVectorizer(**given)
        tokens = set().union(*map(peer.build_analyzer(), texts))
        assert encoded.words.tolist() == sorted(tokens)
        expected = peer.fit_transform(texts) if tokens else np.zeros((len(texts), 0))
    else:
        peer = HashingVectorizer(
            n_features=options.hashed, norm=None, alternate_sign=False, **given
        )
        expected = peer.transform(texts)
    expected = np.asarray(expected.todense() if hasattr(expected, "todense") else expected)
    np.testing.assert_array_equal(encoded.rows.dense(), expected)
    np.testing.assert_array_equal(encoded.lengths, expected.sum(axis=1))


@pytest.mark.parametrize("analyzer", ["word", "char_wb"])
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 3), (3, 5)])
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("hashed", [None, 2**10])
def test_tokens_of_many_scripts_are_those_of_scikit_learn(analyzer, ngram_range, lowercase, hashed):
    check(SCRIPTS, TextOptions(analyzer, ngram_range, lowercase, hashed))


@settings(deadline=None)
@given(TEXTS, st.sampled_from(["word", "char_wb"]), RANGES, st.booleans())
def test_tokens_of_any_characters_are_those_of_scikit_learn(texts, analyzer, ngrams, lowercase):
    check(texts, TextOptions(analyzer, ngrams, lowercase))


@settings(deadline=None)
@given(TEXTS, st.sampled_from(["word", "char_wb"]), RANGES, st.sampled_from([1, 7, 2**10, 2**20]))
def test_hashes_of_any_characters_are_those_of_scikit_learn(texts, analyzer, ngrams, width):
    encoded = tokenize(texts, TextOptions(analyzer, ngrams, hashed=width))
    peer = HashingVectorizer(
        n_features=width, analyzer=analyzer, ngram_range=ngrams, norm=None, alternate_sign=False
    )
    assert (matrix(encoded) != peer.transform(texts)).nnz == 0


UNASSIGNED = {"Cn", "Co", "Cs"}


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_character_is_what_python_says(lowercase):
    """Each between letters, with a capital sigma before and behind it."""
    characters = [c for c in map(chr, range(0x110000)) if category(c) not in UNASSIGNED]
    forms = "b{0}b A{0}Σ AΣ{0} AΣ{0}A ".format
    step = 4096
    texts = [
        "".join(map(forms, characters[at : at + step])) for at in range(0, len(characters), step)
    ]
    encoded = tokenize(texts, TextOptions(lowercase=lowercase))
    find = re.compile(r"(?u)\b\w\w+\b").findall
    tokens = [find(text.lower() if lowercase else text) for text in texts]
    assert encoded.lengths.tolist() == list(map(len, tokens))
    assert encoded.words.tolist() == sorted(set().union(*tokens))
    encoded = tokenize(texts, TextOptions("char_wb", (9, 9), lowercase))
    words = set().union(*(text.lower().split() if lowercase else text.split() for text in texts))
    assert {f" {w} " for w in words} == {w for w in encoded.words.tolist() if w[0] == w[-1] == " "}


def test_characters_that_are_not_assigned_are_nothing():
    """The table leaves them out."""
    text = "".join(c for c in map(chr, range(0x110000)) if category(c) in UNASSIGNED)
    assert text.lower() == text
    assert not re.search(r"[\w\s]", text)
    assert "ς" not in "".join(f"{c}Σ A{c}Σ " for c in text[::16]).lower()


@pytest.mark.parametrize("at", range(60, 70))
@pytest.mark.parametrize("character", ["x", " ", "é", "中", "🙂", "Σ", "İ"])
def test_tokens_may_lie_across_the_blocks_that_are_read_together(at, character):
    texts = ["ab " * 50, "y" * at + character + "y" * 70, "y " * 30 + "z" * (at - 60) + character]
    for analyzer in ("word", "char_wb"):
        check(texts, TextOptions(analyzer, (1, 2)))


@settings(max_examples=10, deadline=None)
@given(TEXTS, st.sampled_from(["word", "char_wb"]), st.integers(2, 5))
def test_threads_change_nothing(texts, analyzer, n_jobs):
    texts = [text + f" filling {i}" * 20_000 for i, text in enumerate(texts * 8)][:8]
    options = TextOptions(analyzer)
    one, many = (tokenize(texts, options, n_jobs=n) for n in (1, n_jobs))
    assert one.words == many.words
    assert one.rows == many.rows
    assert one.lengths.tolist() == many.lengths.tolist()


@pytest.mark.parametrize("analyzer", ["word", "char_wb"])
def test_words_that_are_unknown_are_dropped_but_counted(analyzer):
    options = TextOptions(analyzer, (1, 3))
    known = tokenize(SCRIPTS[:5], options).words
    peer = CountVectorizer(analyzer=analyzer, ngram_range=(1, 3), vocabulary=known.tolist())
    encoded = tokenize(SCRIPTS, options, known)
    assert encoded.words is known
    np.testing.assert_array_equal(encoded.rows.dense(), peer.transform(SCRIPTS).todense())
    assert encoded.lengths.tolist() == [len(peer.build_analyzer()(text)) for text in SCRIPTS]


def test_tokens_of_a_row_are_in_the_order_of_their_first_appearance():
    rows, words, _ = tokenize(["tea milk tea bread"], TextOptions())
    assert [words.word(place) for place in rows.places] == ["tea", "milk", "bread"]
    assert rows.values.tolist() == [2, 1, 1]


def test_a_missing_document_has_no_tokens_and_no_length():
    encoded = tokenize(["some tea", None, ""], TextOptions())
    assert encoded.lengths.tolist() == [2, -1, 0]
    assert encoded.rows.starts.tolist() == [0, 2, 2, 2]


@pytest.mark.parametrize("texts", [[], [None], ["", "a b c"]], ids=["none", "missing", "short"])
@pytest.mark.parametrize("hashed", [None, 8])
def test_a_vocabulary_may_be_empty(texts, hashed):
    rows, words, _ = tokenize(texts, TextOptions(hashed=hashed))
    assert rows.shape == (len(texts), hashed or 0)
    assert words.size == (hashed or 0)
    again = tokenize(["new words"], TextOptions(hashed=hashed), words)
    assert again.rows.n_cells == (2 if hashed else 0)


def test_one_text_of_ten_megabytes_is_read():
    text = "Ein langer Text über Σ " * 450_000
    rows, words, lengths = tokenize([text, "kurz"], TextOptions())
    assert words.tolist() == ["ein", "kurz", "langer", "text", "über"]
    assert rows.dense()[0].tolist() == [450_000, 0, 450_000, 450_000, 450_000]
    assert lengths.tolist() == [1_800_000, 1]


def test_many_distinct_words_are_told_apart():
    texts = [" ".join(f"{i:x}_{i * 7919:x}" for i in range(n, 80_000, 4)) for n in range(4)]
    check(texts, TextOptions())


def test_options_and_words_that_do_not_fit_are_errors():
    with pytest.raises(NaivelyError, match="analyzer must be 'word' or 'char_wb'"):
        TextOptions("char")
    with pytest.raises(NaivelyError, match="ngram_range must be two whole numbers"):
        TextOptions(ngram_range=(2, 1))
    with pytest.raises(NaivelyError, match="hashed must be a whole number from 1"):
        TextOptions(hashed=2**31)
    with pytest.raises(NaivelyError, match="the words must be hashed as the options say"):
        tokenize(["tea"], TextOptions(), Words.hashed(8))


def test_options_know_their_version_of_unicode():
    import unicodedata

    assert TextOptions().unicode == unicodedata.unidata_version
    assert pickle.loads(pickle.dumps(TextOptions())) == TextOptions()
    assert TextOptions() != TextOptions(unicode="1.0")


# --- Vocabularies: sorted words in one block -----------------------------------------------------

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
