"""Parameters of estimators: what they may be, how they are documented, checked and written.

Each is described once. An estimator lists in its ``__init__`` which ones it has, with their
defaults, and its docstring only names those whose description is here: ``decay, window, n_jobs``.

Parameters are checked without scikit-learn. The errors are scikit-learn's, by type and words.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache, wraps
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data.labels import is_text
from naively.errors import NaivelyError, warn

if TYPE_CHECKING:
    from naively.estimators.estimator import SummaryClassifier

Init = TypeVar("Init", bound=Callable[..., None])


@dataclass(frozen=True)
class Interval:
    """Numbers of a kind from ``low`` to ``high``, both included where they are finite."""

    kind: type[Real] | type[Integral]
    low: float = -inf
    high: float = inf
    flags: bool = True  # True is an int, as in scikit-learn

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, self.kind) or (isinstance(value, bool) and not self.flags):
            return False
        number: Any = value
        return bool(self.low <= number <= self.high and abs(number) < inf)

    def __str__(self) -> str:
        what, show = ("an int", str) if self.kind is Integral else ("a float", _float)
        start = "(-inf" if self.low == -inf else f"[{show(self.low)}"
        end = "inf)" if self.high == inf else f"{show(self.high)}]"
        return f"{what} in the range {start}, {end}"


class OneOf(tuple[str, ...]):
    """Some texts."""

    __slots__ = ()

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, str) and super().__contains__(value)

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, sorted(self)))}}}"


_FLAG = [bool, np.bool_]
_PRIORS = ["array-like", dict, None]
_CALIBRATION = [OneOf(["weights", "temperature"]), None]
CONSTRAINTS: dict[str, list[Any]] = {
    "alpha": [Interval(Real, 0), "array-like"],
    "binarize": [None, Interval(Real, 0)],
    "calibration": _CALIBRATION,
    "class_prior": _PRIORS,
    "class_weight": [OneOf(["balanced"]), dict, None],
    "costs": ["array-like", None],
    "ddof": [Interval(Integral, 0)],
    "decay": [Interval(Real, 0, 1)],
    "families": [dict, OneOf(["best"]), None],
    "fit_prior": _FLAG,
    "force_alpha": _FLAG,
    "interactions": [OneOf(["auto"]), tuple, list, None],
    "min_categories": [None, "array-like", Interval(Integral, 1)],
    "n_jobs": [Interval(Integral, 1), Interval(Integral, high=-1), None],
    "norm": _FLAG,
    "open_classes": _FLAG,
    "priors": _PRIORS,
    "reject": [tuple, list, None],
    "smoothing": [OneOf(["global", "column"])],
    "var_smoothing": [Interval(Real, 0)],
    "variance": [OneOf(["class", "shared"])],
    "window": [Interval(Integral, 1, sys.maxsize, flags=False), None],
}

_SHARED = """
alpha : float or array-like of shape (n_features,), default=1.0
    Additive (Laplace) smoothing: one number, or one for each column; 0 for no smoothing.
force_alpha : bool, default=True
    If False, an alpha below 1e-10 is set to 1e-10.
fit_prior : bool, default=True
    Estimate class probabilities from the data; if False, all classes that have rows are
    equally probable.
priors : array-like of shape (n_classes,) or dict, default=None
    Class probabilities, in the order of ``classes_`` or by label; None for the class
    frequencies in the data. Calibration always uses the frequencies in the data.
class_prior : array-like of shape (n_classes,) or dict, default=None
    Class probabilities, in the order of ``classes_`` or by label; if given, ``fit_prior`` is
    ignored.
class_weight : dict, "balanced" or None, default=None
    Factors that multiply the class probabilities; 1 for classes that are not in the dict.
    ``"balanced"`` makes all classes equally probable. Nothing else changes.
calibration : {"temperature"} or None, default=None
    None for plain naive Bayes, whose probabilities are too close to 0 and 1 on long texts.
    ``"temperature"`` fits one weight for all columns and a bias for each class on a sample of
    rows; each row is predicted by the statistics of all others.
