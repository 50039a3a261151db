"""What an estimator has learned, as one value that is replaced as a whole.

Methods that read take the state once. Learning makes another state, and one assignment puts it in
place: whoever reads meanwhile has the old one or the new one, and never parts of both.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from naively.model.model import Model
from naively.statistics import model_file
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.estimators.estimator import SummaryClassifier
    from naively.estimators.stream import Stream

_FORMAT = 3
_FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True, eq=False, slots=True)
class State:
    """A summary, what was read off it, and the stream that goes on from it.

    Attributes
    ----------
    summary : Summary
        Without the rows that a stream has learned since; None if there were no others so far.
    dtype : dtype
        The type of answers.
    stream : Stream or None
        What learns single rows, since the state was last changed otherwise.
    window : list of (row, label, weight)
        The rows of the window of the stream before, for the next one.
    takes_some_columns : bool
        Whether single rows were learned: then dicts need not have every column.
    memo : dict
        What was computed from the summary, by name.
    """

    summary: Summary
    dtype: np.dtype[Any] = _FLOAT64
    stream: Stream | None = None
    window: list[Any] = field(default_factory=list)
    takes_some_columns: bool = False
    memo: dict[str, Any] = field(default_factory=dict)

    def changed(self, summary: Summary, model: Model | None = None, **parts: Any) -> State:
        """Return the state with another summary, and with other parts as they are given."""
        memo = {} if model is None else {"model": model}
        return replace(self, summary=summary, memo=memo, **parts)

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return what is computed from the summary when it is first asked for.

        Threads that ask at the same time may compute it twice, with equal results.
        """
        if name not in self.memo:
            self.memo[name] = compute()
        return self.memo[name]

    def model(self, read: Callable[[Summary], Model]) -> Model:
        """Return the model, read off the summary by the given function."""
        model: Model = self.once("model", lambda: read(self.summary))
        return model

    def plain(self) -> dict[str, Any]:
        """Return what pickles hold: arrays and texts, as model files do, and the rows of a window.

        Whoever loads such a pickle by a list of types that are trusted, as skops does, needs to
        trust the estimator alone.
        """
        header, tensors = model_file.pack_without_labels(self.summary)
        return {
            "format": _FORMAT,
            "dtype": self.dtype.str,
            "header": model_file.as_json(header),
            "classes": self.summary.classes,
            "categories": self.summary.categories,
            "tensors": tensors,
            "window": self.window,
            "takes_some_columns": self.takes_some_columns,
        }

    @staticmethod
    def is_plain(given: Any) -> bool:
        """Whether this is what `plain` returns."""
        return isinstance(given, dict) and given.get("format") == _FORMAT

    @classmethod
    def from_plain(cls, given: dict[str, Any]) -> Self:
        """Return the state of which `plain` returned this."""
        header, labels = json.loads(given["header"]), (given["classes"], given["categories"])
        return cls(
            model_file.unpack_with_labels(header, given["tensors"], *labels),
            np.dtype(given["dtype"]),
            window=given.get("window", []),
            takes_some_columns=given.get("takes_some_columns", False),
        )


NOTHING = State(None)  # type: ignore[arg-type]


def learned(estimator: SummaryClassifier) -> State:
    """Return what an estimator has learned, which methods take once; of a stream, as it is now."""
    state = estimator.state_
    stream = state.stream
    if stream is not None and stream.is_ahead:
        stream.is_ahead = False
        try:
            state = estimator.state_ = state.changed(stream.summary())
        except BaseException:
            stream.is_ahead = True
            raise
    if state.summary is None:
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"This {estimator.public_name} instance is not fitted yet. Call 'fit' with "
            "appropriate arguments before using this estimator."
        )
    return state


def is_fitted(estimator: SummaryClassifier) -> bool:
    """Whether an estimator has learned anything."""
    state = estimator.state_
    return state.summary is not None or (state.stream is not None and state.stream.is_ahead)


def end_stream(estimator: SummaryClassifier) -> State:
    """Return the state without its stream; the next one begins from it, with the window's rows."""
    state = estimator.state_
    if state.stream is not None:
        state = learned(estimator) if state.stream.is_ahead else state
        assert state.stream is not None
        state = estimator.state_ = replace(state, stream=None, window=state.stream.kept())
    return state


def adopt(
    estimator: SummaryClassifier,
    summary: Summary,
    model: Model | None = None,
    dtype: np.dtype[Any] | None = None,
) -> Any:
    """Return the estimator with another summary: the last step, when nothing can fail any more."""
    state = end_stream(estimator)
    estimator.state_ = state.changed(summary, model, dtype=dtype or state.dtype)
    return estimator


def copied(estimator: SummaryClassifier, **params: Any) -> Any:
    """Return an estimator of the last state, which what is learned later does not change."""
    other = object.__new__(type(estimator))
    state = estimator.state_
    still = state if state.stream is None else replace(state, stream=None)
    other.__dict__.update(estimator.__dict__, state_=still, **params)
    return other


def snapshot(model: Any, **params: Any) -> Any:
    """Return a classifier as it is now; one that is not naively's, or not fitted, is itself."""
    if not isinstance(getattr(model, "state_", None), State) or not is_fitted(model):
        return model
    learned(model)
    return copied(model, **params)
