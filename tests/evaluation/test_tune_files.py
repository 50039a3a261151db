"""Files and summaries are tuned in one pass, by rows that models have not seen."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from naively import GaussianNB, MultinomialNB, NaiveBayes, NaivelyError, summarize, tune
from naively.data.schema import Schema
from naively.evaluation.metrics import scorings
from tests.evaluation import oracle

rng = np.random.default_rng(3)
N = 900
K = rng.integers(2, size=N)
TOWNS = np.array(["Ulm", "Bonn", "Kiel", "Jena"])
FRAME = pandas.DataFrame(
    {
        "size": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N) + K),
        "town": TOWNS[(K + rng.integers(3, size=N)) % 4],
        "weight": np.round(rng.normal(size=N) * 3 + 2 * K),
        "y": np.array(["no", "yes"])[K],
    }
)
NUMBERS = FRAME.drop(columns="town")
GRID = {"var_smoothing": [1e-9, 1e-2, 1.0], "variance": ["class", "shared"]}


@pytest.fixture
def path(tmp_path):
    def written(frame):
        path = tmp_path / "rows.csv"
        frame.to_csv(path, index=False)
        return path

    return written


def hashes_of(frame, schema):
    """Return the hash of each row's cells, of summaries of one row each."""
    X, y = frame.drop(columns="y"), frame["y"].to_numpy()
    ones = (summarize(X[i : i + 1], y[i : i + 1], schema=schema) for i in range(len(frame)))
    return np.array([one.sample.hashes[0] for one in ones])


def scores_of_refits(model, frame, hashes, n_folds, n_judges):
    """Fit on all rows but those of a fold that judge, and judge these; for each fold."""
    distinct = sorted(set(zip(hashes.tolist(), frame["y"], strict=True)))  # equal rows are one
    judges = hashes <= np.uint64(distinct[:n_judges][-1][0])
    X, y, found = frame.drop(columns="y"), frame["y"].to_numpy(), []
    for f in range(n_folds):
        out = judges & (hashes % np.uint64(n_folds) == f)
        found.append(model.fit(X[~out], y[~out]).loss(X[out], y[out]))
    return found


WORDS = np.array(["red", "green", "blue", "round", "square", "heavy"])
NOTES = [" ".join(WORDS[(k + rng.integers(5, size=4)) % 6]) for k in K]
TEXT = pandas.DataFrame({"note": NOTES, "size": FRAME["size"], "y": FRAME["y"]})
TABLES = {
    "numbers": (GaussianNB(), NUMBERS, GRID),
    "mixed": (
        NaiveBayes(calibration=None),
        FRAME,
        {"families": [None, {"size": "gaussian"}], "priors": [None, [0.5, 0.5]]},
    ),
    "text": (
        NaiveBayes(calibration=None, families={"note": "text"}),
        TEXT,
        {"priors": [None, [0.5, 0.5]]},
    ),
}


@pytest.mark.parametrize("rows", [200, 5000], ids=["a sample", "all rows"])
@pytest.mark.parametrize("name", TABLES)
def test_rows_of_files_are_judged_by_models_of_all_rows_but_those_of_their_fold(name, rows, path):
    model, frame, grid = TABLES[name]
    found = tune(model, path(frame), "y", grid=grid, folds=3, rows=rows)
    hashes = hashes_of(frame, replace(found.best_model.summary_.schema, sample=10))
    for params, scores in zip(found.params, found.scores, strict=True):
        one = clone(model).set_params(**params)
        expected = scores_of_refits(one, frame, hashes, 3, rows)
        assert_allclose(scores, expected, rtol=1e-9, err_msg=str(params))
    told = "3 folds" if rows == 5000 else "3 folds of a sample of 900 rows"
    assert found.method == told


@pytest.mark.parametrize("rows", [250, 5000])
def test_the_best_model_of_files_is_that_of_all_their_rows(path, rows):
    source = path(FRAME)
    found = tune(NaiveBayes(calibration=None), source, "y", grid={"priors": [None]}, rows=rows)
    expected = NaiveBayes.from_files(source, target="y", calibration=None)
    X = FRAME.drop(columns="y")
    assert_allclose(found.best_model.predict_proba(X), expected.predict_proba(X), rtol=1e-9)
    assert found.best_model.summary_.weight == N
    assert found.best_model.summary_.sample is None


@pytest.mark.parametrize("rows", [5000, 300])
def test_files_are_tuned_by_the_default_grid(path, rows):
    found = tune(data=path(FRAME), target="y", folds=3, rows=rows)
    assert found.model == "NaiveBayes"
    assert np.isfinite(found.scores).all()
    assert found.best_model.predict(FRAME[found.best_model.feature_names_in_].iloc[:3]).shape == (
        3,
    )


@pytest.mark.parametrize("scoring", scorings())
def test_every_scoring_takes_the_weights_of_rows(path, scoring):
    twice = pandas.concat([NUMBERS, NUMBERS[K == 1]])
    found = tune(GaussianNB(), path(twice), "y", grid=GRID, folds=2, scoring=scoring)
    assert np.isfinite(found.scores).all()


def test_counts_of_a_summary_are_tuned():
    counts = rng.poisson(1.0 + K[:, np.newaxis] * [1.0, 0.0, 2.0])
    summary = summarize(counts, K, schema=Schema(3, counted="occurrences", sample=300))
    found = tune(MultinomialNB(), summary, grid={"alpha": [1.0, 0.1]}, folds=3)
    assert found.n_rows == summary.sample.weight.sum()
    every = oracle.refitted(MultinomialNB(), counts, K, found.params, folds=3)
    assert_allclose(found.mean, every.mean(axis=1), rtol=0.2)


def test_what_cannot_be_tuned_in_one_pass_is_named(path):
    source = path(FRAME)
    grid = {"families": [{"size": "gaussian"}, {"size": "categorical"}]}
    with pytest.raises(NaivelyError, match="must hold the same for all candidates"):
        tune(NaiveBayes(), source, "y", grid=grid)
    with pytest.raises(NaivelyError, match="keeps none"):
        tune(GaussianNB(), summarize(NUMBERS[["size"]], K))
    with pytest.raises(NaivelyError, match="must be a number"):
        tune(NaiveBayes(), source, "y", folds=[([0], [1])])
    with pytest.raises(NaivelyError, match="at least two folds"):
        tune(NaiveBayes(), source, "y", folds=1)
    with pytest.raises(NaivelyError, match="40 distinct rows do not fill 35 folds"):
        tune(GaussianNB(), path(NUMBERS[:40]), "y", folds=35)
    with pytest.raises(NaivelyError, match="only files take the option 'exclude'"):
        tune(GaussianNB(), NUMBERS[["size"]], K, exclude="size")
    with pytest.raises(NaivelyError, match="two classes"):
        tune(GaussianNB(), path(NUMBERS[K == 0]), "y")
