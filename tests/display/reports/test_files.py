"""A report on files says what one on their rows in memory says."""

import numpy as np
import pandas
import pytest
from sklearn.model_selection import PredefinedSplit

from naively import GaussianNB, MultinomialNB, NaiveBayes, NaivelyError, evaluate, report
from naively.evaluation import files as judging
from tests.evaluation.test_files import counts_table, folds_of, mixed_table, numbers_table, written

SHOWN = ("data", "classes", "first_rows", "mistakes", "sample", "curves", "counted", "drawn")


@pytest.mark.parametrize(
    ("model", "table"),
    [(GaussianNB(), numbers_table), (NaiveBayes(calibration=None), mixed_table)],
    ids=["numbers", "mixed"],
)
def test_a_report_on_files_is_the_one_of_their_rows(tmp_path, model, table):
    X, y = table()
    folds = PredefinedSplit(folds_of(X, 10))
    found = report(model, written(X, y, tmp_path, "csv"), "kind", compare=False).data
    expected = report(model, X, y, folds=folds, compare=False).data
    assert found["title"] == "Predicting kind"
    assert found["evaluation"].pop("method") == "10 folds by content"
    assert expected["evaluation"].pop("method") == "10 folds"
    for name in (*SHOWN, "evaluation", "model"):
        assert_close(found[name], expected[name], name)
    for mine, its in zip(found["columns"], expected["columns"], strict=True):
        for name in mine.keys() - {"importance", "importance_error", "terms"}:
            assert_close(mine[name], its[name], name)


@pytest.mark.parametrize("function", [report, evaluate])
def test_the_column_of_labels_is_given_by_name_or_by_place(tmp_path, function):
    path = written(*numbers_table(), tmp_path, "csv")
    options = {"compare": False} if function is report else {"folds": 10}
    expected = str(function(GaussianNB(), path, "kind", **options))
    assert str(function(GaussianNB(), path, target="kind", **options)) == expected
    for labels in ("kind", numbers_table()[1]):
        with pytest.raises(NaivelyError, match="as y or as target, not as both"):
            function(GaussianNB(), path, labels, target="kind", **options)


def assert_close(found, expected, path):
    if isinstance(found, dict):
        assert found.keys() == expected.keys(), path
        for name in found:
            assert_close(found[name], expected[name], f"{path} {name}")
    elif isinstance(found, list):
        assert len(found) == len(expected), path
        for i, (mine, its) in enumerate(zip(found, expected, strict=True)):
            assert_close(mine, its, f"{path} {i}")
    else:
        number = isinstance(expected, float)
        assert found == (pytest.approx(expected, rel=1e-9, abs=1e-12) if number else expected), path


def test_more_rows_than_are_kept_leave_counts_exact(tmp_path, monkeypatch):
    X, y = mixed_table(2500)
    path, model = written(X, y, tmp_path), NaiveBayes(calibration=None)
    expected = report(model, path, "kind").data
    monkeypatch.setattr(judging, "KEPT", 500)
    page = report(model, path, "kind")
    found = page.data
    assert found["drawn"] == found["counted"] == 500
    for name in ("data", "classes", "first_rows"):
        assert found[name] == expected[name], name
    for mine, its in zip(found["columns"], expected["columns"], strict=True):
        if mine["name"] != "mail":  # what is missing of text is read off the sample
            assert mine["missing"] == its["missing"]
        for name in {"least", "most", "average", "counts", "categories", "others", "mean"} & {
            *mine
        }:
            assert mine[name] == its[name], (mine["name"], name)
        if "histogram" in mine:
            assert mine["histogram"]["edges"] == its["histogram"]["edges"]
    assert found["evaluation"]["confusion"] == expected["evaluation"]["confusion"]
    for mine, its in zip(found["curves"], expected["curves"], strict=True):
        assert mine["roc_auc"]["value"] == pytest.approx(its["roc_auc"]["value"], abs=1e-3)
    for mistake in found["mistakes"]:  # its number is that of the file
        row = X.iloc[mistake["row"]]
        at = [c["name"] for c in found["columns"]].index("visits")
        assert mistake["values"][at] == row["visits"]
        assert found["classes"][mistake["true"]]["label"] == y.iloc[mistake["row"]]
    assert any("use 500 rows drawn at random" in note for note in found["notes"])
    assert page.html.startswith("<!DOCTYPE html>")
    hidden = report(model, path, "kind", show_rows=False, compare=False).data
    assert hidden["mistakes"] is hidden["first_rows"] is hidden["sample"] is None


@pytest.mark.parametrize("table", [numbers_table, mixed_table], ids=["numbers", "mixed"])
def test_a_report_on_files_without_a_model_is_of_naive_bayes(tmp_path, table):
    path = written(*table(200), tmp_path, "csv")
    options = {"target": "kind", "compare": False, "folds": 3}
    found = report(data=path, **options).data
    assert found["model"]["name"] == "NaiveBayes"
    assert found == report(NaiveBayes(), path, **options).data


def test_options_of_files_are_named(tmp_path):
    X, y = mixed_table(200)
    path = written(X, y, tmp_path, "csv")
    found = report(data=path, target="kind", compare=False, folds=3, exclude=["mail"], n_jobs=1)
    assert found.data["data"]["columns"] == 4


def test_models_and_labels_that_a_page_cannot_show_are_named(tmp_path):
    X, y = counts_table(200)
    path = written(X, y, tmp_path)
    with pytest.raises(NaivelyError, match="Give the texts themselves to NaiveBayes"):
        report(MultinomialNB(), path, "kind")
    with pytest.raises(NaivelyError, match="got a fitted one"):
        report(GaussianNB().fit(X, y), path, "kind")
    many = written(X, pandas.Series(np.arange(200), name="kind"), tmp_path, "csv")
    with pytest.raises(NaivelyError, match="2 to 100 classes"):
        report(GaussianNB(), many, "kind")
    with pytest.raises(NaivelyError, match="only files take the option 'columns'"):
        report(GaussianNB(), X, y, columns=["w1"])
    with pytest.raises(NaivelyError, match="no column 'kin'"):
        report(GaussianNB(), path, "kin")
