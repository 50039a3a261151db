"""A model as an ONNX graph.

The graph is the kernel's arithmetic, in float64 whatever the input's type: differences are
squared, never expanded, a missing cell leaves its term out, and ties go to the first
class. A row so far from every class that all densities are 0 goes to the nearest.

Examples
--------
>>> from naively import GaussianNB
>>> model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
>>> import onnx
>>> graph = onnx.load_from_string(to_onnx(model)).graph
>>> [value.name for value in (*graph.input, *graph.output)]
['X', 'label', 'probabilities']

Numbers are the input ``X``, categories the input ``categories``; a model that has no such columns
has no such input. Opset 18 is of 2022: onnxruntime 1.14 and all newer ones run it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from naively import __version__
from naively.data.labels import is_text
from naively.errors import NaivelyError, need
from naively.estimators.estimator import SummaryClassifier
from naively.export import onnx_terms
from naively.export.onnx_terms import (
    Constants,
    GraphTerm,
    Prelude,
    ellipsoids,
    grid_terms,
    prelude,
    with_functions,
)
from naively.export.sums import IMPOSSIBLE, SQUARE_UNIT, Sum

_MOST_BYTES = 2**31 - 2**20  # protobuf's limit, and something for the rest of the file


def to_onnx(model: SummaryClassifier, *, dtype: Literal["float32", "float64"] = "float32") -> bytes:
    """Return a fitted model as the bytes of an ONNX file.

    Its input ``X`` has one row of numbers each, in the order of the columns at `fit`; NaN is a
    missing cell. Where there are columns of categories, those are the input ``categories``, one
    row of texts each, in the same order: a category as Python's `str` writes it (a whole number
    also as ``1.0``, a boolean also as ``true``, ``TRUE`` or ``1``, as other languages do), and an
    empty text for a missing cell, unless it is a category itself: then there is no way to write
    one. An input without columns is not there. The codes of a `CategoricalNB` are numbers, in
    ``X``; a negative one, which is an error in `predict`, was never seen. Of dates, the parts are
    inputs: ``when.year`` in ``X``, ``when.month`` in ``categories``. The outputs are
    ``label``, of the labels' type, and ``probabilities``, one column per class.

    The names of columns and classes are kept as JSON in the metadata ``columns`` and ``classes``;
    ``numbers`` and ``categories`` have the names of the columns in each input.

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
    cannot refuse a cell of infinity, which is an error in `predict`: it counts as very far. So does
    a cell more than 1e150 lengths from all classes of a `NaiveBayes`. Its ``costs`` and ``reject``
    cannot be written, and are an error.
    """
    need("onnx", "exporting to ONNX", extra="onnx")
    if dtype not in TYPES:
        raise NaivelyError(f"dtype must be 'float32' or 'float64'; got {dtype!r}.")
    numbers = Sum.of(model)
    graph = graph_of(numbers, dtype)
    if sum(value.nbytes for value in graph.constants.values()) > _MOST_BYTES:
        raise NaivelyError(
            f"an ONNX file holds at most 2 GB; {numbers.classes.size} classes and "
            f"{numbers.n_columns} columns need more. Fit on fewer columns."
        )
    return _content(graph, numbers.classes.tolist())


def _content(graph: Graph, classes: list[Any]) -> bytes:
    """Return the bytes of a file."""
    onnx = need("onnx", "exporting to ONNX", extra="onnx")
    proto = need("onnx.parser", "exporting to ONNX", extra="onnx").parse_model(graph.text)
    proto.producer_version = __version__
    for node in proto.graph.node:
        if node.op_type == "LabelEncoder":
            code_of = graph.keys[node.output[0]]
            given = {"keys_strings": list(code_of), "values_int64s": list(code_of.values())}
            node.attribute.extend(
                onnx.helper.make_attribute(name, values) for name, values in given.items()
            )
    used = set(re.findall(r"\w+", graph.text))  # onnxruntime warns of others
    tensors = [
        onnx.numpy_helper.from_array(value, name)
        for name, value in graph.constants.items()
        if name in used
    ]
    proto.graph.initializer.extend(tensors)
    metadata = {**graph.metadata, "classes": classes}
    onnx.helper.set_model_props(proto, {key: json.dumps(value) for key, value in metadata.items()})
    return bytes(proto.SerializeToString(deterministic=True))


# --- The graph, as text in ONNX's own language ----------------------------------------------------


TYPES = {"float32": ("float", 1), "float64": ("double", 11)}
_LABELS = {"U": "string", "O": "string", "i": "int64", "u": "uint64", "b": "bool", "f": "double"}

_GRAPH = """
<ir_version: 8, opset_import: ["" : 18, "ai.onnx.ml" : 3], producer_name: "naively">
NaiveBayes (%(inputs)s)
    => (%(labels)s[rows] label, %(type)s[rows, %(K)d] probabilities)
{
    rows_alone = Shape<start = 0, end = 1>(%(any_input)s)
    shape = Concat<axis = 0>(rows_alone, n_classes)
    joint_0 = Expand(constant, shape)
%(nodes)s
    at = ArgMax<axis = 1, keepdims = 0, select_last_index = 0>(joint)
    label = Gather(classes, at)
    posterior = Softmax<axis = 1>(joint)
    probabilities = Cast<to = %(number)d>(posterior)
}
"""

_NUMBERS = """
    x = Cast<to = 11>(X)
"""
_BOUNDED = """
    missing = IsNaN(x)
    from_below = Min(x, highest)
    bounded = Max(from_below, lowest)
