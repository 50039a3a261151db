"""What `evaluate`, `compare`, `tune` and `report` take: a model, data, and y or target.

Data is an array or a frame in memory, or files and whatever else streams Arrow data; of the latter,
labels are a column, which a target names.

>>> labelled([[1.0], [2.0]], ["a", "b"], None, "evaluate")
Labelled(X=[[1.0], [2.0]], y=['a', 'b'])
>>> labelled("people.csv", None, "sick", "evaluate")
Files(source='people.csv', target='sick')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _num_samples, check_is_fitted

from naively.data import labels
from naively.engines.memory.arrays import check_in_memory, check_no_file, check_no_scalar
from naively.engines.memory.columns import rows_and_labels
from naively.engines.memory.devices import on_host
from naively.engines.memory.frames import divisible
from naively.errors import NaivelyError
from naively.estimators.naive_bayes import NaiveBayes

P = ParamSpec("P")
T = TypeVar("T")

FOLDS = 10  # by default, or as many as the smallest class has rows

FILE_OPTIONS = (  # as `naively.engines.files.scan` has them
    *("columns", "exclude", "weight", "checkpoint", "skip_bad_files", "skip_columns"),
    *("drop_missing_target", "label_type", "types", "separator", "decimal", "missing", "encoding"),
    "n_jobs",
)
_MEANT = {
    "X": "data",
    "cv": "folds",
    "n_folds": "folds",
    "n_splits": "folds",
    "param_grid": "grid",
    "metric": "scoring",
    "seed": "random_state",
}


def clear_about_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function name what was probably meant by an argument that it does not have."""
    name, known = function.__name__, list(signature(function).parameters)

    @wraps(function)
    def checked(*args: P.args, **options: P.kwargs) -> T:
        if len(args) > 3:
            more = ": a pair of models is one argument, (a, b)" if name == "compare" else ""
            raise NaivelyError(f"{name} is called as {name}(model, data, y){more}; got more.")
        for option in options:
            if option not in known:
                raise NaivelyError(f"{name} has no {option}=; {_hint(name, option, known)}")
        return function(*args, **options)

    return checked


def _hint(name: str, option: str, known: list[str]) -> str:
    if option in ("sample_weight", "weight"):
        return "rows cannot be weighted."
    if option in ("scoring", "metric") and "scoring" not in known:
        return "it computes every metric."
    meant = _MEANT.get(option, "")
    close = [meant] if meant in known else get_close_matches(option, known, n=1)
    if close:
        return f"did you mean {close[0]}=?"
    return f"it has {', '.join(known)}."


# --- rows and labels ------------------------------------------------------------------------------


class Files(NamedTuple):
    """Rows that are read as they stream by, and the column of their labels."""

    source: Any
    target: str


class Labelled(NamedTuple):
    """Rows in memory and their labels."""

    X: Any
    y: Any


def labelled(data: Any, y: Any, target: str | None, caller: str) -> Labelled | Files:
    """Return rows and their labels, given as y, or as the column of a name."""
    if isinstance(y, str) and target is None:
        y, target = None, y
    if data is None or (y is None and target is None):
        got = "no data" if data is None else "no labels"
        raise NaivelyError(
            f"rows and their labels must be given: {caller}(model, data, y), or "
            f'{caller}(model, data, target="name"); got {got}.'
        )
    rows = rows_and_labels(on_host(data), on_host(y), target)
    if rows is None:
        assert target is not None
        return Files(data, target)
    X, y, _ = rows
    check_in_memory(X)
    check_no_file(X)
    check_no_scalar(X)
    return Labelled(divisible(X), y)


def file_options(arguments: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """Return the options of files among a function's arguments, but those that are None."""
    names = (*FILE_OPTIONS, *more)
    return {name: arguments[name] for name in names if arguments.get(name) is not None}


def check_no_options(options: dict[str, Any]) -> None:
    """Raise where rows in memory come with an option of files."""
    if options:
        raise NaivelyError(f"only files take the option {next(iter(options))!r}.")


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


# --- models ---------------------------------------------------------------------------------------


def model_or_default(model: Any, caller: str) -> Any:
    """Return the classifier that was given, or the default one."""
    if model is None:
        return NaiveBayes()
    if not isinstance(model, type) and not hasattr(model, "get_params"):
        raise NaivelyError(
            f"the model comes first: {caller}(model, data, y); got {type(model).__name__}. Without "
            f"a model, name the others: {caller}(data=..., y=...) takes NaiveBayes()."
        )
    check_classifier(model)
    return model


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
