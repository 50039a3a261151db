"""Tuning gives what refitting every candidate on every fold gives."""

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from naively import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NaivelyError,
    evaluate,
    tune,
)
from naively.estimators.loading import ESTIMATORS
from naively.evaluation.candidates import default_grid, tunable
from naively.results import Tuning
from tests.evaluation import oracle

rng = np.random.default_rng(11)
N = 240
Y = np.array(["a", "b", "c"])[rng.integers(3, size=N)]
K = np.searchsorted(["a", "b", "c"], Y)
NUMBERS = rng.normal(size=(N, 4)) * [1.0, 2.0, 0.5, 10.0] + K[:, np.newaxis] * [0.6, 0, 0.3, 2.0]
HOLES = np.where(rng.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)
COUNTS = rng.poisson(1.0 + 0.7 * (np.arange(6) % 3 == K[:, np.newaxis]))
CODES = (COUNTS % 4).astype(np.int64)
TOWNS = np.array(["Ulm", "Bonn", "Kiel", "Jena"])
MIXED = pandas.DataFrame(
    {
        "size": HOLES[:, 0],
        "town": TOWNS[(K + rng.integers(3, size=N)) % 4],
        "weight": NUMBERS[:, 3],
        "sick": rng.random(N) < 0.2 + 0.2 * K,
    }
)
WORDS = np.array(["red", "green", "blue", "round", "square", "heavy", "light"])
TEXTS = pandas.DataFrame(
    {
        "note": [" ".join(WORDS[(k + rng.integers(4, size=5)) % 7]) for k in K],
        "size": HOLES[:, 0],
    }
)
SMOOTH = {"var_smoothing": [1e-9, 1e-3, 0.5], "smoothing": ["global", "column"]}
FAMILIES = [{"size": "gaussian"}, {"weight": "student_t"}, None]

CASES = {
    "gaussian": (GaussianNB(), NUMBERS, SMOOTH),
    "gaussian, missing cells": (GaussianNB(), HOLES, SMOOTH | {"variance": ["class", "shared"]}),
    "gaussian, unbiased": (GaussianNB(), HOLES, {"ddof": [0, 1], "var_smoothing": [0, 1e-9]}),
    "gaussian, priors": (GaussianNB(), HOLES, {"priors": [None, [0.2, 0.3, 0.5], [0, 0.5, 0.5]]}),
    "gaussian, columns": (GaussianNB(), HOLES, {"columns": [None, [0], [3, 1], [2, 0, 1]]}),
    "gaussian, calibration": (GaussianNB(), HOLES, {"calibration": [None, "temperature"]}),
    "gaussian, weights": (GaussianNB(), HOLES, {"calibration": ["weights"], "ddof": [0, 1]}),
    "gaussian, sparse": (GaussianNB(), csr_array(COUNTS), SMOOTH),
    "multinomial": (MultinomialNB(), COUNTS, {"alpha": [1.0, 0.1], "fit_prior": [True, False]}),
    "multinomial, sparse": (
        MultinomialNB(),
        csr_array(COUNTS),
        {"alpha": [1.0, 0.1], "calibration": [None, "temperature"]},
    ),
    "multinomial, columns": (
        MultinomialNB(),
        csr_array(COUNTS),
        {"columns": [None, [0, 2], [1, 3, 5]]},
    ),
    "complement": (ComplementNB(), COUNTS, {"alpha": [1.0, 0.1], "norm": [False, True]}),
    "bernoulli": (BernoulliNB(), COUNTS, {"binarize": [0.0, 1.0, 2.0], "alpha": [1.0, 0.1]}),
    "categorical": (CategoricalNB(), CODES, {"alpha": [1.0, 0.01], "columns": [None, [0, 1]]}),
    "mixed": (NaiveBayes(calibration=None), MIXED, {"families": FAMILIES}),
    "mixed, columns": (
        NaiveBayes(calibration=None),
        MIXED,
        {"columns": [None, ["town"], ["sick", "size"]], "priors": [None, [0.2, 0.3, 0.5]]},
    ),
    "mixed, temperature": (NaiveBayes(), MIXED, {"calibration": ["temperature", None]}),
    "mixed, numbers as categories": (
        NaiveBayes(calibration=None),
        pandas.DataFrame(CODES[:, :3], columns=["x", "y", "z"]),
        {"families": [None, {"x": "categorical"}, {"y": "poisson", "x": "gaussian"}]},
    ),
    "mixed, functions of cells": (
        NaiveBayes(calibration=None),
        pandas.DataFrame(np.exp(NUMBERS[:, :2]), columns=["x", "y"]),
        {"families": [None, {"x": "log_normal"}, {"y": "exponential", "x": "log_normal"}]},
    ),
    "text": (NaiveBayes(calibration=None), TEXTS, {"columns": [None, ["note"], ["size"]]}),
}


