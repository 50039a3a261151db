"""A package that is not there is named, with the way to get it."""

import sys

import pytest
from sklearn.datasets import load_iris

from naively import NaivelyError
from naively._optional import need
from naively.evaluation import evaluate


def test_a_package_that_is_there_is_returned():
    assert need("json.decoder", "reading JSON", extra="files").JSONDecoder().decode("1") == 1


@pytest.mark.parametrize("module", ["no_such_package", "no_such_package.inside"])
def test_a_package_that_is_not_there_is_named(module):
    message = r'drawing needs the package no_such_package: pip install "naively\[plots\]"\.'
    with pytest.raises(NaivelyError, match=message):
        need(module, "drawing", extra="plots")


def test_a_package_that_lacks_another_says_so_itself(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        need("half_installed", "drawing", extra="plots")


def test_an_evaluation_prints_as_text_without_rich(monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "rich", None)
    result = evaluate(*load_iris(return_X_y=True))
    assert "accuracy" in str(result)
    with pytest.raises(NaivelyError, match=r'colour needs the package rich: .*"naively\[cli\]"'):
        result.__rich__()
