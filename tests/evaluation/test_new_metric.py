"""A metric is one function and one line in `METRICS`: all that judges models sees it."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from naively import GaussianNB, compare, evaluate, report, tune
from naively.evaluation import METRICS, Metric
from naively.evaluation import files as judging
from tests.commands import run_well


def right_beyond_chance(rows):
    return rows.mean(rows.right - 1 / rows.n_classes)


@pytest.fixture(params=["rows", "labels"])
def beyond(request, monkeypatch):
    metric = Metric("right beyond chance", right_beyond_chance, (-1.0, 1.0), reads=request.param)
    monkeypatch.setitem(METRICS, "beyond", metric)


@pytest.fixture
def iris(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = load_iris(as_frame=True)
    table.frame.to_csv("iris.csv", index=False)
    return table.data, table.target


pytestmark = pytest.mark.usefixtures("beyond")


def test_in_memory_it_has_a_value_an_interval_and_a_line(iris):
    found = evaluate(GaussianNB(), *iris, folds=5)
    assert found.beyond == pytest.approx(found.accuracy - 1 / 3, abs=1e-15)
    assert np.diff(found.interval("beyond")[1:]) == pytest.approx(
        np.diff(found.interval("accuracy")[1:])
    )
    assert "right beyond chance" in str(found)
    assert "beyond" in dir(found)


@pytest.mark.parametrize("kept", [100_000, 60], ids=["all rows kept", "some rows kept"])
def test_in_files(iris, monkeypatch, kept, request):
    monkeypatch.setattr(judging, "MIN_KEPT", 10)
    monkeypatch.setattr(judging, "KEPT", kept)
    found = evaluate(GaussianNB(), "iris.csv", "target", folds=5)
    exact = kept > 150 or METRICS["beyond"].reads == "labels"
    assert found.beyond == pytest.approx(found.accuracy - 1 / 3, abs=1e-12 if exact else 0.1)
    value, low, high = found.interval("beyond")
    assert low < value < high


def test_in_comparisons(iris):
    two = compare(GaussianNB(), *iris, repeats=1)
    peers = compare(GaussianNB(), *iris, against="dummy", folds=3)
    for judged in (*two.evaluations, *peers.evaluations):
        assert judged.estimates["beyond"].value == pytest.approx(judged.accuracy - 1 / 3)


def test_candidates_are_tuned_by_it(iris):
    found = tune(GaussianNB(), *iris, grid={"var_smoothing": [1e-9, 100.0]}, scoring="beyond")
    assert found.best_params == {"var_smoothing": 1e-9}
    expected = tune(GaussianNB(), *iris, grid=[{}], scoring="accuracy").best_score - 1 / 3
    assert found.best_score == pytest.approx(expected)
    assert "by right beyond chance (higher is better)" in str(found)


def test_in_reports_and_the_shell(iris):
    page = report(GaussianNB(), *iris, compare=False).data
    assert page["metrics"]["beyond"] == "right beyond chance"
    assert page["evaluation"]["estimates"]["beyond"]["low"] > 0.5
    assert "right beyond chance" in run_well("evaluate", "iris.csv", "-t", "target").stdout
    compared = run_well("compare", "iris.csv", "-t", "target", "--repeats", 1, "--json").stdout
    assert "beyond" in json.loads(compared)["evaluations"][0]["estimates"]
    shown = run_well(
        "tune", "iris.csv", "-t", "target", "--scoring", "beyond", "--grid", "calibration=none"
    )
    assert "by right beyond chance" in shown.stdout
