"""A summary as words and tensors, and back; and the model file, which cannot run code.

It is a safetensors file. Every statistic of the summary has its tensors, such as ``class_weight``,
``moments``, ``tallies``, ``bins`` and ``sample.*``; ``edges`` and ``knots`` are the schema's;
``classes.*`` and ``categories.*`` are labels and categories. A JSON text in its header says all
else::

    {"format": 4, "naively": "0.1.0", "estimator": "GaussianNB", "params": {...},
     "dtype": "float64", "columns": ["age", "income"], "n_columns": 2, "kinds": null, "sample": 0,
     "labels": "str", "label_dtype": null, "categories": [], "weight": 1000.0}

The summary is kept, not the model: what is loaded predicts the same bits, and can be updated,
merged, and read in another way. The same model gives the same bytes.

Reading trusts nothing: sizes are checked before memory is taken, and every number against what
it must satisfy. Files of earlier formats are turned into the next format by one function each.
Format 1 is of numbers alone. Format 2 knows categories, histograms and samples. In both, what
rounding took from the means is a tensor of its own (or absent, in the first files), and the state
of a sample stands in the header. Format 3 has one tensor, or one group of them, per statistic. In
all of them, the header lists classes and categories; since format 4, they are tensors, too.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import remote
from naively.data.dates import split_name
from naively.data.kinds import KINDS
from naively.data.labels import label_tensors, listed_labels, read_labels
from naively.data.remote import shown
from naively.data.schema import FIXED, Schema
from naively.data.tensors import Tensors, UnsoundError
from naively.data.tokens import UNICODE, read_words, word_tensors
from naively.data.whole_files import write_atomically
from naively.errors import NaivelyError, need, warn
from naively.statistics import STATISTICS, ClassWeight
from naively.statistics.axes import Axes
from naively.statistics.sample import EVERYTHING
from naively.statistics.summary import Summary

_DTYPES = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float16", "float32")
_ROUNDING = 1e-6  # of sums in another order, and of what was subtracted from them


def pack(summary: Summary) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the words and the tensors of a summary."""
    classes, (header, tensors) = summary.classes, pack_without_labels(summary)
    header["labels"], more = label_tensors(classes, "classes")
    header["label_dtype"] = classes.dtype.name if classes.dtype.name in _DTYPES else None
    header["categories"] = []
    for i, column in enumerate(summary.categories):
        kind, its = label_tensors(column, f"categories.{i}")
        header["categories"].append(kind)
        more |= its
    return header, {name: np.ascontiguousarray(values) for name, values in (more | tensors).items()}


