"""What a command does not need, it does not import: that is what makes it start quickly."""

import subprocess
import sys

import pytest

from naively import GaussianNB, NaivelyError
from tests.commands import fails, folder, iris, run_well

__all__ = ["folder", "iris"]  # fixtures

LOADED = (
    "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    "from naively.cli import app; app()"
)
SLOW = {"matplotlib", "narwhals", "pandas", "scipy", "sklearn", "pydantic", "rich"}
SLOWER_THAN_HELP = SLOW | {"numpy", "pyarrow"}


def packages_of(*args):
    """Run the program, and return the packages it has imported at its end."""
    command = [sys.executable, "-c", LOADED, *args]
    done = subprocess.run(command, capture_output=True, text=True)
    return {name.partition(".")[0] for name in done.stderr.splitlines()[-1].split()}


@pytest.mark.parametrize("model", ["gaussian", "naive-bayes"])
def test_fitting_and_predicting_a_file_needs_no_scikit_learn(folder, model):
    fitted = packages_of("fit", "iris.csv", "-t", "species", "--model", model, "-o", "m")
    predicted = packages_of("predict", "m", "iris.csv", "--proba")
    allowed = {"scipy"} if model == "naive-bayes" else set()  # for its families
    assert not (fitted | predicted) & (SLOW - allowed)
    assert "numpy" in fitted & predicted  # or else nothing was looked at


@pytest.mark.parametrize("command", ["update", "forget"])
def test_changing_a_model_needs_no_scikit_learn(folder, iris, command):
    iris[40:60].to_csv("some.csv", index=False)
    run_well("fit", "iris.csv", "-t", "species", "-o", "m")
    assert not packages_of(command, "m", "some.csv", "-o", "n") & (SLOW - {"scipy"})
    assert (folder / "n").exists()


@pytest.mark.parametrize("args", [[], ["--help"], ["--version"], ["fit", "--help"]])
def test_help_needs_typer_alone(args):
    found = packages_of(*args)
    assert "typer" in found
    assert not found & SLOWER_THAN_HELP


MISTAKES = {
    "no such file": ["fit", "no.csv", "-t", "y"],
    "no such model": ["predict", "no.safetensors", "iris.csv"],
    "no such model to merge": ["merge", "no.safetensors", "n.safetensors", "-o", "o"],
    "no such option": ["fit", "iris.csv", "-t", "y", "--no-such-option"],
    "no such command": ["fti", "iris.csv"],
    "a number out of range": ["fit", "iris.csv", "-t", "y", "--ddof", "-1"],
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_is_told_before_numpy_is_imported(folder, kind):
    assert not packages_of(*MISTAKES[kind]) & SLOWER_THAN_HELP


def test_a_file_that_is_not_there_is_told_in_the_words_of_those_who_read_it(folder):
    line = fails("fit", "no.csv", "-t", "y")
    with pytest.raises(NaivelyError) as raised:
        GaussianNB.from_files("no.csv", target="y")
    assert line == str(raised.value) == "cannot read 'no.csv': No such file or directory."
