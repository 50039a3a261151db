"""Labels and categories in CSV are what every other reader makes of them, and never merge."""

import io

import numpy as np
import pytest

from naively import GaussianNB, NaiveBayes, NaivelyError, evaluate, summarize
from naively.engines import files as scoring
from naively.engines.files import csv, json_lines
from tests.written import as_json_lines

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pacsv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

SPACED = {
    "unquoted": ["a", " a", "a ", "\ta", "b c", " "],
    "quoted": ['"a"', '" a"', '"a "', '"\ta"', '"b c"', '" "'],
    "numbers beside text": ["1", " 1", "x", "1 ", "01", " x"],
}
READERS = {
    "pandas": lambda data: pd.read_csv(io.BytesIO(data))["k"].tolist(),
    "polars": lambda data: pl.read_csv(io.BytesIO(data))["k"].to_list(),
    "pyarrow": lambda data: pacsv.read_csv(pa.BufferReader(data))["k"].to_pylist(),
}


def written(path, rows, header="x,k,y"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.mark.parametrize("cells", SPACED)
@pytest.mark.parametrize("reader", READERS)
def test_spaces_are_part_of_labels_and_categories_as_in_other_readers(reader, cells, tmp_path):
    rows = [f"{i},{cell},{cell}" for i, cell in enumerate(SPACED[cells])]
    path = written(tmp_path / "rows.csv", rows)
    expected = READERS[reader](path.read_bytes())
    found = summarize(path, target="y")
    assert found.classes.tolist() == sorted(expected)
    assert found.categories[0].tolist() == sorted(expected)


@pytest.mark.parametrize("quote", ["", '"'], ids=["unquoted", "quoted"])
def test_a_model_of_labels_with_spaces_predicts_and_is_evaluated(quote, tmp_path):
    labels = ["a", " a", "a "] * 20
    rows = [f"{i % 3},{quote}{label}{quote}" for i, label in enumerate(labels)]
    path = written(tmp_path / "rows.csv", rows, "x,y")
    model = GaussianNB.from_files(path, target="y")
    frame = pd.read_csv(path)
    assert model.summary_ == GaussianNB().fit(frame[["x"]], frame["y"]).summary_
    scoring.predict(model, path, tmp_path / "answers.csv", id="y")
    answers = pd.read_csv(tmp_path / "answers.csv")
    assert answers["prediction"].tolist() == answers["y"].tolist() == labels


@pytest.mark.parametrize("quote", ["", '"'], ids=["unquoted", "quoted"])
def test_spaces_around_numbers_do_not_count(quote, tmp_path):
    cells = [f"{quote} {i % 2} {quote}" for i in range(4)]
    path = written(tmp_path / "rows.csv", [f"{cell},{cell},{cell}" for cell in cells])
    found = NaiveBayes.from_files(path, target="y", families={"k": "categorical"}).summary_
    assert found.classes.tolist() == found.categories[0].tolist() == [0, 1]
    assert found.moments.mean[:, 0].tolist() == [0, 1]


WHOLE = {
    "19 digits": [10**18, 10**18 + 1, -5],
    "the least": [-(2**63), -(2**63) + 1, 2**63 - 1],
    "beyond int64": [2**63, 2**63 + 1, 0],
    "the greatest": [2**64 - 1, 2**64 - 2, 1],
}
FILES = {
    "csv": lambda table, path: pacsv.write_csv(table, path),
    "jsonl": lambda table, path: path.write_bytes(as_json_lines(table)),
    "parquet": parquet.write_table,
}


@pytest.mark.parametrize("numbers", WHOLE)
@pytest.mark.parametrize("form", FILES)
def test_integers_of_64_bits_are_labels_and_categories_in_every_file(form, numbers, tmp_path):
    kind = pa.uint64() if max(WHOLE[numbers]) >= 2**63 else pa.int64()
    column = pa.array(WHOLE[numbers] * 4, kind)
    table, path = pa.table({"k": column, "y": column}), tmp_path / f"rows.{form}"
    FILES[form](table, path)
    families = {"k": "categorical"}
    expected = NaiveBayes(families=families).fit(table.select(["k"]), column.to_numpy())
    model = NaiveBayes.from_files(path, target="y", families=families)
    assert model.classes_.tolist() == sorted(WHOLE[numbers])
    assert model.summary_.categories[0].tolist() == sorted(WHOLE[numbers])
    assert model.summary_.tallies == expected.summary_.tallies
    scoring.predict(model, path, tmp_path / "answers.parquet")
    answers = parquet.read_table(tmp_path / "answers.parquet")["prediction"].to_pylist()
    assert answers == WHOLE[numbers] * 4


@pytest.mark.parametrize("numbers", WHOLE)
@pytest.mark.parametrize("form", FILES)
def test_integers_of_64_bits_are_copied_as_they_are(form, numbers, tmp_path):
    kind = pa.uint64() if max(WHOLE[numbers]) >= 2**63 else pa.int64()
    ids = WHOLE[numbers] * 4
    path = tmp_path / f"rows.{form}"
    FILES[form](pa.table({"x": range(len(ids)), "id": pa.array(ids, kind)}), path)
    model = GaussianNB().fit(pd.DataFrame({"x": [0.0, 1.0, 2.0]}), ["a", "b", "b"])
    scoring.predict(model, path, tmp_path / "answers.parquet", id=["id"])
    copied = parquet.read_table(tmp_path / "answers.parquet")["id"].to_pylist()
    assert list(map(int, copied)) == ids


LATER = {"a large integer": 2**63, "a fraction": 0.5}


@pytest.mark.parametrize("cell", LATER.values(), ids=LATER)
def test_a_column_that_is_copied_keeps_the_type_of_the_first_rows(cell, tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "SAMPLE", 60)
    monkeypatch.setattr(json_lines, "BLOCK", 60)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(as_json_lines(pa.table({"id": range(20)})) + b'{"id": %a}\n' % cell)
    model = GaussianNB().fit(pd.DataFrame({"x": [0.0, 1.0]}), ["a", "b"])
    path.write_bytes(path.read_bytes().replace(b'"id"', b'"x": 1, "id"'))
    message = r"column 'id' must hold int64, as the first rows do: .* Write it as text"
    with pytest.raises(NaivelyError, match=message):
        scoring.predict(model, path, tmp_path / "answers.csv", id=["id"])


def json_lines_of(cells, path):
    path.write_text("".join(f'{{"k": {cell}, "y": {i % 2}}}\n' for i, cell in enumerate(cells)))
    return path


def test_large_integers_after_fractions_never_merge(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "SAMPLE", 60)
    monkeypatch.setattr(json_lines, "BLOCK", 60)
    path, how = tmp_path / "rows.jsonl", {"target": "y", "families": {"k": "categorical"}}
    for first in (0.5, 1.0):
        json_lines_of([first] * 9 + [2**53, 2**53 + 1, 7], path)
        with pytest.raises(NaivelyError, match=r"fractions beside integers beyond 2\^53"):
            NaiveBayes.from_files(path, **how)
    json_lines_of([0.5] * 9 + [2**53, 1e17, 1e300, 7], path)
    found = NaiveBayes.from_files(path, **how).summary_.categories[0]
    assert found.tolist() == [0.5, 7, 2**53, 1e17, 1e300]


def test_large_integers_may_come_after_small_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 60)
    monkeypatch.setattr(csv, "SAMPLE", 60)
    numbers = [*range(30), 2**53 + 1, 2**53, "2.0", 2**63, 2**63 + 1]
    path = written(tmp_path / "rows.csv", [f"0,{n},{i % 2}" for i, n in enumerate(numbers)])
    model = NaiveBayes.from_files(path, target="y", families={"k": "categorical"})
    expected = [*range(30), 2**53, 2**53 + 1, 2**63, 2**63 + 1]
    assert model.summary_.categories[0].tolist() == expected
    rows = [f"0,{n},{i % 2}" for i, n in enumerate([*range(30), "0.5", 7])]
    written(path, rows * 9)
    found = evaluate(NaiveBayes(families={"k": "categorical"}), path, target="y", folds=3)
    assert found.n_rows == 9 * len(rows)


