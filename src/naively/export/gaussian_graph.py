"""The graph of a Gaussian model: the kernel's arithmetic, squares in units of 2^512."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.export.graph import LABELS, TYPES, Graph, plain_classes
from naively.export.terms import SQUARE_UNIT, UNIT, Terms

__all__ = ["gaussian_graph"]

# `Scan` takes the classes one by one, so that memory grows with rows times columns, and not times
# classes too. Type 11 is double.
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


def gaussian_graph(terms: Terms, dtype: str) -> Graph:
    """Write a Gaussian model as a graph for inputs of a type."""
    n_classes, n_columns = terms.mean.shape
    name, number = TYPES[dtype]
    labels = LABELS[terms.classes.dtype.kind]
    sizes = {"K": n_classes, "d": n_columns}
    text = _GRAPH % {**sizes, "input": name, "labels": labels, "type": number}
    return Graph(text, _constants(terms), {"columns": terms.names})


def _constants(terms: Terms) -> dict[str, NDArray[Any]]:
    """Return the numbers that the graph names."""
    return {
        "classes": plain_classes(terms.classes),
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
