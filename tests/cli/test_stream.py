"""``naively stream``: rows in, answers out, and nothing that was answered is lost."""

import json
import os
import random
import signal
import subprocess
import time
from contextlib import suppress

import numpy as np
import pytest

import naively
from naively.cli.journal import Journal
from tests.commands import PROGRAM, run_program

RNG = np.random.default_rng(0)


def some_lines(n):
    y = RNG.choice(["a", "b"], n)
    X = RNG.normal(size=(n, 2)) + 3 * (y == "b")[:, None]
    rows = [{"u": u, "v": v, "label": label} for (u, v), label in zip(X.tolist(), y, strict=True)]
    return X, y, [json.dumps(row) for row in rows]


def stream(folder, lines, *options):
    text = "".join(line + "\n" for line in lines)
    args = ["stream", "model.safetensors", "--target", "label", *options]
    return run_program(*args, stdin=text, cwd=folder)


def test_rows_are_answered_by_what_was_learned_before_and_then_learned(tmp_path):
    X, y, lines = some_lines(50)
    done = stream(tmp_path, lines, "--model", "gaussian")
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == 50
    assert answers[0] == {"label": None, "probabilities": {}}
    model = naively.GaussianNB()
    losses = []
    for x, label, answer in zip(X.tolist(), y.tolist(), answers, strict=True):
        if answer["label"] is not None:
            p = model.predict_proba_one(x)
            assert list(answer["probabilities"].values()) == pytest.approx(p.tolist(), abs=1e-12)
            losses.append(-np.log(max(answer["probabilities"].get(label, 0), 1e-15)))
        model.learn_one(x, label)
    assert f"log loss {np.mean(losses):.4f}" in done.stderr
    saved = naively.load(tmp_path / "model.safetensors")
    assert np.allclose(saved.theta_, naively.GaussianNB().fit(X, y).theta_, rtol=1e-12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.safetensors"]


def test_a_stream_goes_on_with_the_model_and_rows_without_a_label_are_only_answered(tmp_path):
    _, _, lines = some_lines(20)
    stream(tmp_path, lines[:10])
    more = [*lines[10:], '{"u": 3.0}', '{"label": null, "v": 1, "new": 2.5}']
    done = stream(tmp_path, more, "--checkpoint", "3", "--every", "4")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["label"] in ("a", "b") for answer in answers] == [True] * 12
    assert naively.load(tmp_path / "model.safetensors").class_count_.sum() == 20


def test_the_note_counts_the_rows_that_were_judged(tmp_path):
    _, _, lines = some_lines(6)
    done = stream(tmp_path, [*lines, '{"u": 1.0}', "{"])
    assert "8 rows, of which 5 were predicted and had a label: accuracy" in done.stderr
    assert "; 6 learned, 1 refused, 1 without label." in done.stderr


NUMBERS = {"whole": [1, 2, 1, 2], "floats": [1.0, 2.0, 1.0, 2.0], "both": [1, 2.0, 1.0, 2]}


@pytest.mark.parametrize("labels", NUMBERS.values(), ids=NUMBERS)
def test_labels_that_are_equal_numbers_are_one_class_and_judged_as_such(tmp_path, labels):
    rows = [{"u": float(i % 2), "label": labels[i % 4]} for i in range(40)]
    done = stream(tmp_path, [json.dumps(row) for row in rows], "--model", "gaussian")
    model, losses, n_right = naively.GaussianNB(), [], 0
    for row in rows:
        if losses or model.__sklearn_is_fitted__():
            p = dict(zip(model.classes_, model.predict_proba_one([row["u"]]), strict=True))
            losses.append(-np.log(max(p.get(int(row["label"]), 0.0), 1e-15)))
            n_right += model.predict_one([row["u"]]) == row["label"]
        model.learn_one([row["u"]], int(row["label"]))
    assert f"accuracy {n_right / 39:.4f}, log loss {np.mean(losses):.4f}" in done.stderr
    assert naively.load(tmp_path / "model.safetensors").class_count_.tolist() == [20, 20]
    last = json.loads(done.stdout.splitlines()[-1])
    assert str(last["label"]) in last["probabilities"]


def test_a_mark_of_byte_order_before_a_line_is_skipped(tmp_path):
    _, _, lines = some_lines(4)
    done = stream(tmp_path, ["\ufeff" + lines[0], "\ufeff", *lines[1:3], "\ufeff" + lines[3]])
    assert "error" not in done.stdout
    assert naively.load(tmp_path / "model.safetensors").class_count_.sum() == 4


