"""Explanations as people use them: rows, odds, frames, tables, pages and plots."""

import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError
from naively.display.pages import page
from naively.plots import WaterfallDisplay
from tests.inspection.explanations.cases import case_of, mixed, numbers

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def shop():
    X, y = mixed(texts=True)
    return NaiveBayes(families={"note": "text"}).fit(X, y), X


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


@pytest.mark.parametrize("name", ["lists", "pandas", "polars", "pyarrow", "dask", "float32"])
def test_rows_may_come_in_any_library(name):
    dd = pytest.importorskip("dask.dataframe") if name == "dask" else None
    X, y = numbers()
    columns = [f"x{j}" for j in range(5)]
    frame = pd.DataFrame(X, columns=columns)
    given = {
        "lists": X.tolist,
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "pyarrow": lambda: pa.Table.from_pandas(frame),
        "dask": lambda: dd.from_pandas(frame, npartitions=3),
        "float32": lambda: X.astype(np.float32),
    }[name]()
    known = X if name in ("lists", "float32") else frame
    for model in (GaussianNB().fit(known, y), NaiveBayes().fit(known, y)):
        expected, found = model.explain(known), model.explain(given)
        near = 1e-4 if name == "float32" else 1e-9
        np.testing.assert_allclose(found.values, expected.values, atol=near, rtol=near)
        library = name if name in ("pandas", "polars", "pyarrow") else "pandas"
        frame_of_it = found[:2].to_frame()
        assert type(frame_of_it).__module__.split(".")[0] == library


def test_columns_may_stand_in_another_order(shop):
    model, X = shop
    turned = model.explain(X[X.columns[::-1]])
    np.testing.assert_array_equal(turned.values, model.explain(X).values)
    assert turned.cells(1) == model.explain(X).cells(1)


def test_one_row_or_some_are_explained_as_among_all(shop):
    model, X = shop
    every = model.explain(X)
    one, some = every[7], every[[7, 3]]
    assert len(one) == 1
    assert one.rows.tolist() == [7]
    assert some.rows.tolist() == [7, 3]
    np.testing.assert_array_equal(one.values[0], every.values[7])
    np.testing.assert_array_equal(every[-1].values, every[len(X) - 1].values)
    assert one.cells(0) == every.cells(7)
    assert one.words(0).keys() == every.words(7).keys() == set(X["note"][7].split())
    with pytest.raises(NaivelyError, match="row must be below 400, the number of rows; got 400"):
        every[400]


def test_log_odds_are_those_of_the_probabilities():
    X, y = numbers()
    model = GaussianNB().fit(X, y)
    found, p = model.explain(X), np.log(model.predict_proba(X))
    best = np.argsort(-p, axis=1)
    odds = found.log_odds()
    every = np.arange(len(X))
    np.testing.assert_array_equal(odds.of, best[:, 0])
    np.testing.assert_array_equal(odds.against, best[:, 1])
    expected = p[every, best[:, 0]] - p[every, best[:, 1]]
    np.testing.assert_allclose(odds.total, expected, atol=1e-9)
    odds = found.log_odds("c", "a")
    np.testing.assert_allclose(odds.total, p[:, 2] - p[:, 0], atol=1e-9)
    np.testing.assert_allclose(odds.prior + odds.values.sum(axis=1), odds.total, atol=1e-12)
    with pytest.raises(NaivelyError, match="one of 'a', 'b', 'c'; got 'd'"):
        found.log_odds("d")
    with pytest.raises(NaivelyError, match="must be two classes; got 'a' for both in row 0"):
        found.log_odds("a", "a")


def test_a_refused_answer_is_explained_by_the_most_probable_class():
    model, X = case_of("NaiveBayes that may refuse")
    found = model.explain(X)
    row = int(np.argmax(found.predicted == "?"))
    assert found.log_odds().of[row] == found.probabilities[row].argmax()
    assert f"row {row}: '?'; here " in str(found[row])


def test_a_frame_has_a_line_for_each_row_class_and_term(shop):
    model, X = shop
    frame = model.explain(X[:4]).to_frame()
    assert list(frame.columns) == ["row", "class", "term", "value", "contribution"]
    sums = frame.groupby(["row", "class"])["contribution"].sum().unstack()
    np.testing.assert_allclose(sums, model.predict_joint_log_proba(X[:4]), atol=1e-9)
    one = frame[(frame["row"] == 1) & (frame["class"] == "no") & (frame["term"] == "town")]
    assert one["value"].tolist() == [X["town"][1]]


