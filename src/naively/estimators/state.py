"""What a classifier has learned: a state, and what is read off it.

What an estimator has learned, as one value that is replaced as a whole.

Methods that read take the state once. Learning makes another state, and one assignment puts it in
place: whoever reads meanwhile has the old one or the new one, and never parts of both.

How a fitted classifier is written: as a model file, as an ONNX graph, as a SQL query.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naively import __version__
from naively.data.axes import Axes
from naively.data.schema import Schema
from naively.data.tensors import Tensors
from naively.data.text.tokens import option_dict, read_option, read_words, word_tensors
from naively.errors import NaivelyError
from naively.model.model import Model
from naively.statistics import STATISTICS
from naively.statistics import file as model_file
from naively.statistics.file import ModelFile
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.importance import Importance


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


# --- What an estimator has learned, as one value that is replaced as a whole --------------------


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
        schema["kinds"] = None if schema["kinds"] is None else [*map(str, schema["kinds"])]
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


# --- How a fitted classifier is written ---------------------------------------------------------


_BY_CLASS = ("class_weight", "priors", "class_prior")  # numbers, or a dict of them by label


class PersistenceMixin(LearnedMixin):
    """The methods that write a model, and the one that makes it again of what was written."""

    class_weight: Any

    if TYPE_CHECKING:

        def __init__(self, **params: Any) -> None: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def _check_params(self) -> None: ...
        def _check_declared(self, declared: Any) -> None: ...
        def _readable(self, summary: Summary) -> Summary: ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, completely or not at all; `naively.load` reads it.

        Parameters
        ----------
        path : path-like
            The file, by custom with the ending ``.safetensors``; or the address of a remote one.
        """
        state, params = self._learned(), self._params_as_text()
        content = ModelFile(state.summary, self._name, params, state.dtype.name)
        model_file.write(path, content, version=__version__)

    def _params_as_text(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        params: dict[str, Any] = self.get_params(deep=False)
        for name in ("costs", *_BY_CLASS):
            given = params.get(name)
            if isinstance(given, Mapping):  # JSON takes text alone for keys
                params[name] = [[np.asarray(k).tolist(), float(v)] for k, v in given.items()]
            elif not (given is None or isinstance(given, str)):
                params[name] = np.asarray(given, dtype=np.float64).tolist()
        return params

    @classmethod
    def _from_text(cls, summary: Summary, params: dict[str, Any]) -> Self:
        """Return what was saved: also one that has seen too little for a model so far."""
        by_class = {name: params[name] for name in _BY_CLASS if isinstance(params.get(name), list)}
        dicts = {n: dict(v) for n, v in by_class.items() if all(isinstance(p, list) for p in v)}
        estimator = cls(**{**params, **dicts})
        estimator._check_params()
        estimator._check_declared(summary.classes)
        summary = estimator._readable(summary)
        with suppress(NaivelyError):  # `predict` raises it, as it did before the model was saved
            return estimator._adopt(summary, estimator._read(summary))
        return estimator._adopt(summary)
