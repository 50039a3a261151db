"""What a cell may become: other categories, whole numbers, or numbers on a fine grid.

A grid reaches ten standard deviations of the column to either side of its mean. It has the knots of
straight pieces and the means of the classes among its points, and gets ever finer towards an end of
the support, so that what happens between two points is smooth.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from naively.data.types import Floats
from naively.families.forms import Lines, Pieces
from naively.model.model import Model
from naively.statistics.summary import Summary

_REACH = 10.0  # standard deviations
_STEPS = 40  # of a grid in one of them
_MOST_STEPS = 20  # of a count, to either side, that are all tried
_EVER_NEARER = 2.0 ** -np.arange(0.0, 100.0, 0.5)  # to an end, where densities change fastest


@dataclass(frozen=True, eq=False)
class Candidates:
    """The cells that a column may have instead of the one it has.

    Attributes
    ----------
    column : int
        Its place in the schema.
    cells : ndarray
        Numbers, or codes of categories; ascending, and without the present one.
    before : float
        The present cell.
    spread : float
        What a distance of 1 is; 0 for categories, of which each is as far as any other.
    is_grid : bool
        Whether cells between these are allowed, too.
    is_whole : bool
        Whether whole numbers between these are.
    """

    column: int
    cells: Floats
    before: float
    spread: float
    is_grid: bool
    is_whole: bool = False

    def distance(self, cells: Any) -> Any:
        """Return how far cells are from the present one."""
        if not self.spread:
            return np.not_equal(cells, self.before).astype(np.float64)
        return np.abs(np.asarray(cells) - self.before) / self.spread

    def coarse(self) -> Candidates:
        """Return fewer cells: dense near the present one, sparse far from it."""
        if not (self.is_grid or self.is_whole):
            return self
        steps = np.concatenate([np.arange(1, 9) / 8, np.arange(5, 21) / 4, np.arange(6, 21)])
        cells = self.before + self.spread * np.concatenate([-steps[::-1], steps])
        if self.is_whole:
            cells = np.unique(np.append(np.round(cells), _near(self.before)))
        low, high = self.cells[0], self.cells[-1]
        cells = cells[(cells >= low) & (cells <= high) & (cells != self.before)]
        return replace(self, cells=cells)


def candidates_of(
    model: Model, summary: Summary, row: dict[int, float], columns: Iterable[int]
) -> list[Candidates]:
    """Return what the cells of some columns may become.

    Columns of text, of constants and of missing cells have no candidates.

    Parameters
    ----------
    model, summary
        What scores rows, and what it was read off.
    row : dict
        The numbers and codes of the row by column, NaN or negative where one is missing.
    columns : iterable of int
        Which columns.
    """
    schema = model.schema
    mean, spread = spreads_of(summary)
    number_at = {j: i for i, j in enumerate(schema.numbers)}
    category_at = {j: i for i, j in enumerate(schema.categories)}
    found = []
    for j in columns:
        before = row.get(j, np.nan)
        if np.isnan(before) or not model.by_column[j]:
            continue
        if j in category_at:
            if before >= 0:
                codes = np.arange(model.vocabularies[category_at[j]].size, dtype=np.float64)
                found.append(Candidates(j, codes[codes != before], before, 0.0, False))
            continue
        i = number_at[j]
        if spread[i] > 0:
            found.append(_numbers(model, j, before, float(mean[i]), float(spread[i])))
    return [one for one in found if one.cells.size]


def _numbers(model: Model, j: int, before: float, mean: float, spread: float) -> Candidates:
    terms = model.by_column[j]
    supports = [term.family.support for term, _ in terms]
    low, high = max(low for low, _ in supports), min(high for _, high in supports)
    half = int(_REACH * _STEPS)
    grid = mean + spread / _STEPS * np.arange(-half, half + 1)
    if all(getattr(term.family, "discrete", False) for term, _ in terms):
        form: Any = terms[0][0].form
        cells = np.unique(np.append(np.round(grid), _near(before)))
        stepped = isinstance(form, Lines) and form.step is not None
        if stepped:
            cells, low, high = np.array([0.0, np.floor(form.step) + 1]), 0.0, np.inf
        cells = cells[(cells >= low) & (cells <= high) & (cells != before)]
        return Candidates(j, cells, before, spread, False, is_whole=not stepped)
    ends = [end + (mean - end) * _EVER_NEARER for end in (low, high) if np.isfinite(end)]
    cells = np.unique(np.concatenate([grid, *ends, *(_marks(term, i) for term, i in terms)]))
    cells = cells[(cells >= low) & (cells <= high) & (cells != before)]
    return Candidates(j, cells, before, spread, True)


def _near(before: float) -> Floats:
    """Return the whole numbers around a count."""
    return np.asarray(np.round(before) + np.arange(-_MOST_STEPS, _MOST_STEPS + 1.0))


def _marks(term: Any, i: int) -> Floats:
    """Return the knots of straight pieces, or the means of the classes."""
    if isinstance(term.form, Pieces):
        return np.asarray(term.form.knots[i])
    mu = getattr(term.form, "mu", None)
    return np.empty(0) if mu is None else mu[i][np.isfinite(mu[i])]


def spreads_of(summary: Summary) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the columns of numbers; 0 and 1 of counts."""
    n = len(summary.schema.numbers)
    if summary.schema.counted is not None:
        return np.zeros(n), np.ones(n)
    whole = summary.moments.pooled()
    weight = np.where(whole.weight > 0, whole.weight, np.inf)
    return whole.mean, np.sqrt(whole.m2 / weight)
