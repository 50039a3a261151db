"""Hashed words that are counted straight into tables are those of rows of counts."""

import numpy as np
import pytest

from naively import NaiveBayes, NaivelyError, Text
from naively.hashed_texts import HashedCounts, HashedTexts, are_hashed_words
from naively.schema import Schema
from naively.statistics import Documents, Occurrences
from naively.texts import texts_of
from naively.tokens import TextOptions, encode

TEXTS = [
    "Tea and tea, a cup of TEA",
    None,
    "",
    "Ünïcode ΣΊΣΥΦΟΣ İstanbul 茶 tea_cup 1234567890 abcdefghijklmnop abcdefghijklmnopq",
    "x" * 200 + " " + "word " * 70 + "the end",
    "words of exactly four byte long size eight888 twelve121212",
]
CLASSES = np.array([0, 1, 2, 0, 2, 2], np.int32)


def counted_rows(texts, options):
    """Return occurrences and documents by class, from rows of counts."""
    rows = encode(texts, options).rows.dense()
    members = np.eye(3)[CLASSES].T
    return members @ rows, members @ (rows > 0)


@pytest.mark.parametrize(
    "options",
    [
        TextOptions(hashed=64),
        TextOptions(hashed=61, lowercase=False),
        TextOptions(hashed=1),
        TextOptions(hashed=2**12, ngram_range=(1, 3)),
        TextOptions(hashed=1000, ngram_range=(2, 2)),
    ],
    ids=["words", "case kept", "one place", "up to three words", "pairs of words"],
)
def test_tables_hold_what_rows_of_counts_add_up_to(options):
    schema = Schema(2, kinds=("text", "text"), options=(options, TextOptions(hashed=16)))
    columns = [texts_of(TEXTS), texts_of(TEXTS[::-1])]
    counts = HashedCounts(schema, np.array(["a", "b", "c"]))
    for rows in (slice(0, 2), slice(2, 2), slice(2, 6)):
        counts.add(HashedTexts.of(columns, schema)[rows], CLASSES[rows])
    found = counts.summary()
    for kind, *expected in zip(
        (Occurrences, Documents),
        counted_rows(TEXTS, options),
        counted_rows(TEXTS[::-1], schema.options[1]),
        strict=True,
    ):
        np.testing.assert_array_equal(found[kind].values, np.hstack(expected))


def test_counts_beyond_those_of_32_bits_go_on_in_sums():
    schema = Schema(1, kinds=("text",), options=(TextOptions(hashed=8),))
    small, large = (HashedCounts(schema, np.array([0, 1, 2]), **how) for how in ({"most": 99}, {}))
    rows = HashedTexts.of([texts_of(TEXTS)], schema)
    for counts in (small, large):
        for _ in range(3):
            counts.add(rows, CLASSES)
    assert small.summary() == large.summary()


def test_rows_that_are_picked_become_rows_of_counts():
    schema = Schema(1, kinds=("text",), options=(TextOptions(hashed=32),))
    rows = HashedTexts.of([texts_of(TEXTS)], schema)[1:]
    at = np.array([2, 4])
    (picked,) = rows[at].columns
    assert picked == encode([TEXTS[3], TEXTS[5]], schema.options[0]).rows


def test_only_words_that_are_all_hashed_are_tallied():
    hashed, plain = TextOptions(hashed=8), TextOptions()
    characters = TextOptions(hashed=8, analyzer="char_wb")
    for options, expected in [((hashed,), True), ((hashed, plain), False), ((characters,), False)]:
        kinds = ("text",) * len(options)
        assert are_hashed_words(Schema(len(options), kinds=kinds, options=options)) is expected
    assert not are_hashed_words(Schema(2))


def test_bytes_that_are_not_utf8_are_an_error_that_names_the_column(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    bad = pa.array([b"tea", b"\xff\xfe"]).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"note": bad, "y": ["a", "b"]}), tmp_path / "bad.parquet")
    with pytest.raises(NaivelyError, match=r"column 'note' must hold text in UTF-8"):
        NaiveBayes.from_files(
            tmp_path / "bad.parquet", target="y", families={"note": Text(hashed=64)}
        )


@pytest.mark.parametrize("group", [3, 64, 400], ids=lambda n: f"row groups of {n}")
def test_a_file_of_hashed_text_gives_the_model_of_its_rows_in_memory(tmp_path, group):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    words = np.array(["tea", "milk", "Sugar", "cup", "é", "ein", "two words"])
    texts = [" ".join(rng.choice(words[k : k + 4], 1 + i % 7)) for i, k in enumerate(y)]
    texts[17] = None
    table = pa.table({"note": texts, "age": rng.normal(size=400), "town": words[y], "y": y})
    pq.write_table(table, tmp_path / "notes.parquet", row_group_size=group)
    families = {"note": Text(hashed=2**10)}
    file = NaiveBayes.from_files(tmp_path / "notes.parquet", target="y", families=families)
    memory = NaiveBayes(families=families).fit(table.drop(["y"]), y)
    for kind in (Occurrences, Documents):
        assert file.summary_[kind] == memory.summary_[kind]
    assert file.summary_.sample == memory.summary_.sample
