"""Bell curves, and other curves and bars: what a model believes of each column in each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from naively.display.plots import _canvas
from naively.display.plots._bar_panel import BarPanel
from naively.display.plots._choice import choose_classes, choose_columns
from naively.display.plots._curve_panel import Panel
from naively.display.plots._families import ShownColumns, has_families
from naively.display.plots._read import bells_of, cells, class_captions, codes_of, column_names
from naively.errors import NaivelyError
from naively.estimators.state import snapshot

__all__ = ["BarPanel", "BellCurveDisplay", "Panel"]

_PURPOSE = "drawing bell curves"
_FURTHER = "Columns of numbers are described by several families: a smooth curve, and steps."
_Make: TypeAlias = Callable[[int, list[NDArray[np.float64]], int | None], Panel | BarPanel]


@dataclass(eq=False, repr=False, kw_only=True)
class BellCurveDisplay:
    r"""One small panel per column, in it a curve per class over a histogram of its cells.

    .. math:: f(x \mid \mu_{kj}, \sigma^2_{kj})

    A curve far from its histogram shows a column that is not Gaussian; curves that lie on each
    other show a column that says little. Of many columns, those are drawn that separate the
    classes best, the best first.

    Of a `NaiveBayes`, a column of numbers has a curve for each of its families: smooth for a
    Student t, in steps for a histogram, a Poisson or a Bernoulli. A column of categories has bars,
    their shares in each class.

    It is recommended to create a display with `from_estimator`.

    Parameters
    ----------
    panels : sequence of Panel and BarPanel
        What to draw: curves of numbers, bars of categories.
    class_names : sequence of str
        Of the classes shown.
    name : str
        The classifier's name.
    notes : sequence of str
        What must be said about the choice of columns and classes.
    title : str
        What the panels show.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes
        One per panel.
    figure_ : matplotlib Figure or SubFigure
        Their figure.
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
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
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
        columns : sequence of str or int, optional
            Which columns, by name or number. None for all, or those that separate the classes best.
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
        """
        check_is_fitted(estimator)
        estimator = snapshot(estimator)
        several = has_families(estimator)
        summary = estimator.summary_ if several else bells_of(estimator, _PURPOSE).summary
        if (X is None) != (y is None):
            raise NaivelyError("X and y go together: give both, or neither.")
        names = column_names(estimator, summary.schema.n_columns, feature_names)
        chosen = choose_columns(summary, names, columns, max_columns)
        classes = choose_classes(summary, max_classes, chosen.at)
        groups: dict[int, list[Any]] = {}
        if X is not None and y is not None:
            groups = _groups(estimator, X, y, chosen.at, classes.at)
        make = (_of_families if several else _of_bells)(estimator, chosen.at, classes.at, names)
        panels = [make(place, groups.get(j, []), bins) for place, j in enumerate(chosen.at)]
        captions = class_captions(estimator.classes_, class_names)
        further = any(isinstance(panel, Panel) and panel.more for panel in panels)
        display = cls(
            panels=panels,
            class_names=[captions[k] for k in classes.at],
            name=type(estimator).__name__,
            notes=[note for note in (chosen.note, classes.note, _FURTHER * further) if note],
            title="Columns" if several else "Bell curves",
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
        drawn = list(zip(self.ax_, self.panels, strict=True))
        self.histograms_ = [panel.draw_histograms(axes) for axes, panel in drawn]
        self.curves_ = [panel.draw(axes) for axes, panel in drawn]
        width = _canvas.room_for_text(self.figure_, columns)
        for place, (axes, panel) in enumerate(drawn):
            panel.dress(axes, first=place % columns == 0, width=width)
        _canvas.heading(self.figure_, f"{self.title} of {self.name}", self.notes)
        if legend:
            names = [_canvas.caption(name) for name in self.class_names]
            _canvas.legend(self.figure_, self.curves_[0][: len(names)], names)
        return self


def _groups(
    model: Any, X: Any, y: ArrayLike, at: Sequence[int], classes: Sequence[int]
) -> dict[int, list[Any]]:
    """Return the cells of the columns of numbers, class by class."""
    schema = model.summary_.schema if has_families(model) else None
    numbers = [j for j in at if schema is None or j in schema.numbers]
    rows = cells(X, numbers, model)
    codes = codes_of(y, np.asarray(model.classes_), len(rows))
    return {j: [rows[codes == k, i] for k in classes] for i, j in enumerate(numbers)}


def _of_bells(model: Any, at: Sequence[int], classes: Sequence[int], names: list[str]) -> _Make:
    bells = bells_of(model, _PURPOSE)

    def make(place: int, groups: list[Any], bins: int | None) -> Panel:
        j = at[place]
        means, variances = bells.means[classes, j], bells.variances[classes, j]
        return Panel.of_bells(names[j], means, variances, groups, bins)

    return make


def _of_families(model: Any, at: Sequence[int], classes: Sequence[int], names: list[str]) -> _Make:
    chosen = ShownColumns.of(model, at, classes)

    def make(place: int, groups: list[Any], bins: int | None) -> Panel | BarPanel:
        name = names[at[place]]
        if at[place] in chosen.summary.schema.undecided:
            unknown = np.full(len(classes), np.nan)
            return Panel.of_bells(name, unknown, unknown, (), bins)
        if at[place] in chosen.summary.schema.texts:
            return BarPanel(name, *chosen.words(place))
        if at[place] not in chosen.summary.schema.numbers:
            return BarPanel.of(name, *chosen.shares(place))
        families = chosen.families(place)
        return Panel.of_families(name, *chosen.bells(place), families, groups, bins)

    return make
