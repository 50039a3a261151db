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


@pytest.fixture(scope="module")
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
    complaints = [entry["message"] for entry in chromium.get_log("browser")]
    assert not complaints, f"{len(complaints)} complaints, the first {complaints[0]}"


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

    def type(self, values):
        """Fill in the number fields, by column; NaN empties one."""
        self.run(
            "for (const [name, value] of Object.entries(arguments[0])) {"
            "  const card = [...document.querySelectorAll('.control')]"
            "    .find(c => c.dataset.column === name);"
            "  const field = card.querySelector('input[type=number]');"
            "  field.value = value; field.dispatchEvent(new Event('input')); }",
            {name: "" if np.isnan(v) else repr(float(v)) for name, v in values.items()},
        )

    def fill(self, row):
        """Fill in a row of numbers and categories; None and NaN are missing."""
        row = {name: None if pd.isna(cell) else cell for name, cell in row.items()}
        lists = self.run(
            "return [...document.querySelectorAll('.choice')].map(c => c.dataset.column)"
        )
        self.type({n: np.nan if v is None else v for n, v in row.items() if n not in lists})
        self.run(
            "for (const [name, text] of Object.entries(arguments[0])) {"
            "  const card = [...document.querySelectorAll('.control')]"
            "    .find(c => c.dataset.column === name);"
            "  const list = card.querySelector('select'), options = [...list.options];"
            "  const other = options.at(-1).value;"
            "  list.value = text === null ? '' : options.slice(1, -1)"
            "    .find(o => o.textContent === text)?.value ?? other;"
            "  list.dispatchEvent(new Event('change')); }",
            {name: None if row[name] is None else str(row[name]) for name in lists if name in row},
        )

    def show_all(self):
        while self.run("return document.querySelector('#more button') !== null"):
            self.run("document.querySelector('#more button').click()")

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
