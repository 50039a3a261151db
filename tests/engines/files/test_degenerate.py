"""Files as people have them: empty, ragged, quoted, mixed; and what is said about them."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naively import NaivelyError
from naively.engines.files import csv
from tests.written import rows, scan_numbers, small_pieces, summarize_numbers, write

__all__ = ["small_pieces"]  # a fixture

PLAIN = "x,y\n1,a\n2,b\n4,a\n"


def test_a_column_without_a_name_is_left_out(tmp_path):
    (tmp_path / "a.csv").write_text(",x,y\n0,1,a\n1,2,b\n2,4,a\n")
    (left_out,) = scan_numbers(tmp_path / "a.csv", target="y").left_out
    assert "without a name" in left_out.reason


def test_separators_decimals_and_missing_texts_can_be_told(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x;z;y\n1,5;?;a\n2,5;3;b\n?;4;a\n")
    found = summarize_numbers(path, target="y", separator=";", decimal=",", missing=["?"])
    assert found.moments.weight.tolist() == [[1, 1], [1, 1]]
    assert found.moments.mean.tolist() == [[1.5, 4.0], [2.5, 3.0]]


ERRORS = {
    "empty": ("", r"a.csv': it is empty"),
    "only a header": ("x,y\n", r"a file that holds rows; got '.*a.csv'"),
    "no such target": ("x,z\n1,a\n", r"no column 'y' in '.*a.csv'"),
    "no numbers": (
        "x,y\nb,a\n",
        r"a column of numbers to learn .* 'y' in '.*a.csv'; got only 'x' \(text\)",
    ),
    "only the target": (
        "y\na\nb\n",
        r"a column to learn from beside the target 'y' in .*; got none",
    ),
    "two columns of one name": ("x,x,y\n1,2,a\n", r"a.csv' has 'x' twice"),
    "a label is missing": (
        "x,y\n1,a\n2,\n",
        r"target 'y' is missing in row 2 of '.*a.csv'\. Leave",
    ),
    "a measurement": ("x,y\n1,0.5\n2,1.25\n", r"target 'y' is 0.5 in row 1 .*measurements"),
    "infinity": ("x,y\n1,a\n-inf,b\n", r"column 'x' holds infinity in row 2 of '.*a.csv'"),
    "too large": ("x,y\n1e300,a\n-1e300,a\n", r"in '.*a.csv', .*exceeds the range of float64"),
    "a row too short": ("x,z,y\n1,2,a\n1,a\n", r"a.csv': in the rows after byte 6, .*Expected 3"),
    "an open quote": ('x,z,y\n1,2,a\n1,"2,a\n', r"a.csv': the record that begins in line 3 "),
    "binary": ("x\0,y\n", r"a.csv': it is not CSV in UTF-8"),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_what_is_wrong_with_csv_is_told(tmp_path, kind):
    content, message = ERRORS[kind]
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(NaivelyError, match=message):
        scan_numbers(tmp_path / "a.csv", target="y")


def test_csv_that_is_not_utf8_is_an_error(tmp_path):
    (tmp_path / "a.csv").write_bytes("größe,y\n1,a\n".encode("latin-1"))
    with pytest.raises(
        NaivelyError, match=r"a.csv': byte 0xf6 in line 1 is not in UTF-8. .*encoding="
    ):
        scan_numbers(tmp_path / "a.csv", target="y")


def test_text_far_down_a_column_of_numbers_is_told_with_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 1000)
    monkeypatch.setattr(csv, "SAMPLE", 1000)
    (tmp_path / "a.csv").write_text("x,y\n" + "1,a\n" * 1000 + "oops,b\n" + "1,a\n" * 1000)
    with pytest.raises(NaivelyError, match=r"byte 4004, column 'x' must hold numbers; got 'oops'"):
        scan_numbers(tmp_path / "a.csv", target="y")


def test_a_row_may_be_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 64)
    (tmp_path / "a.csv").write_text("x,note,y\n1,b,a\n2," + "long " * 1000 + ",b\n3,c,a\n")
    found = summarize_numbers(tmp_path / "a.csv", target="y")
    assert found.moments.mean.tolist() == [[2.0], [2.0]]


TEXTS = {
    "integers": (["2", "10", "02"], [2, 10]),
    "booleans": (["true", "False", "TRUE"], [False, True]),
    "whole floats": (["1.0", "2", "1e0"], [1.0, 2.0]),
    "text among integers": (["2", "10", "x"], ["10", "2", "x"]),
    "integers beyond 64 bits": (["1", "2", "99999999999999999999"], ["1", "2", "9" * 20]),
    "text": (["b", "a", " a "], [" a ", "a", "b"]),
    "integers with spaces": (["2", " 10", "02 "], [2, 10]),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_labels_in_csv_are_what_all_of_them_look_like(tmp_path, monkeypatch, kind):
    texts, classes = TEXTS[kind]
    monkeypatch.setattr(csv, "BLOCK", 10)
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"1,{text}\n" for text in texts))
    found = summarize_numbers(tmp_path / "a.csv", target="y")
    assert found.classes.tolist() == classes
    assert found.weight == 3


def test_the_type_of_labels_in_csv_can_be_told(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,02\n2,2\n")
    found = summarize_numbers(tmp_path / "a.csv", target="y", label_type="str")
    assert found.classes.tolist() == ["02", "2"]
    with pytest.raises(NaivelyError, match="the labels must be bool; got '02'"):
        summarize_numbers(tmp_path / "a.csv", target="y", label_type="bool")


def test_files_without_rows_add_nothing(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n")
    (tmp_path / "b.csv").write_text(PLAIN)
    (tmp_path / "c.csv").write_text("y,x\n")
    alone = summarize_numbers(tmp_path / "b.csv", target="y")
    assert summarize_numbers(tmp_path, target="y") == alone


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".arrows", ".feather"])
def test_typed_files_without_rows_give_nothing_seen(tmp_path, ending):
    table = rows().slice(0, 0)
    found = scan_numbers(write(table, tmp_path / f"a{ending}"), target="label")
    assert found.rows == found.summary.weight == 0
    assert found.summary.schema.names == ("ratio", "count", "short", "flag")


def test_a_parquet_file_may_have_no_row_groups(tmp_path):
    pq.ParquetWriter(tmp_path / "a.parquet", rows().schema).close()
    write(rows(), tmp_path / "b.parquet")
    alone = summarize_numbers(tmp_path / "b.parquet", target="label")
    assert summarize_numbers(tmp_path, target="label") == alone


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_one_row_is_enough(tmp_path, ending):
    path = write(pa.table({"x": [3.0], "y": ["a"]}), tmp_path / f"a{ending}")
    moments = summarize_numbers(path, target="y").moments
    assert moments.values.tolist() == [[[1.0]], [[3.0]], [[0.0]], [[0.0]]]


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_a_missing_label_is_told_with_file_and_row(tmp_path, small_pieces, ending):
    labels = ["a"] * 2500 + [None] + ["b"] * 499
    table = rows().drop_columns(["label"]).append_column("label", pa.array(labels))
    write(rows(), tmp_path / f"a{ending}")
    write(table, tmp_path / f"b{ending}")
    with pytest.raises(NaivelyError, match=rf"'label' is missing in row 2501 of '.*b{ending}'"):
        scan_numbers(tmp_path, target="label")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_a_missing_or_extra_column_is_told_with_file_and_column(tmp_path, ending):
    table = rows(10)
    write(table, tmp_path / f"a{ending}")
    write(table.drop_columns(["count"]), tmp_path / f"b{ending}")
    with pytest.raises(NaivelyError, match=rf"'.*b{ending}' lacks 'count'"):
        scan_numbers(tmp_path, target="label")
    write(table.append_column("more", [[1.0] * 10]), tmp_path / f"b{ending}")
    with pytest.raises(
        NaivelyError, match=rf"'.*b{ending}' has 'more', which the first file lacks"
    ):
        scan_numbers(tmp_path, target="label")
    chosen = summarize_numbers(tmp_path, target="label", columns=["count"])
    excluding = summarize_numbers(tmp_path, target="label", exclude=["more"])
    assert chosen.weight == excluding.weight == 20


@pytest.mark.parametrize("weight", [-1.0, float("nan"), None, float("inf")])
def test_a_weight_that_is_none_is_told_with_its_row(tmp_path, weight):
    table = pa.table({"x": [1.0, 2.0], "y": ["a", "b"], "w": pa.array([1.0, weight])})
    write(table, tmp_path / "a.parquet")
    with pytest.raises(NaivelyError, match=r"the weight 'w' is .* in row 2 of '.*a.parquet'"):
        scan_numbers(tmp_path, target="y", weight="w")


def test_rows_of_weight_zero_are_not_there(tmp_path):
    table = pa.table({"x": [1.0, 2.0], "y": ["a", "b"], "w": [1.0, 0.0]})
    write(table, tmp_path / "a.parquet")
    found = summarize_numbers(tmp_path / "a.parquet", target="y", weight="w")
    assert found.classes.tolist() == ["a"]


def test_columns_may_be_called_anything(tmp_path):
    names = ["a.b", "a", "", "x,y", 'q"', "ü\n", "label"]
    table = pa.table([pa.array([1.0, 2.0])] * 6 + [pa.array(["a", "b"])], names=names)
    for ending in (".parquet", ".arrow"):
        found = scan_numbers(write(table, tmp_path / f"a{ending}"), target="label")
        assert found.summary.schema.names == ("a.b", "a", "x,y", 'q"', "ü\n")
        assert (found.summary.moments.weight == 1).all()


def test_a_newline_at_the_edge_of_a_quoted_label_belongs_to_it(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('x,y\n1,"\nb"\n2,"b\n"\n3,b\n')
    assert summarize_numbers(path, target="y").classes.tolist() == ["\nb", "b", "b\n"]
