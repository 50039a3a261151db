"""What a classifier has learned: a state, and what is read off it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naively.estimators._state import State
from naively.model import Model
from naively.summary import Summary

__all__ = ["LearnedMixin"]


class LearnedMixin:
    """The attributes of a fitted classifier, and how its state is taken and replaced."""

    _name: ClassVar[str]  # of the estimator, for messages and files
    _state: State | None = None
    _stream: Any = None  # what learns single rows, since the state was last changed otherwise
    _rows: Any = None  # its part in the kernel, where it has one
    _behind: bool = False  # whether the stream has learned rows that the state lacks
    _streams: bool = False  # whether single rows were learned: then dicts need not be complete
    _kept: list[Any] = []  # noqa: RUF012  the rows of the window, for the next stream

    @abstractmethod
    def _read(self, summary: Summary) -> Model:
        """Read a model off a summary, by the parameters as they are now."""

    @property
    def summary_(self) -> Summary:
        """The statistics of all rows seen. Everything else is computed from it."""
        return self._learned().summary

    @property
    def model_(self) -> Model:
        """The model that scores rows: class probabilities and the terms of all columns."""
        return self._model()

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return self._learned().summary.schema.n_columns

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns; there is no such attribute where they have none."""
        names = self._learned().summary.schema.names
        if names is None:
            raise AttributeError(f"this {self._name} was fitted without column names.")
        return np.array(names, dtype=object)

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels, sorted."""
        return self._learned().summary.classes

    @property
    def class_count_(self) -> NDArray[Any]:
        """Weight of the rows of each class."""
        state = self._learned()
        return state.summary.class_weight.astype(state.dtype)

    @property
    def class_prior_(self) -> NDArray[Any]:
        """Class probabilities."""
        state = self._learned()
        return self._model(state).prior.astype(state.dtype)

    # --- inside -------------------------------------------------------------------------------

    def _learned(self) -> State:
        """Return the state, which methods take once; of a stream, as it is now."""
        if self._behind:
            self._behind = False
            try:
                self._state = State(self._stream.summary(), self._dtype())
            except BaseException:
                self._behind = True
                raise
        state = self._state
        if state is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                f"This {self._name} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        return state

    def _model(self, state: State | None = None) -> Model:
        """Return the model of a state, or of the present one."""
        return (state or self._learned()).model(self._read)

    def _snapshot(self, **params: Any) -> Self:
        """Return an estimator of the present state, which what is learned later does not change."""
        self._learned()
        return self._copied(**params)

    def _copied(self, **params: Any) -> Self:
        """Return an estimator of the last state, which what is learned later does not change."""
        other = object.__new__(type(self))
        still = {"_stream": None, "_rows": None, "_behind": False}
        other.__dict__.update(self.__dict__, **still, **params)
        return other

    def _dtype(self) -> np.dtype[Any]:
        """Return the type of answers."""
        return np.dtype(np.float64) if self._state is None else self._state.dtype

    def _pause_stream(self) -> None:
        """Let the stream begin again from the summary, with the rows of its window."""
        if self._stream is not None:
            if self._behind:
                self._learned()
            self._kept = self._stream.kept()
            self._stream = self._rows = None

    def _adopt(
        self, summary: Summary, model: Model | None = None, dtype: np.dtype[Any] | None = None
    ) -> Self:
        """Take over a new state: the last step of every change, when nothing can fail any more."""
        self._pause_stream()
        self._state = State(summary, dtype or self._dtype(), model)
        return self

    def _with(self, dtype: str) -> Self:
        self._state = self._learned().typed(np.dtype(dtype))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None or self._behind
