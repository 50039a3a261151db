"""The command line, run as a program and from within."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyarrow import csv as arrow_csv

import naively
from naively import GaussianNB
from naively.cli import console
from naively.cli.program import OTHER_WORDS, Commands
from naively.evaluation import evaluate
from tests.commands import IRIS, fails, run, run_on_terminal, run_program, run_well

ESCAPE = "\x1b["


# --- the program itself -----------------------------------------------------------------------


def test_version():
    assert run_well("--version").stdout == f"naively {naively.__version__}\n"


def test_without_typer_the_program_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from naively.cli import app; app()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "error: the command line needs the package typer: "
        "pip install '.[cli]' in a copy of naively's repository.\n"
    )


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("train", "fit"),
        ("Learn", "fit"),
        ("score", "evaluate"),
        ("cross_validate", "evaluate"),
        ("classify", "predict"),
        ("serve", "stream"),
    ],
)
def test_what_other_programs_call_a_command_names_ours(folder, words, meant):
    expected = f"No such command {words!r}. Did you mean {meant!r}? Try 'naively --help'."
    assert fails(words) == expected
    assert fails("help", words) == expected


def test_other_words_for_commands_are_of_commands_and_hide_none():
    commands = Commands()
    assert {*OTHER_WORDS.values()} <= {*commands}
    assert not {*OTHER_WORDS} & {*commands}


# --- fit, predict, inspect --------------------------------------------------------------------


def test_what_is_fitted_predicts_what_python_predicts(folder, iris):
    run_well("fit", "iris.csv", "--target", "species", "--model", "gaussian", "-o", "m.safetensors")
    run_well("predict", "m.safetensors", "iris.csv", "--proba", "-o", "p.csv")
    X, y = iris.drop(columns="species"), iris["species"]
    model = GaussianNB().fit(X, y)
    predicted = arrow_csv.read_csv("p.csv").to_pandas()  # to the last digit
    assert predicted["prediction"].tolist() == model.predict(X).tolist()
    probabilities = predicted[["p_setosa", "p_versicolor", "p_virginica"]].to_numpy()
    np.testing.assert_array_equal(probabilities, model.predict_proba(X))
    assert naively.load("m.safetensors").summary_ == model.summary_


def test_parameters_reach_the_model(folder, iris):
    options = ["--ddof=1", "--variance=shared", "--smoothing=column", "--var-smoothing=1e-3"]
    run_well("fit", "iris.csv", "-t", "species", "-o", "m", *options, "--priors", ".2,.3,.5")
    expected = GaussianNB(
        ddof=1, variance="shared", smoothing="column", var_smoothing=1e-3, priors=[0.2, 0.3, 0.5]
    )
    assert naively.load("m").get_params() == expected.get_params()


def test_priors_may_be_named(folder):
    priors = "virginica=0.5,setosa=0.2,versicolor=0.3"
    run_well("fit", "iris.csv", "-t", "species", "-o", "m", "--priors", priors)
    assert naively.load("m").class_prior_.tolist() == [0.2, 0.3, 0.5]


def test_class_weights_reach_the_model(folder):
    fit = "fit", "iris.csv", "-t", "species", "-o", "m", "--class-weight"
    run_well(*fit, "virginica=2")
    assert naively.load("m").class_prior_.tolist() == [0.25, 0.25, 0.5]
    run_well(*fit, "balanced")
    assert naively.load("m").class_weight == "balanced"


def test_columns_are_chosen_and_excluded(folder):
    names = "petal length (cm),petal width (cm)"
    run_well("fit", "iris.csv", "-t", "species", "-o", "m", "--columns", names)
    assert naively.load("m").feature_names_in_.tolist() == names.split(",")
    excluded = "--exclude", "sepal length (cm)", "--exclude", "sepal width (cm)"
    run_well("fit", "iris.csv", "-t", "species", "-o", "n", *excluded)
    assert naively.load("n").summary_ == naively.load("m").summary_


def test_columns_of_text_are_left_out_with_a_note(folder, iris):
    iris.assign(name="x", town="Ulm", day="2024-01-01", void=None).to_csv("t.csv", index=False)
    result = run_well("fit", "t.csv", "-t", "species", "-o", "m", "--model", "gaussian")
    assert "note: left out 'name', 'town', 'day': text.\n" in result.stderr
    assert "note: left out 'void': empty.\n" in result.stderr
    assert naively.load("m").n_features_in_ == 4


def test_a_column_that_is_almost_numeric_is_named(folder, iris):
    almost = iris["sepal width (cm)"].astype(str)
    almost[33] = "?"
    iris.assign(odd=almost).to_csv("t.csv", index=False)
    stderr = run_well("fit", "t.csv", "-t", "species", "-o", "m", "--model", "gaussian").stderr
    assert "left out 'odd': it looks numeric, but '?' in line 35 is no number" in stderr
    result = run_well("fit", "t.csv", "-t", "species", "-o", "m", "--missing", "?")
    assert result.stderr == ""
    assert naively.load("m").summary_.moments.weight[0].tolist() == [50, 50, 50, 50, 49]


def test_an_index_without_a_name_is_left_out(folder, iris):
    iris.to_csv("t.csv")
    assert "without a name" in run_well("fit", "t.csv", "-t", "species", "-o", "m").stderr
    assert naively.load("m").n_features_in_ == 4


def test_a_column_that_counts_the_rows_is_pointed_out(folder, iris):
    iris.assign(Id=np.arange(1, 151)).to_csv("t.csv", index=False)
    for command in ("fit", "evaluate"):
        assert "'Id' only counts the rows" in run_well(command, "t.csv", "-t", "species").stderr


def test_a_table_as_spreadsheets_write_it_in_germany(folder, iris):
    iris.to_csv("t.csv", sep=";", decimal=",", index=False)
    stderr = run("fit", "t.csv", "-t", "species", "--separator", ";").stderr
    assert "'5,1' in line 2 is no number; --decimal ','" in stderr
    run_well("fit", "t.csv", "-t", "species", "--separator", ";", "--decimal", ",", "-o", "m")
    run_well("fit", "iris.csv", "-t", "species", "-o", "n")
    assert Path("m").read_bytes() == Path("n").read_bytes()


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([3, 1], "i"), ([True, False], "b"), ([2.0, 5.0], "f"), (["ß", "日本"], "U")],
    ids=["integers", "booleans", "whole floats", "text"],
)
def test_labels_keep_their_type(folder, labels, kind):
    pd.DataFrame({"x": [1.0, 2, 8, 9], "y": np.repeat(labels, 2)}).to_csv("t.csv", index=False)
    run_well("fit", "t.csv", "-t", "y", "-o", "m")
    assert naively.load("m").classes_.dtype.kind == kind
    assert naively.load("m").classes_.tolist() == sorted(labels)


def test_missing_cells_are_missing(folder):
    Path("t.csv").write_text("a,b,y\n1,NA,no\n2,5,no\n,7,yes\n8,nan,yes\n")
    run_well("fit", "t.csv", "-t", "y", "--model", "gaussian", "-o", "m")
    assert naively.load("m").summary_.moments.weight.tolist() == [[2, 1], [1, 1]]
    Path("n.csv").write_text("b,a\n,\n")
    assert run_well("predict", "m", "n.csv", "--proba").stdout.endswith(",0.5,0.5\n")


def test_spaces_around_names_do_not_count_and_those_of_labels_are_kept(folder):
    Path("t.csv").write_text("a, y\n1, no\n2, no\n8, yes\n9, yes\n")
    run_well("fit", "t.csv", "--target", "y", "-o", "m")
    assert naively.load("m").classes_.tolist() == [" no", " yes"]


def test_cells_may_hold_commas_quotes_and_newlines(folder):
    Path("t.csv").write_text('a,y\n1,"a ""b"", c"\n2,"two\nlines"\n')
    run_well("fit", "t.csv", "--target", "y", "-o", "m")
    run_well("predict", "m", "t.csv", "--id", "y", "-o", "p.csv")
    predicted = pd.read_csv("p.csv")
    assert predicted["prediction"].tolist() == ['a "b", c', "two\nlines"]
    assert predicted["y"].tolist() == predicted["prediction"].tolist()


def test_columns_are_found_by_name_in_any_order(fitted, iris):
    iris[iris.columns[::-1]].assign(more="x").to_csv("t.csv", index=False)
    assert run_well("predict", "m", "t.csv").stdout == run_well("predict", "m", "iris.csv").stdout


def test_columns_beside_the_predictions(fitted, iris):
    iris.assign(name=[f"flower {i}" for i in range(150)]).to_csv("t.csv", index=False)
    lines = run_well("predict", "m", "t.csv", "--id", "name,species").stdout.splitlines()
    assert lines[:2] == ["name,species,prediction", "flower 0,setosa,setosa"]
    assert len(lines) == 151


def test_a_model_without_column_names_takes_columns_by_place(folder, iris):
    X = iris.drop(columns="species").to_numpy()
    model = GaussianNB().fit(X[:, :2], iris["species"])
    model.save("m")
    line = fails("predict", "m", "iris.csv")
    assert "takes 2 numeric columns; got 4 in 'iris.csv'" in line
    names = "sepal length (cm),sepal width (cm)"
    predicted = run_well("predict", "m", "iris.csv", "--columns", names).stdout.split()
    assert predicted[1:] == model.predict(X[:, :2]).tolist()


def test_many_rows_are_predicted_in_blocks(fitted, iris):
    pd.concat([iris] * 450).to_csv("t.csv", index=False)
    run_well("predict", "m", "t.csv", "-o", "p.csv")
    predicted = pd.read_csv("p.csv")["prediction"].to_numpy()
    expected = naively.load("m").predict(iris.drop(columns="species"))
    assert (predicted.reshape(450, 150) == expected).all()


def test_inspecting_shows_what_was_seen(fitted):
    text = run_well("inspect", "m").stdout
    for piece in ("150 rows", "setosa", "0.3333", "petal width (cm)", "1.462 ± 0.172", " ▁▆█ "):
        assert piece in text


def test_inspecting_for_a_program(folder):
    run_well("fit", *IRIS, "-o", "m")
    shown, model = json.loads(run_well("inspect", "m", "--json").stdout), naively.load("m")
    assert shown["columns"] == model.feature_names_in_.tolist()
    assert [one["label"] for one in shown["classes"]] == model.classes_.tolist()
    assert [one["mean"] for one in shown["classes"]] == model.theta_.tolist()
    assert [one["variance"] for one in shown["classes"]] == model.var_.tolist()
    assert shown["weight"] == 150


def test_inspecting_a_wide_model_says_what_it_hides(folder):
    X, y = np.arange(800.0).reshape(8, 100), np.arange(8)
    GaussianNB().fit(X, y).save("m")
    assert "and 2 more classes and 60 more columns" in run_well("inspect", "m").stdout


# --- evaluate, compare ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ([], {"folds": 10}),
        (["--folds", "5", "--seed", "3"], {"folds": 5, "random_state": 3}),
        (["--test-size", "0.3"], {"test_size": 0.3}),
        (["--leave-one-out"], {"folds": "leave-one-out"}),
    ],
    ids=["default", "folds", "split", "leave-one-out"],
)
def test_evaluating_gives_the_figures_of_python(folder, iris, options, method):
    shown = run_well("evaluate", "iris.csv", "-t", "species", "--json", *options).stdout
    file = ("iris.csv", "species") if "--leave-one-out" not in options else None
    data = file or (iris.drop(columns="species"), iris["species"])
    expected = evaluate(naively.NaiveBayes(), *data, **method)
    assert json.loads(shown) == expected.to_dict()


def test_evaluating_prints_tables(folder):
    text = run_well("evaluate", *IRIS, "--folds", "10").stdout
    for piece in ("10 folds", "accuracy", "0.9533", "versicolor"):
        assert piece in text


@pytest.mark.filterwarnings("default")
def test_warnings_are_notes(folder):
    rows = [f"name {i},{'ab'[i % 2]}" for i in range(100_001)]
    Path("t.csv").write_text("\n".join(["name,y", *rows]) + "\n")
    stderr = run_well("evaluate", "t.csv", "-t", "y", "--folds", "2").stderr
    assert "note: column 'name' has 100,001 categories" in stderr


def test_parameters_reach_the_evaluation(folder, iris):
    shown = run_well("evaluate", "iris.csv", "-t", "species", "--json", "--variance", "shared")
    expected = evaluate(GaussianNB(variance="shared"), "iris.csv", "species", folds=10)
    assert json.loads(shown.stdout) == expected.to_dict()


def test_comparing_agrees_with_scikit_learn(folder):
    shown = json.loads(run_well("compare", *IRIS, "--json").stdout)
    assert shown["agreement"] == 1.0
    assert shown["test_accuracy"] == [pytest.approx(0.9111, abs=5e-5)] * 2


def test_comparing_prints_a_table(folder):
    text = run_well("compare", *IRIS, "--repeats", "2").stdout
    for piece in ("same prediction", "1.0000", "0.9111"):
        assert piece in text


# --- report, demo -----------------------------------------------------------------------------


def test_reporting_writes_one_page_and_its_figures(folder):
    run_well("report", "iris.csv", "-t", "species", "-o", "r.html", "--json", "--title", "Flowers")
    page = Path("r.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "Flowers" in page
    assert json.loads(Path("r.json").read_text())["title"] == "Flowers"


def test_a_report_judges_by_the_folds_asked_for_and_compares_unless_told_not_to(folder):
    run_well("report", *IRIS, "-o", "r.html", "--json")
    data = json.loads(Path("r.json").read_text())
    assert data["evaluation"]["method"] == "10 folds by content"
    assert data["comparison"]["agreement"] == 1
    run_well("report", *IRIS, "-o", "r.html", "--json", "--folds", "4", "--no-compare")
    data = json.loads(Path("r.json").read_text())
    assert (data["evaluation"]["method"], data["comparison"]) == ("4 folds by content", None)


def test_the_demo_does_the_whole_job_and_its_reports_say_the_same_about_time(folder):
    text = run_well("demo").stdout
    for name in ("iris", "breast-cancer"):
        for file in ("report.html", "report.json", "decision-regions.png", "bell-curves.png"):
            assert (folder / "out" / name / file).stat().st_size > 1000, file
            assert f"out/{name}" in text
        made = json.loads((folder / "out" / name / "report.json").read_text())["comparison"]
        for ratio in (made["fit_ratio"], made["predict_ratio"]):
            assert f"{ratio:.3g}x" in text
    for accuracy in ("0.9111", "0.9474"):  # the published tables'
        assert accuracy in text


# --- bad input --------------------------------------------------------------------------------

JUDGING = ["fit", "evaluate", "compare", "report"]
MISTAKES = {  # commands, and what is said of them: a whole line where it ends as a sentence
    "fi": "No such command 'fi'. Did you mean 'fit'? Try 'naively --help'.",
    "fit iris.csv": "Missing option '--target' / '-t'. Try 'naively fit --help'.",
    "fit iris.csv --traget species": "--target",
    "fit iris.csv -t speices": "no column 'speices' in 'iris.csv'; did you mean 'species'?",
    "fit iris.csv -t species --columns species": "labels and weights must not be among the columns",
    "fit empty -t y": "there must be a file in the folder 'empty'; got none.",
    "fit pipe -t y": (
        "cannot read 'pipe': it is not a plain file. Save it as one, or pipe it in and give '-'."
    ),
    "fit words.csv -t y --model gaussian": (
        "there must be a column of numbers to learn from beside the target 'y'"
    ),
    "fit words.csv -t y --columns x --model gaussian": (
        "column 'x' in 'words.csv' must hold numbers; got text (string)"
    ),
    "predict iris.csv iris.csv": "'iris.csv' is not a valid model file",
    "predict m iris.csv -o no/p.csv": "cannot write 'no/p.csv'",
    "inspect iris.csv": "'iris.csv' is not a valid model file",
    "inspect no": "cannot read 'no': No such file or directory.",
    "stream m -t y --decay 2": (
        "Invalid value for '--decay': it must be at most 1; got 2. Try 'naively stream --help'."
    ),
    "compare gaps.csv -t y --model gaussian": "takes no missing cells, and column 'b' has some",
    "demo": "cannot write 'out",
}


@pytest.mark.parametrize("command", MISTAKES)
def test_a_mistake_is_told_in_one_line(fitted, command):
    Path("empty").mkdir()
    os.mkfifo("pipe")
    Path("words.csv").write_text("x,y\nred,a\nblue,b\n")
    Path("gaps.csv").write_text("a,b,y\n1,,a\n2,3,a\n8,2,b\n9,1,b\n")
    Path("out").write_text("a file")
    line, expected = fails(*command.split()), MISTAKES[command]
    assert line == expected if expected[-1] in ".?" else expected in line


@pytest.mark.parametrize("command", JUDGING)
def test_a_file_without_the_target(folder, command):
    line = fails(command, "iris.csv", "-t", "colour")
    assert line.startswith(
        "no column 'colour' in 'iris.csv'; its columns are 'sepal length (cm)', "
    )


@pytest.mark.parametrize("command", JUDGING[1:])
def test_a_target_with_one_class(folder, command):
    Path("t.csv").write_text("x,y\n1,a\n2,a\n")
    assert fails(command, "t.csv", "-t", "y") == (
        "the target 'y' must have at least two classes in 't.csv'; got one, 'a'."
    )


@pytest.mark.parametrize("command", JUDGING)
def test_no_such_file(folder, command):
    assert fails(command, "no.csv", "-t", "y") == (
        "cannot read 'no.csv': No such file or directory."
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"x,y\n", "there must be a file that holds rows; got 't.csv'."),
        (b"x;y\n1;a\n2;b\n", "it looks separated by ';'"),
        (b"x\ty\n1\ta\n2\tb\n", r"it looks separated by '\t'"),
        (b"x,y\n1,a\n2\n", "Row #2: Expected 2 columns, got 1: 2"),
        (b"x,x,y\n1,2,a\n", "column names must differ; 't.csv' has 'x' twice"),
        (b"PAR1\x15\x04\x15\x00\x00", "it is not CSV in UTF-8: it holds binary data"),
        ("x,y\n1,a\n2,b\n".encode("utf-16-le"), "not CSV in UTF-8"),
        ("größe,y\n1,a\n2,b\n".encode("latin-1"), "not in UTF-8"),
        ("x,y\n1,a\n2,ö\n".encode("latin-1"), "byte 0xf6 in line 3 is not in UTF-8. Give"),
        (b"x,y\n1,a\n2,\n", "the target 'y' is missing in row 2 of 't.csv'"),
        (b"x,y\n1,0.5\n2,1.5\n", "the target 'y' is 0.5 in row 1 of 't.csv'. It must hold classes"),
        (b"x,y\n1,a\ninf,b\n", "column 'x' holds infinity"),
    ],
    ids=lambda value: value.decode("latin-1") if isinstance(value, bytes) else "",
)
def test_a_file_that_will_not_do(folder, content, reason):
    Path("t.csv").write_bytes(content)
    assert reason in fails("fit", "t.csv", "-t", "y")


def test_a_column_that_is_empty_in_the_first_rows_is_not_called_empty(folder, monkeypatch):
    monkeypatch.setattr("naively.engines.files.csv.SAMPLE", 1000)
    rows = [f"{i % 7},,{'ab'[i % 2]}" for i in range(500)] + ["1,u,a", "2,v,b"]
    Path("t.csv").write_text("\n".join(["x,late,y", *rows]) + "\n")
    assert (
        "left out 'late': no cell in the first rows, by which"
        in run("fit", "t.csv", "-t", "y").stderr
    )
    said = run("fit", "t.csv", "-t", "y", "--model", "naive-bayes", "--family", "late=categorical")
    assert said.stderr == ""
    assert naively.load("model.safetensors").summary_.categories[0].tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("output", "reason"),
    [("no/m", "there is no folder 'no'"), (".", "directory"), ("/dev/full", "not a plain file")],
)
@pytest.mark.parametrize("command", ["fit", "report"])
def test_unwritable_output(folder, command, output, reason):
    line = fails(command, "iris.csv", "-t", "species", "-o", output)
    assert line.startswith(f"cannot write {output!r}: ")
    assert reason in line


@pytest.mark.parametrize("command", ["fit", "report"])
def test_the_data_is_never_overwritten(folder, command):
    line = fails(command, "iris.csv", "-t", "species", "-o", "./iris.csv")
    assert line == "the output must be another file than the input; got 'iris.csv'."


def test_a_full_disk_leaves_the_old_file(fitted, monkeypatch):
    before = Path("m").read_bytes()

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    line = fails("fit", "iris.csv", "-t", "species", "-o", "m", "--ddof", "1")
    assert line == "cannot write 'm': No space left on device."
    assert Path("m").read_bytes() == before


def test_rows_without_a_column_of_the_model(fitted, iris):
    iris.rename(columns={"petal width (cm)": "petal_width (cm)"}).to_csv("t.csv", index=False)
    assert fails("predict", "m", "t.csv") == (
        "no column 'petal width (cm)' in 't.csv'; did you mean 'petal_width (cm)'?"
    )


def test_text_in_a_column_of_the_model(folder):
    Path("t.csv").write_text("x,y\n1,a\n2,a\n8,b\n9,b\n")
    Path("n.csv").write_text("x\n1\nmany\n")
    run_well("fit", "t.csv", "-t", "y", "-o", "m")
    line = fails("predict", "m", "n.csv")
    assert line.startswith("cannot read 'n.csv': in row 2 of")
    assert "column 'x' must hold numbers; got 'many'." in line


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--priors", "0.5,0.5"], "priors must have one entry per class"),
        (["--priors", "a=1"], "priors must name each class once (setosa, versicolor, virginica)"),
        (["--priors", "many"], "priors must be like 'a=0.2,b=0.8'; got 'many'."),
        (["--priors", "balanced"], "priors must be like 'a=0.2,b=0.8'; got 'balanced'."),
        (["--class-weight", "rose=2"], "must name classes (setosa, versicolor, virginica)"),
        (["--class-weight", "all"], "--class-weight must be like 'a=0.2,b=0.8'; got 'all'."),
        (
            ["--columns", "petal lenght (cm)"],
            "no column 'petal lenght (cm)' in 'iris.csv'; did you mean 'petal length (cm)'?",
        ),
        (
            ["--exclude", "petal lenght (cm)"],
            "no column 'petal lenght (cm)' in 'iris.csv'; did you mean 'petal length (cm)'?",
        ),
        (["--ddof", "50"], "class 'setosa' has no variance with ddof=50"),
        (["--ddof", "-1"], "--ddof"),
        (["--var-smoothing", "-1"], "--var-smoothing"),
        (["--variance", "none"], "--variance"),
        (
            ["--separator", "ab"],
            "separator must be one ASCII character, and no quote or newline; got 'ab'.",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_parameters_that_will_not_do(folder, options, reason):
    assert reason in fails("fit", "iris.csv", "-t", "species", *options)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--folds", "1"], "--folds"),
        (["--test-size", "0"], "--test-size must lie between 0 and 1; got 0."),
        (["--test-size", "1e-12"], "there are too few that differ"),
        (["--folds", "5", "--test-size", "0.3"], "choose one of --folds, --test-size and"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_splits_that_will_not_do(folder, options, reason):
    assert reason in fails("evaluate", "iris.csv", "-t", "species", *options)


# --- the real program: pipes, terminals, signals ----------------------------------------------


def test_errors_of_the_program_are_one_line_and_code_2(folder):
    done = run_program("fit", "iris.csv", "--target", "speices")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no column 'speices' in 'iris.csv'; did you mean 'species'?\n"


def test_a_pipe_gets_no_colours_and_no_bars(folder, monkeypatch):
    monkeypatch.setattr(console, "PATIENCE", 0)  # bars at once
    done = run_program("evaluate", *IRIS)
    assert done.returncode == 0
    assert done.stderr == ""
    assert ESCAPE not in done.stdout
    assert "0.9533" in done.stdout


def test_a_terminal_gets_colours(folder):
    code, text = run_on_terminal("fit", "iris.csv", "-t", "speices", cwd=folder)
    assert code == 2
    assert ESCAPE in text
    assert "did you mean 'species'?" in text


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table that takes a moment to read and to judge."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    block = pd.DataFrame(rng.normal(size=(20_000, 20)).round(3)).assign(
        y=rng.integers(0, 9, 20_000)
    )
    text = block.to_csv(index=False, header=False)
    with (folder / "large.csv").open("w") as file:
        file.write(",".join([*(f"x{j}" for j in range(20)), "y"]) + "\n")
        for _ in range(10):
            file.write(text)
    return folder


def test_long_work_shows_a_bar_on_a_terminal(large):
    code, text = run_on_terminal("evaluate", "large.csv", "-t", "y", "--folds", "2", cwd=large)
    assert code == 0
    assert "━" in text
    assert "measuring large.csv" in text
    assert "scoring large.csv" in text
    assert "rows/s" in text


def test_an_interrupt_ends_quietly(large):
    before = set(large.iterdir())
    command = "evaluate", "large.csv", "-t", "y", "--leave-one-out"
    bar = "━".encode()
    code, text = run_on_terminal(*command, cwd=large, until=bar, send=signal.SIGINT)
    assert code == 130
    assert "Traceback" not in text
    assert set(large.iterdir()) == before
