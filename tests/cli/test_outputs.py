"""Where a command cannot write what it found, it says so, and exits with 2."""

import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.commands import PROGRAM, fitted, fitted_once, folder, iris, run, run_program

__all__ = ["fitted", "fitted_once", "folder", "iris"]  # fixtures

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
def test_a_full_disk_behind_standard_output_is_told(fitted, kind):
    with Path("/dev/full").open("w") as full:
        done = run_program(*ALL[kind], stdout=full)
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert lines == ["error: cannot write to standard output: No space left on device."]


@contextmanager
def room(size):
    """Let this process write no file beyond a size."""
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_cannot_grow_is_told_and_leaves_nothing(fitted, kind, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python would cut its own files short
    before = sorted(fitted.iterdir())
    with room(100):
        result = run(*FILES[kind])
    assert result.exit_code == 2
    name = next(word for word in FILES[kind] if word.startswith("n"))
    assert result.stderr.splitlines()[-1] == f"error: cannot write '{name}': File too large."
    assert sorted(fitted.iterdir()) == before


def test_notes_that_nobody_can_read_stop_nothing(folder):
    with Path("/dev/full").open("w") as full:
        command = [*PROGRAM, "fit", "iris.csv", "-t", "species", "-o", "n"]
        assert subprocess.run(command, stderr=full, capture_output=False).returncode == 0
    assert (folder / "n").exists()


def test_standard_streams_may_be_closed(fitted):
    program = " ".join(PROGRAM)
    for command, code in {
        "predict m iris.csv >&-": 0,
        "predict m - <&-": 2,
        "nothing 2>&-": 2,
    }.items():
        done = subprocess.run(f"{program} {command}", shell=True, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (code, "")
        assert "Traceback" not in done.stderr
