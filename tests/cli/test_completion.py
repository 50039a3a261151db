"""Shells complete commands, options, their values and files."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.commands import folder, iris, run_well

__all__ = ["folder", "iris"]  # fixtures

SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture
def path(folder):
    """Where the program is found by its name."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "naively"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m naively "$@"\n')
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{os.environ['PATH']}"


def completed_by_bash(path, *words):
    """Press the tab key behind some words, and return what bash offers."""
    script = """
    eval "$(naively completion bash)"
    COMP_WORDS=("$@")
    COMP_CWORD=$(( $# - 1 ))
    COMP_LINE="$*"
    _naively_completion naively "${COMP_WORDS[COMP_CWORD]}"
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    command = ["bash", "-c", script, "bash", *words]
    done = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["naively", "ex"], {"explain", "export"}),
        (["naively", "fit", "iris.csv", "--calib"], {"--calibration"}),
        (["naively", "fit", "iris.csv", "--model", ""], {"gaussian", "naive-bayes"}),
        (["naively", "export", "m", "--to", "s"], {"sql"}),
        (["naively", "completion", "z"], {"zsh"}),
        (["naively", "predict", "m", "ir"], set()),  # which leaves it to bash: files
    ],
    ids=["a command", "an option", "models", "formats", "an argument", "files"],
)
def test_bash_completes(path, words, expected):
    found = set(completed_by_bash(path, *words))
    assert expected <= found
    assert bool(found) == bool(expected)


def test_bash_completes_files_where_the_program_offers_nothing(path):
    script = 'eval "$(naively completion bash)"; complete -p naively'
    done = subprocess.run(
        ["bash", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert done.stdout.split()[:3] == ["complete", "-o", "default"]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_sound(path, shell):
    script = run_well("completion", shell).stdout
    assert "naively" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: apt-get install {shell}")
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_program_answers_what_other_shells_ask(path, shell):
    """They are asked in their own ways, which typer defines."""
    asked = {
        "_NAIVELY_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "naively ex",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    environment = {**os.environ, **asked, "PATH": path}
    done = subprocess.run(["naively"], env=environment, capture_output=True, text=True)
    assert "explain" in done.stdout
    assert "export" in done.stdout
