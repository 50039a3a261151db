"""One program at a time writes a model file: nothing that a command reported as done is undone."""

import json
import os
import random
import subprocess
from contextlib import contextmanager

import numpy as np
import pytest

import naively
from naively.cli.model_lock import hold
from tests.commands import PROGRAM, fails, run, run_program, run_well

START = "u,label\n1,a\n2,b\n3,a\n"


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model of three rows, and three files of one row each."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "start.csv").write_text(START)
    naively.GaussianNB.from_files("start.csv", target="label").save("m.safetensors")
    for name, number in (("one", 7), ("two", 8), ("three", 9)):
        (tmp_path / f"{name}.csv").write_text(f"u,label\n{number},b\n")
    return tmp_path / "m.safetensors"


def n_rows(model="m.safetensors"):
    return naively.load(model).class_count_.sum()


def save_more(model):
    """Write a model from Python, which takes no lock."""
    naively.load(model).update(naively.summarize("three.csv", target="label")).save(model)


def command(*words, **options):
    return subprocess.Popen(
        [*PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, **options,
    )  # fmt: skip


@contextmanager
def streaming(*options, path="m.safetensors"):
    """Run a stream that has answered a row, and goes on."""
    process = command("stream", path, "--target", "label", *options)
    try:
        tell(process, 5.0)
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


def tell(process, number):
    process.stdin.write(json.dumps({"u": number, "label": "a"}) + "\n")
    process.stdin.flush()
    assert "error" not in process.stdout.readline()


def test_updates_at_once_keep_all_rows(model):
    (model.parent / "rows.csv").write_text("u,label\n" + "4,a\n5,b\n" * 500)
    processes = [command("update", "m.safetensors", "rows.csv", "-t", "label") for _ in range(4)]
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    assert n_rows() == 3 + 4 * 1000
    assert not model.with_name("m.safetensors.lock").exists()


WRITING = {
    "update": ("update", "m.safetensors", "one.csv", "-t", "label"),
    "forget": ("forget", "m.safetensors", "start.csv", "-t", "label"),
    "fit": ("fit", "one.csv", "-t", "label", "-o", "m.safetensors"),
    "merge": ("merge", "other.safetensors", "more.safetensors", "-o", "m.safetensors"),
    "tune": ("tune", "one.csv", "-t", "label", "-o", "m.safetensors"),
    "stream": ("stream", "m.safetensors", "-t", "label"),
    "update by another path": ("update", "sub/../link.safetensors", "one.csv", "-t", "label"),
}


def test_no_command_writes_the_model_of_a_stream(model):
    for name in ("other", "more"):
        naively.load(model).save(f"{name}.safetensors")
    (model.parent / "link.safetensors").symlink_to("m.safetensors")
    (model.parent / "sub").mkdir()
    with streaming() as process:
        for words in WRITING.values():
            message = fails(*words)
            assert f"'naively stream' of process {process.pid}" in message, words
        run_well("update", "m.safetensors", "one.csv", "-t", "label", "-o", "more.safetensors")
        run_well("predict", "m.safetensors", "one.csv")
        tell(process, 6.0)
        process.stdin.close()
        assert process.wait() == 0
    assert n_rows() == 5


@pytest.mark.parametrize("name", ["update", "forget", "fit", "merge", "tune"])
def test_rows_that_wait_in_a_journal_are_not_stranded(model, name):
    for other in ("other", "more"):
        naively.load(model).save(f"{other}.safetensors")
    before = model.read_bytes()
    model.with_name("m.safetensors.journal").write_text(journal_of(model))
    message = fails(*WRITING[name])
    assert "got 1 rows in" in message
    assert f"naively stream {model} --target label < /dev/null" in message
    assert model.read_bytes() == before


def journal_of(model):
    """Return the journal of a stream that was killed after one row."""
    import hashlib

    after = hashlib.sha256(model.read_bytes()).hexdigest()
    first = {"after": after, "options": {"target": "label", "weight": None}}
    return json.dumps(first) + '\n {"u": 5.0, "label": "a"}\n'


def test_the_command_of_the_message_adds_the_rows_and_then_the_model_changes(model):
    with streaming():
        pass  # which is killed
    refused = run(*WRITING["update"])
    assert refused.exit_code == 2
    shell = refused.stderr.strip().split("Add them: ")[1]
    words = [*PROGRAM, *shell.removesuffix(" < /dev/null").split()[1:]]
    assert subprocess.run(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE).returncode == 0
    assert n_rows() == 4
    run_well(*WRITING["update"])
    assert n_rows() == 5


def test_an_empty_journal_is_no_obstacle_after_the_model_has_changed(model):
    journal = model.with_name("m.safetensors.journal")
    journal.write_text(journal_of(model).split("\n")[0] + "\n")
    save_more(model)
    run_well(*WRITING["update"])
    assert not journal.exists()


def test_rows_of_a_journal_are_not_learned_with_other_options(model):
    model.with_name("m.safetensors.journal").write_text(journal_of(model))
    message = fails("stream", "m.safetensors", "-t", "label", "--weight", "u")
    assert "must be learned with the options that they came with" in message


def test_a_lock_that_a_killed_program_left_stops_nobody(model):
    lock = model.with_name("m.safetensors.lock")
    lock.write_text('{"process": 1, "command": "stream"}')
    run_well(*WRITING["update"])
    assert n_rows() == 4
    assert not lock.exists()


def test_who_comes_second_waits_and_says_for_whom(model):
    with hold(model, "update"):
        process = command(*WRITING["update"])
        line = process.stderr.readline()
        assert f"waiting for process {os.getpid()}, 'naively update'" in line
        assert n_rows() == 3
    assert process.communicate()[0]
    assert process.returncode == 0
    assert n_rows() == 4


def test_a_stream_does_not_write_over_a_model_that_was_saved_meanwhile(model):
    with streaming() as process:
        save_more(model)
        process.stdin.close()
        assert process.wait() == 2
        assert "was changed since" in process.stderr.read()
    assert n_rows() == 4


def test_a_stream_that_is_killed_and_updates_between_lose_no_row(model):
    dice, expected = random.Random(0), [1.0, 2.0, 3.0]
    for _ in range(2):
        with streaming("--checkpoint", "3") as process:
            expected.append(5.0)
            for _ in range(dice.randint(0, 6)):
                tell(process, expected[-1] + 1)
                expected.append(expected[-1] + 1)
        if run(*WRITING["update"]).exit_code:
            done = run_program("stream", "m.safetensors", "-t", "label")
            assert done.returncode == 0, done.stderr
            run_well(*WRITING["update"])
        expected.append(7.0)
    assert n_rows() == len(expected)
    moments = naively.load(model).summary_.moments
    total = (moments.weight * moments.mean).sum()
    assert np.isclose(total, sum(expected), rtol=1e-12)
