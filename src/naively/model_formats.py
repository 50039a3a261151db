"""Model files of earlier formats, each turned into the next by one function.

Format 1 is of numbers alone. Format 2 knows categories, histograms and samples. In both, what
rounding took from the means is a tensor of its own (or absent, in the first files), and the state
of a sample stands in the header. Format 3 has one tensor, or one group of them, per statistic. In
all of them, the header lists classes and categories; since format 4, they are tensors, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.label_file import listed_labels
from naively.statistics.sample import EVERYTHING
from naively.tensors import UnsoundError

__all__ = ["FORMAT", "NewerError", "check_format", "converted"]

FORMAT = 4

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


class NewerError(Exception):
    """A file that a later version wrote."""


def check_format(number: Any, newest: int, header: Header) -> None:
    """Raise where a file's format is none that this version reads."""
    if type(number) is not int or number < 1:
        raise UnsoundError(f"its format is {number!r}")
    if number > newest:
        raise NewerError(
            f"was written by a newer version of naively (format {number}, version "
            f"{header.get('naively')}); this version reads formats up to {newest}. Update naively"
        )


def converted(header: Header, tensors: Arrays) -> tuple[Header, Arrays]:
    """Return header and tensors as the present format has them."""
    number = header.get("format")
    check_format(number, FORMAT, header)
    for convert in _CONVERSIONS[number - 1 :]:  # type: ignore[operator]
        header, tensors = convert(dict(header), dict(tensors))
    return header, tensors


def _from_1(header: Header, tensors: Arrays) -> tuple[Header, Arrays]:
    if header.get("family") != "gaussian":
        raise UnsoundError(f"its family is {header.get('family')!r}")
    for name in ("kinds", "sample"):
        header.pop(name, None)
    return header, tensors


def _from_2(header: Header, tensors: Arrays) -> tuple[Header, Arrays]:
    moments = tensors.get("moments", np.empty(0))
    if moments.ndim != 3 or moments.shape[0] != 3 or moments.dtype != np.float64:
        raise UnsoundError("moments must be weights, means and sums of squares of classes")
    rest = tensors.pop("rest", np.zeros(moments.shape[1:]))
    if rest.shape != moments.shape[1:] or rest.dtype != np.float64:
        raise UnsoundError(f"rest must have the shape {moments.shape[1:]}, and has {rest.shape}")
    tensors["moments"] = np.concatenate([moments, rest[np.newaxis]])
    if "tallies" in tensors and "category" not in (header.get("kinds") or ()):
        del tensors["tallies"]  # of no categories
    if header.get("sample"):
        tensors["sample.state"] = _state(header)
    return header, tensors


def _state(header: Header) -> NDArray[np.uint64]:
    """Return what format 2 says of a sample; its first files do not say what is hashed."""
    bound, rule = header.get("bound"), header.get("hashes")
    if type(bound) is not int or not 0 <= bound <= EVERYTHING:
        raise UnsoundError(f"the bound of its sample is {bound!r}")
    flags = [header.get(flag, False) for flag in ("drawn", "untyped")]
    if rule not in (None, "cells") or not all(type(flag) is bool for flag in flags):
        raise UnsoundError(f"its sample has hashes of {rule!r}, drawn={flags[0]!r}")
    return np.array([bound, *flags, rule is not None], np.uint64)


def _from_3(header: Header, tensors: Arrays) -> tuple[Header, Arrays]:
    tensors |= listed_labels(header.get("labels"), header.get("classes"), "classes", "classes")
    listed = header.get("categories", [])
    if not isinstance(listed, list) or not all(isinstance(column, dict) for column in listed):
        raise UnsoundError("its categories must be named")
    for i, column in enumerate(listed):
        kind, names = column.get("type"), column.get("names")
        tensors |= listed_labels(kind, names, f"categories.{i}", "categories")
    header["categories"] = [column["type"] for column in listed]
    return header, tensors


_CONVERSIONS: tuple[Callable[[Header, Arrays], tuple[Header, Arrays]], ...]
_CONVERSIONS = (_from_1, _from_2, _from_3)
