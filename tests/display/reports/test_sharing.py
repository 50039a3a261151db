"""What a reader does with a page: changes its theme, shares a case, prints it."""

import base64
import re
from urllib.parse import quote

import numpy as np
import pytest
from selenium.webdriver.support.wait import WebDriverWait

from naively import GaussianNB, NaiveBayes
from naively.display.report import report
from tests.browser import same
from tests.report_tables import CUSTOMERS, FRAME, HOLES, MIXED, NAMES, SPECIES, X, Y, quick, wide

LIGHTNESS = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"


def choose(seen, theme):
    buttons = seen.browser.find_elements("css selector", "#theme button")
    next(button for button in buttons if button.text == theme).click()


def reopened(seen, fragment=""):
    """Load the page anew, perhaps at another fragment."""
    address = seen.browser.current_url.split("#")[0]
    seen.browser.get("about:blank")
    seen.browser.get(address + fragment)
    return seen


def test_the_theme_is_the_readers_choice_and_remembered(look):
    seen = look(quick(GaussianNB(), FRAME, SPECIES), scheme="dark")
    assert max(seen.run(LIGHTNESS)) < 60
    choose(seen, "light")
    assert min(seen.run(LIGHTNESS)) > 200
    assert min(reopened(seen).run(LIGHTNESS)) > 200
    pressed = seen.run("return document.querySelector('#theme [aria-pressed=true]').textContent")
    assert pressed == "light"
    choose(seen, "auto")
    assert max(seen.run(LIGHTNESS)) < 60
    assert max(reopened(seen).run(LIGHTNESS)) < 60


def test_the_map_takes_the_colours_of_the_theme(look):
    seen = look(quick(GaussianNB(), FRAME, SPECIES))
    pixels = (
        "const c = document.querySelector('canvas'); return [...c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data].reduce((a, b) => a + b, 0)"
    )
    seen.run("document.querySelector('#map').scrollIntoView()")
    light = seen.run(pixels)
    choose(seen, "dark")
    assert seen.run(pixels) != light
    choose(seen, "auto")
    assert seen.run(pixels) == light


def shared(seen):
    """The address, once it holds the case."""
    WebDriverWait(seen.browser, 5).until(lambda _: "#case" in seen.browser.current_url)
    return "#" + seen.browser.current_url.split("#")[1]


def test_opening_an_address_restores_the_case(look):
    seen = look(quick(NaiveBayes(), MIXED, CUSTOMERS))
    assert "#" not in seen.browser.current_url  # it holds a case once somebody makes one
    seen.show_all()
    seen.fill({**MIXED.iloc[3].to_dict(), "town": "never met", "page": None})
    before = seen.posterior()
    seen = reopened(seen, shared(seen))
    assert same(seen.posterior(), before)
    model = NaiveBayes().fit(MIXED, CUSTOMERS)
    row = {**MIXED.iloc[3].to_dict(), "town": "never met", "page": None}
    assert same(before, model.predict_proba_one(row))
    assert seen.find("#share-note").is_displayed()


def test_an_address_of_a_mistake_brings_what_is_not_in_the_page(look):
    page = quick(GaussianNB(), *wide(n_columns=300, n_classes=12), folds=2)
    seen = look(page)
    button = seen.find('button[aria-label^="Explore row"]')
    seen.run("arguments[0].click()", button)
    before = seen.posterior()
    seen = reopened(seen, shared(seen))
    assert same(seen.posterior(), before)
    row = page.data["mistakes"][0]["row"]
    model = GaussianNB().fit(*wide(n_columns=300, n_classes=12))
    assert same(before, model.predict_proba(wide(n_columns=300, n_classes=12)[0][row : row + 1])[0])


MALFORMED = [
    "#case",
    "#case&",
    "#case&2=1e999&0=abc&1=NaN&99=3&shown=-4&row=12345678",
    "#case&%E0%A4%A&=&&2",
    "#case&shown=1e9&row=__proto__&__proto__=1&constructor=2",
    f"#case&2={quote('<img src=x onerror=alert(1)>')}",
    "#nowhere",
]


