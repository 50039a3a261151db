"""``naively explain``: rows of files, in the terminal, as JSON and as a page."""

import json

import numpy as np
import pandas as pd
import pytest

from naively import CategoricalNB, GaussianNB, NaiveBayes, load
from tests.commands import fails, run_well
from tests.inspection.explanations.cases import mixed, numbers


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A folder with a model of numbers, categories and text, and the rows that it was fitted on."""
    X, y = mixed(texts=True)
    monkeypatch.chdir(tmp_path)
    X.assign(answer=y).to_csv("people.csv", index=False)
    X.assign(answer=y).to_parquet("people.parquet")
    NaiveBayes(families={"note": "text"}).fit(X, y).save("m.safetensors")
    return X


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_a_row_of_a_file_is_explained_as_in_memory(people, name):
    done = run_well("explain", "m.safetensors", name, "--row", 3, "--row", 399, "--json")
    found = json.loads(done.stdout)
    expected = load("m.safetensors").explain(people.iloc[[3, 399]])
    assert [one["row"] for one in found["rows"]] == [3, 399]
    for i, one in enumerate(found["rows"]):
        np.testing.assert_allclose(one["joint"], expected.joint[i], atol=1e-9)
        assert [term["term"] for term in one["terms"]] == list(expected.names)
        assert [term["value"] for term in one["terms"]] == expected.cells(i)
        assert "change" not in one


def test_one_row_shows_its_terms_and_several_a_line_each(people):
    one = run_well("explain", "m.safetensors", "people.csv", "--row", 5).stdout
    assert one.startswith("row 5: ")
    for word in ("note", "income", "prior", "bias", "sum", "log-odds"):
        assert word in one
    many = run_well("explain", "m.safetensors", "people.csv").stdout
    assert many.startswith("NaiveBayes: 10 rows, ")
    assert "strongest terms" in many


def test_the_change_that_changes_the_answer_is_confirmed(people):
    model = load("m.safetensors")
    done = run_well("explain", "m.safetensors", "people.csv", "--json", "--change")
    for i, one in enumerate(json.loads(done.stdout)["rows"]):
        expected = model.counterfactual(people.iloc[[i]])
        assert one["change"]["becomes"] == expected.becomes
        if expected:
            assert model.predict_one(one["change"]["row"]) == expected.becomes
    shown = run_well("explain", "m.safetensors", "people.csv", "--change").stdout
    assert shown.count("becomes") + shown.count("no change of one cell") == 10


def test_a_page_needs_nothing_else(people, tmp_path):
    options = ("--row", 1, "--change", "-o", "why.html")
    done = run_well("explain", "m.safetensors", "people.csv", *options)
    assert done.stdout == "why.html: 1 row explained\n"
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert "row 1: " in page
    assert "income" in page
    for own in ("http-equiv", "http://www.w3.org/2000/svg"):  # what may run, and the icon
        page = page.replace(own, "")
    assert "http" not in page


def test_short_files_are_explained_whole(people):
    people.head(3).to_csv("few.csv", index=False)
    done = run_well("explain", "m.safetensors", "few.csv", "--json")
    assert len(json.loads(done.stdout)["rows"]) == 3


@pytest.mark.parametrize("kind", [GaussianNB, NaiveBayes])
def test_a_model_without_names_takes_columns_in_order(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    X, y = numbers()
    kind().fit(X, y).save("m.safetensors")
    pd.DataFrame(X, columns=list("vwxyz")).to_csv("n.csv", index=False)
    done = run_well("explain", "m.safetensors", "n.csv", "--row", 7, "--json")
    (one,) = json.loads(done.stdout)["rows"]
    np.testing.assert_allclose(one["joint"], kind().fit(X, y).explain(X[[7]]).joint[0], atol=1e-9)


def test_bad_requests_are_errors_of_one_line(people):
    explain = "explain", "m.safetensors", "people.csv"
    assert "rows must be from 0 to 399 in 'people.csv'; got 400" in fails(*explain, "--row", 400)
    assert "rows must be from 0 to 399 in 'people.csv'; got -1" in fails(*explain, "--row", -1)
    people.drop(columns="town").to_csv("less.csv", index=False)
    assert "no column 'town'" in fails("explain", "m.safetensors", "less.csv")
    assert "must be another file" in fails(*explain, "-o", "people.csv")
    CategoricalNB().fit([[0], [1]], [0, 1]).save("codes.safetensors")
    message = fails("explain", "codes.safetensors", "people.csv")
    assert "got CategoricalNB. Read the rows into memory" in message
