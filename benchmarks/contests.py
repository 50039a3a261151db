"""Contests: who runs against whom on what, and how their answers are compared.

Each function returns a `Contest` in which ``"naively"`` is one of the contestants.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle, islice
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import agreement
from benchmarks.peers import peer, present
from benchmarks.timing import Work, race
from benchmarks.workloads import Data, with_missing

__all__ = ["SUM", "WITHOUT", "Contest", "beside_sum"]

SUM = "two threads that only sum"
WITHOUT = "itself without NaN"


class Contest(NamedTuple):
    """Works to be timed in turns, the check of their answers, and the bytes each reads."""

    contestants: dict[str, Work]
    agree: Callable[[dict[str, Any]], None]
    bytes: int


def fit(data: Data, *names: str, rtol: float = 1e-9) -> Contest:
    """Fit the same object."""
    X, y = data
    works = {name: partial(peer(name).fit, X, y) for name in present("naively", *names)}
    size = X.shape[0] * X.shape[1] * (X.itemsize if isinstance(X, np.ndarray) else 8)
    return Contest(works, partial(agreement.same_models, X=X, rtol=rtol), size)


def beside_sum(contest: Contest, X: NDArray[np.float64]) -> Contest:
    """Let two threads that do nothing but add up the same bytes take part."""

    def agree(answers: dict[str, Any]) -> None:
        agreement.same_sum(answers.pop(SUM), X)
        contest.agree(answers)

    return contest._replace(contestants={**contest.contestants, SUM: _sum(X)}, agree=agree)


def _sum(X: NDArray[np.float64]) -> Work:
    """Sum by two threads, over as many blocks as is quickest."""
    pool, flat = ThreadPoolExecutor(2), X.reshape(-1)
    cuts = [np.array_split(flat, n_blocks) for n_blocks in (2, 4, 8, 16, 32, 64)]
    works = {str(len(c)): lambda c=c: sum(pool.map(methodcaller("sum"), c)) for c in cuts}
    times = race(works, lambda answers: None)
    return works[min(times, key=lambda name: times[name].best)]


def predict(data: Data, *names: str, rows: int | None = None) -> Contest:
    """Label every row, or the first ``rows`` of them, by a model fitted on all."""
    X = data.X[:rows]
    models = _models(data, *names)
    works = {name: partial(peer(name).predict, model, X) for name, model in models.items()}
    agree = partial(agreement.same_labels, model=models["naively"], X=X)
    return Contest(works, agree, X.nbytes)


def predict_proba(data: Data, *names: str) -> Contest:
    """Compute the probability of every row and class."""
    models = _models(data, *names)
    works = {name: partial(peer(name).predict_proba, m, data.X) for name, m in models.items()}
    return Contest(works, agreement.same_numbers, data.X.nbytes)


def predict_one(data: Data, *names: str) -> Contest:
    """Label one row by ours `predict_one`, against their `predict` of a table of one row."""
    ours, *others = _models(data, *names).items()
    row = data.X[:1]
    works = {ours[0]: partial(ours[1].predict_one, row[0])}
    works |= {name: partial(peer(name).predict, model, row) for name, model in others}

    def agree(answers: dict[str, Any]) -> None:
        assert len({int(np.squeeze(answer)) for answer in answers.values()}) == 1, answers

    return Contest(works, agree, row.nbytes)


def _models(data: Data, *names: str) -> dict[str, Any]:
    return {name: peer(name).fit(data.X, data.y) for name in present("naively", *names)}


def fit_missing(data: Data) -> Contest:
    """Fit rows of which a tenth of the cells is missing, against the rows without."""
    (X, y), ours = data, peer("naively")
    holes = with_missing(X)
    works = {"naively": partial(ours.fit, holes, y), WITHOUT: partial(ours.fit, X, y)}
    return Contest(
        works, lambda answers: agreement.true_with_missing(answers["naively"], holes, y), X.nbytes
    )


def predict_missing(data: Data) -> Contest:
    """Label rows of which a tenth of the cells is missing, against the rows without."""
    (X, y), ours = data, peer("naively")
    holes = with_missing(X)
    model = ours.fit(holes, y)
    works = {"naively": partial(model.predict, holes), WITHOUT: partial(model.predict, X)}
    return Contest(works, lambda _: agreement.true_with_missing(model, holes, y), X.nbytes)


def stream(data: Data, *names: str, rows: int = 20_000) -> Contest:
    """Learn row by row: each call feeds the next so many rows of an endless repetition of X."""
    X, y = data
    classes = np.unique(y)
    works, models = {}, {}
    for name in present("naively", *names):
        models[name], table, learn = peer(name).stream(X, y, classes)
        endless = islice(cycle(table), 1, None)  # the first row has been seen
        works[name] = partial(_learn, learn, endless, rows)

    def agree(_: dict[str, Any]) -> None:
        for name, model in models.items():
            agreement.learned_rows(*peer(name).learned(model), X, y)

    return Contest(works, agree, X.itemsize * X.shape[1] * rows)


def _learn(learn: Callable[[Any, Any], Any], endless: Any, rows: int) -> None:
    for row, label in islice(endless, rows):
        learn(row, label)
