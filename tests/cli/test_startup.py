"""What a command does not need, it does not import: that is what makes it start quickly."""

import subprocess
import sys

import pytest

from naively import GaussianNB, NaivelyError
from tests.commands import fails

LOADED = """
import sys
from naively.cli.program import program
for command in {commands}:
    code = program(command, prog_name="naively", standalone_mode=False)
    print(code, *sys.modules, file=sys.stderr)
"""
SLOW = {"matplotlib", "narwhals", "pandas", "scipy", "sklearn", "pydantic", "rich"}
SLOWER_THAN_HELP = SLOW | {"numpy", "pyarrow"}


def packages_of(*commands):
    """Run commands, one after the other, and return which packages were imported after each."""
    code = LOADED.replace("{commands}", repr(commands))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stderr.splitlines() if " sys " in line]
    assert len(lines) == len(commands)
    assert {code for code, *_ in lines} <= {"0", "2"}
    return [{name.partition(".")[0] for name in names} for _, *names in lines]


@pytest.mark.parametrize("model", ["gaussian", "naive-bayes"])
def test_fitting_and_predicting_a_file_needs_no_scikit_learn(folder, model):
    fit = ["fit", "iris.csv", "-t", "species", "--model", model, "-o", "m"]
    for imported in packages_of(fit, ["predict", "m", "iris.csv", "--proba"]):
        assert not imported & (SLOW - ({"scipy"} if model == "naive-bayes" else set()))
        assert "numpy" in imported  # or else nothing was looked at


def test_changing_a_model_needs_no_scikit_learn(fitted, iris):
    iris[40:60].to_csv("some.csv", index=False)
    for imported in packages_of(*([c, "m", "some.csv", "-o", c] for c in ("update", "forget"))):
        assert not imported & (SLOW - {"scipy"})
    assert (fitted / "update").exists()
    assert (fitted / "forget").exists()


def test_help_needs_typer_alone():
    for imported in packages_of([], ["--help"], ["--version"], ["fit", "--help"]):
        assert "typer" in imported
        assert not imported & SLOWER_THAN_HELP


MISTAKES = {
    "no such file": ["fit", "no.csv", "-t", "y"],
    "no such model": ["predict", "no.safetensors", "iris.csv"],
    "no such model to merge": ["merge", "no.safetensors", "n.safetensors", "-o", "o"],
    "no such option": ["fit", "iris.csv", "-t", "y", "--no-such-option"],
    "no such command": ["fti", "iris.csv"],
    "a number out of range": ["fit", "iris.csv", "-t", "y", "--ddof", "-1"],
}


def test_a_mistake_is_told_before_numpy_is_imported(folder):
    for kind, imported in zip(MISTAKES, packages_of(*MISTAKES.values()), strict=True):
        assert not imported & SLOWER_THAN_HELP, kind


def test_a_file_that_is_not_there_is_told_in_the_words_of_those_who_read_it(folder):
    line = fails("fit", "no.csv", "-t", "y")
    with pytest.raises(NaivelyError) as raised:
        GaussianNB.from_files("no.csv", target="y")
    assert line == str(raised.value) == "cannot read 'no.csv': No such file or directory."
