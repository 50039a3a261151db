"""Classifiers of naively among river's models: in its pipelines, metrics and evaluations.

>>> from naively import GaussianNB
>>> from river import stream
>>> model = RiverClassifier(GaussianNB())
>>> for x, y in stream.iter_array([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"]):
...     model.learn_one(x, y)
>>> model.predict_one({0: 7.0})
'b'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from naively.errors import need
from naively.estimators.gaussian_nb import GaussianNB

base = need("river.base", "RiverClassifier")


class RiverClassifier(base.Classifier):  # type: ignore[name-defined]
    """A classifier of naively with the methods that river calls.

    Parameters
    ----------
    model : estimator
        One of naively's, with its parameters. It stays as it is: a copy of it learns.
    """

    if TYPE_CHECKING:
        model: Any

    def __init__(self, model: Any) -> None:
        self.model = model
        self._learner = clone(model)
        self._labels: set[Any] = set()
        self._classes: list[Any] | None = []

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": GaussianNB()}

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one row, its label and its weight."""
        self._learner.learn_one(x, y, w)
        if y not in self._labels:
            self._labels.add(y)
            self._classes = None

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """Return the most probable label; None before any was learned."""
        return self._learner.predict_one(x) if self._labels else None

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """Return the probability of each label that was learned."""
        if not self._labels:
            return {}
        if self._classes is None:
            self._classes = self._learner.classes_.tolist()
        shares = self._learner.predict_proba_one(x).tolist()
        return dict(zip(self._classes, shares, strict=True))
