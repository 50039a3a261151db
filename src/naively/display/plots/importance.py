"""Importance of columns: how much the log loss of unseen rows grows without each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from naively.display.plots import _canvas, palette
from naively.errors import NaivelyError
from naively.importance import Importance

__all__ = ["ImportanceDisplay"]

_WORSE, _BETTER = palette.colour(0), palette.colour(1)  # without the column
_LABEL = 32  # characters of a name


@dataclass(eq=False, repr=False, kw_only=True)
class ImportanceDisplay:
    """How much the log loss of unseen rows grows when a column is left out.

    Bars are the increase, with one standard error; below 0 the model predicts better without the
    column.

    It is recommended to create a display with `from_estimator` or `from_importance`.

    Parameters
    ----------
    importance : Importance
        Of all columns.
    max_columns : int, default=20
        How many columns are drawn, the most important ones.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    bars_ : matplotlib BarContainer
        One bar per column, the first on top.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from naively import GaussianNB
    >>> from naively.plots import ImportanceDisplay
    >>> model = GaussianNB(calibration="weights").fit(*load_iris(return_X_y=True))
    >>> display = ImportanceDisplay.from_estimator(model)
    >>> [round(float(bar.get_width()), 2) for bar in display.bars_]
    [0.41, 0.08, 0.02, 0.0]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    importance: Importance
    max_columns: int = 20

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, **options: Any) -> Self:
        """Measure the importance of the columns of a fitted estimator, and draw.

        Parameters
        ----------
        estimator : fitted estimator
            With `importance_`, or with rows to measure it on.
        X, y : table and labels, optional
            Rows that the model has not learned from; None for its own sample.
        **options
            As for `from_importance`.
        """
        if not hasattr(type(estimator), "importance_"):
            raise NaivelyError(
                f"importance needs an estimator of naively's; got "
                f"{type(estimator).__module__}.{type(estimator).__qualname__}."
            )
        found = estimator.importance_ if X is None else estimator.importance(X, y)
        return cls.from_importance(found, **options)

    @classmethod
    def from_importance(
        cls, importance: Importance, *, max_columns: int = 20, ax: Any = None
    ) -> Self:
        """Draw what ``importance_`` or `importance` returned.

        Parameters
        ----------
        importance : Importance
            Of all columns.
        max_columns : int, default=20
            How many columns are drawn, the most important ones.
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.

        Returns
        -------
        ImportanceDisplay
            Drawn.
        """
        if max_columns < 1:
            raise NaivelyError(f"max_columns must be at least 1; got {max_columns}.")
        return cls(importance=importance, max_columns=max_columns).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.

        Returns
        -------
        ImportanceDisplay
            Itself.
        """
        found = self.importance
        at = found.order[: self.max_columns]
        self.ax_ = ax = _canvas.one_axes(ax, (7.6, 1.7 + 0.32 * at.size))
        self.figure_ = ax.figure
        y = np.arange(at.size)
        error = {"xerr": found.error[at], "error_kw": {"ecolor": palette.FAINT, "elinewidth": 1}}
        colours = np.where(found.increase[at] >= 0, _WORSE, _BETTER).tolist()
        self.bars_ = ax.barh(y, found.increase[at], 0.62, color=colours, **error)
        ax.axvline(0.0, color=palette.INK, linewidth=0.9, zorder=0)
        ax.set_yticks(y, [_canvas.caption(found.columns[j], _LABEL) for j in at])
        ax.invert_yaxis()
        _canvas.tidy(ax, grid="x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("increase of the log loss without the column", color=palette.INK)
        notes = [f"With all columns, the log loss of {found.n_rows:,} unseen rows is "]
        notes[0] += f"{found.loss:.4f}. Lines are standard errors."
        if at.size < len(found.columns):
            notes.append(f"The {at.size} most important of {len(found.columns):,} columns.")
        _canvas.heading(ax, "Importance of columns", [" ".join(notes)], width=84)
        return self
