"""The page of a report, looked at by a real browser."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from naively import GaussianNB, NaiveBayes
from naively.display.report import report
from naively.families.gaussian import log_density as gaussian_log_density
from tests import family_tables
from tests.browser import same
from tests.exported_tables import together
from tests.report_tables import (
    CUSTOMERS,
    FRAME,
    HOLES,
    MIXED,
    NAMES,
    SPECIES,
    X,
    Y,
    quick,
    wide,
)


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
    rows = rows_to_try(table.fillna(3.0).to_numpy(dtype=float))
    rows = pd.DataFrame(rows, columns=names)
    assert same(seen.answers(rows.to_dict("records")), model.predict_proba(rows))


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
    "log-normal alone": (
        NaiveBayes(families={"income": "log_normal"}, calibration=None, interactions=None),
        MIXED[["income"]],
    ),
    "given priors": (NaiveBayes(priors=[0.2, 0.3, 0.5]), MIXED),
    "a prior of zero": (NaiveBayes(priors=[0.5, 0, 0.5], calibration=None), MIXED),
    "categories alone": (NaiveBayes(), MIXED[["town", "member", "page"]]),
    "numbers alone": (NaiveBayes(), NUMBERS),
    "a constant and an empty column": (NaiveBayes(), MIXED.assign(same=3.0, empty=np.nan)),
    "a class never seen": (
        NaiveBayes().partial_fit(MIXED, CUSTOMERS, classes=[*np.unique(CUSTOMERS), "none"]),
        MIXED,
    ),
    "interactions": (NaiveBayes(interactions="auto"), MIXED),
    "interactions of numbers": (NaiveBayes(interactions="auto"), NUMBERS),
    "interactions of categories": (
        NaiveBayes(interactions="auto"),
        MIXED[["town", "member", "page"]],
    ),
    "weighed Gaussians": (GaussianNB(calibration="weights"), NUMBERS),
    "a Gaussian's temperature": (GaussianNB(calibration="temperature"), NUMBERS),
}


def check(seen, model, rows):
    """The page answers each row as Python does."""
    rows = [row.where(row.notna(), None) for _, row in rows.iterrows()]
    expected = [model.predict_proba_one(row.tolist()) for row in rows]
    assert same(seen.answers(rows), expected)


@pytest.mark.parametrize(("model", "table"), NAIVE.values(), ids=NAIVE)
def test_the_explorer_computes_what_any_model_computes(look, model, table):
    seen = look(quick(model, table, CUSTOMERS))
    seen.show_all()
    if not hasattr(model, "summary_"):
        model = type(model)(**model.get_params()).fit(table, CUSTOMERS)
    check(seen, model, rows_of(table))


@pytest.mark.parametrize("calibration", ["weights", None])
def test_the_explorer_computes_every_family(look, calibration):
    model = family_tables.model_of(calibration=calibration, interactions=None)
    seen = look(quick(model, family_tables.FRAME, family_tables.LABELS))
    seen.show_all()
    check(seen, model, family_tables.rows()[:20])


def test_the_explorer_computes_pairs_and_shows_them(look):
    model, frame = together()
    seen = look(quick(model, frame, model.predict(frame)))
    seen.show_all()
    assert model.model_.interactions.pairs
    check(seen, model, frame.iloc[:20])
    lines = seen.sums()
    assert any(name.startswith("direction") for name in lines)
    said = [line for name, line in lines.items() if name not in ("Sum", "Posterior")]
    assert np.allclose(np.nansum(said, axis=0), lines["Sum"], rtol=0, atol=1e-9)
    drawn = seen.run("return document.querySelectorAll('#interactions .heat').length")
    assert drawn > 0
    assert "Direction 1" in seen.find("#interactions").text


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


def test_a_slider_moves_the_posterior_while_one_drags(look):
    seen = look(quick(GaussianNB(), FRAME, SPECIES))
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
    seen = look(quick(GaussianNB(), FRAME, SPECIES))
    before = seen.value("petal width")
    with seen.holding(seen.find('[data-column="petal width"] .plot')) as move:
        move(60)
    at = seen.value("petal width")
    assert at > before
    assert at == seen.control("petal width", "range").get_property("valueAsNumber")


def test_a_missing_value_has_no_say(look):
    seen = look(quick(GaussianNB(), FRAME, SPECIES))
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
    seen.fill(dict(zip(NAMES, row, strict=True)))
    lines = seen.sums()
    assert same(lines["log p(class)"], np.log([0.2, 0.3, 0.5]))
    for j, name in enumerate(NAMES):
        assert same(lines[name], gaussian_log_density(row[j], model.theta_[:, j], model.var_[:, j]))
    total = lines["log p(class)"] + sum(lines[name] for name in NAMES)
    assert same(lines["Sum"], total)
    assert same(lines["Posterior"], np.exp(total - np.logaddexp.reduce(total)))
    assert (lines["Posterior"] == seen.posterior()).all()


def test_starting_points_set_every_value(look):
    seen = look(quick(GaussianNB(), FRAME, SPECIES))
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
    page = quick(GaussianNB(), FRAME, SPECIES)
    seen = look(page)
    button = seen.find('button[aria-label^="Explore row"]')
    seen.run("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    row = X[page.data["mistakes"][0]["row"]]
    assert [seen.value(name) for name in NAMES] == row.tolist()
    assert same(seen.posterior(), GaussianNB().fit(X, Y).predict_proba([row])[0])


@pytest.mark.parametrize("x", [1e160, -1e200, 1e300])
@pytest.mark.parametrize(
    ("model", "table", "labels"),
    [(GaussianNB(), FRAME, SPECIES), (NaiveBayes(calibration=None), NUMBERS, CUSTOMERS)],
    ids=["gaussian", "any family"],
)
def test_far_points_get_probabilities_too(look, model, table, labels, x):
    seen = look(quick(model, table, labels))
    seen.fill(dict.fromkeys(table, x))
    assert same(seen.posterior(), clone(model).fit(table, labels).predict_proba_one([x] * 4))


@pytest.mark.parametrize(
    ("model", "table", "labels", "near"),
    [
        (GaussianNB(), FRAME, SPECIES, 0.1),
        (NaiveBayes(), MIXED.drop(columns="mobile"), CUSTOMERS, 0.2),
    ],
    ids=["iris", "mixed"],
)
def test_the_map_moves_the_explorer(look, model, table, labels, near):
    page = quick(model, table, labels)
    seen = look(page)
    seen.run("document.querySelector('.map-frame').scrollIntoView({block: 'center'})")
    seen.find(".map-frame svg").click()
    for column in [c for c in page.data["columns"] if "slider" in c][:2]:
        low, high = column["slider"]["low"], column["slider"]["high"]
        across = (seen.value(column["name"]) - low) / (high - low)
        assert across == pytest.approx(0.5, abs=near)


def test_many_columns_show_the_columns_by_separation_first_and_more_on_demand(look):
    table, y = wide(n_columns=40, n_classes=12)
    page = quick(GaussianNB(), table, y)
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
    seen.fill({telling[11]: 1.5})
    assert agrees()
    shown = seen.browser.find_elements("css selector", "#bars li:not([hidden])")
    assert len(shown) == 10


def test_columns_left_out_count_as_missing(look):
    table, y = wide()
    seen = look(quick(GaussianNB(), table, y))
    row = np.full(1000, np.nan)
    for name in seen.columns():
        row[int(name.split()[1])] = seen.value(name)
    assert same(seen.posterior(), GaussianNB().fit(table, y).predict_proba([row])[0])


def test_it_works_with_the_keyboard_alone(look):
    from selenium.webdriver import Keys

    seen = look(quick(GaussianNB(), FRAME, SPECIES))
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

    seen = look(quick(GaussianNB(), FRAME, SPECIES))
    seen.fill(dict(zip(NAMES, X[0], strict=True)))
    status = "return document.querySelector('[role=status]').textContent"
    WebDriverWait(seen.browser, 5).until(lambda _: seen.run(status).startswith("setosa: "))
    unnamed = seen.run(
        "return [...document.querySelectorAll('input, select, button, svg[role=img]')].filter(e => "
        "!(e.ariaLabel || e.textContent.trim() || e.closest('label')?.textContent.trim())).length"
    )
    assert unnamed == 0


ODD = {
    "iris": lambda: report(GaussianNB(), FRAME, SPECIES),
    "long names": lambda: quick(
        GaussianNB(),
        FRAME.rename(columns={"petal width": "an exceedingly " + "long_name_" * 12}),
        np.array(["a label that goes on and on " * 3, "unbreakable" * 9, "c"])[Y],
    ),
    "many columns and classes": lambda: report(GaussianNB(), *wide(n_columns=120)),
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
    assert max(look(quick(GaussianNB(), X, Y), scheme="dark").run(lightness)) < 60
    assert min(look(quick(GaussianNB(), X, Y)).run(lightness)) > 200


def test_labels_stay_text(look):
    nasty = ["<script>document.title = 'hacked'</script>", "</script><img src=x onerror=alert(1)>"]
    labels = np.array([*nasty, "{{data}} & <b>bold</b>"])[Y]
    table = FRAME.rename(columns={"petal width": "<script>document.title = 1</script>"})
    seen = look(
        report(GaussianNB(), table, labels, title="<script>document.title = 'hacked'</script>")
    )
    assert seen.browser.title == "<script>document.title = 'hacked'</script>"
    shown = [
        row.text.split("\n")[0] for row in seen.browser.find_elements("css selector", "#classes li")
    ]
    assert set(shown) == {row.strip() for row in labels}
    assert seen.run("return document.querySelectorAll('img, b, main script').length") == 0
    assert seen.columns()[0] == "<script>document.title = 1</script>"


def test_the_page_asks_the_network_for_nothing(look):
    seen = look(report(GaussianNB(), FRAME, SPECIES))
    events = [json.loads(e["message"])["message"] for e in seen.browser.get_log("performance")]
    asked = [
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert any(url.endswith("report.html") for url in asked)


def test_all_is_drawn(look):
    seen = look(report(GaussianNB(), FRAME, SPECIES))
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
    page = quick(GaussianNB(), FRAME, SPECIES)
    seen = look(page)
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html>{page._repr_html_()}", "utf-8")
    seen.browser.get((tmp_path / "notebook.html").as_uri())
    seen.browser.switch_to.frame(seen.find("iframe"))
    assert seen.posterior().sum() == pytest.approx(1)
    seen.browser.switch_to.default_content()