def pack_without_labels(summary: Summary) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return all but classes and categories, which pickles hold as they are."""
    schema = summary.schema
    header: dict[str, Any] = {
        "columns": schema.names,
        "n_columns": schema.n_columns,
        "kinds": schema.kinds,
        "dates": schema.dates,
        "weight": summary.weight,
    }
    tensors: dict[str, NDArray[Any]] = {}
    for fixed in schema.fixed:
        its, more = fixed.packed()
        header |= its
        tensors |= more
    for i, words in enumerate(summary.words):
        tensors |= word_tensors(words, f"words.{i}")
    for statistic in summary.statistics.values():
        tensors |= statistic.tensors()
    return header, tensors


@np.errstate(over="ignore")  # a sum that overflows is infinite, and refused
def unpack(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> Summary:
    """Return the summary, or raise `UnsoundError` with what is wrong."""
    left = Tensors(tensors)
    schema, kinds = _schema(header, left), header.get("categories", [])
    if not isinstance(kinds, list) or len(kinds) != len(schema.categories):
        raise UnsoundError("it must say for each column of categories what they are")
    named = enumerate(kinds)
    categories = tuple(read_labels(left, f"categories.{i}", kind) for i, kind in named)
    summary = _summary(schema, left, _classes(header, left), categories)
    _check_no_heavier(summary)
    return summary


def unpack_with_labels(
    header: dict[str, Any],
    tensors: dict[str, NDArray[Any]],
    classes: NDArray[Any],
    categories: tuple[NDArray[Any], ...],
) -> Summary:
    """Return the summary of which `pack_without_labels` returned the rest."""
    left = Tensors(tensors)
    return _summary(_schema(header, left), left, classes, categories)


def _summary(
    schema: Schema, left: Tensors, classes: NDArray[Any], categories: tuple[NDArray[Any], ...]
) -> Summary:
    words = [read_words(left, f"words.{i}", option) for i, option in enumerate(schema.options)]
    axes = Axes(classes, categories, tuple(words))
    kinds = [kind for kind in STATISTICS if kind.is_measured(schema)]
    summary = Summary.of(schema, axes, *(kind.from_tensors(left, schema, axes) for kind in kinds))
    left.check_empty()
    return summary


def _check_no_heavier(summary: Summary) -> None:
    """Raise where something weighs more than its class, by more than rounding."""
    most = summary.class_weight * (1 + _ROUNDING) + _ROUNDING * summary.weight
    for kind, statistic in summary.statistics.items():
        if kind is not ClassWeight and (most < statistic.by_class(summary.axes).T).any():
            raise UnsoundError(f"something in {kind.name!r} weighs more than its class")


def _schema(header: dict[str, Any], tensors: Tensors) -> Schema:
    n_columns, names, kinds = (header.get(key) for key in ("n_columns", "columns", "kinds"))
    if type(n_columns) is not int or not 0 <= n_columns <= sys.maxsize:
        raise UnsoundError(f"its number of columns is {n_columns!r}")
    if names is not None and (not _all_are(str, names) or len(names) != n_columns):
        raise UnsoundError("its column names must be as many strings as there are columns")
    if kinds is not None:
        known = _all_are(str, kinds) and KINDS.keys() >= {*kinds}
        if not known or len(kinds) != n_columns:
            listed = ", ".join(map(repr, KINDS))
            raise UnsoundError(f"its kinds must be one of {listed} for each column")
    dates = header.get("dates", [])  # which earlier files do not have
    parts = {split[0] for split in map(split_name, names or ()) if split is not None}
    if not _all_are(str, dates) or not parts.issuperset(dates):
        raise UnsoundError("its columns of dates must be those of some of its columns")
    named = None if names is None else tuple(names)
    columns = Schema(n_columns, named, kinds, dates=tuple(dates))
    fixed = (one.unpacked(header, tensors, columns) for one in FIXED.values())
    return replace(columns, fixed=tuple(one for one in fixed if one is not None))


def _classes(header: dict[str, Any], tensors: Tensors) -> NDArray[Any]:
    """Return the labels, in the type that they had."""
    classes = read_labels(tensors, "classes", header.get("labels"))
    dtype = header.get("label_dtype")
    if dtype is None:
        return classes
    if not isinstance(dtype, str) or dtype not in _DTYPES or classes.dtype.kind not in "iuf":
        raise UnsoundError(f"the type of its labels, {classes.dtype}, is {dtype!r}")
    with np.errstate(over="ignore", invalid="ignore"):
        typed = classes.astype(dtype)
    if typed.dtype.kind not in (classes.dtype.kind, "u") or not np.array_equal(typed, classes):
        raise UnsoundError(f"its labels are not {dtype}")
    return typed


def _all_are(type_: type, values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is type_ for value in values)


# --- The model file -----------------------------------------------------------------------------


_LONGEST_HEADER = 100_000_000  # bytes; safetensors' own limit
_NUMPY = {"F64": "<f8", "U64": "<u8", "I64": "<i8", "I32": "<i4", "U32": "<u4", "U8": "<u1"}


@dataclass(frozen=True)
class ModelFile:
    """What a file holds: a summary, and how the estimator reads it."""

    summary: Summary
    estimator: str
    params: dict[str, Any]
    dtype: str


def write(path: str | os.PathLike[str], content: ModelFile, version: str) -> None:
    """Write a model file, whole or not at all."""
    save = need("safetensors.numpy", "saving a model", extra="files").save
    found, tensors = pack(content.summary)
    header = {
        "format": FORMAT,
        "naively": version,
        "estimator": content.estimator,
        "params": content.params,
        "dtype": content.dtype,
        **found,
    }
    text = as_json(header)
    check(json.loads(text), tensors)
    metadata = {"naively": text}
    room = _LONGEST_HEADER - 1000 * len(tensors)  # each is listed beside
    if (size := len(json.dumps(metadata))) > room:
        raise NaivelyError(
            "cannot save the model: names of columns and parameters must be shorter than "
            f"{_LONGEST_HEADER // 10**6} MB together; got {size // 10**6} MB. Nothing was written."
        )
    write_atomically(path, save(tensors, metadata))


def as_json(header: dict[str, Any]) -> str:
    """Return a header as JSON in ASCII: any text survives, lone surrogates too."""
    try:
        return json.dumps(header, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise NaivelyError(
            f"the parameters must be such that JSON can hold them: {error}."
        ) from None


def _plain(value: Any) -> Any:
    """Return a number of NumPy as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"got {value!r}")