def test_one_row_prints_its_terms_the_strongest_first(shop):
    model, X = shop
    found = model.explain(X)[1]
    lines = str(found).splitlines()
    assert lines[0].startswith("row 1: ")
    assert lines[1].split() == ["value", "for", "yes", "for", "no", "log-odds"]
    names = [line.split("  ")[0] for line in lines[2:] if not line.startswith("  ")]
    assert set(names) == {*found.names, "prior", "bias", "sum"}
    odds = dict(zip(found.names, np.abs(found.log_odds().values[0]), strict=True))
    strength = [odds[name] for name in names[:-3]]
    assert strength == sorted(strength, reverse=True)
    words = [line.split()[0] for line in lines[2:] if line.startswith("  ")]
    assert set(words) <= set(X["note"][1].split())


def test_many_rows_print_a_line_each(shop):
    model, X = shop
    lines = str(model.explain(X)).splitlines()
    assert lines[0] == f"NaiveBayes: 400 rows, {len(model.explain(X[:1]).names)} terms"
    assert len(lines) == 2 + 20 + 1
    assert lines[-1] == "... 380 more"


def test_many_terms_are_summed_up_in_one_line():
    X = np.random.default_rng(0).normal(size=(60, 50))
    found = GaussianNB().fit(X, np.arange(60) % 2).explain(X[:1])
    rest = next(line for line in str(found).splitlines() if "other terms" in line)
    odds = found.log_odds().values[0]
    hidden = odds[np.argsort(-np.abs(odds), kind="stable")[20:]].sum()
    assert rest.startswith("30 other terms")
    assert float(rest.split()[-1]) == pytest.approx(hidden, abs=1e-4)


def test_all_can_be_written_as_json(shop):
    model, X = shop
    found = json.loads(json.dumps(model.explain(X[:2]).to_dict()))
    assert found["classes"] == ["no", "yes"]
    first = found["rows"][0]
    added = np.sum([term["contributions"] for term in first["terms"]], axis=0)
    np.testing.assert_allclose(added + first["prior"] + first["bias"], first["joint"], atol=1e-9)


def test_what_is_impossible_in_both_classes_speaks_for_neither():
    X = np.array([[0, 1], [0, 0], [1, 1], [1, 0], [2, 2]])
    y = ["a", "a", "b", "b", "c"]
    found = CategoricalNB(alpha=0, force_alpha=True).fit(X, y).explain([[0, 2]])
    assert found.log_odds("a", "b").values.tolist() == [[np.inf, 0.0]]
    assert "inf" in str(found)
    found.plot()
    assert found.to_dict()["rows"][0]["joint"] == [None, None, None]


def test_one_class_alone_is_explained_without_odds():
    found = GaussianNB().fit([[1.0], [2.0]], ["a", "a"]).explain([[1.5]])
    assert str(found).splitlines()[0] == "row 0: 'a', the only class"
    assert "<table>" in found._repr_html_()
    with pytest.raises(NaivelyError, match="log-odds need two classes; the model has one"):
        found.plot()


def test_html_escapes_what_the_table_holds():
    X = pd.DataFrame({"<b>": ["<i>", "&", "<i>", "&"] * 5})
    model = NaiveBayes().fit(X, ["<u>", "ok"] * 10)
    for html in (model.explain(X)._repr_html_(), page(model.explain(X[:1]), "<s>")):
        assert not any(tag in html for tag in ("<b>", "<i>", "<u>", "<s>"))
        assert "&lt;b&gt;" in html


def test_the_waterfall_ends_at_the_log_odds(shop):
    model, X = shop
    found = model.explain(X)
    display = found.plot(5)
    last = display.bars_[-1]
    assert last.get_x() + last.get_width() == pytest.approx(found.log_odds().total[5])
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels[0] == "prior"
    assert any(label.startswith("town = ") for label in labels)
    few = WaterfallDisplay.from_estimator(model, X, 5, max_terms=2, of="no", against="yes")
    assert len(few.bars_) == 5
    last = few.bars_[-1]
    expected = found.log_odds("no", "yes").total[5]
    assert last.get_x() + last.get_width() == pytest.approx(expected)


def test_bad_requests_are_errors_that_say_what_to_do(shop):
    model, X = shop
    with pytest.raises(NotFittedError, match="not fitted yet"):
        NaiveBayes().explain(X)
    with pytest.raises(NaivelyError, match="no column 'town', which the model was fitted on"):
        model.explain(X.drop(columns="town"))
    with pytest.raises(ValueError, match="X has 2 features"):
        GaussianNB().fit(*numbers()).explain([[1.0, 2.0]])
    with pytest.raises(NaivelyError, match=r"column of text \('note'\); got 'town'"):
        model.explain(X).words(0, "town")
    with pytest.raises(NaivelyError, match="max_terms must be at least 1; got 0"):
        model.explain(X).plot(max_terms=0)
    with pytest.raises(NaivelyError, match=r"an estimator of naively's; got builtins\.object"):
        WaterfallDisplay.from_estimator(object(), X)
