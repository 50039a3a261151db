"""Functions of cells, as Ibis writes them for any database; NULL where they have no value."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.data.functions import FUNCTIONS
from naively.errors import need

ibis = need("ibis", "reading tables inside a database", extra="sql")

_FORMULAS = {
    "positive": lambda x: x,
    "log": lambda x: x.ln(),
    "log_share": lambda x: x.ln(),
    "log_rest": lambda x: (1.0 - x).ln(),
    "not_negative": lambda x: x,
    "count": lambda x: (x == x.floor()).ifelse(x, ibis.null()),
    "cos": lambda x: x.cos(),
    "sin": lambda x: x.sin(),
}
_LARGEST = float(np.finfo(np.float64).max)


def function_values(x: Any, name: str, period: float) -> Any:
    """Return the function of a column. NaN has none: some databases have it above all numbers."""
    lowest, highest, _, periodic = FUNCTIONS[name]
    unit = period if periodic else 1.0
    low, high = max(lowest * unit, -_LARGEST), min(highest * unit, _LARGEST)
    above = x > 0.0 if 0 < low < 1e-300 else x >= low  # databases may read 5e-324 as 0
    known = above & (x <= high if highest != np.nextafter(1.0, 0.0) else x < 1.0)
    angle = x * (2 * np.pi / period) if periodic else x
    return known.ifelse(_FORMULAS[name](angle), ibis.null())
