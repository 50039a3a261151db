"""A model as an ONNX graph.

The graph is the kernel's arithmetic, in float64 whatever the input's type: differences are
squared, never expanded, a missing cell leaves its term out, and ties go to the first class.

Examples
--------
>>> from naively import GaussianNB
>>> model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
>>> import onnx
>>> graph = onnx.load_from_string(to_onnx(model)).graph
>>> [value.name for value in (*graph.input, *graph.output)]
['X', 'prediction', 'probabilities']

Numbers are the input ``X``, categories the input ``categories``; a model that has no such columns
has no such input. Opset 18 is of 2022: onnxruntime 1.14 and all newer ones run it.

Directions and functions of cells are columns that are computed: they are put behind the numbers of
``X``, where the writers of terms find them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naively import __version__
from naively.data.functions import FUNCTIONS
from naively.data.labels import is_text
from naively.data.rows import BOOLEANS
from naively.data.types import Floats
from naively.errors import NaivelyError, later, need
from naively.estimators.estimator import SummaryClassifier
from naively.export.sums import (
    IMPOSSIBLE,
    CategoryTable,
    Curves,
    LineColumns,
    PieceColumns,
    Sum,
)
from naively.families.joint_forms import Ellipsoids, Grids, JointForms

onnx = later("onnx", "exporting to ONNX", extra="onnx")

_MAX_BYTES = 2**31 - 2**20  # protobuf's limit, and something for the rest of the file
_TYPES = {"float32": 1, "float64": 11}  # ONNX's numbers of types
_LABEL_TYPES = {"U": 8, "O": 8, "i": 7, "u": 13, "b": 9, "f": 11}
_INT64, _DOUBLE, _TEXT, _BOOLEAN = 7, 11, 8, 9


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
    ``prediction``, of the labels' type, and ``probabilities``, one column per class.

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
    cannot refuse a cell of infinity, which is an error in `predict`: where that or a cell more than
    1e100 standard deviations from all classes is, probabilities are NaN. ``costs`` and ``reject``
    of a `NaiveBayes` cannot be written, and are an error.
    """
    need("onnx", "exporting to ONNX", extra="onnx")
    if dtype not in _TYPES:
        raise NaivelyError(f"dtype must be 'float32' or 'float64'; got {dtype!r}.")
    numbers = Sum.of(model)
    columns, graph = _columns(numbers), _Graph()
    sizes = {
        "X": (_TYPES[dtype], len(columns["numbers"])),
        "categories": (_TEXT, len(columns["categories"])),
    }
    inputs = {name: (kind, ["rows", n]) for name, (kind, n) in sizes.items() if n}
    if not inputs:
        raise NaivelyError(
            "a graph needs a column of which a cell has been seen; the model has none. Fit it on "
            "rows that have cells."
        )
    labels = numbers.classes
    outputs = {
        "prediction": (_LABEL_TYPES[labels.dtype.kind], ["rows"]),
        "probabilities": (_TYPES[dtype], ["rows", labels.size]),
    }
    joint = _GraphTerms(graph, numbers, next(iter(inputs))).joint()
    best = graph.ArgMax(joint, axis=1, keepdims=0, select_last_index=0)
    graph.Gather(labels.astype(object) if is_text(labels) else labels, best, name="prediction")
    graph.Cast(graph.Softmax(joint, axis=1), to=_TYPES[dtype], name="probabilities")
    if sum(value.nbytes for value, _ in graph.constants.values()) > _MAX_BYTES:
        raise NaivelyError(
            f"an ONNX file holds at most 2 GB; {labels.size} classes and "
            f"{numbers.schema.n_columns} columns need more. Fit on fewer columns."
        )
    metadata = {"columns": numbers.schema.names, **columns, "classes": labels.tolist()}
    return graph.content(inputs, outputs, metadata)


def _columns(model: Sum) -> dict[str, list[Any]]:
    """Return the names of the columns of each input, or their places. Codes are numbers."""
    schema = model.schema
    names: Sequence[Any] = schema.names_or_places
    numbers, categories = [names[j] for j in schema.numbers], [names[j] for j in schema.categories]
    if model.coded:
        numbers, categories = categories, []
    return {"numbers": numbers, "categories": categories}


