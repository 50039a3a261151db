"""The report: the dict it is made of, and the page, looked at by a real browser."""

import json
import stat

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

import naively
from naively import GaussianNB, NaiveBayes, NaivelyError, gaussian_log_density
from naively.evaluation import evaluate
from naively.families import Family, StudentT
from naively.reports import Report, report
from tests.browser import same

X, Y = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
SPECIES = np.array(["setosa", "versicolor", "virginica"])[Y]
FRAME = pd.DataFrame(X, columns=NAMES)
HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)


def mixed(n_rows=400, seed=0):
    """A table of numbers of several shapes, text, booleans and missing cells; and labels."""
    rng = np.random.default_rng(seed)
    y = np.array(["buys", "looks", "leaves"])[np.minimum(rng.integers(0, 4, n_rows), 2)]
    buys, looks = y == "buys", y == "looks"
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n_rows) + 8 * buys,
            "income": np.exp(rng.normal(10, 0.6, n_rows) - 0.5 * looks),
            "town": rng.choice(["Ulm", "Bonn", "Berlin", "Köln"], n_rows),
            "member": rng.random(n_rows) < np.where(buys, 0.8, 0.3),
            "visits": rng.poisson(np.where(buys, 4, np.where(looks, 2, 1))),
            "page": np.where(looks, "home", rng.choice(["home", "shop", "help"], n_rows)),
            "mobile": (rng.random(n_rows) < np.where(looks, 0.7, 0.4)).astype(int),
        }
    )
    for column in ("age", "town", "page"):
        frame[column] = frame[column].mask(rng.random(n_rows) < 0.1)
    return frame, y


MIXED, CUSTOMERS = mixed()


def quick(*args, **kwargs):
    """Make a report without the comparison, which takes most of the time."""
    return report(*args, compare=False, **kwargs)


def wide(n_rows=600, n_columns=1000, n_classes=50):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    table = rng.normal(size=(n_rows, n_columns))
    table[:, :30] += rng.normal(size=(n_classes, 30))[y]
    return table, y


def categories(n_rows=2000, n_columns=60, n_classes=40):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 500, size=(n_rows, n_columns))
    frame = pd.DataFrame({f"c{j}": [f"level {i}" for i in codes[:, j]] for j in range(n_columns)})
    return frame, rng.integers(0, n_classes, n_rows)


def histograms():
    """Report on a hundred columns of 64 bins each and 50 classes."""
    model = NaiveBayes(calibration=None, families=dict.fromkeys(range(100), "histogram"))
    return quick(model, *wide(n_columns=100), folds=None)


# --- the dict -------------------------------------------------------------------------------------


def test_the_dict_is_json():
    data = report(FRAME, SPECIES).data
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_the_dict_holds_the_data_at_a_glance():
    data = quick(FRAME, SPECIES).data
    assert data["data"] == {"rows": 150, "columns": 4, "classes": 3, "missing": 0}
    assert [c["label"] for c in data["classes"]] == ["setosa", "versicolor", "virginica"]
    assert [c["rows"] for c in data["classes"]] == [50, 50, 50]
    petal = next(c for c in data["columns"] if c["name"] == "petal length")
    assert (petal["index"], petal["least"], petal["most"], petal["missing"]) == (2, 1.0, 6.9, 0)
    assert petal["average"] == pytest.approx(X[:, 2].mean(), rel=1e-14)
    assert petal["spread"] == pytest.approx(X[:, 2].std(), rel=1e-14)


def test_the_parameters_are_those_of_the_model_to_the_last_bit():
    model = GaussianNB().fit(X, Y)
    for column in quick(X, Y).data["columns"]:
        assert column["mean"] == model.theta_[:, column["index"]].tolist()
        assert column["variance"] == model.var_[:, column["index"]].tolist()


def test_the_most_important_columns_come_first():
    columns = quick(X, Y).data["columns"]
    importance = [c["importance"] for c in columns]
    assert importance == sorted(importance, reverse=True)
    assert {c["name"] for c in columns[:2]} == {"column 2", "column 3"}


def test_every_cell_is_in_a_histogram():
    for table in (X, HOLES, np.round(X)):
        for column in quick(table, Y).data["columns"]:
            cells = table[:, column["index"]]
            counted = np.array(column["histogram"]["counts"]).sum(axis=1)
            present = [np.count_nonzero(~np.isnan(cells[k == Y])) for k in range(3)]
            assert counted.tolist() == present


