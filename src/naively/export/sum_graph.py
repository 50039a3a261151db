"""The graph of a model of any columns: each shape of term adds its nodes to the joint.

Numbers are the input ``X``, categories the input ``categories``; a model that has no such columns
has no such input.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.export.graph import LABELS, TYPES, Graph, plain_classes
from naively.export.spelling import BOOLEANS
from naively.export.sums import Curves, Lines, Pieces, Sum, Table
from naively.schema import Schema

__all__ = ["sum_graph"]

Constants = dict[str, NDArray[Any]]

_GRAPH = """
<ir_version: 8, opset_import: ["" : 18, "ai.onnx.ml" : 3], producer_name: "naively">
NaiveBayes (%(inputs)s)
    => (%(labels)s[rows] label, %(type)s[rows, %(K)d] probabilities)
{
    rows_alone = Shape<start = 0, end = 1>(%(any_input)s)
    shape = Concat<axis = 0>(rows_alone, n_classes)
    joint_0 = Expand(constant, shape)
%(nodes)s
    at = ArgMax<axis = 1, keepdims = 0, select_last_index = 0>(joint_%(last)d)
    label = Gather(classes, at)
    posterior = Softmax<axis = 1>(joint_%(last)d)
    probabilities = Cast<to = %(number)d>(posterior)
}
"""

_NUMBERS = """
    x = Cast<to = 11>(X)
    missing = IsNaN(x)
    from_below = Min(x, highest)
    bounded = Max(from_below, lowest)
"""

# `Scan` takes the classes one by one, so that memory grows with rows times columns, and not times
# classes too. What is subtracted centres the terms: w (t - mean) summed is w t less w mean.
_CURVES = """
    x_%(n)d = Gather<axis = 1>(bounded, at_%(n)d)
    missing_%(n)d = Gather<axis = 1>(missing, at_%(n)d)
    none_%(n)d = Where(missing_%(n)d, zero, zero)
    total_%(n)d, by_class_%(n)d = Scan<num_scan_inputs = 5, body = one_class_%(n)d
        (double[rows, %(d)d] before, double[%(d)d] A, double[%(d)d] B, double[%(d)d] mu,
         double[%(d)d] s, double[%(d)d] w)
        => (double[rows, %(d)d] after, double[rows] part)
    {
        difference = Sub(x_%(n)d, mu)
        z = Mul(difference, s)
        square = Mul(z, z)
        %(power)s
        scaled = Mul(power, B)
        curve = Sub(A, scaled)
        term = Where(missing_%(n)d, zero, curve)
        after = Add(before, term)
        weighed = Mul(term, w)
        part = ReduceSum<keepdims = 0>(weighed, classes_axis)
    }>(none_%(n)d, A_%(n)d, B_%(n)d, mu_%(n)d, s_%(n)d, w_%(n)d)
    parts_%(n)d = Transpose<perm = [1, 0]>(by_class_%(n)d)
    means_%(n)d = MatMul(total_%(n)d, share_%(n)d)
    centred_%(n)d = Sub(parts_%(n)d, means_%(n)d)
    joint_%(next)d = Add(joint_%(n)d, centred_%(n)d)
"""
_LOGARITHM = "more = Add(square, one)\n        power = Log(more)"
_IDENTITY = "power = Identity(square)"

_LINES = """
    x_%(n)d = Gather<axis = 1>(bounded, at_%(n)d)
    counts_%(n)d = GreaterOrEqual(x_%(n)d, lowest_%(n)d)
    present_%(n)d = Cast<to = 11>(counts_%(n)d)
    known_%(n)d = Where(counts_%(n)d, x_%(n)d, zero)
    slopes_%(n)d = MatMul(known_%(n)d, B_%(n)d)
    starts_%(n)d = MatMul(present_%(n)d, A_%(n)d)
    lines_%(n)d = Add(slopes_%(n)d, starts_%(n)d)
    joint_%(next)d = Add(joint_%(n)d, lines_%(n)d)
"""

# Column by column; a cell is in the piece after as many inner knots as it is not before.
_PIECES = """
    x_%(n)d = Gather<axis = 1>(x, at_%(n)d)
    missing_%(n)d = Gather<axis = 1>(missing, at_%(n)d)
    below_%(n)d = Min(x_%(n)d, last_%(n)d)
    within_%(n)d = Max(below_%(n)d, first_%(n)d)
    known_%(n)d = Where(missing_%(n)d, first_%(n)d, within_%(n)d)
    cells_%(n)d = Transpose<perm = [1, 0]>(known_%(n)d)
    holes_%(n)d = Transpose<perm = [1, 0]>(missing_%(n)d)
    joint_%(next)d = Scan<num_scan_inputs = 7, body = one_column_%(n)d
        (double[rows, %(K)d] before, double[rows] cell, bool[rows] hole,
         double[%(inner)d] inner_knots, double[%(m)d] knots, double[%(m)d] widths,
         double[%(m)d, %(K)d] starts, double[%(m)d, %(K)d] rises)
        => (double[rows, %(K)d] after)
    {
        by_row = Unsqueeze(cell, classes_axis)
        is_after = GreaterOrEqual(by_row, inner_knots)
        counted = Cast<to = 7>(is_after)
        piece = ReduceSum<keepdims = 0>(counted, classes_axis)
        knot = Gather(knots, piece)
        width = Gather(widths, piece)
        way = Sub(cell, knot)
        fraction = Div(way, width)
        fraction_by_row = Unsqueeze(fraction, classes_axis)
        start = Gather(starts, piece)
        rise = Gather(rises, piece)
        risen = Mul(rise, fraction_by_row)
        value = Add(start, risen)
        hole_by_row = Unsqueeze(hole, classes_axis)
        term = Where(hole_by_row, zero, value)
        after = Add(before, term)
    }>(joint_%(n)d, cells_%(n)d, holes_%(n)d, inner_%(n)d, knots_%(n)d, widths_%(n)d,
       starts_%(n)d, rises_%(n)d)
