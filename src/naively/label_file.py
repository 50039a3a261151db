"""Labels and categories in files: arrays of numbers, or one block of UTF-8 and where each begins.

They are sorted and distinct. A header could not hold them all: it may have 100 MB, in one text.

>>> names = np.array(["ham", "spam"])
>>> kind, tensors = label_tensors(names, "classes")
>>> kind, bytes(tensors["classes.block"]), read_labels(Tensors(tensors), "classes", kind).tolist()
('str', b'hamspam', ['ham', 'spam'])
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.exceptions import NaivelyError
from naively.labels import is_text, number_array, text_array
from naively.tensors import Tensors, UnsoundError

__all__ = ["label_tensors", "listed_labels", "read_labels"]

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
    size, n_offsets = tensors.length(f"{name}.block"), tensors.length(f"{name}.offsets")
    block = tensors.take(f"{name}.block", np.uint8, (size,)).tobytes()
    offsets = tensors.take(f"{name}.offsets", np.int64, (n_offsets,))
    sound = n_offsets > 0 and offsets[0] == 0 and offsets[-1] == size
    if not sound or (np.diff(offsets) < 0).any():
        raise UnsoundError(f"{name} must be texts, one after the other")
    try:
        return text_array(
            [block[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets.tolist())]
        )
    except UnicodeDecodeError:
        raise UnsoundError(f"{name} must be UTF-8") from None
