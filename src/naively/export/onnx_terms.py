"""Terms of a sum as nodes of an ONNX graph: one writer for each form.

A writer gives nodes that add the terms to ``joint_n``, which makes it the next joint. Squares of
Quadratics are left in ``centred_n``, in units of 2^512, to be subtracted from the last one.

Directions and functions of cells are columns that are computed: they are put behind the numbers of
``X``, where the writers of terms find them. Ellipsoids and grids add to the joint, as those do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.functions import FUNCTIONS
from naively.engines.sql.dialects import BOOLEANS
from naively.export.sums import UNIT, CategoryTable, Curves, LineColumns, PieceColumns
from naively.families.forms import weighted
from naively.families.joint_forms import Ellipsoids, Grids, JointForms, Projection

Constants = dict[str, NDArray[Any]]


class GraphTerm(NamedTuple):
    """Nodes that add to the joint, what their text leaves open, and the numbers that they name."""

    text: str
    sizes: dict[str, Any]
    constants: Constants
    keys: dict[str, int] | None = None
    squares: bool = False  # whether centred_n is a distance that is still to be subtracted


# `Scan` takes the classes one by one, so that memory grows with rows times columns, and not times
# classes too. What is subtracted centres the terms: w (t - mean) summed is w t less w mean.
_CURVES = """
    x_%(n)d = Gather<axis = 1>(bounded, at_%(n)d)
    missing_%(n)d = Gather<axis = 1>(missing, at_%(n)d)
    none_%(n)d = Where(missing_%(n)d, zero, zero)
    <total>by_class_%(n)d = Scan<num_scan_inputs = 5, body = one_class_%(n)d
        (<before>double[%(d)d] A, double[%(d)d] B, double[%(d)d] mu, double[%(d)d] s,
         double[%(d)d] w)
        => (<after>double[rows] part)
    {
        difference = Sub(x_%(n)d, mu)
        z = Mul(difference, s)
        square = Mul(z, z)
        <curve>
        term = Where(missing_%(n)d, zero, curve)
        <sum>
        weighted_term = Mul(term, w)
        part = ReduceSum<keepdims = 0>(weighted_term, classes_axis)
    }>(<none>A_%(n)d, B_%(n)d, mu_%(n)d, s_%(n)d, w_%(n)d)
    parts_%(n)d = Transpose<perm = [1, 0]>(by_class_%(n)d)
    <centred>
    <added>
"""
_STUDENT = """more = Add(square, one)
        power = Log(more)
        scaled = Mul(power, B)
        curve = Sub(A, scaled)"""
_ADDED = "joint_%(next)d = Add(joint_%(n)d, centred_%(n)d)"
_NORMS = """absent_%(n)d = Cast<to = 11>(missing_%(n)d)
    present_%(n)d = Sub(one, absent_%(n)d)
    norms_%(n)d = MatMul(present_%(n)d, norm_%(n)d)
    joint_%(next)d = Add(joint_%(n)d, norms_%(n)d)"""
_CENTRED = """means_%(n)d = MatMul(total_%(n)d, share_%(n)d)
    centred_%(n)d = Sub(parts_%(n)d, means_%(n)d)"""

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

_STEPS = _LINES.replace(
    "known_%(n)d = Where(counts_%(n)d, x_%(n)d, zero)",
    """above_%(n)d = Greater(x_%(n)d, step_%(n)d)
    known_%(n)d = Cast<to = 11>(above_%(n)d)""",
)

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
_MISSES = "    misses_%(n)d = Gather(missed_%(n)d, code_%(n)d)\n"

# Codes 0, 1, 2, ... are numbers in X. All tables stand below each other, each with two lines more:
# one for codes that were never seen, and one of zeros for missing cells. A negative code, which is
# an error to the model, is one that was never seen. `Scan` takes the columns one by one.
_CODES = """
    x = Cast<to = 11>(X)
    missing = IsNaN(x)
    known = Where(missing, zero, x)
    from_below = Min(known, highest_%(n)d)
    bounded = Max(from_below, lowest_%(n)d)
    code = Cast<to = 7>(bounded)
    is_negative = Less(code, none_%(n)d)
    seen = Where(is_negative, unseen_%(n)d, code)
    place = Where(missing, hole_%(n)d, seen)
    line = Add(place, start_%(n)d)
    by_column = Transpose<perm = [1, 0]>(line)
