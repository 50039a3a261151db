"""Searches for the smallest change of one cell, or of two, that changes an answer.

Of one cell, the nearest candidate of each side that changes the answer is moved towards the present
cell by halving, until the next float64 would not change it. Of two cells, all pairs of candidates
of a coarse grid are tried; the best pairs of columns are tried again on an even grid, and what is
found there is improved on ever finer grids around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.inspection.explanations.candidates import Candidates

Wanted = Callable[[dict[int, Floats]], NDArray[np.bool_]]


class Tests(NamedTuple):
    """Two functions that tell for each line of changed cells whether the answer is a wanted one.

    `quick` may add up terms in another order than the model does; `sure` asks the model itself, and
    so decides where two classes are equally probable but for rounding.
    """

    quick: Wanted
    sure: Wanted


_HALVINGS = 100
_ROUNDS = 40  # of finer grids, at most
_FINEST = 1e-7  # half of the width of a grid, in spreads
_EVEN = 301  # points of each axis of the grid around the row
_FINE = 13  # points of each axis of a finer grid
_CONFIRMED = 8  # changes of a grid that the model is asked about: rounding spoils one at most
_MOST_PAIRS = 4  # that are improved


class Found(NamedTuple):
    """A change that suffices: the cells by column, and how far they are from the present ones."""

    cells: dict[int, float]
    distance: float


def nearest_one(columns: Sequence[Candidates], tests: Tests) -> Found | None:
    """Return the smallest change of one cell; None where there is none."""
    tried = []
    for one in columns:
        hits = one.cells[tests.quick({one.column: one.cells})]
        sides = (hits[hits < one.before][-1:], hits[hits > one.before][:1])
        cells = np.concatenate(sides) if one.spread else hits[:1]
        tried += [(_inner_distance(one, cell), one, cell) for cell in cells.tolist()]
    best: Found | None = None
    for least, one, cell in sorted(tried, key=lambda some: some[0]):
        if best is not None and least >= best.distance:
            break
        if not tests.sure({one.column: np.array([cell])})[0]:
            continue
        near = _halved(one, cell, tests.sure) if one.is_grid or one.is_whole else cell
        found = Found({one.column: near}, float(one.distance(near)))
        if best is None or found.distance < best.distance:
            best = found
    return best


def nearest_two(columns: Sequence[Candidates], tests: Tests) -> Found | None:
    """Return the smallest change of two cells; None where there is none."""
    coarse = [one.coarse() for one in columns]
    starts: list[tuple[float, Candidates, Candidates, Found]] = []
    for a, b in combinations(coarse, 2):
        found = _best_of_grid(a, a.cells, b, b.cells, tests, confirm=False)
        if found is not None:
            starts.append((found.distance, a, b, found))
    best: Found | None = None
    for _, a, b, start in sorted(starts, key=lambda some: some[0])[:_MOST_PAIRS]:
        within = [
            np.append(_within(one, start.distance), start.cells[one.column]) for one in (a, b)
        ]
        found = _best_of_grid(a, within[0], b, within[1], tests)
        if found is None:
            continue
        better = _improved(a, b, found, tests)
        if best is None or better.distance < best.distance:
            best = better
    return best


def _inner_distance(one: Candidates, cell: float) -> float:
    """Return a distance that no change between the candidate before this one and it is below."""
    if not (one.is_grid or one.is_whole):
        return float(one.distance(cell))
    return float(one.distance(_inner(one, cell)))


def _inner(one: Candidates, cell: float) -> float:
    """Return the candidate before a cell, on the way to it, or the present cell."""
    between = one.cells[(one.cells - cell) * (one.cells - one.before) < 0]
    if not between.size:
        return one.before
    return float(between[np.argmin(np.abs(between - cell))])


def _halved(one: Candidates, cell: float, wanted: Wanted) -> float:
    """Return the cell nearest to the candidate before, that still changes the answer."""
    outside, inside = _inner(one, cell), cell
    for _ in range(_HALVINGS):
        middle = 0.5 * outside + 0.5 * inside
        middle = np.floor(middle) if one.is_whole else middle
        if middle in (outside, inside):
            break
        if wanted({one.column: np.array([middle])})[0]:
            inside = middle
        else:
            outside = middle
    return inside


def _best_of_grid(
    a: Candidates, at_a: Floats, b: Candidates, at_b: Floats, tests: Tests, *, confirm: bool = True
) -> Found | None:
    """Return the smallest change among all pairs of some cells, perhaps confirmed by the model."""
    x, y = (part.ravel() for part in np.meshgrid(at_a, at_b, indexing="ij"))
    hits = np.flatnonzero(tests.quick({a.column: x, b.column: y}))
    distance = a.distance(x[hits]) + b.distance(y[hits])
    for best in np.argsort(distance, kind="stable")[:_CONFIRMED].tolist():
        at = hits[best]
        cells = {a.column: float(x[at]), b.column: float(y[at])}
        if not confirm or tests.sure({j: np.array([cell]) for j, cell in cells.items()})[0]:
            return Found(cells, float(distance[best]))
    return None


def _improved(a: Candidates, b: Candidates, found: Found, tests: Tests) -> Found:
    """Return a smaller change, by ever finer grids around the best one so far."""
    width = 1.0  # of the grid, in spreads
    for _ in range(_ROUNDS):
        if width < _FINEST:
            break
        axes = [_around(one, found.cells[one.column], width) for one in (a, b)]
        better = _best_of_grid(a, axes[0], b, axes[1], tests)
        if better is not None and better.distance < found.distance:
            found = better
        else:
            width /= 3
    return found


def _within(one: Candidates, distance: float) -> Floats:
    """Return cells no further away than this, evenly spaced."""
    if not one.is_grid:
        return one.cells[one.distance(one.cells) <= distance]
    half = distance * one.spread
    return np.clip(one.before + np.linspace(-half, half, _EVEN), one.cells[0], one.cells[-1])


def _around(one: Candidates, cell: float, width: float) -> Floats:
    if not one.is_grid:
        return np.unique(np.append(one.cells, cell)) if one.spread else np.array([cell])
    half = width * one.spread
    around = cell + np.linspace(-half, half, _FINE)
    return np.append(np.clip(around, one.cells[0], one.cells[-1]), cell)
