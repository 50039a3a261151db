"""A panel of a column of categories: a bar per class for each of the most frequent ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.display.plots import _canvas, palette

__all__ = ["BarPanel"]

_MOST = 8  # categories of a panel
_MOST_BARS = 36  # categories times classes


@dataclass(frozen=True, eq=False)
class BarPanel:
    """One column: the share of each category in each class."""

    name: str
    categories: Sequence[str]  # the most frequent categories, the most frequent first
    # (n_shown, n_categories): their shares in each class, as the model believes
    shares: NDArray[np.float64]
    left_out: int = 0  # how many categories more there are

    @classmethod
    def of(
        cls,
        name: str,
        categories: NDArray[Any],
        shares: NDArray[np.float64],
        weight: NDArray[np.float64],
    ) -> BarPanel:
        """Take the most frequent of all categories; the weight is that of all classes."""
        most = max(3, min(_MOST, _MOST_BARS // len(shares)))
        at = np.argsort(-weight, kind="stable")[:most]
        texts = [str(category) for category in categories[at].tolist()]
        return cls(name, texts, shares[:, at], categories.size - at.size)

    def draw_histograms(self, ax: Any) -> list[Any]:
        """Draw nothing: the bars are all there is."""
        return []

    def draw(self, ax: Any) -> list[Any]:
        """Draw the bars, and return a container per class."""
        n_classes = len(self.shares)
        thick = 0.84 / n_classes
        rows = np.arange(len(self.categories), dtype=np.float64)
        return [
            ax.barh(rows - 0.42 + (k + 0.5) * thick, shares, thick * 0.94, color=palette.colour(k))
            for k, shares in enumerate(self.shares)
        ]

    def dress(self, ax: Any, *, first: bool, width: int) -> None:
        """Name the axes."""
        _canvas.tidy(ax, grid="x")
        ax.spines["left"].set_visible(False)
        names = [_canvas.caption(name, max(6, width // 3)) for name in self.categories]
        ax.set_yticks(range(len(names)), names)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(max(1, len(names)) - 0.5, -0.5)  # the most frequent on top
        ax.set_xlim(0, 1.04 * float(self.shares.max(initial=0.0)) or 1.0)
        ax.locator_params(axis="x", nbins=4)
        ax.set_title(_canvas.caption(self.name, width), loc="left", fontsize=10, color=palette.INK)
        more = f"share in its class; {self.left_out:,} categories more" if self.left_out else ""
        ax.set_xlabel(more or "share in its class", fontsize=9, color=palette.FAINT)
        if not names:
            ax.set_xticks([])
            style = {"ha": "center", "color": palette.FAINT}
            ax.text(0.5, 0.5, "no cell seen", transform=ax.transAxes, **style)
