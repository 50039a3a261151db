"""The model file: a summary and how to read it, in a file that cannot run code.

It is a safetensors file. Its tensors, such as ``class_weight``, ``moments`` and what rounding took
from the means, ``rest``, hold the summary; a JSON text in its header says all else::

    {"format": 1, "naively": "0.1.0", "estimator": "GaussianNB", "params": {...},
     "dtype": "float64", "columns": ["age", "income"], "n_columns": 2, "family": "gaussian",
     "labels": "str", "classes": ["no", "yes"], "weight": 1000.0}

A summary of more than numbers is format 2: ``kinds`` and ``categories`` stand in the header, and
``tallies``, ``bins``, ``edges``, ``knots`` and the ``sample.*`` are further tensors.

The summary is kept, not the model: what is loaded predicts the same bits, and can be updated,
merged, and read in another way. The same model gives the same bytes.

Reading trusts nothing: sizes are checked before memory is taken, and every number against what
it must satisfy.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._atomic import write_atomically
from naively._optional import need
from naively.exceptions import NaivelyError
from naively.summary import Summary
from naively.tensors import UnsoundError, pack, unpack

__all__ = [
    "FORMATS",
    "ModelFile",
    "NewerError",
    "as_json",
    "check",
    "check_format",
    "read",
    "write",
]

FORMATS = (1, 2)  # of numbers alone, and of any columns
_LONGEST_HEADER = 100_000_000  # bytes; safetensors' own limit
_DTYPES = {"F64": "<f8", "U64": "<u8", "I32": "<i4"}


class NewerError(Exception):
    """A file that a later version wrote."""


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
    mixed = "kinds" in found
    header = {
        "format": FORMATS[1] if mixed else FORMATS[0],
        "naively": version,
        "estimator": content.estimator,
        "params": content.params,
        "dtype": content.dtype,
        **found,
        **({} if mixed else {"family": "gaussian"}),
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
        header, tensors = _parse(Path(path))
        return _content(header, tensors)
    except OSError as error:
        raise NaivelyError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    except NewerError as error:
        raise NaivelyError(f"{str(path)!r} {error}.") from None
    except UnsoundError as error:
        raise NaivelyError(f"{str(path)!r} is not a sound model file: {error}.") from None


def _parse(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header's JSON and the tensors, having checked that sizes agree."""
    safetensors = need("safetensors", "reading a model", extra="files")
    size = path.stat().st_size
    with path.open("rb") as file:
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
    array = np.frombuffer(tensor["data"], dtype=dtype).reshape(tensor["shape"])
    return array.astype(array.dtype.newbyteorder("="))


def check_format(number: Any, newest: int, header: dict[str, Any]) -> None:
    """Raise where a file's format is none that this version reads."""
    if type(number) is not int or number < 1:
        raise UnsoundError(f"its format is {number!r}")
    if number > newest:
        raise NewerError(
            f"was written by a newer version of naively (format {number}, version "
            f"{header.get('naively')}); this version reads formats up to {newest}. Update naively"
        )


def _content(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> ModelFile:
    number = header.get("format")
    check_format(number, FORMATS[-1], header)
    if number == FORMATS[0] and header.get("family") != "gaussian":
        raise UnsoundError(f"its family is {header.get('family')!r}")
    summary = unpack(header, tensors)
    estimator, params, dtype = header.get("estimator"), header.get("params"), header.get("dtype")
    if not isinstance(estimator, str) or not isinstance(params, dict):
        raise UnsoundError("its estimator must be a name and its params a dict")
    if dtype not in ("float32", "float64"):
        raise UnsoundError(f"its dtype is {dtype!r}")
    return ModelFile(summary, estimator, params, dtype)
