"""The command line on files of every format: many, large, broken, interrupted."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import naively
from naively import GaussianNB
from tests.commands import PROGRAM, fails, run_on_terminal, run_program, run_well, wait_until_read

FIT = "fit", "--model", "gaussian", "-t", "species", "-o"
# A pass that takes its time and saves after every piece, of which there are many.
SLOW = """
import time
from naively.engines.files import csv, summary_pass
csv.BLOCK, summary_pass.SECONDS, tell = 1 << 12, 0, summary_pass.SummaryPass._take
summary_pass.SummaryPass._take = lambda *args: (time.sleep(0.05), tell(*args))
from naively.cli import app
app()
"""


@pytest.fixture
def parts(folder, iris):
    """The rows of iris.csv, in two Parquet files, shuffled so that both have all classes."""
    shuffled = pa.Table.from_pandas(iris.sample(frac=1, random_state=0), preserve_index=False)
    (folder / "parts").mkdir()
    pq.write_table(shuffled.slice(0, 70), folder / "parts" / "a.parquet")
    pq.write_table(shuffled.slice(70), folder / "parts" / "b.parquet")
    return folder / "parts"


def close(one, other):
    """Whether two models saw the same, up to the order of the rows."""
    a, b = naively.load(one).summary_, naively.load(other).summary_
    assert a.class_weight.tolist() == b.class_weight.tolist()
    np.testing.assert_allclose(a.moments.values[:3], b.moments.values[:3], rtol=1e-12)
    return True


# --- fit --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ending", ["parquet", "feather", "arrow", "tsv", "csv.gz", "csv.bz2", "csv.zst"]
)
def test_every_format_gives_the_same_model(folder, iris, ending):
    path = f"t.{ending}"
    table = pa.Table.from_pandas(iris)
    if ending == "parquet":
        pq.write_table(table, path)
    elif ending in ("feather", "arrow"):
        pa.feather.write_feather(table, path)
    else:
        text = iris.to_csv(index=False, sep="\t" if ending == "tsv" else ",")
        with pa.output_stream(path) as file:  # by its ending, compressed
            file.write(text.encode())
    run_well(*FIT, "m", path)
    run_well(*FIT, "n", "iris.csv")
    assert Path("m").read_bytes() == Path("n").read_bytes()


@pytest.mark.parametrize(
    "paths", [["parts"], ["parts/*.parquet"], ["parts/a.parquet", "parts/b.parquet"]]
)
def test_many_files_are_one_table(parts, paths):
    result = run_well(*FIT, "m", *paths)
    assert result.stdout == "m: GaussianNB of 150 rows, 4 columns, 3 classes\n"
    run_well(*FIT, "n", "iris.csv")
    assert close("m", "n")


def test_a_partition_may_be_the_target(folder, iris):
    for species, rows in iris.groupby("species"):
        home = Path("hive") / f"species={species}"
        home.mkdir(parents=True)
        rows.drop(columns="species").to_csv(home / "rows.csv", index=False)
    run_well(*FIT, "m", "hive")
    run_well(*FIT, "n", "iris.csv")
    assert close("m", "n")


def test_standard_input_is_read_and_its_columns_of_text_are_named(folder, iris):
    text = iris.assign(name="x").to_csv(index=False)
    done = run_program(*FIT, "m", "-", stdin=text)
    assert (done.returncode, done.stderr) == (0, "note: left out 'name': text.\n")
    run_well(*FIT, "n", "iris.csv")
    assert Path("m").read_bytes() == Path("n").read_bytes()


def test_rows_may_have_weights(folder, iris):
    weights = np.arange(150) % 3
    iris.assign(w=weights).to_csv("t.csv", index=False)
    run_well(*FIT, "m", "t.csv", "--weight", "w")
    X, y = iris.drop(columns="species"), iris["species"]
    expected = GaussianNB().fit(X, y, sample_weight=weights).summary_
    found = naively.load("m").summary_
    assert found.schema == expected.schema
    np.testing.assert_allclose(found.moments.values[:3], expected.moments.values[:3], rtol=1e-13)


def test_one_class_is_noted_since_others_may_be_merged(folder):
    Path("t.csv").write_text("x,y\n1,a\n2,a\n")
    assert "there is one class, 'a'" in run_well("fit", "t.csv", "-t", "y", "-o", "m").stderr


def test_notes_come_before_the_pass_and_name_the_reason(folder, iris):
    pq.write_table(pa.Table.from_pandas(iris.assign(day=pd.Timestamp(0), name="x")), "t.parquet")
    stderr = run_well("fit", "-t", "species", "-o", "m", "t.parquet").stderr
    assert "'day'" not in stderr
    stderr = run_well(*FIT, "m", "t.parquet").stderr
    assert "note: left out 'day': dates or times.\n" in stderr
    assert "note: left out 'name': text.\n" in stderr


def test_bad_files_are_skipped_and_listed(parts):
    Path("parts/c.parquet").write_bytes(Path("parts/a.parquet").read_bytes()[:-20])
    line = fails(*FIT, "m", "parts")
    assert line.startswith("cannot read 'parts/c.parquet': ")
    result = run_well(*FIT, "m", "parts", "--skip-bad-files")
    assert "note: skipped 'parts/c.parquet': " in result.stderr
    run_well(*FIT, "n", "parts/a.parquet", "parts/b.parquet")
    assert Path("m").read_bytes() == Path("n").read_bytes()


def test_a_finished_pass_goes_on_with_new_files(parts):
    late = Path("parts/b.parquet").rename("b.parquet")
    run_well(*FIT, "m", "parts", "--checkpoint", "so-far")
    late.rename("parts/b.parquet")
    run_well(*FIT, "m", "parts", "--checkpoint", "so-far")
    run_well(*FIT, "n", "parts")
    assert Path("m").read_bytes() == Path("n").read_bytes()


def test_an_interrupted_pass_goes_on_bit_for_bit(folder, iris, monkeypatch):
    pd.concat([iris] * 40).to_csv("t.csv", index=False)
    command = [*FIT, "m", "t.csv", "--checkpoint", "so-far"]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *command], stderr=subprocess.PIPE, text=True
    )
    wait_for(Path("so-far"))
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert stderr == (
        "interrupted: 'so-far' holds what was read; the same command goes on from there.\n"
    )
    assert not Path("m").exists()  # it did not go on to the end
    monkeypatch.setattr("naively.engines.files.csv.BLOCK", 1 << 12)
    run_well(*command)
    run_well(*FIT, "n", "t.csv")
    assert Path("m").read_bytes() == Path("n").read_bytes()


def wait_for(path):
    deadline = time.monotonic() + 300
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.2)


def test_an_interrupt_while_standard_input_is_silent(folder):
    process = subprocess.Popen(
        [*PROGRAM, "fit", "-", "-t", "y", "-o", "m"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write("x,y\n1,a\n")
    process.stdin.flush()
    wait_until_read(process.stdin)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=300) == 130
    line = process.stderr.read()
    process.stdin.close()
    process.stderr.close()
    assert line.startswith("interrupted")
    assert line.count("\n") == 1


def test_a_terminal_sees_rows_and_bytes(folder, iris):
    pd.concat([iris] * 1000).to_csv("t.csv", index=False)
    code, text = run_on_terminal("fit", "t.csv", "-t", "species", "-o", "m", cwd=folder)
    assert code == 0
    assert "measuring t.csv" in text
    assert "rows" in text
    assert "MB" in text


# --- predict ----------------------------------------------------------------------------------


def read_csv(path):
    """Read every digit: older versions of pandas round."""
    return pyarrow.csv.read_csv(path).to_pandas()


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "feather"])
def test_predictions_in_every_format(parts, ending):
    run_well(*FIT, "m", "parts")
    out = f"p.{ending}"
    result = run_well("predict", "m", "parts", "-o", out, "--proba", "--id", "species")
    assert result.stdout == f"{out}: 150 predictions\n"
    read = {"csv": read_csv, "parquet": pd.read_parquet}.get(ending, pd.read_feather)
    found = read(out)
    rows = pd.concat([pd.read_parquet(path) for path in sorted(parts.iterdir())])
    X, model = rows.drop(columns="species"), naively.load("m")
    assert found["species"].tolist() == rows["species"].tolist()
    assert found["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(found.iloc[:, 2:].to_numpy(), model.predict_proba(X))


def test_no_rows_have_no_predictions(folder):
    Path("t.csv").write_text("x,y\n1,a\n2,b\n")
    Path("n.csv").write_text("x\n")
    run_well("fit", "t.csv", "-t", "y", "-o", "m")
    assert run_well("predict", "m", "n.csv").stdout == "prediction\n"
    assert fails("fit", "n.csv", "-t", "y") == "there must be a file that holds rows; got 'n.csv'."


def test_predictions_of_a_format_that_is_none(folder):
    run_well(*FIT, "m", "iris.csv")
    assert fails("predict", "m", "iris.csv", "-o", "p.xlsx").startswith("the output must end in")


def test_predictions_do_not_overwrite_the_rows(folder):
    run_well(*FIT, "m", "iris.csv")
    assert "must be another file" in fails("predict", "m", "*.csv", "-o", "iris.csv")


def test_rows_that_are_broken_in_the_middle_leave_no_predictions(parts):
    run_well(*FIT, "m", "parts")
    Path("parts/b.parquet").write_bytes(b"PAR1 and nothing else")
    assert "cannot read 'parts/b.parquet'" in fails("predict", "m", "parts", "-o", "p.parquet")


# --- update, forget, merge --------------------------------------------------------------------


def test_updating_is_having_seen_it_all(parts):
    run_well(*FIT, "m", "parts/a.parquet")
    result = run_well("update", "m", "parts/b.parquet", "-t", "species")
    assert result.stdout == "m: 80 rows added, 150 in all, 3 classes\n"
    run_well(*FIT, "n", "parts")
    assert close("m", "n")


def test_updating_elsewhere_leaves_the_model_and_keeps_its_parameters(parts):
    run_well(*FIT, "m", "parts/a.parquet", "--ddof", "1", "--variance", "shared")
    before = Path("m").read_bytes()
    stderr = run_well("update", "m", "parts/b.parquet", "-o", "n").stderr
    assert stderr == "note: the labels are in 'species', the one column beside the model's.\n"
    assert Path("m").read_bytes() == before
    assert naively.load("n").get_params() == naively.load("m").get_params()


def test_new_classes_are_noted(folder):
    Path("t.csv").write_text("x,y\n1,a\n2,a\n5,b\n")
    Path("n.csv").write_text("y,x\nc,9\nb,7\n")
    run_well("fit", "t.csv", "-t", "y", "-o", "m")
    assert "note: new classes: 'c'.\n" in run_well("update", "m", "n.csv").stderr
    assert naively.load("m").classes_.tolist() == ["a", "b", "c"]


def test_labels_are_read_as_those_of_the_model(folder):
    Path("t.csv").write_text("x,y\n1,1\n2,one\n")
    Path("n.csv").write_text("x,y\n1,1\n2,2\n")
    run_well("fit", "t.csv", "-t", "y", "-o", "m")
    run_well("update", "m", "n.csv", "-t", "y")
    assert naively.load("m").classes_.tolist() == ["1", "2", "one"]


def test_forgetting_undoes_updating(parts):
    run_well(*FIT, "m", "parts/a.parquet")
    run_well("update", "m", "parts/b.parquet", "-t", "species", "-o", "n")
    result = run_well("forget", "n", "parts/b.parquet", "-t", "species")
    assert result.stdout == "n: 80 rows removed, 70 left, 3 classes\n"
    a, b = naively.load("m").summary_, naively.load("n").summary_
    np.testing.assert_allclose(a.moments.values[:3], b.moments.values[:3], rtol=1e-9)


def test_forgetting_what_was_never_seen(parts):
    run_well(*FIT, "m", "parts/a.parquet")
    assert fails("forget", "m", "parts/b.parquet", "-t", "species").startswith("cannot subtract: ")


def test_merging_is_having_seen_it_all(parts):
    run_well(*FIT, "a", "parts/a.parquet")
    rows = pd.read_parquet("parts/b.parquet")
    rows[rows.columns[::-1]].to_csv("b.csv", index=False)  # another order of columns
    run_well(*FIT, "b", "b.csv")
    result = run_well("merge", "a", "b", "-o", "m")
    assert result.stdout == "m: 2 models, 150 rows, 4 columns, 3 classes\n"
    run_well(*FIT, "n", "parts")
    assert close("m", "n")


def test_merging_takes_the_parameters_of_the_first(parts):
    run_well(*FIT, "a", "parts/a.parquet", "--ddof", "1")
    run_well(*FIT, "b", "parts/b.parquet")
    assert run_well("merge", "a", "b", "-o", "m").stderr == (
        "note: 'b' has other parameters; the first model's are used: ddof=1.\n"
    )
    assert naively.load("m").ddof == 1


def test_merging_what_does_not_fit(parts):
    run_well(*FIT, "a", "parts/a.parquet")
    run_well(*FIT, "b", "parts/b.parquet", "--exclude", "sepal width (cm)")
    assert fails("merge", "a", "b", "-o", "m").startswith("cannot add 'b': summaries must have")
    assert "two models or more" in fails("merge", "a", "-o", "m")
    assert fails("merge", "a", "./a", "-o", "m") == "each model counts once; got 'a' twice."
    assert "must be another file" in fails("merge", "a", "b", "-o", "b")


# --- inspect, export, and those that need memory ----------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_graph_gives_the_same_labels(folder, iris, dtype):
    run_well(*FIT, "m", "iris.csv")
    run_well("export", "m", "--to", "onnx", "-o", "m.onnx", "--dtype", dtype)
    X = iris.drop(columns="species")
    labels, _ = onnxruntime.InferenceSession("m.onnx").run(None, {"X": X.to_numpy(dtype)})
    assert labels.tolist() == naively.load("m").predict(X).tolist()


def test_a_query_gives_the_same_labels(folder, iris):
    run_well(*FIT, "m", "iris.csv")
    options = "--to", "sql", "--table", "flowers", "--dialect", "duckdb", "--keep", "id"
    text = run_well("export", "m", *options).stdout
    flowers = iris.assign(id=np.arange(150))  # noqa: F841 - DuckDB finds it by name
    found = duckdb.sql(text).df().sort_values("id")
    expected = naively.load("m").predict(iris.drop(columns="species"))
    assert found["prediction"].tolist() == expected.tolist()
    run_well("export", "m", *options, "-o", "q.sql")
    assert Path("q.sql").read_text() == text


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--to", "onnx"], "a graph must go to a file"),
        (["--to", "sql"], "name it: --table"),
        (["--to", "sql", "--table", "t", "--dtype", "float32"], "--dtype has no meaning"),
        (["--to", "onnx", "-o", "x", "--table", "t"], "--table has no meaning"),
        (["--to", "sql", "--table", "t", "--dialect", "cobol"], "dialect must be one of"),
        (["--to", "pmml"], "--to"),
        (["--to", "onnx", "-o", "no/x"], "there is no folder 'no'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_exports_that_will_not_do(folder, options, reason):
    run_well(*FIT, "m", "iris.csv")
    assert reason in fails("export", "m", *options)


def test_several_files_are_judged_together(parts):
    shown = run_well("evaluate", "parts", "-t", "species", "--json", "--test-size", "0.4").stdout
    assert json.loads(shown)["accuracy"] > 0.9
    shown = run_well("compare", "parts/*.parquet", "-t", "species", "--repeats", "1", "--json")
    assert json.loads(shown.stdout)["agreement"] == 1


# --- bad input --------------------------------------------------------------------------------


def test_a_column_that_the_second_file_lacks(parts):
    rows = pd.read_parquet("parts/b.parquet").drop(columns="petal width (cm)")
    rows.to_parquet("parts/b.parquet")
    line = fails(*FIT, "m", "parts")
    assert "'parts/b.parquet' lacks 'petal width (cm)'" in line


def test_a_target_that_is_null(parts):
    rows = pd.read_parquet("parts/b.parquet")
    rows.loc[3, "species"] = None
    rows.to_parquet("parts/b.parquet")
    told = "the target 'species' is missing in row 4 of 'parts/b.parquet'. Leave such rows out;"
    assert told in fails(*FIT, "m", "parts")


@pytest.mark.parametrize("command", ["update", "forget", "predict"])
def test_a_model_of_other_columns(folder, command):
    run_well(*FIT, "m", "iris.csv")
    Path("t.csv").write_text("x,species\n1,setosa\n")
    options = [] if command == "predict" else ["-t", "species"]
    assert fails(command, "m", "t.csv", *options).startswith("no column 'sepal length (cm)' in")


def test_labels_of_another_type_than_the_models(folder):
    Path("t.csv").write_text("x,y\n1,a\n2,b\n")
    run_well("fit", "t.csv", "-t", "y", "-o", "m")
    pq.write_table(pa.table({"x": [1.0], "y": [1]}), "n.parquet")
    line = fails("update", "m", "n.parquet", "-t", "y")
    assert line == "the labels must be str as the model's are ('a', 'b'); got 1."


@pytest.mark.parametrize("command", ["update", "forget", "drift"])
def test_a_column_of_dates_is_the_models_and_not_the_labels(folder, command):
    days = [f"2024-0{i % 9 + 1}-11" for i in range(40)]
    rows = pd.DataFrame({"day": days, "x": range(40), "y": ["a", "b"] * 20})
    rows.to_csv("t.csv", index=False)
    rows[:4].to_csv("some.csv", index=False)
    run_well("fit", "t.csv", "-t", "y", "-o", "m")
    assert "the labels are in 'y'" in run_well(command, "m", "some.csv").stderr


@pytest.mark.parametrize("command", ["update", "forget"])
def test_labels_that_cannot_be_found(folder, iris, command):
    run_well(*FIT, "m", "iris.csv")
    iris.assign(name="x").to_csv("t.csv", index=False)
    assert "there must be one column beside the model's" in fails(command, "m", "t.csv")
    assert "there must be one column" in fails(command, "m", "t.csv", "--weight", "petal width")


@pytest.mark.parametrize("command", ["update", "forget", "predict"])
def test_rows_that_are_not_there(folder, command):
    run_well(*FIT, "m", "iris.csv")
    assert fails(command, "m", "no.csv") == "cannot read 'no.csv': No such file or directory."
    assert fails(command, "m", "no/*.csv").startswith("there must be a file that matches")


def test_a_checkpoint_of_something_else(parts):
    run_well(*FIT, "m", "parts/a.parquet", "--checkpoint", "so-far")
    line = fails(*FIT, "m", "iris.csv", "--checkpoint", "so-far")
    assert line.startswith("the checkpoint 'so-far' is of other files: ")
    line = fails(*FIT, "m", "parts/a.parquet", "--checkpoint", "m")
    assert line == "the checkpoint must be another file than the output; got 'm'."
    assert "must be another file" in fails(*FIT, "m", "iris.csv", "--checkpoint", "iris.csv")


def test_priors_are_read_before_the_data(folder):
    (folder / "empty.csv").touch()
    assert fails(*FIT, "m", "empty.csv", "--priors", "x").startswith("priors must be like")