def test_sliders_hold_every_value():
    for table in (X, np.round(X), X * 1e-9, X * 1e9, X - 5, X + 1e6, X[:, :1] * 0 + 3):
        for column in quick(table, Y).data["columns"]:
            slider = column["slider"]
            assert slider["low"] <= column["least"] <= column["most"] <= slider["high"]
            assert slider["low"] < slider["high"]
            assert 0 < slider["step"] <= (slider["high"] - slider["low"])


def test_what_is_never_negative_has_no_negative_slider():
    assert all(c["slider"]["low"] >= 0 for c in quick(X, Y).data["columns"])


def test_the_evaluation_is_that_of_evaluate():
    data = quick(X, SPECIES).data["evaluation"]
    assert data == evaluate(X, SPECIES, folds=10).to_dict()
    assert quick(X, SPECIES, folds=5).data["evaluation"]["method"] == "5 folds"


def test_the_comparison_is_with_scikit_learn():
    data = report(X, Y).data["comparison"]
    assert data["names"] == ["naively GaussianNB", "sklearn GaussianNB"]
    assert data["agreement"] == 1.0
    assert data["probability_difference"]["max"] < 1e-12
    assert quick(X, Y).data["comparison"] is None


def test_missing_cells_leave_no_comparison_and_say_why():
    data = report(HOLES, Y).data
    assert data["data"]["missing"] == np.isnan(HOLES).sum()
    assert "takes no missing cells" in data["comparison"]["skipped"]


def test_classes_too_small_to_hold_out_are_judged_as_they_can_be():
    assert quick([[0.0], [1], [2], [3]], [0, 0, 1, 1]).data["evaluation"]["method"] == "2 folds"
    alone = report([[0.0], [1], [5]], ["a", "a", "b"]).data
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
    data = report(table, SPECIES).data
    assert data["evaluation"]["accuracy"] == pytest.approx(0.953, abs=0.001)
    assert data["comparison"]["agreement"] == 1.0
    named = hasattr(table, "columns") or hasattr(table, "column_names")
    assert {c["name"] for c in data["columns"]} == (
        set(NAMES) if named else {f"column {j}" for j in range(4)}
    )


@pytest.mark.parametrize("labels", [Y, Y == 1, SPECIES, pl.Series(SPECIES), list(SPECIES)])
def test_any_labels_are_reported(labels):
    data = quick(X, labels).data
    assert [c["label"] for c in data["classes"]] == [str(c) for c in np.unique(np.asarray(labels))]


def test_the_title_names_the_target():
    assert quick(FRAME, pd.Series(SPECIES, name="species")).data["title"] == "Predicting species"
    assert quick(X, Y).data["title"] == "Naive Bayes report"
    assert quick(X, Y, title="Flowers").data["title"] == "Flowers"


def test_a_fitted_model_is_explored_as_it_is():
    half = GaussianNB(priors=[0.5, 0.25, 0.25]).fit(X[::2], Y[::2])
    data = quick(half, X[1::2], Y[1::2], folds=None).data
    assert data["columns"][0]["mean"] == half.theta_[:, data["columns"][0]["index"]].tolist()
    assert [c["prior"] for c in data["classes"]] == [0.5, 0.25, 0.25]
    assert data["evaluation"]["method"] == "the given rows"
    assert data["data"]["rows"] == data["model"]["weight"] == 75


def test_mistakes_are_the_surest_ones():
    mistakes = quick(X, Y).data["mistakes"]
    judged = evaluate(X, Y, folds=10)
    assert len(mistakes) == (judged.labels != Y).sum() == 7
    sure = [m["probability"] for m in mistakes]
    assert sure == sorted(sure, reverse=True)
    for m in mistakes:
        assert (m["true"], m["predicted"]) == (Y[m["row"]], judged.labels[m["row"]])
        assert sorted(m["values"]) == sorted(X[m["row"]])


def test_a_report_can_do_without_single_rows():
    data = quick(X, Y, show_rows=False).data
    assert data["sample"] is None
    assert data["mistakes"] is None


def test_what_is_left_out_is_said():
    data = quick(*wide()).data
    assert len(data["columns"]) == 30
    assert len(data["sample"]["classes"]) == 300
    assert any("970 of 1,000 columns were left out" in note for note in data["notes"])


