r"""A model as an ONNX graph.

The graph is the kernel's arithmetic, in float64 whatever the input's type: differences are
squared, never expanded, a missing cell (NaN) leaves its term out, and of equals the first class
is taken. A row so far from every class that all densities are 0 goes to the nearest.

Examples
--------
>>> from naively import GaussianNB
>>> model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
>>> import onnx
>>> graph = onnx.load_from_string(to_onnx(model)).graph
>>> [value.name for value in (*graph.input, *graph.output)]
['X', 'label', 'probabilities']
"""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np

from naively import __version__
from naively._optional import need
from naively.exceptions import NaivelyError
from naively.export.terms import SQUARE_UNIT, UNIT, Fitted, Terms

__all__ = ["to_onnx"]

# Of 2022: onnxruntime 1.14 and all newer ones run it. `Scan` takes the classes one by one, so
# that memory grows with rows times columns, and not times classes too. Type 11 is double.
_GRAPH = """
<ir_version: 8, opset_import: ["" : 18], producer_name: "naively">
GaussianNB (%(input)s[rows, %(d)d] X)
    => (%(labels)s[rows] label, %(input)s[rows, %(K)d] probabilities)
{
    x = Cast<to = 11>(X)
    missing = IsNaN(x)
    is_present = Not(missing)
    present = Cast<to = 11>(is_present)
    from_below = Min(x, highest)
    bounded = Max(from_below, lowest)
    small = Div(bounded, unit)

    by_class = Scan<num_scan_inputs = 2, body = one_class
        (double[%(d)d] mean_k, double[%(d)d] scale_k) => (double[rows] distance_k)
    {
        difference = Sub(small, mean_k)
        d = Where(missing, zero, difference)
        ds = Mul(d, scale_k)
        term = Mul(ds, d)
        distance_k = ReduceSum<keepdims = 0>(term, classes_axis)
    }>(mean, scale)
    distance = Transpose<perm = [1, 0]>(by_class)

    norms = MatMul(present, log_norm)
    rest = Sub(log_prior, norms)
    squares = Mul(distance, square_unit)
    near = Sub(rest, squares)

    best = ReduceMax<keepdims = 1>(near, classes_axis)
    beyond = IsInf(best)
    of_possible = Add(distance, barred)
    nearest = ReduceMin<keepdims = 1>(of_possible, classes_axis)
    is_nearest = Equal(distance, nearest)
    far = Where(is_nearest, rest, minus_infinity)
    joint = Where(beyond, far, near)

    at = ArgMax<axis = 1, keepdims = 0, select_last_index = 0>(joint)
    label = Gather(classes, at)
    posterior = Softmax<axis = 1>(joint)
    probabilities = Cast<to = %(type)d>(posterior)
}
"""

_LABELS = {"U": "string", "i": "int64", "u": "uint64", "b": "bool", "f": "double"}
_TYPES = {"float32": ("float", 1), "float64": ("double", 11)}
_MOST_BYTES = 2**31 - 2**20  # protobuf's limit, and something for the rest of the file


def to_onnx(model: Fitted, *, dtype: Literal["float32", "float64"] = "float32") -> bytes:
    """Return a fitted model as the bytes of an ONNX file.

    Its input ``X`` has one row of numbers each, in the order of the columns at `fit`. Its outputs
    are ``label``, of the labels' type, and ``probabilities``, one column per class. The names of
    columns and classes are kept as JSON in the metadata ``columns`` and ``classes``.

    Parameters
    ----------
    model : estimator
        Fitted.
    dtype : {"float32", "float64"}, default="float32"
        Type of ``X`` and ``probabilities``. Arithmetic is in float64 either way.

    Notes
    -----
    Labels and probabilities are those of `predict` and `predict_proba`, up to rounding: of
    float64 with ``dtype="float64"``, else of the float32 that goes in and comes out. A graph
    cannot refuse a cell of infinity, which is an error in `predict`: it counts as very far.
    """
    onnx = need("onnx", "exporting to ONNX", extra="onnx")
    parser = need("onnx.parser", "exporting to ONNX", extra="onnx")
    if dtype not in _TYPES:
        raise NaivelyError(f"dtype must be 'float32' or 'float64'; got {dtype!r}.")
    terms = Terms.of(model)
    constants = _constants(terms)
    if sum(value.nbytes for value in constants.values()) > _MOST_BYTES:
        n_classes, n_columns = terms.mean.shape
        raise NaivelyError(
            f"an ONNX file holds at most 2 GB; {n_classes} classes and {n_columns} columns "
            "need more. Fit on fewer columns."
        )
    proto = parser.parse_model(_text(terms, dtype))
    proto.producer_version = __version__
    tensors = [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()]
    proto.graph.initializer.extend(tensors)
    onnx.helper.set_model_props(
        proto,
        {
            "columns": json.dumps(terms.names),
            "classes": json.dumps(terms.classes.tolist()),
        },
    )
    return bytes(proto.SerializeToString(deterministic=True))


def _text(terms: Terms, dtype: str) -> str:
    n_classes, n_columns = terms.mean.shape
    name, number = _TYPES[dtype]
    labels = _LABELS[terms.classes.dtype.kind]
    sizes = {"K": n_classes, "d": n_columns}
    return _GRAPH % {**sizes, "input": name, "labels": labels, "type": number}


def _constants(terms: Terms) -> dict[str, np.ndarray[Any, Any]]:
    """Return the numbers that the graph names."""
    text = terms.classes.dtype.kind == "U"
    return {
        "classes": terms.classes.astype(object) if text else terms.classes,
        "mean": terms.mean / UNIT,
        "scale": terms.scale,
        "log_norm": np.ascontiguousarray(terms.log_norm.T),
        "log_prior": terms.log_prior,
        "barred": np.where(terms.possible, 0.0, np.inf),
        "lowest": terms.lowest,
        "highest": terms.highest,
        "unit": np.array(UNIT),
        "square_unit": np.array(SQUARE_UNIT),
        "zero": np.array(0.0),
        "minus_infinity": np.array(-np.inf),
        "classes_axis": np.array([1]),
    }
