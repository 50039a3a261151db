"""Waterfall: how the terms of a row add up to the odds of its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively.display.plots import _canvas, palette
from naively.errors import NaivelyError
from naively.explanations.row_terms import RowTerms

__all__ = ["WaterfallDisplay"]

_FOR, _AGAINST = palette.colour(0), palette.colour(1)
_LABEL = 40  # characters of a term


@dataclass(eq=False, repr=False, kw_only=True)
class WaterfallDisplay:
    """How the terms of a row add up to the log-odds of one class against another.

    Bars begin where the one above ends: at 0 both classes are equally probable, and where the last
    bar ends is the answer. What speaks for the class goes to the right.

    It is recommended to create a display with `from_estimator` or `from_explanation`.

    Parameters
    ----------
    terms : RowTerms
        Prior, bias and terms of the row, the strongest first.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    bars_ : matplotlib BarContainer
        One bar per term, the first on top.

    Examples
    --------
    >>> from naively import GaussianNB
    >>> from naively.plots import WaterfallDisplay
    >>> model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
    >>> display = WaterfallDisplay.from_estimator(model, [[4.0]])
    >>> [round(float(bar.get_width()), 2) for bar in display.bars_]
    [0.0, 3.5]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    terms: RowTerms

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, row: int = 0, **options: Any) -> Self:
        """Explain rows by a fitted estimator of naively's, and draw one of them.

        Parameters
        ----------
        estimator : fitted estimator
            With `explain`.
        X : table
            Rows.
        row : int, default=0
            Which row to draw.
        **options
            As for `from_explanation`.
        """
        if not hasattr(estimator, "explain"):
            raise NaivelyError(
                f"a waterfall needs an estimator of naively's; got {type(estimator).__name__}."
            )
        return cls.from_explanation(estimator.explain(X), row, **options)

    @classmethod
    def from_explanation(
        cls,
        explanation: Any,
        row: int = 0,
        *,
        of: Any = None,
        against: Any = None,
        max_terms: int = 12,
        ax: Any = None,
    ) -> Self:
        """Draw a row of what `explain` returned.

        Parameters
        ----------
        explanation : Explanation
            Of some rows.
        row : int, default=0
            Which of them.
        of, against : labels, optional
            The classes that are compared; the answer and the next most probable class by default.
        max_terms : int, default=12
            How many terms have a bar of their own, the strongest; the others share one.
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.

        Returns
        -------
        WaterfallDisplay
            Drawn.
        """
        if max_terms < 1:
            raise NaivelyError(f"max_terms must be at least 1; got {max_terms}.")
        found = RowTerms.read(explanation, row, of=of, against=against, most=max_terms)
        return cls(terms=found).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.

        Returns
        -------
        WaterfallDisplay
            Itself.
        """
        every = (*self.terms.constants, *self.terms.terms)
        self.ax_ = ax = _canvas.one_axes(ax, (7.6, 1.5 + 0.32 * len(every)))
        self.figure_ = ax.figure
        width = _finite(np.array([term.log_odds for term in every]))
        start = np.concatenate([[0.0], np.cumsum(width)[:-1]])
        y = np.arange(len(every))
        colours = [_FOR if value >= 0 else _AGAINST for value in width]
        self.bars_ = ax.barh(y, width, 0.66, left=start, color=colours)
        for at, end in zip(y[:-1], (start + width)[:-1], strict=True):
            ax.plot([end, end], [at, at + 1], color=palette.FAINT, linewidth=0.7, zorder=0)
        ax.axvline(0.0, color=palette.INK, linewidth=0.9, zorder=0)
        self._label(ax, width, start)
        ax.set_yticks(y, [_canvas.caption(term.label, _LABEL) for term in every])
        ax.invert_yaxis()
        self._dress(ax)
        return self

    def _label(self, ax: Any, width: NDArray[np.float64], start: NDArray[np.float64]) -> None:
        """Write what each term adds beside its bar, on the side it points to."""
        every = (*self.terms.constants, *self.terms.terms)
        ends = np.concatenate([start, start + width, [0.0]])
        low, high = float(ends.min()), float(ends.max())
        room = 0.14 * ((high - low) or 1.0)
        ax.set_xlim(low - room, high + room)
        for at, (term, w, left) in enumerate(zip(every, width, start, strict=True)):
            side = 1 if w >= 0 else -1
            style = {"va": "center", "ha": "left" if side > 0 else "right", "fontsize": 8.5}
            where = {"xytext": (4 * side, 0), "textcoords": "offset points"}
            text = f"{term.log_odds:+.2f}".replace("inf", "∞")
            ax.annotate(text, (left + w, at), color=palette.INK, **where, **style)

    def _dress(self, ax: Any) -> None:
        _canvas.tidy(ax, grid="x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        found = self.terms
        of, against = (_canvas.caption(name, 24) for name in (found.of, found.against))
        ax.set_xlabel(f"log-odds: ← {against}    {of} →", color=palette.INK)
        total = f"{found.total.log_odds:.2f}".replace("inf", "∞")
        note = f"p = {found.p_of:.4f} against {found.p_against:.4f}; log-odds {total}."
        _canvas.heading(ax, f"Row {found.row}: {of} rather than {against}", [note], width=72)


def _finite(width: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return widths that can be drawn: infinity is longer than all others together."""
    finite = np.isfinite(width)
    far = 1.0 + 1.2 * float(np.abs(width[finite]).sum())
    return np.where(finite, width, np.sign(width) * far)
