r"""Moments, by sums of differences from a number near the mean, which every database can add up.

.. math::

    \bar x = c + \frac{s}{v}, \qquad m_2 = q - \frac{s^2}{v}, \qquad
    v = \sum w, \quad s = \sum w\,(x - c), \quad q = \sum w\,(x - c)^2

where :math:`c` is the mean of the column's first cells. Near the mean the difference is exact,
and :math:`q` hardly more than :math:`m_2`: nothing cancels, however far from 0 the column is. A
plain sum of n cells loses about :math:`\epsilon \sqrt n / 4`; of :math:`m_2`, :math:`q / m_2` times
that. Where it would show, since a class is many standard deviations away from :math:`c`, the
column is read again with care: :math:`c` is the mean of each class, which costs a scan. So are
columns that hold NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._optional import need
from naively.engines.sql.selection import Selection, finite
from naively.statistics.moments import sum_and_rest

__all__ = ["ColumnSums", "Floats", "sums_query", "with_grain"]

ibis = need("ibis", "reading tables inside a database", extra="sql")

Floats = NDArray[np.float64]

_BEARABLE = 1e-12  # of m2, to be lost
_EPS = float(np.finfo(np.float64).eps)
_GRAIN, _TINY = 1e-130, 1e-110  # see `with_grain`


@dataclass(frozen=True)
class ColumnSums:
    """The sums of some columns; arrays by class, or by class and column."""

    classes: NDArray[Any]  # (n_classes,): labels, sorted
    # rows and weight, (n_classes,): how many rows there are, and their weight
    rows: Floats
    weight: Floats
    # present and used, (n_classes, n_columns): how many cells are not NULL, and how many of those
    # were added up
    present: Floats
    used: Floats
    # v, s, q and c, (n_classes, n_columns): as in the formula
    v: Floats
    s: Floats
    q: Floats
    c: Floats

    def moments(self) -> Floats:
        """Return weight, mean, m2 and rest: of shape (4, n_classes, n_columns)."""
        shift = np.divide(self.s, self.v, out=np.zeros_like(self.s), where=self.v > 0)
        mean, rest = np.where(self.v > 0, sum_and_rest(self.c, shift), 0.0)
        with np.errstate(invalid="ignore", over="ignore"):  # of columns that hold NaN or infinity
            m2 = self.q - self.s * shift
            noise = 4 * _EPS * np.sqrt(self.rows)[:, np.newaxis] * self.q
        return np.stack([self.v, mean, np.where(m2 > noise, m2, 0.0), rest])

    def doubtful(self) -> NDArray[np.bool_]:
        """Return which columns are to be read with care: of NaN, or of a class far from c.

        Columns whose cells differ from c by their last bits alone count as constant: not those.
        """
        odd = ~(np.isfinite(self.s) & np.isfinite(self.q))
        v, mean, m2, _ = self.moments()
        lost = _EPS / 4 * np.sqrt(np.maximum(self.rows, 1.0))[:, np.newaxis]
        with np.errstate(invalid="ignore"):
            far = self.q > m2 * np.maximum(4.0, _BEARABLE / lost)
            last_bits = self.q <= v * (4 * np.spacing(np.abs(mean))) ** 2
        return (odd | (far & ~last_bits)).any(axis=0)

    @classmethod
    def side_by_side(cls, parts: list[ColumnSums]) -> ColumnSums:
        """Return the sums of the columns of all parts."""
        names = "present", "used", "v", "s", "q", "c"
        joined = {name: np.hstack([getattr(part, name) for part in parts]) for name in names}
        return cls(parts[0].classes, parts[0].rows, parts[0].weight, **joined)


def sums_query(rows: Selection, columns: NDArray[np.intp], centres: list[float] | None) -> Any:
    """Return a query for the sums of some columns; without centres, c is the mean of each class."""
    names = [f"x{i}" for i in columns]
    table = rows.select(names)
    aggregates: dict[str, Any] = {}
    if centres is None:
        means = {f"c{x}": finite(table[x], table[x]).mean() for x in names}
        table = table.join(table.group_by("y").aggregate(**means), "y")
        aggregates |= {c: table[c].min() for c in means}
        aggregates |= {f"present{x}": table[x].count() for x in names}
        differences = {f"d{x}": _with_care(table[x], table[f"c{x}"]) for x in names}
    else:
        pairs = zip(names, centres, strict=True)
        differences = {f"d{x}": _quickly(table[x], c) for x, c in pairs}
    table = table.mutate(**differences)
    aggregates["n"] = table.count()
    if rows.weight is not None:
        usable = table.w.between(0.0, float(np.finfo(np.float64).max))
        aggregates |= {"good": usable.sum(), "w": table.w.sum()}
    for x in names:
        aggregates |= _aggregates(table, x, rows.weight is not None)
    return table.group_by("y").aggregate(**aggregates)


def _aggregates(table: Any, x: str, weighted: bool) -> dict[str, Any]:
    d = table[f"d{x}"]
    if not weighted:
        return {f"used{x}": d.count(), f"s{x}": d.sum(), f"q{x}": (d * d).sum()}
    w = table.w
    return {
        f"used{x}": d.count(),
        f"v{x}": d.notnull().ifelse(w, ibis.null()).sum(),
        f"s{x}": (w * d).sum(),
        f"q{x}": (w * (d * d)).sum(),
    }


def _quickly(x: Any, c: float) -> Any:
    return x - c if abs(c) > _TINY else with_grain(x - c)


def _with_care(x: Any, c: Any) -> Any:
    return finite(x, with_grain(x - c))


def with_grain(d: Any) -> Any:
    """Make differences below 1e-146 zero, and leave others as they are.

    PostgreSQL takes it for an error if the square of a small number becomes 0. Numbers near a c
    that is not tiny itself do not differ from it by so little.
    """
    return d + _GRAIN - _GRAIN