"""
_SUM_OF_CODES = """
    {after} = Scan<num_scan_inputs = 1, body = {table}_of_one_column
        (double[rows, %(K)d] before, int64[rows] at) => (double[rows, %(K)d] after)
    {{
        term = Gather({table}, at)
        after = Add(before, term)
    }}>({before}, by_column)
"""
_CODES += _SUM_OF_CODES.format(after="joint_%(next)d", before="joint_%(n)d", table="table_%(n)d")
_MISSES_OF_CODES = "    no_misses = Expand(zero, shape)" + _SUM_OF_CODES.format(
    after="misses_%(n)d", before="no_misses", table="missed_%(n)d"
)


def curves(form: Curves) -> GraphTerm:
    """Write curves; those that differ in weight are centred over the classes."""
    d, n_classes = form.A.shape
    weight = np.ones_like(form.A) if form.weight is None else form.weight
    s = form.s if form.logarithmic else form.s / UNIT
    by_class = {"A": form.A, "B": form.B, "mu": form.mu, "s": s, "w": weight}
    constants = {name: np.ascontiguousarray(array.T) for name, array in by_class.items()}
    constants |= {"at": form.at, "share": weight / n_classes, "norm": weighted(form.A, weight)}
    parts = {
        "curve": _STUDENT if form.logarithmic else "curve = Mul(square, B)",
        "added": _ADDED if form.logarithmic else _NORMS,
        "centred": "centred_%(n)d = Identity(parts_%(n)d)",
    }
    if form.weight is not None:
        parts |= {"total": "total_%(n)d, ", "none": "none_%(n)d, ", "centred": _CENTRED}
        parts |= {"before": "double[rows, %(d)d] before, ", "after": "double[rows, %(d)d] after, "}
        parts["sum"] = "after = Add(before, term)"
    text = re.sub(
        r"<(curve|added|centred|total|none|before|after|sum)>", partial(_filled, parts), _CURVES
    )
    return GraphTerm(text, {"d": d}, constants, squares=not form.logarithmic)


def _filled(parts: dict[str, str], found: re.Match[str]) -> str:
    return parts.get(found[1], "")


def lines(line: LineColumns) -> GraphTerm:
    """Write lines."""
    form = line.form
    lowest = np.array(max(form.lowest, np.finfo(np.float64).min))
    constants = {"at": line.at, "A": form.A, "B": form.B, "lowest": lowest}
    if form.step is None:
        return GraphTerm(_LINES, {}, constants)
    return GraphTerm(_STEPS, {}, constants | {"step": np.array(form.step)})


def pieces(part: PieceColumns) -> GraphTerm:
    """Write straight lines between knots."""
    knots, values, widths = part.form.knots, part.form.values, np.diff(part.form.knots)
    constants = {
        "at": part.at,
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
    return GraphTerm(_PIECES, {"inner": m - 1, "m": m, "K": n_classes}, plain)


def table(given: CategoryTable) -> GraphTerm:
    """Write a table with one more line, of zeros: for the empty text, if it is no category."""
    categories = given.categories.tolist()
    code_of = {text: code for code, one in enumerate(categories) for text in spelled(one)}
    code_of.setdefault("", len(categories))
    n, at = len(categories), np.array(given.at)
    sizes, constants = {"default": n + 1}, {"at": at, "table": np.insert(given.values, n, 0.0, 0)}
    if given.misses is None:
        return GraphTerm(_TABLE, sizes, constants, code_of)
    constants["missed"] = np.insert(given.misses, n, 0.0, 0)
    return GraphTerm(_TABLE + _MISSES, sizes, constants, code_of)


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


def codes(tables: list[CategoryTable]) -> GraphTerm:
    """Write the tables of codes."""
    sizes = np.array([given.categories.size for given in tables])
    holes = np.zeros_like(tables[0].values[:1])

    def joined(parts: Iterable[Any]) -> NDArray[Any]:
        return np.concatenate([each for part in parts for each in (part, holes)])

    constants = {
        "table": joined(given.values for given in tables),
        "start": np.cumsum([0, *(sizes[:-1] + 2)]),
        "unseen": sizes,
        "hole": sizes + 1,
        "highest": sizes.astype(np.float64),
        "lowest": np.array(-1.0),
        "none": np.array(0),
    }
    sizes_of, strict = {"K": holes.shape[1]}, [given.misses for given in tables]
    if strict[0] is None:
        return GraphTerm(_CODES, sizes_of, constants)
    return GraphTerm(_CODES + _MISSES_OF_CODES, sizes_of, constants | {"missed": joined(strict)})


# --- Forms of several cells -----------------------------------------------------------------------


# Means and scales are written for every row: onnxruntime takes out the subtraction of a single
# number that is 0 as a float32, and the product with a single one that is 1.
_FEATURES = """
    cells_of_f = Gather<axis = 1>(own, at_of_f)
    holes_of_f = IsNaN(cells_of_f)
    means_of_f = Where(holes_of_f, zero, mean_of_f)
    scales_of_f = Where(holes_of_f, zero, scale_of_f)
    around_of_f = Sub(cells_of_f, means_of_f)
    scaled_of_f = Mul(around_of_f, scales_of_f)
    below_of_f = Min(scaled_of_f, most_of_f)
    within_of_f = Max(below_of_f, least_of_f)
    f = Where(holes_of_f, zero, within_of_f)
