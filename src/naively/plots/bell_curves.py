"""Bell curves: what a model believes of each column in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.exceptions import NaivelyError
from naively.families.gaussian import density
from naively.plots import _canvas, palette
from naively.plots._choice import choose_classes, choose_columns
from naively.plots._read import bells_of, cells, class_captions, codes_of, column_names

__all__ = ["BellCurveDisplay", "Panel"]


@dataclass(frozen=True, eq=False)
class Panel:
    """One column: a bell curve per class and, perhaps, histograms.

    Parameters
    ----------
    name : str
        The column's name.
    x, density : ndarray of shape (n_shown, n_points)
        The curve of each class. Where a variance is zero there is no curve: NaN.
    means : ndarray of shape (n_shown,)
        Where each curve has its peak; NaN in a column that was never seen.
    edges : ndarray of shape (n_bins + 1,), optional
        The histograms' bins.
    heights : ndarray of shape (n_shown, n_bins), optional
        The share of its class's cells in each bin, divided by the bin's width.
    """

    name: str
    x: NDArray[np.float64]
    density: NDArray[np.float64]
    means: NDArray[np.float64]
    edges: NDArray[np.float64] | None = None
    heights: NDArray[np.float64] | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class BellCurveDisplay:
    r"""One small panel per column, in it a curve per class over a histogram of its cells.

    .. math:: f(x \mid \mu_{kj}, \sigma^2_{kj})

    A curve far from its histogram shows a column that is not Gaussian; curves that lie on each
    other show a column that says little. Of many columns, those are drawn that separate the
    classes best, the best first.

    It is recommended to create a display with `from_estimator`.

    Parameters
    ----------
    panels : sequence of Panel
        What to draw.
    class_names : sequence of str
        Of the classes shown.
    name : str
        The classifier's name.
    notes : sequence of str
        What must be said about the choice of columns and classes.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes
        One per panel.
    figure_ : matplotlib Figure or SubFigure
        Their figure.
    curves_ : list of list of matplotlib Line2D
        By panel and class.
    histograms_ : list of list of matplotlib StepPatch
        By panel and class; empty without data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from naively import GaussianNB
    >>> from naively.plots import BellCurveDisplay
    >>> iris = load_iris(as_frame=True)
    >>> model = GaussianNB().fit(iris.data, iris.target)
    >>> display = BellCurveDisplay.from_estimator(model, iris.data, iris.target, max_columns=2)
    >>> [panel.name for panel in display.panels]
    ['petal width (cm)', 'petal length (cm)']
    >>> display.notes
    ['The 2 columns of 4 that separate the classes best.']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    panels: Sequence[Panel]
    class_names: Sequence[str]
    name: str = "the model"
    notes: Sequence[str] = ()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        columns: Sequence[str | int] | None = None,
        max_columns: int = 9,
        max_classes: int = 12,
        bins: int | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the curves and histograms, and draw them.

        Parameters
        ----------
        estimator : fitted GaussianNB
            naively's, or scikit-learn's.
        X, y : table and labels, optional
            The rows for the histograms; both or neither.
        columns : sequence of str or int, optional
            Which columns, by name or number. None for all, or the most telling.
        max_columns : int, default=9
            If there are more, those that separate the classes best are shown.
        max_classes : int, default=12
            If there are more, those that stand apart most are shown.
        bins : int, optional
            Bins of the histograms; None for a number that suits the rows.
        feature_names, class_names : sequence of str, optional
            What to write instead of the model's own names and labels.
        ax : matplotlib Axes, optional
            A subplot whose place the panels take; None for a new figure.
        **options
            As for `plot`.

        Returns
        -------
        BellCurveDisplay
            Drawn; call `plot` to draw it again elsewhere.
        """
        bells = bells_of(estimator, "drawing bell curves")
        if (X is None) != (y is None):
            raise NaivelyError("X and y go together: give both, or neither.")
        names = column_names(estimator, bells.means.shape[1], feature_names)
        chosen = choose_columns(bells.summary, names, columns, max_columns)
        classes = choose_classes(bells.summary, max_classes, chosen.at)
        rows = codes = None
        if X is not None and y is not None:
            rows = cells(X, chosen.at, estimator)
            codes = codes_of(y, np.asarray(estimator.classes_), len(rows))
        panels = [
            _panel(
                names[j],
                bells.means[classes.at, j],
                bells.variances[classes.at, j],
                [] if rows is None else [rows[codes == k, place] for k in classes.at],
                bins,
            )
            for place, j in enumerate(chosen.at)
        ]
        captions = class_captions(estimator.classes_, class_names)
        display = cls(
            panels=panels,
            class_names=[captions[k] for k in classes.at],
            name=type(estimator).__name__,
            notes=[note for note in (chosen.note, classes.note) if note],
        )
        return display.plot(ax, **options)

    def plot(self, ax: Any = None, *, across: int = 3, legend: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A subplot whose place the panels take; None for a new figure.
        across : int, default=3
            At most so many panels beside each other.
        legend : bool, default=True
            Whether to draw it.

        Returns
        -------
        BellCurveDisplay
            Itself.
        """
        rows, columns = _canvas.grid_of(len(self.panels), across)
        self.figure_ = _canvas.panels(ax, (2.9 * columns + 1.7, 2.15 * rows + 0.8))
        if ax is not None:
            rows, columns = _canvas.grid_of(
                len(self.panels), min(across, _canvas.room_for_panels(self.figure_))
            )
        self.ax_ = self.figure_.subplots(rows, columns, squeeze=False).ravel()
        for spare in self.ax_[len(self.panels) :]:
            spare.remove()
        self.ax_ = self.ax_[: len(self.panels)]
        self.histograms_ = [_draw_bars(*both) for both in zip(self.ax_, self.panels, strict=True)]
        self.curves_ = [_draw_curves(*both) for both in zip(self.ax_, self.panels, strict=True)]
        width = _canvas.room_for_text(self.figure_, columns)
        for place, (axes, panel) in enumerate(zip(self.ax_, self.panels, strict=True)):
            _dress(axes, panel, first=place % columns == 0, width=width)
        _canvas.heading(self.figure_, f"Bell curves of {self.name}", self.notes)
        if legend:
            names = [_canvas.caption(name) for name in self.class_names]
            _canvas.legend(self.figure_, self.curves_[0], names)
        return self


