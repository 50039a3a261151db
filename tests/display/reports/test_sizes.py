"""Reports on tables of any size and shape: what is left out is said, and the numbers hold."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from naively import GaussianNB, NaiveBayes, summarize
from naively.data.schema import Schema
from naively.display.report.columns import visible
from tests import report_tables
from tests.browser import same


def quick(*args, **options):
    return report_tables.quick(*args, **{"folds": 2, **options})


def rows_and_labels(n_rows=300, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng, rng.choice([f"class {k}" for k in range(n_classes)], n_rows)


@cache
def many_columns(n_columns=200, n_classes=2):
    rng, y = rows_and_labels(n_classes=n_classes)
    shift = rng.normal(size=(n_classes, n_columns)) * np.linspace(0.4, 0, n_columns)
    table = rng.normal(size=(y.size, n_columns)) + shift[np.unique(y, return_inverse=True)[1]]
    frame = pd.DataFrame(table, columns=[f"x{j}" for j in range(n_columns)])
    frame["group"] = rng.choice(["a", "b", "c"], y.size)
    return frame, y


@cache
def many_categories(n_rows=4000):
    rng, y = rows_and_labels(n_rows)
    frame = pd.DataFrame({"word": [f"word {i}" for i in rng.integers(0, 2000, n_rows)]})
    frame["x"] = rng.normal(size=n_rows) + (y == "class 1")
    return frame, y


@cache
def odd_columns(n_rows=300):
    """Constants, a column without a cell, and names that are markup, quotes and no name."""
    rng, y = rows_and_labels(n_rows)
    frame = pd.DataFrame({"x": rng.normal(size=n_rows) + (y == "class 1")})
    frame["zero"] = 0.0
    frame["minus"] = -3.5
    frame["tiny"] = 1e-300
    frame["same text"] = "same"
    frame["empty"] = np.nan
    frame['"><b>&amp;\\n'] = rng.normal(size=n_rows)
    frame["ключ 🔑"] = rng.choice(["</script>", "", " ", "{{data}}"], n_rows)
    frame[""] = rng.integers(0, 3, n_rows)
    return frame, y


TABLES = {
    "200 columns": many_columns,
    "2,000 categories": many_categories,
    "odd columns": odd_columns,
    "30 classes": lambda: many_columns(n_columns=20, n_classes=30),
}
MODELS = {"calibrated": NaiveBayes(), "textbook": NaiveBayes(calibration=None)}


@cache
def fitted(table, model):
    return NaiveBayes(**MODELS[model].get_params()).fit(*TABLES[table]())


def explored(seen, page, number):
    """Send a mistake to the explorer; return its row."""
    row = page.data["mistakes"][number]["row"]
    seen.run(f"document.querySelector('button[aria-label=\"Explore row {row}\"]').click()")
    return row


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("table", TABLES)
def test_a_row_sent_to_the_explorer_has_the_probabilities_of_the_model(look, table, name):
    frame, y = TABLES[table]()
    page, model = quick(MODELS[name], frame, y), fitted(table, name)
    seen = look(page)
    for number in range(min(4, len(page.data["mistakes"]))):
        row = explored(seen, page, number)
        assert same(seen.posterior(), model.predict_proba(frame[row : row + 1])[0])
        total = seen.sums()["Sum"]
        joint = model.predict_joint_log_proba(frame[row : row + 1])[0]
        most = np.sort(np.argsort(-seen.posterior(), kind="stable")[:6])
        assert np.allclose(np.diff(total), np.diff(joint[most]), atol=1e-8)


def test_a_row_of_200_numbers_has_the_probabilities_of_gaussian_nb(look):
    frame, y = many_columns()
    frame = frame.drop(columns="group")
    page = quick(GaussianNB(), frame, y)
    seen = look(page)
    model = GaussianNB().fit(frame, y)
    for number in range(3):
        row = explored(seen, page, number)
        assert same(seen.posterior(), model.predict_proba(frame[row : row + 1])[0])
    assert f"as in row {row}" in seen.find("#sum-table").text


def test_a_row_too_far_away_in_a_column_left_out_takes_it_as_missing(look):
    frame, y = many_columns(n_columns=150)
    frame = frame.drop(columns="group")
    schema = Schema(150, tuple(frame.columns), sample=300)
    model = GaussianNB.from_summary(summarize(frame, y, schema=schema))
    frame.iloc[:100, model.importance_.order[-1]] = 1e200
    page = quick(model, frame[:100], y[:100], folds=None)
    seen = look(page)
    explored(seen, page, 0)
    assert "taken as missing" in seen.find("#left-out").text
    assert np.isfinite(seen.posterior()).all()


def test_the_page_is_of_one_mind_about_its_columns(look):
    page = quick(NaiveBayes(), *many_columns())
    shown = len(page.data["columns"])
    assert shown < 201
    seen = look(page)
    assert "201 columns" in seen.find("#lead").text
    assert f"The {shown} most important of 201" in seen.find("#columns").text
    families = page.data["model"]["families"]
    assert sum(family["columns"] for family in families) == 201
    assert "200 columns" in seen.find("#model").text
    left_out = seen.find("#left-out").text
    assert left_out.startswith(f"{201 - shown} columns of 201 are not in this page")
    assert "taken as missing" in left_out
    row = explored(seen, page, 0)
    assert f"what they add in row {row} is kept" in seen.find("#left-out").text
    seen.run("document.querySelector('#presets button').click()")
    assert "taken as missing" in seen.find("#left-out").text


def test_columns_left_out_are_missing_where_no_row_was_sent(look):
    frame, y = many_columns()
    model = NaiveBayes(interactions=("canonical", "pairs"))  # the quadratic term is too large
    page = quick(model, frame, y)
    seen = look(page)
    explored(seen, page, 0)
    seen.run("document.querySelector('#presets button').click()")
    row = dict.fromkeys(frame.columns)
    row |= {name: seen.value(name) for name in seen.columns() if name != "group"}
    if "group" in seen.columns():
        row["group"] = seen.run(
            "return document.querySelector('[data-column=group] select').selectedOptions[0].text"
        )
    assert same(seen.posterior(), model.fit(frame, y).predict_proba_one(row))


def test_interactions_that_are_too_large_are_named(look):
    page = quick(NaiveBayes(), *many_columns())
    assert page.data["interactions"]["left_out"] == ["quadratic"]
    assert any("no room for some interactions (quadratic)" in note for note in page.data["notes"])
    shown = look(page).find("#glance").text
    assert "Not in this page, since too large: the quadratic term" in shown


def test_shares_are_of_all_categories(look):
    frame, y = many_categories()
    page = quick(NaiveBayes(calibration=None), frame, y)
    column = next(c for c in page.data["columns"] if c["name"] == "word")
    total = np.array(column["counts"]).sum(axis=1) + column["others"]
    assert total.tolist() == [np.sum(y == "class 0"), np.sum(y == "class 1")]
    assert column["n_categories"] > 1500
    seen = look(page)
    shares = seen.run(
        "return [...document.querySelectorAll('[data-column=word] .share')].map(row =>"
        " [row.querySelector('text').textContent, row.querySelector('title').textContent])"
    )
    assert shares[-1][0].endswith(" others")
    assert shares[-1][1].startswith(shares[-1][0] + ": 98.")
    assert all(float(text.split(": ")[1].split("\u202f")[0]) < 1 for _, text in shares[:-1])
    listed = f"{len(column['categories'])} of {column['n_categories']:,} categories are listed."
    assert listed in seen.find("[data-column=word]").text
    cells = seen.find("#columns").text
    assert "word" in cells
    assert "3\u202f%" not in cells


def test_the_most_common_category_of_each_class_is_named():
    rng, y = rows_and_labels(3000, n_classes=30)
    rare = rng.random(3000) < 0.02
    word = np.where(rare, [f"of {label}" for label in y], rng.choice(list("abcdefgh"), 3000))
    rest = rng.integers(0, 900, 3000)
    only = np.array([f"{w} {i}" if w in "abcdefgh" else w for w, i in zip(word, rest, strict=True)])
    data = quick(NaiveBayes(calibration=None), pd.DataFrame({"w": only, "x": rest}), y).data
    column = next(c for c in data["columns"] if c["name"] == "w")
    for k, label in enumerate(np.unique(y)):
        counted = pd.Series(only[y == label]).value_counts()
        most = column["categories"][column["commons"][k]]
        assert counted[most] == counted.max()


@pytest.mark.parametrize("model", [*MODELS.values(), GaussianNB()], ids=[*MODELS, "gaussian"])
def test_a_column_that_tells_nothing_has_no_importance(model):
    rng, y = rows_and_labels(2000, n_classes=3)
    frame = pd.DataFrame({"noise": rng.normal(size=2000)})
    frame["truth"] = (y == "class 1") + 0.1 * rng.normal(size=2000)
    if isinstance(model, NaiveBayes):
        frame["comment"] = [f"text {i}" for i in range(2000)]
    importance = {c["name"]: c["importance"] for c in quick(model, frame, y).data["columns"]}
    assert importance["truth"] > 0.3
    assert importance.get("comment", 0) < 0.01
    assert importance["noise"] < 0.01


def test_a_fitted_model_has_the_importance_of_a_fresh_one():
    for name, model in MODELS.items():
        each = [quick(one, *odd_columns()).data for one in (model, fitted("odd columns", name))]
        fresh, known = ([c["importance"] for c in data["columns"]] for data in each)
        assert fresh == known


def test_importance_is_that_of_the_model_or_of_rows_it_has_not_learned():
    frame, y = odd_columns()
    model = fitted("odd columns", "calibrated")
    found = {c["name"]: c["importance"] for c in quick(model, frame, y).data["columns"]}
    named = zip(frame.columns, model.importance_.increase, strict=True)
    assert found == pytest.approx({visible(str(name)): more for name, more in named}, abs=1e-12)
    plain = NaiveBayes(calibration=None).fit(frame[::2], y[::2])
    found = {c["name"]: c["importance"] for c in quick(plain, frame[1::2], y[1::2]).data["columns"]}
    named = zip(frame.columns, plain.importance(frame[1::2], y[1::2]).increase, strict=True)
    assert found == pytest.approx({visible(str(name)): more for name, more in named}, abs=1e-12)


def test_rows_that_a_model_has_learned_are_taken_out_before_they_judge_it():
    rng, y = rows_and_labels(60)
    table = np.column_stack([rng.normal(size=60) + (y == "class 1"), rng.normal(size=60)])
    found = quick(GaussianNB(), table, y).data["columns"]
    kept = GaussianNB.from_summary(summarize(table, y, schema=Schema(2, sample=100)))
    increase = kept.importance_.increase
    assert [c["importance"] for c in found] == pytest.approx(
        [increase[c["index"]] for c in found], abs=1e-12
    )


@pytest.mark.parametrize("model", [NaiveBayes(), GaussianNB()], ids=["naive", "gaussian"])
def test_constant_and_empty_columns_are_drawn_without_a_complaint(look, model):
    frame, y = odd_columns()
    if isinstance(model, GaussianNB):
        frame = frame.select_dtypes("number")
    page = quick(model, frame, y)
    for column in page.data["columns"]:
        if "slider" in column:
            assert column["slider"]["low"] < column["slider"]["high"]
    for scheme in ("light", "dark"):
        seen = look(page, scheme=scheme)
        seen.show_all()
        assert "NaN" not in seen.run("return document.querySelector('main').innerHTML")
        assert "undefined" not in seen.find("main").text


def test_a_tiny_constant_keeps_its_value(look):
    frame, y = odd_columns()
    seen = look(quick(NaiveBayes(), frame, y))
    seen.show_all()
    seen.run("[...document.querySelectorAll('#presets button')][1].click()")
    assert seen.value("tiny") == pytest.approx(1e-300, rel=0.01)