"""

# Of a class that never had a category, that is counted; those with the fewest such cells are left.
_LEFT = """
    misses = Sum(%(misses)s)
    misses_of_possible = Sub(misses, barred)
    fewest = ReduceMax<keepdims = 1>(misses_of_possible, classes_axis)
    other_misses = Sub(misses, fewest)
    ruled_out = Mul(other_misses, impossible)
    joint_%(next)d = Add(joint_%(last)d, ruled_out)
"""

# Squares are in units of 2^512. Where they leave no class with a finite joint, the nearest is
# taken; of several that are equally near, what is left decides.
_FAR = """
    distance = Sum(%(squares)s)
    squares = Mul(distance, square_unit)
    near = Sub(joint_%(last)d, squares)
    best = ReduceMax<keepdims = 1>(near, classes_axis)
    beyond = IsInf(best)
    of_possible = Add(distance, barred)
    nearest = ReduceMin<keepdims = 1>(of_possible, classes_axis)
    is_nearest = Equal(distance, nearest)
    far = Where(is_nearest, joint_%(last)d, minus_infinity)
    joint = Where(beyond, far, near)
"""


@dataclass(frozen=True)
class Graph:
    """A graph."""

    text: str
    constants: Constants  # the numbers that it names
    metadata: dict[str, Any]  # what else a reader may want to know, as JSON can hold it
    # for nodes that make texts codes, by what they give: the code of each text
    keys: dict[str, dict[str, int]]


def graph_of(model: Sum, dtype: str) -> Graph:
    """Write a model as a graph for numbers of a type."""
    kind, number = TYPES[dtype]
    columns = _columns(model)
    sizes = {
        "X": (kind, len(columns["numbers"])),
        "categories": ("string", len(columns["categories"])),
    }
    inputs = {name: f"{of}[rows, {n}] {name}" for name, (of, n) in sizes.items() if n}
    if not inputs:
        raise NaivelyError(
            "a graph needs a column of which a cell has been seen; the model has none. Fit it on "
            "rows that have cells."
        )
    terms = _terms(model)
    first = _prelude(model)
    constants, keys = _constants(model) | first.constants, {**first.keys}
    for n, term in enumerate(terms):
        constants |= {f"{name}_{n}": value for name, value in term.constants.items()}
        if term.keys is not None:
            keys[f"code_{n}"] = term.keys
    text = _GRAPH % {
        "inputs": ", ".join(inputs.values()),
        "any_input": next(iter(inputs)),
        "labels": _LABELS[model.classes.dtype.kind],
        "K": model.classes.size,
        "nodes": "".join([first.text, *_nodes(model, terms)]),
        "type": kind,
        "number": number,
    }
    return Graph(text, constants, {"columns": model.names, **columns}, keys)


def _columns(model: Sum) -> dict[str, list[Any]]:
    """Return the names of the columns of each input, or their places. Codes are numbers."""
    schema = model.schema
    names: Sequence[Any] = schema.names or range(schema.n_columns)
    numbers, categories = [names[j] for j in schema.numbers], [names[j] for j in schema.categories]
    if model.coded:
        numbers, categories = categories, []
    return {"numbers": numbers, "categories": categories}


def _terms(model: Sum) -> list[GraphTerm]:
    tables = map(onnx_terms.table, model.tables)
    joint = model.joint
    return [
        *map(onnx_terms.curves, model.curves),
        *map(onnx_terms.lines, model.lines),
        *map(onnx_terms.pieces, model.pieces),
        *([onnx_terms.codes(model.tables)] if model.coded else tables),
        *([ellipsoids(joint.ellipsoids)] if joint and joint.ellipsoids else []),
        *(grid_terms(joint.grids) if joint and joint.grids else []),
    ]


def _prelude(model: Sum) -> Prelude:
    """Write what stands before all terms: the numbers, and what is computed of several cells."""
    has_numbers = bool(model.schema.numbers)
    found = Prelude()
    if model.joint is not None:
        found = prelude(model.joint, model.tables, has_numbers)
        found.text = ("    own = Cast<to = 11>(X)\n" if has_numbers else "") + found.text
    elif model.is_of_numbers:
        found.text = _NUMBERS
    if model.functions and found.text:  # else no term is left that reads numbers
        with_functions(found, model.functions)
    if model.is_of_numbers:
        found.text += _BOUNDED
    return found


def _nodes(model: Sum, terms: list[GraphTerm]) -> list[str]:
    """Write the nodes that make ``joint`` of ``joint_0``."""
    nodes = []
    for n, term in enumerate(terms):
        nodes.append(term.text % {"n": n, "next": n + 1, **term.sizes})
    squares = [f"centred_{n}" for n, term in enumerate(terms) if term.squares]
    misses = [f"misses_{n}" for n, term in enumerate(terms) if "missed" in term.constants]
    last = len(terms)
    if misses:
        nodes.append(_LEFT % {"last": last, "next": last + 1, "misses": ", ".join(misses)})
        last += 1
    end = _FAR if squares else "    joint = Identity(joint_%(last)d)\n"
    nodes.append(end % {"last": last, "squares": ", ".join(squares)})
    return nodes


def _constants(model: Sum) -> Constants:
    """Return the numbers that all terms name."""
    labels = model.classes
    return {
        "classes": labels.astype(object) if is_text(labels) else labels,
        "constant": model.constant,
        "n_classes": np.array([labels.size]),
        "lowest": model.lowest,
        "highest": model.highest,
        "zero": np.array(0.0),
        "one": np.array(1.0),
        "classes_axis": np.array([1]),
        "square_unit": np.array(SQUARE_UNIT),
        "impossible": np.array(IMPOSSIBLE),
        "barred": np.where(model.possible, 0.0, np.inf),
        "minus_infinity": np.array(-np.inf),
    }
