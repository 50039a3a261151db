"""Nothing is lost: a pass that ends anywhere goes on from there, to the same bits."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naively import NaiveBayes, NaivelyError
from naively.engines import files
from naively.engines.files import summary_pass
from tests.commands import wait_until_read
from tests.written import (
    people,
    rows,
    scan_numbers,
    small_pieces,
    summarize_numbers,
    three_files,
    write,
)

__all__ = ["small_pieces"]  # a fixture

ENDINGS = [".csv", ".csv.gz", ".jsonl", ".parquet", ".arrow", ".arrows"]


def scan_mixed(source, **options):
    """Read numbers and categories."""
    options.setdefault("schema", NaiveBayes().files_schema())
    return files.scan(source, **options)


# What is read, how, and where passes are interrupted.
KINDS = {
    "numbers": (rows, scan_numbers, (1, 2, 3, 5, 6)),
    "mixed": (people, scan_mixed, (1, 3, 6)),
}


@pytest.fixture(params=ENDINGS)
def ending(request):
    return request.param


@pytest.fixture
def folder(ending, tmp_path, small_pieces):
    """Three files of one format."""
    return three_files(tmp_path, ending, rows)


class Interrupting:
    """Progress that is broken off at the n-th call."""

    def __init__(self, n):
        self.left = n

    def __call__(self, n_rows, done, total):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def interrupted(source, checkpoint, n, scan=scan_numbers, **options):
    with pytest.raises(KeyboardInterrupt):
        scan(source, target="label", checkpoint=checkpoint, progress=Interrupting(n), **options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pass_goes_on_after_an_interrupt_to_the_same_bits(kind, ending, tmp_path, small_pieces):
    made, scan, places = KINDS[kind]
    folder = three_files(tmp_path, ending, made)
    whole = scan(folder, target="label")
    for n in places:
        checkpoint = tmp_path / f"{n}.safetensors"
        interrupted(folder, checkpoint, n, scan)
        assert scan(folder, target="label", checkpoint=checkpoint, n_jobs=1) == whole


def test_a_pass_may_be_interrupted_again_and_again(folder, tmp_path):
    whole, checkpoint = scan_numbers(folder, target="label"), tmp_path / "c.safetensors"
    for _ in range(100):
        try:
            found = scan_numbers(
                folder, target="label", checkpoint=checkpoint, progress=Interrupting(2)
            )
            break
        except KeyboardInterrupt:
            continue
    assert found == whole


LABELS_OF_TYPES = {
    "booleans": pa.array([False, True]),
    "int8": pa.array([-128, 127], pa.int8()),
    "uint64": pa.array([1, 2**63, 2**64 - 1], pa.uint64()),
    "text": pa.array(["", "a", "a\0", "ü"]),
    "decimals": pa.array([2**53, 2**53 + 1]).cast(pa.decimal128(20, 0)),
}


@pytest.mark.parametrize("labels", LABELS_OF_TYPES.values(), ids=LABELS_OF_TYPES)
def test_labels_and_categories_of_any_type_go_on_after_an_interrupt(labels, tmp_path):
    column = labels.take(pa.array(np.arange(600) % len(labels)))
    table = pa.table({"x": np.arange(600.0), "town": column, "label": column})
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    how = {"families": {"town": "categorical"}, "n_jobs": 1}
    for path in paths:
        pq.write_table(table, path)
    how |= {"target": "label", "checkpoint": tmp_path / "c.safetensors"}
    with pytest.raises(KeyboardInterrupt):
        NaiveBayes.from_files(paths, progress=Interrupting(2), **how)
    assert how["checkpoint"].exists()
    resumed = NaiveBayes.from_files(paths, **how)
    assert resumed.summary_ == NaiveBayes.from_files(paths, **how | {"checkpoint": None}).summary_
    assert resumed.summary_.categories[0].tolist() == resumed.classes_.tolist()
    assert resumed.classes_.tolist() == sorted(labels.to_pylist())


def test_a_finished_pass_is_not_read_again(folder, tmp_path):
    checkpoint = tmp_path / "c.safetensors"
    whole = scan_numbers(folder, target="label", checkpoint=checkpoint)
    calls = []
    again = scan_numbers(
        folder, target="label", checkpoint=checkpoint, progress=lambda *c: calls.append(c)
    )
    assert again == whole
    assert calls == []


KILLED = """
import os, signal, sys
from naively.engines import files
from naively.engines.files import arrow, csv, json_lines, summary_pass
csv.BLOCK, json_lines.BLOCK = 10_000, 10_000
arrow.CELLS, summary_pass.SECONDS = 1500, -1.0
folder, checkpoint, left = sys.argv[1], sys.argv[2], int(sys.argv[3])

