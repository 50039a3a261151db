"""Sparse counts beside scikit-learn's MultinomialNB: times, and peaks of memory beyond the data.

`fit` includes reading the logarithms off, which naively does when they are first asked for. Places
are drawn evenly from all columns, which is harder on caches than words are. Peaks are measured in
fresh interpreters, as in `benchmarks.memory`: ``python -m benchmarks.counts naively fit``.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB as SklearnMultinomialNB

from benchmarks.contests import Contest
from benchmarks.corpora import CORPORA
from benchmarks.memory import high_water, settle
from benchmarks.speed import SKLEARN, records
from benchmarks.tables import Columns, Options, mark, megabytes, seconds
from benchmarks.workloads import Data
from naively import MultinomialNB

__all__ = ["COLUMNS", "WORKS", "measure"]

STATISTIC = "its statistic"
_ROWS, _COLUMNS, _CELLS, _CLASSES = 1_000_000, 2**20, 80, 20
_PEERS = {"naively": MultinomialNB, SKLEARN: SklearnMultinomialNB}


class Work(NamedTuple):
    """A contest of one verb on some rows, in so many threads, and how many times as fast it is."""

    name: str
    contest: Callable[[Data, int], Contest]
    data: Callable[[], Data]
    n_jobs: int
    bar: float


@cache
def _many() -> Data:
    """Draw rows of counts, whose places depend on the class in every fourth cell."""
    rng = np.random.default_rng(0)
    y = rng.integers(_CLASSES, size=_ROWS)
    places = rng.integers(_COLUMNS, size=(_ROWS, _CELLS), dtype=np.int32)
    places[:, ::4] = places[:, ::4] // _CLASSES * _CLASSES + y[:, np.newaxis]
    np.minimum(places, _COLUMNS - 1, out=places)
    places.sort(axis=1)
    counts = rng.integers(1, 4, size=places.size).astype(np.float64)
    starts = np.arange(0, places.size + 1, _CELLS, dtype=np.int32)
    return Data(csr_array((counts, places.reshape(-1), starts), shape=(_ROWS, _COLUMNS)), y)


@cache
def _newsgroups() -> Data:
    texts, labels, train, _ = CORPORA["newsgroups"]()
    return Data(CountVectorizer().fit_transform([texts[i] for i in train]), labels[train])


def _fit(data: Data, n_jobs: int) -> Contest:
    works = {"naively": lambda: _read(MultinomialNB(n_jobs=n_jobs).fit(*data))}
    works[SKLEARN] = lambda: SklearnMultinomialNB().fit(*data)
    return Contest(works, _same_models, _bytes(data.X))


def _read(model: Any) -> Any:
    _ = model.feature_log_prob_
    return model


def _predict(data: Data, n_jobs: int) -> Contest:
    models = _models(data, n_jobs)
    works = {name: partial(model.predict, data.X) for name, model in models.items()}
    return Contest(works, _same_answers, _bytes(data.X))


def _predict_one(data: Data, n_jobs: int) -> Contest:
    row = data.X[[0]]
    models = _models(data, n_jobs)
    works = {name: partial(model.predict, row) for name, model in models.items()}
    return Contest(works, _same_answers, _bytes(row))


def _partial_fit(data: Data, n_jobs: int) -> Contest:
    """Learn 100 rows more; the next ones at each call."""
    some = Data(data.X[:20_000], data.y[:20_000])
    models = _models(some, n_jobs)
    batches = [Data(some.X[i : i + 100], some.y[i : i + 100]) for i in range(0, 20_000, 100)]
    calls = dict.fromkeys(models, 0)

    def learn(name: str) -> None:
        models[name].partial_fit(*batches[calls[name] % len(batches)])
        calls[name] += 1

    def agree(_: dict[str, Any]) -> None:
        while (behind := min(calls, key=calls.__getitem__)) != max(calls, key=calls.__getitem__):
            learn(behind)
        _same_models(models)

    works = {name: partial(learn, name) for name in models}
    return Contest(works, agree, _bytes(batches[0].X))


def _models(data: Data, n_jobs: int) -> dict[str, Any]:
    ours = MultinomialNB(n_jobs=n_jobs).fit(*data)
    return {"naively": ours, SKLEARN: SklearnMultinomialNB().fit(*data)}


def _same_models(models: dict[str, Any]) -> None:
    ours, theirs = models["naively"], models[SKLEARN]
    assert_array_equal(ours.feature_count_, theirs.feature_count_)
    assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-12)


def _same_answers(answers: dict[str, Any]) -> None:
    assert_array_equal(answers["naively"], answers[SKLEARN])


def _bytes(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


_SIZE = f"{_ROWS:,} x 2^20, {_CELLS} cells a row, {_CLASSES} classes"
# fmt: off
WORKS = [
    Work(f"fit, {_SIZE}, one thread", _fit, _many, 1, 9),
    Work("fit, same, two threads", _fit, _many, 2, 12),
    Work("predict, same, one thread", _predict, _many, 1, 3),
    Work("predict, same, two threads", _predict, _many, 2, 5),
    Work("predict, one row of the same", _predict_one, _many, 1, 500),
    Work("partial_fit, 100 rows of the same", _partial_fit, _many, 1, 500),
    Work("fit, 20 newsgroups, one thread", _fit, _newsgroups, 1, 4),
    Work("predict, 20 newsgroups, one thread", _predict, _newsgroups, 1, 3),
]
# fmt: on


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Hold every contest, then measure the peaks."""
    for work in WORKS:
        if options.only in work.name:
            contest = work.contest(work.data(), work.n_jobs)
            yield from records(work.name, contest, {SKLEARN: work.bar}, options)
            gc.collect()
    _many.cache_clear()
    for verb in ("fit", "predict"):
        if options.only in (name := f"memory beyond X, {verb}, same"):
            yield from _peaks(name, verb)


