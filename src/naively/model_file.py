"""The model file: a summary and how to read it, in a file that cannot run code.

It is a safetensors file. Every statistic of the summary has its tensors, such as ``class_weight``,
``moments``, ``tallies``, ``bins`` and ``sample.*``; ``edges`` and ``knots`` are the schema's;
``classes.*`` and ``categories.*`` are labels and categories. A JSON text in its header says all
else::

    {"format": 4, "naively": "0.1.0", "estimator": "GaussianNB", "params": {...},
     "dtype": "float64", "columns": ["age", "income"], "n_columns": 2, "kinds": null, "sample": 0,
     "labels": "str", "label_dtype": null, "categories": [], "weight": 1000.0}

Files of earlier formats are read too: see `naively.model_formats`.

The summary is kept, not the model: what is loaded predicts the same bits, and can be updated,
merged, and read in another way. The same model gives the same bytes.

Reading trusts nothing: sizes are checked before memory is taken, and every number against what
it must satisfy.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import remote
from naively._atomic import write_atomically
from naively._optional import need
from naively.alphabet import UNICODE
from naively.exceptions import NaivelyError, warn
from naively.model_formats import FORMAT, NewerError, converted
from naively.remote import shown
from naively.summary import Summary
from naively.summary_file import pack, unpack
from naively.tensors import UnsoundError

__all__ = ["ModelFile", "as_json", "check", "parse", "read", "write"]

_LONGEST_HEADER = 100_000_000  # bytes; safetensors' own limit
_DTYPES = {"F64": "<f8", "U64": "<u8", "I64": "<i8", "I32": "<i4", "U32": "<u4", "U8": "<u1"}


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
    write_atomically(path, save(tensors, {"naively": text}))


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
    dtype = _DTYPES.get(tensor["dtype"])
    if dtype is None:
        raise UnsoundError(f"{name} must be one of {', '.join(_DTYPES)}, and is {tensor['dtype']}")
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