class _Graph:
    """A graph that grows: ``graph.Sub(a, b)`` adds a node and returns the name of what it gives.

    Inputs of nodes are such names, or arrays and numbers, which become constants of the graph.
    """

    def __init__(self, outer: _Graph | None = None) -> None:
        self.nodes: list[Any] = []
        # arrays and their names, which the bodies of loops share
        self.constants: dict[Any, tuple[NDArray[Any], str]] = (
            {} if outer is None else outer.constants
        )
        self._numbers: Iterator[int] = count() if outer is None else outer._numbers

    def __getattr__(self, operator: str) -> Callable[..., str]:
        return partial(self._node, operator)

    def _node(self, operator: str, *inputs: Any, name: str | None = None, **attributes: Any) -> str:
        name = name or f"{operator}_{next(self._numbers)}"
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        domain = "ai.onnx.ml" if operator == "LabelEncoder" else ""
        node = onnx.helper.make_node(operator, names, [name], domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def _constant(self, value: Any) -> str:
        array = np.asarray(value)
        array = array.astype(np.int64) if array.dtype.kind == "i" and array.ndim else array
        key = array.dtype, array.shape, array.tobytes()
        return self.constants.setdefault(key, (array, f"constant_{len(self.constants)}"))[1]

    def scan(
        self,
        body: Callable[..., list[str]],
        before: list[str],
        each: list[Any],
        types: Sequence[int],
        n_outputs: int = 1,
    ) -> list[str]:
        """Add a loop over the first axis of arrays, and return the names of what it gives.

        The body writes what it gives of ``before``, and of one line of each array.
        """
        inner = _Graph(self)
        names = [f"part_{next(self._numbers)}" for _ in (*before, *each)]
        outputs = body(inner, *names)
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            inner.nodes,
            f"body_{next(self._numbers)}",
            [value(name, kind, None) for name, kind in zip(names, types, strict=True)],
            [value(name, _DOUBLE, None) for name in outputs],
        )
        found = [f"Scan_{next(self._numbers)}" for _ in range(n_outputs)]
        given = [v if isinstance(v, str) else self._constant(v) for v in (*before, *each)]
        node = onnx.helper.make_node("Scan", given, found, body=graph, num_scan_inputs=len(each))
        self.nodes.append(node)
        return found

    def content(
        self,
        inputs: dict[str, tuple[int, Any]],
        outputs: dict[str, tuple[int, Any]],
        metadata: dict[str, Any],
    ) -> bytes:
        """Return the bytes of a file."""
        onnx_helper: Any = onnx.helper
        value, arrays = onnx_helper.make_tensor_value_info, onnx.numpy_helper.from_array
        graph = onnx_helper.make_graph(
            self.nodes,
            "NaiveBayes",
            [value(name, *of) for name, of in inputs.items()],
            [value(name, *of) for name, of in outputs.items()],
            [arrays(array, name) for array, name in self.constants.values()],
        )
        proto = onnx_helper.make_model(
            graph,
            ir_version=8,
            opset_imports=[
                onnx_helper.make_opsetid("", 18),
                onnx_helper.make_opsetid("ai.onnx.ml", 3),
            ],
            producer_name="naively",
            producer_version=__version__,
        )
        written = {key: json.dumps(value) for key, value in metadata.items()}
        onnx_helper.set_model_props(proto, written)
        return bytes(proto.SerializeToString(deterministic=True))


