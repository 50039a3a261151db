"""The dict that a report is made of."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from naively import GaussianNB, NaiveBayes
from naively.display.report import report
from naively.evaluation import evaluate
from tests.report_tables import (
    FRAME,
    HOLES,
    NAMES,
    SPECIES,
    X,
    Y,
    quick,
    wide,
)


def test_the_dict_is_json():
    data = report(GaussianNB(), FRAME, SPECIES).data
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_the_dict_holds_the_data_at_a_glance():
    data = quick(GaussianNB(), FRAME, SPECIES).data
    assert data["data"] == {"rows": 150, "columns": 4, "classes": 3, "missing": 0}
    assert [c["label"] for c in data["classes"]] == ["setosa", "versicolor", "virginica"]
    assert [c["rows"] for c in data["classes"]] == [50, 50, 50]
    petal = next(c for c in data["columns"] if c["name"] == "petal length")
    assert (petal["index"], petal["least"], petal["most"], petal["missing"]) == (2, 1.0, 6.9, 0)
    assert petal["average"] == pytest.approx(X[:, 2].mean(), rel=1e-14)
    assert petal["spread"] == pytest.approx(X[:, 2].std(), rel=1e-14)


def test_the_parameters_are_those_of_the_model_to_the_last_bit():
    model = GaussianNB().fit(X, Y)
    for column in quick(GaussianNB(), X, Y).data["columns"]:
        assert column["mean"] == model.theta_[:, column["index"]].tolist()
        assert column["variance"] == model.var_[:, column["index"]].tolist()


def test_the_most_important_columns_come_first():
    columns = quick(GaussianNB(), X, Y).data["columns"]
    importance = [c["importance"] for c in columns]
    assert importance == sorted(importance, reverse=True)
    assert {c["name"] for c in columns[:2]} == {"column 2", "column 3"}


def test_every_cell_is_in_a_histogram():
    for table in (X, HOLES, np.round(X)):
        for column in quick(GaussianNB(), table, Y).data["columns"]:
            cells = table[:, column["index"]]
            counted = np.array(column["histogram"]["counts"]).sum(axis=1)
            present = [np.count_nonzero(~np.isnan(cells[k == Y])) for k in range(3)]
            assert counted.tolist() == present


def test_sliders_hold_every_value():
    for table in (X, np.round(X), X * 1e-9, X * 1e9, X - 5, X + 1e6, X[:, :1] * 0 + 3):
        for column in quick(GaussianNB(), table, Y).data["columns"]:
            slider = column["slider"]
            assert slider["low"] <= column["least"] <= column["most"] <= slider["high"]
            assert slider["low"] < slider["high"]
            assert 0 < slider["step"] <= (slider["high"] - slider["low"])


def test_what_is_never_negative_has_no_negative_slider():
    assert all(c["slider"]["low"] >= 0 for c in quick(GaussianNB(), X, Y).data["columns"])


def test_the_evaluation_is_that_of_evaluate():
    data = quick(GaussianNB(), X, SPECIES).data["evaluation"]
    assert data == evaluate(GaussianNB(), X, SPECIES, folds=10).to_dict()
    assert quick(GaussianNB(), X, SPECIES, folds=5).data["evaluation"]["method"] == "5 folds"


def test_the_comparison_is_with_scikit_learn():
    data = report(GaussianNB(), X, Y).data["comparison"]
    assert data["names"] == ["naively GaussianNB", "sklearn GaussianNB"]
    assert data["agreement"] == 1.0
    assert data["probability_difference"]["max"] < 1e-12
    assert quick(GaussianNB(), X, Y).data["comparison"] is None


def test_missing_cells_leave_no_comparison_and_say_why():
    data = report(GaussianNB(), HOLES, Y).data
    assert data["data"]["missing"] == np.isnan(HOLES).sum()
    assert "takes no missing cells" in data["comparison"]["skipped"]


def test_classes_too_small_to_hold_out_are_judged_as_they_can_be():
    assert (
        quick(GaussianNB(), [[0.0], [1], [2], [3]], [0, 0, 1, 1]).data["evaluation"]["method"]
        == "2 folds"
    )
    alone = report(GaussianNB(), [[0.0], [1], [5]], ["a", "a", "b"]).data
    assert alone["evaluation"]["method"] == "leave-one-out"
    assert alone["comparison"]["skipped"].startswith("No comparison: ")
    sample = quick(GaussianNB(ddof=1), [[0.0], [1], [2], [3]], [0, 0, 1, 1]).data
    assert sample["evaluation"]["method"] == "the training rows"
    assert any("flatter the model" in note for note in sample["notes"])


TABLES = {
    "lists": X.tolist(),
    "float32": X.astype("f4").astype("f8"),
    "pandas": FRAME,
    "polars": pl.DataFrame(FRAME),
    "pyarrow": pa.Table.from_pandas(FRAME),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_any_table_is_reported(table):
    data = report(GaussianNB(), table, SPECIES).data
    assert data["evaluation"]["accuracy"] == pytest.approx(0.953, abs=0.001)
    assert data["comparison"]["agreement"] == 1.0
    named = hasattr(table, "columns") or hasattr(table, "column_names")
    assert {c["name"] for c in data["columns"]} == (
        set(NAMES) if named else {f"column {j}" for j in range(4)}
    )


@pytest.mark.parametrize("labels", [Y, Y == 1, SPECIES, pl.Series(SPECIES), list(SPECIES)])
def test_any_labels_are_reported(labels):
    data = quick(GaussianNB(), X, labels).data
    assert [c["label"] for c in data["classes"]] == [str(c) for c in np.unique(np.asarray(labels))]


def test_the_title_names_the_target():
    assert (
        quick(GaussianNB(), FRAME, pd.Series(SPECIES, name="species")).data["title"]
        == "Predicting species"
    )
    assert quick(GaussianNB(), X, Y).data["title"] == "Naive Bayes report"
    assert quick(GaussianNB(), X, Y, title="Flowers").data["title"] == "Flowers"


def test_a_fitted_model_is_explored_as_it_is():
    half = GaussianNB(priors=[0.5, 0.25, 0.25]).fit(X[::2], Y[::2])
    data = quick(half, X[1::2], Y[1::2], folds=None).data
    assert data["columns"][0]["mean"] == half.theta_[:, data["columns"][0]["index"]].tolist()
    assert [c["prior"] for c in data["classes"]] == [0.5, 0.25, 0.25]
    assert data["evaluation"]["method"] == "the given rows"
    assert data["data"]["rows"] == data["model"]["weight"] == 75


def test_mistakes_are_the_surest_ones():
    mistakes = quick(GaussianNB(), X, Y).data["mistakes"]
    judged = evaluate(GaussianNB(), X, Y, folds=10)
    assert len(mistakes) == (judged.labels != Y).sum() == 7
    sure = [m["probability"] for m in mistakes]
    assert sure == sorted(sure, reverse=True)
    for m in mistakes:
        assert (m["true"], m["predicted"]) == (Y[m["row"]], judged.labels[m["row"]])
        assert sorted(m["values"]) == sorted(X[m["row"]])


def test_a_report_can_do_without_single_rows():
    data = quick(GaussianNB(), X, Y, show_rows=False).data
    assert data["sample"] is None
    assert data["mistakes"] is None


def test_what_is_left_out_is_said():
    data = quick(GaussianNB(), *wide()).data
    assert len(data["columns"]) == 30
    assert len(data["sample"]["classes"]) == 300
    assert any("970 of 1,000 columns were left out" in note for note in data["notes"])


@pytest.mark.parametrize("model", [GaussianNB(), NaiveBayes()], ids=["gaussian", "mixed"])
def test_a_sparse_matrix_is_reported_on_as_a_dense_one(model):
    counts = np.random.default_rng(0).poisson(0.7, (60, 3)).astype(float)
    y = np.arange(60) % 2
    options = {"folds": 3, "compare": False}
    dense = report(model, counts, y, **options)
    assert report(model, csr_array(counts), y, **options).data == dense.data