def _peaks(name: str, verb: str) -> Iterator[dict[str, Any]]:
    """Yield the peak beside the statistic's own size, and beside scikit-learn's peak."""
    command = [sys.executable, "-m", "benchmarks.counts"]
    peaks = {
        peer: float(subprocess.run([*command, peer, verb], check=True, capture_output=True).stdout)
        for peer in _PEERS
    }
    ours = peaks.pop("naively")
    for peer, size in {STATISTIC: _CLASSES * _COLUMNS * 8.0, **peaks}.items():
        bar = 1 / 1.2 if peer == STATISTIC else None
        yield {
            "work": name,
            "peer": peer,
            "ours": {"memory": ours},
            "theirs": {"memory": size},
            "ratio": size / ours,
            "ratio_of_best": size / ours,
            "bar": bar,
            "met": None if bar is None else size / ours >= bar,
        }


def _extra(name: str, verb: str) -> int:
    """Return by how many bytes the peak rises above data and outputs."""
    data = _many()
    model = _PEERS[name]().fit(data.X[:1000], data.y[:1000])  # whatever is imported late, is now
    model.predict(data.X[:10])
    model = _PEERS[name]() if verb == "fit" else _PEERS[name]().fit(*data)
    start = settle()
    output = model.fit(*data) if verb == "fit" else model.predict(data.X)
    return high_water() - start - getattr(output, "nbytes", 0)


def _amount(side: dict[str, Any]) -> str:
    return megabytes(side["memory"]) if "memory" in side else seconds(side["median"])


COLUMNS: Columns = {
    "work": lambda r: r["work"],
    "naively": lambda r: _amount(r["ours"]),
    "compared with": lambda r: r["peer"],
    "its time": lambda r: _amount(r["theirs"]),
    "times as fast, or as small": lambda r: f"{r['ratio']:.3g}",
    "by best runs": lambda r: f"{r['ratio_of_best']:.3g}",
    "goal": lambda r: "" if r["bar"] is None else f"{r['bar']:.3g}",
    "met": lambda r: mark(r["met"]),
}

if __name__ == "__main__":
    print(_extra(*sys.argv[1:]))
