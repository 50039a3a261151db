"""How a fitted classifier is written: as a model file, as an ONNX graph, as a SQL query."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from naively import __version__, model_file
from naively._atomic import write_atomically
from naively.estimators._learned import LearnedMixin
from naively.exceptions import NaivelyError
from naively.model_file import ModelFile
from naively.summary import Summary

__all__ = ["PersistenceMixin"]

_BY_CLASS = ("class_weight", "priors", "class_prior")  # numbers, or a dict of them by label


class PersistenceMixin(LearnedMixin):
    """The methods that write a model, and the one that makes it again of what was written."""

    class_weight: Any

    if TYPE_CHECKING:

        def __init__(self, **params: Any) -> None: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
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

    def to_onnx(
        self,
        path: str | os.PathLike[str],
        *,
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        """Write the model as an ONNX graph, which gives ``label`` and ``probabilities``.

        Parameters
        ----------
        path : path-like
            The file, by custom with the ending ``.onnx``.
        dtype : {"float32", "float64"}, default="float32"
            The type of the input. The arithmetic inside is float64.
        """
        from naively.scoring.export import to_onnx

        estimator: Any = self
        write_atomically(path, to_onnx(estimator, dtype=dtype))

    def to_sql(self, table: str, *, dialect: str = "duckdb", **options: Any) -> str:
        """Return one SELECT that scores a table inside its database.

        Parameters
        ----------
        table : str
            The table, as the dialect writes it.
        dialect : str, default="duckdb"
            duckdb, postgres, sqlite, bigquery, snowflake, spark or databricks.
        **options
            ``columns``, ``keep``, ``label`` and ``proba`` of `naively.scoring.export.to_sql`.
        """
        from naively.scoring.export import to_sql

        estimator: Any = self
        return to_sql(estimator, table, dialect=dialect, **options)

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
