"""Folds of text, by sums of summaries and by fitting anew."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from sklearn.model_selection import KFold

from naively import NaiveBayes, compare, evaluate
from naively.evaluation.evaluate import by_refitting, by_summaries
from naively.evaluation.folds import fold_of_each_row
from naively.evaluation.inputs import Truth
from naively.families import Text

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
        quick.rows.probabilities, slow.rows.probabilities, rtol=1e-7, atol=1e-9
    )


VIEWS = pa.array(NOTES, pa.string_view())
COLUMNS = {
    "views": VIEWS,
    "views in chunks": pa.chunked_array([VIEWS[:50], VIEWS[50:]]),
    "dictionary": pa.array(NOTES).dictionary_encode(),
    "runs": pc.run_end_encode(pa.array(NOTES)),
    "table of runs": pa.table({"note": pc.run_end_encode(pa.array(NOTES))}),
    "pandas of views": pd.Series(NOTES, dtype=pd.ArrowDtype(pa.string_view())),
    "pandas frame of views": pd.DataFrame({"note": NOTES}, dtype=pd.ArrowDtype(pa.string_view())),
    "masked": np.ma.array(NOTES, mask=[False] * N),
}


@pytest.mark.parametrize("form", COLUMNS)
def test_text_of_any_form_is_divided_into_training_and_test_rows(form):
    found = evaluate(NaiveBayes(), COLUMNS[form], Y, test_size=0.3, random_state=0)
    assert found.loss == evaluate(NaiveBayes(), NOTES, Y, test_size=0.3, random_state=0).loss
    tables = COLUMNS[form], NOTES
    both = [compare(NaiveBayes(), rows, Y, repeats=1).test_accuracy for rows in tables]
    assert both[0] == both[1]
