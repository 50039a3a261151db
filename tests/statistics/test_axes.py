"""Axes: labels unite, and vocabularies do not grow without a limit."""

import numpy as np
import pytest

from naively import NaiveBayes, NaivelyError
from naively.data.schema import Schema
from naively.data.tokens import TextOptions, Words
from naively.engines.files import summarize
from naively.families import Text
from naively.statistics.axes import MAX_COUNTS, MAX_WORDS, Axes

TEXT = Schema(1, ("note",), ("text",))
TOO_MANY = r"column 'note' must have at most 33,554,432 different words.*Text\(hashed=2\*\*20\)"


def numbered_words(first, end):
    """Return words of eight digits."""
    digits = "".join(f"{i:08d}" for i in range(first, end)).encode()
    offsets = np.arange(0, len(digits) + 1, 8, dtype=np.int64)
    return Words(np.frombuffer(digits, np.uint8), offsets)


def test_words_times_classes_have_a_limit_where_axes_unite():
    n = int(MAX_COUNTS**0.5) // 2
    a, b = (Axes(np.arange(at, at + n), (), (numbered_words(at, at + n),)) for at in (0, n))
    both = a.united(b, TEXT)
    assert both.classes.size == both.words[0].size == 2 * n
    more = Axes(np.array([2 * n]), (), (numbered_words(0, 1),))
    with pytest.raises(NaivelyError, match=TOO_MANY):
        both.united(more, TEXT)


def test_words_of_few_classes_have_a_limit():
    offsets = np.arange(MAX_WORDS + 2, dtype=np.int64)
    many = Words(np.zeros(1, np.uint8), offsets)  # of which only the number is looked at
    with pytest.raises(NaivelyError, match=TOO_MANY):
        Axes(np.array(["a"]), (), (many,)).checked(TEXT)


def test_hashed_words_have_no_such_limit():
    schema = Schema(1, kinds=("text",), options=(TextOptions(hashed=2**31 - 1),))
    axes = Axes(np.arange(9), (), (Words.hashed(2**31 - 1),))
    assert axes.checked(schema) is axes


def test_a_vocabulary_that_files_make_too_large_is_an_error_that_names_file_and_column(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    n = int(MAX_COUNTS**0.5) // 2 + 9
    for name, at in (("a", 0), ("b", n)):
        labels = np.arange(at, at + n)
        texts = [f"word{i}" for i in labels.tolist()]
        pq.write_table(pa.table({"note": texts, "y": labels}), tmp_path / f"{name}.parquet")
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    assert summarize(files[0], target="y", schema=TEXT).words[0].size == n
    with pytest.raises(NaivelyError, match=rf"in '.*b\.parquet', {TOO_MANY}"):
        summarize(files, target="y", schema=TEXT)
    with pytest.raises(NaivelyError, match=rf"in '.*b\.parquet', {TOO_MANY}"):
        NaiveBayes.from_files(files, target="y", families={"note": Text()}, calibration=None)


def test_rows_in_memory_of_too_many_words_and_classes_are_an_error():
    n = int(MAX_COUNTS**0.5) + 1
    texts = [[f"word{i}"] for i in range(n)]
    with pytest.raises(NaivelyError, match="must have at most 33,554,432 different words"):
        NaiveBayes(families={0: Text()}).fit(np.array(texts, object), np.arange(n))
