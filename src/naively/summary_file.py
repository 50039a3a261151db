"""A summary as words and tensors, and back, trusting nothing.

The words go into the header of a file, the tensors behind it. Every statistic has tensors of its
own; sizes are checked against each other, and every number against what it must satisfy.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from naively.axes import Axes
from naively.dates import split_name
from naively.functions import FUNCTIONS, ColumnFunction
from naively.label_file import label_tensors, read_labels
from naively.schema import Counted, Kind, Schema
from naively.statistics import STATISTICS, ClassWeight
from naively.summary import Summary
from naively.tensors import Tensors, UnsoundError
from naively.text_file import option_dict, read_option, read_words, word_tensors
from naively.tokens import TextOptions

__all__ = ["pack", "unpack"]

_DTYPES = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float16", "float32")
_ROUNDING = 1e-6  # of sums in another order, and of what was subtracted from them


def pack(summary: Summary) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the words and the tensors of a summary."""
    schema, classes = summary.schema, summary.classes
    labels, tensors = label_tensors(classes, "classes")
    categories = []
    for i, column in enumerate(summary.categories):
        kind, its = label_tensors(column, f"categories.{i}")
        categories.append(kind)
        tensors |= its
    header: dict[str, Any] = {
        "columns": schema.names,
        "n_columns": schema.n_columns,
        "kinds": schema.kinds,
        "sample": schema.sample,
        "counted": schema.counted,
        "threshold": schema.threshold,
        "labels": labels,
        "label_dtype": classes.dtype.name if classes.dtype.name in _DTYPES else None,
        "categories": categories,
        "functions": [*map(list, schema.functions)],
        "dates": schema.dates,
        "text": [*map(option_dict, schema.options)],
        "weight": summary.weight,
    }
    if schema.edges is not None:
        tensors |= {"edges": np.array(schema.edges), "knots": np.array(schema.knots)}
    if schema.centres is not None:
        tensors["centres"] = np.array(schema.centres, dtype=np.float64)
    for i, words in enumerate(summary.words):
        tensors |= word_tensors(words, f"words.{i}")
    for statistic in summary.statistics.values():
        tensors |= statistic.tensors()
    return header, {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}


@np.errstate(over="ignore")  # a sum that overflows is infinite, and refused
def unpack(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> Summary:
    """Return the summary, or raise `UnsoundError` with what is wrong."""
    left = Tensors(tensors)
    schema = _schema(header, left)
    words = [read_words(left, f"words.{i}", option) for i, option in enumerate(schema.options)]
    axes = Axes(_classes(header, left), _categories(header, schema, left), tuple(words))
    kinds = [kind for kind in STATISTICS if kind.is_measured(schema)]
    summary = Summary.of(schema, axes, *(kind.from_tensors(left, schema, axes) for kind in kinds))
    left.check_empty()
    _check_no_heavier(summary)
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
        known = isinstance(kinds, list) and all(kind in get_args(Kind) for kind in kinds)
        if not known or len(kinds) != n_columns:
            listed = ", ".join(map(repr, get_args(Kind)))
            raise UnsoundError(f"its kinds must be one of {listed} for each column")
    size = header.get("sample", 0)
    if type(size) is not int or size < 0:
        raise UnsoundError(f"the size of its sample is {size!r}")
    named = None if names is None else tuple(names)
    held = None if kinds is None else tuple(kinds)
    options, counting = _options(header, held), _counting(header)
    functions = _functions(header, n_columns)
    schema = Schema(
        n_columns, named, held, sample=size, functions=functions, options=options, **counting
    )
    schema = replace(schema, dates=_dates(header, named))
    if "centres" in tensors:
        centres = tensors.take("centres", np.float64, (len(schema.numbers),))
        if not np.isfinite(centres).all():
            raise UnsoundError("centres must be finite")
        schema = replace(schema, centres=tuple(centres.tolist()))
    if "edges" not in tensors and "knots" not in tensors:
        return schema
    n_bins = tensors.length("knots", axis=-1)
    cuts = _ascending(tensors, "edges", (len(schema.numbers), max(n_bins - 1, 0)))
    knots = _ascending(tensors, "knots", (len(schema.numbers), n_bins))
    if not np.isfinite(knots).all():
        raise UnsoundError("knots must be finite")
    return replace(schema, edges=cuts, knots=knots)


def _functions(header: dict[str, Any], n_columns: int) -> tuple[ColumnFunction, ...]:
    """Return the functions of columns, of which there were none in earlier files."""
    listed = header.get("functions", [])
    if not isinstance(listed, list) or not all(_is_function(one, n_columns) for one in listed):
        raise UnsoundError("its functions must be a column, a name and a period each")
    return tuple(ColumnFunction(column, name, float(period)) for column, name, period in listed)


def _dates(header: dict[str, Any], names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the columns of dates, of which there were none in earlier files."""
    listed = header.get("dates", [])
    parts = {split[0] for split in map(split_name, names or ()) if split is not None}
    if not _all_are(str, listed) or not parts.issuperset(listed):
        raise UnsoundError("its columns of dates must be those of some of its columns")
    return tuple(listed)


def _is_function(given: Any, n_columns: int) -> bool:
    if not isinstance(given, list) or len(given) != 3:
        return False
    column, name, period = given
    placed = type(column) is int and 0 <= column < n_columns
    named = isinstance(name, str) and name in FUNCTIONS
    return placed and named and type(period) in (int, float) and 0 < period < np.inf


def _options(header: dict[str, Any], kinds: tuple[str, ...] | None) -> tuple[TextOptions, ...]:
    """Return how columns of text become words."""
    listed = header.get("text", [])
    if not isinstance(listed, list) or len(listed) != (kinds or ()).count("text"):
        raise UnsoundError("it must say for each column of text how it becomes words")
    try:
        return tuple(map(read_option, listed))
    except (KeyError, TypeError, ValueError) as error:
        raise UnsoundError(f"how its text becomes words is not valid: {error}") from None


def _counting(header: dict[str, Any]) -> dict[str, Any]:
    """Return what is measured of numbers, which files did not say before there were counts."""
    counted, threshold = header.get("counted"), header.get("threshold", 0.0)
    if counted not in (None, *get_args(Counted)) or type(threshold) not in (int, float):
        raise UnsoundError(f"it counts {counted!r} above {threshold!r}")
    if not 0 <= threshold < np.inf:
        raise UnsoundError(f"it counts what is above {threshold!r}")
    return {"counted": counted, "threshold": float(threshold)}


def _ascending(
    tensors: Tensors, name: str, shape: tuple[int, int]
) -> tuple[tuple[float, ...], ...]:
    values = tensors.take(name, np.float64, shape)
    if np.isnan(values).any() or (values[:, 1:] < values[:, :-1]).any():
        raise UnsoundError(f"{name} must ascend")
    return tuple(map(tuple, values.tolist()))


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


def _categories(
    header: dict[str, Any], schema: Schema, tensors: Tensors
) -> tuple[NDArray[Any], ...]:
    kinds = header.get("categories", [])
    if not isinstance(kinds, list) or len(kinds) != len(schema.categories):
        raise UnsoundError("it must say for each column of categories what they are")
    named = enumerate(kinds)
    return tuple(read_labels(tensors, f"categories.{i}", kind) for i, kind in named)