def progress(rows, done, total):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

how = {"schema": files.SchemaFromFirstRows(), "skip_columns": True}
files.scan(folder, target="label", checkpoint=checkpoint, progress=progress, **how)
"""


@pytest.mark.parametrize("ending", [".csv", ".parquet"], indirect=True)
def test_a_killed_pass_goes_on_to_the_same_bits(folder, tmp_path):
    whole, checkpoint = scan_numbers(folder, target="label"), tmp_path / "c.safetensors"
    command = [sys.executable, "-c", KILLED, str(folder), str(checkpoint), "4"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    seen = []
    found = scan_numbers(
        folder, target="label", checkpoint=checkpoint, progress=lambda *c: seen.append(c[0])
    )
    assert found == whole
    assert seen[0] > rows(100).num_rows  # it did not begin anew


KILLED_AT_ANY_MOMENT = """
import sys
from naively import NaiveBayes
from naively.engines import files
from naively.engines.files import csv, summary_pass
csv.BLOCK, summary_pass.SECONDS = 10_000, 0
numbers = {"schema": files.SchemaFromFirstRows(), "skip_columns": True}
how = {"numbers": numbers, "mixed": {"schema": NaiveBayes().files_schema()}}[sys.argv[1]]
files.scan(sys.argv[2], target="label", checkpoint=sys.argv[3], **how)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_at_any_moment_leaves_a_sound_checkpoint(kind, tmp_path, small_pieces):
    made, scan, _ = KINDS[kind]
    path, checkpoint = write(made(20_000), tmp_path / "a.csv"), tmp_path / "so-far"
    command = [sys.executable, "-c", KILLED_AT_ANY_MOMENT, kind, path, checkpoint]
    for seconds in (0.003, 0.05, 0.05):
        process = subprocess.Popen(command)
        while not checkpoint.exists() and process.poll() is None:
            time.sleep(0.001)
        time.sleep(seconds)
        process.kill()
        process.wait()
    assert checkpoint.exists()
    found, whole = (scan(path, target="label", checkpoint=kept) for kept in (checkpoint, None))
    assert found == whole


def test_an_interrupt_ends_a_pass_that_waits_for_rows(tmp_path):
    code = "from naively.engines import files; print('ready', flush=True);"
    code += "files.scan('-', target='y')"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(b"x,y\n1,a\n" * 10)
    process.stdin.flush()
    assert process.stdout.readline() == b"ready\n"
    wait_until_read(process.stdin)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=300) < 0  # though its input goes on
    _, error = process.communicate()
    assert b"KeyboardInterrupt" in error


def damage(path):
    """Overwrite what is needed to read the middle of a file."""
    content = bytearray(path.read_bytes())
    places = [len(content) // 2]
    if path.suffix == ".parquet":
        metadata = pq.read_metadata(path)
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        places = [group.column(0).data_page_offset for group in groups]
    elif path.suffix in (".arrow", ".arrows"):
        places = list(messages(path))
    middle = places[len(places) // 2]
    content[middle : middle + 30] = b"\xfe,\n" * 10
    path.write_bytes(content)


def messages(path):
    """Yield where the messages of an Arrow file begin."""
    with pa.OSFile(str(path)) as file:
        file.seek(8 if path.suffix == ".arrow" else 0)
        with suppress(EOFError, OSError, pa.ArrowInvalid):
            while True:
                place = file.tell()
                pa.ipc.read_message(file)
                yield place


def truncate(path):
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(b",") if path.suffix in TEXTS else -700])


