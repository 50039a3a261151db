"""Rows left out against models that were fitted without them."""

import numpy as np
import pandas as pd
import pytest

from naively import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from naively.evaluation.metrics import METRICS
from naively.inspection.diagnosis.columns import skill_of_tallies
from naively.inspection.diagnosis.evidence import Evidence

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=60)
COUNTS = RNG.poisson(1 + Y[:, None] * RNG.random(4), size=(60, 4)).astype(float)
REALS = RNG.normal(size=(60, 3)) + Y[:, None]


@pytest.mark.parametrize(
    ("kind", "X"),
    [(MultinomialNB, COUNTS), (BernoulliNB, COUNTS), (ComplementNB, COUNTS), (GaussianNB, REALS)],
    ids=["MultinomialNB", "BernoulliNB", "ComplementNB", "GaussianNB"],
)
def test_a_row_left_out_is_judged_by_a_model_of_the_others(kind, X):
    X = X + np.arange(60)[:, None] * (1e-6 if kind is GaussianNB else 0)
    _, first = np.unique(np.column_stack([X, Y]), axis=0, return_index=True)
    X, y = X[first], Y[first]  # equal rows are one row of the sample
    model = kind(calibration="temperature").fit(X, y)
    rows, sample = Evidence(model).before, model.summary_.sample
    cells = sample.numbers.dense() if hasattr(sample.numbers, "dense") else sample.numbers
    for i in range(0, len(y), 7):
        row = int(np.flatnonzero((cells[i] == X).all(axis=1) & (y == sample.codes[i]))[0])
        others = np.arange(len(y)) != row
        priors = np.bincount(y) / len(y)  # which the row left out does not change here
        known = {"priors": priors} if kind is GaussianNB else {"class_prior": priors}
        again = kind(**known).fit(X[others], y[others])
        expected = np.log(again.predict_proba(X[[row]])[0])
        np.testing.assert_allclose(np.log(rows.probabilities[i]), expected, rtol=1e-6, atol=1e-8)
        assert rows.log_truth[i] == pytest.approx(expected[y[row]], rel=1e-6, abs=1e-8)


def test_interactions_read_again_are_those_of_the_model():
    X = pd.DataFrame(RNG.normal(size=(400, 2)), columns=["u", "v"])
    y = (X["u"] > 0) ^ (X["v"] > 0)
    evidence = Evidence(NaiveBayes().fit(X, y))
    assert evidence.model.interactions is not None
    assert METRICS["accuracy"].of(evidence.after).value > 0.9
    assert METRICS["accuracy"].of(evidence.before).value < 0.7


def test_the_skill_of_tallies_is_counted_row_by_row():
    tally = RNG.integers(4, size=(3, 9)).astype(float)
    of_class = tally.sum(axis=1)
    errors = 0
    for k in range(3):
        for c in range(9):
            for _ in range(int(tally[k, c])):
                left = tally[:, c].copy()
                left[k] -= 1
                if left.sum() == 0:
                    errors += k != of_class.argmax()
                else:
                    errors += not (left[k] > np.delete(left, k).max())
    assert skill_of_tallies(tally) == pytest.approx(1 - errors / (tally.sum() - of_class.max()))
