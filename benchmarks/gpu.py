"""Rows on a GPU: beside reading them, and beside scikit-learn's array API on torch's tensors.

It needs a GPU, and for scikit-learn the variable ``SCIPY_ARRAY_API=1``. Answers are compared with
float64's before anything is timed: means and variances relative to the spread, and every label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.tables import Columns, Options, mark, seconds
from naively import GaussianNB, summarize

__all__ = ["COLUMNS", "measure"]

_ROWS, _COLUMNS = 20_000_000, 50
_STEP = 1_000_000  # rows that float64 judges at a time
_TIE = 1e-9  # the difference of two classes' scores below which either is right
_GOALS = {
    "summarize, 10 classes": 2.5e-3,
    "predict, 10 classes": 2.0e-3,
    "predict_proba, 10 classes": 2.8e-3,
    "summarize, 100 classes": 10e-3,
    "predict, 100 classes": 4e-3,
    "fit of float64, 10 classes": 3 * 1.74e-3,
}
_RATIOS = {"fit, 10 classes": 7.0, "predict, 10 classes": 50.0}


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the seconds of each work, its error, and scikit-learn's seconds."""
    for n_classes in (10, 100):
        X, y = _clouds(n_classes)
        yield from _measured(X, y, n_classes, options.rounds)
    X, y = _clouds(10)
    X = X.double()
    error = _error(GaussianNB().fit(X, y), X, y, most=1e-12)
    found = _seconds(lambda: GaussianNB().fit(X, y), 5 * options.rounds)
    yield _record("fit of float64, 10 classes", found, _seconds(X.sum, 9), None, error)


def _measured(X: Any, y: Any, n_classes: int, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield what tensors of float32 cost, and what they cost scikit-learn where that is few."""
    ours, reading = GaussianNB().fit(X, y), _seconds(X.sum, 9)
    error = _error(ours, X, y, most=1e-6)
    _check_answers(ours, X)
    found = _seconds(partial(summarize, X, y), 5 * rounds)
    yield _record(f"summarize, {n_classes} classes", found, reading, None, error)
    works = {"fit": (X, y), "predict": (X,), "predict_proba": (X,)}
    theirs = _scikit_learn(X, y) if n_classes == 10 else None
    for work, given in works.items():
        name = f"{work}, {n_classes} classes"
        peer = None if theirs is None else _seconds(partial(getattr(theirs, work), *given), 3)
        found = _seconds(partial(getattr(ours, work), *given), 5 * rounds)
        yield _record(name, found, reading, peer, None)


def _clouds(n_classes: int) -> tuple[Any, Any]:
    """Return Gaussian clouds of variance 1 around means that are as far apart."""
    import torch

    chance = torch.Generator("cuda").manual_seed(0)
    options: Any = {"device": "cuda", "generator": chance}
    means = torch.randn(n_classes, _COLUMNS, **options)
    y = torch.randint(0, n_classes, (_ROWS,), **options)
    X = torch.randn(_ROWS, _COLUMNS, **options)
    for rows in _blocks():
        X[rows] += means[y[rows]]
    return X, y


def _blocks() -> list[slice]:
    return [slice(start, start + _STEP) for start in range(0, _ROWS, _STEP)]


def _seconds(work: Callable[[], Any], rounds: int) -> float:
    """Return the median of some calls, each until the GPU has finished."""
    import torch

    taken = []
    for _ in range(rounds + 2):
        torch.cuda.synchronize()
        start = perf_counter()
        work()
        torch.cuda.synchronize()
        taken.append(perf_counter() - start)
    return median(taken[2:])


def _error(model: GaussianNB, X: Any, y: Any, *, most: float) -> float:
    """Return the largest error of means and variances, relative to the spread."""
    moments, worst = model.summary_.moments, 0.0
    for k in (0, moments.mean.shape[0] - 1):
        own = X[y == k].double()
        mean, variance = own.mean(0), own.var(0, correction=0)
        spread = variance.sqrt().cpu().numpy()
        found = moments.m2[k] / moments.weight[k]
        worst = max(worst, float(np.abs((moments.mean[k] - mean.cpu().numpy()) / spread).max()))
        worst = max(worst, float(np.abs(found / variance.cpu().numpy() - 1).max()))
    assert worst <= most, worst
    return worst


def _check_answers(model: GaussianNB, X: Any) -> None:
    """Compare every label, and every probability, with float64's."""
    import torch

    form: Any = model.model_.terms[0].form
    B, mu = (torch.tensor(part, device="cuda") for part in (form.B, form.mu))
    A = torch.tensor(form.A.sum(axis=0) + model.model_.constant, device="cuda")
    labels, chances = model.predict(X), model.predict_proba(X)
    for rows in _blocks():
        x = X[rows].double()
        joint = A - x.square() @ B + x @ (2 * B * mu) - (B * mu * mu).sum(0)
        top = joint.topk(2).values
        tied = top[:, 0] - top[:, 1] < _TIE
        assert bool(((labels[rows] == joint.argmax(1)) | tied).all())
        assert float((torch.softmax(joint, 1) - chances[rows]).abs().max()) < 1e-4


def _scikit_learn(X: Any, y: Any) -> Any:
    """Return scikit-learn's classifier, fitted on tensors."""
    from sklearn import set_config
    from sklearn.naive_bayes import GaussianNB as Theirs

    set_config(array_api_dispatch=True)
    return Theirs().fit(X, y)


def _record(
    name: str, found: float, reading: float, peer: float | None, error: float | None
) -> dict[str, Any]:
    goal, ratio = _GOALS.get(name), _RATIOS.get(name)
    met = None if goal is None else found <= goal
    if ratio is not None and peer is not None:
        met = met is not False and peer / found >= ratio
    return {
        "work": name,
        "seconds": found,
        "reading": reading,
        "scikit-learn": peer,
        "error": error,
        "goal": goal,
        "met": met,
    }


COLUMNS: Columns = {
    f"work, {_ROWS:,} x {_COLUMNS}": lambda r: r["work"],
    "naively": lambda r: seconds(r["seconds"]),
    "reading alone": lambda r: seconds(r["reading"]),
    "scikit-learn": lambda r: "" if r["scikit-learn"] is None else seconds(r["scikit-learn"]),
    "ratio": lambda r: (
        "" if r["scikit-learn"] is None else f"{r['scikit-learn'] / r['seconds']:.1f}x"
    ),
    "error": lambda r: "" if r["error"] is None else f"{r['error']:.0e}",
    "goal": lambda r: "" if r["goal"] is None else seconds(r["goal"]),
    "met": lambda r: mark(r["met"]),
}
