"""``naively tune``: files in one pass, a table, JSON, and the best model."""

import json

import numpy as np
import pandas as pd

from naively import GaussianNB, load, tune
from tests.commands import IRIS, fails, run_well


def test_the_table_is_that_of_the_library(folder):
    shown = run_well("tune", *IRIS, "--grid", "variance=class,shared").stdout
    found = tune(GaussianNB(), "iris.csv", "species", grid={"variance": ["class", "shared"]})
    assert "GaussianNB, 10 folds: 2 candidates, 150 rows, by log loss" in shown
    for mean in found.mean:
        assert f"{mean:.4f}" in shown


def test_json_holds_every_candidate_and_the_best_model_is_saved(folder, iris):
    options = ("--grid", "var_smoothing=1e-9,0.1", "--grid", "calibration=none,temperature")
    done = run_well("tune", *IRIS, *options, "--json", "-o", "best.safetensors")
    found = json.loads(done.stdout)
    assert len(found["candidates"]) == 4
    assert len(found["candidates"][0]["scores"]) == 10
    best = load("best.safetensors")
    assert best.get_params()["var_smoothing"] == found["best_params"]["var_smoothing"]
    expected = GaussianNB(**found["best_params"]).fit(iris.drop(columns="species"), iris["species"])
    X = iris.drop(columns="species")
    np.testing.assert_allclose(best.predict_proba(X), expected.predict_proba(X), rtol=1e-9)


def test_candidates_are_scored_by_any_metric(folder):
    options = ("--scoring", "kappa", "--grid", "ddof=0,1", "--json")
    found = json.loads(run_well("tune", *IRIS, *options).stdout)
    assert found["scoring"] == "kappa"
    assert 0.8 < found["best_score"] < 1


def test_tables_of_any_columns_are_tuned_by_families(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    towns = np.array(["Ulm", "Bonn", "Kiel"])[(y + rng.integers(2, size=300)) % 3]
    frame = pd.DataFrame({"town": towns, "size": rng.normal(size=300) + y, "y": y})
    frame.to_parquet("people.parquet")
    shown = run_well("tune", "people.parquet", "-t", "y", "--rows", 100).stdout
    assert "NaiveBayes, 10 folds of a sample of 300 rows" in shown
    assert "calibration=temperature" in shown


def test_what_is_wrong_is_said_in_a_line(folder):
    wrong = {
        "--grid must be like": ("--grid", "ddof"),
        "names a parameter 'smoothness'": ("--grid", "smoothness=1"),
        "is not possible": ("--grid", "ddof=-1"),
        "scoring must be one of log_loss, accuracy": ("--scoring", "speed"),
        "cannot write": ("-o", "nowhere/best.safetensors"),
    }
    for message, options in wrong.items():
        assert message in fails("tune", *IRIS, *options)
