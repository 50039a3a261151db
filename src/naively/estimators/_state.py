"""What an estimator has learned, as one value that is replaced as a whole.

Methods that read take the state once. Learning makes another state, and one assignment puts it in
place: whoever reads meanwhile has the old one or the new one, and never parts of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Self

import numpy as np

from naively.sample import Sample
from naively.schema import Schema
from naively.stats import Moments, Tallies
from naively.summary import Summary

__all__ = ["State", "snapshot"]


_FORMAT = 1


class State:
    """A summary, the type of answers, and the model that is read off this summary.

    The model is read when it is first asked for. Threads that ask at the same time may read it
    twice, which gives equal models.
    """

    __slots__ = ("_model", "dtype", "summary")

    def __init__(self, summary: Summary, dtype: np.dtype[Any], model: Any = None) -> None:
        self.summary, self.dtype, self._model = summary, dtype, model

    def typed(self, dtype: np.dtype[Any]) -> State:
        """Return the same with another type of answers."""
        return State(self.summary, dtype, self._model)

    def model(self, read: Callable[[Summary], Any]) -> Any:
        """Return the model, read off the summary by the given function unless it is there."""
        model = self._model
        if model is None:
            model = self._model = read(self.summary)
        return model

    def plain(self) -> dict[str, Any]:
        """Return summary and type as dicts, arrays, texts and numbers, which pickles may hold.

        Whoever loads such a pickle by a list of types that are trusted, as skops does, needs to
        trust the estimator alone.
        """
        summary = self.summary
        schema = _fields_of(summary.schema)
        for name in ("edges", "knots"):
            schema[name] = None if schema[name] is None else np.array(schema[name])
        return {
            "format": _FORMAT,
            "dtype": self.dtype.str,
            **_fields_of(summary),
            "schema": schema,
            "moments": summary.moments.values,
            "tallies": summary.tallies.values,
            "bins": summary.bins.values,
            "sample": None if summary.sample is None else _fields_of(summary.sample),
        }

    @staticmethod
    def is_plain(given: Any) -> bool:
        """Whether this is what `plain` returns."""
        return isinstance(given, dict) and given.get("format") == _FORMAT

    @classmethod
    def from_plain(cls, given: dict[str, Any]) -> Self:
        """Return the state of which `plain` returned this."""
        parts, schema = dict(given), dict(given["schema"])
        for name in ("edges", "knots"):
            if schema[name] is not None:
                schema[name] = tuple(map(tuple, schema[name].tolist()))
        del parts["format"]
        dtype, sample = np.dtype(parts.pop("dtype")), parts["sample"]
        parts |= {"schema": Schema(**schema), "moments": Moments(parts["moments"])}
        parts |= {name: Tallies(parts[name]) for name in ("tallies", "bins")}
        parts["sample"] = None if sample is None else Sample(**sample)
        return cls(Summary(**parts), dtype)


def _fields_of(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def snapshot(model: Any) -> Any:
    """Return a classifier as it is now; one that is not naively's, or not fitted, is itself."""
    fitted = getattr(model, "_state", None) is not None and hasattr(model, "_snapshot")
    return model._snapshot() if fitted else model