decay : float, default=1.0
    Each `partial_fit` and `learn_one` multiplies the weight of all earlier rows by this factor.
window : int, default=None
    Number of rows that `learn_one` keeps; older rows are forgotten. None for all.
open_classes : bool, default=False
    Allow new labels in every `partial_fit`; ``classes`` is not needed then.
n_jobs : int, default=None
    Number of threads; None uses all cores if there is enough work. The result does not
    depend on it.
summary_ : Summary
    The statistics of all rows seen. Everything else is computed from it.
model_ : Model
    The model that scores rows: class probabilities and the terms of all columns.
classes_ : ndarray of shape (n_classes,)
    Labels, sorted.
class_count_ : ndarray of shape (n_classes,)
    Weight of the rows of each class.
class_prior_ : ndarray of shape (n_classes,)
    Class probabilities.
class_log_prior_ : ndarray of shape (n_classes,)
    Logarithms of the class probabilities.
n_features_in_ : int
    Number of columns of the table that was learned from; a column of dates is one.
feature_names_in_ : ndarray of shape (n_columns,)
    Names of these columns, if `fit` was given a data frame.
column_names_ : ndarray of shape (n_features,)
    Names of the model's columns: the same, but for the parts of dates, such as ``when.year``.
"""
_ENTRIES = {
    entry.split(" ", 1)[0]: entry for entry in re.findall(r"^\w.*\n(?: .*\n)+", _SHARED, re.M)
}


def with_shared_entries(doc: str) -> str:
    """Return a docstring in which lines that only name parameters or attributes describe them.

    >>> print(with_shared_entries("    classes_, class_log_prior_"))
        classes_ : ndarray of shape (n_classes,)
            Labels, sorted.
        class_log_prior_ : ndarray of shape (n_classes,)
            Logarithms of the class probabilities.
    """

    def entries(line: re.Match[str]) -> str:
        names = line[2].split(", ")
        if not all(name in _ENTRIES for name in names):
            return line[0]
        lines = "".join(_ENTRIES[name] for name in names).splitlines()
        return "\n".join(line[1] + one for one in lines)

    return re.sub(r"^( *)(\w+(?:, \w+)*)$", entries, doc, flags=re.M)


def by_name(**constraints: Sequence[Any]) -> Callable[[Init], Init]:
    """Return what makes an ``__init__`` set its parameters, which are given by name.

    It says what is wrong with arguments in the name of its class. Constraints of its own come
    before those that a parameter has everywhere.
    """

    def decorated(init: Init) -> Init:
        defaults = {
            name: p.default for name, p in [*inspect.signature(init).parameters.items()][1:]
        }

        @wraps(init)
        def checked(self: Any, *args: Any, **params: Any) -> None:
            _check_names(type(self).__name__, [*defaults], args, params)
            for name, default in defaults.items():
                setattr(self, name, params.get(name, default))

        checked.constraints = {  # type: ignore[attr-defined]
            name: constraints.get(name, CONSTRAINTS[name]) for name in defaults
        }
        return checked  # type: ignore[return-value]

    return decorated


def _check_names(owner: str, names: list[str], args: Any, params: Mapping[str, Any]) -> None:
    if args:
        raise TypeError(
            f"{owner} takes its parameters by name, such as {owner}({names[0]}=...); got a "
            f"{type(args[0]).__name__} without a name. Rows and labels are given to fit: "
            f"{owner}().fit(X, y)."
        )
    for name in params.keys() - set(names):
        close = get_close_matches(name, names, n=1, cutoff=0.7)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(names)}."
        raise TypeError(f"{owner} has no parameter {name!r}; {hint}")


def check_parameters(estimator: SummaryClassifier) -> None:
    """Check the parameters of an estimator, but the same ones only once."""
    values = [getattr(estimator, name) for name in estimator._constraints]
    try:
        _check_once(type(estimator), *values)  # type: ignore[arg-type]
    except TypeError:  # something that cannot be remembered, such as an array of priors
        check(estimator.public_name, estimator._constraints, values)


@lru_cache(maxsize=64, typed=True)
def _check_once(kind: Any, *values: Any) -> None:
    check(kind.public_name, kind._constraints, values)


def check(owner: str, constraints: Mapping[str, Sequence[Any]], params: Iterable[Any]) -> None:
    """Raise where a parameter, in the order of the constraints, is nothing that it may be."""
    for (name, allowed), value in zip(constraints.items(), params, strict=True):
        if not any(_allows(one, value) for one in allowed):
            from sklearn.utils._param_validation import InvalidParameterError

            *most, last = map(_words, allowed)
            listed = f"{', '.join(most)} or {last}" if most else last
            raise InvalidParameterError(
                f"The {name!r} parameter of {owner} must be {listed}. Got {value!r} instead."
            )


def _allows(one: Any, value: Any) -> bool:
    if one is None:
        return value is None
    if one == "array-like":
        is_array = any(hasattr(value, name) for name in ("__len__", "shape", "__array__"))
        return is_array and not np.isscalar(value)
    return isinstance(value, one) if isinstance(one, type) else value in one


def _words(one: Any) -> str:
    if isinstance(one, type):
        module = "" if one.__module__ == "builtins" else f"{one.__module__}."
        return f"an instance of '{module}{one.__qualname__}'"
    return "an array-like" if one == "array-like" else str(one)


def _float(value: float) -> str:
    return str(float(value))


def check_costs(costs: ArrayLike | None, classes: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return the costs as an array: one row and one column per class, all finite."""
    if costs is None:
        return None
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (classes.size, classes.size) or not np.isfinite(matrix).all():
        raise NaivelyError(
            f"costs must be finite, with a row and a column per class ({classes.size}); got shape "
            f"{matrix.shape}."
        )
    return matrix


