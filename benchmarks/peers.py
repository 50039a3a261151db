"""The libraries beside which naively is measured, each behind one small adapter.

An adapter has ``fit(X, y) -> model``, ``predict(model, X)``, ``predict_proba(model, X)`` and
``stream(X, y, classes)``, where it can, and is imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["MODULES", "Peer", "peer", "present"]

Learn = Callable[[Any, Any], Any]

MODULES = {
    "naively": "naively",
    "scikit-learn": "sklearn.naive_bayes",
    "mlpack": "mlpack",
    "river": "river.naive_bayes",
}


class Peer:
    """An estimator with scikit-learn's face: scikit-learn's own, and ours."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def fit(self, X: Any, y: Any, **params: Any) -> Any:
        """Return a fitted model."""
        return self.module.GaussianNB(**params).fit(X, y)

    def predict(self, model: Any, X: Any) -> Any:
        """Return the label of each row."""
        return model.predict(X)

    def predict_proba(self, model: Any, X: Any) -> Any:
        """Return the probability of each row and class."""
        return model.predict_proba(X)

    def stream(self, X: Any, y: Any, classes: Any) -> tuple[Any, list[Any], Learn]:
        """Return a model that has seen the first row, all rows as it wants them, and its verb."""
        rows = [(X[i : i + 1], y[i : i + 1]) for i in range(X.shape[0])]
        model = self.module.GaussianNB().partial_fit(*rows[0], classes=classes)
        return model, rows, model.partial_fit

    def learned(self, model: Any) -> tuple[Any, Any]:
        """Return how many rows of each class were seen, and their means."""
        return model.class_count_, model.theta_


class _Mlpack(Peer):
    """mlpack's NBC; labels are 0, 1, ..."""

    def fit(self, X: Any, y: Any, **params: Any) -> Any:
        return self.module.nbc(training=X, labels=y, **params)["output_model"]

    def predict(self, model: Any, X: Any) -> Any:
        return self.module.nbc(input_model=model, test=X)["predictions"]

    def predict_proba(self, model: Any, X: Any) -> Any:
        return self.module.nbc(input_model=model, test=X)["probabilities"]


class _River(Peer):
    """river's GaussianNB, which learns one dict at a time."""

    def stream(self, X: Any, y: Any, classes: Any) -> tuple[Any, list[Any], Learn]:
        rows = [
            (dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist(), strict=True)
        ]
        model = self.module.GaussianNB()
        model.learn_one(*rows[0])
        return model, rows, model.learn_one

    def learned(self, model: Any) -> tuple[Any, Any]:
        counts = dict(sorted(model.class_counts.items()))
        columns = [[g.mu for g in model.gaussians[label].values()] for label in counts]
        return list(counts.values()), columns


@cache
def peer(name: str) -> Peer:
    """Return the adapter of a library."""
    kind = {"mlpack": _Mlpack, "river": _River}.get(name, Peer)
    return kind(import_module(MODULES[name]))


def present(*names: str) -> list[str]:
    """Return those libraries that are installed, and say which are not."""
    absent = [name for name in names if find_spec(MODULES[name].partition(".")[0]) is None]
    for name in absent:
        print(f"{name} is not installed: left out")
    return [name for name in names if name not in absent]
