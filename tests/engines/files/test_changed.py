"""A file that changes while it is read is an error: no row is lost without a word."""

import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest

from naively import GaussianNB, NaivelyError
from naively.engines import files
from naively.engines.files import arrow, predict, summary_pass
from tests.written import read, rows, small_pieces, write

__all__ = ["small_pieces"]  # a fixture

ENDINGS = [".csv", ".csv.gz", ".jsonl", ".parquet", ".arrow", ".arrows"]
CHANGED = r"': it changed while it was read"


def cut(path):
    os.truncate(path, 0)


def shorten(path):
    os.truncate(path, path.stat().st_size // 2)


def grow(path):
    with path.open("ab") as file:
        file.write(b"1,x,1,1,true,a\n" * 9)


def replace(path):
    """Put another file of the same size and time in its place."""
    facts, other = path.stat(), path.with_suffix(".other")
    shutil.copyfile(path, other)
    os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    other.replace(path)


def touch(path):
    later = time.time_ns() + 5_000_000_000
    os.utime(path, ns=(later, later))


CHANGES = [cut, shorten, grow, replace, touch]


def changing(path, how, at=2):
    """Progress that changes the file when it is told for the n-th time."""
    calls = []

    def progress(*_):
        calls.append(1)
        if len(calls) == at:
            how(path)

    return progress


@pytest.fixture(params=ENDINGS)
def path(request, tmp_path, small_pieces):
    return write(rows(9000), tmp_path / f"a{request.param}")


@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_while_it_is_summarized_is_told(path, how):
    with pytest.raises(NaivelyError, match=CHANGED):
        files.scan(path, target="label", columns=["count"], progress=changing(path, how), n_jobs=2)


@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_while_it_is_labelled_is_told(path, how, tmp_path):
    model = GaussianNB.from_files(path, target="label", columns=["count", "short"])
    with pytest.raises(NaivelyError, match=CHANGED):
        predict(model, path, tmp_path / "out.csv", progress=changing(path, how, at=1))
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("how", [cut, grow])
def test_a_file_that_changes_while_it_is_read_into_memory_is_told(path, how):
    with pytest.raises(NaivelyError, match=CHANGED):
        read(path, target="label", columns=["count"], progress=changing(path, how))


def test_a_file_that_changes_can_be_skipped(path, tmp_path):
    write(rows(seed=1), tmp_path / f"b{''.join(path.suffixes)}")
    progress = changing(path, cut)
    found = files.scan(
        tmp_path, target="label", columns=["count"], progress=progress, skip_bad_files=True
    )
    ((name, reason),) = found.bad_files
    assert name == str(path)
    assert "changed" in reason
    assert found.rows == found.summary.weight == 3000


@pytest.mark.parametrize("how", [cut, grow, replace])
def test_a_pass_that_a_change_stopped_begins_that_file_anew(path, tmp_path, monkeypatch, how):
    monkeypatch.setattr(summary_pass, "SECONDS", -1)
    kept, options = tmp_path / "kept", {"target": "label", "columns": ["count"]}
    shutil.copyfile(path, kept)
    (tmp_path / "z").mkdir()
    asked = options | {"checkpoint": tmp_path / "so-far"}
    with pytest.raises(NaivelyError, match=CHANGED):
        files.scan(path, progress=changing(path, how), **asked)
    shutil.copyfile(kept, path)
    with pytest.warns(UserWarning, match="has changed since the checkpoint '.*so-far'"):
        again = files.scan(path, **asked)
    assert again.summary == files.summarize(kept.rename(tmp_path / f"z/{path.name}"), **options)


def test_a_pass_over_a_finished_file_that_changed_is_told(path, tmp_path):
    asked = {"target": "label", "columns": ["count"], "checkpoint": tmp_path / "so-far"}
    files.scan(path, **asked)
    grow(path)
    with pytest.raises(NaivelyError, match=r"is of other files.*Remove the checkpoint"):
        files.scan(path, **asked)


def test_a_file_that_is_cut_before_its_rows_are_labelled_is_told(tmp_path):
    model = GaussianNB().fit(pa.table({"count": [0.0, 9.0]}), ["a", "b"])
    for ending in ENDINGS:
        path = write(rows(9), tmp_path / f"a{ending}")
        other = write(rows(9), tmp_path / f"b{ending}")
        with pytest.raises(NaivelyError, match=CHANGED):
            predict(model, [path, other], tmp_path / "out.csv", progress=changing(other, cut, at=1))


def test_batches_too_large_to_be_read_are_mapped(tmp_path, monkeypatch):
    path = write(rows(), tmp_path / "a.arrow")
    read_whole = files.summarize(path, target="label", columns=["count", "ratio"])
    monkeypatch.setattr(arrow, "_MAPPED_BYTES", 1)
    assert files.summarize(path, target="label", columns=["count", "ratio"]) == read_whole
    monkeypatch.setattr(arrow, "CELLS", 1500)
    with pytest.raises(NaivelyError, match=CHANGED):
        files.scan(path, target="label", columns=["count"], progress=changing(path, touch))


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(NaivelyError, match=r"pipe.csv': it is not a plain file. Save it"):
        files.scan(tmp_path / "pipe.csv", target="y")


def test_a_process_survives_an_arrow_file_that_is_cut(tmp_path):
    """A mapped file that is cut would end the process: a bus error."""
    x = np.arange(2e6)
    write(pa.table({"x": x, "z": x, "y": np.arange(x.size) % 2}), tmp_path / "a.arrow")
    code = """
import os, sys, threading
from naively.engines import files
threading.Timer(float(sys.argv[2]), os.truncate, (sys.argv[1], 0)).start()
try:
    while True:
        files.scan(sys.argv[1], target="y")
except files.BadFileError as error:
    sys.exit("empty" not in str(error) and "changed" not in str(error))
"""
    command = [sys.executable, "-c", code, str(tmp_path / "a.arrow"), "0.2"]
    assert subprocess.run(command, timeout=60).returncode == 0
