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
