"""The graph of a model of codes 0, 1, 2, ...: each column adds a line of its table to the joint.

Codes are numbers, in the input ``X``; NaN is a missing cell. All tables stand below each other,
each with two lines more: one for codes that were never seen, and one of zeros for missing cells.
"""

from __future__ import annotations

import numpy as np

from naively.export.graph import LABELS, TYPES, Graph, plain_classes
from naively.export.sums import Sum

__all__ = ["code_graph"]

# `Scan` takes the columns one by one, so that memory grows with rows times classes, and not times
# columns too. A negative code, which is an error to the model, is one that was never seen.
_GRAPH = """
<ir_version: 8, opset_import: ["" : 18], producer_name: "naively">
CategoricalNB (%(type)s[rows, %(d)d] X)
    => (%(labels)s[rows] label, %(type)s[rows, %(K)d] probabilities)
{
    x = Cast<to = 11>(X)
    missing = IsNaN(x)
    known = Where(missing, zero, x)
    from_below = Min(known, highest)
    bounded = Max(from_below, lowest)
    code = Cast<to = 7>(bounded)
    is_negative = Less(code, none)
    seen = Where(is_negative, unseen, code)
    place = Where(missing, hole, seen)
    line = Add(place, start)
    by_column = Transpose<perm = [1, 0]>(line)

    rows_alone = Shape<start = 0, end = 1>(X)
    shape = Concat<axis = 0>(rows_alone, n_classes)
    constants = Expand(constant, shape)
    joint = Scan<num_scan_inputs = 1, body = one_column
        (double[rows, %(K)d] before, int64[rows] at) => (double[rows, %(K)d] after)
    {
        term = Gather(table, at)
        after = Add(before, term)
    }>(constants, by_column)

    best = ArgMax<axis = 1, keepdims = 0, select_last_index = 0>(joint)
    label = Gather(classes, best)
    posterior = Softmax<axis = 1>(joint)
    probabilities = Cast<to = %(number)d>(posterior)
}
"""


def code_graph(model: Sum, dtype: str) -> Graph:
    """Write a model of codes as a graph for inputs of a type."""
    kind, number = TYPES[dtype]
    sizes = np.array([table.categories.size for table in model.tables])
    holes = np.zeros((1, model.classes.size))
    constants = {
        "classes": plain_classes(model.classes),
        "constant": model.constant,
        "n_classes": np.array([model.classes.size]),
        "table": np.concatenate([part for table in model.tables for part in (table.values, holes)]),
        "start": np.cumsum([0, *(sizes[:-1] + 2)]),
        "unseen": sizes,
        "hole": sizes + 1,
        "highest": sizes.astype(np.float64),
        "lowest": np.array(-1.0),
        "zero": np.array(0.0),
        "none": np.array(0),
    }
    text = _GRAPH % {
        "type": kind,
        "number": number,
        "labels": LABELS[model.classes.dtype.kind],
        "d": sizes.size,
        "K": model.classes.size,
    }
    return Graph(text, constants, {"columns": model.names})
