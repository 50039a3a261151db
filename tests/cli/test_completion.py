"""Shells complete commands, options, their values and files."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.commands import run_well

SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture
def path(folder):
    """Where the program is found by its name."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "naively"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m naively "$@"\n')
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{os.environ['PATH']}"


WORDS = {  # before the tab key is pressed, and what is among that which bash offers
    "naively ex": {"explain", "export"},
    "naively fit iris.csv --calib": {"--calibration"},
    "naively fit iris.csv --model ''": {"gaussian", "naive-bayes"},
    "naively export m --to s": {"sql"},
    "naively completion z": {"zsh"},
    "naively predict m ir": set(),  # which leaves it to bash: files
}
BASH = """
eval "$(naively completion bash)"
complete -p naively
press_tab() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(( $# - 1 ))
    COMP_LINE="$*"
    _naively_completion naively "${COMP_WORDS[COMP_CWORD]}"
    echo "${COMPREPLY[@]}"
}
"""


def test_bash_completes_commands_options_and_values_and_leaves_files_to_itself(path):
    script = BASH + "".join(f"press_tab {words}\n" for words in WORDS)
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    complete, *offered = done.stdout.splitlines()
    assert complete.split()[:3] == ["complete", "-o", "default"]
    for (words, expected), line in zip(WORDS.items(), offered, strict=True):
        assert expected <= set(line.split()), words
        assert bool(line) == bool(expected), words


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
