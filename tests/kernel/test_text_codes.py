"""Text becomes codes by a hash table of the kernel, as a dictionary of Python would have it."""

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import _kernel
from naively.data.labels import encode
from naively.engines.memory import tables

TEXTS = st.lists(st.text(max_size=3) | st.sampled_from(["a", "a\0", "a\0b", "", "é", "\ud800"]))


def oracle(cells):
    code_of = {}
    codes = [
        -1 if cell is None or cell != cell else code_of.setdefault(cell, len(code_of))
        for cell in cells
    ]
    return codes, list(code_of)


@given(TEXTS, st.data())
def test_codes_of_text_are_those_of_a_dictionary(texts, data):
    missing = data.draw(st.lists(st.sampled_from([None, float("nan")]), max_size=3))
    cells = data.draw(st.permutations(texts + missing))
    codes = np.empty(len(cells), np.int32)
    first = _kernel.encode_text(cells, codes)
    assert (codes.tolist(), [cells[i] for i in first]) == oracle(cells)


def test_codes_of_many_texts_are_those_of_a_dictionary():
    cells = [str(i) for i in np.random.default_rng(0).integers(30_000, size=100_000)]
    codes, distinct = oracle(cells)
    found = np.empty(len(cells), np.int32)
    assert [cells[i] for i in _kernel.encode_text(cells, found)] == distinct
    assert found.tolist() == codes
    fixed = np.array(cells).view(np.uint32).reshape(len(cells), -1)
    assert [cells[i] for i in _kernel.encode_fixed(fixed, found)] == distinct
    assert found.tolist() == codes


@pytest.mark.parametrize("other", [1, True, b"a", 2.5, np.str_("a"), ["a"], pandas.NA])
def test_cells_that_are_no_text_are_left_to_others(other):
    assert _kernel.encode_text(["a", other], np.empty(2, np.int32)) is None


def test_there_is_a_code_for_every_cell():
    with pytest.raises(ValueError, match="one code per cell"):
        _kernel.encode_text(["a"], np.empty(2, np.int32))
    with pytest.raises(ValueError, match="one code per text"):
        _kernel.encode_fixed(np.zeros((1, 2), np.uint32), np.empty(2, np.int32))


@given(st.lists(st.text(st.characters(exclude_characters="\0"), max_size=4), min_size=1))
def test_labels_of_text_are_sorted_whatever_array_holds_them(texts):
    for y in (np.array(texts, dtype=object), np.array(texts), np.array(texts).astype(">U9")[::1]):
        classes, codes = encode(y)
        assert classes.tolist() == sorted(set(texts))
        assert classes[codes].tolist() == texts


def test_no_labels_of_text_have_no_classes():
    classes, codes = encode(np.array([], dtype="U3"))
    assert (classes.size, codes.size) == (0, 0)


@pytest.mark.parametrize("dtype", ["object", "string"])
@pytest.mark.parametrize("missing", [[], [None]])
def test_text_of_pandas_is_told_apart_beyond_a_zero_character(dtype, missing):
    cells = ["a", "a\0b", "a\0", "a"] * 10 + missing
    codes, found = tables.encode(pandas.Series(cells, dtype=dtype), "column 'c'")
    told = [found.tolist()[code] for code in codes[: len(cells) - len(missing)].tolist()]
    assert told == cells[:40]
    assert codes[40:].tolist() == [-1] * len(missing)