@pytest.mark.parametrize(
    "numbers",
    [[-1, 2**63, 2**63 + 1], [2**64, 2**64 + 1], [10**25, 10**25 + 1], [2**53 + 1, 2**53, 0.5]],
    ids=["of both signs", "beyond 64 bits", "of 26 digits", "beside fractions"],
)
def test_integers_that_no_type_holds_together_are_text_or_an_error(numbers, tmp_path):
    rows = [f"{i},{n},{n}" for i, n in enumerate(numbers)]
    path = written(tmp_path / "rows.csv", rows)
    assert summarize(path, target="y").classes.tolist() == sorted(map(str, numbers))
    with pytest.raises(NaivelyError, match=r"column 'k': integers must be .* Make them text"):
        NaiveBayes.from_files(path, target="y", families={"k": "categorical"})


def test_hexadecimal_numbers_are_text_as_in_pandas_and_polars(tmp_path):
    path = written(tmp_path / "rows.csv", ["1,0x10,a", "2,0x11,b", "3,0x10,a"])
    found = summarize(path, target="y")
    assert found.categories[0].tolist() == ["0x10", "0x11"]
    assert found == summarize(pd.read_csv(path).drop(columns="y"), ["a", "b", "a"])


def test_a_label_of_spaces_is_missing_where_that_is_said(tmp_path):
    path = written(tmp_path / "rows.csv", ["1,a", "2, ", "3,b"], "x,y")
    how = {"target": "y", "drop_missing_target": True}
    assert summarize(path, **how).classes.tolist() == [" ", "a", "b"]
    assert summarize(path, missing=[" "], **how).classes.tolist() == ["a", "b"]


def test_numbers_beyond_64_bits_are_still_numbers(tmp_path):
    path = written(tmp_path / "rows.csv", [f"1,{n},a" for n in (2**63, 2**64 + 4096, -(10**30))])
    found = summarize(path, target="y")
    assert found.schema.numbers == range(2)
    expected = np.mean([float(2**63), float(2**64 + 4096), -1e30])
    assert found.moments.mean[0, 1] == pytest.approx(expected, rel=1e-15)
