"""What is made of a model takes columns of dates: in memory, in files, and on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import naively
from naively import NaiveBayes, compare, drift, evaluate, report, summarize, tune
from tests.commands import run_well
from tests.engines.test_dates import TABLE, Y, check
from tests.every_engine import as_pandas, as_polars, labelled, written

FRAMES = {"pandas": as_pandas, "polars": as_polars, "pyarrow": lambda table: table}
FILES = ["csv", "parquet"]
PARTS = ["when.year", "when.month", "when.weekday", "when.hour", "day.year", "day.month"]


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param](TABLE)


@pytest.fixture(params=FILES)
def path(request, tmp_path):
    return written(labelled(TABLE, Y), request.param, tmp_path)


@pytest.fixture(scope="module")
def twin():
    """The evaluation of the same rows, of one library."""
    return evaluate(NaiveBayes(), as_pandas(TABLE), Y, folds=3)


def test_an_evaluation_is_the_same_in_every_library(frame, twin):
    found = evaluate(NaiveBayes(), frame, Y, folds=3)
    np.testing.assert_allclose(found.probabilities, twin.probabilities, rtol=1e-9)


def test_models_of_dates_are_compared_and_tuned(frame):
    other = NaiveBayes(calibration=None)
    assert 0 <= compare((NaiveBayes(), other), frame, Y).agreement <= 1
    found = tune(NaiveBayes(), frame, Y, folds=3)
    assert found.n_rows == len(Y)
    assert (found.best_model.predict(frame) == found.best_model.predict(TABLE)).all()


def test_a_report_explains_the_parts(frame, tmp_path):
    report(NaiveBayes(), frame, Y, path=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(name in page for name in PARTS)


def test_drift_and_diagnosis_name_the_parts(frame):
    model = NaiveBayes().fit(frame, Y)
    assert all(name in str(drift(model, frame)) for name in PARTS)
    assert naively.diagnose(model).n_columns == 9  # with x and town


def test_summaries_of_dates_add_and_subtract(frame):
    model = NaiveBayes(calibration=None).fit(frame, Y)
    first, rest = summarize(TABLE[:25], Y[:25]), summarize(TABLE[25:], Y[25:])
    check(first + rest)
    check((first + rest + first) - first)
    assert model.summary_.schema.dates == (first + rest).schema.dates


def test_files_are_evaluated_tuned_and_reported(path):
    assert evaluate(NaiveBayes(), path, "the_label", folds=3).n_rows == len(Y)
    best = tune(NaiveBayes(), path, "the_label", folds=3).best_model
    assert best.predict(TABLE).size == len(Y)
    page = report(NaiveBayes(), path, "the_label").html
    assert all(name in page for name in PARTS)
    model = NaiveBayes.from_files(path, target="the_label")
    assert all(name in str(drift(model, path)) for name in PARTS)


def test_the_command_line_takes_dates(path, tmp_path):
    model, out = tmp_path / "model", tmp_path / "out.csv"
    target = "-t", "the_label"
    run_well("fit", path, *target, "-o", model)
    run_well("predict", model, path, "--proba", "-o", out)
    expected = naively.load(model).predict_proba(TABLE)
    found = pd.read_csv(out)
    np.testing.assert_allclose(found[["p_n", "p_y"]], expected, rtol=1e-9)
    shown = json.loads(run_well("evaluate", path, *target, "--json").stdout)
    assert shown["n_rows"] == len(Y)
    run_well("report", path, *target, "-o", tmp_path / "page.html")
    run_well("drift", model, path)
    run_well("diagnose", model)
    run_well("explain", model, path)
    assert "when.weekday" in run_well("inspect", model).stdout
