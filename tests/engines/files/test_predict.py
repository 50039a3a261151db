"""Files are labelled as they stream by, as their rows are in memory."""

import os
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from naively import GaussianNB, NaiveBayes, NaivelyError, load
from naively.engines.files import predict
from tests.written import FEATURES, N, rows, small_pieces, write

__all__ = ["small_pieces"]  # a fixture

READ = {".csv": pa.csv.read_csv, ".parquet": pq.read_table, ".feather": pa.feather.read_table}
READ[".arrow"] = READ[".feather"]
ENDINGS = [".csv", ".csv.gz", ".parquet", ".feather", ".arrow", ".arrows"]


def in_memory(table):
    return table.select(FEATURES).to_pandas()


@pytest.fixture(scope="module")
def model():
    table = rows()
    return GaussianNB().fit(in_memory(table), table["label"].to_numpy())


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_labelled_as_its_rows_in_memory(model, tmp_path, small_pieces, ending):
    table = rows(seed=1)
    path = write(table, tmp_path / f"a{ending}")
    n_rows = predict(model, path, tmp_path / "out.parquet", proba=True, id=["name"])
    found = pq.read_table(tmp_path / "out.parquet")
    assert n_rows == N
    assert found.column_names == ["name", "prediction", "p_a", "p_b", "p_ü"]
    assert found["name"].to_pylist() == table["name"].to_pylist()
    X = in_memory(table)
    assert np.array_equal(found["prediction"].to_numpy(), model.predict(X))
    probabilities = np.column_stack([found[f"p_{k}"].to_numpy() for k in model.classes_])
    assert np.array_equal(probabilities, model.predict_proba(X))


@pytest.mark.parametrize("ending", READ)
def test_predictions_are_written_in_every_format(model, tmp_path, ending):
    table = rows(100)
    path = write(table, tmp_path / "a.csv")
    predict(model, path, tmp_path / f"out{ending}", id="name")
    found = READ[ending](tmp_path / f"out{ending}")
    assert found.column_names == ["name", "prediction"]
    assert found["name"].to_pylist() == table["name"].to_pylist()
    assert found["prediction"].to_pylist() == model.predict(in_memory(table)).tolist()


@pytest.mark.parametrize("labels", [[3, 1], [True, False], [1.0, 2.0], ["x", "y"]], ids=str)
def test_predictions_have_the_type_of_the_labels(tmp_path, labels):
    model = GaussianNB().fit(pl.DataFrame({"x": [0.0, 9.0]}), labels)
    path = write(pa.table({"x": [0.0, 9.0]}), tmp_path / "a.parquet")
    predict(model, path, tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["prediction"].to_pylist() == labels


def test_rows_keep_their_order_over_files_and_threads(model, tmp_path, small_pieces):
    table = rows()
    for start in range(0, N, 1000):
        other = table.slice(start, 1000).select(table.column_names[:: 1 if start else -1])
        write(other, tmp_path / f"{start}.parquet")
    outputs = []
    for n_jobs in (1, 4):
        predict(
            model,
            str(tmp_path / "?*.parquet"),
            tmp_path / "out.csv",
            id=["name", "count"],
            n_jobs=n_jobs,
        )
        outputs.append((tmp_path / "out.csv").read_text())
    assert outputs[0] == outputs[1]
    assert pa.csv.read_csv(tmp_path / "out.csv")["name"].to_pylist() == table["name"].to_pylist()


def test_what_a_path_says_can_be_a_column_or_an_id(tmp_path):
    model = GaussianNB().fit(pl.DataFrame({"x": [0.0, 9.0], "year": [1, 2]}), ["a", "b"])
    for year in (1, 2):
        (tmp_path / f"year={year}").mkdir()
        write(pa.table({"x": [4.5, 4.5]}), tmp_path / f"year={year}" / "a.parquet")
    predict(model, tmp_path / "year=*" / "*", tmp_path / "out.csv", id=["year"])
    assert (tmp_path / "out.csv").read_text() == "year,prediction\n1,a\n1,a\n2,b\n2,b\n"


def test_streams_are_labelled(model, tmp_path):
    table = rows(500)
    for stream in (table, table.to_reader(max_chunksize=70), pl.from_arrow(table)):
        predict(model, stream, tmp_path / "out.parquet")
        found = pq.read_table(tmp_path / "out.parquet")["prediction"].to_numpy()
        assert np.array_equal(found, model.predict(in_memory(table)))


@pytest.mark.parametrize("page", [1 << 20, 100], ids=["whole dictionaries", "short dictionaries"])
def test_numbers_and_text_are_labelled_whatever_the_row_groups(tmp_path, page):
    """Text ends its batches with its dictionaries; numbers beside it do not."""
    n, rng = 1000, np.random.default_rng(0)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], n)
    town[500:] = [f"town {i}" for i in range(500)]  # outgrows a dictionary of 100 bytes
    table = pa.table({"age": rng.normal(size=n), "town": town, "sick": rng.choice(["n", "y"], n)})
    path = tmp_path / "people.parquet"
    pq.write_table(
        table, path, row_group_size=400, dictionary_pagesize_limit=page, write_batch_size=50
    )
    model = NaiveBayes.from_files(path, target="sick")
    predict(model, path, tmp_path / "out.parquet", proba=True, id=["town"], n_jobs=2)
    found = pq.read_table(tmp_path / "out.parquet")
    X = table.select(["age", "town"])
    assert found["town"].to_pylist() == table["town"].to_pylist()
    assert found["prediction"].to_pylist() == model.predict(X).tolist()
    assert np.array_equal(found["p_n"].to_numpy(), model.predict_proba(X)[:, 0])


