"""Explanations beside SHAP's, where both are exact.

The log-odds of naive Bayes are a sum of functions of one column each, so the Shapley value of a
column is its contribution minus the mean of it over the background rows. That is asserted before
any time is taken. `LinearExplainer` knows models that are linear, as Gaussians of one variance are;
`ExactExplainer` asks any model for all subsets of its columns. Ours also gives the contributions to
every class, the probabilities and the answers.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from benchmarks.tables import Columns, Options, mark, seconds
from benchmarks.timing import race
from benchmarks.workloads import clouds
from naively import GaussianNB
from naively.inspection.explanations import Explanation

__all__ = ["COLUMNS", "WORKS", "Work", "measure"]

_BACKGROUND = 50  # rows
_SECOND = 1.0  # that an explanation of many rows may take
_AS_FAST = 100.0


class Work(NamedTuple):
    """Rows to explain by a model, and how SHAP explains it."""

    name: str
    n_rows: int
    n_columns: int
    model: GaussianNB
    theirs: Callable[..., Callable[[], Any]]
    is_linear: bool


def _linear(model: GaussianNB, X: Any, background: Any) -> Callable[[], Any]:
    import shap

    explainer = shap.LinearExplainer((model.coef_[0], model.intercept_[0]), background)
    return partial(explainer.shap_values, X)


def _exact(model: GaussianNB, X: Any, background: Any) -> Callable[[], Any]:
    import shap

    def log_odds(rows: Any) -> NDArray[np.float64]:
        joint = model.predict_joint_log_proba(rows)
        return np.asarray(joint[:, 1] - joint[:, 0])

    explainer = shap.ExactExplainer(log_odds, shap.maskers.Independent(background))
    return lambda: explainer(X, silent=True).values


_SHARED = GaussianNB(variance="shared")
WORKS = [
    Work("LinearExplainer, 100,000 x 50", 100_000, 50, _SHARED, _linear, True),
    Work("ExactExplainer, 100 x 10", 100, 10, GaussianNB(), _exact, False),
]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the time of each work, once the values agree."""
    for work in WORKS:
        if options.only in work.name:
            yield _measured(work, options)
            gc.collect()


def _measured(work: Work, options: Options) -> dict[str, Any]:
    X, y = clouds(max(work.n_rows, 1000), work.n_columns, 2)
    model, background = work.model.fit(X, y), X[:_BACKGROUND]
    X = np.ascontiguousarray(X[: work.n_rows])
    mean = model.explain(background).log_odds(1, 0).values.mean(axis=0)
    works = {"naively": partial(model.explain, X), "shap": work.theirs(model, X, background)}
    agree = partial(_agree, mean=mean)
    times = race(works, agree, rounds=options.rounds, patience=options.patience)
    ours, theirs = times["naively"], times["shap"]
    ratio = theirs.median / ours.median
    return {
        "work": work.name,
        "ours": ours._asdict(),
        "theirs": theirs._asdict(),
        "ratio": ratio,
        "bar": "1 s" if work.is_linear else f"{_AS_FAST:g} times",
        "met": ours.median < _SECOND if work.is_linear else ratio >= _AS_FAST,
    }


def _agree(answers: dict[str, Any], mean: NDArray[np.float64]) -> None:
    """Compare Shapley values: contributions to the log-odds, minus their mean over rows."""
    ours: Explanation = answers["naively"]
    values = ours.log_odds(1, 0).values - mean
    assert_allclose(answers["shap"], values, rtol=1e-6, atol=1e-6)


COLUMNS: Columns = {
    "compared with": lambda r: r["work"],
    "naively": lambda r: seconds(r["ours"]["median"]),
    "SHAP": lambda r: seconds(r["theirs"]["median"]),
    "times as fast": lambda r: f"{r['ratio']:,.0f}" if r["ratio"] > 10 else f"{r['ratio']:.2f}",
    "goal": lambda r: r["bar"],
    "met": lambda r: mark(r["met"]),
}
