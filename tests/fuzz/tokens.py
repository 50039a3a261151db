"""Texts of any characters, cut into tokens, against Python's own `re` and `str`.

Bytes of some texts are exchanged: they are counted as Python decodes them, or the error names the
first row that Python cannot decode.
"""

import re
from collections import Counter

import pyarrow
import pytest
from hypothesis import strategies as st

from naively import NaivelyError
from naively.data.tokens import TextOptions, tokenize

CHARACTERS = st.characters(codec="utf-8") | st.sampled_from("abcABC _'.\t\n\x1c0ΣİßéÄ中文\u0301🙂")
TEXTS = st.text(CHARACTERS, max_size=30) | st.text("abc ", max_size=200)
EXCHANGES = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=2)

CASES = st.fixed_dictionaries(
    {
        "texts": st.lists(st.tuples(TEXTS, st.just([]) | EXCHANGES) | st.none(), max_size=6),
        "analyzer": st.sampled_from(["word", "char_wb"]),
        "least": st.integers(1, 4),
        "more": st.integers(0, 2),
        "lowercase": st.booleans(),
        "known": st.booleans(),
        "n_jobs": st.sampled_from([1, 3]),
    }
)


def check(case):
    options = TextOptions(
        case["analyzer"], (case["least"], case["least"] + case["more"]), case["lowercase"]
    )
    cells = [None if text is None else exchanged(*text) for text in case["texts"]]
    column = pyarrow.array(cells, pyarrow.binary())
    column = pyarrow.Array.from_buffers(pyarrow.string(), len(cells), column.buffers())
    expected, wrong = [], None
    for row, cell in enumerate(cells):
        try:
            expected.append(None if cell is None else Counter(tokens(cell.decode(), options)))
        except UnicodeDecodeError:
            wrong = row
            break
    if wrong is not None:
        with pytest.raises(NaivelyError, match=f"in row {wrong}[.]"):
            tokenize(column, options, n_jobs=case["n_jobs"])
        return
    encoded = tokenize(column, options, n_jobs=case["n_jobs"])
    if case["known"]:
        encoded = tokenize(column, options, encoded.words)
    compare(encoded, expected)


def exchanged(text, exchanges):
    made = bytearray(text.encode())
    for place, byte in exchanges:
        if made:
            made[place % len(made)] = byte
    return bytes(made)


def tokens(text, options):
    text = text.lower() if options.lowercase else text
    least, greatest = options.ngram_range
    if options.analyzer == "word":
        words = re.findall(r"(?u)\b\w\w+\b", text)
        for n in range(least, greatest + 1):
            yield from (" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
        return
    for word in text.split():
        padded = f" {word} "
        for n in range(least, greatest + 1):
            yield from (padded[i : i + n] for i in range(max(1, len(padded) - n + 1)))
            if n >= len(padded):
                break


def compare(encoded, expected):
    rows, words, lengths = encoded
    names = words.tolist()
    assert names == sorted(set().union(*(counts or () for counts in expected)))
    for i, counts in enumerate(expected):
        assert lengths[i] == (-1 if counts is None else counts.total())
        at = slice(rows.starts[i], rows.starts[i + 1])
        found = zip(rows.places[at].tolist(), rows.values[at].tolist(), strict=True)
        assert {names[place]: n for place, n in found} == dict(counts or {})
