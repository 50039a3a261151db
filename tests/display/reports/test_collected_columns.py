"""The dict of a report on columns of any kind."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from naively import GaussianNB, NaiveBayes
from naively.display.report import report
from naively.families import Family, StudentT
from tests.report_tables import (
    CUSTOMERS,
    FRAME,
    MIXED,
    SPECIES,
    X,
    Y,
    quick,
)


def test_columns_of_any_kind_are_in_the_dict():
    data = quick(NaiveBayes(), MIXED, CUSTOMERS).data
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["data"] == {
        "rows": 400,
        "columns": 7,
        "classes": 3,
        "missing": int(MIXED.isna().sum().sum()),
    }
    town = next(c for c in data["columns"] if c["name"] == "town")
    assert sorted(town["categories"]) == ["Berlin", "Bonn", "Köln", "Ulm"]
    assert town["missing"] == MIXED["town"].isna().sum()
    for k, label in enumerate(np.unique(CUSTOMERS)):
        counted = MIXED["town"][label == CUSTOMERS].value_counts()
        assert town["counts"][k] == [counted[name] for name in town["categories"]]
    age = next(c for c in data["columns"] if c["name"] == "age")
    assert [term["family"] for term in age["terms"]] == ["student_t", "histogram"]
    assert age["average"] == pytest.approx(MIXED["age"].mean(), rel=1e-14)


def test_the_weights_are_those_of_the_model():
    model = NaiveBayes().fit(MIXED, CUSTOMERS)
    for column in quick(model, MIXED, CUSTOMERS).data["columns"]:
        weights = [term["weight"] for term in column["terms"]]
        np.testing.assert_array_equal(weights, model.weights_[column["name"]])


def test_the_columns_that_say_most_come_first():
    frame = MIXED.assign(noise=np.random.default_rng(1).normal(size=400), truth=CUSTOMERS)
    columns = quick(NaiveBayes(calibration=None), frame, CUSTOMERS).data["columns"]
    say = [column["importance"] for column in columns]
    assert say == sorted(say, reverse=True)
    assert columns[0]["name"] == "truth"
    assert say[0] > 0.4
    noise = next(column for column in columns if column["name"] == "noise")
    assert abs(noise["importance"]) < 0.01


def test_a_histogram_is_drawn_as_a_density():
    for column in quick(NaiveBayes(), MIXED, CUSTOMERS).data["columns"]:
        for term in column["terms"]:
            if term["family"] == "histogram" and "form" in term:
                low, high = column["histogram"]["edges"]
                share = np.sum(term["steps"], axis=1) * (high - low) / len(term["steps"][0])
                np.testing.assert_allclose(share, 1, atol=0.01)  # heights have three digits


def test_a_category_of_a_mistake_is_named_however_rare():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"n{i:03}" for i in range(300)], "x": rng.normal(size=300)})
    frame["common"] = np.where(np.arange(300) % 3 == 0, "rare", "often")
    data = quick(NaiveBayes(), frame, rng.choice(["a", "b"], 300)).data
    column = next(c for c in data["columns"] if c["name"] == "id")
    at = data["columns"].index(column)
    assert column["n_categories"] == 300
    assert 40 <= len(column["categories"]) <= 50
    for mistake in data["mistakes"]:
        assert column["categories"][mistake["values"][at]] == f"n{mistake['row']:03}"
    assert any("id has 300" in note for note in data["notes"])


def test_a_category_that_the_model_never_met_is_something_else():
    model = NaiveBayes().fit(MIXED[:300], CUSTOMERS[:300])
    later = MIXED[300:].assign(town="Rome")
    data = quick(model, later, CUSTOMERS[300:], folds=None).data
    town = [c["name"] for c in data["columns"]].index("town")
    others = len(data["columns"][town]["categories"])
    assert {mistake["values"][town] for mistake in data["mistakes"]} == {others}


class OwnFamily(StudentT):
    """A family that the page has no formula of."""

    name = "own"

    def form(self, parameters, weight):
        return Family.form(self, parameters, weight)


def test_a_family_of_ones_own_is_read_off_a_table_and_the_page_says_so(look):
    model = NaiveBayes(families={"age": OwnFamily()}).fit(MIXED, CUSTOMERS)
    page = quick(model, MIXED, CUSTOMERS)
    age = next(c for c in page.data["columns"] if c["name"] == "age")
    assert [term["form"] for term in age["terms"]] == ["pieces"]
    assert any("does not know the formula of own" in note for note in page.data["notes"])
    seen = look(page)
    seen.show_all()
    row = {**dict.fromkeys(MIXED.columns), "age": 51.3}
    seen.fill(row)
    expected = model.predict_proba_one(row)
    assert np.allclose(seen.posterior(), expected, atol=1e-3)  # of 257 points


def test_a_comparison_needs_numbers():
    skipped = report(NaiveBayes(), MIXED, CUSTOMERS).data["comparison"]["skipped"]
    assert "takes numbers alone" in skipped
    names = report(NaiveBayes(), X, Y).data["comparison"]["names"]
    assert names == ["NaiveBayes", "GaussianNB"]


def test_the_evaluation_of_a_model_that_rejects_names_classes():
    model = NaiveBayes(reject=(0.99, "unknown"))
    data = quick(model, MIXED, CUSTOMERS).data
    assert data["evaluation"]["classes"] == ["buys", "leaves", "looks"]
    assert data["model"]["reject"] == [0.99, "unknown"]
    assert any("answers 'unknown'" in note for note in data["notes"])


@pytest.mark.parametrize("table", [pl.DataFrame, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_any_frame_of_mixed_columns_is_reported(table):
    expected = quick(NaiveBayes(), MIXED, CUSTOMERS).data["columns"]
    found = quick(NaiveBayes(), table(MIXED), CUSTOMERS).data["columns"]
    assert [c["name"] for c in found] == [c["name"] for c in expected]
    assert [c.get("counts") for c in found] == [c.get("counts") for c in expected]


@pytest.mark.parametrize(
    ("table", "y"), [(MIXED, CUSTOMERS), (FRAME, SPECIES)], ids=["mixed", "iris"]
)
def test_a_model_that_is_left_out_is_naive_bayes(table, y):
    expected = quick(NaiveBayes(), table, y)
    assert quick(data=table, y=y).data == expected.data
    assert quick(data=table.assign(kind=y), target="kind").data == {
        **expected.data,
        "title": "Predicting kind",
    }


@pytest.mark.parametrize("value", [2.0**52, 1.7e18, -1e16, 1e308])
def test_a_column_of_one_large_number_is_reported(value):
    data = quick(GaussianNB(), np.column_stack([X[:, 0], np.full(150, value)]), Y).data
    assert np.sum(data["columns"][1]["histogram"]["counts"]) == 150
