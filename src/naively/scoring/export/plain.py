"""Labels, texts and numbers as other languages can hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import is_text
from naively.errors import NaivelyError

_LARGEST_INTEGER = 2**53  # beyond, not every integer is a float64


def power_of_ten(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round down to a number that reads well.

    >>> power_of_ten(np.array([0.03, 250.0]))
    array([1.e-02, 1.e+02])
    """
    return np.array([float(f"1e{n:.0f}") for n in np.floor(np.log10(values))])


def plain_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels of a type that other languages have."""
    kind = classes.dtype.kind
    if is_text(classes):
        for label in classes.tolist():
            check_text(label, "labels")
        return classes
    if kind not in "iubf":
        raise NaivelyError(
            "only labels that are strings, integers, booleans or floats can be exported; "
            f"got dtype {classes.dtype}."
        )
    fits = kind == "i" or (kind == "u" and classes.max(initial=0) <= np.iinfo(np.int64).max)
    return classes.astype(np.int64 if fits else {"u": "uint64", "b": "bool", "f": "float64"}[kind])


def check_text(text: str, what: str) -> None:
    """Raise where a text cannot be written: a zero byte, or half of a surrogate pair."""
    if "\0" in text:
        raise NaivelyError(f"{what} must not hold a zero byte to be exported; got {text!r}.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NaivelyError(f"{what} must be Unicode text to be exported; got {text!r}.") from None


def check_categories(categories: NDArray[Any], column: str) -> None:
    """Raise where categories cannot be written: as texts, or as integers that floats hold."""
    if is_text(categories):
        for category in categories.tolist():
            check_text(category, f"categories of {column}")
    elif categories.dtype.kind in "iu" and (np.abs(categories) > _LARGEST_INTEGER).any():
        raise NaivelyError(
            f"categories of {column} must be integers up to 2^53 to be exported; got larger ones. "
            "Make them text."
        )