# --- any columns ----------------------------------------------------------------------------------


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
    assert say[0] > 0.95
    assert columns[-1]["name"] in ("noise", "town")
    assert say[-1] < 0.1


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


def test_the_model_is_chosen_by_what_the_columns_hold():
    data = quick(MIXED, CUSTOMERS).data
    assert (data["model"]["name"], data["model"]["chosen"]) == ("NaiveBayes", True)
    assert any("NaiveBayes(), since not all columns hold numbers" in n for n in data["notes"])
    data = quick(FRAME, SPECIES).data
    assert (data["model"]["name"], data["model"]["chosen"]) == ("GaussianNB", True)
    assert any("GaussianNB(), since all columns hold numbers" in n for n in data["notes"])
    given = quick(NaiveBayes(), FRAME, SPECIES).data
    assert (given["model"]["name"], given["model"]["chosen"]) == ("NaiveBayes", False)


# --- the file -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "page"),
    [
        (100, lambda: report(FRAME, SPECIES)),
        (300, lambda: quick(*wide())),
        (130, lambda: quick(*load_breast_cancer(return_X_y=True))),
        (130, lambda: quick(NaiveBayes(), MIXED, CUSTOMERS)),
        (300, lambda: quick(NaiveBayes(calibration=None), *categories(), folds=None)),
        (300, histograms),
    ],
    ids=[
        "iris",
        "1,000 columns and 50 classes",
        "breast cancer",
        "mixed",
        "many categories",
        "many histograms",
    ],
)
def test_the_page_is_small(most, page):
    assert len(page().html.encode()) < most * 1000


def test_it_is_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "report.html"
    page = quick(X, Y, path=target)
    assert target.read_text("utf-8") == page.html
    page.save_json(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == page.data
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "report.json"}
    assert stat.S_IMODE(target.stat().st_mode) & 0o400


