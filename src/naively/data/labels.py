"""Labels become codes: 0, 1, ... in the order of the sorted labels.

>>> encode(["b", "a", "b"])
(array(['a', 'b'], dtype='<U1'), array([1, 0, 1], dtype=int32))

Integers, which are most labels, are looked up in a table over their range instead of sorted.

In files, they are arrays of numbers, or one block of UTF-8 and where each begins, sorted and
distinct. A header could not hold them all: it may have 100 MB, in one text.

>>> names = np.array(["ham", "spam"])
>>> kind, tensors = label_tensors(names, "classes")
>>> kind, bytes(tensors["classes.block"]), read_labels(Tensors(tensors), "classes", kind).tolist()
('str', b'hamspam', ['ham', 'spam'])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel
from naively.data.tensors import Tensors, UnsoundError
from naively.errors import NaivelyError

_ODD = (str, bytes, type(np.ma.masked))  # what NumPy would convert, beside other labels
_MAX_FIXED_WIDTH = 100  # characters of a text of fixed width
_FREE_PADDING = 1 << 20  # characters that padding may cost, however short the texts are
_MAX_PADDING_RATIO = 8  # times what the texts themselves take: so much may they take with padding
_WITHOUT = "leave those rows out."
ONE_PER_ROW = (
    "Rows come first, then one label per row, as in fit(X, y); for a column of a table, give "
    "X.drop(columns=name) and X[name]."
)


def encode(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the distinct labels, sorted, and the index of each label among them.

    Labels are strings, integers, booleans or whole floats, all of one type; none is missing.
    """
    y = as_array(y)
    if y.ndim != 1:
        raise NaivelyError(f"labels must have one dimension; got shape {y.shape}. {ONE_PER_ROW}")
    if y.size == 1 and y.dtype.kind in "iubU" and y.dtype.itemsize:  # of a stream of rows
        return y.astype(_native(y.dtype)), np.zeros(1, np.int32)
    if y.dtype.kind in "iub":
        codes = np.empty(y.size, dtype=np.int32)
        distinct = _kernel.encode(
            np.ascontiguousarray(y.astype(_native(y.dtype), copy=False)), codes
        )
        if distinct or y.size == 0:
            return np.array(distinct, dtype=y.dtype), codes
    if y.dtype.kind in "OT":
        return _encode_objects(y)
    if y.dtype.kind == "U" and y.dtype.itemsize:  # hashes are quicker than a sort of all labels
        texts = np.ascontiguousarray(y.astype(_native(y.dtype), copy=False)).view(np.uint32)
        codes = np.empty(y.size, dtype=np.int32)
        first = _kernel.encode_fixed(texts.reshape(y.size, y.dtype.itemsize // 4), codes)
        return _in_order(y[first], codes)
    _check_plain(y)
    classes, inverse = np.unique(y, return_inverse=True)
    return classes, inverse.astype(np.int32)


def _in_order(
    distinct: NDArray[Any], codes: NDArray[np.int32]
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return distinct labels sorted, and codes that are their places there."""
    order = np.argsort(distinct)
    places = np.empty(order.size, np.int32)
    places[order] = np.arange(order.size)
    return distinct[order], places[codes]


def as_array(y: ArrayLike) -> NDArray[Any]:
    """Return labels as an array in which a number beside a string stays a number.

    >>> as_array([1, "a"])
    array([1, 'a'], dtype=object)
    """
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        _raise_missing(_first(np.ma.getmaskarray(y).reshape(-1)), "masked")
    if not isinstance(y, list | tuple):
        array = np.asarray(y)
        listed = getattr(y, "to_list", None)  # polars, of whose texts NumPy cuts zeros at the end
        return as_array(listed()) if listed and array.dtype.kind == "U" else array
    kinds = set(map(type, y))
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return text_array(y)
    odd = any(issubclass(kind, _ODD) for kind in kinds)
    array = np.asarray(y, dtype=object if odd else None)
    if array.dtype.kind == "f" and (np.abs(array) >= 2**53).any() and kinds != {float}:
        return np.asarray(y, dtype=object)  # float64 may have made integers equal
    return array


def text_array(texts: Sequence[str]) -> NDArray[Any]:
    r"""Return texts as an array: of fixed width, or of objects where that would lose or waste.

    NumPy's fixed width drops zero characters at the end, and pads every text to the longest, in
    what is predicted for many rows too.

    >>> text_array(["a", "bc"])
    array(['a', 'bc'], dtype='<U2')
    >>> text_array(["a", "a\0"])
    array(['a', 'a\x00'], dtype=object)
    """
    joined = "".join(texts)
    longest = max(map(len, texts), default=0)
    padded = longest * len(texts)
    wasteful = longest > _MAX_FIXED_WIDTH or (
        padded > _FREE_PADDING and padded > _MAX_PADDING_RATIO * len(joined)
    )
    loses = "\0" in joined and any(text.endswith("\0") for text in texts)
    if not wasteful and not loses:
        return np.array(texts, dtype=f"U{max(longest, 1)}")  # a second look is spared
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def number_array(numbers: Sequence[Any]) -> NDArray[Any]:
    """Return numbers as an array that keeps them apart: of integers, or of float64; or raise.

    >>> number_array([2**63, 1])
    array([9223372036854775808,                   1], dtype=uint64)
    """
    exact = [number for number in numbers if not _is_float(number)]
    low, high = min(exact, default=0), max(exact, default=0)
    if all(isinstance(number, int | np.integer) for number in numbers):
        if low >= -(2**63) and high < 2**63:
            return np.array(numbers, dtype=np.int64)
        if low >= 0 and high < 2**64:
            return np.array(numbers, dtype=np.uint64)
    elif low >= -(2**53) and high <= 2**53:
        return np.array([float(number) for number in numbers])
    elif all(is_whole(n) and (abs(n) <= 2**53 or not _is_float(n)) for n in numbers):
        return number_array([int(number) for number in numbers])
    raise NaivelyError(
        "integers must be from -2^63 to 2^63 - 1, or from 0 to 2^64 - 1, and up to 2^53 beside "
        f"fractions; got {low} and {high}. Make them text."
    )


def is_whole(number: Any) -> bool:
    """Whether a number of any type is an integer.

    >>> is_whole(Decimal("2.00")), is_whole(2.5)
    (True, False)
    """
    return bool(abs(number) < math.inf and int(number) == number)


def _is_float(number: Any) -> bool:
    return isinstance(number, float | np.floating)


def is_text(labels: NDArray[Any]) -> bool:
    """Whether labels or categories, as they are kept here, are text."""
    return labels.dtype.kind in "UO"


def are_booleans(labels: NDArray[Any]) -> bool:
    """Whether labels or categories are booleans."""
    return labels.dtype.kind == "b"


def listed(labels: NDArray[Any]) -> list[Any]:
    """Return labels as Python's objects; dates as they are, of which `tolist` makes integers."""
    return list(labels) if labels.dtype.kind == "M" else labels.tolist()


def is_missing(value: Any) -> bool:
    """Whether a Python object is a missing cell: None, NaN, NaT, NA or masked; text never is."""
    if value is None or isinstance(value, str | bool | int):
        return value is None
    if value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except ArithmeticError:  # a signalling NaN of decimal's
        return True
    except (TypeError, ValueError):  # such as an array
        return False


def is_hashable(value: Any) -> bool:
    """Whether a value can be looked up: a list cannot."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _check_plain(y: NDArray[Any]) -> None:
    """Raise where an array cannot hold labels, or one of them is missing."""
    if y.dtype.kind not in "iubfUSM":
        raise NaivelyError(f"labels must be strings, integers or booleans; got dtype {y.dtype}.")
    if y.dtype.char == "g":
        raise NaivelyError(
            f"labels must be of a type that files and other engines have; got dtype {y.dtype} "
            "(long double). Convert them: y.astype(float), or y.astype(int)."
        )
    if y.dtype.kind == "M" and np.isnat(y).any():
        _raise_missing(_first(np.isnat(y)), "NaT")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        at = _first(~np.isfinite(y))
        raise NaivelyError(
            f"labels must not be missing; got y[{at}]={y[at]}. "
            f"Input y contains NaN or infinity: {_WITHOUT}"
        )


def _encode_objects(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    values: list[Any] = y.tolist()
    codes = np.empty(y.size, dtype=np.int32)
    first = _kernel.encode_text(values, codes)
    if first and (codes >= 0).all():
        return _in_order(text_array([values[i] for i in first]), codes)
    values = [None if label is np.ma.masked else label for label in values]
    try:
        distinct = list(dict.fromkeys(values))
    except TypeError:
        odd = next(value for value in values if not is_hashable(value))
        raise NaivelyError(f"labels must be strings, integers or booleans; got {odd!r}.") from None
    if any(map(is_missing, distinct)):
        at = next(i for i, value in enumerate(values) if is_missing(value))
        _raise_missing(at, values[at])
    distinct = [int(x) if isinstance(x, Decimal) and is_whole(x) else x for x in distinct]
    kinds = {_kind(label) for label in distinct}
    if len(kinds) > 1:
        names = " and ".join(sorted(kinds))
        raise NaivelyError(f"labels must be all of one type; got {names} in y. Convert them.")
    classes = _sorted(distinct, kinds.pop() if kinds else "str")
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    return classes, np.fromiter(map(code_of.__getitem__, values), np.int32, len(values))


def _sorted(distinct: list[Any], kind: str) -> NDArray[Any]:
    """Return Python's objects of one kind as an array, in order."""
    if kind == "str":
        return text_array(sorted(distinct))
    if kind == "bytes" and any(label.endswith(b"\0") for label in distinct):
        raise NaivelyError("labels of bytes must not end in a zero byte. Make them text.")
    try:
        ordered = sorted(distinct)
        classes = number_array(ordered) if kind in ("int", "float") else np.array(ordered)
    except (TypeError, ValueError, OverflowError):
        classes = np.empty(0, dtype=object)
    if classes.ndim != 1 or classes.dtype.kind == "O":
        raise NaivelyError(f"labels must be strings, integers or booleans; got {distinct[0]!r}.")
    _check_plain(classes)
    return classes


def _raise_missing(at: int, shown: Any) -> None:
    raise NaivelyError(
        f"labels must not be missing; got y[{at}]={shown}. Input y contains NaN: {_WITHOUT}"
    )


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
    if are_same(a, b):
        return a
    if a.size and b.size and not _are_comparable(a, b):
        raise NaivelyError(
            f"labels must be all of one type; got {quoted(a[:3])} and {quoted(b[:3])}. "
            "Convert one side's labels."
        )
    if a.size == 0 or b.size == 0:
        return a if b.size == 0 else b
    at = positions(b, a)
    if at[-1] < a.size and (a[at] == b).all():
        return a
    if a.dtype.kind == b.dtype.kind:
        both = _merged(a, b, at)
    elif is_text(a) or "b" in (a.dtype.kind, b.dtype.kind):
        both = np.union1d(a, b)
    else:
        return number_array(sorted({*a.tolist(), *b.tolist()}))
    return text_array(both.tolist()) if both.dtype.kind == "O" else both


def are_same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether labels are the same, of the same type."""
    return a is b or (a.size == b.size and a.dtype == b.dtype and bool((a == b).all()))


def _merged(a: NDArray[Any], b: NDArray[Any], at: NDArray[np.intp]) -> NDArray[Any]:
    """Insert sorted labels into others where they belong; one new label need not sort them all."""
    new = a[np.minimum(at, a.size - 1)] != b
    return np.insert(a.astype(np.result_type(a, b), copy=False), at[new], b[new])


def contained(labels: NDArray[Any], among: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each label is in a sorted array.

    >>> contained(np.array(["a", "c"]), np.array(["a", "b"]))
    array([ True, False])
    """
    if not among.size:
        return np.zeros(labels.size, dtype=bool)
    at = np.minimum(positions(labels, among), among.size - 1)
    return np.asarray(among[at] == labels)


def positions(labels: NDArray[Any], among: NDArray[Any]) -> NDArray[np.intp]:
    """Return where labels belong in a sorted array; numbers of other types by their exact values.

    NumPy compares int64 with uint64, and both with float64, as float64.
    """
    if among.dtype.kind != labels.dtype.kind and not is_text(among):
        among, labels = among.astype(object), labels.astype(object)
    return among.searchsorted(labels)


def quoted(labels: NDArray[Any]) -> str:
    """Write labels for a message.

    >>> quoted(np.array(["a", "b"]))
    "'a', 'b'"
    """
    shown = [_shortened(repr(label)) for label in labels[:6].tolist()]
    return ", ".join(shown + ["..."] * (labels.size > 6))


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:60]}...{text[-10:]}"


def _are_comparable(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether labels can be united: booleans with the numbers 0 and 1 alone."""
    if are_booleans(a) != are_booleans(b):
        other = b if are_booleans(a) else a
        return _comparable(other) == "number" and bool(np.isin(other, (0, 1)).all())
    return _comparable(a) == _comparable(b)


def _comparable(labels: NDArray[Any]) -> str:
    """Return what labels can be compared with: their own kind, and numbers with numbers."""
    if labels.dtype.kind in "iubf":
        return "number"
    return "text" if is_text(labels) else labels.dtype.kind


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("=")


def _first(mask: NDArray[np.bool_]) -> int:
    return int(np.argmax(mask))


# --- Labels and categories in files -------------------------------------------------------------


_KINDS = {"U": "str", "O": "str", "i": "int", "u": "int", "b": "bool", "f": "float"}  # NumPy's
_TYPES = {"str": str, "int": int, "bool": bool, "float": float}


def label_tensors(values: NDArray[Any], name: str) -> tuple[str, dict[str, NDArray[Any]]]:
    """Return what labels or categories are, and the tensors that hold them."""
    kind = _KINDS.get(values.dtype.kind)
    if kind is None:
        raise NaivelyError(
            f"{name} must be str, int, bool or float to be saved; got {values.dtype}."
        )
    if kind == "str":  # any text survives, lone surrogates too
        encoded = [text.encode("utf-8", "surrogatepass") for text in values.tolist()]
        block = np.frombuffer(b"".join(encoded), np.uint8)
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return kind, {f"{name}.block": block, f"{name}.offsets": offsets}
    if kind == "int":
        return kind, {name: number_array(values.tolist())}
    return kind, {name: values.astype(np.uint8 if kind == "bool" else np.float64)}


def listed_labels(kind: Any, listed: Any, name: str, what: str) -> dict[str, NDArray[Any]]:
    """Return labels or categories that a header lists, as those of earlier formats do."""
    type_ = _TYPES.get(str(kind))
    if type_ is None or not isinstance(listed, list):
        raise UnsoundError(f"its {what} must be a list of str, int, bool or float")
    if not all(type(value) is type_ for value in listed):
        raise UnsoundError(f"its {what} must all be {type_.__name__}")
    try:
        numbers = number_array(listed) if type_ is int else np.array(listed, type_)
        return label_tensors(text_array(listed) if type_ is str else numbers, name)[1]
    except NaivelyError:
        raise UnsoundError(f"its {what} are beyond what labels can be") from None


def read_labels(tensors: Tensors, name: str, kind: Any) -> NDArray[Any]:
    """Return labels or categories, having checked that they are sorted and distinct."""
    if not isinstance(kind, str) or kind not in _TYPES:
        raise UnsoundError(f"{name} must be str, int, bool or float, and is {kind!r}")
    if kind == "str":
        values = _read_texts(tensors, name)
    else:
        unsigned = kind == "int" and tensors.dtype(name) == np.uint64
        dtype = {"int": np.uint64 if unsigned else np.int64, "bool": np.uint8}.get(kind, np.float64)
        values = tensors.take(name, dtype, (tensors.length(name),))
    if kind == "bool" and (values > 1).any():
        raise UnsoundError(f"{name} must be 0 or 1")
    ordered = values[1:] > values[:-1]
    if not ordered.all() or (not is_text(values) and (values != values).any()):
        raise UnsoundError(f"{name} must be distinct and sorted")
    return values.astype(bool) if kind == "bool" else values


def _read_texts(tensors: Tensors, name: str) -> NDArray[Any]:
    block, offsets = tensors.texts(name)
    encoded = block.tobytes()
    try:
        return text_array(
            [encoded[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets.tolist())]
        )
    except UnicodeDecodeError:
        raise UnsoundError(f"{name} must be UTF-8") from None
