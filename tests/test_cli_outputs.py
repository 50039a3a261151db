"""Where a command cannot write what it found, it says so, and exits with 2."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import PROGRAM, folder, iris, run_well

__all__ = ["folder", "iris"]  # fixtures

ALL = {
    "--version": ["--version"],
    "--help": ["--help"],
    "fit": ["fit", "iris.csv", "-t", "species", "-o", "n"],
    "predict": ["predict", "m", "iris.csv"],
    "predict to a file": ["predict", "m", "iris.csv", "-o", "p.csv"],
    "inspect": ["inspect", "m"],
    "inspect --json": ["inspect", "m", "--json"],
    "evaluate": ["evaluate", "iris.csv", "-t", "species"],
    "export": ["export", "m", "--to", "sql", "--table", "t"],
    "update": ["update", "m", "iris.csv", "-o", "n"],
}
FILES = {  # what is written where, with room for 100 bytes
    "fit": ["fit", "iris.csv", "-t", "species", "-o", "n"],
    "predict to CSV": ["predict", "m", "iris.csv", "-o", "n.csv"],
    "predict to Parquet": ["predict", "m", "iris.csv", "-o", "n.parquet"],
    "predict to Arrow": ["predict", "m", "iris.csv", "-o", "n.arrow"],
    "report": ["report", "iris.csv", "-t", "species", "-o", "n.html"],
    "export to SQL": ["export", "m", "--to", "sql", "--table", "t", "-o", "n.sql"],
    "export to ONNX": ["export", "m", "--to", "onnx", "-o", "n.onnx"],
    "update": ["update", "m", "iris.csv", "-o", "n"],
    "a checkpoint": ["fit", "iris.csv", "-t", "species", "-o", "o", "--checkpoint", "n"],
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("kind", ALL)
def test_a_full_disk_behind_standard_output_is_told(folder, kind):
    run_well("fit", "iris.csv", "-t", "species", "-o", "m")
    with Path("/dev/full").open("w") as full:
        run = subprocess.run([*PROGRAM, *ALL[kind]], stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 2
    lines = [line for line in run.stderr.splitlines() if not line.startswith("note: ")]
    assert lines == ["error: cannot write to standard output: No space left on device."]


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_cannot_grow_is_told_and_leaves_nothing(folder, kind):
    run_well("fit", "iris.csv", "-t", "species", "-o", "m")
    before = sorted(folder.iterdir())

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    run = subprocess.run([*PROGRAM, *FILES[kind]], capture_output=True, text=True, preexec_fn=limit)
    assert run.returncode == 2
    name = next(word for word in FILES[kind] if word.startswith("n"))
    assert run.stderr.splitlines()[-1] == f"error: cannot write '{name}': File too large."
    assert sorted(folder.iterdir()) == before


def test_a_reader_that_has_enough_ends_the_command_quietly(folder):
    run_well("fit", "iris.csv", "-t", "species", "-o", "m")
    command = " ".join([sys.executable, "-m naively predict m", "iris.csv " * 500, "| head -n 1"])
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert run.stdout == "prediction\n"
    assert "Traceback" not in run.stderr


def test_notes_that_nobody_can_read_stop_nothing(folder):
    with Path("/dev/full").open("w") as full:
        command = [*PROGRAM, "fit", "iris.csv", "-t", "species", "-o", "n"]
        assert subprocess.run(command, stderr=full, capture_output=False).returncode == 0
    assert (folder / "n").exists()