BAD = {
    "no JSON": ("{", "a row must be a JSON object on one line: Expecting property name"),
    "too many brackets": ("[" * 100_000, "recursion"),
    "half a character as label": (r'{"u": 1, "label": "\ud800"}', "surrogates not allowed"),
    "half a character as column": (r'{"\uD800": 1, "label": "a"}', "surrogates not allowed"),
    "no object": ("[1, 2]", "a row must be a JSON object"),
    "text": ('{"u": "x", "label": "a"}', "column 'u' must hold numbers"),
    "infinity": ('{"u": Infinity, "label": "a"}', "column 'u' holds infinity"),
    "a number as label": ('{"u": 1, "label": 7}', "labels must be all of one type"),
    "a list as label": ('{"u": 1, "label": [7]}', ""),
    "text as weight": ('{"u": 1, "label": "a", "w": "3"}', "the weight of a row"),
    "a bad weight": ('{"u": 1, "label": "a", "w": -1}', "the weight of a row"),
}


@pytest.mark.parametrize(("line", "message"), BAD.values(), ids=BAD)
def test_a_bad_row_is_answered_by_its_error_and_the_others_are_learned(tmp_path, line, message):
    _, _, lines = some_lines(6)
    done = stream(tmp_path, [*lines[:3], line, *lines[3:]], "--weight", "w")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [("error" in answer) for answer in answers] == [False] * 3 + [True] + [False] * 3
    assert message in answers[3]["error"]
    assert naively.load(tmp_path / "model.safetensors").class_count_.sum() == 6


SPAM = [{"pills": 2, "label": "spam"}, {"today": 1, "label": "ham"}]
WORDS = [{"word": "pills", "label": "spam"}, {"word": "today", "label": "ham"}]
OTHERS = {"multinomial": SPAM, "complement": SPAM, "bernoulli": SPAM, "naive-bayes": WORDS}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_models_stream_too(tmp_path, kind):
    rows = OTHERS[kind] * 5
    done = stream(tmp_path, [json.dumps(row) for row in rows], "--model", kind)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-2])["label"] == "spam"


def acknowledged(folder, lines, seed):
    """Give lines to a program that is killed at some moment; return how many were answered."""
    command = [*PROGRAM, "stream", "model.safetensors", "-t", "label", "--checkpoint", "7"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        cwd=folder,
    )  # fmt: skip
    dice, n_answers, given = random.Random(seed), 0, 0
    deadline = time.monotonic() + 60
    stop_after = dice.randint(1, len(lines))
    try:
        while n_answers < stop_after and time.monotonic() < deadline:
            some = lines[given : given + dice.randint(1, 5)]
            given += len(some)
            process.stdin.write("".join(line + "\n" for line in some).encode())
            process.stdin.flush()
            while n_answers < min(given, stop_after) and process.stdout.readline().endswith(b"\n"):
                n_answers += 1
        time.sleep(dice.random() * 0.01)
    finally:
        os.kill(process.pid, signal.SIGKILL)
    n_answers += process.stdout.read().count(b"\n")
    process.stdout.close()
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.wait()
    return n_answers, given


def test_no_acknowledged_row_is_lost_or_learned_twice_when_the_program_is_killed(tmp_path):
    lines = [json.dumps({"u": float(2**i % 1009), "label": f"row {i}"}) for i in range(60)]
    at, sure, maybe = 0, set(), set()
    for seed in range(5):
        n_answers, n_given = acknowledged(tmp_path, lines[at:], seed)
        sure |= set(range(at, at + n_answers))
        maybe |= set(range(at, at + n_given))
        at += n_given
        if at >= len(lines):
            break
    assert stream(tmp_path, []).returncode == 0
    model = naively.load(tmp_path / "model.safetensors")
    pairs = zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True)
    found = {int(label.split()[1]): n for label, n in pairs}
    assert set(found.values()) == {1}
    assert sure <= set(found) <= maybe


def test_a_journal_whose_model_was_replaced_is_an_error(tmp_path):
    path = tmp_path / "model.safetensors"
    model = naively.GaussianNB().fit([[1.0], [2.0]], ["a", "b"])
    model.save(path)
    journal = Journal(path)
    assert journal.recover() == []
    journal.append(['{"u": 1.0, "label": "a"}'])
    journal.close()
    model.partial_fit([[3.0]], ["a"]).save(path)
    journal = Journal(path)
    with pytest.raises(naively.NaivelyError, match="was changed since"):
        journal.recover()
    journal.close()
    assert journal.path.exists()


