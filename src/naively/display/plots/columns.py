"""Bell curves, and other curves and bars: what a model believes of each column in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from naively.data.types import Floats
from naively.display.plots import canvas
from naively.display.plots.canvas import Display
from naively.display.plots.overlap import bin_shares, category_shares, rebinned
from naively.display.plots.reading import (
    cells,
    check_bells,
    choose_classes,
    choose_columns,
    class_captions,
    codes_of,
    column_names,
    gaussians_of,
    ours,
)
from naively.errors import NaivelyError
from naively.estimators.state import snapshot
from naively.families import gaussian
from naively.families.gaussian import Gaussian
from naively.model.terms import Term, top_words
from naively.statistics import Bins
from naively.statistics.summary import Summary

_FURTHER = "Columns of numbers are described by several families: a smooth curve, and steps."
_NO_HALVES = 2.0**52  # from here on, there is no number between whole ones
_MAX_CATEGORIES = 8  # of a panel
_MAX_BARS = 36  # categories times classes
_MAX_STEPS = 2000
_MAX_WORDS = 8


@dataclass(eq=False, repr=False, kw_only=True)
class BellCurveDisplay(Display):
    r"""One small panel per column, in it a curve per class over a histogram of its cells.

    .. math:: f(x \mid \mu_{kj}, \sigma^2_{kj})

    A curve far from its histogram shows a column that is not Gaussian; curves that lie on each
    other show a column that says little. Of many columns, those are drawn that separate the
    classes best, the best first.

    Of a `NaiveBayes`, a column of numbers has a curve for each of its families: smooth for a
    Student t, in steps for a histogram, a Poisson or a Bernoulli. A column of categories has bars,
    their shares in each class.

    Parameters
    ----------
    panels : sequence of Panel and BarPanel
        What to draw: curves of numbers, bars of categories.
    class_names : sequence of str
        Of the classes shown.
    name : str
        The classifier's name.
    title : str
        What the panels show.

    Attributes
    ----------
    curves_ : list of list of matplotlib Line2D, or BarContainer for categories
        By panel and class; those of a column's further families come after.
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
    """

    panels: Sequence[Panel | BarPanel]
    class_names: Sequence[str]
    name: str = "the model"
    notes: Sequence[str] = ()
    title: str = "Bell curves"

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
        estimator : fitted GaussianNB or NaiveBayes
            naively's, or scikit-learn's GaussianNB.
        X, y : table and labels, optional
            The rows for the histograms; both or neither.
        bins : int, optional
            Bins of the histograms; None for a number that suits the rows.
        columns, max_columns, max_classes, feature_names, class_names, ax
            As for every `Display`.
        """
        check_is_fitted(estimator)
        estimator = snapshot(estimator)
        has_families = hasattr(estimator, "families_")
        if not has_families:
            check_bells(estimator, "drawing bell curves")
        model = ours(estimator)
        summary = model.summary_
        if (X is None) != (y is None):
            raise NaivelyError("X and y go together: give both, or neither.")
        names = column_names(estimator, summary.schema.n_columns, feature_names)
        chosen = choose_columns(summary, names, columns, max_columns)
        classes = choose_classes(summary, max_classes, chosen.at)
        groups: dict[int, list[Floats]] = {}
        if X is not None and y is not None:  # the cells of the columns of numbers, by class
            numbers = [j for j in chosen.at if j in summary.schema.numbers]
            rows = cells(X, numbers, estimator)
            codes = codes_of(y, np.asarray(estimator.classes_), len(rows))
            groups = {j: [rows[codes == k, i] for k in classes.at] for i, j in enumerate(numbers)}
        panels = [
            _panel(model, j, classes.at, names[j], groups.get(j, []), bins) for j in chosen.at
        ]
        captions = class_captions(estimator.classes_, class_names)
        further = any(isinstance(panel, Panel) and panel.more for panel in panels)
        display = cls(
            panels=panels,
            class_names=[captions[k] for k in classes.at],
            name=type(estimator).__name__,
            notes=[note for note in (chosen.note, classes.note, _FURTHER * further) if note],
            title="Columns" if has_families else "Bell curves",
        )
        return display.plot(ax, **options)

    def plot(self, ax: Any = None, *, across: int = 3, legend: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        across : int, default=3
            At most so many panels beside each other.
        """
        rows, columns = canvas.grid_of(len(self.panels), across)
        self.figure_ = canvas.panels(ax, (2.9 * columns + 1.7, 2.15 * rows + 0.8))
        if ax is not None:
            rows, columns = canvas.grid_of(
                len(self.panels), min(across, canvas.room_for_panels(self.figure_))
            )
        self.ax_ = self.figure_.subplots(rows, columns, squeeze=False).ravel()
        for spare in self.ax_[len(self.panels) :]:
            spare.remove()
        self.ax_ = self.ax_[: len(self.panels)]
        drawn = list(zip(self.ax_, self.panels, strict=True))
        self.histograms_ = [panel.draw_histograms(axes) for axes, panel in drawn]
        self.curves_ = [panel.draw(axes) for axes, panel in drawn]
        width = canvas.room_for_text(self.figure_, columns)
        for place, (axes, panel) in enumerate(drawn):
            panel.dress(axes, first=place % columns == 0, width=width)
        canvas.heading(self.figure_, f"{self.title} of {self.name}", self.notes)
        if legend:
            names = [canvas.caption(name) for name in self.class_names]
            canvas.legend(self.figure_, self.curves_[0][: len(names)], names)
        return self


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

    def draw_histograms(self, ax: Any) -> list[Any]:
        """Draw what was seen, and return a patch per class."""
        if self.heights is None:
            return []
        alpha = 0.22 if len(self.heights) <= 4 else 0.09  # many lie over each other
        return [
            ax.stairs(heights, self.edges, fill=True, color=canvas.colour(place), alpha=alpha)
            for place, heights in enumerate(self.heights)
        ]

    def draw(self, ax: Any) -> list[Any]:
        """Draw the families, and return a line per class, those of further families last."""
        drawn = []
        for place, (x, y, mean) in enumerate(zip(self.x, self.density, self.means, strict=True)):
            style = {"color": canvas.colour(place), "linestyle": canvas.dash(place)}
            spike = np.isnan(y).all() and not np.isnan(mean)  # of variance zero: all at one point
            style["linewidth"] = 1.8
            drawn.append(ax.axvline(mean, **style) if spike else ax.plot(x, y, **style)[0])
        for curves in self.more:
            for place, (x, y) in enumerate(zip(*curves, strict=True)):
                drawn += ax.plot(x, y, color=canvas.colour(place), linewidth=1, alpha=0.85)
        return drawn

    def dress(self, ax: Any, *, first: bool, width: int) -> None:
        """Name the axes."""
        _dress(ax, self.name, width, is_seen=not np.isnan(self.means).all())
        ax.set_yticks([])
        ax.set_ylim(0, self._top())
        if first:
            ax.set_ylabel("density", fontsize=9, color=canvas.FAINT)

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


@dataclass(frozen=True, eq=False)
class BarPanel:
    """One column: the share of each category in each class, or of texts with each word."""

    name: str
    categories: Sequence[str]  # the most frequent categories, the most frequent first
    # (n_shown, n_categories): their shares in each class, as the model believes
    shares: Floats
    left_out: int = 0  # how many categories more there are

    def draw_histograms(self, ax: Any) -> list[Any]:
        """Draw nothing: the bars are all there is."""
        return []

    def draw(self, ax: Any) -> list[Any]:
        """Draw the bars, and return a container per class."""
        n_classes = len(self.shares)
        thick = 0.84 / n_classes
        rows = np.arange(len(self.categories), dtype=np.float64)
        return [
            ax.barh(rows - 0.42 + (k + 0.5) * thick, shares, thick * 0.94, color=canvas.colour(k))
            for k, shares in enumerate(self.shares)
        ]

    def dress(self, ax: Any, *, first: bool, width: int) -> None:
        """Name the axes."""
        _dress(ax, self.name, width, is_seen=bool(self.categories), grid="x")
        names = [canvas.caption(name, max(6, width // 3)) for name in self.categories]
        ax.set_yticks(range(len(names)), names)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(max(1, len(names)) - 0.5, -0.5)  # the most frequent on top
        ax.set_xlim(0, 1.04 * float(self.shares.max(initial=0.0)) or 1.0)
        more = f"share in its class; {self.left_out:,} categories more" if self.left_out else ""
        ax.set_xlabel(more or "share in its class", fontsize=9, color=canvas.FAINT)


def _dress(ax: Any, name: str, width: int, *, is_seen: bool, grid: str | None = None) -> None:
    """Name a panel, and take away what says nothing."""
    canvas.tidy(ax, grid=grid)
    ax.spines["left"].set_visible(False)
    ax.set_title(canvas.caption(name, width), loc="left", fontsize=10, color=canvas.INK)
    if is_seen:
        ax.locator_params(axis="x", nbins=4 if grid else 5)
    else:
        ax.set_xticks([])
        style = {"ha": "center", "color": canvas.FAINT}
        ax.text(0.5, 0.5, "no cell seen", transform=ax.transAxes, **style)


# --- what a panel shows, read off a model ---------------------------------------------------------


def _panel(
    model: Any,
    j: int,
    classes: Sequence[int],
    name: str,
    groups: Sequence[Floats],
    bins: int | None,
) -> Panel | BarPanel:
    """Draw what families believe of a column, over groups of cells, one per class."""
    summary, terms = model.summary_, model.model_.by_column[j]
    schema = summary.schema
    if j in schema.undecided:
        unknown = np.full(len(classes), np.nan)
        nothing = np.full((len(classes), 1), np.nan)
        return Panel(name, nothing, nothing, unknown)
    if j in schema.texts:
        return _panel_of_words(name, terms[0][0], summary, classes)
    if j in schema.categories:
        place = schema.categories.index(j)
        tally = summary.tally(place)
        shares = category_shares(tally, terms[0][0].family)[classes]
        most = max(3, min(_MAX_CATEGORIES, _MAX_BARS // len(classes)))
        at = np.argsort(-tally.sum(axis=0), kind="stable")[:most]
        labels = [str(label) for label in summary.categories[place][at].tolist()]
        return BarPanel(name, labels, shares[:, at], tally.shape[1] - at.size)
    i = schema.numbers.index(j)
    known = gaussians_of(model)
    means, spread = known.mean[classes, i], np.sqrt(known.variance[classes, i])
    low, high = _range(means, spread, groups)
    edges, heights = _histograms(groups, bins)
    close = means[:, np.newaxis] + spread[:, np.newaxis] * np.linspace(-4, 4, 121)
    points = np.concatenate([np.linspace(low, high, 201), close[~np.isnan(close)]])
    x = np.unique(np.clip(points, low, high))
    cut = np.linspace(low, high, 25) if edges is None else edges
    weight = None if summary.schema.edges is None else summary.bins.values[:, i].sum(axis=0)
    curves = [_curves(term, place, weight, classes, x, cut) for term, place in terms]
    return Panel(name, *curves[0], means, edges, heights, curves[1:])


def _panel_of_words(name: str, term: Term, summary: Summary, classes: Sequence[int]) -> BarPanel:
    """Show words that speak for the classes shown, and the share of documents with them."""
    found = top_words(term, summary.words[term.at], _MAX_WORDS)
    ranked = [one for rank in zip_longest(*(found[k] for k in classes)) for one in rank]
    counts = {one.word: one.counts[classes] for one in ranked if one is not None}
    seen = np.maximum(summary.class_weight[classes], np.finfo(float).tiny)
    kept = list(counts)[: max(_MAX_WORDS, len(classes))]
    shares = np.array([counts[word] for word in kept]).reshape(len(kept), -1) / seen
    return BarPanel(name, kept, shares.T)


def _curves(
    term: Term, place: int, weight: Any, classes: Sequence[int], x: Floats, edges: Floats
) -> tuple[Floats, Floats]:
    """Return points and densities by class: at x, or in steps between edges.

    Whole numbers have probabilities, which are drawn in steps of width 1, unless that would be
    more steps than can be seen.
    """

    def log_density(cells: Floats) -> Floats:
        if isinstance(term.family, Gaussian):  # without a look at the other columns
            known = term.parameters
            mean, variance = known.mean[classes, place], known.variance[classes, place]
            variance = np.where(variance > 0, variance, np.nan)
            return gaussian.log_density(cells, mean[:, np.newaxis], variance[:, np.newaxis])
        return np.asarray(term.log_density_of(place, cells)[:, classes].T)

    if term.family.reads is Bins:
        cuts, knots = (part[place] for part in term.statistic.edges)
        return _steps(edges, rebinned(cuts, bin_shares(weight, log_density(knots)), edges))
    low, high = term.family.support
    if not term.family.discrete:
        found = log_density(x)
        silent = ~found.any(axis=1, keepdims=True)  # a column of one value adds nothing
        known = np.where((x >= low) & (x <= high), np.exp(found), 0.0)
        return np.broadcast_to(x, found.shape), np.where(silent, np.nan, known)
    first, last = max(low, np.floor(x[0])), min(high, np.ceil(x[-1]))
    if last - first > _MAX_STEPS or last >= _NO_HALVES:
        x = np.clip(x, first, last)
        found = np.exp(log_density(np.rint(x)))
        return np.broadcast_to(x, found.shape), found
    whole = np.arange(first, last + 1)
    return _steps(np.arange(first - 0.5, last + 1), np.exp(log_density(whole)))


def _steps(edges: Floats, heights: Floats) -> tuple[Floats, Floats]:
    """Return the outline of bars as points."""
    x = np.repeat(edges, 2)
    y = np.pad(np.repeat(heights, 2, axis=1), ((0, 0), (1, 1)))
    return np.broadcast_to(x, y.shape), y


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
