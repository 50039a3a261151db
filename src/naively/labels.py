"""Labels become codes: 0, 1, ... in the order of the sorted labels.

>>> encode(["b", "a", "b"])
(array(['a', 'b'], dtype='<U1'), array([1, 0, 1], dtype=int32))

Integers, which are most labels, are looked up in a table over their range instead of sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel
from naively.exceptions import NaivelyError

__all__ = ["as_array", "encode", "positions", "quoted", "union"]


def encode(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the distinct labels, sorted, and the index of each label among them.

    Labels are strings, integers, booleans or whole floats, all of one type; none is missing.
    """
    y = as_array(y)
    if y.ndim != 1:
        raise NaivelyError(f"labels must have one dimension; got shape {y.shape}.")
    if y.dtype.kind in "iub":
        codes = np.empty(y.size, dtype=np.int32)
        distinct = _kernel.encode(
            np.ascontiguousarray(y.astype(_native(y.dtype), copy=False)), codes
        )
        if distinct or y.size == 0:
            return np.array(distinct, dtype=y.dtype), codes
    if y.dtype.kind in "OT":
        return _encode_objects(y)
    if y.dtype.kind not in "iubfUSM":
        raise NaivelyError(f"labels must be strings, integers or booleans; got dtype {y.dtype}.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise NaivelyError(
            f"labels must not be missing; got y[{_first(~np.isfinite(y))}]="
            f"{y[~np.isfinite(y)][0]}. Input y contains NaN or infinity: leave those rows out."
        )
    classes, inverse = np.unique(y, return_inverse=True)
    return classes, inverse.astype(np.int32)


def as_array(y: ArrayLike) -> NDArray[Any]:
    """Return labels as an array in which a number beside a string stays a number.

    >>> as_array([1, "a"])
    array([1, 'a'], dtype=object)
    """
    mixed = isinstance(y, list | tuple) and 0 < sum(isinstance(v, str) for v in y) < len(y)
    return np.asarray(y, dtype=object if mixed else None)


def _encode_objects(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    values: list[Any] = y.tolist()
    distinct = list(dict.fromkeys(values))
    for label in distinct:
        if label is None or label != label or str(label) in {"<NA>", "NaT"}:
            at = next(i for i, value in enumerate(values) if value is label or value != value)
            raise NaivelyError(
                f"labels must not be missing; got y[{at}]={label}. "
                "Input y contains NaN: leave those rows out."
            )
    kinds = {_kind(label) for label in distinct}
    if len(kinds) > 1:
        names = " and ".join(sorted(kinds))
        raise NaivelyError(f"labels must be all of one type; got {names} in y. Convert them.")
    classes = np.array(sorted(distinct)) if distinct else np.array([], dtype=str)
    if classes.ndim != 1 or classes.dtype.kind == "O":
        raise NaivelyError(f"labels must be strings, integers or booleans; got {distinct[0]!r}.")
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    return classes, np.fromiter((code_of[label] for label in values), np.int32, len(values))


def _kind(label: Any) -> str:
    if isinstance(label, bool | np.bool_):
        return "bool"
    for kind, name in ((str, "str"), (int | np.integer, "int"), (float | np.floating, "float")):
        if isinstance(label, kind):
            return name
    return type(label).__name__


def union(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted labels of both.

    >>> union(np.array([1, 3]), np.array([2, 3]))
    array([1, 2, 3])
    """
    if a is b or (a.dtype == b.dtype and np.array_equal(a, b)):
        return a
    if a.size and b.size and _comparable(a) != _comparable(b):
        raise NaivelyError(
            f"labels must be all of one type; got {quoted(a[:3])} and {quoted(b[:3])}. "
            "Convert one side's labels."
        )
    if a.size == 0 or b.size == 0:
        return a if b.size == 0 else b
    at = np.searchsorted(a, b)
    if at[-1] < a.size and (a[at] == b).all():
        return a
    return np.union1d(a, b)


def positions(labels: NDArray[Any], among: NDArray[Any]) -> NDArray[np.intp]:
    """Return where each label stands in a sorted array that holds them all."""
    return np.searchsorted(among, labels)


def quoted(labels: NDArray[Any]) -> str:
    """Write labels for a message.

    >>> quoted(np.array(["a", "b"]))
    "'a', 'b'"
    """
    shown = [repr(label) for label in labels[:6].tolist()]
    return ", ".join(shown + ["..."] * (labels.size > 6))


def _comparable(labels: NDArray[Any]) -> str:
    """Return what labels can be compared with: their own kind, and numbers with numbers."""
    return "number" if labels.dtype.kind in "iubf" else labels.dtype.kind


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("=")


def _first(mask: NDArray[np.bool_]) -> int:
    return int(np.argmax(mask))