def test_a_row_with_a_carriage_return_is_one_row_of_the_journal(tmp_path):
    row = '{"u": 1.0,\r"label": "a"}'
    journal = Journal(tmp_path / "model.safetensors")
    journal.recover()
    journal.append([row])
    journal.close()
    journal = Journal(tmp_path / "model.safetensors")
    assert journal.recover() == [row]
    journal.close()


def test_a_crash_between_the_model_and_the_journal_learns_nothing_twice(tmp_path, monkeypatch):
    path = tmp_path / "model.safetensors"
    journal = Journal(path)
    journal.recover()
    journal.append(['{"u": 1.0, "label": "a"}'])
    model = naively.GaussianNB().fit([[1.0]], ["a"])
    monkeypatch.setattr(Journal, "_begin", lambda self, now: None)  # killed before
    journal.checkpoint(model)
    monkeypatch.undo()
    journal.close()
    journal = Journal(path)
    assert journal.recover() == []
    journal.close()


def test_a_stream_that_learns_no_row_is_an_error_that_says_why(tmp_path):
    done = stream(tmp_path, ['{"u": {"v": 1}, "label": "a"}', '{"u": 1}'] * 2)
    assert done.returncode == 2
    assert [*map(len, map(json.loads, done.stdout.splitlines()))] == [1, 2, 1, 2]
    assert "4 rows, of which 2 were refused and 2 have no label 'label'" in done.stderr
    assert "The first was refused: column 'u' must hold numbers" in done.stderr


def test_a_stream_whose_rows_all_have_weight_0_is_an_error_that_leaves_nothing_behind(tmp_path):
    done = stream(tmp_path, ['{"u": 1, "label": "a", "w": 0}'] * 2, "--weight", "w")
    assert done.returncode == 2
    assert "2 have no label 'label', or 0 as 'w'" in done.stderr
    assert [*tmp_path.iterdir()] == []
    done = stream(tmp_path, ['{"u": 1, "label": "a", "w": 0}', '{"label": "a"}'], "--weight", "w")
    assert done.returncode == 0, done.stderr
    assert naively.load(tmp_path / "model.safetensors").class_count_.tolist() == [1]


def test_a_stream_of_no_rows_is_no_error(tmp_path):
    assert stream(tmp_path, ["", " "]).returncode == 0


DAMAGED = {
    "a row": ('{"after": "nothing"}\n {"u": 1, "label": "a"}\n {"u": \n', 3),
    "no object": ('{"after": "nothing"}\n 3\n', 2),
    "the first line": ("garbage\n", 1),
    "no first line": (' {"u": 1, "label": "a"}\n', 1),
}


@pytest.mark.parametrize(("content", "line"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_journal_is_an_error_that_names_the_line_and_keeps_the_journal(
    tmp_path, content, line
):
    journal = tmp_path / "model.safetensors.journal"
    journal.write_text(content)
    done = stream(tmp_path, some_lines(2)[2])
    assert done.returncode == 2
    assert f"line {line} of" in done.stderr
    assert "is damaged" in done.stderr
    assert journal.read_text() == content


def test_rows_of_a_journal_that_were_learned_with_other_options_are_an_error(tmp_path):
    journal = Journal(tmp_path / "model.safetensors")
    journal.recover()
    journal.append(['{"u": 1.0, "class": "a"}'])
    journal.close()
    done = stream(tmp_path, some_lines(2)[2])
    assert done.returncode == 2
    assert "cannot be learned again" in done.stderr
    assert journal.path.exists()


def test_a_model_that_cannot_be_read_leaves_no_journal_behind(tmp_path):
    (tmp_path / "model.safetensors").write_text("no model")
    assert stream(tmp_path, some_lines(2)[2]).returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.safetensors"]


def test_a_journal_that_cannot_grow_is_an_error_and_what_it_holds_is_kept(tmp_path):
    resource = pytest.importorskip("resource")
    journal = Journal(tmp_path / "m")
    journal.recover()
    journal.append(['{"u": 1.0, "label": "a"}'])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (journal.path.stat().st_size + 5, before[1]))
    try:
        with pytest.raises(naively.NaivelyError, match=r"\.journal': File too large"):
            journal.append(['{"u": 2.0, "label": "a"}'])
        journal.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    journal = Journal(tmp_path / "m")
    assert journal.recover() == ['{"u": 1.0, "label": "a"}']
    journal.close()
