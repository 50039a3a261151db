"""The inputs of `evaluate` and `compare`: classifiers, if there are any, rows and labels.

>>> from naively import GaussianNB
>>> sort_inputs(GaussianNB(), [[1.0]], ["a"])
([GaussianNB()], [[1.0]], ['a'])
>>> sort_inputs([[1.0]], ["a"], None)
([], [[1.0]], ['a'])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from naively import labels
from naively.engines.devices import on_host
from naively.exceptions import NaivelyError

__all__ = ["Truth", "check_classifier", "is_fitted", "sort_inputs"]

_VIEWS = "string_view[pyarrow]"  # a type of pandas


class Truth(NamedTuple):
    """The true labels: all classes, sorted, and the index of each row's among them."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, X: Any, y: ArrayLike) -> Truth:
        """Encode the labels, one per row of X."""
        classes, codes = labels.encode(y)
        check_consistent_length(X, codes)
        if codes.size == 0:
            raise NaivelyError("there must be at least one row to evaluate; got none.")
        return cls(classes, codes)

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each row."""
        return self.classes.take(self.codes)

    def among(self, others: ArrayLike) -> Truth:
        """Return the same labels, with further classes that no row has."""
        classes = labels.union(self.classes, labels.encode(others)[0])
        at = labels.positions(self.classes, classes)
        return Truth(classes, at.astype(np.int32)[self.codes])

    def need_two_classes(self) -> None:
        """Raise where all rows are of one class."""
        if self.classes.size < 2:
            raise NaivelyError(
                "rows can be held out only where there are two classes or more; got one: "
                f"{labels.quoted(self.classes)}."
            )


def sort_inputs(*inputs: Any) -> tuple[list[Any], Any, Any]:
    """Return the classifiers, X and y; classifiers may be left out."""
    there = [value for value in inputs if value is not None]
    models = [value for value in there if hasattr(value, "predict")]
    rows = [on_host(value) for value in there if not hasattr(value, "predict")]
    for model in models:
        check_classifier(model)
    if len(rows) != 2:
        raise NaivelyError(f"rows and their labels must be given, X and y; got {len(rows)} of two.")
    return models, _divisible(rows[0]), rows[1]


def _divisible(X: Any) -> Any:
    """Return a table or a column of which rows can be taken: Arrow cannot take views of text."""
    library = type(X).__module__.partition(".")[0]
    if library == "pandas" and X.ndim == 1:
        return _without_views(X) if X.dtype == _VIEWS else X
    if library == "pandas":
        views = np.flatnonzero(X.dtypes == _VIEWS)
        X = X.copy(deep=False) if views.size else X
        for j in views:
            X.isetitem(j, _without_views(X.iloc[:, j]))
        return X
    if library != "pyarrow" or (not hasattr(X, "type") and not hasattr(X, "column_names")):
        return X
    from naively.engines.native.arrow import without_views

    if hasattr(X, "type"):
        return without_views(X)
    return type(X).from_arrays(list(map(without_views, X.columns)), names=X.column_names)


def _without_views(column: Any) -> Any:
    """Return a column of pandas as plain text, which not every version of pandas can make of it."""
    from naively.engines.native.arrow import without_views

    plain = type(column.array)(without_views(column.array.__arrow_array__()))
    return type(column)(plain, index=column.index, name=column.name)


def is_fitted(model: Any) -> bool:
    """Whether a classifier has learned something."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def check_classifier(model: Any) -> None:
    """Raise where something is no classifier, or a class instead of an object."""
    if isinstance(model, type):
        raise NaivelyError(f"a classifier must be an instance: {model.__name__}(), not the class.")
    if not hasattr(model, "predict") or not is_classifier(model):
        raise NaivelyError(f"only classifiers can be evaluated; got {type(model).__name__}.")
