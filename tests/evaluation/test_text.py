"""Folds of text, by sums of summaries and by fitting anew."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from naively import NaiveBayes, Text
from naively.evaluation.answers import Truth
from naively.evaluation.folds import by_refitting, by_summaries, fold_of_each_row

RNG = np.random.default_rng(1)
N = 300
Y = RNG.choice(["a", "b"], N)
WORDS = [f"w{i}" for i in range(80)]
NOTES = [" ".join(RNG.choice(WORDS[(k == "a") * 20 :], RNG.integers(3, 9))) for k in Y]
X = pd.DataFrame({"note": NOTES, "town": RNG.choice(["Ulm", "Bonn"], N)})


@pytest.mark.parametrize("calibration", ["weights", "temperature", None])
@pytest.mark.parametrize("hashed", [None, 256])
def test_a_fold_is_judged_as_if_the_others_were_fitted(calibration, hashed):
    model = NaiveBayes(calibration=calibration, families={"note": Text(hashed=hashed)})
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    truth = Truth.of(X, Y)
    quick = by_summaries(model, X, truth, fold_of_each_row(splits, N))
    slow = by_refitting(model, X, truth, splits)
    np.testing.assert_allclose(
        quick.answers.probabilities, slow.answers.probabilities, rtol=1e-7, atol=1e-9
    )
