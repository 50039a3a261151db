"""The documentation site, where `make docs` has built it: links, search, pictures and width."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

SITE = Path(__file__).parent.parent / "out" / "site"
LOOKED_AT = (
    "index start evaluate engines comparison benchmarks gallery/index api/naively.NaiveBayes"
)
pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="make docs builds it")


class Page(HTMLParser):
    """The anchors of a page, and where its links lead."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = {""}, []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors.add(found.get("id") or "")
        self.links += [found[name] for name in ("href", "src") if found.get(name)]


def test_every_link_of_the_site_leads_somewhere():
    paths = [path for path in SITE.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Page(path) for path in paths}
    assert len(pages) > 100
    for path, page in pages.items():
        for link in page.links:
            if link.startswith(("http:", "https:", "data:", "mailto:")):
                continue
            target, anchor = urldefrag(link)
            there = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            assert there.exists(), f"{path.relative_to(SITE)}: {link}"
            if there in pages:
                assert unquote(anchor) in pages[there].anchors, f"{path.relative_to(SITE)}: {link}"


@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("page", LOOKED_AT.split())
def test_a_page_fits_the_screen_and_shows_its_pictures(chromium, page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    chromium.get((SITE / f"{page}.html").as_uri())
    wide, screen = chromium.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= screen
    assert chromium.execute_script(
        "return [...document.images].every(image => !image.complete || image.naturalWidth > 0)"
    )


def test_the_search_works_without_a_server(chromium):
    from selenium.webdriver.support.wait import WebDriverWait

    chromium.get((SITE / "search.html").as_uri() + "?q=nomogram")
    links = "return [...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    found = WebDriverWait(chromium, 30).until(lambda browser: browser.execute_script(links))
    assert any("importance.html" in link for link in found)
