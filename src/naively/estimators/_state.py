"""What an estimator has learned, as one value that is replaced as a whole.

Methods that read take the state once. Learning makes another state, and one assignment puts it in
place: whoever reads meanwhile has the old one or the new one, and never parts of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from naively.axes import Axes
from naively.model import Model
from naively.schema import Schema
from naively.statistics import STATISTICS
from naively.summary import Summary
from naively.tensors import Tensors
from naively.text_file import option_dict, read_option, read_words, word_tensors

if TYPE_CHECKING:
    from naively.importance import Importance

__all__ = ["State", "snapshot"]


_FORMAT = 2


class State:
    """A summary, the type of answers, and the model that is read off this summary.

    The model is read when it is first asked for. Threads that ask at the same time may read it
    twice, which gives equal models.
    """

    __slots__ = ("_importance", "_model", "dtype", "summary")

    def __init__(self, summary: Summary, dtype: np.dtype[Any], model: Model | None = None) -> None:
        self.summary, self.dtype, self._model = summary, dtype, model
        self._importance: Importance | None = None

    def typed(self, dtype: np.dtype[Any]) -> State:
        """Return the same with another type of answers."""
        return State(self.summary, dtype, self._model)

    def model(self, read: Callable[[Summary], Model]) -> Model:
        """Return the model, read off the summary by the given function unless it is there."""
        model = self._model
        if model is None:
            model = self._model = read(self.summary)
        return model

    def importance(self, judged: Callable[[], Importance]) -> Importance:
        """Return the importance of columns, by the given function unless it is there."""
        if self._importance is None:
            self._importance = judged()
        return self._importance

    def plain(self) -> dict[str, Any]:
        """Return summary and type as dicts, arrays, texts and numbers, which pickles may hold.

        Whoever loads such a pickle by a list of types that are trusted, as skops does, needs to
        trust the estimator alone.
        """
        summary = self.summary
        schema = {field.name: getattr(summary.schema, field.name) for field in fields(Schema)}
        for name in ("edges", "knots"):
            schema[name] = None if schema[name] is None else np.array(schema[name])
        schema["options"] = [*map(option_dict, summary.schema.options)]
        tensors: dict[str, Any] = {}
        for i, words in enumerate(summary.words):
            tensors |= word_tensors(words, f"words.{i}")
        for statistic in summary.statistics.values():
            tensors |= statistic.tensors()
        return {
            "format": _FORMAT,
            "dtype": self.dtype.str,
            "schema": schema,
            "classes": summary.classes,
            "categories": summary.categories,
            "tensors": tensors,
        }

    @staticmethod
    def is_plain(given: Any) -> bool:
        """Whether this is what `plain` returns."""
        return isinstance(given, dict) and given.get("format") == _FORMAT

    @classmethod
    def from_plain(cls, given: dict[str, Any]) -> Self:
        """Return the state of which `plain` returned this."""
        parts = dict(given["schema"])
        for name in ("edges", "knots"):
            if parts[name] is not None:
                parts[name] = tuple(map(tuple, parts[name].tolist()))
        parts["options"] = tuple(map(read_option, parts.get("options", ())))
        schema, tensors = Schema(**parts), Tensors(given["tensors"])
        words = [read_words(tensors, f"words.{i}", its) for i, its in enumerate(schema.options)]
        axes = Axes(given["classes"], given["categories"], tuple(words))
        kinds = [kind for kind in STATISTICS if kind.is_measured(schema)]
        found = [kind.from_tensors(tensors, schema, axes) for kind in kinds]
        return cls(Summary.of(schema, axes, *found), np.dtype(given["dtype"]))


def snapshot(model: Any) -> Any:
    """Return a classifier as it is now; one that is not naively's, or not fitted, is itself."""
    fitted = hasattr(model, "_snapshot") and model.__sklearn_is_fitted__()
    return model._snapshot() if fitted else model
