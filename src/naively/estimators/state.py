"""What an estimator has learned, as one value that is replaced as a whole.

Methods that read take the state once. Learning makes another state, and one assignment puts it in
place: whoever reads meanwhile has the old one or the new one, and never parts of both.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from naively.model.model import Model
from naively.statistics import file as model_file
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.estimators.stream import Stream
    from naively.inspection.importance import Importance

_FORMAT = 3
_FLOAT64 = np.dtype(np.float64)


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
    """

    __slots__ = ("_memo", "dtype", "stream", "summary", "takes_some_columns", "window")

    def __init__(
        self,
        summary: Summary | None,
        dtype: np.dtype[Any] = _FLOAT64,
        model: Model | None = None,
        *,
        stream: Stream | None = None,
        window: list[Any] | None = None,
        takes_some_columns: bool = False,
    ) -> None:
        self.summary: Summary = summary  # type: ignore[assignment]
        self.dtype, self.stream = dtype, stream
        self.window, self.takes_some_columns = window or [], takes_some_columns
        self._memo: dict[str, Any] = {} if model is None else {"model": model}

    def changed(self, summary: Summary, model: Model | None = None, **parts: Any) -> State:
        """Return the state with another summary, and with other parts as they are given."""
        names = "dtype", "stream", "window", "takes_some_columns"
        return State(summary, model=model, **{name: getattr(self, name) for name in names} | parts)

    def but(self, **parts: Any) -> State:
        """Return the same summary, and what is read off it, with other parts."""
        other = self.changed(self.summary, **parts)
        other._memo = self._memo
        return other

    def model(self, read: Callable[[Summary], Model]) -> Model:
        """Return the model, read off the summary by the given function when it is first asked for.

        Threads that ask at the same time may read it twice, which gives equal models.
        """
        if "model" not in self._memo:
            self._memo["model"] = read(self.summary)
        model: Model = self._memo["model"]
        return model

    def importance(self, judged: Callable[[], Importance]) -> Importance:
        """Return the importance of columns, by the given function unless it is there."""
        if "importance" not in self._memo:
            self._memo["importance"] = judged()
        importance: Importance = self._memo["importance"]
        return importance

    def plain(self) -> dict[str, Any]:
        """Return summary and type as arrays and texts, which pickles may hold, as model files do.

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
        }

    @staticmethod
    def is_plain(given: Any) -> bool:
        """Whether this is what `plain` returns."""
        return isinstance(given, dict) and given.get("format") == _FORMAT

    @classmethod
    def from_plain(cls, given: dict[str, Any]) -> Self:
        """Return the state of which `plain` returned this."""
        header, labels = json.loads(given["header"]), (given["classes"], given["categories"])
        summary = model_file.unpack_with_labels(header, given["tensors"], *labels)
        return cls(summary, np.dtype(given["dtype"]))


def learned(estimator: Any) -> State:
    """Return what an estimator has learned, which methods take once; of a stream, as it is now."""
    state: State = estimator._state
    stream = state.stream
    if stream is not None and stream.is_ahead:
        stream.is_ahead = False
        try:
            state = estimator._state = state.changed(stream.summary())
        except BaseException:
            stream.is_ahead = True
            raise
    if state.summary is None:
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"This {estimator._name} instance is not fitted yet. Call 'fit' with "
            "appropriate arguments before using this estimator."
        )
    return state


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator has learned anything."""
    state = estimator._state
    return state.summary is not None or (state.stream is not None and state.stream.is_ahead)


def end_stream(estimator: Any) -> State:
    """Return the state without its stream; the next one begins from it, with the window's rows."""
    state: State = estimator._state
    if state.stream is not None:
        state = learned(estimator) if state.stream.is_ahead else state
        assert state.stream is not None
        state = estimator._state = state.but(stream=None, window=state.stream.kept())
    return state


def adopt(
    estimator: Any,
    summary: Summary,
    model: Model | None = None,
    dtype: np.dtype[Any] | None = None,
) -> Any:
    """Return the estimator with another summary: the last step, when nothing can fail any more."""
    state = end_stream(estimator)
    estimator._state = state.changed(summary, model, dtype=dtype or state.dtype)
    return estimator


def copied(estimator: Any, **params: Any) -> Any:
    """Return an estimator of the last state, which what is learned later does not change."""
    other = object.__new__(type(estimator))
    state: State = estimator._state
    still = state if state.stream is None else state.but(stream=None)
    other.__dict__.update(estimator.__dict__, _state=still, **params)
    return other


def snapshot(model: Any, **params: Any) -> Any:
    """Return a classifier as it is now; one that is not naively's, or not fitted, is itself."""
    if not isinstance(getattr(model, "_state", None), State) or not is_fitted(model):
        return model
    learned(model)
    return copied(model, **params)
