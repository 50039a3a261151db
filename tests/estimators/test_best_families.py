"""families="best": the family of each column is the one that unseen rows are likeliest under."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes, NaivelyError, load, summarize
from naively.model.families_for import choose_families
from tests.commands import run_well

RNG = np.random.default_rng(5)
N = 1200
Y = RNG.integers(2, size=N)
DRAWN = {
    "gaussian": RNG.normal(Y, 1.0 + Y),
    "log_normal": RNG.lognormal(1.0 + Y, 0.5),
    "exponential": RNG.exponential(1.0 + Y),
    "gamma": RNG.gamma(4.0 + Y, 2.0),
    "beta": RNG.beta(2.0 + Y, 3.0),
    "poisson": RNG.poisson(2.0 + Y).astype(float),
    "negative_binomial": RNG.negative_binomial(2, 0.3, N).astype(float),
    "bernoulli": (RNG.random(N) < 0.3 + 0.2 * Y).astype(float),
    "kernel_density": np.where(RNG.random(N) < 0.5, -3.0, 3.0) + RNG.normal(0.3 * Y, 0.5),
}
FRAME = pd.DataFrame(DRAWN)
FRAME.loc[::9, "gamma"] = np.nan
NESTED = {"poisson": {"poisson", "negative_binomial"}, "exponential": {"exponential", "gamma"}}


@pytest.fixture(scope="module")
def model():
    return NaiveBayes(families="best", calibration=None).fit(FRAME.assign(town="Ulm"), Y)


@pytest.mark.parametrize("name", DRAWN)
def test_cells_drawn_from_a_family_choose_it(model, name):
    (chosen,) = model.families_[name]
    assert chosen.name in NESTED.get(name, {name})
    scores = model.family_scores_[name]
    assert next(iter(scores)) == chosen.name
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


def test_categories_stay_what_they_are(model):
    assert model.families_["town"][0].name == "categorical"
    assert "town" not in model.family_scores_


def test_the_score_is_the_log_density_of_each_row_by_all_others(model):
    x, few = FRAME["log_normal"].to_numpy()[:60], Y[:60]
    fitted = NaiveBayes(families="best", calibration=None).fit(x[:, np.newaxis], few)
    total = 0.0
    for i in range(60):
        others = np.delete(np.arange(60), i)
        alone = NaiveBayes(families={0: "log_normal"}, calibration=None, priors=[0.5, 0.5])
        alone.fit(x[others, np.newaxis], few[others])
        total += alone.predict_joint_log_proba(x[i : i + 1, np.newaxis])[0, few[i]] - np.log(0.5)
    # Smoothing, 1e-9 of the column's variance, is that of all rows.
    assert fitted.family_scores_[0]["log_normal"] == pytest.approx(total / 60, abs=1e-6)


def test_a_family_is_no_candidate_once_a_cell_is_beyond_its_support():
    model = NaiveBayes(families="best", calibration=None)
    model.partial_fit(FRAME[["log_normal"]], Y, classes=[0, 1])
    assert "log_normal" in model.family_scores_["log_normal"]
    model.partial_fit(pd.DataFrame({"log_normal": [-1.0]}), [0])
    assert {"log_normal", "gamma", "exponential"}.isdisjoint(model.family_scores_["log_normal"])
    assert np.isfinite(model.predict_proba(FRAME[["log_normal"]])).all()


def test_one_column_may_have_the_best_family():
    frame = FRAME[["gamma", "beta"]]
    model = NaiveBayes(families={"gamma": "best"}, calibration=None).fit(frame, Y)
    assert [family.name for family in model.families_["gamma"]] == ["gamma"]
    assert [family.name for family in model.families_["beta"]] == ["student_t"]
    assert list(model.family_scores_) == ["gamma"]


def test_the_choice_survives_files_and_pickles(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    for again in (load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert again.families == "best"
        assert again.families_ == model.families_
        np.testing.assert_array_equal(
            again.predict_proba(FRAME.assign(town="Ulm")),
            model.predict_proba(FRAME.assign(town="Ulm")),
        )
    some = NaiveBayes(families={"gamma": "best"}, calibration=None).fit(FRAME[["gamma"]], Y)
    some.save(tmp_path / "some.safetensors")
    assert load(tmp_path / "some.safetensors").families == {"gamma": "best"}


def test_calibrated_models_choose_too():
    frame = FRAME[["log_normal", "beta"]]
    model = NaiveBayes(families="best", interactions=None).fit(frame, Y)
    assert [f[0].name for f in model.families_.values()] == ["log_normal", "beta"]
    assert len(model.weights_["beta"]) == 1


@pytest.mark.parametrize("value", [0.0, 3.0, 1e100, 1e-140, -2.0])
def test_hostile_columns_are_chosen_for(value):
    X = np.column_stack([np.full(6, value), value * np.arange(1.0, 7.0), np.full(6, np.nan)])
    model = NaiveBayes(families="best", calibration=None).fit(X, [0, 0, 0, 1, 1, 2])
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_summary_without_a_sample_cannot_choose():
    seen = summarize(FRAME[["beta"]], Y)
    with pytest.raises(NaivelyError, match="chosen on a sample of rows"):
        choose_families(seen, [0])


def test_what_is_neither_best_nor_a_dict_is_refused():
    with pytest.raises(ValueError, match="families"):
        NaiveBayes(families="worst").fit(FRAME, Y)


def test_the_command_line_chooses_and_says_by_how_much(tmp_path):
    FRAME[["gamma", "beta"]].assign(y=Y).to_csv(tmp_path / "rows.csv", index=False)
    path = str(tmp_path / "model.safetensors")
    run_well("fit", str(tmp_path / "rows.csv"), "-t", "y", "--family", "best", "-o", path)
    shown = run_well("inspect", path).stdout
    assert "gamma" in shown
    assert "over" in shown
    said = json.loads(run_well("inspect", path, "--json").stdout)
    scores = {column["name"]: column["scores"] for column in said["terms"]}
    assert next(iter(scores["gamma"])) == "gamma"
    assert next(iter(scores["beta"])) == "beta"
