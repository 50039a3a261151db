"""Sums of lines A + B x: of sparse rows, and of cells that count as 1 above a step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.exceptions import NaivelyError
from naively.sparse import SparseRows

__all__ = ["add_above", "add_sparse"]

Floats = NDArray[np.float64]

_CELLS = 1 << 18  # that are looked at together


def add_sparse(X: SparseRows, A: Floats, B: Floats, step: float | None, joint: Floats) -> bool:
    """Add what cells add to the terms of zeros: B x, and -A where they are missing."""
    problem = _kernel.add_sparse_lines(X, A, B, step, joint)
    if problem is not None and problem[0] == "place":
        raise NaivelyError(
            f"X must be a valid sparse matrix; got a column beyond its last in row {problem[1]}."
        )
    return problem is None


def add_above(X: Any, A: Floats, B: Floats, step: float, joint: Floats) -> bool:
    """Add A + B of cells above a step, and A of others that are present; False at infinity."""
    cells = np.column_stack(X) if isinstance(X, list) else X
    for start in range(0, len(cells), some := max(1, _CELLS // max(1, cells.shape[1]))):
        x = np.asarray(cells[start : start + some], np.float64)
        if np.isinf(x).any():
            return False
        above = np.where(np.isnan(x), np.nan, x > step)
        _kernel.add_lines(above, A, B, -np.inf, joint[start : start + some])
    return True