def _panel(
    name: str,
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
    groups: Sequence[NDArray[np.float64]],
    bins: int | None,
) -> Panel:
    spread = np.sqrt(variances)[:, np.newaxis]
    low, high = _range(means, spread[:, 0], groups)
    # the whole range, and enough points where a narrow curve is steep
    wide = np.broadcast_to(np.linspace(low, high, 201), (means.size, 201))
    close = np.clip(means[:, np.newaxis] + spread * np.linspace(-4, 4, 121), low, high)
    x = np.sort(np.hstack([wide, close]), axis=1)
    positive = np.where(spread > 0, spread, np.nan)
    curves = density(x, means[:, np.newaxis], positive**2)
    present = [group[~np.isnan(group)] for group in groups]
    cells_seen = np.concatenate(present) if present else np.empty(0)
    if not cells_seen.size:
        return Panel(name, x, curves, means)
    edges = _edges(cells_seen, bins)
    counts = np.array([np.histogram(group, bins=edges)[0] for group in present])
    rows = np.array([max(1, group.size) for group in present])[:, np.newaxis]
    return Panel(name, x, curves, means, edges, counts / rows / np.diff(edges))


def _edges(column: NDArray[np.float64], bins: int | None) -> NDArray[np.float64]:
    """Return a histogram's bins: few whole numbers get one each, else by Rice's rule."""
    low, high = column.min(), column.max()
    if bins is None and high - low <= 40 and (column == np.rint(column)).all():
        return np.arange(low - 0.5, high + 1)
    count = int(np.clip(2 * np.cbrt(column.size), 5, 40)) if bins is None else bins
    edges: NDArray[np.float64] = np.histogram_bin_edges(column, bins=count)
    return edges


def _range(
    means: NDArray[np.float64], spread: NDArray[np.float64], groups: Sequence[NDArray[np.float64]]
) -> tuple[float, float]:
    ends = [means - 2.8 * spread, means + 2.8 * spread, *groups]
    every = np.concatenate(ends)
    every = every[~np.isnan(every)]
    return (float(every.min()), float(every.max())) if every.size else (0.0, 1.0)


def _draw_bars(ax: Any, panel: Panel) -> list[Any]:
    if panel.heights is None:
        return []
    alpha = 0.22 if len(panel.heights) <= 4 else 0.09  # many lie over each other
    return [
        ax.stairs(heights, panel.edges, fill=True, color=palette.colour(place), alpha=alpha)
        for place, heights in enumerate(panel.heights)
    ]


def _draw_curves(ax: Any, panel: Panel) -> list[Any]:
    drawn = []
    for place, (x, y, mean) in enumerate(zip(panel.x, panel.density, panel.means, strict=True)):
        style = {"color": palette.colour(place), "linestyle": palette.dash(place), "linewidth": 1.8}
        spike = np.isnan(y).all() and not np.isnan(mean)  # of variance zero: all at one point
        drawn.append(ax.axvline(mean, **style) if spike else ax.plot(x, y, **style)[0])
    return drawn


def _dress(ax: Any, panel: Panel, *, first: bool, width: int) -> None:
    _canvas.tidy(ax)
    ax.spines["left"].set_visible(False)
    ax.set_yticks([])
    ax.set_ylim(0, _top(panel))
    ax.locator_params(axis="x", nbins=5)
    ax.set_title(_canvas.caption(panel.name, width), loc="left", fontsize=10, color=palette.INK)
    if first:
        ax.set_ylabel("density", fontsize=9, color=palette.FAINT)
    if np.isnan(panel.means).all():
        ax.set_xticks([])
        ax.text(0.5, 0.5, "no cell seen", transform=ax.transAxes, ha="center", color=palette.FAINT)


def _top(panel: Panel) -> float:
    """Return where the panel ends: a spike may run out of it, so that the others can be seen."""
    peaks = np.sort(panel.density[~np.isnan(panel.density).all(axis=1)].max(axis=1, initial=0.0))
    if not peaks.size:
        return 1.0
    top = min(peaks[-1], 5 * peaks[(peaks.size - 1) // 2])
    tallest = 0.0 if panel.heights is None else float(panel.heights.max())
    return 1.06 * max(top, min(tallest, 1.5 * top))