"""
_ALONG = """
    along = MatMul(f, W)
    z_0 = Add(along, start_of_z)
"""
_NOT_ALONG = """
    shape_of_z = Concat<axis = 0>(rows_alone, n_directions)
    z_0 = Expand(start_of_z, shape_of_z)
"""
_CODE = """
    cell_%(name)s = Gather<axis = 1>(categories, at_%(name)s)
    code_%(name)s = ai.onnx.ml.LabelEncoder<default_int64 = %(default)d>(cell_%(name)s)
"""
_LEVELS = """
    line_%(name)s = Gather(table_%(name)s, code_%(name)s)
    z_%(next)d = Add(z_%(n)d, line_%(name)s)
"""
_ELLIPSOIDS = """
    y_%(n)d = MatMul(f, G_%(n)d)
    around_%(n)d = Sub(y_%(n)d, g_%(n)d)
    squares_%(n)d = Mul(around_%(n)d, around_%(n)d)
    q_%(n)d = MatMul(squares_%(n)d, blocks_%(n)d)
    scaled_%(n)d = Mul(q_%(n)d, s_%(n)d)
    more_%(n)d = Add(scaled_%(n)d, one)
    power_%(n)d = Log(more_%(n)d)
    curve_%(n)d = Mul(power_%(n)d, B_%(n)d)
    terms_%(n)d = Sub(A_%(n)d, curve_%(n)d)
    mean_%(n)d = ReduceMean<keepdims = 1>(terms_%(n)d, classes_axis)
    centred_%(n)d = Sub(terms_%(n)d, mean_%(n)d)
    weighted_%(n)d = Mul(centred_%(n)d, w_%(n)d)
    joint_%(next)d = Add(joint_%(n)d, weighted_%(n)d)
"""
_NUMBER_AXIS = """
    cells_%(name)s = Gather<axis = 1>(own, at_%(name)s)
    cell_%(name)s = Squeeze(cells_%(name)s, classes_axis)
    hole_%(name)s = IsNaN(cell_%(name)s)
    known_%(name)s = Where(hole_%(name)s, first_%(name)s, cell_%(name)s)
    below_%(name)s = Min(known_%(name)s, last_%(name)s)
    within_%(name)s = Max(below_%(name)s, first_%(name)s)
    by_row_%(name)s = Unsqueeze(within_%(name)s, classes_axis)
    is_after_%(name)s = GreaterOrEqual(by_row_%(name)s, inner_%(name)s)
    counted_%(name)s = Cast<to = 7>(is_after_%(name)s)
    low_%(name)s = ReduceSum<keepdims = 0>(counted_%(name)s, classes_axis)
    knot_%(name)s = Gather(knots_%(name)s, low_%(name)s)
    width_%(name)s = Gather(widths_%(name)s, low_%(name)s)
    gone_%(name)s = Sub(within_%(name)s, knot_%(name)s)
    way_%(name)s = Div(gone_%(name)s, width_%(name)s)
    share_%(name)s = Unsqueeze(way_%(name)s, classes_axis)
"""
_CATEGORY_AXIS = """
    low_%(name)s = Gather(bins_%(name)s, code_%(name)s)
    hole_%(name)s = Equal(code_%(name)s, missing_%(name)s)
    share_%(name)s = Identity(no_share)
