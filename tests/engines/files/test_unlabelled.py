"""Rows without a label: an error that says what to do, or left out and counted."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import naively
from naively import NaiveBayes, NaivelyError
from naively.engines import files
from tests.commands import fails, run, run_well
from tests.written import small_pieces, write

__all__ = ["small_pieces"]  # a fixture

ENDINGS = [".csv", ".csv.gz", ".jsonl", ".parquet", ".feather", ".arrow", ".arrows"]
N, TAIL = 3000, 40


def table(labels, kinds=False):
    rng = np.random.default_rng(0)
    columns = {
        "x": rng.normal(size=N),
        "n": rng.integers(0, 9, N),
        "weight": rng.integers(1, 4, N).astype(float),
        "y": labels,
    }
    if kinds:
        columns["town"] = rng.choice(["Ulm", "Bonn"], N)
    return pa.table(columns)


def some_missing(values, missing=None):
    rng = np.random.default_rng(1)
    gone = rng.random(N) < 0.2
    gone[-TAIL:] = True  # a whole piece without a label
    return [missing if hole else value for hole, value in zip(gone, values, strict=True)], ~gone


LABELS = {
    "text": np.random.default_rng(2).choice(["a", "b"], N).tolist(),
    "integers": np.random.default_rng(2).integers(0, 3, N).tolist(),
    "booleans": (np.random.default_rng(2).random(N) < 0.5).tolist(),
}


def agree(one, other):
    """Whether summaries are of the same rows; pieces end elsewhere, and so does rounding."""
    assert one.classes.tolist() == other.classes.tolist()
    assert one.classes.dtype == other.classes.dtype
    assert one.class_weight.tolist() == other.class_weight.tolist()
    assert one.moments.weight.tolist() == other.moments.weight.tolist()
    sums = one.moments.values[:3], other.moments.values[:3]
    np.testing.assert_allclose(*sums, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.usefixtures("small_pieces")
def test_rows_without_a_label_are_as_if_they_were_not_there(tmp_path, ending, kind):
    labels, kept = some_missing(LABELS[kind])
    holes = table(labels)
    path, without = write(holes, tmp_path / f"a{ending}"), tmp_path / f"b{ending}"
    write(holes.filter(pa.array(kept)), without)
    with pytest.raises(NaivelyError, match=r"'y' is missing in row \d+ of .*drop_missing_target=T"):
        files.scan(path, target="y")
    for weight in (None, "weight"):
        found = files.scan(path, target="y", drop_missing_target=True, weight=weight)
        assert found.unlabelled == N - kept.sum()
        assert found.rows == kept.sum()
        agree(found.summary, files.summarize(without, target="y", weight=weight))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.usefixtures("small_pieces")
def test_models_of_any_columns_leave_rows_without_a_label_out(tmp_path, ending):
    labels, kept = some_missing(LABELS["text"])
    holes = table(labels, kinds=True)
    path, without = write(holes, tmp_path / f"a{ending}"), tmp_path / f"b{ending}"
    write(holes.filter(pa.array(kept)), without)
    found = NaiveBayes.from_files(path, target="y", drop_missing_target=True)
    expected = NaiveBayes.from_files(without, target="y")
    assert found.summary_.weight == kept.sum()
    assert found.summary_.tallies == expected.summary_.tallies
    assert found.summary_.sample.size == expected.summary_.sample.size


@pytest.mark.parametrize("missing", ["", "  ", "NA", "nan", "?"])
def test_what_means_a_missing_label_in_csv(tmp_path, missing):
    path = tmp_path / "a.csv"
    path.write_text(f"x,y\n1,a\n2,{missing}\n3,b\n4,{missing}\n")
    found = files.scan(path, target="y", missing=["?", "  "], drop_missing_target=True)
    assert (found.rows, found.unlabelled) == (2, 2)
    assert found.summary.classes.tolist() == ["a", "b"]


def test_errors_name_the_row_of_the_file_although_rows_were_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,\n2,b\n" * 50 + "inf,b\n1,\n")
    with pytest.raises(NaivelyError, match="column 'x' holds infinity in row 101 of"):
        files.scan(path, target="y", drop_missing_target=True)


@pytest.mark.usefixtures("small_pieces")
def test_errors_name_the_row_of_the_file_in_later_pieces(tmp_path):
    for ending in (".csv", ".parquet"):
        labels, kept = some_missing(LABELS["text"])
        holes = table(labels)
        at = int(np.flatnonzero(kept)[-1])
        x = holes["x"].to_pylist()
        x[at] = float("inf")
        path = write(holes.set_column(0, "x", pa.array(x)), tmp_path / f"a{ending}")
        with pytest.raises(NaivelyError, match=rf"'x' holds infinity in row {at + 1} of"):
            files.scan(path, target="y", drop_missing_target=True)


def test_a_file_whose_path_has_no_label_is_left_out(tmp_path):
    for name in ("y=a", "y=b", "y=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("x\n1\n2\n")
    with pytest.raises(NaivelyError, match="'y' is missing in row 1 of"):
        files.scan(tmp_path, target="y")
    found = files.scan(tmp_path, target="y", drop_missing_target=True)
    assert (found.rows, found.unlabelled) == (4, 2)
    assert found.summary.classes.tolist() == ["a", "b"]


def test_a_checkpoint_knows_whether_rows_are_left_out(tmp_path):
    path, how = tmp_path / "a.csv", {"target": "y", "checkpoint": tmp_path / "so-far"}
    path.write_text("x,y\n1,a\n2,\n3,b\n")
    files.scan(path, drop_missing_target=True, **how)
    with pytest.raises(NaivelyError, match="of another pass: drop_missing_target was True"):
        files.scan(path, **how)


@pytest.fixture
def holes(tmp_path, monkeypatch):
    """A file of which 40 rows have no label."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], 200).astype(object)
    frame = pd.DataFrame({"x": rng.normal(np.where(kind == "a", 0, 2)), "y": kind})
    frame.dropna().to_csv("whole.csv", index=False)
    frame.loc[frame.index % 5 == 0, "y"] = None
    frame.to_csv("holes.csv", index=False)
    frame.dropna().to_csv("labelled.csv", index=False)


