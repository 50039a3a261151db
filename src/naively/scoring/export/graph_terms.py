"""Terms of a sum as nodes of an ONNX graph: one writer for each form.

A writer gives nodes that add the terms to ``joint_n``, which makes it the next joint. Squares of
Quadratics are left in ``centred_n``, in units of 2^512, to be subtracted from the last one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.engines.sql.dialects import BOOLEANS
from naively.families.forms import weighted
from naively.scoring.export.sums import UNIT, CategoryTable, Curves, LineColumns, PieceColumns

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