"""
_PAIR = """
    first_%(n)d = Mul(low_%(a)s, size_%(n)d)
    key_%(n)d = Add(first_%(n)d, low_%(b)s)
    corner_%(n)d = Gather(corners_%(n)d, key_%(n)d)
    rise_a_%(n)d = Gather(rises_a_%(n)d, key_%(n)d)
    rise_b_%(n)d = Gather(rises_b_%(n)d, key_%(n)d)
    twist_%(n)d = Gather(twists_%(n)d, key_%(n)d)
    along_a_%(n)d = Mul(rise_a_%(n)d, share_%(a)s)
    along_b_%(n)d = Mul(rise_b_%(n)d, share_%(b)s)
    both_%(n)d = Mul(share_%(a)s, share_%(b)s)
    across_%(n)d = Mul(twist_%(n)d, both_%(n)d)
    value_%(n)d = Sum(corner_%(n)d, along_a_%(n)d, along_b_%(n)d, across_%(n)d)
    hole_%(n)d = Or(hole_%(a)s, hole_%(b)s)
    hole_by_row_%(n)d = Unsqueeze(hole_%(n)d, classes_axis)
    term_%(n)d = Where(hole_by_row_%(n)d, zero, value_%(n)d)
    joint_%(next)d = Add(joint_%(n)d, term_%(n)d)
"""
_MOST = 1e100  # of a feature, as in the kernel


class Prelude:
    """Nodes that stand before all terms: features, directions, and places on the axes of grids."""

    def __init__(self) -> None:
        self.text = ""
        self.constants: Constants = {}
        self.keys: dict[str, dict[str, int]] = {}
        self._coded: set[str] = set()

    def code(self, table: CategoryTable) -> str:
        """Write nodes that make a column of categories codes, once; return their name.

        Codes are those of the model, then one for a missing cell, then one for all others.
        """
        name, n = f"of_c{table.at}", table.categories.size
        if name not in self._coded:
            code_of = {s: i for i, c in enumerate(table.categories.tolist()) for s in spelled(c)}
            code_of.setdefault("", n)
            self.keys[f"code_{name}"] = code_of
            self.constants[f"at_{name}"] = np.array(table.at)
            self.text += _CODE % {"name": name, "default": n + 1}
            self._coded.add(name)
        return name


def prelude(forms: JointForms, tables: list[CategoryTable], has_numbers: bool) -> Prelude:
    """Write what all interactions need; ``x`` becomes the numbers and then the directions."""
    found = Prelude()
    if len(forms.features.at):
        found.text += _FEATURES
        found.constants |= {
            "at_of_f": np.array(forms.features.at),
            "mean_of_f": forms.features.mean,
            "scale_of_f": forms.features.scale,
            "most_of_f": np.array(_MOST),
            "least_of_f": np.array(-_MOST),
        }
    if forms.projection is None:
        found.text += "    x = Identity(own)\n" if has_numbers else ""
    else:
        _directions(found, forms.projection, tables, has_numbers)
    if forms.grids is not None:
        _axes(found, forms.grids, tables)
    return found


def _directions(
    found: Prelude, projection: Projection, tables: list[CategoryTable], has_numbers: bool
) -> None:
    found.text += _ALONG if len(projection.W) else _NOT_ALONG
    found.constants |= {
        "W": projection.W,
        "start_of_z": projection.start,
        "n_directions": np.array([projection.start.size]),
    }
    for n, j in enumerate(projection.columns):
        assert projection.tables is not None
        own, name = projection.tables.table(n), found.code(tables[j])
        zeros = np.zeros_like(own[:1])
        found.constants[f"table_{name}"] = np.concatenate([own[:-1], zeros, own[-1:]])
        found.text += _LEVELS % {"name": name, "n": n, "next": n + 1}
    z = f"z_{len(projection.columns)}"
    found.text += (
        f"    x = Concat<axis = 1>(own, {z})\n" if has_numbers else f"    x = Identity({z})\n"
    )


def _axes(found: Prelude, grids: Grids, tables: list[CategoryTable]) -> None:
    axes = grids.axes
    for i, (at, knots) in enumerate(zip(axes.numbers, axes.knots, strict=True)):
        widths = np.diff(knots)
        values = {
            "at": np.array([at]),
            "first": knots[0],
            "last": knots[-1],
            "inner": knots[1:-1],
            "knots": knots[:-1],
            "widths": widths,
        }
        name = f"of_a{i}"
        found.constants |= {f"{key}_{name}": np.asarray(value) for key, value in values.items()}
        found.text += _NUMBER_AXIS % {"name": name}
    found.constants["no_share"] = np.zeros((1, 1))
    for j, bins in zip(axes.categories, axes.bins, strict=True):
        name = found.code(tables[j])
        places = np.concatenate([bins[:-1], [0], bins[-1:]]).astype(np.int64)
        found.constants |= {f"bins_{name}": places, f"missing_{name}": np.array(bins.size - 1)}
        found.text += _CATEGORY_AXIS % {"name": name}


def ellipsoids(form: Ellipsoids) -> GraphTerm:
    """Write the distances of all classes as one product."""
    n_classes, p = form.mean.shape
    G = np.ascontiguousarray(form.factor.reshape(n_classes * p, p).T)
    constants = {
        "G": G,
        "g": np.einsum("kij,kj->ki", form.factor, form.mean).ravel(),
        "blocks": np.repeat(np.eye(n_classes), p, axis=0),
        "A": form.A,
        "B": form.B,
        "s": form.s,
        "w": np.ones(n_classes) if form.weight is None else form.weight,
    }
    text = _ELLIPSOIDS
    if form.weight is None:  # what is subtracted would be the same for all classes
        text = text.replace("Sub(terms_%(n)d, mean_%(n)d)", "Identity(terms_%(n)d)")
        text = "\n".join(line for line in text.split("\n") if "ReduceMean" not in line)
    return GraphTerm(text, {}, constants)


def grid_terms(grids: Grids) -> list[GraphTerm]:
    """Write the tables of pairs."""
    axes = grids.axes
    names = [f"of_a{i}" for i in range(len(axes.numbers))]
    names += [f"of_c{j}" for j in axes.categories]
    terms = []
    for (a, b), parts in zip(grids.pairs.tolist(), grids.coefficients(), strict=True):
        keys = "corners", "rises_a", "rises_b", "twists"
        constants = {key: np.ascontiguousarray(p) for key, p in zip(keys, parts, strict=True)}
        constants["size"] = np.array(int(axes.sizes[b]))
        terms.append(GraphTerm(_PAIR, {"a": names[a], "b": names[b]}, constants))
    return terms


# --- Functions of cells ---------------------------------------------------------------------------


# NaN, which is missing, stays NaN: it is above no number and below none.
_FUNCTION = """
    cell_of_g%(i)d = Gather<axis = 1>(given_x, at_of_g%(i)d)
    above_of_g%(i)d = GreaterOrEqual(cell_of_g%(i)d, low_of_g%(i)d)
    below_of_g%(i)d = LessOrEqual(cell_of_g%(i)d, high_of_g%(i)d)
    known_of_g%(i)d = And(above_of_g%(i)d, below_of_g%(i)d)
    within_of_g%(i)d = Where(known_of_g%(i)d, cell_of_g%(i)d, nan_of_g)
