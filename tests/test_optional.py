"""A package that is not there is named, with the way to get it."""

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from sklearn.datasets import load_iris

from naively import NaiveBayes, NaivelyError
from naively.errors import need
from naively.evaluation import evaluate

ROOT = Path(__file__).parent.parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def packages_of(extra):
    """What an extra installs: what it names, and what their extras name."""
    for requirement in map(Requirement, EXTRAS[extra]):
        if requirement.name == "naively":
            for inner in requirement.extras:
                yield from packages_of(inner)
            continue
        yield requirement.name.partition("-")[0]  # ibis-framework is imported as ibis
        try:
            lines = importlib.metadata.requires(requirement.name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # Spark is large
        for line in map(Requirement, lines):
            if line.marker and any(line.marker.evaluate({"extra": e}) for e in requirement.extras):
                yield line.name


def needs():
    """Every call of `need` or `later` that names an extra: its place, the package and the extra."""
    for path in sorted((ROOT / "src" / "naively").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("need", "later"):
                module = call.args[0]
                if isinstance(module, ast.JoinedStr):
                    module = module.values[0]
                extra = {keyword.arg: keyword.value for keyword in call.keywords}.get("extra")
                if extra is not None:
                    package = module.value.partition(".")[0]
                    yield f"{path.name}:{call.lineno}", package, extra.value


def test_every_extra_that_a_message_names_brings_the_package():
    found = list(needs())
    assert len(found) > 50
    packages = {extra: set(packages_of(extra)) for extra in EXTRAS}
    assert [need for need in found if need[1] not in packages[need[2]]] == []


def test_every_extra_that_a_page_names_exists():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/naively/**/*.py")]
    named = {
        extra
        for page in pages
        for names in re.findall(r"['`]\.\[([a-z,]+)\]['`]", page.read_text())
        for extra in names.split(",")
    }
    assert {"files", "plots"} <= named <= set(EXTRAS)


def test_no_page_tells_to_install_a_release_before_there_is_one():
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/naively/**/*.py")]
    pages.remove(ROOT / "docs" / "release.md")
    assert not [page for page in pages if "naively[" in page.read_text()]


def test_a_package_that_is_there_is_returned():
    assert need("json.decoder", "reading JSON", extra="files").JSONDecoder().decode("1") == 1


@pytest.mark.parametrize("module", ["no_such_package", "no_such_package.inside"])
def test_a_package_that_is_not_there_is_named(module):
    message = r"drawing needs the package no_such_package: pip install '\.\[plots\]' in a copy"
    with pytest.raises(NaivelyError, match=message):
        need(module, "drawing", extra="plots")


def test_a_package_of_the_user_s_choice_is_named_itself():
    with pytest.raises(
        NaivelyError, match="needs the package no_such_package: pip install no_such"
    ):
        need("no_such_package", "making a frame")


def test_a_package_that_lacks_another_says_so_itself(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        need("half_installed", "drawing", extra="plots")


def test_an_evaluation_prints_as_text_without_rich(monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "rich", None)
    result = evaluate(NaiveBayes(), *load_iris(return_X_y=True))
    assert "accuracy" in str(result)
    with pytest.raises(NaivelyError, match=r"colour needs the package rich: .*'\.\[cli\]'"):
        result.__rich__()
