r"""Moments by sums of differences from a number near the mean: databases and Spark add those up.

.. math::

    \bar x = c + \frac{s}{v}, \qquad m_2 = q - \frac{s^2}{v}, \qquad
    v = \sum w, \quad s = \sum w\,(x - c), \quad q = \sum w\,(x - c)^2

where :math:`c` is near the mean of the column's first cells. There the difference is exact, and
:math:`q` hardly more than :math:`m_2`: nothing cancels, however far from 0 the column is. A plain
sum of n cells loses about :math:`\epsilon \sqrt n / 4`, and up to :math:`\epsilon n / 6` if few
values repeat, since they round alike; of :math:`m_2`, :math:`q / m_2` times that. Where it would
show, since a class is many standard deviations away from :math:`c`, the column is read again with
care: :math:`c` is the mean of each class, which costs a scan. So are columns that hold NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.statistics.moments import sum_and_rest

_BEARABLE_LOSS = 1e-12  # of m2, to be lost
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class ColumnSums:
    """The sums of some columns; arrays by class, or by class and column."""

    classes: NDArray[Any]  # (n_classes,): labels, sorted
    # rows and weight, (n_classes,): how many rows were added up one by one, and their weight
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
        """Return which columns are to be read with care: of odd cells, or of a class far from c.

        Not doubtful: cells that differ from c by their last bits alone, which count as constant.
        The mean of a single cell loses digits where c is much larger, which shows if they are
        more than the smallest standard deviation of all classes.
        """
        odd = ~(np.isfinite(self.s) & np.isfinite(self.q)) | (self.present != self.used)
        v, mean, m2, _ = self.moments()
        lost = _EPS / 4 * np.sqrt(np.maximum(self.rows, 1.0))[:, np.newaxis]
        with np.errstate(invalid="ignore", divide="ignore"):
            far = self.q > m2 * np.clip(_BEARABLE_LOSS / lost, 4.0, 16.0)
            last_bits = self.q <= v * (4 * np.spacing(np.abs(mean))) ** 2
            deviation = np.where(m2 > 0, np.sqrt(m2 / v), np.inf).min(axis=0, initial=np.inf)
            shown = np.maximum(np.abs(mean), np.where(np.isinf(deviation), 0.0, deviation))
            alone = _EPS * np.abs(self.c) > _BEARABLE_LOSS * shown
        return (odd | (far & ~last_bits & (alone | (self.used > 1)))).any(axis=0)

    @classmethod
    def side_by_side(cls, parts: list[ColumnSums]) -> ColumnSums:
        """Return the sums of the columns of all parts."""
        names = "present", "used", "v", "s", "q", "c"
        joined = {name: np.hstack([getattr(part, name) for part in parts]) for name in names}
        return cls(parts[0].classes, parts[0].rows, parts[0].weight, **joined)