def check(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> None:
    """Raise before anything is written that could not be read again."""
    try:
        unpack(header, tensors)
    except UnsoundError as error:
        raise NaivelyError(f"cannot save the model: {error}. Nothing was written.") from None


def read(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file, or raise `NaivelyError` with the reason."""
    try:
        header, tensors = parse(path)
        content = _content(header, tensors)
        _warn_of_unicode(content.summary, path)
        return content
    except OSError as error:
        raise NaivelyError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    except NewerError as error:
        raise NaivelyError(f"{shown(path)!r} {error}.") from None
    except UnsoundError as error:
        raise NaivelyError(f"{shown(path)!r} is not a valid model file: {error}.") from None


def parse(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header's JSON and the tensors, having checked that sizes agree."""
    safetensors = need("safetensors", "reading a model", extra="files")
    address = remote.address_of(path)
    with Path(path).open("rb") if address is None else BytesIO(remote.read(address)) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or not 0 < length <= min(_LONGEST_HEADER, size - 8):
            raise UnsoundError("it does not begin with the length of a header")
        text = file.read(length)
        try:
            listed = json.loads(text, parse_constant=_refuse)
            header = json.loads(listed.pop("__metadata__")["naively"], parse_constant=_refuse)
            end = max(_end(tensor["data_offsets"]) for tensor in listed.values())
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            raise UnsoundError("its header cannot be read") from None
        if size != 8 + length + end:
            raise UnsoundError(f"it should have {8 + length + end} bytes and has {size}")
        try:
            found = dict(safetensors.deserialize(start + text + file.read()))
        except Exception as error:  # whatever the parser calls its errors
            raise UnsoundError(str(error).rstrip(".")) from None
    if not isinstance(header, dict):
        raise UnsoundError("its header is not a table of names and values")
    return header, {name: _tensor(name, tensor) for name, tensor in found.items()}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _end(offsets: Any) -> int:
    """Return where a tensor ends."""
    start, end = offsets
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        raise ValueError("offsets must be whole numbers in order")
    return end


def _tensor(name: str, tensor: dict[str, Any]) -> NDArray[Any]:
    dtype = _NUMPY.get(tensor["dtype"])
    if dtype is None:
        raise UnsoundError(f"{name} must be one of {', '.join(_NUMPY)}, and is {tensor['dtype']}")
    try:
        array = np.frombuffer(tensor["data"], dtype=dtype).reshape(tensor["shape"])
    except ValueError:  # such as a shape of 0 by 2**63
        raise UnsoundError(f"{name} cannot have the shape {tensor['shape']}") from None
    return array.astype(array.dtype.newbyteorder("="))


def _warn_of_unicode(summary: Summary, path: str | os.PathLike[str]) -> None:
    """Warn where text was read by another version of Unicode than this Python's."""
    others = {option.unicode for option in summary.schema.options} - {UNICODE}
    if others:
        warn(
            f"{shown(path)!r} holds words by Unicode {', '.join(sorted(others))}, and this Python "
            f"has {UNICODE}: texts with characters that only one of them knows may get other "
            "answers, and nothing can be added to the model.",
        )


def _content(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> ModelFile:
    header, tensors = converted(header, tensors)
    summary = unpack(header, tensors)
    estimator, params, dtype = header.get("estimator"), header.get("params"), header.get("dtype")
    if not isinstance(estimator, str) or not isinstance(params, dict):
        raise UnsoundError("its estimator must be a name and its params a dict")
    if dtype not in ("float32", "float64"):
        raise UnsoundError(f"its dtype is {dtype!r}")
    return ModelFile(summary, estimator, params, dtype)


# --- Model files of earlier formats, each turned into the next by one function ------------------


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
