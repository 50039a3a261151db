"""What all displays are, and the parameters that mean the same in each of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from naively.display.plots import canvas


class Display:
    """A picture: a ``from_...`` computes it once and draws it, `plot` draws it again elsewhere.

    Parameters that mean the same in every display are documented here alone.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        Where to draw; None for a new figure. Several panels take the place of a subplot.
    estimator, other : fitted classifier
        Of scikit-learn's contract; another to draw with it or beside it.
    X, y : table and labels
        Rows, and their classes.
    names : sequence of str, optional
        What to call the models.
    class_names, feature_names : sequence of str, optional
        What to write instead of the model's own labels and names.
    columns : sequence of str or int, optional
        The columns that are drawn, by name or number. None for all, or for as many as there is
        room for of those that separate the classes best.
    row : int
        Which of the rows is drawn.
    of, against : labels, optional
        The classes that are compared; the answer and the next most probable class by default.
    max_columns, max_classes, ... : int
        How many are drawn at most: those that matter most, which the picture says.
    notes : sequence of str
        What is said under the title.
    legend : bool, default=True
        Whether to draw it.
    **options
        Further parameters of the display, and of `plot`.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of them
        Where it was drawn: one, or one for each panel.
    figure_ : matplotlib Figure or SubFigure
        Its figure.
    """

    ax_: Any
    figure_: Any

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw."""

    def _one_axes(self, ax: Any, width: float, height: float) -> Any:
        self.ax_ = canvas.one_axes(ax, (width, height))
        self.figure_ = self.ax_.figure
        return self.ax_

    def _panels(self, ax: Any, size: tuple[float, float], grid: tuple[int, int], **how: Any) -> Any:
        """Return the axes of a grid of panels."""
        self.figure_ = canvas.panels(ax, size, square=how.pop("square", False))
        self.ax_ = self.figure_.subplots(*grid, squeeze=False, **how)
        return self.ax_
