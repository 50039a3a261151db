"""The command line on tables of any columns: ``--model naive-bayes``."""

import gzip
import json
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv

import naively
from naively import NaiveBayes
from naively.families.categorical import Categorical
from naively.families.histogram import Histogram
from naively.families.student_t import StudentT
from tests.commands import fails, run_program, run_well

ANY = "--model", "naive-bayes"
FIT = "fit", "people.csv", "-t", "sick", *ANY


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A folder to work in, with people.csv in it: numbers, text, booleans, missing cells."""
    rng = np.random.default_rng(0)
    n = 400
    sick = rng.choice(["no", "yes"], n)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(1, 90, n)),
            "town": rng.choice(["Ulm", "Bonn", "Köln"], n),
            "smokes": rng.random(n) < np.where(sick == "yes", 0.7, 0.2),
            "zip": rng.integers(10, 14, n),
            "sick": sick,
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return frame


def columns(frame):
    return frame.drop(columns=["sick"])


# --- fit, predict -----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_dates_are_read_by_their_parts_and_times_are_left_out_with_a_note(people, form):
    frame = people.assign(seen=pd.date_range("2024-01-01 05:30", periods=400, freq="7h"))
    if form == "csv":
        frame.to_csv("dated.csv", index=False)
    else:
        frame.assign(took=pd.Timedelta("1h")).to_parquet("dated.parquet")
    done = run_well("fit", f"dated.{form}", *FIT[2:], "-o", "m")
    assert done.stderr == "" if form == "csv" else "note: left out 'took': dates or times.\n"
    assert done.stdout == "m: NaiveBayes of 400 rows, 8 columns, 2 classes\n"
    run_well("predict", "m", f"dated.{form}", "-o", "found.csv", "--id", "seen")
    found = pd.read_csv("found.csv", parse_dates=["seen"])
    assert (found["seen"] == frame["seen"]).all()
    assert (found["prediction"] == naively.load("m").predict(columns(frame))).all()
    assert "seen.weekday" in run_well("inspect", "m").stdout


def test_a_column_that_is_empty_in_the_first_file_is_learned_from(people):
    people.assign(town=None, smokes=None).to_csv("a.csv", index=False)
    people.to_csv("b.csv", index=False)
    done = run_well("fit", "a.csv", "b.csv", "-t", "sick", "-o", "m")
    assert done.stdout == "m: NaiveBayes of 800 rows, 4 columns, 2 classes\n"
    assert "left out" not in done.stderr
    done = run_well("evaluate", "a.csv", "b.csv", "-t", "sick", "--folds", "2")
    assert "left out" not in done.stderr


def test_interactions_are_asked_for_and_shown(people):
    run_well(*FIT, "-o", "m", "--interactions", "canonical, quadratic")
    model = naively.load("m")
    assert model.interactions == ("canonical", "quadratic")
    shown = run_well("inspect", "m").stdout
    assert "Interactions:" in shown
    assert "direction of smokes" in shown
    assert "quadratic of age, zip" in shown
    found = json.loads(run_well("inspect", "m", "--json").stdout)["interactions"]
    assert [term["kind"] for term in found] == ["direction", "quadratic"]
    message = fails(*FIT, "-o", "m", "--interactions", "three-way")
    assert message.startswith("interactions must be")
    run_well(*FIT, "-o", "m", "--interactions", "none")
    assert naively.load("m").interactions is None


def test_what_is_fitted_predicts_what_python_predicts(people):
    done = run_well(*FIT, "-o", "m")
    assert done.stderr == ""
    assert done.stdout == "m: NaiveBayes of 400 rows, 4 columns, 2 classes\n"
    model = NaiveBayes().fit(columns(people), people["sick"])
    assert naively.load("m").summary_ == model.summary_
    run_well("predict", "m", "people.csv", "--proba", "-o", "p.csv")
    predicted = arrow_csv.read_csv("p.csv").to_pandas()  # to the last digit
    assert predicted["prediction"].tolist() == model.predict(columns(people)).tolist()
    p = predicted[["p_no", "p_yes"]].to_numpy()
    np.testing.assert_array_equal(p, model.predict_proba(columns(people)))


def test_options_reach_the_model(people):
    families = "--family", "zip=categorical", "--family", "age=student-t,histogram"
    more = "--calibration", "temperature", "--reject", "0.8=unknown", "--priors", "yes=0.1,no=0.9"
    run_well(*FIT, "-o", "m", *families, *more)
    model = naively.load("m")
    assert model.get_params() == {
        **NaiveBayes().get_params(),
        "families": {"zip": (Categorical(),), "age": (StudentT(), Histogram())},
        "calibration": "temperature",
        "reject": [0.8, "unknown"],
        "priors": [0.9, 0.1],
    }
    assert "unknown" in run_well("predict", "m", "people.csv").stdout


def test_what_is_exported_as_a_query_answers_the_same(people):
    run_well(*FIT, "-o", "m")
    query = run_well("export", "m", "--to", "sql", "--table", "rows", "--keep", "id").stdout
    rows = people.assign(id=np.arange(400))  # noqa: F841 - DuckDB finds it by name
    found = duckdb.sql(query).df().sort_values("id")
    model = naively.load("m")
    assert found["prediction"].tolist() == model.predict(columns(people)).tolist()
    p = found[["p_no", "p_yes"]].to_numpy()
    np.testing.assert_allclose(p, model.predict_proba(columns(people)), atol=1e-9)


def test_what_is_exported_as_a_graph_answers_the_same(people):
    run_well(*FIT, "-o", "m")
    run_well("export", "m", "--to", "onnx", "-o", "m.onnx", "--dtype", "float64")
    rows = {
        "X": people[["age", "zip"]].to_numpy(float),
        "categories": people[["town", "smokes"]].astype(str).to_numpy(object),
    }
    labels, p = onnxruntime.InferenceSession("m.onnx").run(None, rows)
    model = naively.load("m")
    assert labels.tolist() == model.predict(columns(people)).tolist()
    np.testing.assert_allclose(p, model.predict_proba(columns(people)), atol=1e-12)


def test_an_export_does_not_decide(people):
    run_well(*FIT, "-o", "m", "--reject", "0.8=unknown")
    assert "reject cannot be exported" in fails("export", "m", "--to", "sql", "--table", "t")


def test_calibration_may_be_left_out(people):
    run_well(*FIT, "-o", "m", "--calibration", "none")
    assert naively.load("m").summary_.sample is None


def test_gaussians_may_be_calibrated(people):
    fit = "fit", "people.csv", "-t", "sick", "-o", "m", "--model", "gaussian"
    run_well(*fit, "--calibration", "temperature")
    model = naively.load("m")
    assert type(model).__name__ == "GaussianNB"
    assert model.summary_.schema.names == ("age", "smokes", "zip")
    assert len(model.summary_.sample) > 300
    run_well("predict", "m", "people.csv", "-o", "p.csv")


def test_a_label_for_doubt_is_of_the_classes_type(people):
    people.assign(sick=(people["sick"] == "yes") + 0).to_csv("n.csv", index=False)
    fit = "fit", "n.csv", "-t", "sick", *ANY, "-o", "m"
    line = fails(*fit, "--reject", "0.9=unknown")
    assert line == ("the label of --reject must be a number, as the classes are; got 'unknown'.")
    run_well(*fit, "--reject", "0.99=-1")
    assert "-1" in run_well("predict", "m", "n.csv").stdout.split()


@pytest.mark.parametrize("option", [["--ddof", "1"], ["--variance", "shared"]])
def test_options_of_gaussians_have_no_meaning_for_families(people, option):
    assert fails(*FIT, *option) == f"{option[0]} has no meaning with --model naive-bayes."


@pytest.mark.parametrize("option", [["--family", "age=poisson"], ["--reject", "0.8=x"]])
def test_options_of_families_have_no_meaning_for_gaussians(people, option):
    line = fails("fit", "people.csv", "-t", "sick", "--model", "gaussian", *option)
    assert line == f"{option[0]} has no meaning with --model gaussian."


WRONG = {
    "no family": (["--family", "age"], "--family must be like 'age=histogram'; got 'age'."),
    "mistyped": (["--family", "age=posson"], "Did you mean 'poisson'?"),
    "no column": (["--family", "ages=poisson"], "column 'ages', and there is none; did you mean"),
    "both kinds": (
        ["--family", "age=poisson,categorical"],
        "all of numbers, of categories or of text",
    ),
    "no label": (["--reject", "0.8"], "--reject must be like '0.8=unknown'; got '0.8'."),
    "no probability": (["--reject", "8=x"], "--reject must be like '0.8=unknown'; got '8=x'."),
    "text as numbers": (
        ["--family", "town=poisson"],
        "column 'town' in 'people.csv' must hold numbers; got text",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_an_option_is_one_line(people, case):
    options, expected = WRONG[case]
    assert expected in fails(*FIT, *options)


def test_a_text_that_looks_numeric_is_pointed_out(people):
    people.assign(age=people["age"].astype(object).where(people["age"].notna(), "?")).to_csv(
        "people.csv", index=False
    )
    done = run_well(*FIT, "-o", "m")
    assert "'age' is learned from as text: it looks numeric, but '?' in line" in done.stderr
    assert "--missing '?' if it means missing" in done.stderr
    assert "looks numeric" not in run_well(*FIT, "-o", "m", "--missing", "?").stderr


def test_columns_that_name_the_rows_are_pointed_out(people):
    names = [f"person {i}" for i in range(400)]
    people.assign(name=names, number=range(400)).to_csv("people.csv", index=False)
    done = run_well(*FIT, "-o", "m")
    assert "note: 'name' differs in every row; --exclude 'name' if it says nothing." in done.stderr
    assert "note: 'number' only counts the rows" in done.stderr
    assert "differs" not in run_well(*FIT, "-o", "m", "--exclude", "name").stderr


def test_standard_input_is_read_once(people):
    content = Path("people.csv").read_text()
    done = run_program("fit", "-", "-t", "sick", *ANY, "-o", "m", stdin=content)
    assert done.returncode == 0, done.stderr
    run_well(*FIT, "-o", "n")
    assert naively.load("m").summary_ == naively.load("n").summary_


def test_standard_input_is_read_by_its_first_rows(people):
    plain = Path("people.csv").read_bytes()
    run_well("fit", "people.csv", "-t", "sick", "-o", "n")
    for content in (plain, gzip.compress(plain)):
        run_binary("fit", "-", "-t", "sick", "-o", "m", stdin=content)
        assert naively.load("m").summary_ == naively.load("n").summary_
    run_binary("evaluate", "-", "-t", "sick", "--folds", "2", stdin=plain)
    run_binary("update", "m", "-", "-o", "u", stdin=plain)
    assert naively.load("u").summary_.weight == 800
    assert run_binary("predict", "m", "-", stdin=plain).stdout.count(b"\n") == 401


def test_an_arrow_stream_comes_on_standard_input(people):
    table = pa.Table.from_pandas(people)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table, max_chunksize=100)
    run_binary("fit", "-", "-t", "sick", "-o", "m", stdin=sink.getvalue().to_pybytes())
    assert naively.load("m").summary_.weight == 400


def run_binary(*args, **options):
    done = run_program(*args, text=False, **options)
    assert done.returncode == 0, done.stderr
    return done


def test_a_checkpoint_is_kept(people):
    run_well(*FIT, "-o", "m", "--checkpoint", "so-far")
    run_well(*FIT, "-o", "n", "--checkpoint", "so-far")
    assert naively.load("m").summary_ == naively.load("n").summary_
    assert "of another pass" in fails(*FIT, "--family", "zip=categorical", "--checkpoint", "so-far")


# --- more rows, fewer rows, other models ------------------------------------------------------


@pytest.fixture
def halves(people):
    people[:250].to_csv("north.csv", index=False)
    people[250:].iloc[:, ::-1].to_csv("south.csv", index=False)  # its columns in another order
    run_well("fit", "north.csv", "-t", "sick", *ANY, "-o", "north", "--family", "zip=categorical")
    return people


def test_rows_are_added_and_removed(halves):
    run_well("update", "north", "south.csv", "-t", "sick", "-o", "all")
    whole = naively.load("all")
    assert whole.summary_.weight == 400
    assert len(whole.summary_.sample) == len(halves.drop_duplicates())
    run_well("forget", "all", "south.csv", "-t", "sick", "-o", "less")
    before, after = (
        naively.load(name).predict_proba(columns(halves)) for name in ("north", "less")
    )
    np.testing.assert_allclose(before, after, atol=1e-6)  # weights are fitted to that


def test_rows_that_were_never_there_cannot_be_forgotten(halves):
    assert "cannot subtract" in fails("forget", "north", "south.csv", "-t", "sick")


def test_models_that_are_alike_add_up(halves):
    run_well("fit", "south.csv", "-t", "sick", "--like", "north", "-o", "south")
    run_well("merge", "north", "south", "-o", "all")
    run_well("update", "north", "south.csv", "-t", "sick", "-o", "more")
    assert naively.load("all").summary_ == naively.load("more").summary_
    assert naively.load("south").get_params() == naively.load("north").get_params()


def test_models_of_other_edges_do_not_add_up(halves):
    run_well("fit", "south.csv", "-t", "sick", *ANY, "-o", "south", "--family", "zip=categorical")
    assert fails("merge", "north", "south", "-o", "all").endswith("Fit it with --like north.")
    run_well("fit", "south.csv", "-t", "sick", "-o", "gaussian", "--model", "gaussian")
    assert "it is a GaussianNB" in fails("merge", "north", "gaussian", "-o", "all")


def test_a_model_like_another_takes_no_options_of_its_own(halves):
    line = fails("fit", "south.csv", "-t", "sick", "--like", "north", "--ddof", "1")
    assert line == "--ddof has no meaning with --like, which takes it from that model."


def test_what_a_column_holds_is_what_the_model_says(halves):
    halves[:9].assign(town=1).to_csv("new.csv", index=False)  # which reads as a number
    run_well("update", "north", "new.csv", "-t", "sick", "-o", "more")
    assert "1" in naively.load("more").summary_.categories[0]


# --- look, judge ------------------------------------------------------------------------------


def test_inspect_shows_families_categories_and_weights(halves):
    shown = run_well("inspect", "north").stdout
    for words in ("student_t and histogram", "categorical", "Köln", "weight", "smokes", "True"):
        assert words in shown


def test_inspect_shows_models_of_numbers_alone(people):
    run_well(*FIT, "-o", "m", "--columns", "age,zip")
    assert "student_t and histogram" in run_well("inspect", "m").stdout
    run_well("predict", "m", "people.csv", "-o", "p.csv")


def test_inspect_tells_programs_everything(halves):
    found = json.loads(run_well("inspect", "north", "--json").stdout)
    model = naively.load("north")
    age, town, *_ = found["terms"]
    assert age["families"] == ["student_t", "histogram"]
    assert np.shape(age["weights"]) == (2, 2)
    assert age["mean"] == model.summary_.moments.mean[:, 0].tolist()
    assert town["categories"] == ["Bonn", "Köln", "Ulm"]
    assert town["rows"] == model.summary_.tally(0).T.tolist()
    assert found["importance"] == model.importance_.to_dict()


def test_inspect_shows_the_importance_of_columns_where_a_sample_judges_them(halves):
    shown = run_well("inspect", "north").stdout
    assert "increase of the log loss" in shown
    run_well(*FIT, "-o", "plain", "--calibration", "none")
    assert "increase of the log loss" not in run_well("inspect", "plain").stdout
    assert json.loads(run_well("inspect", "plain", "--json").stdout)["importance"] is None


def test_many_categories_are_shown_in_part(people):
    people.assign(town=[f"place {i % 30}" for i in range(400)]).to_csv("people.csv", index=False)
    run_well(*FIT, "-o", "m")
    assert "24 more" in run_well("inspect", "m").stdout


def test_evaluate_judges_what_python_judges(people):
    found = json.loads(run_well("evaluate", "people.csv", "-t", "sick", *ANY, "--json").stdout)
    expected = naively.evaluate(NaiveBayes(), columns(people), people["sick"], folds=10)
    assert found["accuracy"] == expected.accuracy


def test_compare_sets_it_beside_numbers_alone(people):
    done = run_well("compare", "people.csv", "-t", "sick", *ANY, "--repeats", "1", "--json")
    found = json.loads(done.stdout)
    assert found["names"] == ["NaiveBayes", "GaussianNB"]
    assert found["test_accuracy"][0] > found["test_accuracy"][1]  # which does not know who smokes


def test_compare_sets_it_beside_others_on_all_columns(people):
    done = run_well(
        "compare", "people.csv", "-t", "sick", "--against", "tree, dummy", "--folds", "3"
    )
    assert "NaiveBayes less the other" in done.stdout
    asked = "compare", "people.csv", "-t", "sick", "--against", "dummy", "--folds", "2", "--json"
    found = json.loads(run_well(*asked).stdout)
    assert found["names"] == ["NaiveBayes", "dummy"]
    assert "one of logistic, hgb" in fails("compare", "people.csv", "-t", "sick", "--against", "x")


def test_compare_needs_numbers(people):
    line = fails("compare", "people.csv", "-t", "sick", *ANY, "--columns", "town")
    assert line == "scikit-learn's GaussianNB takes numbers, and there is no such column."


def test_report_writes_a_page(people):
    run_well("report", "people.csv", "-t", "sick", *ANY, "-o", "r.html")
    assert "Bonn" in Path("r.html").read_text()