@pytest.mark.parametrize("name", CASES)
def test_scores_are_those_of_refitting_every_candidate_on_every_fold(name):
    model, X, grid = CASES[name]
    y = Y if name != "bernoulli" else K  # numbers are labels too
    if "binarize" in grid:
        X = np.minimum(X, 5)
    found = tune(model, X, y, grid=grid, folds=4)
    expected = oracle.refitted(model, X, y, found.params, folds=4)
    assert_allclose(found.scores, expected, rtol=1e-9, atol=1e-11)


SCORINGS = ["log_loss", "accuracy", "brier", "balanced_accuracy", "f1", "roc_auc"]


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("case", ["gaussian, missing cells", "mixed"])
def test_every_scoring_is_that_of_refitted_models(scoring, case):
    model, X, grid = CASES[case]
    found = tune(model, X, Y, grid=grid, folds=3, scoring=scoring)
    score = getattr(oracle, scoring)
    expected = oracle.refitted(model, X, Y, found.params, folds=3, score=score)
    assert_allclose(found.scores, expected, rtol=1e-9, atol=1e-12)


def test_calibrated_candidates_score_as_evaluate_judges_them():
    grid = {"calibration": ["weights"], "interactions": ["auto", None, ("pairs",)]}
    found = tune(NaiveBayes(), MIXED, Y, grid=grid, folds=4)
    splits = StratifiedKFold(4).split(MIXED, Y)
    shares = [test.size / N for _, test in splits]
    for params, scores in zip(found.params, found.scores, strict=True):
        judged = evaluate(NaiveBayes(**params), MIXED, Y, folds=4)
        assert scores @ shares == pytest.approx(judged.loss, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_the_best_model_is_the_one_fitted_on_all_rows(name):
    model, X, grid = CASES[name]
    found = tune(model, X, Y, grid=grid, folds=4)
    params = dict(found.best_params)
    columns = params.pop("columns", None)
    rows = X if columns is None else oracle.some(X, columns)
    expected = model.set_params(**params).fit(rows, Y)
    assert_allclose(
        found.best_model.predict_log_proba(rows),
        expected.predict_log_proba(rows),
        rtol=1e-9,
        atol=1e-9,
    )
    assert found.best_score == found.mean.min()


def test_parameters_with_an_entry_for_each_column_are_those_of_the_columns_chosen():
    alpha, some = np.array([1.0, 0.1, 2.0, 1.0, 0.5, 3.0]), [1, 2, 4]
    found = tune(MultinomialNB(alpha=alpha), COUNTS, Y, grid={"columns": [some]}, folds=5)
    one = MultinomialNB(alpha=alpha[some])
    assert_allclose(found.scores, oracle.refitted(one, COUNTS[:, some], Y, [{}]), rtol=1e-9)


def test_sets_of_columns_are_named_in_the_order_of_the_best_model():
    for columns in ([3, 1, 1], np.array([3, 1]), (True, 3)):
        found = tune(GaussianNB(), HOLES, Y, grid={"columns": [columns]})
        assert found.best_params == {"columns": [1, 3]}
        expected = GaussianNB().fit(HOLES[:, [1, 3]], Y).predict_proba(HOLES[:, [1, 3]])
        assert_allclose(found.best_model.predict_proba(HOLES[:, [1, 3]]), expected)


def test_the_model_that_is_given_stays_as_it_is():
    fitted = GaussianNB(var_smoothing=0.3).fit(NUMBERS, Y)
    before = fitted.predict_proba(NUMBERS)
    found = tune(fitted, NUMBERS, Y, grid={"ddof": [0, 1]})
    assert found.best_model is not fitted
    assert found.best_model.var_smoothing == 0.3
    assert_array_equal(fitted.predict_proba(NUMBERS), before)
    assert fitted.ddof == 0


def test_results_are_those_of_grid_search():
    X, y = load_wine(return_X_y=True)
    grid = {"var_smoothing": np.logspace(-9, 0, 25)}
    theirs = GridSearchCV(SklearnGaussianNB(), grid, scoring="neg_log_loss", cv=5).fit(X, y)
    ours = tune(GaussianNB(), X, y, grid=grid, folds=5)
    for name, values in theirs.cv_results_.items():
        if name.startswith(("split", "mean_test", "std_test", "rank")):
            assert_allclose(ours.cv_results_[name], values, rtol=1e-9, atol=1e-12, err_msg=name)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert ours.best_params == theirs.best_params_
    assert_allclose(ours.best_model.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)


def test_threads_do_not_change_a_bit():
    for name in ("gaussian, missing cells", "mixed"):
        model, X, grid = CASES[name]
        one, two = (tune(model.set_params(n_jobs=n), X, Y, grid=grid).scores for n in (1, 2))
        assert_array_equal(one, two)


def test_far_numbers_are_scored_as_the_model_scores_them():
    X = NUMBERS.copy()
    X[5, 0] = 1e147  # its square, over a small variance, exceeds every float64
    grid = {"var_smoothing": [1e-9, 1e-3, 0.1], "columns": [None, [1, 2]]}
    found = tune(GaussianNB(), X, Y, grid=grid, folds=3)
    assert_allclose(found.scores, oracle.refitted(GaussianNB(), X, Y, found.params, 3), rtol=1e-9)


def test_float32_and_frames_of_columns_score_the_same():
    X = NUMBERS.astype(np.float32)
    grid = {"var_smoothing": [1e-9, 1e-3, 0.1]}
    found = [
        tune(GaussianNB(), rows, Y, grid=grid).scores
        for rows in (X, pandas.DataFrame(X), pandas.DataFrame(X.astype(np.float64)))
    ]
    assert_allclose(found[1], found[0], rtol=1e-12)
    assert_allclose(found[2], found[0], rtol=1e-12)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_has_a_grid_of_its_own(name):
    model = ESTIMATORS[name]()
    X = CODES if name != "GaussianNB" else NUMBERS
    found = tune(model, X, Y, folds=3)
    assert isinstance(found, Tuning)
    assert found.params[0] == {}
    assert len(found.params) > 3
    assert set(found.varied) <= set(tunable(model))
    assert np.isfinite(found.scores).all()


def test_the_default_grid_tries_families_of_numbers_where_none_are_given():
    schema = NaiveBayes().fit(MIXED, Y).summary_.schema
    last = default_grid(NaiveBayes(), schema)[-1]
    assert last["families"][0] == {"size": "gaussian", "weight": "gaussian"}
    given = default_grid(NaiveBayes(families={"size": "gaussian"}), schema)
    assert all("families" not in part for part in given)


def test_the_first_of_candidates_that_tie_is_the_best():
    grid = {"variance": ["shared"], "priors": [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]}
    found = tune(GaussianNB(), NUMBERS, Y, grid=grid)
    assert found.rank.tolist() == [1, 1]
    assert found.best_index == 0


def test_rows_and_labels_alone_tune_the_default_model():
    X, y = load_iris(return_X_y=True)
    found = tune(data=X, y=y, grid=[{}])
    assert (found.model, found.method) == ("NaiveBayes", "10 folds")


def test_a_splitter_that_holds_each_row_out_once_is_taken():
    splitter = KFold(4, shuffle=True, random_state=0)
    found = tune(GaussianNB(), NUMBERS, Y, grid={"ddof": [0, 1]}, folds=splitter)
    train, test = next(splitter.split(NUMBERS))
    fitted = GaussianNB().fit(NUMBERS[train], Y[train])
    assert found.scores[0, 0] == pytest.approx(fitted.loss(NUMBERS[test], Y[test]), rel=1e-9)


WRONG = {
    "an unknown parameter": (
        {"grid": {"smoothness": [1]}},
        "mean 'smoothing'.*There are calibration, ",
    ),
    "one that changes no probability": ({"grid": {"n_jobs": [1]}}, "none that can be tuned"),
    "no candidates": ({"grid": []}, "at least one candidate"),
    "no parameters": ({"grid": {}}, "at least one candidate"),
    "no values": ({"grid": {"ddof": []}}, "at least one value"),
    "a value that is no list": ({"grid": {"variance": "shared"}}, "must be a list of values"),
    "a grid that is none": ({"grid": 3}, "dict of lists"),
    "an impossible value": ({"grid": {"var_smoothing": [-1.0]}}, "candidate.*is not possible"),
    "priors of other classes": ({"grid": {"priors": [[0.5, 0.5]]}}, "candidate.*has no model"),
    "an unknown column": ({"grid": {"columns": [[9]]}}, "names a column 9"),
    "no column": ({"grid": {"columns": [[]]}}, "lists of columns"),
    "a column that is a list": ({"grid": {"columns": [[[1]]]}}, r"names a column \[1\]"),
    "an unknown score": ({"scoring": "speed"}, "one of log_loss, accuracy"),
    "several scores": ({"scoring": ["log_loss"]}, "one of log_loss, accuracy"),
    "folds in words": ({"folds": "leave-one-out"}, "a number or a splitter"),
    "rows held out twice": ({"folds": ShuffleSplit(3)}, "hold each row out once"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_named(case):
    options, message = WRONG[case]
    with pytest.raises(NaivelyError, match=message):
        tune(GaussianNB(), NUMBERS, Y, **options)


def test_a_class_with_all_its_rows_in_one_fold_is_named():
    y = np.array(["a", "b"])[rng.integers(2, size=30)].astype(object)
    y[3] = "c"
    folds = KFold(3)
    with pytest.raises(NaivelyError, match="class 'c' has all its rows in fold 0"):
        tune(GaussianNB(), NUMBERS[:30], y, grid={"ddof": [0]}, folds=folds)


def test_one_class_or_another_model_is_an_error():
    with pytest.raises(NaivelyError, match="two classes or more"):
        tune(GaussianNB(), NUMBERS, np.repeat("a", N))
    with pytest.raises(NaivelyError, match=r"must be one of naively's.*GridSearchCV"):
        tune(SklearnGaussianNB(), NUMBERS, Y)
    with pytest.raises(NaivelyError, match="rows and their labels"):
        tune(GaussianNB())


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(
    ("model", "X"),
    [
        (GaussianNB(), HOLES),
        (NaiveBayes(calibration=None), HOLES),
        (MultinomialNB(), COUNTS),
        (CategoricalNB(), CODES),
    ],
    ids=["gaussian", "any family", "multinomial", "categorical"],
)
def test_scikit_learns_selector_chooses_columns_as_a_greedy_loop_does(model, X, direction):
    places = range(X.shape[1])
    how = {"n_features_to_select": 2, "scoring": "neg_log_loss", "cv": 3}
    chooser = SequentialFeatureSelector(model, direction=direction, **how).fit(X, Y)
    chosen = [] if direction == "forward" else list(places)
    while len(chosen) != 2:
        moves = [j for j in places if (j in chosen) == (direction == "backward")]
        sets = [[j for j in places if (j in chosen) != (j == move)] for move in moves]
        found = tune(model, X, Y, grid={"columns": sets}, folds=3)
        chosen = found.best_params["columns"]
    assert chooser.get_support(indices=True).tolist() == chosen
