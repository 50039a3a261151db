"""Files of text in other encodings than UTF-8, and compressed under any name."""

import bz2
import gzip
import json
import lzma
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import naively
from naively import NaiveBayes, NaivelyError, summarize
from naively.engines import files
from naively.engines.files import csv, json_lines, predict
from naively.engines.files import text as text_streams
from tests.commands import fails, run_well
from tests.every_engine import FORMATS, labelled, written
from tests.written import as_csv, standard_input

__all__ = ["standard_input"]  # a fixture

TOWNS = ["Köln", "Düsseldorf", 'Zürich, "oben"', "Ulm", None] * 40
TABLE = pa.table(
    {
        "size": [float(i % 7) for i in range(200)],
        "town": TOWNS,
        "kind": ["ja", "nein", "später", "ja"] * 50,
    }
)


def as_json_lines(table):
    """Return one object a line, in characters that are not ASCII."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist())
    return "".join(lines).encode()


WRITE = {".csv": as_csv, ".jsonl": as_json_lines}
COMPRESSED = {
    "gzip": gzip.compress,
    "gzip in two members": lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:]),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
    "lz4": lambda data: pa.Codec("lz4").compress(data, asbytes=True),
}
ENCODINGS = ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"]


def in_utf_8(ending):
    return WRITE[ending](TABLE).decode()


@pytest.fixture
def expected(tmp_path):
    """The summaries of the same files in UTF-8."""
    found = {}
    for ending in WRITE:
        path = tmp_path / f"utf-8{ending}"
        path.write_text(in_utf_8(ending), encoding="utf-8")
        found[ending] = files.summarize(path, target="kind")
    return found


@pytest.mark.parametrize("ending", WRITE)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("size", [7, 1 << 20])
def test_text_in_another_encoding_is_the_same_text(
    tmp_path, monkeypatch, expected, ending, encoding, size
):
    path = tmp_path / f"a{ending}"
    path.write_bytes(in_utf_8(ending).encode(encoding))
    monkeypatch.setattr(text_streams, "_CHUNK_BYTES", size)  # characters are cut into halves
    assert files.summarize(path, target="kind", encoding=encoding) == expected[ending]


@pytest.mark.parametrize("ending", WRITE)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_told_by_one_name_with_and_without_a_mark(tmp_path, expected, ending, encoding):
    path = tmp_path / f"a{ending}"
    path.write_bytes(in_utf_8(ending).encode(encoding))
    assert files.summarize(path, target="kind", encoding="utf-16") == expected[ending]


@pytest.mark.parametrize("ending", WRITE)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_at_the_beginning_tells_the_encoding(tmp_path, expected, ending, encoding):
    path = tmp_path / f"a{ending}"
    path.write_bytes(in_utf_8(ending).encode(encoding))
    assert files.summarize(path, target="kind") == expected[ending]


@pytest.mark.parametrize("ending", WRITE)
@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("name", ["a{}", "a{}.gz", "a"])
def test_compression_is_told_by_the_content_and_not_by_the_name(
    tmp_path, expected, ending, codec, name
):
    path = tmp_path / name.format(ending)
    path.write_bytes(COMPRESSED[codec](in_utf_8(ending).encode()))
    assert files.summarize(path, target="kind") == expected[ending]


@pytest.mark.parametrize("ending", WRITE)
def test_a_plain_file_may_be_called_gz(tmp_path, expected, ending):
    path = tmp_path / f"a{ending}.gz"
    path.write_text(in_utf_8(ending), encoding="utf-8")
    assert files.summarize(path, target="kind") == expected[ending]


@pytest.mark.parametrize("ending", WRITE)
def test_a_compressed_file_may_be_in_another_encoding(tmp_path, expected, ending):
    path = tmp_path / f"a{ending}.gz"
    path.write_bytes(gzip.compress(in_utf_8(ending).encode("utf-16")))
    assert files.summarize(path, target="kind") == expected[ending]
    path.write_bytes(gzip.compress(in_utf_8(ending).encode("cp1252")))
    assert files.summarize(path, target="kind", encoding="cp1252") == expected[ending]


def test_a_csv_file_may_begin_like_a_compressed_one(tmp_path):
    (tmp_path / "a.csv").write_text("BZh9,kind\n1,a\n2,b\n")
    assert files.summarize(tmp_path / "a.csv", target="kind").schema.names == ("BZh9",)


def test_parquet_that_is_compressed_again_is_told(tmp_path):
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(NaivelyError, match=r"a.parquet.gz': Parquet is compressed inside.*Decompr"):
        files.summarize(tmp_path / "a.parquet.gz", target="kind")


@pytest.mark.parametrize("ending", WRITE)
def test_a_byte_that_is_not_utf_8_is_told_with_its_line_and_what_to_do(tmp_path, ending):
    lines = in_utf_8(ending).encode().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if i > 150 and "ö".encode() in line)
    lines[at] = lines[at].replace("ö".encode(), b"\xf6")
    (tmp_path / f"a{ending}").write_bytes(b"".join(lines))
    told = rf"a{ending}': .*line {at + 1} is not in UTF-8. .*encoding='"
    with pytest.raises(NaivelyError, match=told):
        files.summarize(tmp_path / f"a{ending}", target="kind")


def test_text_that_is_not_utf_8_in_a_column_that_nobody_reads_does_not_matter(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"note,x,kind\nK\xf6ln,1,a\nUlm,2,b\n")
    with pytest.raises(NaivelyError, match="byte 0xf6 in line 2 is not in UTF-8"):
        files.summarize(tmp_path / "a.csv", target="kind")
    found = files.summarize(tmp_path / "a.csv", target="kind", exclude=["note"])
    assert found.moments.mean.tolist() == [[1], [2]]


@pytest.mark.parametrize("size", [3, 1 << 20])
def test_a_byte_that_an_encoding_does_not_know_is_told_with_its_place(tmp_path, monkeypatch, size):
    (tmp_path / "a.csv").write_bytes(b"x,kind\n1,a\n2,\x81\n")
    monkeypatch.setattr(text_streams, "_CHUNK_BYTES", size)
    with pytest.raises(
        NaivelyError, match=r"a.csv': byte 13 \(0x81\), in line 3, is not in cp1252"
    ):
        files.summarize(tmp_path / "a.csv", target="kind", encoding="cp1252")


def test_half_a_character_at_the_end_is_told(tmp_path):
    (tmp_path / "a.csv").write_bytes("x,kind\n1,a\n".encode("utf-16-le") + b"2")
    with pytest.raises(
        NaivelyError, match=r"a.csv': byte 22 \(0x32\), in line 3, is not in utf-16"
    ):
        files.summarize(tmp_path / "a.csv", target="kind", encoding="utf-16")


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "base64", "", "\0"])
def test_an_encoding_that_nobody_knows_is_told(tmp_path, encoding):
    (tmp_path / "a.csv").write_text("x,kind\n1,a\n")
    with pytest.raises(NaivelyError, match=r"encoding must be one that Python knows.*got '"):
        files.summarize(tmp_path / "a.csv", target="kind", encoding=encoding)


def test_predictions_read_another_encoding(tmp_path, expected):
    model = NaiveBayes.from_files(tmp_path / "utf-8.csv", target="kind")
    (tmp_path / "a.csv").write_bytes(in_utf_8(".csv").encode("utf-16-be"))
    outputs = tmp_path / "one.csv", tmp_path / "other.csv"
    predict(model, tmp_path / "utf-8.csv", outputs[0], proba=True, id=["town"])
    predict(model, tmp_path / "a.csv", outputs[1], proba=True, id=["town"], encoding="utf-16")
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert "Düsseldorf" in outputs[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", WRITE)
def test_a_pass_goes_on_in_another_encoding(tmp_path, monkeypatch, expected, ending):
    """Positions count the bytes of UTF-8, whatever those of the file are."""
    reader = csv if ending == ".csv" else json_lines
    monkeypatch.setattr(reader, "BLOCK", 500)
    path, checkpoint = tmp_path / f"a{ending}", tmp_path / "so-far"
    path.write_bytes(in_utf_8(ending).encode("utf-16"))
    whole = files.summarize(path, target="kind")

    def stop(rows, *_):
        if rows > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.summarize(path, target="kind", checkpoint=checkpoint, progress=stop)
    assert files.summarize(path, target="kind", checkpoint=checkpoint) == whole
    with pytest.raises(NaivelyError, match="of another pass: encoding was None"):
        files.summarize(path, target="kind", checkpoint=checkpoint, encoding="utf-16")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-be"])
@pytest.mark.parametrize("codec", [None, "bz2"])
def test_standard_input_may_be_compressed_and_in_another_encoding(
    expected, encoding, codec, standard_input
):
    content = in_utf_8(".csv").encode(encoding)
    standard_input(COMPRESSED[codec](content) if codec else content)
    assert summarize("-", target="kind", encoding=encoding) == expected[".csv"]


def test_every_command_that_reads_files_takes_the_encoding(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "größe,kind\n" + "".join(f"{i % 9},{'schön' if i % 2 else 'übel'}\n" for i in range(90))
    Path("a.csv").write_bytes(text.encode("latin-1"))
    for command in (
        ["fit", "a.csv", "-t", "kind", "-o", "m.safetensors"],
        ["predict", "m.safetensors", "a.csv"],
        ["explain", "m.safetensors", "a.csv", "--row", "3"],
        ["drift", "m.safetensors", "a.csv", "-t", "kind"],
        ["evaluate", "a.csv", "-t", "kind", "--folds", "2"],
        ["update", "m.safetensors", "a.csv", "-t", "kind", "-o", "n.safetensors"],
        ["forget", "n.safetensors", "a.csv", "-t", "kind"],
    ):
        assert "--encoding cp1252" in fails(*command)
        run_well(*command, "--encoding", "latin-1")
    assert naively.load("m.safetensors").classes_.tolist() == ["schön", "übel"]
    assert "encoding must be one that" in fails("fit", "a.csv", "-t", "kind", "--encoding", "no")


# --- what is said about text is an error for files that hold none ---------------------------------


SAID = {"separator": ";", "decimal": ",", "missing": ("?",), "encoding": "latin-1"}


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "csv"])
@pytest.mark.parametrize("name", SAID)
def test_a_dialect_is_for_text_alone(form, name, tmp_path):
    path = written(labelled(pa.table({"x": [1.5, 2.5]}), ["a", "b"]), form, tmp_path)
    option = {name: SAID[name]}
    if form == "jsonl" and name == "encoding":
        assert summarize(path, target="the_label", **option).class_weight.sum() == 2
        return
    message = rf"{name} is for CSV.* alone; got {name}={re.escape(repr(SAID[name]))} for .*{form}"
    with pytest.raises(NaivelyError, match=message):
        summarize(path, target="the_label", **option)
    model = NaiveBayes().fit(pd.DataFrame({"x": [1.0, 2.0]}), ["a", "b"])
    with pytest.raises(NaivelyError, match=message):
        predict(model, path, tmp_path / "out.csv", **option)


def test_a_folder_with_some_files_of_text_may_have_a_dialect(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    frame = pd.DataFrame({"x": [1.5, 2.5], "y": ["a", "b"]})
    frame.to_parquet(folder / "a.parquet")
    frame.to_csv(folder / "b.csv", sep=";", index=False)
    assert summarize(folder, target="y", separator=";").class_weight.sum() == 4
