"""The help of every command: what it says is true, and its examples run."""

import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

from naively.cli.help_page import HelpPage
from naively.cli.program import Commands, program
from tests.commands import fails, run_well

COMMANDS = Commands()
WHOLE = typer.main.get_command(program)


def page_of(name):
    command = COMMANDS[name] if name else WHOLE
    context = typer.Context(command, info_name=f"naively {name}".strip())
    return HelpPage.of(command, context)


EXAMPLES = {line for name in ["", *COMMANDS] for line in page_of(name).examples}
EXAMPLES -= {"naively demo"}  # which takes its time, and has a test of its own


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, iris):
    """A folder with the files that the examples name, and the program."""
    home = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(0)
    labelled = iris.assign(y=iris["species"])
    iris.to_csv(home / "iris.csv", index=False)
    new = iris.assign(name=[f"flower {i}" for i in range(len(iris))])
    new.to_csv(home / "new.csv", index=False)
    new.to_parquet(home / "new.parquet")
    labelled[40:60].to_csv(home / "rows.csv", index=False)
    for kind, table in {
        "data": labelled.drop(columns="species"),
        "may": labelled,
        "big": iris,
    }.items():
        (home / kind).mkdir()
        table.to_parquet(home / kind / "part-0.parquet")
    iris[::2].to_csv(home / "may" / "a.csv", index=False)
    people = pd.DataFrame({"id": range(90), "age": rng.integers(20, 80, 90)})
    people["town"] = rng.choice(["Ulm", "Bonn"], 90)
    people["sick"] = np.where(people["age"] + rng.normal(0, 9, 90) > 50, "yes", "no")
    people.to_csv(home / "people.csv", index=False)
    people.to_csv(home / "sick.csv", index=False)
    log = pd.DataFrame({"size": rng.random(60), "time": rng.random(60), "kind": ["a", "b"] * 30})
    with gzip.open(home / "log.csv.gz", "wt") as file:
        log.to_csv(file, index=False)
    (home / "bin").mkdir()
    (home / "bin" / "naively").write_text(f'#!/bin/sh\nexec {sys.executable} -m naively "$@"\n')
    (home / "bin" / "naively").chmod(0o755)
    run_well("fit", home / "iris.csv", "-t", "species", "-o", home / "iris.safetensors")
    (home / "sites").mkdir()
    models = ["model", "north", "south", "april", "may", "sites/a", "sites/b"]
    for model in models:
        shutil.copy(home / "iris.safetensors", home / f"{model}.safetensors")
    return home


def in_shell(line, home, shell="bash"):
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = [shell, "-c", line]
    return subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True)


@pytest.mark.parametrize("line", sorted(EXAMPLES))
def test_an_example_runs(line, prepared, tmp_path, monkeypatch):
    work = tmp_path / "work"
    shutil.copytree(prepared, work)
    monkeypatch.chdir(work)
    written = [Path(name) for name in re.findall(r"(?:-o|--output) (\S+)", line)]
    before = [path.stat().st_mtime_ns if path.exists() else None for path in written]
    if re.search(r"[|$]|\*[^']*$", line):
        shell = next((name for name in ("zsh", "fish") if name in line), "bash")
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not installed: apt-get install {shell}")
        done = in_shell(line, work, shell)
        assert done.returncode == 0, done.stderr
    else:
        program, *args = shlex.split(line)
        assert program == "naively"
        run_well(*args)
    assert all(path.stat().st_mtime_ns != time for path, time in zip(written, before, strict=True))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_is_complete(name):
    page, text = page_of(name), run_well(name, "--help-all").stdout
    assert text.startswith(f"Usage: naively {name}")
    assert len(page.examples) >= 1
    assert text.rstrip().endswith(page.examples[-1])
    assert "<" not in text
    assert max(map(len, text.splitlines())) <= 80
    for rows in page.topics.values():
        for names, meaning in rows:
            assert names in text
            assert meaning, names


def test_the_help_shows_the_options_that_most_people_use_and_how_to_see_the_others():
    page = page_of("fit").in_short()
    assert sum(map(len, page.topics.values())) <= 10  # the files and --help among them
    text = run_well("fit", "--help").stdout
    for name in (
        "--target",
        "--columns",
        "--exclude",
        "--weight",
        "--model",
        "--family",
        "--output",
    ):
        assert name in text
    assert "--ddof" not in text
    assert f"--help-all shows {page.n_hidden} more options." in text
    assert "--help-all" not in run_well("diagnose", "--help").stdout  # which has nothing to hide


def test_the_help_lists_every_command_in_one_sentence():
    text = run_well("--help").stdout
    for name in COMMANDS:
        assert f"\n  {name}" in text
    for _, meaning in page_of("").topics["Commands"]:
        assert meaning.endswith(".")


def test_flags_take_no_value_in_the_help():
    text = run_well("fit", "--help-all").stdout
    assert re.search(r"--skip-bad-files +Leave", text)
    assert "bool" not in text


def test_naively_alone_says_what_to_do_first(folder):
    text = run_well().stdout
    lines = re.findall(r"^  (naively .*)$", text, flags=re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        run_well(*shlex.split(line)[1:])


def test_the_word_help_is_help():
    assert run_well("help", "fit").stdout == run_well("fit", "--help").stdout
    assert run_well("help").stdout == run_well("--help").stdout


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--ddof", "-1"], "Invalid value for '--ddof': it must be at least 0; got -1."),
        (["--ddof", "1.5"], "Invalid value for '--ddof': it must be a whole number; got '1.5'."),
        (["--var-smoothing", "x"], "Invalid value for '--var-smoothing': it must be a number"),
        (["--variance", "no"], "Invalid value for '--variance': it must be one of class, shared"),
        (
            ["--variance", "shard"],
            "Invalid value for '--variance': it must be one of class, shared; got 'shard'. "
            "Did you mean 'shared'?",
        ),
    ],
    ids=["too small", "no whole number", "no number", "no such word", "a word mistyped"],
)
def test_a_value_that_will_not_do_is_told_with_its_option(folder, args, told):
    assert fails("fit", "iris.csv", "-t", "species", *args).startswith(told)


def test_a_missing_option_is_told_with_its_choices_in_one_line(fitted):
    assert (
        fails("export", "m")
        == "Missing option '--to'. Choose from: onnx, sql. Try 'naively export --help'."
    )


def test_quiet_leaves_results_and_errors_alone(folder):
    rows = [f"{i},{'Ulm,a' if i % 2 else 'Bonn,b'}" for i in range(20)]
    Path("t.csv").write_text("\n".join(["id,town,y", *rows]) + "\n")
    loud = run_well("fit", "t.csv", "-t", "y", "-o", "m")
    assert loud.stderr.startswith("note: ")
    quiet = run_well("fit", "t.csv", "-t", "y", "-o", "m", "--quiet")
    assert (quiet.stdout, quiet.stderr) == (loud.stdout, "")
    assert fails("fit", "t.csv", "-t", "no", "-q").startswith("no column 'no'")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_quiet(name):
    assert any("--quiet" in names for names, _ in page_of(name).topics["Options"])
