"""The query of a Gaussian model, whose sums are in units of 2^512."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from naively.export.query import LEAST, Query, Step, named
from naively.export.spelling import Spelling, added, number, total
from naively.export.terms import SQUARE_UNIT, UNIT, Terms, power_of_ten

__all__ = ["GaussianQuery"]

_BEYOND = -SQUARE_UNIT  # in units of 2^512; in units of 1, infinite


class GaussianQuery(Query):
    """The steps. Column j is ``x_j``; class k has ``joint_k`` and ``weight_k``."""

    head: ClassVar[str] = """\
-- A naive Bayes model. joint_k is log p(k) + the sum of log f_kj(x_j) over the columns j, in units
-- of 2^512: its squares neither overflow nor underflow. A missing cell leaves its term out.
"""

    def __init__(self, spelling: Spelling, terms: Terms) -> None:
        super().__init__(spelling, terms.classes, terms.possible)
        self.terms = terms
        # Of rows beyond every class, those that tie go by what is left: the joint of no holes.
        rest = terms.offset - terms.offset.max()
        self.weight_beyond = np.exp(np.maximum(rest, LEAST))
        self.classes_beyond = sorted(self.classes, key=lambda k: -rest[k])

    def cells(self, names: list[str]) -> list[str]:
        """Write cells as numbers, NULL where they are missing."""
        numbers = [self.spelling.cast(self.cell(name)) for name in names]
        return [named(self.spelling.not_nan(x), f"x_{j}") for j, x in enumerate(numbers)]

    def joints(self, kept: list[str]) -> dict[str, Step]:
        """Write the steps to log p(k) + sum_j log f_kj(x_j)."""
        return {"bounded": Step([*kept, *self.bounded()]), "joint": Step([*kept, *self.joint()])}

    def bounded(self) -> list[str]:
        """Write cells that can be squared without overflow, or underflow."""
        terms = self.terms
        bounds = [map(number, b) for b in (terms.lowest, terms.highest, _smallest(terms))]
        return [
            f"CASE WHEN x_{j} < {lowest} THEN {lowest} WHEN x_{j} > {highest} THEN {highest} "
            f"WHEN ABS(x_{j}) < {smallest} THEN 0 ELSE x_{j} END AS x_{j}"
            for j, (lowest, highest, smallest) in enumerate(zip(*bounds, strict=True))
        ]

    def joint(self) -> list[str]:
        """Write log p(k) + sum_j log f_kj(x_j), in units of 2^512."""
        terms = self.terms
        mean = np.where(np.abs(terms.mean) < _smallest(terms), 0.0, terms.mean)
        root, norm = np.sqrt(terms.scale) / UNIT, terms.log_norm / SQUARE_UNIT
        seen = np.flatnonzero(terms.scale.any(axis=0)).tolist()

        def term(k: int, j: int) -> str:
            z = f"(x_{j} {added(-mean[k, j])}) * {number(root[k, j])}"
            return f"COALESCE({self.spelling.square(z)} {added(norm[k, j])}, 0)"

        def sum_of(k: int) -> str:
            log_prior = self.spelling.cast(number(terms.log_prior[k] / SQUARE_UNIT))
            return f"{log_prior} - (\n      {total([term(k, j) for j in seen])}\n    )"

        return [named(sum_of(k), f"joint_{k}") for k in self.classes]

    def weights(self) -> list[str]:
        """Write exp(joint - best)."""
        return [
            f"CASE WHEN joint_{k} - best < {number(LEAST / SQUARE_UNIT)} THEN 0 "
            f"WHEN best < {number(_BEYOND)} THEN {number(self.weight_beyond[k])} "
            f"ELSE EXP((joint_{k} - best) * {number(SQUARE_UNIT)}) END AS weight_{k}"
            for k in self.classes
        ]

    def label(self) -> str:
        """Write the first class whose joint is the best."""
        near, beyond = self.first(self.classes), self.first(self.classes_beyond)
        if near == beyond:
            return near
        return f"CASE WHEN best < {number(_BEYOND)} THEN {beyond} ELSE {near} END"


def _smallest(terms: Terms) -> NDArray[np.float64]:
    """Return what may count as 0 in each column: 1e-17 of the smallest deviation.

    Or 1e-66 of the largest, should that be more: the square of less would be 0, which is an
    error in PostgreSQL.
    """
    root = np.sqrt(np.where(terms.scale > 0, terms.scale, 1.0))
    return power_of_ten(np.maximum(1e-17 / root.max(axis=0), 1e-66 / root.min(axis=0)))