@pytest.mark.parametrize("fragment", MALFORMED)
def test_a_malformed_address_does_no_harm(look, fragment):
    seen = reopened(look(quick(GaussianNB(), FRAME, SPECIES)), fragment)
    assert np.isclose(seen.posterior().sum(), 1)
    assert seen.columns() == [
        c["name"] for c in quick(GaussianNB(), FRAME, SPECIES).data["columns"]
    ]
    assert seen.run("return document.querySelectorAll('img, b').length") == 0
    seen.fill(dict(zip(NAMES, X[0], strict=True)))
    assert same(seen.posterior(), GaussianNB().fit(X, Y).predict_proba(X[:1])[0])


def test_long_names_can_be_told_apart(look):
    stem = "the_mean_of_the_measured_values_of_the_"
    names = [f"{stem}left_{'side_' * 9}{i}_of_all" for i in range(3)] + [f"{stem}right"]
    labels = np.array([f"{'a very long label ' * 4}{c}{' that goes on' * 4}" for c in "abc"])[Y]
    seen = look(quick(GaussianNB(), FRAME.set_axis(names, axis=1), labels))
    shown = seen.run(
        "return [...document.querySelectorAll('.control h3')].map(e => [e.textContent, e.title])"
    )
    assert {full for _, full in shown} == set(names)
    assert len({short for short, _ in shown}) == 4
    assert all(len(short) <= 30 for short, _ in shown)
    classes = seen.run(
        "return [...document.querySelectorAll('#bars .class-name')].map(e => e.textContent)"
    )
    assert len(set(classes)) == 3


EMPTY = {
    "iris": lambda: report(GaussianNB(), FRAME, SPECIES),
    "missing cells": lambda: report(GaussianNB(), HOLES, SPECIES),
    "one category": lambda: quick(NaiveBayes(), MIXED[["town"]], CUSTOMERS, show_rows=False),
    "one column": lambda: quick(GaussianNB(), FRAME[["petal width"]], Y == 1),
}


@pytest.mark.parametrize("page", EMPTY.values(), ids=EMPTY)
def test_no_section_and_no_card_is_empty(look, page):
    seen = look(page())
    bare = seen.run(
        "return [...document.querySelectorAll('main section, main .card')].filter(e => {"
        "  const heads = [...e.querySelectorAll('h2, h3, .intro')].map(x => x.textContent);"
        "  return e.textContent.trim().length <= heads.join('').trim().length + 5;"
        "}).map(e => e.id)"
    )
    assert bare == []
    lost = seen.run(
        "return [...document.querySelectorAll('nav a')].map(a => a.getAttribute('href'))"
        ".filter(to => !document.querySelector(to))"
    )
    assert lost == []
    linked = seen.run("return document.querySelectorAll('nav a').length")
    assert linked == seen.run("return document.querySelectorAll('main > section[id] h2').length")


def test_paper_is_a4_and_cuts_no_figure(look):
    seen = look(report(GaussianNB(), FRAME, SPECIES))
    options = {"preferCSSPageSize": True, "printBackground": True}
    pdf = base64.b64decode(seen.browser.execute_cdp_cmd("Page.printToPDF", options)["data"])
    boxes = {tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([^\]]*)\]", pdf)}
    assert all(box == pytest.approx((0, 0, 595, 842), abs=1) for box in boxes)
    media = {"media": "print"}
    seen.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    tallest = seen.run(
        "return Math.max(...[...document.querySelectorAll('svg[role=img], canvas')]"
        ".map(e => e.getBoundingClientRect().height))"
    )
    assert tallest < 900  # of about 1,000 px that a page has
    whole = seen.run(
        "return [...document.querySelectorAll("
        "'div.figure, .plot, .map-frame, .nomogram, tr, .tile')]"
        ".every(e => getComputedStyle(e).breakInside === 'avoid' || e.closest('.card') &&"
        " getComputedStyle(e.closest('.card')).breakInside === 'avoid')"
    )
    assert whole
    seen.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
