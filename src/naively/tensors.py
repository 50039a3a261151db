"""A summary as tensors and a few words, and back, trusting nothing.

The words go into the header of a file, the tensors behind it. Sizes are checked against each
other, and every number against what it must satisfy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from naively.exceptions import NaivelyError
from naively.labels import text_array
from naively.sample import EVERYTHING, ROWS, Sample
from naively.schema import Kind, Schema
from naively.stats import Moments, Tallies
from naively.summary import Summary

__all__ = ["UnsoundError", "pack", "unpack"]

_LABELS = {
    "U": "str",
    "O": "str",
    "i": "int",
    "u": "int",
    "b": "bool",
    "f": "float",
}  # by NumPy's kinds
_TYPES = {"str": str, "int": int, "bool": bool, "float": float}
_DTYPES = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float16", "float32")
_ROUNDING = 1e-6  # of sums in another order, and of what was subtracted from them
_EDGES = ("edges", "knots")
_FLAGS = ("drawn", "untyped")
_HASHES = "cells"  # what a sample's hashes are of; files of earlier versions do not say it


class UnsoundError(Exception):
    """What is wrong with a file."""


def pack(summary: Summary) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the words and the tensors of a summary."""
    schema = summary.schema
    header: dict[str, Any] = {
        "columns": schema.names,
        "n_columns": schema.n_columns,
        "labels": _type_of(summary.classes, "labels"),
        "classes": summary.classes.tolist(),
        "weight": summary.weight,
    }
    if summary.classes.dtype.name in _DTYPES:
        header["label_dtype"] = summary.classes.dtype.name
    moments = summary.moments
    tensors = {"class_weight": summary.class_weight, "moments": moments.values[:3]}
    tensors["rest"] = moments.rest
    if schema == Schema(schema.n_columns, schema.names):
        return header, tensors
    header["kinds"] = schema.kinds or ["number"] * schema.n_columns
    header["categories"] = [
        {"type": _type_of(column, "categories"), "names": column.tolist()}
        for column in summary.categories
    ]
    tensors["tallies"] = summary.tallies.values
    if schema.edges is not None:
        tensors |= {"edges": np.array(schema.edges), "knots": np.array(schema.knots)}
        tensors["bins"] = summary.bins.values
    if summary.sample is not None:
        header |= {"sample": schema.sample, "bound": summary.sample.bound}
        header |= {"hashes": _HASHES, **{flag: getattr(summary.sample, flag) for flag in _FLAGS}}
        tensors |= {f"sample.{name}": getattr(summary.sample, name) for name in ROWS}
    return header, {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}


def _type_of(values: NDArray[Any], what: str) -> str:
    kind = _LABELS.get(values.dtype.kind)
    if kind is None:
        raise NaivelyError(
            f"{what} must be str, int, bool or float to be saved; got {values.dtype}."
        )
    return kind


