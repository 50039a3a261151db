"""A panel of a column of numbers: a curve per class and, perhaps, histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.data.types import Floats
from naively.display.plots import _canvas, palette
from naively.display.plots._families import FamilyCurves
from naively.families.gaussian import density

__all__ = ["Panel"]


_NO_HALVES = 2.0**52  # from here on, there is no number between whole ones


@dataclass(frozen=True, eq=False)
class Panel:
    """One column: a curve per class and, perhaps, histograms."""

    name: str
    # x and density, (n_shown, n_points): the curve of each class. Where a variance is zero there is
    # no curve: NaN.
    x: Floats
    density: Floats
    means: Floats  # (n_shown,): the mean of each class; NaN in a column that was never seen
    edges: Floats | None = None  # (n_bins + 1,): the histograms' bins
    # (n_shown, n_bins): the share of its class's cells in each bin, divided by the bin's width
    heights: Floats | None = None
    # curves of further families that describe the column, as x and density
    more: Sequence[tuple[Floats, Floats]] = ()

    @classmethod
    def of_bells(
        cls, name: str, means: Floats, variances: Floats, groups: Sequence[Floats], bins: int | None
    ) -> Panel:
        """Draw Gaussians of these means and variances over groups of cells, one per class."""
        spread = np.sqrt(variances)[:, np.newaxis]
        low, high = _range(means, spread[:, 0], groups)
        # the whole range, and enough points where a narrow curve is steep
        wide = np.broadcast_to(np.linspace(low, high, 201), (means.size, 201))
        close = np.clip(means[:, np.newaxis] + spread * np.linspace(-4, 4, 121), low, high)
        x = np.sort(np.hstack([wide, close]), axis=1)
        positive = np.where(spread > 0, spread, np.nan)
        curves = density(x, means[:, np.newaxis], positive**2)
        return cls(name, x, curves, means, *_histograms(groups, bins))

    @classmethod
    def of_families(
        cls,
        name: str,
        means: Floats,
        variances: Floats,
        families: Sequence[FamilyCurves],
        groups: Sequence[Floats],
        bins: int | None,
    ) -> Panel:
        """Draw what families believe over groups of cells, one per class."""
        spread = np.sqrt(variances)
        low, high = _range(means, spread, groups)
        edges, heights = _histograms(groups, bins)
        close = means[:, np.newaxis] + spread[:, np.newaxis] * np.linspace(-4, 4, 121)
        points = np.concatenate([np.linspace(low, high, 201), close[~np.isnan(close)]])
        x = np.unique(np.clip(points, low, high))
        cut = np.linspace(low, high, 25) if edges is None else edges
        curves = [family.curves(x, cut) for family in families]
        return cls(name, *curves[0], means, edges, heights, curves[1:])

    def draw_histograms(self, ax: Any) -> list[Any]:
        """Draw what was seen, and return a patch per class."""
        if self.heights is None:
            return []
        alpha = 0.22 if len(self.heights) <= 4 else 0.09  # many lie over each other
        return [
            ax.stairs(heights, self.edges, fill=True, color=palette.colour(place), alpha=alpha)
            for place, heights in enumerate(self.heights)
        ]

    def draw(self, ax: Any) -> list[Any]:
        """Draw the families, and return a line per class, those of further families last."""
        drawn = []
        for place, (x, y, mean) in enumerate(zip(self.x, self.density, self.means, strict=True)):
            style = {"color": palette.colour(place), "linestyle": palette.dash(place)}
            spike = np.isnan(y).all() and not np.isnan(mean)  # of variance zero: all at one point
            style["linewidth"] = 1.8
            drawn.append(ax.axvline(mean, **style) if spike else ax.plot(x, y, **style)[0])
        for curves in self.more:
            for place, (x, y) in enumerate(zip(*curves, strict=True)):
                drawn += ax.plot(x, y, color=palette.colour(place), linewidth=1, alpha=0.85)
        return drawn

    def dress(self, ax: Any, *, first: bool, width: int) -> None:
        """Name the axes."""
        _canvas.tidy(ax)
        ax.spines["left"].set_visible(False)
        ax.set_yticks([])
        ax.set_ylim(0, self._top())
        ax.locator_params(axis="x", nbins=5)
        ax.set_title(_canvas.caption(self.name, width), loc="left", fontsize=10, color=palette.INK)
        if first:
            ax.set_ylabel("density", fontsize=9, color=palette.FAINT)
        if np.isnan(self.means).all():
            ax.set_xticks([])
            style = {"ha": "center", "color": palette.FAINT}
            ax.text(0.5, 0.5, "no cell seen", transform=ax.transAxes, **style)

    def _top(self) -> float:
        """Return where the panel ends: a spike may run out of it, so that others can be seen."""
        curves = [self.density, *(further for _, further in self.more)]
        known = [rows[~np.isnan(rows).all(axis=1)].max(axis=1, initial=0.0) for rows in curves]
        peaks = np.sort(np.concatenate(known))
        if not peaks.size:
            return 1.0
        top = min(peaks[-1], 5 * peaks[(peaks.size - 1) // 2])
        tallest = 0.0 if self.heights is None else float(self.heights.max())
        return float(1.06 * max(top, min(tallest, 1.5 * top))) or 1.0


def _histograms(
    groups: Sequence[Floats], bins: int | None
) -> tuple[Floats, Floats] | tuple[None, None]:
    present = [group[~np.isnan(group)] for group in groups]
    cells_seen = np.concatenate(present) if present else np.empty(0)
    if not cells_seen.size:
        return None, None
    edges = _edges(cells_seen, bins)
    counts = np.array([np.histogram(group, bins=edges)[0] for group in present])
    rows = np.array([max(1, group.size) for group in present])[:, np.newaxis]
    return edges, counts / rows / np.diff(edges)


def _edges(column: Floats, bins: int | None) -> Floats:
    """Return a histogram's bins: few whole numbers get one each, else by Rice's rule."""
    low, high = column.min(), column.max()
    is_large = max(-low, high) >= _NO_HALVES
    if not is_large and bins is None and high - low <= 40 and (column == np.rint(column)).all():
        return np.arange(low - 0.5, high + 1)
    count = int(np.clip(2 * np.cbrt(column.size), 5, 40)) if bins is None else bins
    margin = 1e-3 * max(-low, high) if is_large and high - low < 1e-12 * max(-low, high) else 0.0
    return np.histogram_bin_edges(column, count, (low - margin, high + margin))


def _range(means: Floats, spread: Floats, groups: Sequence[Floats]) -> tuple[float, float]:
    ends = [means - 2.8 * spread, means + 2.8 * spread, *groups]
    every = np.concatenate(ends)
    every = every[~np.isnan(every)]
    if not every.size:
        return 0.0, 1.0
    low, high = float(every.min()), float(every.max())
    room = 0.05 * max(abs(low), 1.0) if low == high else 0.0
    return low - room, high + room
