"""``naively diagnose``: findings in the terminal, as JSON, and as an exit code."""

import json

import numpy as np
import pytest

from naively import GaussianNB, NaiveBayes, diagnose, load
from tests.commands import fails, run, run_well
from tests.inspection.diagnosis.tables import clean, with_column


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A folder with a model that has a leak, and one without findings."""
    monkeypatch.chdir(tmp_path)
    X, y = with_column("leak", lambda X, y, rng: 1.0 * (y == "yes"))
    NaiveBayes().fit(X, y).save("leak.safetensors")
    NaiveBayes().fit(*clean(n=1000)).save("clean.safetensors")


def test_findings_are_printed(models):
    shown = run_well("diagnose", "leak.safetensors").stdout
    assert shown == f"{diagnose(load('leak.safetensors'))}\n"
    assert "HIGH: leak" in shown
    assert "Column 'leak' alone tells the class in 100 % of the rows" in shown
    assert "no findings" in run_well("diagnose", "clean.safetensors").stdout


def test_json_has_everything(models):
    found = json.loads(run_well("diagnose", "leak.safetensors", "--json").stdout)
    assert found == json.loads(json.dumps(diagnose(load("leak.safetensors")).to_dict()))
    assert found["findings"][0]["columns"] == ["leak"]


def test_the_exit_code_tells_a_pipeline(models):
    assert run("diagnose", "leak.safetensors", "--fail-on", "high").exit_code == 3
    assert run("diagnose", "leak.safetensors", "--fail-on", "low").exit_code == 3
    assert run("diagnose", "clean.safetensors", "--fail-on", "low").exit_code == 0
    assert run("diagnose", "leak.safetensors").exit_code == 0
    assert "grave" in fails("diagnose", "leak.safetensors", "--fail-on", "grave")


def test_a_model_without_a_sample_says_what_was_not_looked_at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    GaussianNB().fit(np.eye(4), [0, 0, 1, 1]).save("m.safetensors")
    assert "Not looked at:" in run_well("diagnose", "m.safetensors").stdout
    assert "no.safetensors" in fails("diagnose", "no.safetensors")
