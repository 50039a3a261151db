"""What tuning returns: tables, frames, plain values and pictures."""

import json

import numpy as np
import pandas
import polars
import pytest
from sklearn.datasets import load_wine

from naively import GaussianNB, MultinomialNB, NaivelyError, tune
from naively.evaluation.metrics import METRICS
from naively.evaluation.tuning import ranks
from naively.plots import TuningDisplay

X, Y = load_wine(return_X_y=True)
SMOOTHING = {"var_smoothing": [1e-9, 1e-6, 1e-3, 1.0], "smoothing": ["column", "global"]}


@pytest.fixture(scope="module")
def found():
    return tune(GaussianNB(), X, Y, grid=SMOOTHING, folds=3)


def test_the_best_candidate_is_that_of_the_least_loss(found):
    at = int(np.argmin(found.mean))
    assert found.best_index == at
    assert found.best_params == found.params[at]
    assert found.best_score == found.mean[at]
    assert found.rank[at] == 1
    assert sorted(found.rank.tolist()) == list(range(1, 9))
    assert found.order[0] == at


def test_losses_are_negative_in_the_results_of_scikit_learn(found):
    results = found.cv_results_
    np.testing.assert_array_equal(results["mean_test_score"], -found.mean)
    np.testing.assert_array_equal(results["split2_test_score"], -found.scores[:, 2])
    assert results["param_smoothing"] == [params["smoothing"] for params in found.params]
    hits = tune(GaussianNB(), X, Y, grid=SMOOTHING, scoring="accuracy")
    np.testing.assert_array_equal(hits.cv_results_["mean_test_score"], hits.mean)


@pytest.mark.parametrize("library", [pandas, polars])
def test_a_frame_has_a_line_for_each_candidate_the_best_first(library):
    rows = library.DataFrame({f"x{j}": X[:, j] for j in range(3)})
    frame = tune(GaussianNB(), rows, Y, grid=SMOOTHING, folds=3).to_frame()
    assert isinstance(frame, library.DataFrame)
    assert list(frame.columns)[:5] == ["rank", "mean", "std", "smoothing", "var_smoothing"]
    assert list(frame["rank"]) == sorted(frame["rank"])
    assert list(frame.columns)[-1] == "fold 2"


def test_json_can_hold_what_to_dict_gives(found):
    value = json.loads(json.dumps(found.to_dict()))
    assert value["best_params"] == found.best_params
    assert value["candidates"][3]["scores"] == found.scores[3].tolist()


def test_values_that_json_lacks_are_text_or_none():
    grid = {"priors": [None, np.array([0.2, 0.3, 0.5])], "columns": [None, [1, 2]]}
    value = json.loads(json.dumps(tune(GaussianNB(), X, Y, grid=grid).to_dict()))
    assert value["candidates"][1]["params"] == {"columns": None, "priors": [0.2, 0.3, 0.5]}


def test_it_prints_as_text_and_html(found):
    text = str(found)
    assert text.startswith("GaussianNB, 3 folds: 8 candidates, 178 rows, by log loss (lower is")
    assert "<table>" in found._repr_html_()
    assert repr(found).startswith("<Tuning of GaussianNB, 8 candidates, 3 folds: log loss 0.")


def test_of_many_candidates_the_best_are_printed():
    grid = {"var_smoothing": np.logspace(-9, 0, 30)}
    assert "... 10 more" in str(tune(GaussianNB(), X, Y, grid=grid))


def test_scores_that_differ_by_rounding_tie():
    scoring = METRICS["loss"]
    assert ranks(np.array([0.5, 0.5 * (1 + 1e-15), 0.4, np.inf, np.nan]), scoring).tolist() == [
        2,
        2,
        1,
        4,
        4,
    ]
    assert ranks(np.array([0.5, 0.9]), METRICS["accuracy"]).tolist() == [2, 1]


@pytest.fixture
def closing():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.usefixtures("closing")
def test_a_parameter_of_many_values_makes_lines(found):
    display = found.plot()
    assert isinstance(display, TuningDisplay)
    assert display.parameter == "var_smoothing"
    assert display.ax_.get_xscale() == "log"
    assert len(display.ax_.lines) == 3  # two values of the other parameter, and the ring
    ring = display.ax_.lines[-1].get_xydata()[0]
    assert ring.tolist() == [found.best_params["var_smoothing"], found.best_score]


@pytest.mark.usefixtures("closing")
def test_the_model_as_it_was_given_is_drawn_where_it_is_the_best():
    X = np.zeros((8, 1))
    best = tune(MultinomialNB(), X, [0, 1] * 4, folds=2)
    assert best.best_params == {}
    drawn = best.plot(parameter="alpha")
    assert drawn.ax_.lines[-1].get_xydata()[0].tolist() == [1.0, best.best_score]


@pytest.mark.usefixtures("closing")
def test_sets_of_columns_make_a_line():
    sets = [list(range(k)) for k in range(1, 14)]
    chosen = tune(GaussianNB(), X, Y, grid={"columns": sets}).plot()
    assert chosen.parameter == "columns"
    assert chosen.ax_.get_xlabel() == "number of columns"
    assert chosen.ax_.lines[0].get_xdata().tolist() == list(range(1, 14))


@pytest.mark.usefixtures("closing")
def test_other_candidates_are_dots_the_best_first():
    few = tune(GaussianNB(), X, Y, grid={"variance": ["class", "shared"], "ddof": [0, 1]})
    display = few.plot(max_candidates=3)
    assert display.parameter is None
    texts = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert len(texts) == 3
    assert texts[0] == ", ".join(f"{name}={value}" for name, value in few.best_params.items())


@pytest.mark.usefixtures("closing")
def test_what_cannot_be_drawn_is_named(found):
    with pytest.raises(NaivelyError, match=r"got 'smoothing'. There are var_smoothing"):
        found.plot(parameter="smoothing")
    with pytest.raises(NaivelyError, match="at least 1"):
        found.plot(max_candidates=0)