def test_an_unwritable_path_is_a_clear_error(tmp_path):
    nowhere = tmp_path / "nowhere" / "report.html"
    with pytest.raises(NaivelyError, match=r"cannot write '.*report.html': No such file"):
        quick(X, Y, path=nowhere)
    with pytest.raises(NaivelyError, match="it is not a plain file"):
        quick(X, Y, path=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_value_says_what_it_is():
    page = quick(X, Y)
    assert isinstance(page, Report)
    assert repr(page) == (
        "<Report 'Naive Bayes report': 150 rows, 4 columns, 3 classes, accuracy 0.9533>"
    )
    assert page._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    with pytest.raises(AttributeError):
        page.data = {}


def test_the_name_is_a_function_even_when_it_is_the_package():
    assert naively.report(X, Y, compare=False).data["data"]["rows"] == 150


def test_nothing_in_the_page_points_elsewhere():
    html = report(X, Y).html
    outside = html.replace("http://www.w3.org/2000/svg", "")
    assert "http:" not in outside
    assert "https:" not in outside
    assert "url(" not in outside.replace("url(#", "")
    assert "@import" not in outside


def test_labels_cannot_end_the_data_in_the_page():
    nasty = np.array(["</script><script>alert(1)</script>", "<!--", "{{title}}"])[Y]
    html = quick(X, nasty, title="<b>{{data}}</b>").html
    assert html.count("<script") == 2
    assert "<script>alert" not in html
    assert "<title>&lt;b&gt;{{data}}&lt;/b&gt;</title>" in html


# --- bad input ------------------------------------------------------------------------------------

BAD = {
    "one class": ((X, np.zeros(150, int)), "needs 2 to 100 classes; got 1: 0"),
    "a number for a class": ((np.eye(300), np.arange(300)), "got 300: .* Is the target a number"),
    "text": (
        (GaussianNB(), pd.DataFrame({"a": list("xyz")}), [0, 1, 0]),
        "column 'a' must hold numbers",
    ),
    "infinity": ((np.where(X > 7.6, np.inf, X), Y), "column 0 holds infinity"),
    "a missing label": ((X, [None, *SPECIES[1:]]), r"labels must not be missing; got y\[0\]"),
    "too few labels": ((X, Y[:9]), "inconsistent numbers of samples"),
    "no rows": ((np.empty((0, 2)), []), "0 sample"),
    "no labels": ((X, None), "rows and their labels must be given"),
    "a model and no labels": ((GaussianNB(), X), "rows and their labels must be given"),
    "another classifier": (
        (RandomForestClassifier(), X, Y),
        "explores naively's GaussianNB and NaiveBayes; got",
    ),
    "a class": ((GaussianNB, X, Y), r"must be an instance: GaussianNB\(\)"),
    "a class never learned": ((GaussianNB().fit(X[:100], Y[:100]), X, Y), "got 2 too"),
}


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_a_clear_error(given, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        report(*given, path=tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


# --- the page, in a browser -----------------------------------------------------------------------


def rows_to_try(table, n=12):
    rng = np.random.default_rng(1)
    low, high = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
    rows = low + rng.random((n, table.shape[1])) * (high - low) * 1.2
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[0], rows[1] = np.nan, table[0]
    return rows


MODELS = {
    "defaults": (GaussianNB(), FRAME, Y),
    "shared variance": (GaussianNB(variance="shared"), FRAME, SPECIES),
    "sample variance": (GaussianNB(ddof=1), FRAME, SPECIES),
    "smoothing by column": (GaussianNB(smoothing="column", var_smoothing=0.1), FRAME, Y == 1),
    "given priors": (GaussianNB(priors=[0.1, 0.2, 0.7]), FRAME, SPECIES),
    "a prior of zero": (GaussianNB(priors=[0, 0.5, 0.5]), FRAME, SPECIES),
    "missing cells": (GaussianNB(), pd.DataFrame(HOLES, columns=NAMES), SPECIES),
    "float32": (GaussianNB(), FRAME.astype("f4"), SPECIES),
    "a constant column": (GaussianNB(), FRAME.assign(constant=3.0), SPECIES),
    "an empty column": (GaussianNB(), FRAME.assign(empty=np.nan), SPECIES),
    "a class never seen": (GaussianNB().partial_fit(FRAME, Y, classes=range(4)), FRAME, Y),
    "one column": (GaussianNB(), FRAME[["petal width"]], SPECIES),
    "far from zero": (GaussianNB(), FRAME + 1e6, SPECIES),
}


@pytest.mark.parametrize(("model", "table", "labels"), MODELS.values(), ids=MODELS)
def test_the_explorer_computes_what_python_computes(look, model, table, labels):
    seen = look(quick(model, table, labels))
    names = list(table.columns)
    if not hasattr(model, "summary_"):
        model = GaussianNB(**model.get_params()).fit(table, labels)
    for row in rows_to_try(table.fillna(3.0).to_numpy(dtype=float)):
        seen.type(dict(zip(names, row, strict=True)))
        expected = model.predict_proba(pd.DataFrame([row], columns=names))[0]
        assert same(seen.posterior(), expected)


def rows_of(frame, n=15):
    """Rows to try: those of a frame, with missing cells, cells far away and unseen categories."""
    rng = np.random.default_rng(1)
    rows = frame.sample(n, random_state=0).astype(object).reset_index(drop=True)
    for j, name in enumerate(frame.columns):
        for i in np.flatnonzero(rng.random(n) < 0.3):
            if pd.api.types.is_numeric_dtype(frame[name]) and frame[name].dtype != bool:
                rows.iloc[i, j] = rng.choice([np.nan, 3.25, -1e3, 1e9])
            elif frame[name].isin([True, False, None]).all():
                rows.iloc[i, j] = None  # what is no boolean is an error
            else:
                rows.iloc[i, j] = rng.choice([None, "never met"])
    rows.iloc[0] = None
    return rows


NUMBERS = MIXED[["age", "income", "visits", "mobile"]]
EITHER = {"age": ("gaussian", "histogram"), "visits": "poisson", "mobile": "bernoulli"}
NAIVE = {
    "defaults": (NaiveBayes(), MIXED),
    "the textbook": (NaiveBayes(calibration=None), MIXED),
    "one weight": (NaiveBayes(calibration="temperature"), MIXED),
    "other families": (NaiveBayes(families=EITHER), MIXED),
    "other families of the textbook": (NaiveBayes(families=EITHER, calibration=None), MIXED),
    "numbers as categories": (NaiveBayes(families={"visits": "categorical"}), MIXED),
    "histograms": (NaiveBayes(families=dict.fromkeys(NUMBERS, "histogram")), NUMBERS),
    "given priors": (NaiveBayes(priors=[0.2, 0.3, 0.5]), MIXED),
    "a prior of zero": (NaiveBayes(priors=[0.5, 0, 0.5], calibration=None), MIXED),
    "categories alone": (NaiveBayes(), MIXED[["town", "member", "page"]]),
    "numbers alone": (NaiveBayes(), NUMBERS),
    "a constant and an empty column": (NaiveBayes(), MIXED.assign(same=3.0, empty=np.nan)),
    "a class never seen": (
        NaiveBayes().partial_fit(MIXED, CUSTOMERS, classes=[*np.unique(CUSTOMERS), "none"]),
        MIXED,
    ),
    "weighed Gaussians": (GaussianNB(calibration="weights"), NUMBERS),
    "a Gaussian's temperature": (GaussianNB(calibration="temperature"), NUMBERS),
}


@pytest.mark.parametrize(("model", "table"), NAIVE.values(), ids=NAIVE)
def test_the_explorer_computes_what_any_model_computes(look, model, table):
    seen = look(quick(model, table, CUSTOMERS))
    seen.show_all()
    if not hasattr(model, "summary_"):
        model = type(model)(**model.get_params()).fit(table, CUSTOMERS)
    for _, row in rows_of(table).iterrows():
        seen.fill(row)
        expected = model.predict_proba_one(row.where(row.notna(), None).tolist())
        assert same(seen.posterior(), expected)


def test_a_category_is_chosen_from_a_list_or_by_its_bar(look):
    from selenium.webdriver.support.select import Select

    seen = look(quick(NaiveBayes(), MIXED, CUSTOMERS))
    seen.show_all()
    model = NaiveBayes().fit(MIXED, CUSTOMERS)
    row = dict.fromkeys(MIXED.columns)
    seen.fill(row)
    town = Select(seen.find('[data-column="town"] select'))
    names = [option.text for option in town.options]
    assert (names[0], sorted(names[1:-1]), names[-1]) == (
        "missing",
        ["Berlin", "Bonn", "Köln", "Ulm"],
        "one never seen",
    )
    for name in names:
        town.select_by_visible_text(name)
        row["town"] = None if name == "missing" else name
        assert same(seen.posterior(), model.predict_proba_one(row))
    bar = seen.find('[data-column="page"] .share:nth-of-type(2)')
    name = bar.find_element("css selector", "text").text
    bar.find_element("css selector", ".share-bar").click()
    assert Select(seen.find('[data-column="page"] select')).first_selected_option.text == name
    assert same(seen.posterior(), model.predict_proba_one({**row, "page": name}))


def test_the_sum_of_weighed_terms_leads_to_the_posterior(look):
    seen = look(quick(NaiveBayes(), MIXED, CUSTOMERS))
    seen.show_all()
    model = NaiveBayes().fit(MIXED, CUSTOMERS)
    row = MIXED.iloc[7]
    seen.fill(row)
    lines = seen.sums()
    assert same(lines["bias"], model.model_.bias)
    said = [line for name, line in lines.items() if name not in ("Sum", "Posterior")]
    assert same(lines["Sum"], np.nansum(said, axis=0))
    joint = model.predict_joint_log_proba(MIXED[7:8])[0]
    assert np.allclose(lines["Sum"], joint, rtol=0, atol=1e-8)  # of ten decimals each
    assert (lines["Posterior"] == seen.posterior()).all()


def test_a_mistake_with_categories_can_be_explored(look):
    page = quick(NaiveBayes(), MIXED, CUSTOMERS)
    seen = look(page)
    button = seen.find('button[aria-label^="Explore row"]')
    seen.run("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    row = page.data["mistakes"][0]["row"]
    model = NaiveBayes().fit(MIXED, CUSTOMERS)
    assert same(seen.posterior(), model.predict_proba(MIXED[row : row + 1])[0])


def test_a_model_with_costs_says_its_answer(look):
    costs = [[0, 1, 1], [9, 0, 9], [1, 1, 0]]
    model = NaiveBayes(costs=costs, reject=(0.5, "unsure"))
    seen = look(quick(model, MIXED, CUSTOMERS))
    seen.show_all()
    model.fit(MIXED, CUSTOMERS)
    answers = set()
    for _, row in rows_of(MIXED, 30).iterrows():
        seen.fill(row)
        answer = model.predict_one(row.where(row.notna(), None).tolist())
        assert seen.find("#answer").text == f"Answer: {answer}"
        answers.add(answer)
    assert len(answers) > 2


@pytest.mark.parametrize("x", [1e160, -1e200, 1e300])
def test_far_points_get_probabilities_of_any_family(look, x):
    model = NaiveBayes(calibration=None).fit(NUMBERS, CUSTOMERS)
    seen = look(quick(model, NUMBERS, CUSTOMERS))
    seen.type(dict.fromkeys(NUMBERS, x))
    assert same(seen.posterior(), model.predict_proba_one([x] * 4))


def test_all_of_a_mixed_page_is_drawn(look):
    seen = look(quick(NaiveBayes(), MIXED, CUSTOMERS, title="Customers"))
    seen.show_all()
    drawn = seen.run(
        "return [...document.querySelectorAll('svg[role=img]')]"
        ".map(e => [e.ariaLabel, e.children.length])"
    )
    names = [name for name, children in drawn if children > 1]
    assert sum(name.startswith("Curves of") for name in names) == 4
    assert sum(name.startswith("Shares of") for name in names) == 3
    assert sum(name.startswith("Decision regions for") for name in names) == 1
    text = seen.find("main").text
    for part in ("student t", "categorical", "a weight for each term", "Families, weights"):
        assert part in text
    assert "NaN" not in text
    assert seen.find(".brand").text == "Naive Bayes"


def test_a_map_needs_two_columns_of_numbers(look):
    seen = look(quick(NaiveBayes(), MIXED[["town", "member", "age"]], CUSTOMERS))
    assert seen.run("return document.querySelectorAll('#map, a[href=\"#map\"]').length") == 0


def test_the_map_of_a_mixed_table_moves_the_explorer(look):
    page = quick(NaiveBayes(), MIXED.drop(columns="mobile"), CUSTOMERS)
    seen = look(page)
    seen.run("document.querySelector('.map-frame').scrollIntoView({block: 'center'})")
    seen.find(".map-frame svg").click()
    numbers = [c for c in page.data["columns"] if "slider" in c][:2]
    for column in numbers:
        low, high = column["slider"]["low"], column["slider"]["high"]
        at = seen.value(column["name"])
        assert low + 0.3 * (high - low) < at < low + 0.7 * (high - low)


def test_a_slider_moves_the_posterior_while_one_drags(look):
    seen = look(quick(FRAME, SPECIES))
    model = GaussianNB().fit(X, SPECIES)
    slider = seen.control("petal length", "range")
    before = seen.posterior()
    with seen.holding(slider) as move:
        for dx in (40, -60):
            move(dx)
            row = [seen.value(name) for name in NAMES]
            assert same(seen.posterior(), model.predict_proba([row])[0])
            assert not same(seen.posterior(), before)
            assert row[2] == slider.get_property("valueAsNumber")
            before = seen.posterior()


def test_the_curves_can_be_dragged_too(look):
    seen = look(quick(FRAME, SPECIES))
    before = seen.value("petal width")
    with seen.holding(seen.find('[data-column="petal width"] .plot')) as move:
        move(60)
    at = seen.value("petal width")
    assert at > before
    assert at == seen.control("petal width", "range").get_property("valueAsNumber")


def test_a_missing_value_has_no_say(look):
    seen = look(quick(FRAME, SPECIES))
    model = GaussianNB().fit(X, SPECIES)
    seen.control("petal length", "checkbox").click()
    row = [seen.value(name) for name in NAMES]
    assert np.isnan(row[2])
    assert same(seen.posterior(), model.predict_proba([row])[0])
    seen.control("petal length", "checkbox").click()
    assert seen.value("petal length") == seen.control("petal length", "range").get_property(
        "valueAsNumber"
    )


def test_the_sum_leads_to_the_posterior(look):
    seen = look(quick(GaussianNB(priors=[0.2, 0.3, 0.5]), FRAME, SPECIES))
    model = GaussianNB().fit(X, SPECIES)
    row = X[77]
    seen.type(dict(zip(NAMES, row, strict=True)))
    lines = seen.sums()
    assert same(lines["log p(class)"], np.log([0.2, 0.3, 0.5]))
    for j, name in enumerate(NAMES):
        assert same(lines[name], gaussian_log_density(row[j], model.theta_[:, j], model.var_[:, j]))
    total = lines["log p(class)"] + sum(lines[name] for name in NAMES)
    assert same(lines["Sum"], total)
    assert same(lines["Posterior"], np.exp(total - np.logaddexp.reduce(total)))
    assert (lines["Posterior"] == seen.posterior()).all()


@pytest.mark.parametrize("x", [1e160, -1e200, 1e300])
def test_far_points_get_probabilities_too(look, x):
    seen = look(quick(FRAME, SPECIES))
    seen.type(dict.fromkeys(NAMES, x))
    assert same(seen.posterior(), GaussianNB().fit(X, Y).predict_proba([[x] * 4])[0])


def test_starting_points_set_every_value(look):
    seen = look(quick(FRAME, SPECIES))
    buttons = seen.browser.find_elements("css selector", "#presets button")
    assert [b.text for b in buttons] == [
        "a close call",
        "the average",
        *np.unique(SPECIES),
        "nothing",
    ]
    assert np.sort(seen.posterior())[-2] > 0.4  # it starts with a close call
    buttons[3].click()
    assert [seen.value(name) for name in NAMES] == pytest.approx(X[50:100].mean(axis=0), abs=0.05)
    buttons[-1].click()
    assert same(seen.posterior(), [1 / 3] * 3)


def test_a_mistake_can_be_explored(look):
    page = quick(FRAME, SPECIES)
    seen = look(page)
    button = seen.find('button[aria-label^="Explore row"]')
    seen.run("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    row = X[page.data["mistakes"][0]["row"]]
    assert [seen.value(name) for name in NAMES] == row.tolist()
    assert same(seen.posterior(), GaussianNB().fit(X, Y).predict_proba([row])[0])


def test_the_map_moves_the_explorer(look):
    seen = look(quick(FRAME, SPECIES))
    seen.run("document.querySelector('.map-frame').scrollIntoView({block: 'center'})")
    seen.find(".map-frame svg").click()
    frame = {c["name"]: c["slider"] for c in quick(FRAME, SPECIES).data["columns"]}
    for name in ("petal length", "petal width"):
        low, high = frame[name]["low"], frame[name]["high"]
        assert low + 0.4 * (high - low) < seen.value(name) < low + 0.6 * (high - low)


def test_many_columns_show_the_columns_by_separation_first_and_more_on_demand(look):
    table, y = wide(n_columns=40, n_classes=12)
    page = quick(table, y)
    seen = look(page)
    model = GaussianNB().fit(table, y)
    telling = [c["name"] for c in page.data["columns"]]
    assert seen.columns() == telling[:6]
    row = np.full(40, np.nan)

    def agrees():
        for name in seen.columns():
            row[int(name.split()[1])] = seen.value(name)
        return same(seen.posterior(), model.predict_proba([row])[0])

    assert agrees()
    seen.find("#more button").click()
    assert seen.columns() == telling[:12]
    assert agrees()
    seen.type({telling[11]: 1.5})
    assert agrees()
    shown = seen.browser.find_elements("css selector", "#bars li:not([hidden])")
    assert len(shown) == 10


def test_columns_left_out_count_as_missing(look):
    table, y = wide()
    seen = look(quick(table, y))
    row = np.full(1000, np.nan)
    for name in seen.columns():
        row[int(name.split()[1])] = seen.value(name)
    assert same(seen.posterior(), GaussianNB().fit(table, y).predict_proba([row])[0])


def test_it_works_with_the_keyboard_alone(look):
    from selenium.webdriver import Keys

    seen = look(quick(FRAME, SPECIES))
    model = GaussianNB().fit(X, SPECIES)
    seen.run("document.querySelector('.control input').focus()")
    active = lambda what: seen.run(f"return document.activeElement.{what}")  # noqa: E731
    assert active("type") == "number"
    seen.press(Keys.TAB)
    assert (active("type"), active("ariaLabel")) == ("range", "petal width")
    before = seen.value("petal width")
    seen.press(*[Keys.ARROW_RIGHT] * 5)
    assert seen.value("petal width") == pytest.approx(before + 5 * float(active("step")), abs=1e-12)
    row = [seen.value(name) for name in NAMES]
    assert same(seen.posterior(), model.predict_proba([row])[0])
    seen.press(Keys.TAB)
    seen.press(Keys.SPACE)
    assert active("type") == "checkbox"
    assert np.isnan(seen.value("petal width"))
    row[3] = np.nan
    assert same(seen.posterior(), model.predict_proba([row])[0])


def test_a_screen_reader_hears_the_leading_class(look):
    from selenium.webdriver.support.wait import WebDriverWait

    seen = look(quick(FRAME, SPECIES))
    seen.type(dict(zip(NAMES, X[0], strict=True)))
    status = "return document.querySelector('[role=status]').textContent"
    WebDriverWait(seen.browser, 5).until(lambda _: seen.run(status).startswith("setosa: "))
    unnamed = seen.run(
        "return [...document.querySelectorAll('input, select, button, svg[role=img]')].filter(e => "
        "!(e.ariaLabel || e.textContent.trim() || e.closest('label')?.textContent.trim())).length"
    )
    assert unnamed == 0


ODD = {
    "iris": lambda: report(FRAME, SPECIES),
    "long names": lambda: quick(
        FRAME.rename(columns={"petal width": "an exceedingly " + "long_name_" * 12}),
        np.array(["a label that goes on and on " * 3, "unbreakable" * 9, "c"])[Y],
    ),
    "many columns and classes": lambda: report(*wide(n_columns=120)),
    "mixed columns": lambda: report(
        NaiveBayes(),
        MIXED.assign(town=np.where(MIXED["member"], "unbreakable" * 9, "a long name " * 9)),
        CUSTOMERS,
    ),
}


@pytest.mark.parametrize("page", ODD.values(), ids=ODD)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(look, page, scheme):
    seen = look(page(), width=375, height=740, scheme=scheme)
    assert seen.run("return document.documentElement.scrollWidth") <= 375
    slider = seen.find(".control input[type=range]")
    assert slider.rect["x"] >= 0
    assert slider.rect["x"] + slider.rect["width"] <= 375
    before = seen.posterior()
    seen.run("arguments[0].scrollIntoView({block: 'center'})", slider)
    with seen.holding(slider) as move:
        move(70)
    assert not same(seen.posterior(), before)
    bars = seen.run("return document.getElementById('posterior').getBoundingClientRect().top")
    assert 0 <= bars < 300  # they stay in sight while one drags


def test_the_dark_page_is_dark(look):
    lightness = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    assert max(look(quick(X, Y), scheme="dark").run(lightness)) < 60
    assert min(look(quick(X, Y)).run(lightness)) > 200


def test_labels_stay_text(look):
    nasty = ["<script>document.title = 'hacked'</script>", "</script><img src=x onerror=alert(1)>"]
    labels = np.array([*nasty, "{{data}} & <b>bold</b>"])[Y]
    table = FRAME.rename(columns={"petal width": "<script>document.title = 1</script>"})
    seen = look(report(table, labels, title="<script>document.title = 'hacked'</script>"))
    assert seen.browser.title == "<script>document.title = 'hacked'</script>"
    shown = [
        row.text.split("\n")[0] for row in seen.browser.find_elements("css selector", "#classes li")
    ]
    assert set(shown) == {row.strip() for row in labels}
    assert seen.run("return document.querySelectorAll('img, b, main script').length") == 0
    assert seen.columns()[0] == "<script>document.title = 1</script>"


def test_the_page_asks_the_network_for_nothing(look):
    seen = look(report(FRAME, SPECIES))
    events = [json.loads(e["message"])["message"] for e in seen.browser.get_log("performance")]
    asked = [
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert any(url.endswith("report.html") for url in asked)


def test_all_is_drawn(look):
    seen = look(report(FRAME, SPECIES))
    drawn = seen.run(
        "return [...document.querySelectorAll('svg[role=img]')]"
        ".map(e => [e.ariaLabel, e.children.length])"
    )
    names = [name for name, children in drawn if children > 3]
    for start, how_many in {
        "Curves of": 4,
        "Decision regions for petal width and petal length": 1,
        "Confusion matrix. Most often: virginica taken for versicolor (4)": 1,
        "Confusion matrix of": 2,
        "Reliability diagram": 1,
        "Accuracy of naively and scikit-learn": 1,
        "Times of naively and scikit-learn": 1,
    }.items():
        assert sum(name.startswith(start) for name in names) == how_many, start
    blank = seen.run(
        "const c = document.querySelector('canvas'), d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; return d.every(v => v === 0)"
    )
    assert not blank


def test_a_notebook_shows_it(look, tmp_path):
    page = quick(FRAME, SPECIES)
    seen = look(page)
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html>{page._repr_html_()}", "utf-8")
    seen.browser.get((tmp_path / "notebook.html").as_uri())
    seen.browser.switch_to.frame(seen.find("iframe"))
    assert seen.posterior().sum() == pytest.approx(1)
    seen.browser.switch_to.default_content()