class _GraphTerms:
    """Writes the joint of a model: its constant, and the terms of all columns."""

    def __init__(self, graph: _Graph, model: Sum, any_input: str) -> None:
        self.graph, self.model = graph, model
        self.rows = graph.Shape(any_input, start=0, end=1)
        self.has_numbers = bool(model.schema.numbers) or model.coded
        self.own = graph.Cast("X", to=_DOUBLE) if self.has_numbers else ""
        self.codes: dict[int, str] = {}  # of columns of categories

    def joint(self) -> str:
        """Write all."""
        g, model, forms = self.graph, self.model, self.model.joint
        joint = self._repeated(model.constant)
        features = self._features(forms) if forms is not None and len(forms.features.at) else ""
        x = self._numbers(forms, features)
        terms = [self._curves(form, x) for form in model.curves]
        terms += [self._lines(form, x) for form in model.lines]
        misses: list[str] = []
        if model.coded:
            term, *misses = self._coded()
            terms.append(term)
        else:
            terms += [g.Gather(self._with_hole(t.values), self._code(t)) for t in model.tables]
            strict = [t for t in model.tables if t.misses is not None]
            misses = [g.Gather(self._with_hole(t.misses), self._code(t)) for t in strict]
        if forms is not None and forms.ellipsoids is not None:
            terms.append(self._ellipsoids(forms.ellipsoids, features))
        if forms is not None and forms.grids is not None:
            terms += self._grids(forms.grids)
        for term in terms:
            joint = g.Add(joint, term)
        for form in model.pieces:
            joint = self._pieces(form, x, joint)
        return self._ruled_out(joint, misses) if misses else joint

    def _repeated(self, by_class: Floats) -> str:
        """Write the same line for each row."""
        shape = self.graph.Concat(self.rows, [by_class.size], axis=0)
        return self.graph.Expand(by_class, shape)

    def _ruled_out(self, joint: str, misses: list[str]) -> str:
        """Rule out classes by the cells that they never had; those with the fewest are left."""
        g = self.graph
        every = g.Sum(*misses)
        possible = g.Sub(every, np.where(self.model.possible, 0.0, np.inf))
        fewest = g.ReduceMax(possible, [1], keepdims=1)
        return g.Add(joint, g.Mul(g.Sub(every, fewest), IMPOSSIBLE))

    # --- numbers ------------------------------------------------------------------------------

    def _numbers(self, forms: JointForms | None, features: str) -> str:
        """Write the numbers, then directions, then functions of cells."""
        g, parts = self.graph, [self.own] if self.has_numbers else []
        if forms is not None and forms.projection is not None:
            projection = forms.projection
            z = self._repeated(projection.start)
            if features and len(projection.W):
                z = g.Add(z, g.MatMul(features, projection.W))
            for n, j in enumerate(projection.columns):
                assert projection.tables is not None
                levels = self._with_hole(projection.tables.table(n))
                z = g.Add(z, g.Gather(levels, self._code(self.model.tables[j])))
            parts.append(z)
        given = g.Concat(*parts, axis=1) if len(parts) > 1 else parts[0] if parts else ""
        functions = [self._function(given, *function) for function in self.model.functions]
        return g.Concat(given, *functions, axis=1) if functions else given

    def _function(self, x: str, at: int, name: str, period: float) -> str:
        """Write a function of a column. NaN stays NaN: it is above no number and below none."""
        g, function = self.graph, FUNCTIONS[name]
        unit = period if function.periodic else 1.0
        low, high = function.lowest * unit, min(function.highest * unit, np.finfo(np.float64).max)
        cell = g.Gather(x, [at], axis=1)
        is_known = g.And(g.GreaterOrEqual(cell, low), g.LessOrEqual(cell, high))
        known = g.Where(is_known, cell, np.nan)
        return function.onnx(g, g.Mul(known, 2 * np.pi / period) if function.periodic else known)

    def _curves(self, form: Curves, x: str) -> str:
        """Write curves, class by class: so memory grows with rows times columns alone.

        Those that differ in weight are centred: w (t - mean) summed is w t less w mean.
        """
        g, K = self.graph, form.A.shape[1]
        cells = g.Gather(x, form.at, axis=1)
        missing = g.IsNaN(cells)
        none = g.Where(missing, 0.0, 0.0)

        def curve(body: _Graph, A: str, B: str, mu: str, s: str) -> str:
            z = body.Mul(body.Sub(cells, mu), s)
            square = body.Mul(z, z)
            shape = body.Log(body.Add(square, 1.0)) if form.logarithmic else square
            return body.Where(missing, 0.0, body.Sub(A, body.Mul(shape, B)))

        def one(body: _Graph, *numbers: str) -> list[str]:
            return [body.ReduceSum(curve(body, *numbers), [1], keepdims=0)]

        def one_weighted(body: _Graph, before: str, *numbers: str) -> list[str]:
            *given, w = numbers
            term = curve(body, *given)
            return [body.Add(before, term), body.ReduceSum(body.Mul(term, w), [1], keepdims=0)]

        numbers = [np.ascontiguousarray(n.T) for n in (form.A, form.B, form.mu, form.s)]
        if form.weight is None:
            (parts,) = g.scan(one, [], numbers, [_DOUBLE] * 4)
            return g.Transpose(parts, perm=[1, 0])
        numbers.append(np.ascontiguousarray(form.weight.T))
        every, parts = g.scan(one_weighted, [none], numbers, [_DOUBLE] * 6, n_outputs=2)
        return g.Sub(g.Transpose(parts, perm=[1, 0]), g.MatMul(every, form.weight / K))

    def _lines(self, line: LineColumns, x: str) -> str:
        g, form = self.graph, line.form
        cells = g.Gather(x, line.at, axis=1)
        counts = g.GreaterOrEqual(cells, max(form.lowest, np.finfo(np.float64).min))
        if form.step is None:
            known = g.Where(counts, cells, 0.0)
        else:
            known = g.Cast(g.Greater(cells, form.step), to=_DOUBLE)
        starts = g.MatMul(g.Cast(counts, to=_DOUBLE), form.A)
        return g.Add(g.MatMul(known, form.B), starts)

    def _pieces(self, part: PieceColumns, x: str, joint: str) -> str:
        """Write straight lines between knots, column by column."""
        g, knots, values = self.graph, part.form.knots, part.form.values
        widths = np.diff(knots)
        cells = g.Gather(x, part.at, axis=1)
        missing, first = g.IsNaN(cells), np.ascontiguousarray(knots[:, 0])
        within = g.Max(g.Min(cells, np.ascontiguousarray(knots[:, -1])), first)
        known = g.Where(missing, first, within)

        def one_column(body: _Graph, before: str, *given: str) -> list[str]:
            cell, hole, *axis, starts, rises = given
            piece, share = _place(body, cell, *axis)
            risen = body.Mul(body.Gather(rises, piece), share)
            value = body.Add(body.Gather(starts, piece), risen)
            return [body.Add(before, body.Where(body.Unsqueeze(hole, [1]), 0.0, value))]

        by_column = [g.Transpose(cell, perm=[1, 0]) for cell in (known, missing)]
        axis = knots[:, 1:-1], knots[:, :-1], np.where(widths > 0, widths, 1.0)
        arrays = map(np.ascontiguousarray, (*axis, values[:, :-1], np.diff(values, axis=1)))
        each = [*by_column, *arrays]
        types = [_DOUBLE, _DOUBLE, _BOOLEAN, *[_DOUBLE] * 5]
        return g.scan(one_column, [joint], each, types)[0]

    # --- categories ---------------------------------------------------------------------------

    def _code(self, table: CategoryTable) -> str:
        """Write a column of categories as codes: those of the model, a missing cell's, others'."""
        if table.at not in self.codes:
            n, g = table.categories.size, self.graph
            code_of = {s: i for i, c in enumerate(table.categories.tolist()) for s in spelled(c)}
            code_of.setdefault("", n)
            keys, values = list(code_of), list(code_of.values())
            self.codes[table.at] = g.LabelEncoder(
                g.Gather("categories", np.array(table.at), axis=1),
                keys_strings=keys,
                values_int64s=values,
                default_int64=n + 1,
            )
        return self.codes[table.at]

    @staticmethod
    def _with_hole(values: Any) -> Floats:
        """Return a table with a line of zeros for missing cells, before the last."""
        return np.insert(values, len(values) - 1, 0.0, axis=0)

    def _coded(self) -> list[str]:
        """Write the tables of the codes 0, 1, 2, ..., and of what classes never had.

        All stand below each other, each with two lines more: one for codes that were never seen,
        and one of zeros for missing cells. A negative code, which is an error to the model, is one
        that was never seen. Columns are taken one by one.
        """
        g, tables = self.graph, self.model.tables
        sizes = np.array([table.categories.size for table in tables])
        missing = g.IsNaN(self.own)
        known = g.Where(missing, 0.0, self.own)
        code = g.Cast(g.Max(g.Min(known, sizes.astype(np.float64)), -1.0), to=_INT64)
        seen = g.Where(g.Less(code, np.array(0)), sizes, code)
        line = g.Add(g.Where(missing, sizes + 1, seen), np.cumsum([0, *(sizes[:-1] + 2)]))
        lines = g.Transpose(line, perm=[1, 0])
        none = self._repeated(np.zeros(self.model.classes.size))
        found = []
        for parts in [t.values for t in tables], [t.misses for t in tables]:
            if parts[0] is not None:
                holes = np.zeros_like(parts[0][:1])
                joined = np.concatenate([each for part in parts for each in (part, holes)])
                add = partial(_added_lines, joined)
                found += g.scan(add, [none], [lines], [_DOUBLE, _INT64])
        return found

    # --- forms of several cells ---------------------------------------------------------------

    def _features(self, forms: JointForms) -> str:
        """Write standardised numbers.

        Means and scales are written for every row: onnxruntime takes out the subtraction of a
        single number that is 0 as a float32, and the product with a single one that is 1.
        """
        g, features = self.graph, forms.features
        cells = g.Gather(self.own, np.array(features.at), axis=1)
        holes = g.IsNaN(cells)
        means, scales = (g.Where(holes, 0.0, n) for n in (features.mean, features.scale))
        return g.Where(holes, 0.0, g.Mul(g.Sub(cells, means), scales))

    def _ellipsoids(self, form: Ellipsoids, features: str) -> str:
        """Write the distances of all classes as one product."""
        g, (K, p) = self.graph, form.mean.shape
        y = g.MatMul(features, np.ascontiguousarray(form.factor.reshape(K * p, p).T))
        around = g.Sub(y, np.einsum("kij,kj->ki", form.factor, form.mean).ravel())
        q = g.MatMul(g.Mul(around, around), np.repeat(np.eye(K), p, axis=0))
        power = g.Log(g.Add(g.Mul(q, form.s), 1.0))
        terms = g.Sub(form.A, g.Mul(power, form.B))
        if form.weight is None:
            return terms
        return g.Mul(g.Sub(terms, g.ReduceMean(terms, [1], keepdims=1)), form.weight)

    def _grids(self, grids: Grids) -> list[str]:
        """Write the tables of pairs."""
        g, axes = self.graph, grids.axes
        places: list[
            tuple[Any, ...]
        ] = []  # by axis: the bin, the way to the next one, and whether the cell is missing
        for at, knots in zip(axes.numbers, axes.knots, strict=True):
            cell = g.Squeeze(g.Gather(self.own, [at], axis=1), [1])
            hole = g.IsNaN(cell)
            within = g.Max(g.Min(g.Where(hole, knots[0], cell), knots[-1]), knots[0])
            places.append((*_place(g, within, knots[1:-1], knots[:-1], np.diff(knots)), hole))
        for j, bins in zip(axes.categories, axes.bins, strict=True):
            code = self._code(self.model.tables[j])
            low = g.Gather(self._with_hole(bins).astype(np.int64), code)
            places.append((low, np.zeros((1, 1)), g.Equal(code, np.array(bins.size - 1))))
        terms = []
        for (i, j), parts in zip(grids.pairs.tolist(), grids.coefficients(), strict=True):
            (low_s, s, hole_s), (low_t, t, hole_t) = places[i], places[j]
            key = g.Add(g.Mul(low_s, np.array(int(axes.sizes[j]))), low_t)
            v, a, b, c = (g.Gather(np.ascontiguousarray(part), key) for part in parts)
            value = g.Sum(v, g.Mul(a, s), g.Mul(b, t), g.Mul(c, g.Mul(s, t)))
            hole = g.Unsqueeze(g.Or(hole_s, hole_t), [1])
            terms.append(g.Where(hole, 0.0, value))
        return terms


def _place(g: _Graph, cell: str, inner: Any, knots: Any, widths: Any) -> tuple[str, str]:
    """Write the piece that a cell is in, and how far it is on the way to its end."""
    is_after = g.GreaterOrEqual(g.Unsqueeze(cell, [1]), inner)
    piece = g.ReduceSum(g.Cast(is_after, to=_INT64), [1], keepdims=0)
    way = g.Div(g.Sub(cell, g.Gather(knots, piece)), g.Gather(widths, piece))
    return piece, g.Unsqueeze(way, [1])


def _added_lines(table: Floats, body: _Graph, before: str, at: str) -> list[str]:
    return [body.Add(before, body.Gather(table, at))]


def spelled(category: Any) -> list[str]:
    """Write a category in every spelling.

    A whole number has two, since a column with holes holds floats; a boolean has those of Python,
    JavaScript, SQL and of numbers.
    """
    if isinstance(category, bool):
        return list(BOOLEANS[category])
    if isinstance(category, str) or category != int(category):
        return [str(category)]
    return [str(int(category)), str(float(category))]
