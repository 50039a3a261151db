"""The nomogram of a report's page, in a real browser: points, total, probability."""

import numpy as np
import pytest

from naively import GaussianNB, NaiveBayes
from tests.browser import same
from tests.report_tables import CUSTOMERS, FRAME, MIXED, SPECIES, quick

TWO = np.where(CUSTOMERS == "buys", "buys", "no")
MODELS = {
    "two classes": (NaiveBayes(interactions=None), MIXED, TWO),
    "interactions": (NaiveBayes(), MIXED, TWO),
    "three classes": (GaussianNB(), FRAME, SPECIES),
    "a prior of zero": (GaussianNB(priors=[0, 0.5, 0.5]), FRAME, SPECIES),
}


def told(seen):
    """The probability and the total points; the points of each column."""
    total = seen.run("return {...document.getElementById('nomogram-sum').dataset}")
    each = seen.run(
        "return Object.fromEntries([...document.querySelectorAll('.nomogram circle[data-column]')]"
        ".map(c => [c.dataset.column, Number(c.dataset.points)]))"
    )
    return float(total["value"]), float(total["points"]), each


def chosen(seen, classes):
    """The places of the classes that are compared."""
    lists = seen.run(
        "return [...document.querySelectorAll('#nomogram select')].map(l => Number(l.value))"
    )
    return lists or [list(classes).index(seen.find("#nomogram-class").text), None]


@pytest.mark.parametrize(("model", "table", "labels"), MODELS.values(), ids=MODELS)
def test_points_add_up_to_what_python_computes(look, model, table, labels):
    seen = look(quick(model, table, labels, folds=2))
    seen.show_all()
    fitted = model.fit(table, labels)
    k, other = chosen(seen, fitted.classes_)
    other = 1 - k if other is None else other
    rows = table.sample(8, random_state=1).astype(object).reset_index(drop=True)
    rows.iloc[0] = None
    rows.iloc[1, 0] = None
    rows = rows.mask(rows.isna(), None) if MIXED is table else rows.astype(float)
    units = []
    for at in range(len(rows)):
        seen.fill(rows.iloc[at].to_dict())
        row = rows[at : at + 1]
        p, total, each = told(seen)
        assert same(p, fitted.predict_proba(row)[0, k])
        joint = fitted.predict_joint_log_proba(row)[0]
        units.append((total, joint[k] - joint[other]))
        if fitted.model_.interactions is None:
            assert total == pytest.approx(sum(each.values()), abs=1e-6)
    points, odds = np.array(units).T
    unit = np.ptp(odds) / np.ptp(points)  # points are log-odds in a unit of their own
    np.testing.assert_allclose(odds - odds[0], unit * (points - points[0]), rtol=0, atol=1e-8)


def test_a_dot_that_is_dragged_moves_the_explorer_and_the_probability(look):
    seen = look(quick(GaussianNB(), FRAME, SPECIES, folds=2))
    before, total, each = told(seen)
    value = seen.value("petal width")
    dot = seen.find('.nomogram circle[data-column="petal width"]')
    with seen.holding(dot) as move:
        move(-150)
    after, less, points = told(seen)
    assert seen.value("petal width") != value
    assert points["petal width"] < each["petal width"] - 5
    assert less == pytest.approx(total + points["petal width"] - each["petal width"], abs=1e-6)
    k, _ = chosen(seen, np.unique(SPECIES))
    assert same(after, seen.posterior()[k])
    assert after != before


@pytest.mark.parametrize("far", [1e5, 1e160, -1e200])
def test_values_far_from_all_classes_have_points_that_are_numbers(look, far):
    seen = look(quick(GaussianNB(), FRAME, SPECIES, folds=2))
    seen.fill(dict.fromkeys(FRAME.columns, far))
    p, total, each = told(seen)
    assert np.isfinite([p, total, *each.values()]).all()
    k, _ = chosen(seen, np.unique(SPECIES))
    assert same(p, seen.posterior()[k])
    assert "NaN" not in seen.find("#nomogram").text


def test_keys_move_a_dot_and_take_its_value_away(look):
    from selenium.webdriver.common.keys import Keys

    seen = look(quick(NaiveBayes(), MIXED, TWO, folds=2))
    for column, kind in (("visits", "number"), ("page", "select")):
        dot = seen.find(f'.nomogram circle[data-column="{column}"]')
        seen.run("arguments[0].focus()", dot)
        before = told(seen)[2][column]
        moved = {before}
        for key in (Keys.ARROW_LEFT, Keys.ARROW_RIGHT):
            seen.press(key)
            moved.add(told(seen)[2][column])
        assert len(moved) > 1, kind
        seen.press(Keys.DELETE)
        assert "missing" in seen.run("return arguments[0].getAttribute('aria-valuetext')", dot)


def test_another_class_has_other_points_and_its_own_probability(look):
    seen = look(quick(GaussianNB(), FRAME, SPECIES, folds=2))
    k, other = chosen(seen, np.unique(SPECIES))
    seen.run("document.querySelector('#nomogram button').click()")
    assert chosen(seen, np.unique(SPECIES)) == [other, k]
    assert same(told(seen)[0], seen.posterior()[other])
    third = 3 - k - other
    seen.run(
        "const list = document.querySelector('#nomogram select'); list.value = arguments[0];"
        "list.dispatchEvent(new Event('change'))",
        str(third),
    )
    assert chosen(seen, np.unique(SPECIES))[0] == third
    assert same(told(seen)[0], seen.posterior()[third])


@pytest.mark.parametrize("width", [1280, 480])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_its_card_at_any_width(look, width, scheme):
    frame = MIXED.assign(nothing=np.nan, same="same")
    seen = look(quick(NaiveBayes(), frame, CUSTOMERS, folds=2), width=width, scheme=scheme)
    seen.show_all()
    card, drawn = seen.run(
        "return ['#nomogram-card', '.nomogram svg'].map(q => "
        "document.querySelector(q).getBoundingClientRect().width)"
    )
    assert drawn <= card
    text = seen.find("#nomogram").text
    assert "NaN" not in text
    assert "undefined" not in text
