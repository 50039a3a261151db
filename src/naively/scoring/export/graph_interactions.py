"""Interactions as nodes of an ONNX graph: features, directions, ellipsoids and grids.

Directions are columns that are computed: they are put beside the numbers of ``X``, and the writers
of `graph_terms` find them there. The others add to the joint, as those writers do.
"""

from __future__ import annotations

import numpy as np

from naively.families.joint_forms import Ellipsoids, Grids, JointForms, Projection
from naively.scoring.export.graph_terms import Constants, GraphTerm, spelled
from naively.scoring.export.sums import CategoryTable

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
