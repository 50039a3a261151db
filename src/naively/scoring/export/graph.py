"""The graph of a model, as text in ONNX's own language and what the text does not hold.

Numbers are the input ``X``, categories the input ``categories``; a model that has no such columns
has no such input. Opset 18 is of 2022: onnxruntime 1.14 and all newer ones run it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.data.labels import is_text
from naively.errors import NaivelyError
from naively.scoring.export import graph_terms
from naively.scoring.export.graph_functions import with_functions
from naively.scoring.export.graph_interactions import Prelude, ellipsoids, grid_terms, prelude
from naively.scoring.export.graph_terms import Constants, GraphTerm
from naively.scoring.export.sums import IMPOSSIBLE, SQUARE_UNIT, Sum

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
    tables = map(graph_terms.table, model.tables)
    joint = model.joint
    return [
        *map(graph_terms.curves, model.curves),
        *map(graph_terms.lines, model.lines),
        *map(graph_terms.pieces, model.pieces),
        *([graph_terms.codes(model.tables)] if model.coded else tables),
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
    if model.functions:
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