@pytest.mark.parametrize("holds", ["number", "category"])
def test_an_id_that_is_a_feature_too_is_copied_as_it_is_written(tmp_path, holds):
    ids = ["007", "1e3", "+8", "NA", "9007199254740993", ""]
    families = {"id": "categorical"} if holds == "category" else None
    X = pl.DataFrame({"id": range(20), "x": [0.5, 1.5] * 10})
    model = NaiveBayes(families=families).fit(X, ["a", "b"] * 10)
    lines = ["id,x", *(f"{i},1.50" for i in ids)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    for ending in (".csv", ".parquet"):
        predict(model, tmp_path / "a.csv", tmp_path / f"out{ending}", id=["id", "x"])
    written = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.rpartition(",")[0] for line in written] == lines
    found = pq.read_table(tmp_path / "out.parquet")
    assert found["id"].to_pylist() == [*ids[:-1], None]
    numbers = [7.0, 1000.0, 8.0, None, 2.0**53, None]
    rows = pl.DataFrame({"id": numbers, "x": [1.5] * 6})
    assert found["prediction"].to_pylist() == model.predict(rows).tolist()


def test_large_integers_that_are_a_feature_too_are_copied_exactly(tmp_path):
    ids = [2**53 + 1, 12]
    model = NaiveBayes().fit(pl.DataFrame({"id": [0, 1] * 10}), ["a", "b"] * 10)
    (tmp_path / "a.jsonl").write_text("".join(f'{{"id": {i}}}\n' for i in ids))
    write(pa.table({"id": ids}), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        predict(model, tmp_path / name, tmp_path / "out.csv", id=["id"])
        lines = (tmp_path / "out.csv").read_text().splitlines()
        assert [line.partition(",")[0] for line in lines] == ["id", *map(str, ids)]


def test_a_model_without_names_takes_columns_by_place(tmp_path):
    model = GaussianNB().fit([[0.0], [9.0]], ["a", "b"])
    path = write(pa.table({"id": [7, 8], "x": [9.0, 0.0]}), tmp_path / "a.csv")
    expected = "id,prediction\n7,b\n8,a\n"
    for options in ({}, {"columns": ["x"]}):
        predict(model, path, tmp_path / "out.csv", id=["id"], **options)
        assert (tmp_path / "out.csv").read_text() == expected
    with pytest.raises(NaivelyError, match=r"takes 1 numeric columns; got 2 in '.*a.csv'"):
        predict(model, path, tmp_path / "out.csv")


def test_no_rows_give_no_predictions(model, tmp_path):
    path = write(rows().slice(0, 0), tmp_path / "a.parquet")
    assert predict(model, path, tmp_path / "out.parquet", proba=True) == 0
    assert pq.read_table(tmp_path / "out.parquet").column_names[:2] == ["prediction", "p_a"]


def test_standard_output_is_csv(tmp_path):
    GaussianNB().fit(pl.DataFrame({"x": [0.0, 9.0]}), ["a", "b"]).save(tmp_path / "m.safetensors")
    code = (
        "import sys, naively; from naively.engines.files import predict;"
        "predict(naively.load(sys.argv[1]), '-', '-', id=['x'])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "m.safetensors")]
    run = subprocess.run(command, input=b"x\n9\n\n0\n", capture_output=True, check=True)
    assert run.stdout == b"x,prediction\n9,b\n0,a\n"
    assert load(tmp_path / "m.safetensors").n_features_in_ == 1


ERRORS = {
    "a column is missing": ({"x": [1.0]}, {}, r"no column 'z' in '.*a.parquet'"),
    "a column is text": ({"x": [1.0], "z": ["1"]}, {}, r"column 'z' must hold numbers; got string"),
    "no such id": ({"x": [1.0], "z": [1.0]}, {"id": ["i"]}, r"no column 'i' in '.*a.parquet'"),
    "infinity": (
        {"x": [1.0, 2.0], "z": [1.0, -np.inf]},
        {},
        r"column 'z' holds infinity in row 2 of '.*a.parquet'",
    ),
    "an id called prediction": (
        {"x": [1.0], "z": [1.0], "prediction": ["a"]},
        {"id": ["prediction"]},
        r"columns of the output must differ; 'prediction'",
    ),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_leaves_the_old_output(tmp_path, kind):
    columns, options, message = ERRORS[kind]
    model = GaussianNB().fit(pl.DataFrame({"x": [0.0, 9.0], "z": [0.0, 9.0]}), ["a", "b"])
    path = write(pa.table(columns), tmp_path / "a.parquet")
    (tmp_path / "out.csv").write_text("old")
    with pytest.raises(NaivelyError, match=message):
        predict(model, path, tmp_path / "out.csv", **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "out.csv"]
    assert (tmp_path / "out.csv").read_text() == "old"


def test_an_interrupt_leaves_nothing(model, tmp_path):
    path = write(rows(), tmp_path / "a.parquet")

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict(model, path, tmp_path / "out.parquet", progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_the_output_has_a_format_and_a_folder(model, tmp_path):
    path = write(rows(10), tmp_path / "a.parquet")
    with pytest.raises(NaivelyError, match=r"must end in one of .*; got .*out.xlsx"):
        predict(model, path, tmp_path / "out.xlsx")
    with pytest.raises(NaivelyError, match=r"cannot write .*nowhere"):
        predict(model, path, tmp_path / "nowhere" / "out.csv")


def test_progress_counts_rows_and_bytes_up_to_the_whole(model, tmp_path):
    size = write(rows(), tmp_path / "a.parquet").stat().st_size
    calls = []
    predict(model, tmp_path / "a.parquet", tmp_path / "o.csv", progress=lambda *c: calls.append(c))
    assert calls[-1] == (N, size, size)


def test_a_device_a_pipe_or_a_folder_is_not_written_over(model, tmp_path):
    path = write(rows(10), tmp_path / "a.parquet")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    for name in ("pipe.csv", "folder.csv"):
        for save in (model.save, lambda path_: predict(model, path, path_)):
            with pytest.raises(NaivelyError, match=f"cannot write '.*{name}': it is not a plain"):
                save(tmp_path / name)
    assert (tmp_path / "pipe.csv").is_fifo()


def test_a_link_stays_and_the_file_behind_it_is_written(model, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/model")
    model.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "there" / "model").n_features_in_ == len(FEATURES)
