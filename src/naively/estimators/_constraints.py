"""What parameters may be, declared as data beside each class and checked without scikit-learn.

The errors are scikit-learn's, by type and words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from math import inf
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

__all__ = ["Interval", "OneOf", "by_name", "check"]

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


def by_name(init: Init) -> Init:
    """Return an ``__init__`` that says what is wrong with arguments, in the name of its class."""
    names = [*inspect.signature(init).parameters][1:]

    @wraps(init)
    def checked(self: Any, *args: Any, **params: Any) -> None:
        owner = type(self).__name__
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
        init(self, **params)

    return checked  # type: ignore[return-value]


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