TEXTS = (".csv", ".jsonl")
BROKEN = {"damaged": damage, "truncated": truncate, "empty": lambda path: path.write_bytes(b"")}
PLACES = {".parquet": "row group", ".csv": "after byte", ".jsonl": "line "}


@pytest.mark.filterwarnings("ignore:.*has changed since the checkpoint")  # it is repaired
@pytest.mark.parametrize("how", BROKEN)
def test_a_bad_file_stops_the_pass_and_what_was_read_is_kept(folder, tmp_path, how):
    (_, bad, _), checkpoint = sorted(folder.iterdir()), tmp_path / "c.safetensors"
    content = bad.read_bytes()
    whole = scan_numbers(folder, target="label")
    BROKEN[how](bad)
    with pytest.raises(NaivelyError, match=f"cannot read '.*{bad.name}'") as told:
        scan_numbers(folder, target="label", checkpoint=checkpoint)
    if how == "damaged":
        assert PLACES.get(bad.suffix, "") in str(told.value)
    bad.write_bytes(content)  # repaired: another time, but the file had not been finished
    assert scan_numbers(folder, target="label", checkpoint=checkpoint).summary == whole.summary


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_bad_files_can_be_skipped_and_leave_no_trace(folder, how, number):
    names = sorted(folder.iterdir())
    bad = names.pop(number)
    BROKEN[how](bad)
    found = scan_numbers(folder, target="label", skip_bad_files=True)
    assert [name for name, _ in found.bad_files] == [str(bad)]
    assert found.summary == summarize_numbers(names, target="label")


def test_skipping_goes_on_after_an_interrupt_within_the_bad_file(folder, tmp_path):
    first, *others = sorted(folder.iterdir())
    damage(first)
    checkpoint = tmp_path / "c.safetensors"
    interrupted(folder, checkpoint, 1, skip_bad_files=True)
    found = scan_numbers(folder, target="label", checkpoint=checkpoint, skip_bad_files=True)
    assert found.summary == summarize_numbers(others, target="label")


def test_a_checkpoint_of_another_pass_is_an_error(folder, tmp_path):
    checkpoint = tmp_path / "c.safetensors"
    scan_numbers(folder, target="label", checkpoint=checkpoint)
    for options, word in (
        ({"target": "name"}, "target was 'label' and is now 'name'"),
        ({"target": "label", "columns": ["count"]}, "columns was None"),
        ({"target": "label", "exclude": ["count"]}, "exclude was"),
        ({"target": "label", "weight": "flag"}, "weight was None"),
    ):
        with pytest.raises(NaivelyError, match=word):
            scan_numbers(folder, checkpoint=checkpoint, **options)
    first, *others = sorted(folder.iterdir())
    with pytest.raises(NaivelyError, match="is of other files"):
        scan_numbers(others, target="label", checkpoint=checkpoint)
    os.utime(first, (1, 1))
    with pytest.raises(NaivelyError, match=f"is of other files.*{first.name}"):
        scan_numbers(folder, target="label", checkpoint=checkpoint)


def test_files_that_come_later_are_read_on_top(folder, tmp_path):
    checkpoint = tmp_path / "c.safetensors"
    first, second, third = sorted(folder.iterdir())
    scan_numbers([first, second], target="label", checkpoint=checkpoint)
    found = scan_numbers([first, second, third], target="label", checkpoint=checkpoint)
    assert found == scan_numbers(folder, target="label")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x08\0\0\0\0\0\0\0{}      "])
