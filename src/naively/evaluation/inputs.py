"""The inputs of `evaluate` and `compare`: classifiers, if there are any, rows and labels.

>>> from naively import GaussianNB
>>> sort_inputs(GaussianNB(), [[1.0]], ["a"])
([GaussianNB()], [[1.0]], ['a'])
>>> sort_inputs([[1.0]], ["a"], None)
([], [[1.0]], ['a'])
>>> default_model([[1.0, 2.0], [3.0, 4.0]])
GaussianNB()
>>> default_model([[1.0, "Ulm"], [3.0, "Bonn"]])
NaiveBayes()
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _num_samples, check_is_fitted

from naively.data import labels
from naively.data.kinds import CATEGORY, NUMBER, TEXT, Kind
from naively.engines.memory.arrays import check_in_memory, check_no_file
from naively.engines.memory.devices import on_host
from naively.engines.memory.native import is_frame
from naively.engines.memory.tables import schema_of, text_column
from naively.engines.memory.weighted_rows import divisible
from naively.errors import NaivelyError
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.naive_bayes import NaiveBayes


class Truth(NamedTuple):
    """The true labels: all classes, sorted, and the index of each row's among them."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, X: Any, y: ArrayLike) -> Truth:
        """Encode the labels, one per row of X."""
        classes, codes = labels.encode(y)
        if (n_rows := _num_samples(X)) != codes.size:
            raise NaivelyError(
                "Found input variables with inconsistent numbers of samples: "
                f"{[n_rows, codes.size]}; there must be one label per row."
            )
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
    check_in_memory(rows[0])
    check_no_file(rows[0])
    return models, divisible(rows[0]), rows[1]


def labels_or_target(y: Any, options: dict[str, Any]) -> Any:
    """Return labels, or the name of their column, which is given as y or as the option target."""
    target = options.pop("target", None)
    if y is not None and target is not None:
        raise NaivelyError(f"labels are given as y or as target, not as both; got {target=}.")
    return y if target is None else target


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


def default_model(X: Any) -> GaussianNB | NaiveBayes:
    """Return `GaussianNB` where all columns hold numbers, else `NaiveBayes`."""
    return NaiveBayes() if has_categories(X) else GaussianNB()


def has_categories(X: Any) -> bool:
    """Whether a table holds text, booleans or categories; one that cannot be read does not."""
    return bool(kinds_among(X) & {CATEGORY, TEXT})


def kinds_among(X: Any) -> set[Kind]:
    """Return what the columns of a table hold; of one that cannot be read, nothing."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiu":
        return {NUMBER}
    if text_column(X, None) is not None:
        return {TEXT}
    try:
        return set(schema_of(X).held)
    except ValueError:
        if is_frame(X):  # a column of lists, say
            raise
        return set()  # the model says what is wrong with it
