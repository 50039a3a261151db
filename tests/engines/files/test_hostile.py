"""Folders as nobody should keep them: they are read right, or the error names the file.

`FOLDERS` is the table of what lies in a folder and what becomes of it, in Parquet and Arrow;
`BROKEN` that of files that are none.
"""

import contextlib
import gzip
import os

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from naively import GaussianNB, NaiveBayes, NaivelyError
from naively.engines import files
from naively.engines.files import predict

Y = ["a", "b"] * 3
X = {"x": [1.0, 2.0] * 3}
WORDS = ["p", "q"] * 3
RESULT = "town", ["p", "q"]


def table(**columns):
    return pa.table({**columns, "y": Y})


def words(kind):
    return table(town=pa.array(WORDS, kind), **X)


def dictionary(values, index=None):
    """Return a column whose dictionary is not sorted, and holds a word that is not used."""
    codes = [sorted(values).index(word) if word in values else None for word in WORDS]
    kept = pa.array([*sorted(values), "never"])
    return pa.DictionaryArray.from_arrays(pa.array(codes, index or pa.int8()), kept)


# What lies in a folder, and the columns and categories that are learned, or the error.
FOLDERS = {
    "other orders": ([table(town=WORDS, **X), pa.table({"y": Y, **X, "town": WORDS})], RESULT),
    "large text": ([words(pa.large_string()), words(pa.string())], RESULT),
    "views": ([words(pa.string_view()), words(pa.large_string())], RESULT),
    "dictionaries and text": ([table(town=dictionary("pq"), **X), words(pa.string())], RESULT),
    "text and dictionaries": ([words(pa.string()), table(town=dictionary("pq"), **X)], RESULT),
    "unsigned dictionaries": (
        [table(town=dictionary("pq", pa.uint32()), **X), table(town=dictionary("q"), **X)],
        RESULT,
    ),
    "dictionaries that differ": (
        [table(town=dictionary("p"), **X), table(town=dictionary("q"), **X)],
        RESULT,
    ),
    "nulls after text": ([words(pa.string()), table(town=pa.nulls(6), **X)], RESULT),
    "only nulls of text": (
        [words(pa.string()), table(town=pa.nulls(6, pa.string()), **X)],
        RESULT,
    ),
    "integers, then floats": (
        [table(town=WORDS, x=[1, 2] * 3), table(town=WORDS, x=[1.5, 2.5] * 3)],
        RESULT,
    ),
    "no rows, then some": ([words(pa.string()).slice(0, 0), words(pa.string())], RESULT),
    "labels in dictionaries": (
        [
            pa.table({"town": WORDS, **X, "y": pa.array(Y).dictionary_encode()}),
            table(town=WORDS, **X),
        ],
        RESULT,
    ),
    "numbers, then text": (
        [table(town=WORDS, **X), table(town=WORDS, x=WORDS)],
        r"column 'x' in '.*1\..*' must hold numbers; got text",
    ),
    "text, then numbers": (
        [table(town=WORDS, **X), table(town=[1, 2] * 3, **X)],
        r"column 'town' must hold text as before; got int64 in '.*1\.",
    ),
    "a column less": ([table(town=WORDS, **X), table(**X)], r"'.*1\..*' lacks 'town'"),
    "no columns": ([pa.table({})], r"no column 'y' in '.*0\..*', which has no columns at all"),
    "one name twice": (
        [pa.Table.from_arrays([pa.array(Y)] * 3, names=["x", "x", "y"])],
        r"column names must differ; '.*0\..*' has 'x' twice",
    ),
    "labels of two types": (
        [table(town=WORDS, **X), pa.table({"town": WORDS, **X, "y": [1, 2] * 3})],
        r"in '.*1\..*', labels must be all of one type",
    ),
    "labels that are null": (
        [pa.table({"town": WORDS, **X, "y": pa.nulls(6)})],
        r"the target 'y' is missing in row 1 of '.*0\.",
    ),
}


def as_arrow(table_, path):
    with pa.ipc.new_file(path, table_.schema) as writer:
        writer.write_table(table_)


WRITE = {
    ".parquet": lambda table_, path: pq.write_table(table_, path, row_group_size=4),
    ".arrow": as_arrow,
}


@pytest.mark.parametrize("ending", WRITE)
@pytest.mark.parametrize("kind", FOLDERS)
def test_a_folder_of_odd_files_is_read_right_or_told(tmp_path, kind, ending):
    tables, expected = FOLDERS[kind]
    (tmp_path / "in").mkdir()
    for i, one in enumerate(tables):
        WRITE[ending](one, tmp_path / "in" / f"{i}{ending}")
    if isinstance(expected, str):
        with pytest.raises(NaivelyError, match=expected):
            NaiveBayes.from_files(tmp_path / "in", target="y")
        return
    name, categories = expected
    model = NaiveBayes.from_files(tmp_path / "in", target="y", columns=["x", name])
    n_rows = sum(one.num_rows for one in tables)
    assert model.summary_.weight == n_rows
    assert [column.tolist() for column in model.summary_.categories] == [categories]
    output = tmp_path / "out.parquet"
    assert predict(model, tmp_path / "in", output, proba=True, id=[name], n_jobs=2) == n_rows
    found = pq.read_table(output)
    given = [cell for one in tables for cell in one[name].to_pylist()]
    assert found[name].to_pylist() == given
    assert found["prediction"].to_pylist() == [
        label
        for one in tables
        if one.num_rows
        for label in model.predict(one.select(["x", name])).tolist()
    ]


