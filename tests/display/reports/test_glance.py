"""Columns at a glance, the first rows, the diagnosis and the curves of a report."""

import re
from collections import Counter
from importlib.resources import files

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from naively import GaussianNB, NaiveBayes, diagnose, evaluate
from naively.display.report import columns
from tests.report_tables import CUSTOMERS, FRAME, MIXED, SPECIES, X, Y, quick, wide


def column_of(data, name):
    return next(c for c in data["columns"] if c["name"] == name)


def test_each_column_says_its_kind_and_its_distinct_cells():
    data = quick(NaiveBayes(), MIXED.assign(empty=None), CUSTOMERS).data
    kinds = {c["name"]: c["kind"] for c in data["columns"]}
    assert kinds == {
        **dict.fromkeys(("age", "income"), "number"),
        **dict.fromkeys(("visits", "mobile"), "whole number"),
        **dict.fromkeys(("town", "page"), "category"),
        "member": "boolean",
        "empty": "empty",
    }
    for name in MIXED:
        assert column_of(data, name)["distinct"] == MIXED[name].nunique()
    assert column_of(data, "empty")["distinct"] == 0


def test_the_most_frequent_number_is_one_that_occurs_twice():
    data = quick(NaiveBayes(), MIXED, CUSTOMERS).data
    times = MIXED["visits"].value_counts()
    visits = column_of(data, "visits")
    assert visits["frequent"] == times.index[0]
    assert visits["share"] == pytest.approx(times.iloc[0] / 400)
    assert "frequent" not in column_of(data, "income")  # all cells differ


def test_no_number_of_a_row_is_shown_where_rows_are_hidden():
    data = quick(NaiveBayes(), MIXED, CUSTOMERS, show_rows=False).data
    assert data["first_rows"] is None
    assert not any("frequent" in column for column in data["columns"])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_the_first_rows_are_those_of_the_table(make):
    frame = MIXED.assign(words=[f"some text, number {i}, of many words" for i in range(400)])
    data = quick(NaiveBayes(), make(frame), CUSTOMERS).data
    first = data["first_rows"]
    assert first["columns"] == list(range(8))
    assert [data["classes"][k]["label"] for k in first["classes"]] == CUSTOMERS[:5].tolist()
    for name, cells in zip(frame, first["cells"], strict=True):
        for cell, true in zip(cells, frame[name][:5], strict=True):
            if pd.isna(true):
                assert cell is None
            else:
                assert cell == (pytest.approx(true, rel=1e-5) if name in NUMBERS else str(true))


NUMBERS = ("age", "income", "visits", "mobile")


def test_of_very_many_rows_some_are_counted_and_the_page_says_so(look, monkeypatch):
    monkeypatch.setattr(columns, "_MAX_CELLS_COUNTED", 50)
    page = quick(GaussianNB(), FRAME.copy(), SPECIES)
    assert page.data["counted"] == 50
    assert all(c["distinct"] <= 50 for c in page.data["columns"])
    assert "cells are those of 50 rows drawn at random" in look(page).find("#columns").text


def test_the_columns_have_thumbnails_of_all_rows(look):
    seen = look(quick(NaiveBayes(), MIXED, CUSTOMERS))
    drawn = seen.run("return [...document.querySelectorAll('.thumb')].map(e => e.ariaLabel)")
    assert sorted(drawn) == sorted(f"Cells of {name}" for name in MIXED)
    paths = seen.run("return document.querySelectorAll('#columns .thumb path').length")
    assert paths == 3 * MIXED.shape[1]
    cells = seen.find("#columns").text
    assert "whole number" in cells
    assert "Most frequent" in cells
    rows = seen.run("return document.querySelectorAll('#first-rows tbody tr').length")
    assert rows == 5


def test_the_curves_are_those_of_scikit_learn():
    for labels in (SPECIES, Y == 1):
        judged = evaluate(GaussianNB(), X, labels, folds=10)
        for curve in quick(GaussianNB(), X, labels).data["curves"]:
            k = [str(label) for label in judged.classes.tolist()].index(curve["class"])
            true, p = judged.truth == judged.classes[k], judged.probabilities[:, k]
            assert curve["roc_auc"]["value"] == pytest.approx(roc_auc_score(true, p), abs=1e-12)
            precise = average_precision_score(true, p)
            assert curve["average_precision"]["value"] == pytest.approx(precise, abs=1e-12)
            for key in ("roc_auc", "average_precision"):
                assert curve[key]["low"] <= curve[key]["value"] <= curve[key]["high"]
            points = np.array(curve["roc"])
            assert points[0].tolist() == [0, 0]
            assert points[-1].tolist() == [1, 1]
            area = np.trapezoid(points[:, 1], points[:, 0])
            assert area == pytest.approx(curve["roc_auc"]["value"], abs=0.01)


def test_two_classes_have_one_curve_and_very_many_those_of_the_largest(look):
    assert [c["class"] for c in quick(GaussianNB(), X, Y == 1).data["curves"]] == ["True"]
    page = quick(GaussianNB(), *wide(n_columns=40, n_classes=12))
    assert len(page.data["curves"]) == 7
    seen = look(page)
    assert "the 7 largest classes" in seen.find("#evaluation").text


def test_the_diagnosis_is_that_of_the_model(look):
    page = quick(NaiveBayes(), MIXED.assign(copy=MIXED["income"] * 2), CUSTOMERS)
    model = NaiveBayes().fit(MIXED.assign(copy=MIXED["income"] * 2), CUSTOMERS)
    found = diagnose(model)
    shown = page.data["diagnosis"]
    assert shown["n_findings"] == len(found)
    assert {one["kind"] for one in shown["findings"]} == {one.kind for one in found.findings}
    assert shown["findings"][0]["seen"] == found.findings[0].seen
    assert shown["pairs"][0][:2] == ["income", "copy"]
    text = look(page).find("#diagnosis").text
    assert "income · copy" in text
    assert found.findings[0].advice in text


def test_a_model_that_keeps_no_rows_is_diagnosed_by_those_of_the_report():
    shown = quick(GaussianNB(), FRAME, SPECIES).data["diagnosis"]
    assert shown["pairs"][0][2] > 0.5
    assert not any("keeps no sample" in text for text in shown["skipped"])
    unseen = GaussianNB().fit(FRAME[::2], SPECIES[::2])
    shown = quick(unseen, FRAME[1::2], SPECIES[1::2]).data["diagnosis"]
    assert any("keeps no sample" in text for text in shown["skipped"])


def test_no_function_of_the_page_has_the_name_of_another():
    scripts = files("naively.display") / "page"
    texts = [f.read_text("utf-8") for f in scripts.iterdir() if f.name.endswith(".js")]
    plain = (scripts / "no_interactions.js").read_text("utf-8")
    names = [
        n for t in texts if t != plain for n in re.findall(r"(?m)^(?:function|const) (\w+)", t)
    ]
    assert [name for name, n in Counter(names).items() if n > 1] == []
    assert len(names) > 100