@np.errstate(over="ignore")  # a sum that overflows is infinite, and refused
def unpack(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> Summary:
    """Return the summary, or raise `UnsoundError` with what is wrong."""
    tensors = dict(tensors)
    schema = _schema(header, tensors)
    classes = _classes(header)
    n_classes, n_numbers = classes.size, len(schema.numbers)
    weight = _class_weight(tensors, n_classes)
    moments = _moments(tensors, weight, n_numbers)
    categories = _categories(header, schema)
    tallies = bins = sample = None
    if header.get("kinds") is not None:
        shape = (n_classes, sum(column.size for column in categories))
        tallies = Tallies(_weights(tensors, "tallies", shape))
        for j, column in enumerate(_split(tallies.values, categories)):
            _check_no_heavier(column.sum(axis=1), weight, f"the tallies of column {j}")
    if schema.edges is not None:
        bins = Tallies(_weights(tensors, "bins", (n_classes, n_numbers, schema.n_bins)))
        _check_no_heavier(bins.values.sum(axis=2).T, weight, "a histogram")
    if schema.sample:
        sample = _sample(header, tensors, schema, weight, categories)
    if tensors:
        raise UnsoundError(f"it holds {min(tensors)!r}, which nothing needs")
    parts: Any = (moments, categories, tallies, bins, sample)
    return Summary(schema, classes, weight, *parts)


def _taken(
    tensors: dict[str, NDArray[Any]], name: str, dtype: Any, shape: tuple[int, ...]
) -> NDArray[Any]:
    """Take a tensor that must be there, of this type and shape."""
    if name not in tensors:
        raise UnsoundError(f"it does not hold {name!r}")
    tensor = tensors.pop(name)
    if tensor.dtype != dtype:
        raise UnsoundError(f"{name} must be {np.dtype(dtype)}, and is {tensor.dtype}")
    if tensor.shape != shape:
        raise UnsoundError(f"{name} must have the shape {shape}, and has {tensor.shape}")
    return tensor


def _weights(
    tensors: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    values = _taken(tensors, name, np.float64, shape)
    if not np.isfinite(values).all() or values.min(initial=0.0) < 0:
        raise UnsoundError(f"{name} must be weights, finite and not below 0")
    return values


def _class_weight(tensors: dict[str, NDArray[Any]], n_classes: int) -> NDArray[np.float64]:
    weight = _weights(tensors, "class_weight", (n_classes,))
    if not np.isfinite(weight.sum()):
        raise UnsoundError("the weight of all classes together is beyond every float64")
    return weight


def _check_no_heavier(
    found: NDArray[np.float64], class_weight: NDArray[np.float64], what: str
) -> None:
    """Raise where something, class last, weighs more than its class, by more than rounding."""
    if (found > class_weight * (1 + _ROUNDING) + _ROUNDING * class_weight.sum()).any():
        raise UnsoundError(f"{what} weighs more than its class")


def _split(
    tallies: NDArray[np.float64], categories: tuple[NDArray[Any], ...]
) -> list[NDArray[np.float64]]:
    """Return the tallies of each column of categories."""
    ends = np.cumsum([column.size for column in categories])[:-1]
    return np.split(tallies, ends, axis=1) if categories else []


def _schema(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> Schema:
    n_columns, names, kinds = (header.get(key) for key in ("n_columns", "columns", "kinds"))
    if type(n_columns) is not int or n_columns < 0:
        raise UnsoundError(f"its number of columns is {n_columns!r}")
    if names is not None and (not _all_are(str, names) or len(names) != n_columns):
        raise UnsoundError("its column names must be as many strings as there are columns")
    if kinds is not None:
        known = isinstance(kinds, list) and all(kind in get_args(Kind) for kind in kinds)
        if not known or len(kinds) != n_columns:
            listed = ", ".join(map(repr, get_args(Kind)))
            raise UnsoundError(f"its kinds must be one of {listed} for each column")
    size = header.get("sample", 0)
    if type(size) is not int or size < 0:
        raise UnsoundError(f"the size of its sample is {size!r}")
    named = None if names is None else tuple(names)
    schema = Schema(n_columns, named, None if kinds is None else tuple(kinds), sample=size)
    if not any(name in tensors for name in _EDGES):
        return schema
    n_bins = tensors["knots"].shape[-1] if "knots" in tensors else 0
    cuts = _ascending(tensors, "edges", (len(schema.numbers), max(n_bins - 1, 0)))
    knots = _ascending(tensors, "knots", (len(schema.numbers), n_bins))
    if not np.isfinite(knots).all():
        raise UnsoundError("knots must be finite")
    return Schema(n_columns, named, schema.kinds, cuts, knots, size)


def _ascending(
    tensors: dict[str, NDArray[Any]], name: str, shape: tuple[int, int]
) -> tuple[tuple[float, ...], ...]:
    values = _taken(tensors, name, np.float64, shape)
    if np.isnan(values).any() or (values[:, 1:] < values[:, :-1]).any():
        raise UnsoundError(f"{name} must ascend")
    return tuple(map(tuple, values.tolist()))


def _names(kind: Any, listed: Any, what: str) -> NDArray[Any]:
    """Return labels or categories: all of one type, distinct and sorted."""
    type_ = _TYPES.get(str(kind))
    if type_ is None or not isinstance(listed, list):
        raise UnsoundError(f"its {what} must be a list of str, int, bool or float")
    if not _all_are(type_, listed):
        raise UnsoundError(f"its {what} must all be {type_.__name__}")
    try:
        is_text = type_ is str
        names = text_array(listed) if is_text else np.array(listed, None if listed else type_)
        ordered = bool((names[1:] > names[:-1]).all())
    except (OverflowError, TypeError, ValueError):
        raise UnsoundError(f"its {what} are beyond what labels can be") from None
    is_plain = names.dtype.kind in _LABELS and (is_text or names.dtype.kind != "O")
    if not is_plain or not ordered or len(set(listed)) != names.size:
        raise UnsoundError(f"its {what} must be distinct and sorted")
    return names


def _classes(header: dict[str, Any]) -> NDArray[Any]:
    """Return the labels, in the type that they had."""
    classes = _names(header.get("labels"), header.get("classes"), "classes")
    dtype = header.get("label_dtype")
    if dtype is None:
        return classes
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise UnsoundError(f"the type of its labels is {dtype!r}")
    with np.errstate(over="ignore"):
        typed = classes.astype(dtype)
    if typed.dtype.kind not in (classes.dtype.kind, "u") or not np.array_equal(typed, classes):
        raise UnsoundError(f"its labels are not {dtype}")
    return typed


def _all_are(type_: type, values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is type_ for value in values)


def _categories(header: dict[str, Any], schema: Schema) -> tuple[NDArray[Any], ...]:
    listed = header.get("categories", [])
    if not isinstance(listed, list) or len(listed) != len(schema.categories):
        raise UnsoundError("its categories must be listed for each column of categories")
    if not all(isinstance(column, dict) for column in listed):
        raise UnsoundError("its categories must be named")
    return tuple(_names(c.get("type"), c.get("names"), "categories") for c in listed)


def _moments(
    tensors: dict[str, NDArray[Any]], weight: NDArray[np.float64], n_numbers: int
) -> Moments:
    """Take the moments; files of the first versions do not say what rounding took from means."""
    shape = (weight.size, n_numbers)
    values = _taken(tensors, "moments", np.float64, (3, *shape))
    _check_moments(weight, values)
    rest = _taken(tensors, "rest", np.float64, shape) if "rest" in tensors else np.zeros(shape)
    if not (np.abs(rest) <= np.finfo(np.float64).eps * np.abs(values[1])).all():
        raise UnsoundError("the rest of a mean is more than rounding can take")
    return Moments(np.concatenate([values, rest[np.newaxis]]))


def _check_moments(weight: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    if not np.isfinite(values).all():
        raise UnsoundError("it holds numbers that are not finite")
    if values[[0, 2]].min(initial=0.0) < 0:
        raise UnsoundError("a weight or a sum of squares is negative")
    if (values[1:, values[0] == 0] != 0).any():
        raise UnsoundError("a mean or a sum of squares has no weight")
    _check_no_heavier(values[0].T, weight, "a column")


def _sample(
    header: dict[str, Any],
    tensors: dict[str, NDArray[Any]],
    schema: Schema,
    class_weight: NDArray[np.float64],
    categories: tuple[NDArray[Any], ...],
) -> Sample:
    bound = header.get("bound")
    if type(bound) is not int or not 0 <= bound <= EVERYTHING:
        raise UnsoundError(f"the bound of its sample is {bound!r}")
    n = tensors["sample.hashes"].size if "sample.hashes" in tensors else 0
    hashes = _taken(tensors, "sample.hashes", np.uint64, (n,))
    weight = _weights(tensors, "sample.weight", (n,))
    codes = _taken(tensors, "sample.codes", np.int32, (n,))
    numbers = _taken(tensors, "sample.numbers", np.float64, (n, len(schema.numbers)))
    cells = _taken(tensors, "sample.categories", np.int32, (n, len(categories)))
    sizes = np.array([column.size for column in categories], dtype=np.int64)
    n_classes = class_weight.size
    if ((codes < 0) | (codes >= n_classes)).any() or ((cells < -1) | (cells >= sizes)).any():
        raise UnsoundError("its sample holds codes of no class or no category")
    if np.isinf(numbers).any() or (n and int(hashes[-1]) >= bound):
        raise UnsoundError("its sample holds infinity, or a hash beyond its bound")
    rule, flags = header.get("hashes"), [header.get(flag, False) for flag in _FLAGS]
    if rule not in (None, _HASHES) or not _all_are(bool, flags):
        raise UnsoundError(f"its sample has hashes of {rule!r}, drawn={flags[0]!r}")
    sample = Sample(schema.sample, bound, hashes, weight, codes, numbers, cells, *flags)
    _check_rows(sample)
    by_class = np.zeros(n_classes)
    np.add.at(by_class, codes, weight)
    _check_no_heavier(by_class, class_weight, "its sample")
    return _earlier(sample, categories) if rule is None else sample


def _check_rows(sample: Sample) -> None:
    """Raise where rows are too many, without weight, equal, or not in their order."""
    hashes, few = sample.hashes, len(sample.least(sample.size)) == len(sample)
    order = (hashes[1:] > hashes[:-1]) | (
        (hashes[1:] == hashes[:-1]) & (sample.codes[1:] > sample.codes[:-1])
    )
    if not (few and order.all() and (sample.weight > 0).all()):
        raise UnsoundError("its sample must be few rows of weight, by ascending hashes")


def _earlier(sample: Sample, categories: tuple[NDArray[Any], ...]) -> Sample:
    """Return a sample of an earlier version, whose hashes are of labels, too, under today's.

    Where it does not hold all rows, those it holds were drawn at random, as seen from today's.
    """
    rehashed = replace(sample, bound=EVERYTHING).rehashed(categories)
    return rehashed if sample.bound == EVERYTHING else rehashed.thinned(sample.bound)
