"""What the documents say, holds: their code runs, and the tests and files they name exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXTS = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "tutorials").glob("*.md")]
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
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
        assert target.startswith(BUILT) or (page.parent / target).exists(), target


def test_every_difference_from_scikit_learn_has_its_test():
    page = (ROOT / "docs" / "differences.md").read_text()
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for name in re.findall(r"`(test_\w+)`", page):
        assert f"def {name}(" in tests, name


@pytest.mark.parametrize("module", ["naively", "naively.plots"])
def test_every_public_name_has_its_place_in_the_reference(module):
    page = (ROOT / "docs" / "api.rst").read_text()
    listed = re.findall(r"^   ([A-Za-z_]\w*)$", page, flags=re.MULTILINE)
    names = set(import_module(module).__all__) - {"__version__", "plots"}
    assert not names - set(listed)


def test_every_page_of_the_site_is_in_a_table_of_contents():
    """Sphinx says so too, but only where it is installed."""
    texts = [path.read_text() for path in TEXTS]
    trees = re.findall(r"```{toctree}\n(.*?)```", "\n".join(texts), flags=re.DOTALL)
    entries = {line.strip().rsplit("/")[-1] for tree in trees for line in tree.splitlines()}
    assert {path.stem for path in TEXTS} - {"index"} <= entries
