"""The model file: a summary and how to read it, in a file that cannot run code.

It is a safetensors file. Two tensors, ``class_weight`` and ``moments``, hold the summary; a JSON
text in its header says the rest::

    {"format": 1, "naively": "0.1.0", "estimator": "GaussianNB", "params": {...},
     "dtype": "float64", "columns": ["age", "income"], "n_columns": 2, "family": "gaussian",
     "labels": "str", "classes": ["no", "yes"], "weight": 1000.0}

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
from naively.stats import Moments
from naively.summary import Schema, Summary

__all__ = ["FORMAT", "ModelFile", "read", "write"]

FORMAT = 1
_LONGEST_HEADER = 100_000_000  # bytes; safetensors' own limit
_LABELS = {"U": "str", "i": "int", "u": "int", "b": "bool", "f": "float"}  # by NumPy's kinds
_TYPES = {"str": str, "int": int, "bool": bool, "float": float}


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
    summary = content.summary
    kind = _LABELS.get(summary.classes.dtype.kind)
    if kind is None:
        raise NaivelyError(
            f"labels must be str, int, bool or float to be saved; got {summary.classes.dtype}."
        )
    header = {
        "format": FORMAT,
        "naively": version,
        "estimator": content.estimator,
        "params": content.params,
        "dtype": content.dtype,
        "columns": summary.schema.names,
        "n_columns": summary.schema.n_columns,
        "family": "gaussian",
        "labels": kind,
        "classes": summary.classes.tolist(),
        "weight": summary.weight,
    }
    tensors = {"class_weight": summary.class_weight, "moments": summary.moments.values}
    text = json.dumps(header, allow_nan=False)  # ASCII: any text survives, lone surrogates too
    write_atomically(path, save(tensors, {"naively": text}))


def read(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file, or raise `NaivelyError` with the reason."""
    try:
        header, tensors = _parse(Path(path))
        return _content(header, tensors)
    except OSError as error:
        raise NaivelyError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    except _UnsoundError as error:
        raise NaivelyError(f"{str(path)!r} is not a sound model file: {error}.") from None


class _UnsoundError(Exception):
    """What is wrong with a file."""


def _parse(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]]]:
    """Return the header's JSON and the tensors, having checked that sizes agree."""
    safetensors = need("safetensors", "reading a model", extra="files")
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or not 0 < length <= min(_LONGEST_HEADER, size - 8):
            raise _UnsoundError("it does not begin with the length of a header")
        text = file.read(length)
        try:
            listed = json.loads(text)
            end = max(int(t["data_offsets"][1]) for n, t in listed.items() if n != "__metadata__")
            header = json.loads(listed["__metadata__"]["naively"])
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            raise _UnsoundError("its header cannot be read") from None
        if size != 8 + length + end:
            raise _UnsoundError(f"it should have {8 + length + end} bytes and has {size}")
        try:
            found = dict(safetensors.deserialize(start + text + file.read()))
        except Exception as error:  # whatever the parser calls its errors
            raise _UnsoundError(str(error).rstrip(".")) from None
    if not isinstance(header, dict) or set(found) != {"class_weight", "moments"}:
        raise _UnsoundError("it does not hold a header, class weights and moments")
    return header, {name: _tensor(name, tensor) for name, tensor in found.items()}


def _tensor(name: str, tensor: dict[str, Any]) -> NDArray[np.float64]:
    if tensor["dtype"] != "F64":
        raise _UnsoundError(f"{name} must be F64, and is {tensor['dtype']}")
    return np.frombuffer(tensor["data"], dtype="<f8").reshape(tensor["shape"]).astype(np.float64)


def _content(header: dict[str, Any], tensors: dict[str, NDArray[np.float64]]) -> ModelFile:
    if header.get("format") != FORMAT:
        raise _UnsoundError(
            f"its format is {header.get('format')!r}, and this version reads {FORMAT}"
        )
    if header.get("family") != "gaussian":
        raise _UnsoundError(f"its family is {header.get('family')!r}")
    schema, classes = _schema(header), _classes(header)
    weight, values = tensors["class_weight"], tensors["moments"]
    if weight.shape != classes.shape or values.shape != (3, classes.size, schema.n_columns):
        raise _UnsoundError(
            f"{classes.size} classes and {schema.n_columns} columns do not fit tensors of shape "
            f"{weight.shape} and {values.shape}"
        )
    _check_numbers(weight, values)
    estimator, params, dtype = header.get("estimator"), header.get("params"), header.get("dtype")
    if not isinstance(estimator, str) or not isinstance(params, dict):
        raise _UnsoundError("its estimator must be a name and its params a dict")
    if dtype not in ("float32", "float64"):
        raise _UnsoundError(f"its dtype is {dtype!r}")
    return ModelFile(Summary(schema, classes, weight, Moments(values)), estimator, params, dtype)


def _schema(header: dict[str, Any]) -> Schema:
    n_columns, names = header.get("n_columns"), header.get("columns")
    if type(n_columns) is not int or n_columns < 0:
        raise _UnsoundError(f"its number of columns is {n_columns!r}")
    if names is None:
        return Schema(n_columns)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _UnsoundError("its column names must be a list of strings")
    if len(names) != n_columns:
        raise _UnsoundError(f"{len(names)} names do not fit {n_columns} columns")
    return Schema(n_columns, tuple(names))


def _classes(header: dict[str, Any]) -> NDArray[Any]:
    kind, listed = _TYPES.get(str(header.get("labels"))), header.get("classes")
    if kind is None or not isinstance(listed, list):
        raise _UnsoundError("its classes must be a list of str, int, bool or float")
    if not all(type(label) is kind for label in listed):
        raise _UnsoundError(f"its classes must all be {kind.__name__}")
    try:
        classes = np.array(listed, dtype=None if listed else kind)
        ordered = bool((classes[1:] > classes[:-1]).all())
    except (OverflowError, TypeError, ValueError):
        raise _UnsoundError("its classes are beyond what labels can be") from None
    if classes.dtype.kind not in _LABELS or not ordered or len(set(listed)) != classes.size:
        raise _UnsoundError("its classes must be distinct and sorted")
    return classes


def _check_numbers(weight: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    if not (np.isfinite(weight).all() and np.isfinite(values).all()):
        raise _UnsoundError("it holds numbers that are not finite")
    if weight.min(initial=0.0) < 0 or values[[0, 2]].min(initial=0.0) < 0:
        raise _UnsoundError("a weight or a sum of squares is negative")
    if (values[1:, values[0] == 0] != 0).any():
        raise _UnsoundError("a mean or a sum of squares has no weight")
    if (values[0] > weight[:, np.newaxis] * (1 + 1e-9)).any():
        raise _UnsoundError("a column weighs more than its class")
