r"""Functions of a cell, whose moments some families need beside those of the cells themselves.

============ ================================ =====================
positive     :math:`x`                        where x > 0
log          :math:`\log x`                   where x > 0
log_share    :math:`\log x`                   where 0 < x < 1
log_rest     :math:`\log(1 - x)`              where 0 < x < 1
not_negative :math:`x`                        where x >= 0
count        :math:`x`                        where x = 0, 1, 2, ...
cos, sin     of :math:`2 \pi x / p`           within a billion periods p of 0
============ ================================ =====================

A cell elsewhere has no value, as a missing cell has none: NaN.

Examples
--------
>>> function_values("log", np.array([1.0, 0.0, np.nan])).tolist()
[0.0, nan, nan]
>>> function_values("cos", np.array([0.0, 12.0]), period=24.0).tolist()
[1.0, -1.0]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from naively import _kernel
from naively.data.types import Floats
from naively.errors import later

special = later("scipy.special", "a family of distributions")  # imported in twice NumPy's time
LEAST = float(np.finfo(np.float64).smallest_subnormal)  # the least number above 0
BELOW_ONE = float(np.nextafter(1.0, 0.0))
_MAX_PERIODS = 1e9  # beyond, float64 has few digits left for an angle


class Function(NamedTuple):
    """A function: which cells have a value, and its formula for whatever computes it.

    Attributes
    ----------
    lowest, highest : float
        The least and the largest cell that have a value; of a periodic function, in periods.
    formula : callable
        The function of an array; of a periodic one, of angles.
    sql : str
        The same in a query, of ``{x}``; empty where no form needs it.
    onnx : callable
        The same as nodes of a graph, which has a method for each operator of ONNX.
    periodic : bool
        Whether the formula is of the angle.
    """

    lowest: float
    highest: float
    formula: Callable[[Floats], Floats]
    sql: str = "{x}"
    onnx: Callable[[Any, str], str] = lambda _, x: x
    periodic: bool = False


class ColumnFunction(NamedTuple):
    """A function of a column, which is given by its place in the schema."""

    column: int
    name: str
    period: float = 1.0


def _itself(x: Any) -> Any:
    return x


def _log_rest(x: Floats) -> Floats:
    return np.log1p(-x)


def _whole(x: Floats) -> Floats:
    return np.where(x == np.floor(x), x, np.nan)


_LOG = np.log, "LN({x})", lambda g, x: g.Log(x)
_REST = _log_rest, "LN(1 - {x})", lambda g, x: g.Log(g.Sub(1.0, x))
_COS = np.cos, "COS({x})", lambda g, x: g.Cos(x)
_SIN = np.sin, "SIN({x})", lambda g, x: g.Sin(x)

FUNCTIONS = {
    "positive": Function(LEAST, np.inf, _itself),
    "log": Function(LEAST, np.inf, *_LOG),
    "log_share": Function(LEAST, BELOW_ONE, *_LOG),
    "log_rest": Function(LEAST, BELOW_ONE, *_REST),
    "not_negative": Function(0.0, np.inf, _itself),
    "count": Function(0.0, np.inf, _whole),
    "cos": Function(-_MAX_PERIODS, _MAX_PERIODS, *_COS, periodic=True),
    "sin": Function(-_MAX_PERIODS, _MAX_PERIODS, *_SIN, periodic=True),
}


def function_values(name: str, x: Any, period: float = 1.0) -> Floats:
    """Return the function of cells; NaN where it has no value. Infinity stays what it is."""
    function = FUNCTIONS[name]
    unit = period if function.periodic else 1.0
    cells = np.ascontiguousarray(x, dtype=np.float64)
    known = (cells >= function.lowest * unit) & (cells <= function.highest * unit)
    found = np.where(known, cells, np.nan)
    if function.periodic:
        found *= 2 * np.pi / period
    found = function.formula(found)
    infinite = np.isinf(cells)
    return np.where(infinite, cells, found) if infinite.any() else found


def gammaln(x: ArrayLike) -> Floats:
    """Return the logarithm of the gamma function's absolute value, without importing SciPy.

    >>> gammaln([1.0, 3.0, 6.0]).round(3)
    array([0.   , 0.693, 4.787])
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    out = np.empty(x.shape)
    _kernel.log_gamma(x, out)
    return out