def test_formats_may_be_mixed(tmp_path):
    rows = table(town=WORDS, **X)
    pq.write_table(rows, tmp_path / "a.parquet")
    pa.csv.write_csv(rows, tmp_path / "b.csv")
    pa.feather.write_feather(rows, tmp_path / "c.feather")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress((tmp_path / "b.csv").read_bytes()))
    pl.from_arrow(rows).write_ipc(tmp_path / "e.arrow")
    model = NaiveBayes.from_files(tmp_path, target="y")
    assert model.summary_.weight == 30
    assert model.summary_.tallies.values.sum() == 30
    assert predict(model, tmp_path, tmp_path / "out.csv") == 30


def test_hive_partitions_are_columns_and_may_be_labels(tmp_path):
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(table(town=WORDS, **X), tmp_path / f"year={year}" / "a.parquet")
    model = NaiveBayes.from_files(tmp_path, target="y")
    assert model.summary_.schema.names == ("town", "x", "year")
    model = NaiveBayes.from_files(tmp_path, target="year")
    assert model.classes_.tolist() == [2023, 2024]


BROKEN = {
    "a.csv": (b"", "it is empty"),
    "a.csv.gz": (b"", "it is empty"),
    "b.csv.gz": (gzip.compress(b""), "it is empty"),
    "a.parquet": (b"", "it is empty"),
    "a.arrow": (b"", "it is empty"),
    "a.feather": (b"", "it is empty"),
    "b.parquet": (b"PAR1", "cannot read"),
    "c.parquet": (b"x,y\n1,a\n", "cannot read"),
    "b.arrow": (b"ARROW1", "cannot read"),
    "c.arrow": (b"ARROW1\0\0" + b"\0" * 64 + b"ARROW1", "cannot read"),
    "d.arrow": (b"x,y\n1,a\n", "cannot read"),
    "c.csv.gz": (b"\x1f\x8bx,y\n1,a\n", "cannot read"),
    "unknown": (b"x,y\n1,a\n", "cannot tell what kind of file"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_such_file_is_told_with_its_name(tmp_path, name):
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NaivelyError, match=f"(?s)(?=.*{name})(?=.*{message})"):
        GaussianNB.from_files(tmp_path / name, target="y")


def test_what_is_not_there_is_told(tmp_path):
    with pytest.raises(NaivelyError, match=r"no.csv': No such file"):
        GaussianNB.from_files(tmp_path / "no.csv", target="y")
    with pytest.raises(NaivelyError, match="there must be a file in the folder"):
        GaussianNB.from_files(tmp_path, target="y")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n")
    (tmp_path / "a.csv").chmod(0)
    with pytest.raises(NaivelyError, match=r"a.csv': Permission denied"):
        GaussianNB.from_files(tmp_path / "a.csv", target="y")


@pytest.mark.parametrize("ending", WRITE)
@pytest.mark.parametrize("where", ["town", "y"])
def test_text_that_is_not_in_utf_8_is_an_error_that_names_the_file(tmp_path, where, ending):
    odd = pa.array([b"p", b"\xff"] * 3).view(pa.string())  # as those write who take bytes for text
    one, path = pa.table({**X, "town": WORDS, "y": Y}), tmp_path / f"a{ending}"
    model = NaiveBayes().fit(one.drop(["y"]), Y)
    WRITE[ending](one.set_column(one.column_names.index(where), where, odd), path)
    with pytest.raises(NaivelyError, match=r"cannot read '.*a\..*': .*(not in UTF-8|Invalid UTF8)"):
        NaiveBayes.from_files(path, target="y")
    if where == "town":
        with pytest.raises(
            NaivelyError, match=r"cannot read '.*a\..*': .*(not in UTF-8|Invalid UTF8)"
        ):
            predict(model, path, tmp_path / "out.csv")


@pytest.mark.parametrize("compression", ["uncompressed", "zstd"])
def test_an_arrow_file_with_one_wrong_byte_is_read_or_an_error_that_names_it(tmp_path, compression):
    path = tmp_path / "a.arrow"
    pyarrow.feather.write_feather(table(town=WORDS, **X), path, compression=compression)
    sound = path.read_bytes()
    for place in range(0, len(sound), 7):
        for bits in (0x01, 0x80):
            wrong = bytearray(sound)
            wrong[place] ^= bits
            path.write_bytes(wrong)
            with contextlib.suppress(NaivelyError):
                files.summarize(path, target="y")
