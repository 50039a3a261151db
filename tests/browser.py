"""A report as a real browser shows it: Chromium, steered by Selenium."""

import shutil
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--force-prefers-reduced-motion"
)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if not (binary and driver):
        pytest.skip("no Chromium here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield running
    running.quit()


@pytest.fixture
def look(chromium, tmp_path):
    """Open a report as a browser sees it; afterwards, nothing may have been complained of."""
    chromium.get_log("browser")  # what other tests have left

    def opened(page, width=1280, height=900, scheme="light"):
        page.save(tmp_path / "report.html")
        chromium.get_log("performance")
        chromium.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        chromium.get((tmp_path / "report.html").as_uri())
        return Page(chromium)

    yield opened
    chromium.execute_script("try { localStorage.clear(); } catch { /* no page was opened */ }")
    complaints = [entry["message"] for entry in chromium.get_log("browser")]
    assert not complaints, f"{len(complaints)} complaints, the first {complaints[0]}"


FILL = """
function fill(row) {
  const cards = [...document.querySelectorAll('.control')];
  for (const [name, text] of Object.entries(row)) {
    const card = cards.find(c => c.dataset.column === name);
    const list = card.querySelector('select'), field = list ?? card.querySelector('[type=number]');
    const options = list && [...list.options];
    field.value = text === null ? '' : !list ? text
      : (options.slice(1, -1).find(o => o.textContent === text) ?? options.at(-1)).value;
    field.dispatchEvent(new Event(list ? 'change' : 'input'));
  }
}
"""


def written(row):
    """Return the text of each cell, by column; None where it is missing."""
    return {name: None if pd.isna(cell) else str(cell) for name, cell in row.items()}


class Page:
    """What a person sees of a page, and does to it."""

    def __init__(self, browser):
        self.browser = browser

    def run(self, script, *args):
        return self.browser.execute_script(script, *args)

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def control(self, column, kind):
        return self.find(f'[data-column="{column}"] input[type={kind}]')

    def columns(self):
        return self.run(
            "return [...document.querySelectorAll('.control')].map(c => c.dataset.column)"
        )

    def value(self, column):
        text = self.control(column, "number").get_property("value")
        return float(text) if text else np.nan

    def posterior(self):
        rows = self.run(
            "return [...document.querySelectorAll('#bars li')].map(r => r.dataset.value)"
        )
        return np.array(rows, dtype=float)

    def sums(self):
        """The table of the sum: the numbers of each line, by its name."""
        lines = self.run(
            "return [...document.querySelectorAll('#sum-table tr')].slice(1).map(r => "
            "[r.cells[0].firstChild.textContent, [...r.cells].slice(1).map(c => c.dataset.value)])"
        )
        return {name: np.array(values, dtype=float) for name, values in lines}

    def fill(self, row):
        """Fill in a row of numbers and categories; None and NaN are missing."""
        self.run(f"{FILL} fill(arguments[0])", written(row))

    def answers(self, rows):
        """Fill in one row after the other; return the posterior of each."""
        told = self.run(
            f"{FILL} return arguments[0].map(row => {{ fill(row); "
            "return [...document.querySelectorAll('#bars li')].map(r => r.dataset.value); })",
            [written(row) for row in rows],
        )
        return np.array(told, dtype=float)

    def show_all(self):
        while self.run("return document.querySelector('#more button') !== null"):
            self.run("document.querySelector('#more button').click()")
        self.settle()

    def settle(self):
        """Wait for two frames: pictures are drawn once the browser knows how wide they are."""
        self.browser.execute_async_script(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))"
        )

    def press(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    @contextmanager
    def holding(self, element):
        """Press the mouse in the middle of something; gives what moves it, and lets go."""
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        at = self.run("return arguments[0].getBoundingClientRect()", element)
        x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2

        def mouse(kind, dx=0, buttons=1):
            event = {"type": kind, "x": x + dx, "y": y, "button": "left", "buttons": buttons}
            self.browser.execute_cdp_cmd("Input.dispatchMouseEvent", {**event, "clickCount": 1})

        mouse("mouseMoved", buttons=0)
        mouse("mousePressed")
        yield lambda dx: mouse("mouseMoved", dx)
        mouse("mouseReleased", buttons=0)


def same(a, b):
    return np.allclose(a, b, rtol=0, atol=1e-9)
