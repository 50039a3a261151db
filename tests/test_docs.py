"""What the documents say, holds: their code runs, and the tests and files they name exist."""

import ast
import re
from doctest import DocTestFinder
from importlib import import_module
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

from naively.families import FAMILIES, Family

ROOT = Path(__file__).parent.parent
TEXTS = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "tutorials").glob("*.md")]
GALLERY = ROOT / "examples" / "gallery"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(TEXTS)]
BUILT = ("api/", "../api/", "gallery/", "../gallery/")  # Sphinx checks links to what it writes


def named(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_code_of_a_page_runs(page, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    namespace = {"__name__": page.stem}
    for block in blocks:
        exec(compile(block, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_links_of_a_page_lead_somewhere(page):
    """Files exist, and so do the headings that a link names behind a #."""
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
        if not target.startswith(BUILT):
            there = page.parent / target if target else page
            assert there.exists(), target
            assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


def anchors(page):
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_difference_from_scikit_learn_has_its_test():
    page = (ROOT / "docs" / "differences.md").read_text()
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for name in re.findall(r"`(test_\w+)`", page):
        assert f"def {name}(" in tests, name


PUBLIC = {
    module: set(import_module(module).__all__)
    for module in ("naively", "naively.plots", "naively.results")
} | {"naively.families": {family.__name__ for family in FAMILIES.values()}}


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_its_place_in_the_reference(module):
    page = (ROOT / "docs" / "api.rst").read_text()
    listed = re.findall(r"^   ([A-Za-z_]\w*)$", page, flags=re.MULTILINE)
    assert not PUBLIC[module] - set(listed)


def test_the_templates_of_the_reference_exist():
    """Where Sphinx does not find one, it takes its own, which shows no methods."""
    named_there = re.findall(r":template: (\S+)", (ROOT / "docs" / "api.rst").read_text())
    assert named_there
    for name in named_there:
        assert (ROOT / "docs" / "_templates" / name).exists(), name


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_an_example_that_runs(module):
    """Estimators, families and displays in the gallery; others there or as a doctest."""
    shown = {name for path in GALLERY.rglob("plot_*.py") for name in names_in(path.read_text())}
    home = import_module(module)
    for name in PUBLIC[module] - shown:
        value = getattr(home, name)
        assert not (isinstance(value, type) and issubclass(value, Family | BaseEstimator)), name
        assert not name.endswith("Display"), name
        assert any(test.examples for test in DocTestFinder(recurse=False).find(value)), name


def names_in(code):
    """Return the names that a program uses, not those in its comments and strings."""
    nodes = list(ast.walk(ast.parse(code)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def test_every_page_of_the_site_is_in_a_table_of_contents():
    """Sphinx says so too, but only where it is installed."""
    texts = [path.read_text() for path in TEXTS]
    trees = re.findall(r"```{toctree}\n(.*?)```", "\n".join(texts), flags=re.DOTALL)
    entries = {line.strip().rsplit("/")[-1] for tree in trees for line in tree.splitlines()}
    assert {path.stem for path in TEXTS} - {"index"} <= entries