"""

_TABLE = """
    cell_%(n)d = Gather<axis = 1>(categories, at_%(n)d)
    code_%(n)d = ai.onnx.ml.LabelEncoder<default_int64 = %(default)d>(cell_%(n)d)
    line_%(n)d = Gather(table_%(n)d, code_%(n)d)
    joint_%(next)d = Add(joint_%(n)d, line_%(n)d)
"""


class Part(NamedTuple):
    """Nodes that add to the joint, what their text leaves open, and the numbers that they name."""

    text: str
    sizes: dict[str, Any]
    constants: Constants
    keys: dict[str, int] | None = None


def sum_graph(model: Sum, dtype: str) -> Graph:
    """Write a model as a graph for numbers of a type."""
    kind, number = TYPES[dtype]
    inputs = _inputs(model.schema, kind)
    nodes = [_NUMBERS] if "X" in inputs else []
    constants, keys = _constants(model), {}
    parts = _parts(model)
    for n, part in enumerate(parts):
        nodes.append(part.text % {"n": n, "next": n + 1, **part.sizes})
        constants |= {f"{name}_{n}": value for name, value in part.constants.items()}
        if part.keys is not None:
            keys[f"code_{n}"] = part.keys
    whole = {
        "inputs": ", ".join(inputs.values()),
        "any_input": next(iter(inputs)),
        "labels": LABELS[model.classes.dtype.kind],
        "K": model.classes.size,
        "nodes": "".join(nodes),
        "last": len(parts),
    }
    text = _GRAPH % {**whole, "type": kind, "number": number}
    return Graph(text, constants, _metadata(model.schema), keys)


def _inputs(schema: Schema, kind: str) -> dict[str, str]:
    """Return the inputs that there are, by name, as the graph declares them."""
    sizes = {"X": (kind, len(schema.numbers)), "categories": ("string", len(schema.categories))}
    return {name: f"{of}[rows, {n}] {name}" for name, (of, n) in sizes.items() if n}


def _metadata(schema: Schema) -> dict[str, Any]:
    """Return the names of the columns, or their places; of all, and of each input."""
    names = schema.names or range(schema.n_columns)
    return {
        "columns": schema.names,
        "numbers": [names[j] for j in schema.numbers],
        "categories": [names[j] for j in schema.categories],
    }


def _parts(model: Sum) -> list[Part]:
    return [
        *map(_curves, model.curves),
        *map(_lines, model.lines),
        *map(_pieces, model.pieces),
        *map(_table, model.tables),
    ]


def _constants(model: Sum) -> Constants:
    """Return the numbers that all parts name."""
    return {
        "classes": plain_classes(model.classes),
        "constant": model.constant,
        "n_classes": np.array([model.classes.size]),
        "lowest": model.lowest,
        "highest": model.highest,
        "zero": np.array(0.0),
        "one": np.array(1.0),
        "classes_axis": np.array([1]),
    }


def _curves(form: Curves) -> Part:
    d, n_classes = form.A.shape
    weight = np.ones_like(form.A) if form.weight is None else form.weight
    share = np.zeros_like(form.A) if form.weight is None else form.weight / n_classes
    by_class = {"A": form.A, "B": form.B, "mu": form.mu, "s": form.s, "w": weight}
    constants = {name: np.ascontiguousarray(array.T) for name, array in by_class.items()}
    power = _LOGARITHM if form.logarithmic else _IDENTITY
    return Part(_CURVES, {"d": d, "power": power}, {"at": form.at, "share": share, **constants})


def _lines(form: Lines) -> Part:
    lowest = np.array(form.lowest)
    return Part(_LINES, {}, {"at": form.at, "A": form.A, "B": form.B, "lowest": lowest})


def _pieces(form: Pieces) -> Part:
    knots, values, widths = form.knots, form.values, np.diff(form.knots)
    constants = {
        "at": form.at,
        "first": knots[:, 0],
        "last": knots[:, -1],
        "inner": knots[:, 1:-1],
        "knots": knots[:, :-1],
        "widths": np.where(widths > 0, widths, 1.0),
        "starts": values[:, :-1],
        "rises": np.diff(values, axis=1),
    }
    m, n_classes = values.shape[1] - 1, values.shape[2]
    plain = {name: np.ascontiguousarray(array) for name, array in constants.items()}
    return Part(_PIECES, {"inner": m - 1, "m": m, "K": n_classes}, plain)


def _table(table: Table) -> Part:
    """Write a table with one more line, of zeros: for the empty text, if it is no category."""
    categories = table.categories.tolist()
    code_of = {text: code for code, one in enumerate(categories) for text in _spelled(one)}
    code_of.setdefault("", len(categories))
    zeros = np.zeros_like(table.values[:1])
    values = np.concatenate([table.values[:-1], zeros, table.values[-1:]])
    constants = {"at": np.array(table.at), "table": values}
    return Part(_TABLE, {"default": len(values) - 1}, constants, code_of)


def _spelled(category: Any) -> list[str]:
    """Write a category in every spelling.

    A whole number has two, since a column with holes holds floats; a boolean has those of Python,
    JavaScript, SQL and of numbers.
    """
    if isinstance(category, bool):
        return list(BOOLEANS[category])
    if isinstance(category, str) or category != int(category):
        return [str(category)]
    return [str(int(category)), str(float(category))]
