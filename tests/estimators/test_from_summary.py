"""An estimator that cannot read a summary says so, and names the column and what reads it."""

import numpy as np
import pandas as pd
import pytest

from naively import CategoricalNB, GaussianNB, NaiveBayes, Summary, summarize
from naively.errors import NaivelyError

FRAME = pd.DataFrame({"age": [30.0, 40.0, 50.0, 60.0], "town": ["Ulm", "Bonn", "Ulm", "Bonn"]})
LABELS = ["no", "yes", "no", "yes"]


def seen(columns, **params):
    return NaiveBayes(calibration=None, **params).fit(FRAME[columns], LABELS).summary_


MIXED, TEXT, NUMBERS = seen(["age", "town"]), seen(["town"]), seen(["age"])
HALVES = FRAME.assign(age=[0.5, 1.0, 0.5, 1.0])
ODD = (
    NaiveBayes(calibration=None, families={"age": "categorical"})
    .fit(HALVES[["age"]], LABELS)
    .summary_
)

UNREADABLE = {
    "categories for GaussianNB": (GaussianNB, MIXED, "'town'"),
    "numbers for CategoricalNB": (CategoricalNB, MIXED, "'age'"),
    "only numbers for CategoricalNB": (CategoricalNB, NUMBERS, "'age'"),
    "text for CategoricalNB": (CategoricalNB, TEXT, "'town'.*'Bonn', 'Ulm'"),
    "numbers that are no codes for CategoricalNB": (CategoricalNB, ODD, "'age'"),
}


@pytest.mark.parametrize(("kind", "summary", "column"), UNREADABLE.values(), ids=UNREADABLE)
def test_an_estimator_says_which_column_of_a_summary_it_cannot_read(kind, summary, column):
    with pytest.raises(NaivelyError, match=f"{column}.*Use NaiveBayes"):
        kind.from_summary(summary)


@pytest.mark.parametrize(("kind", "summary", "column"), UNREADABLE.values(), ids=UNREADABLE)
def test_an_update_that_cannot_be_read_changes_nothing(kind, summary, column):
    model = kind()
    with pytest.raises(NaivelyError, match=f"{column}.*Use NaiveBayes"):
        model.update(summary)
    assert not hasattr(model, "summary_")


def test_codes_that_were_measured_elsewhere_are_read():
    X, y = np.array([[0, 2], [1, 0], [1, 2]]), ["a", "b", "b"]
    families = {0: "categorical", 1: "categorical"}
    summary = NaiveBayes(calibration=None, families=families).fit(X, y).summary_
    assert CategoricalNB.from_summary(summary).predict_proba(X).tolist() == (
        CategoricalNB().fit(X, y).predict_proba(X).tolist()
    )


@pytest.mark.parametrize("kind", [GaussianNB, NaiveBayes])
def test_an_update_without_the_sample_that_calibration_needs_changes_nothing(kind):
    model = kind(calibration="weights")
    with pytest.raises(NaivelyError, match=r"needs a sample of rows.*calibration=None"):
        model.update(summarize([[1.0], [2.0]], ["a", "b"]))
    assert not hasattr(model, "summary_")


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("categorical", "'categorical' reads categories, and the summary holds numbers.*'age'"),
        ("histogram", "'histogram' of column 'age' reads a histogram, and the summary holds none"),
    ],
)
def test_a_family_says_what_a_summary_lacks(family, message):
    with pytest.raises(NaivelyError, match=message):
        NaiveBayes.from_summary(NUMBERS, families={"age": family}, calibration=None)
    with pytest.raises(NaivelyError, match=r"'gaussian' reads numbers.*'town'"):
        NaiveBayes.from_summary(TEXT, families={"town": "gaussian"}, calibration=None)


@pytest.mark.parametrize("family", ["gaussian", "poisson", "categorical"])
def test_a_family_of_a_column_without_a_cell_adds_nothing(family):
    rows = [[1.0, None], [2.0, None], [4.0, None]]
    seen = summarize(rows, ["a", "b", "a"])
    assert seen.schema.undecided == (1,)
    plain = NaiveBayes.from_summary(seen, calibration=None).predict_proba(rows)
    model = NaiveBayes.from_summary(seen, families={1: family}, calibration=None)
    np.testing.assert_array_equal(model.predict_proba(rows), plain)
    kind = "category" if family == "categorical" else "number"
    assert model.summary_.schema.held[1] == kind
    model.partial_fit([[1.0, 3]], ["a"])  # a number, which the family may take for a category
    assert model.families_[1][0].name == family


def test_families_of_a_column_are_different():
    with pytest.raises(NaivelyError, match="the families of column 0 must be different"):
        NaiveBayes(families={0: ("gaussian", "gaussian")}).fit([[1.0], [2.0]], ["a", "b"])


@pytest.mark.parametrize("families", [None, "best", {"age": "histogram"}])
@pytest.mark.parametrize("calibration", [None, "temperature"])
def test_a_summary_without_rows_gives_no_model_and_says_why(families, calibration):
    model = NaiveBayes(families=families, calibration=calibration)
    nothing = Summary.zero(model.fit(FRAME[["age"]], LABELS).summary_.schema, np.array(["a", "b"]))
    with pytest.raises(NaivelyError, match="at least one row must have a weight above zero"):
        NaiveBayes.from_summary(nothing, families=families, calibration=calibration)
