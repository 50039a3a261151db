"""How well families fit: histograms of the probability integral transform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from naively.diagnosis.fits import Fit
from naively.display.plots import _canvas, palette
from naively.errors import NaivelyError

__all__ = ["FitDisplay"]


@dataclass(eq=False, repr=False, kw_only=True)
class FitDisplay:
    r"""Whether the cells of a column are distributed as its family says, class by class.

    Each cell is replaced by the probability of at most as much, F(x), in its own class. Where the
    family fits, these are uniform: all bars are as high as the line, up to chance, which the band
    shows for 95 of 100 bars. Bars that are high in the middle: the family is too wide. High at both
    ends: it is too narrow. Sloping: the cells are skewed, or moved.

    It is recommended to create a display with `from_diagnosis` or `from_estimator`.

    Parameters
    ----------
    fits : sequence of Fit
        What to draw, a panel each.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes
        The panels.
    figure_ : matplotlib Figure or SubFigure
        Their figure.
    bars_ : list of matplotlib BarContainer
        One per panel.

    Examples
    --------
    >>> import numpy as np
    >>> from naively import NaiveBayes
    >>> from naively.plots import FitDisplay
    >>> X = np.random.default_rng(0).exponential(size=(200, 1))
    >>> model = NaiveBayes(families={0: "gaussian"}).fit(X, ["a"] * 100 + ["b"] * 100)
    >>> display = FitDisplay.from_estimator(model)
    >>> len(display.bars_)
    1
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    fits: Sequence[Fit]

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> Self:
        """Diagnose a fitted estimator of naively's, and draw.

        Parameters
        ----------
        estimator : fitted estimator
            One of naively's, with a sample of rows.
        **options
            As for `from_diagnosis`.
        """
        from naively.diagnosis import diagnose

        return cls.from_diagnosis(diagnose(estimator), **options)

    @classmethod
    def from_diagnosis(
        cls, diagnosis: Any, *, column: str | None = None, max_panels: int = 6, ax: Any = None
    ) -> Self:
        """Draw the columns whose families fit worst, each in its worst class; or all of one column.

        Parameters
        ----------
        diagnosis : Diagnosis
            What `naively.diagnose` returned.
        column : str, optional
            A column, of which all classes are drawn; None for the columns that fit worst.
        max_panels : int, default=6
            How many panels are drawn.
        ax : matplotlib Axes, optional
            A subplot whose place the panels take; None for a new figure.
        """
        if max_panels < 1:
            raise NaivelyError(f"max_panels must be at least 1; got {max_panels}.")
        ascending = sorted(diagnosis.fits, key=lambda fit: fit.distance)
        fits = list({fit.place: fit for fit in ascending}.values())  # the worst class of each
        fits.sort(key=lambda fit: -fit.distance)
        if column is not None:
            fits = [fit for fit in diagnosis.fits if fit.column == column]
        if not fits:
            known = sorted({fit.column for fit in diagnosis.fits})
            what = f"column {column!r}" if column is not None else "any column"
            raise NaivelyError(
                f"there must be a fit to draw; the diagnosis has none of {what}"
                + (f", but of {', '.join(map(repr, known[:10]))}." if known else ".")
            )
        return cls(fits=fits[:max_panels]).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A subplot whose place the panels take; None for a new figure.

        Returns
        -------
        FitDisplay
            Itself.
        """
        rows, across = _canvas.grid_of(len(self.fits), 3)
        self.figure_ = _canvas.panels(ax, (2.9 * across, 1.1 + 2.1 * rows))
        self.ax_ = self.figure_.subplots(rows, across, squeeze=False, sharex=True)
        self.bars_: list[Any] = []
        room = _canvas.room_for_text(self.figure_, across, 0.5)
        for panel, fit in zip(self.ax_.flat, self.fits, strict=False):
            self._panel(panel, fit, room)
        for panel in self.ax_.flat[len(self.fits) :]:
            panel.set_visible(False)
        note = (
            "Share of the cells by F(x), the family's probability of at most x. Where the family "
            "fits, bars are as high as the line, and 95 of 100 within the band."
        )
        _canvas.heading(self.figure_, "Does the family fit?", [note], width=int(across * room))
        return self

    def _panel(self, panel: Any, fit: Fit, room: int) -> None:
        n = fit.histogram.size
        width, expected = 1 / n, 1 / n
        chance = 1.96 * np.sqrt(expected * (1 - expected) / fit.n_rows)
        panel.axhspan(
            max(0.0, expected - chance), expected + chance, color=palette.GRID, linewidth=0
        )
        bars = panel.bar(
            np.arange(n) * width,
            fit.histogram,
            width,
            align="edge",
            color=palette.colour(0),
            alpha=0.85,
        )
        panel.axhline(expected, color=palette.INK, linewidth=0.9)
        panel.set_xlim(0, 1)
        panel.set_ylim(bottom=0)
        _canvas.tidy(panel)
        name = _canvas.caption(f"{fit.column}, {fit.label}", room)
        panel.set_title(
            f"{name}\n{fit.family}: distance {fit.distance:.2f}",
            loc="left",
            fontsize=8.5,
            color=palette.INK,
        )
        self.bars_.append(bars)
