"""What a command writes: where "-" and /dev/stdout name it, and where it cannot be written.

Then the command says so and exits with 2; a reader may close its pipe.
"""

import io
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from naively.estimators.loading import load
from tests.commands import PROGRAM, fails, run, run_on_terminal, run_program, run_well

NAMES = ["-", "/dev/stdout"]
MODELS = {
    "fit": ["fit", "iris.csv", "-t", "species"],
    "update": ["update", "m", "some.csv"],
    "forget": ["forget", "m", "some.csv"],
    "merge": ["merge", "m", "n"],
    "tune": ["tune", "iris.csv", "-t", "species"],
}
PAGES = {
    "report": ["report", "iris.csv", "-t", "species", "--no-compare"],
    "explain": ["explain", "m", "iris.csv", "--row", "3"],
    "drift": ["drift", "m", "some.csv"],
}


@pytest.fixture
def models(fitted, iris):
    """A folder with two models, m and n, and some of their rows."""
    iris[40:60].to_csv("some.csv", index=False)
    shutil.copy("m", "n")
    return fitted


def output_of(*args):
    done = run_program(*args, text=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", MODELS)
def test_a_model_goes_to_a_pipe_whole_and_alone(models, command, name):
    (models / "piped").write_bytes(output_of(*MODELS[command], "-o", name))
    run_well(*MODELS[command], "-o", "o")
    assert (models / "piped").read_bytes() == (models / "o").read_bytes()
    assert load("piped").classes_.size == 3


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", PAGES)
def test_a_page_goes_to_standard_output_alone(models, command, name):
    text = output_of(*PAGES[command], "-o", name).decode()
    assert text.lower().startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")


@pytest.mark.parametrize("name", NAMES)
def test_predictions_go_to_standard_output_by_both_names(models, name):
    assert output_of("predict", "m", "iris.csv", "-o", name) == output_of(
        "predict", "m", "iris.csv"
    )


READERS = {"csv": pd.read_csv, "parquet": pd.read_parquet, "arrow": pd.read_feather}


@pytest.mark.parametrize("form", READERS)
def test_predictions_go_to_a_pipe_in_every_format(models, form):
    content = output_of("predict", "m", "iris.csv", "--format", form)
    run_well("predict", "m", "iris.csv", "-o", f"p.{form}")
    pd.testing.assert_frame_equal(READERS[form](io.BytesIO(content)), READERS[form](f"p.{form}"))


def test_a_file_says_its_format_itself(models):
    line = fails("predict", "m", "iris.csv", "--format", "arrow", "-o", "p.csv")
    assert line == "--format is for standard output; the ending of a file says its own."


@pytest.mark.parametrize("name", NAMES)
def test_a_query_goes_to_standard_output_by_both_names(models, name):
    args = "export", "m", "--to", "sql", "--table", "t"
    assert output_of(*args, "-o", name) == output_of(*args)


def test_a_graph_goes_to_a_pipe(models):
    piped = output_of("export", "m", "--to", "onnx", "-o", "-")
    run_well("export", "m", "--to", "onnx", "-o", "m.onnx")
    assert piped == (models / "m.onnx").read_bytes()


BINARY = {
    "a model": ["fit", "iris.csv", "-t", "species", "-o", "-"],
    "Parquet": ["predict", "m", "iris.csv", "--format", "parquet"],
    "a graph": ["export", "m", "--to", "onnx", "-o", "/dev/stdout"],
}


@pytest.mark.parametrize("what", BINARY)
def test_bytes_do_not_go_to_a_terminal(models, what):
    code, text = run_on_terminal(*BINARY[what], cwd=models)
    assert code == 2
    assert f"{what} cannot be shown on a terminal; give --output a file" in text


TWICE = {
    "tune": ["tune", "iris.csv", "-t", "species", "--json", "-o", "-"],
    "drift": ["drift", "m", "some.csv", "--json", "-o", "-"],
    "report": ["report", "iris.csv", "-t", "species", "--json", "-o", "-"],
}


@pytest.mark.parametrize("command", TWICE)
def test_two_results_do_not_go_to_one_place(models, command):
    assert "--json" in fails(*TWICE[command])


def test_a_checkpoint_is_a_file(models):
    line = fails("fit", "iris.csv", "-t", "species", "-o", "o", "--checkpoint", "-")
    assert line == "a checkpoint must be a file, to go on from; got standard output."


def test_a_reader_that_has_enough_is_no_error(models, iris):
    pd.concat([iris] * 400).to_csv("long.csv", index=False)
    for line in ("predict m long.csv", "predict m long.csv --format arrow", "--help"):
        command = f"{sys.executable} -m naively {line} | head -c 1 | wc -c; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        size, code = done.stdout.split()
        assert (size, done.stderr) == ("1", "")
        assert code in ("0", "141")  # all was written, or the pipe was closed


def test_a_closed_pipe_ends_with_the_code_that_shells_have_for_it(models, iris):
    pd.concat([iris] * 400).to_csv("long.csv", index=False)
    command = f"{sys.executable} -m naively predict m long.csv | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_errors_are_told_though_the_output_is_a_pipe(models):
    done = run_program("predict", "no", "iris.csv", "-o", "-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: cannot read 'no': No such file or directory.\n"


# --- where nothing can be written ----------------------------------------------------------------

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