NOTE = "note: 40 rows without a label were left out."


@pytest.mark.usefixtures("holes")
def test_every_command_leaves_rows_without_a_label_out_and_says_how_many():
    run_well("fit", "whole.csv", "-t", "y", "-o", "m.safetensors")
    for command in (
        ["fit", "holes.csv", "-t", "y"],
        ["evaluate", "holes.csv", "-t", "y", "--folds", "3"],
        ["evaluate", "holes.csv", "-t", "y", "--leave-one-out"],
        ["tune", "holes.csv", "-t", "y", "--folds", "2", "--grid", "calibration=none,weights"],
        ["update", "m.safetensors", "holes.csv", "-t", "y", "-o", "n.safetensors"],
        ["forget", "m.safetensors", "holes.csv", "-t", "y", "-o", "n.safetensors"],
        ["drift", "m.safetensors", "holes.csv", "-t", "y"],
        ["report", "holes.csv", "-t", "y", "--folds", "3", "--no-compare"],
    ):
        assert "--drop-missing-target" in fails(*command)
        assert run_well(*command, "--drop-missing-target").stderr.splitlines().count(NOTE) == 1


@pytest.mark.usefixtures("holes")
def test_an_evaluation_is_that_of_the_labelled_rows():
    how = "-t", "y", "--folds", "3", "--json"
    found = json.loads(run("evaluate", "holes.csv", *how, "--drop-missing-target").stdout)
    assert found == json.loads(run("evaluate", "labelled.csv", *how).stdout)
    run_well("fit", "holes.csv", "-t", "y", "--drop-missing-target", "-o", "m.safetensors")
    model = naively.load("m.safetensors")
    assert model.summary_.weight == 160
    for how in ({}, {"folds": 3}):
        found = naively.evaluate(model, "holes.csv", "y", drop_missing_target=True, **how)
        assert found.to_dict() == naively.evaluate(model, "labelled.csv", "y", **how).to_dict()


def test_a_table_without_any_label_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x,y\n1,\n2,\n")
    assert "there must be rows to learn from" in fails(
        "fit", "a.csv", "-t", "y", "--drop-missing-target"
    )