"""


def with_functions(found: Prelude, functions: tuple[tuple[int, str, float], ...]) -> None:
    """Write functions of some columns of ``x``, and put them behind its other columns."""
    found.text = found.text.replace("    x = ", "    given_x = ")
    found.constants["nan_of_g"] = np.array(np.nan)
    for i, (at, name, period) in enumerate(functions):
        function = FUNCTIONS[name]
        unit = period if function.periodic else 1.0
        angle = (f"Mul({{x}}, rate_of_g{i})",) if function.periodic else ()
        nodes, x = [*angle, *function.onnx], f"within_of_g{i}"
        found.text += _FUNCTION % {"i": i}
        for step, node in enumerate(nodes, 1):
            node_name = f"g{i}" if step == len(nodes) else f"step_{step}_of_g{i}"
            found.text += f"    {node_name} = {node.format(x=x)}\n"
            x = node_name
        found.constants |= {
            f"at_of_g{i}": np.array([at]),
            f"low_of_g{i}": np.array(function.lowest * unit),
            f"high_of_g{i}": np.array(min(function.highest * unit, np.finfo(np.float64).max)),
        }
        if function.periodic:
            found.constants[f"rate_of_g{i}"] = np.array(2 * np.pi / period)
    every = ", ".join(f"g{i}" for i in range(len(functions)))
    found.text += f"    x = Concat<axis = 1>(given_x, {every})\n"
