"""Columns are chosen as a loop would choose them that refits for every set of columns."""

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from naively import CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, NaivelyError, tune
from naively.tuning import column_choice
from tests.tuning import oracle

rng = np.random.default_rng(5)
N = 160
Y = rng.integers(2, size=N)
NUMBERS = rng.normal(size=(N, 5)) + Y[:, np.newaxis] * [0.2, 1.0, 0.0, 0.5, 0.0]
NUMBERS[:, 4] = NUMBERS[:, 1] + 0.1 * rng.normal(size=N)  # says the same as column 1
COUNTS = rng.poisson(1.0 + Y[:, np.newaxis] * [0.0, 1.0, 0.0, 2.0])
MIXED = pandas.DataFrame(
    {
        "town": np.array(["Ulm", "Bonn", "Kiel"])[(Y + rng.integers(3, size=N)) % 3],
        "size": NUMBERS[:, 1],
        "noise": NUMBERS[:, 2],
    }
)
CASES = {
    "numbers": (GaussianNB(smoothing="column"), NUMBERS, range(5)),
    "counts": (MultinomialNB(), COUNTS, None),
    "categories": (CategoricalNB(), COUNTS, range(4)),
    "mixed": (NaiveBayes(calibration=None), MIXED, list(MIXED)),
}


def greedy(model, X, columns, direction, folds):
    """Add or take away one column after the other, by as many fits as it takes."""
    columns = list(columns)
    sets, chosen = [], [] if direction == "forward" else columns
    if direction == "backward":
        sets.append(columns)
    while len(chosen) < len(columns) if direction == "forward" else len(chosen) > 1:
        if direction == "forward":
            tries = [[c for c in columns if c in (*chosen, j)] for j in columns if j not in chosen]
        else:
            tries = [[c for c in chosen if c != j] for j in chosen]
        scores = oracle.refitted(model, X, Y, [{"columns": one} for one in tries], folds)
        chosen = tries[int(np.argmin(scores.mean(axis=1)))]
        sets.append(chosen)
    return sets


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", ["numbers", "categories", "mixed"])
def test_columns_are_those_of_a_greedy_loop_of_refits(name, direction):
    model, X, columns = CASES[name]
    found = tune(model, X, Y, grid=[{}], folds=3, columns=direction)
    sets = [params["columns"] for params in found.params[1:]]
    assert sets == greedy(model, X, columns, direction, 3)
    expected = oracle.refitted(model, X, Y, found.params, folds=3)
    assert_allclose(found.scores, expected, rtol=1e-9)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("X", [COUNTS, csr_array(COUNTS)], ids=["dense", "sparse"])
def test_columns_of_counts_are_judged_by_models_of_these_columns(X, direction):
    found = tune(MultinomialNB(), X, Y, grid=[{}], folds=3, columns=direction)
    assert_allclose(
        found.scores, oracle.refitted(MultinomialNB(), X, Y, found.params, folds=3), rtol=1e-9
    )
    assert sorted(len(params["columns"]) for params in found.params[1:]) == [1, 2, 3, 4]


def test_a_column_that_says_the_same_again_is_left_out():
    found = tune(GaussianNB(), NUMBERS, Y, grid=[{}], columns="forward")
    assert len({1, 4} & set(found.best_params["columns"])) == 1
    assert found.best_model.n_features_in_ == len(found.best_params["columns"])


def test_of_columns_that_tie_fewer_are_better():
    X = np.column_stack([NUMBERS[:, 1], np.zeros((N, 2))])  # constant columns change nothing
    for direction in ("forward", "backward"):
        found = tune(GaussianNB(), X, Y, grid=[{}], columns=direction)
        assert found.best_params["columns"] == [0]


def test_columns_are_chosen_among_those_of_the_best_candidate():
    grid = {"columns": [[0, 1, 2]]}
    found = tune(GaussianNB(), NUMBERS, Y, grid=grid, columns="backward", scoring="accuracy")
    assert all(set(params["columns"]) <= {0, 1, 2} for params in found.params)


def test_calibrated_sets_of_columns_are_calibrated_themselves():
    model = NaiveBayes(calibration="temperature")
    found = tune(model, MIXED, Y, grid=[{}], folds=3, columns="backward")
    expected = oracle.refitted(model, MIXED, Y, found.params, folds=3)
    assert_allclose(found.scores, expected, rtol=1e-9)


def test_interactions_do_not_keep_columns_from_being_chosen():
    found = tune(NaiveBayes(), MIXED, Y, grid=[{}], folds=3, columns="forward")
    assert [len(params.get("columns", MIXED.columns)) for params in found.params] == [3, 1, 2, 3]


def test_impossible_categories_can_be_taken_away():
    X = np.column_stack([Y, COUNTS[:, :2]])  # column 0 gives the class away
    found = tune(CategoricalNB(alpha=0), X, Y, grid=[{}], folds=3, columns="backward")
    assert np.isfinite(found.best_score)
    assert 0 in found.best_params["columns"]


def test_terms_of_some_rows_decide_where_memory_is_short(monkeypatch):
    expected = tune(GaussianNB(), NUMBERS, Y, grid=[{}], columns="forward")
    monkeypatch.setattr(column_choice, "MOST_TERMS", N)
    found = tune(GaussianNB(), NUMBERS, Y, grid=[{}], columns="forward")
    assert_allclose(found.scores[0], expected.scores[0])
    assert len(found.params) == len(expected.params)


def test_too_many_columns_to_choose_among_is_an_error():
    X = np.zeros((20, column_choice.MOST_COLUMNS + 1))
    with pytest.raises(NaivelyError, match="at most 500"):
        tune(GaussianNB(), X, np.arange(20) % 2, grid=[{}], columns="forward")
