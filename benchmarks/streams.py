"""Streams of single rows beside river's, by processor time on one thread.

What a stream has learned must be what a batch of its rows gives before any time is taken.
"""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from river import naive_bayes

from benchmarks.tables import Columns, Options, mark, seconds
from naively import GaussianNB, MultinomialNB

__all__ = ["COLUMNS", "WORKS", "Work", "measure"]

_ROWS, _COLUMNS, _WORDS = 5000, 20, 5000
_LONG = 1_000_000
_GROWTH = 1e6  # bytes that a million rows may add to the memory of the process


class Work(NamedTuple):
    """What is done with every row, by naively and by river."""

    name: str
    ours: Callable[[], Any]
    its: Callable[[], Any]
    rows: str
    its_rows: str
    step: Callable[[Any, Any, str], Any]
    bar: float  # times as fast


def _learn(model: Any, row: Any, label: str) -> None:
    model.learn_one(row, label)


def _learn_and_answer(model: Any, row: Any, label: str) -> None:
    model.learn_one(row, label)
    model.predict_proba_one(row)


def _learn_and_label(model: Any, row: Any, label: str) -> None:
    model.learn_one(row, label)
    model.predict_one(row)


_GAUSSIANS = GaussianNB, naive_bayes.GaussianNB
_MULTINOMIALS = MultinomialNB, naive_bayes.MultinomialNB
WORKS = [
    Work("learn_one, 20 numbers in a dict", *_GAUSSIANS, "dicts", "dicts", _learn, 3),
    Work("learn_one, 20 numbers in a list", *_GAUSSIANS, "lists", "dicts", _learn, 6),
    Work(
        "learn_one and predict_proba_one, 20 numbers in a dict",
        *_GAUSSIANS,
        "dicts",
        "dicts",
        _learn_and_answer,
        5,
    ),
    Work(
        "learn_one and predict_one, a bag of 20 words of 5,000",
        *_MULTINOMIALS,
        "bags",
        "bags",
        _learn_and_label,
        5,
    ),
]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the time of a row, of both, and what a million rows take."""
    rows, labels = _rows(), np.random.default_rng(1).choice(["a", "b"], _ROWS).tolist()
    _check(rows, labels)
    for work in WORKS:
        if options.only in work.name:
            yield _race(work, rows, labels, max(2, options.rounds))
            gc.collect()
    if options.only in "a million rows":
        yield _long()


def _rows() -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    lists = rng.normal(size=(_ROWS, _COLUMNS)).tolist()
    names = [f"column {j}" for j in range(_COLUMNS)]
    words = [f"word{j}" for j in range(_WORDS)]
    bags = [dict.fromkeys(np.take(words, at).tolist(), 1) for at in
            rng.integers(_WORDS, size=(_ROWS, 20))]  # fmt: skip
    return {"lists": lists, "dicts": [dict(zip(names, x, strict=True)) for x in lists],
            "bags": bags}  # fmt: skip


def _check(rows: dict[str, list[Any]], labels: list[str]) -> None:
    """Raise where a stream does not answer as a batch of its rows does."""
    model, batch = GaussianNB(), GaussianNB().fit(rows["lists"], labels)
    for row, label in zip(rows["lists"], labels, strict=True):
        model.learn_one(row, label)
    for row in rows["lists"][:100]:
        np.testing.assert_allclose(
            model.predict_proba_one(row), batch.predict_proba([row])[0], rtol=0, atol=1e-9
        )


def _race(work: Work, rows: Any, labels: list[str], rounds: int) -> dict[str, Any]:
    ours, its = [], []
    for _ in range(rounds):
        ours.append(_seconds(work.ours(), rows[work.rows], labels, work.step))
        its.append(_seconds(work.its(), rows[work.its_rows], labels, work.step))
    ratio = median(its) / median(ours)
    return {
        "work": work.name,
        "ours": {"median": median(ours)},
        "its": {"median": median(its)},
        "ratio": ratio,
        "bar": f"{work.bar} times",
        "met": ratio >= work.bar,
    }


def _seconds(model: Any, rows: list[Any], labels: list[str], step: Any) -> float:
    """Return the processor time of a row."""
    start = time.process_time()
    for row, label in zip(rows, labels, strict=True):
        step(model, row, label)
    return (time.process_time() - start) / len(rows)


def _long() -> dict[str, Any]:
    """Return what a million rows of a stream that is asked and taught take."""
    rows, model, half = _rows()["lists"], GaussianNB(window=1000), _LONG // 2
    times, memory = [], []
    for row in rows:
        _learn_and_answer(model, row, "a")
    for _ in range(2):
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        start = time.process_time()
        for i in range(half):
            _learn_and_answer(model, rows[i % _ROWS], "a" if i % 3 else "b")
        times.append(time.process_time() - start)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - memory[0]
    ratio = times[1] / times[0]
    return {
        "work": "learn_one and predict_proba_one, 1,000,000 lists in a window of 1,000: the second "
        f"half takes {ratio:.2f} times as long as the first, and {grown / 1e6:.1f} MB more memory",
        "ours": {"median": times[1] / half},
        "its": None,
        "ratio": ratio,
        "bar": "linear time, constant memory",
        "met": ratio < 1.3 and grown <= _GROWTH,
    }


COLUMNS: Columns = {
    "a row": lambda r: r["work"],
    "naively": lambda r: seconds(r["ours"]["median"]),
    "river": lambda r: seconds(r["its"]["median"]) if r["its"] else "",
    "times as fast": lambda r: f"{r['ratio']:.1f}" if r["its"] else "",
    "goal": lambda r: r["bar"],
    "met": lambda r: mark(r["met"]),
}
