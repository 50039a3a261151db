"""Models of counts from the command line: saved in Python, and then used like any other."""

import json

import numpy as np
import pandas as pd
import pytest

import naively
from naively import BernoulliNB, ComplementNB, MultinomialNB
from tests.commands import run, run_well

KINDS = [MultinomialNB, ComplementNB, BernoulliNB]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def model(request, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.choice(["ham", "spam"], 200)
    X = rng.poisson(np.where(y[:, np.newaxis] == "ham", [2.0, 0.1, 1.0], [0.1, 1.5, 1.0]))
    frame = pd.DataFrame(X, columns=["lunch", "prize", "the"])
    monkeypatch.chdir(tmp_path)
    frame.assign(label=y).to_csv("mail.csv", index=False)
    model = request.param().fit(frame, y)
    model.save("model")
    return model


def test_counts_are_shown_by_class(model):
    shown = run_well("inspect", "model").stdout
    lunch = [line for line in shown.splitlines() if line.split()[:1] == ["lunch"]]
    assert f"{model.feature_count_[0, 0]:g}" in lunch[0]
    told = json.loads(run_well("inspect", "model", "--json").stdout)
    assert told["estimator"] == type(model).__name__
    assert [term["counts"] for term in told["terms"]] == model.feature_count_.T.tolist()


def test_rows_are_predicted_added_removed_and_merged(model):
    run_well("predict", "model", "mail.csv", "--output", "out.csv")
    frame = pd.read_csv("mail.csv")
    expected = model.predict(frame.drop(columns="label"))
    assert pd.read_csv("out.csv")["prediction"].tolist() == expected.tolist()
    run_well("update", "model", "mail.csv", "--target", "label", "--output", "twice")
    model.save("copy")
    run_well("merge", "model", "copy", "--output", "merged")
    assert naively.load("twice").summary_ == naively.load("merged").summary_
    run_well("forget", "twice", "mail.csv", "--target", "label", "--output", "once")
    assert naively.load("once").summary_ == model.summary_


def test_a_model_of_counts_is_fitted_by_its_name(model):
    name = type(model).__name__.removesuffix("NB").lower()
    fit = ("fit", "mail.csv", "--target", "label", "--output", "fitted", "--model", name)
    run_well(*fit)
    fitted = naively.load("fitted")
    assert type(fitted) is type(model)
    assert fitted.summary_ == model.summary_
    run_well(*fit, "--priors", "ham=0.25,spam=0.75", "--calibration", "temperature")
    fitted = naively.load("fitted")
    assert fitted.calibration == "temperature"
    assert list(fitted.class_prior) == [0.25, 0.75]
    assert "--calibration must be temperature or none" in run(*fit, "--calibration=weights").stderr
    assert "--ddof has no meaning with --model" in run(*fit, "--ddof=1").stderr
    assert (
        type(model).__name__
        in run_well("evaluate", "mail.csv", "--target", "label", "--model", name).stdout
    )
    page = ("report", "mail.csv", "--target", "label", "--model", name)
    assert "Give the texts themselves to NaiveBayes" in run(*page).stderr.replace("\n", " ")
