"""Columns of text, whoever holds them."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from naively import NaivelyError
from naively.data.texts import texts_of
from naively.data.tokens import TextOptions, tokenize

CELLS = ["Tea, please", None, "", "grüne Äpfel 中文字 und eine lange Zeile", "tea", "naïve"]
ARROW = ["string", "large_string", "string_view"]


def columns():
    yield "list", CELLS
    yield "tuple", tuple(CELLS)
    yield "objects", np.array(CELLS, dtype=object)
    yield "nan", np.array([np.nan if c is None else c for c in CELLS], dtype=object)
    yield "pandas objects", pandas.Series(CELLS, dtype=object)
    yield "pandas string", pandas.Series(CELLS, dtype="string[python]")
    yield "pandas pyarrow", pandas.Series(CELLS, dtype="string[pyarrow]")
    yield "pandas arrow", pandas.Series(CELLS, dtype=pandas.ArrowDtype(pyarrow.string()))
    yield "pandas category", pandas.Series(CELLS, dtype="category")
    yield "polars", polars.Series(CELLS)
    yield "polars category", polars.Series(CELLS, dtype=polars.Categorical)
    yield "polars chunks", polars.Series(CELLS[:2]).append(polars.Series(CELLS[2:]))
    for kind in ARROW:
        array = pyarrow.array(CELLS, getattr(pyarrow, kind)())
        yield kind, array
        yield f"{kind} slice", pyarrow.array(["x", *CELLS, "y"], array.type)[1:-1]
        yield f"{kind} chunks", pyarrow.chunked_array([array[:3], array[:0], array[3:]])
    yield "dictionary", pyarrow.array(CELLS).dictionary_encode()
    yield "dictionary slice", pyarrow.array(["x", *CELLS]).dictionary_encode()[1:]


COLUMNS = dict(columns())


@pytest.mark.parametrize("held", COLUMNS)
def test_texts_are_the_same_whoever_holds_them(held):
    encoded = tokenize(COLUMNS[held], TextOptions())
    expected = tokenize(CELLS, TextOptions())
    assert encoded.words == expected.words
    assert encoded.rows == expected.rows
    assert encoded.lengths.tolist() == [2, -1, 0, 7, 1, 1]


@pytest.mark.parametrize("dtype", ["U40", np.dtypes.StringDType()], ids=str)
def test_arrays_of_text_are_read(dtype):
    cells = [cell or "" for cell in CELLS]
    encoded = tokenize(np.array(cells, dtype=dtype), TextOptions())
    assert encoded.words == tokenize(CELLS, TextOptions()).words
    assert encoded.lengths.tolist() == [2, 0, 0, 7, 1, 1]


@pytest.mark.parametrize("kind", ARROW)
def test_texts_of_arrow_are_read_where_they_lie(kind):
    column = pyarrow.array(["a text that is longer than a view"] * 3, getattr(pyarrow, kind)())
    data = column.buffers()[2]
    addresses = texts_of(column).addresses.astype(np.int64)
    assert all(data.address <= at < data.address + data.size for at in addresses)


@pytest.mark.parametrize(
    "empty", [[], np.array([], object), polars.Series([], dtype=polars.String)]
)
def test_a_column_may_be_empty(empty):
    assert texts_of(empty).lengths.size == 0


@pytest.mark.parametrize("kind", [*ARROW, "null"])
def test_an_arrow_column_may_be_empty(kind):
    kind = getattr(pyarrow, kind)()
    assert texts_of(pyarrow.array([], kind)).lengths.size == 0
    assert texts_of(pyarrow.chunked_array([], kind)).lengths.size == 0
    assert texts_of(pyarrow.array([None], kind)).lengths.tolist() == [-1]


@pytest.mark.parametrize(
    "column",
    [["a", None, 3], np.array(["a", None, 3], object), pandas.Series(["a", None, 3])],
    ids=["list", "array", "pandas"],
)
def test_a_number_among_texts_is_an_error_that_names_it(column):
    with pytest.raises(NaivelyError, match=r"column 'note' must hold text; got 3 in row 2\."):
        texts_of(column, "column 'note'")


@pytest.mark.parametrize("column", [pyarrow.array([1, 2]), polars.Series([1, 2])], ids=["a", "p"])
def test_a_column_of_numbers_is_an_error(column):
    with pytest.raises(NaivelyError, match="must hold text; got int64"):
        texts_of(column)


WRONG = [b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("analyzer", ["word", "char_wb"])
@pytest.mark.parametrize("before", [b"", b"x" * 63, b"x" * 64, "Σ".encode()])
def test_bytes_that_are_not_utf8_are_an_error_that_names_the_row(wrong, analyzer, before):
    column = pyarrow.array([b"tea", None, before + wrong, b"milk"], pyarrow.binary())
    column = pyarrow.Array.from_buffers(pyarrow.string(), 4, column.buffers())
    with pytest.raises(
        NaivelyError, match=r"must hold text in UTF-8; got other bytes, .* in row 2"
    ):
        tokenize(column, TextOptions(analyzer))


def test_half_of_a_surrogate_pair_is_an_error_that_names_the_row():
    with pytest.raises(NaivelyError, match="half of a surrogate pair, in row 1"):
        tokenize(["tea", "a \ud800 b"], TextOptions())
