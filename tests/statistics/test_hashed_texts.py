"""Hashed words that are counted straight into tables are those of rows of counts."""

import json
import shutil

import numpy as np
import pytest

from naively import NaiveBayes, NaivelyError, summarize
from naively.data.rows import Targets
from naively.data.schema import Schema
from naively.data.texts import texts_of
from naively.data.tokens import TextOptions, tokenize
from naively.engines.files.summary_pass import scan
from naively.families import Text
from naively.statistics import Documents, Occurrences
from naively.statistics.hashed_texts import HashedCounts, HashedTexts, are_hashed_words

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
    rows = tokenize(texts, options).rows.dense()
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
    counts = HashedCounts(schema)
    for rows in (slice(0, 2), slice(2, 2), slice(2, 6)):  # of which the last has another class
        classes, codes = np.unique(np.array(["c", "a", "b"])[CLASSES[rows]], return_inverse=True)
        counts.add(HashedTexts.of(columns, schema)[rows], Targets(classes, codes.astype(np.int32)))
    found = counts.summary()
    for kind, *expected in zip(
        (Occurrences, Documents),
        counted_rows(TEXTS, options),
        counted_rows(TEXTS[::-1], schema.options[1]),
        strict=True,
    ):
        np.testing.assert_array_equal(found[kind].values[[2, 0, 1]], np.hstack(expected))
    assert found.classes.tolist() == ["a", "b", "c"]


def test_counts_beyond_those_of_32_bits_go_on_in_sums():
    schema = Schema(1, kinds=("text",), options=(TextOptions(hashed=8),))
    small, large = HashedCounts(schema, most=99), HashedCounts(schema)
    rows = HashedTexts.of([texts_of(TEXTS)], schema)
    for counts in (small, large):
        for _ in range(3):
            counts.add(rows, Targets(np.array([0, 1, 2]), CLASSES))
        counts.add(rows[:1], Targets(np.array([-1]), np.zeros(1, np.int32)))
    assert small.summary() == large.summary()


@pytest.mark.parametrize("most", [40, 99, 2**32 - 1])
def test_counts_of_several_threads_add_up(most):
    schema = Schema(1, kinds=("text",), options=(TextOptions(hashed=8),))
    rows = HashedTexts.of([texts_of(TEXTS)], schema)
    parts = [HashedCounts(schema, most=most) for _ in range(3)]
    whole = HashedCounts(schema)
    for i, counts in enumerate(parts):
        for one in (counts, whole):
            one.add(rows[: 2 + 2 * i], Targets(np.array([i, 7, 8]), CLASSES[: 2 + 2 * i]))
    for counts in parts[1:]:
        parts[0].absorb(counts)
    assert parts[0].summary() == whole.summary()


def test_rows_that_are_picked_become_rows_of_counts():
    schema = Schema(1, kinds=("text",), options=(TextOptions(hashed=32),))
    rows = HashedTexts.of([texts_of(TEXTS)], schema)[1:]
    at = np.array([2, 4])
    (picked,) = rows[at].columns
    assert picked == tokenize([TEXTS[3], TEXTS[5]], schema.options[0]).rows


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


@pytest.fixture(params=["parquet", "csv", "jsonl"])
def notes(request, tmp_path):
    """Return a table of notes, and a file of it."""
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    words = np.array(["tea", "milk", "Sugar", "cup", "é", "ein", "two words"])
    texts = [" ".join(rng.choice(words[k : k + 4], 1 + i % 7)) for i, k in enumerate(y)]
    texts[17] = None
    numbers = rng.integers(9, size=400) / 4
    table = pa.table({"note": texts, "age": numbers, "town": words[y], "y": y})
    path = tmp_path / f"notes.{request.param}"
    if request.param == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=64)
    elif request.param == "csv":
        pytest.importorskip("pyarrow.csv").write_csv(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return table, path


@pytest.mark.parametrize(
    "how",
    [{}, {"checkpoint": "so-far"}, {"skip_bad_files": True}, {"n_jobs": 1}],
    ids=["plain", "with a checkpoint", "bad files skipped", "one thread"],
)
def test_a_file_of_hashed_text_gives_the_summary_of_its_rows_in_memory(
    notes, how, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    table, path = notes
    options = TextOptions(hashed=2**10)
    schema = Schema(
        3,
        ("note", "age", "town"),
        ("text", "number", "category"),
        options=(options,),
        sample=100,
    )
    again = path.with_stem("again")
    shutil.copy(path, again)
    file = scan([path, again], target="y", schema=schema, **how).summary
    memory = summarize(table.drop(["y"]), table["y"].to_numpy(), schema=schema)
    for kind in (Occurrences, Documents):
        assert file[kind] == 2 * memory[kind]
    assert file.sample == 2 * memory.sample
    assert file.words == memory.words