def test_what_is_no_checkpoint_is_an_error(tmp_path, content):
    path = write(rows(10), tmp_path / "a.csv")
    (tmp_path / "c.safetensors").write_bytes(content)
    with pytest.raises(NaivelyError, match=r"is not a valid checkpoint.*Remove it to start again"):
        scan_numbers(path, target="label", checkpoint=tmp_path / "c.safetensors")
    assert (tmp_path / "c.safetensors").read_bytes() == content


def test_a_stream_has_no_checkpoint(tmp_path):
    with pytest.raises(NaivelyError, match="a checkpoint needs files"):
        scan_numbers(pa.table({"x": [1.0]}), target="y", checkpoint=tmp_path / "c")


def test_progress_counts_rows_and_bytes_up_to_the_whole(folder):
    calls = []
    scan_numbers(folder, target="label", progress=lambda *call: calls.append(call))
    total = sum(path.stat().st_size for path in Path(folder).iterdir())
    assert calls == sorted(calls)
    assert calls[-1] == (5400, total, total)
    assert len(calls) > 6


# --- of numbers and categories, whose edges are those of the first rows --------------------------


def mixed_summary(source, **options):
    return scan_mixed(source, target="label", **options).summary


def test_files_that_come_later_cost_only_themselves(ending, tmp_path, monkeypatch, small_pieces):
    monkeypatch.setattr(summary_pass, "FIRST", 900)  # so that they do not move the edges
    checkpoint = tmp_path / "so-far"
    folder = three_files(tmp_path, ending, people)
    last = max(folder.iterdir())
    later = last.rename(tmp_path / last.name)
    mixed_summary(folder, checkpoint=checkpoint)
    later.rename(last)
    assert mixed_summary(folder, checkpoint=checkpoint) == mixed_summary(folder)


@pytest.mark.parametrize("params", [{"calibration": None}, {"families": {"size": "categorical"}}])
def test_a_checkpoint_of_something_else_is_refused(tmp_path, params):
    path = write(people(), tmp_path / "a.parquet")
    mixed_summary(path, checkpoint=tmp_path / "c")
    with pytest.raises(NaivelyError, match=r"the checkpoint .* is of"):
        mixed_summary(path, schema=NaiveBayes(**params).files_schema(), checkpoint=tmp_path / "c")


def test_a_file_that_is_skipped_leaves_no_trace(tmp_path, small_pieces):
    for name, n in (("a", 900), ("b", 3000), ("c", 1500)):
        write(people(n, seed=n), tmp_path / f"{name}.parquet")
    sound = [tmp_path / "a.parquet", tmp_path / "c.parquet"]
    schema = mixed_summary(tmp_path).schema
    content = bytearray((tmp_path / "b.parquet").read_bytes())
    half = len(content) // 2
    content[half : half + 2000] = bytes(2000)
    (tmp_path / "b.parquet").write_bytes(content)
    for n_jobs in (1, 2, 7):
        found = mixed_summary(tmp_path, schema=schema, skip_bad_files=True, n_jobs=n_jobs)
        assert found == mixed_summary(sound, schema=schema)


def test_a_first_file_that_is_skipped_does_not_keep_a_pass_from_going_on(
    tmp_path, small_pieces, monkeypatch
):
    folder = three_files(tmp_path, ".parquet", people)
    content = bytearray((folder / "a.parquet").read_bytes())
    at = len(content) * 3 // 4
    content[at : at + 2000] = bytes(2000)
    (folder / "a.parquet").write_bytes(content)
    monkeypatch.setattr(summary_pass, "FIRST", 1000)  # rows that it has
    options = {"skip_bad_files": True, "checkpoint": tmp_path / "so-far"}
    whole = mixed_summary(folder, skip_bad_files=True)
    assert whole.weight == 2400
    with pytest.raises(KeyboardInterrupt):
        mixed_summary(folder, progress=Interrupting(6), **options)
    assert mixed_summary(folder, **options) == whole
