"""Drift: how far each column has moved, beside the bounds of severity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from naively.display.plots import _canvas, palette
from naively.drifts.tables import title_of
from naively.drifts.value import BOUNDS, LEVELS
from naively.errors import NaivelyError

__all__ = ["DriftDisplay"]

_COLOURS = (palette.REST, palette.REST, "#E69F00", "#D55E00")  # by severity


@dataclass(eq=False, repr=False, kw_only=True)
class DriftDisplay:
    """How far each column has moved: a bar for all rows, and a mark for each class.

    Distances are from 0 to 1; bars of columns that may have changed by chance are grey. It is
    recommended to create a display with `from_drift`.

    Parameters
    ----------
    drift : Drift
        What `naively.drift` returned.
    max_columns : int, default=20
        How many columns are drawn: those that have changed most.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    bars_ : matplotlib BarContainer
        One bar per column, the one that has changed most on top.

    Examples
    --------
    >>> import numpy as np
    >>> from naively import drift
    >>> rng = np.random.default_rng(0)
    >>> display = drift(rng.normal(size=(900, 2)), rng.normal(1.0, size=(900, 2))).plot()
    >>> len(display.bars_)
    2
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    drift: Any
    max_columns: int = 20

    @classmethod
    def from_drift(cls, drift: Any, *, max_columns: int = 20, ax: Any = None) -> Self:
        """Draw what `naively.drift` returned.

        Parameters
        ----------
        drift : Drift
            Two sets of rows compared.
        max_columns : int, default=20
            How many columns are drawn: those that have changed most.
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.
        """
        if max_columns < 1:
            raise NaivelyError(f"max_columns must be at least 1; got {max_columns}.")
        return cls(drift=drift, max_columns=max_columns).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.
        """
        found = self.drift
        at = found.order[: self.max_columns]
        self.ax_ = ax = _canvas.one_axes(ax, (7.6, 1.9 + 0.3 * at.size))
        self.figure_ = ax.figure
        y, distance = np.arange(at.size), found.measures.distance[:, at]
        levels = found.levels[0, at].tolist()
        colours = [_COLOURS[level] for level in levels]
        self.bars_ = ax.barh(y, np.nan_to_num(distance[0]), 0.62, color=colours)
        marked, faint = found.levels[1:, at] > 0, {"s": 22, "linewidth": 0.8, "zorder": 3}
        for inside, style in ((marked, palette.INK), (~marked, palette.REST)):
            k, j = np.nonzero(inside & ~np.isnan(distance[1:]))
            ax.scatter(distance[1:][k, j], j, marker="|", color=style, **faint)
        for bound, name in zip(BOUNDS, LEVELS[2:], strict=True):
            ax.axvline(bound, color=palette.FAINT, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
            ax.annotate(
                name,
                (bound, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(3, -2),
                textcoords="offset points",
                va="top",
                fontsize=8,
                color=palette.FAINT,
            )
        ax.set_yticks(y, [_canvas.caption(found.columns[j], 32) for j in at.tolist()])
        ax.set_xlim(0.0, max(0.3, 1.08 * float(np.nan_to_num(distance).max(initial=0.0))))
        ax.set_ylim(at.size - 0.4, -1.2)
        self._dress(ax, at.size)
        return self

    def _dress(self, ax: Any, n_shown: int) -> None:
        _canvas.tidy(ax, grid="x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("Jensen-Shannon distance beyond chance", color=palette.INK)
        found = self.drift
        more = len(found.columns) - n_shown
        notes = [
            "Bars are all rows, ticks are classes." if found.classes.size else "",
            "What is grey may be chance, or is too small to matter.",
            f"{more:,} columns that have changed less are not shown." if more else "",
        ]
        _canvas.heading(ax, title_of(found), [" ".join(note for note in notes if note)], width=98)
