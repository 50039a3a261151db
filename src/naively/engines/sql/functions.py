"""Functions of cells, as Ibis writes them for any database; NULL where they have no value."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.data.functions import BELOW_ONE, FUNCTIONS
from naively.errors import need

ibis = need("ibis", "reading tables inside a database", extra="sql")

_LARGEST = float(np.finfo(np.float64).max)


def function_values(x: Any, name: str, period: float) -> Any:
    """Return the function of a column. NaN has none: some databases have it above all numbers."""
    function = FUNCTIONS[name]
    unit = period if function.periodic else 1.0
    low, high = max(function.lowest * unit, -_LARGEST), min(function.highest * unit, _LARGEST)
    above = x > 0.0 if 0 < low < 1e-300 else x >= low  # databases may read 5e-324 as 0
    known = above & (x < 1.0 if function.highest == BELOW_ONE else x <= high)
    angle = x * (2 * np.pi / period) if function.periodic else x
    return known.ifelse(function.column(angle), ibis.null())
