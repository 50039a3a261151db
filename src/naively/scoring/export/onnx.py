r"""A model as an ONNX graph.

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
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from naively import __version__
from naively.errors import NaivelyError, need
from naively.estimators.estimator import SummaryClassifier
from naively.scoring.export.graph import TYPES, Graph, graph_of
from naively.scoring.export.sums import Sum

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