def check_reject(reject: Any, classes: NDArray[Any]) -> tuple[float, Any]:
    """Return the probability below which an answer is rejected, and the label given instead.

    A text beside classes that are numbers is an error to `decide` alone: ensembles such as
    scikit-learn's `VotingClassifier` number the classes, and need not ask for answers.
    """
    if reject is None:
        return 0.0, None
    try:
        least, label = reject
        fine = 0 <= float(least) <= 1
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise NaivelyError(
            f"reject must be a probability and a label, such as (0.8, 'unknown'); got {reject!r}."
        )
    is_number = isinstance(label, Real | np.bool_)
    if not isinstance(label, str) and (is_text(classes) or not is_number):
        raise NaivelyError(
            f"the label of reject must be of the classes' type; got {label!r} beside "
            f"{classes[:1].tolist()[0]!r}."
        )
    return float(least), label


BY_CLASS = "class_weight", "priors", "class_prior"  # numbers, or a dict of them by label


def params_as_text(estimator: SummaryClassifier) -> dict[str, Any]:
    """Return the parameters of an estimator as JSON can hold them."""
    params: dict[str, Any] = estimator.get_params(deep=False)
    for name in ("alpha", "costs", *BY_CLASS):
        given = params.get(name)
        if isinstance(given, Mapping):  # JSON takes text alone for keys
            params[name] = [[np.asarray(k).tolist(), float(v)] for k, v in given.items()]
        elif not (given is None or isinstance(given, str | Real)):
            params[name] = np.asarray(given, dtype=np.float64).tolist()
    return params | estimator._families_as_text()


_MIN_ALPHA = 1e-10


def large_enough(alpha: Any) -> Any:
    """Return alpha, a number or one for each column, raised to 1e-10 with a warning."""
    if np.min(alpha) >= _MIN_ALPHA:
        return alpha
    warn(
        f"alpha too small will result in numeric errors, setting alpha = {_MIN_ALPHA:.1e}. "
        "Use `force_alpha=True` to keep alpha unchanged.",
    )
    return np.maximum(alpha, _MIN_ALPHA)
