"""Functions of cells as nodes of an ONNX graph: columns behind all others of ``x``."""

from __future__ import annotations

import numpy as np

from naively.data.functions import FUNCTIONS
from naively.scoring.export.graph_interactions import Prelude

# NaN, which is missing, stays NaN: it is above no number and below none.
_FUNCTION = """
    cell_of_g%(i)d = Gather<axis = 1>(given_x, at_of_g%(i)d)
    above_of_g%(i)d = GreaterOrEqual(cell_of_g%(i)d, low_of_g%(i)d)
    below_of_g%(i)d = LessOrEqual(cell_of_g%(i)d, high_of_g%(i)d)
    known_of_g%(i)d = And(above_of_g%(i)d, below_of_g%(i)d)
    within_of_g%(i)d = Where(known_of_g%(i)d, cell_of_g%(i)d, nan_of_g)
    %(formula)s
"""
_ITSELF = "g%(i)d = Identity(within_of_g%(i)d)"
_LOG = "g%(i)d = Log(within_of_g%(i)d)"
_LOG_REST = """rest_of_g%(i)d = Sub(one, within_of_g%(i)d)
    g%(i)d = Log(rest_of_g%(i)d)"""
_ANGLE = """angle_of_g%(i)d = Mul(within_of_g%(i)d, rate_of_g%(i)d)
    g%(i)d = """
_FORMULAS = {
    "positive": _ITSELF,
    "not_negative": _ITSELF,
    "log": _LOG,
    "log_share": _LOG,
    "log_rest": _LOG_REST,
    "cos": _ANGLE + "Cos(angle_of_g%(i)d)",
    "sin": _ANGLE + "Sin(angle_of_g%(i)d)",
}


def with_functions(found: Prelude, functions: tuple[tuple[int, str, float], ...]) -> None:
    """Write functions of some columns of ``x``, and put them behind its other columns."""
    found.text = found.text.replace("    x = ", "    given_x = ")
    found.constants["nan_of_g"] = np.array(np.nan)
    for i, (at, name, period) in enumerate(functions):
        lowest, highest, _, periodic = FUNCTIONS[name]
        unit = period if periodic else 1.0
        found.text += _FUNCTION % {"i": i, "formula": _FORMULAS[name] % {"i": i}}
        found.constants |= {
            f"at_of_g{i}": np.array([at]),
            f"low_of_g{i}": np.array(lowest * unit),
            f"high_of_g{i}": np.array(min(highest * unit, np.finfo(np.float64).max)),
        }
        if periodic:
            found.constants[f"rate_of_g{i}"] = np.array(2 * np.pi / period)
    every = ", ".join(f"g{i}" for i in range(len(functions)))
    found.text += f"    x = Concat<axis = 1>(given_x, {every})\n"
