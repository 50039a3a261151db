"""Decision regions: which class wins where, over two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from naively.display.plots import canvas
from naively.display.plots.display import Display
from naively.display.plots.ellipses import data_ellipse, naive_ellipse
from naively.display.plots.grid import (
    Limits,
    coordinates,
    edges,
    limits_of_pair,
    predict_on,
    read_pair,
    read_points,
)
from naively.display.plots.reading import class_captions
from naively.errors import NaivelyError
from naively.estimators.state import snapshot


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionRegionDisplay(Display):
    r"""Which class wins where, over two columns.

    The regions are what `predict` says on a grid of points. Of a model with more columns, the
    others are left out as missing cells, which for naive Bayes is the exact marginal: the term
    of a column that is not known is not added. Over the regions lie the training points, the
    classes' centroids, and around each the curve that holds 0.95 of its class:

    .. math:: \sum_{j=0,1} \frac{(x_j - \mu_{kj})^2}{\sigma_{kj}^2} = -2 \log(1 - 0.95)


    Parameters
    ----------
    x0, x1 : ndarray of shape (n0,) and (n1,)
        The grid's coordinates along the two columns.
    regions : ndarray of int, of shape (n1, n0)
        The class that wins at each point of the grid: an index of ``class_names``.
    class_names : sequence of str
        What the classes are called.
    column_names : pair of str
        What the columns are called.
    log_proba : ndarray of shape (n1, n0, n_classes), optional
        Log-probabilities on the grid: they smooth the boundaries and shade the regions.
    points : ndarray of shape (n_points, 2), optional
        Points to draw.
    point_classes : ndarray of int, of shape (n_points,), optional
        Their classes.
    means : ndarray of shape (n_classes, 2), optional
        The classes' centroids.
    variances : ndarray of shape (n_classes, 2), optional
        The model's variances, for the naive curves.
    point_means : ndarray of shape (n_classes, 2), optional
        The points' own means, around which the curves with correlation lie.
    covariances : ndarray of shape (n_classes, 2, 2), optional
        The points' covariances; NaN where there is none.
    level : float, default=0.95
        The share of its class that a curve holds.
    shown : sequence of int, optional
        The classes that are drawn in colour; None for all.
    name : str
        The classifier's name.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The regions.
    points_ : list of matplotlib PathCollection
        The points of each class shown.
    curves_ : dict of str to list of matplotlib Line2D
        The curves of the classes shown, under "naive" and "data".
    centroids_ : list of matplotlib PathCollection
        The centroid of each class shown.

    Notes
    -----
    scikit-learn's DecisionBoundaryDisplay draws models of exactly two columns on a grid of its
    own; it knows neither chosen columns of a larger model nor centroids and curves.

    The curve with correlation uses the quantile of chi-squared, as the naive one does; R's
    ``car::dataEllipse`` uses that of F, which is a little wider for small classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from naively import GaussianNB
    >>> from naively.plots import DecisionRegionDisplay
    >>> iris = load_iris(as_frame=True)
    >>> model = GaussianNB(ddof=1).fit(iris.data, iris.target)
    >>> display = DecisionRegionDisplay.from_estimator(model, iris.data, iris.target)
    >>> display.column_names
    ('petal length (cm)', 'petal width (cm)')
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    x0: NDArray[np.float64]
    x1: NDArray[np.float64]
    regions: NDArray[np.intp]
    class_names: Sequence[str]
    column_names: tuple[str, str]
    log_proba: NDArray[np.float64] | None = None
    points: NDArray[np.float64] | None = None
    point_classes: NDArray[np.intp] | None = None
    means: NDArray[np.float64] | None = None
    variances: NDArray[np.float64] | None = None
    point_means: NDArray[np.float64] | None = None
    covariances: NDArray[np.float64] | None = None
    level: float = 0.95
    shown: Sequence[int] | None = None
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
        grid: int = 400,
        step: float | tuple[float, float] | None = None,
        extent: Literal["curves", "data"] | Limits = "curves",
        level: float = 0.95,
        max_classes: int = 12,
        max_points: int = 2000,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the regions of a fitted classifier, and draw them.

        Parameters
        ----------
        estimator : fitted classifier
            naively's GaussianNB or NaiveBayes, of any number of columns; or any classifier of
            two columns.
        X, y : table and labels, optional
            The training points; both or neither.
        columns : pair of str or int, optional
            The two columns, by name or number. None for the two that separate the classes best.
        grid : int, default=400
            Points of the grid along each column.
        step : float or pair of float, optional
            The distance of the grid's points instead.
        extent : {"curves", "data"} or pair of pairs, default="curves"
            What the grid spans: points and curves with a margin, exactly the points from
            smallest to largest, or ``((low, high), (low, high))``.
        level : float, default=0.95
            The share of its class that a curve holds.
        max_classes : int, default=12
            If there are more, those that stand apart most are shown, and the others are grey.
        max_points : int, default=2000
            If there are more, so many are drawn, chosen at random.
        """
        check_is_fitted(estimator)
        estimator = snapshot(estimator)
        if (X is None) != (y is None):
            raise NaivelyError("X and y go together: give both, or neither.")
        pair = read_pair(estimator, columns, feature_names, max_classes)
        rows = None if X is None else read_points(estimator, X, y, pair, max_points)
        x0, x1 = coordinates(limits_of_pair(extent, pair, rows, level), grid, step)
        regions, log_proba = predict_on(estimator, x0, x1, pair.at, like=X)
        display = cls(
            x0=x0,
            x1=x1,
            regions=regions,
            log_proba=log_proba,
            class_names=class_captions(estimator.classes_, class_names),
            column_names=pair.names,
            points=None if rows is None else rows.drawn,
            point_classes=None if rows is None else rows.drawn_classes,
            means=pair.means if pair.means is not None or rows is None else rows.means,
            variances=pair.variances,
            point_means=None if rows is None else rows.means,
            covariances=None if rows is None else rows.covariances,
            level=level,
            shown=pair.shown,
            name=type(estimator).__name__,
            notes=[*pair.notes, *(() if rows is None else rows.notes)],
        )
        return display.plot(ax, **options)

    @property
    def areas(self) -> NDArray[np.float64]:
        """The share of the grid that each class wins."""
        won = np.bincount(self.regions.ravel(), minlength=len(self.class_names))
        return won / self.regions.size

    def plot(
        self,
        ax: Any = None,
        *,
        curve: Literal["auto", "naive", "data", "both"] | None = "auto",
        shade: Literal["classes", "probabilities"] = "classes",
        points: bool = True,
        centroids: bool = True,
        legend: bool = True,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        curve : {"auto", "naive", "data", "both"} or None, default="auto"
            The curve that holds a share of its class: the model's, along the axes; that of the
            points, with correlation; or both. "auto" is the model's if it has means and
            variances, else none.
        shade : {"classes", "probabilities"}, default="classes"
            Colour the regions by class, or paler where the class is less sure.
        points, centroids, legend : bool, default=True
            Whether to draw them.
        """
        canvas.check_option("curve", curve, ("auto", "naive", "data", "both", None))
        canvas.check_option("shade", shade, ("classes", "probabilities"))
        if curve == "auto":
            curve = None if self.variances is None else "naive"
        kinds = {"both": ["naive", "data"], None: []}.get(curve, [curve])
        tints = self._tints(shade)
        lines = {str(kind): self._curves(str(kind)) for kind in kinds}
        ax = self._one_axes(ax, 7.6, 4.8)
        self.image_ = draw_regions(self, ax, tints)
        self.points_ = draw_points(self, ax, self._places) if points else []
        self.curves_ = {kind: draw_curves(ax, lines[kind], kind) for kind in lines}
        self.centroids_ = draw_centroids(self, ax, self._places) if centroids else []
        ax.set(xlim=self._view(0), ylim=self._view(1))
        ax.set_xlabel(canvas.caption(self.column_names[0], 50), color=canvas.INK)
        ax.set_ylabel(canvas.caption(self.column_names[1], 40), color=canvas.INK)
        canvas.tidy(ax)
        paler = "The paler a region, the less sure its class." * (shade == "probabilities")
        canvas.heading(ax, f"Decision regions of {self.name}", [*self.notes, paler])
        if legend:
            draw_legend(self, ax, self._places)
        return self

    @property
    def _places(self) -> list[tuple[int, int]]:
        """The classes shown: their place in the palette, and their index."""
        return list(enumerate(range(len(self.class_names)) if self.shown is None else self.shown))

    def _view(self, j: int) -> tuple[float, float]:
        """Return the grid's limits, with a little room where a point lies at the edge."""
        low, high = edges((self.x0, self.x1)[j])
        if self.points is None or not self.points.size:
            return low, high
        column, room = self.points[:, j], 0.015 * (high - low)
        crowded_low, crowded_high = column.min() < low + room, column.max() > high - room
        return low - room * crowded_low, high + room * crowded_high

    def _tints(self, shade: str) -> NDArray[np.float64]:
        """Return the colour of each point of the grid."""
        colours = np.tile(canvas.rgb(canvas.REST), (len(self.class_names), 1))
        for place, k in self._places:
            colours[k] = canvas.rgb(canvas.colour(place))
        strength = np.full(self.regions.shape, TINT)
        if shade == "probabilities":
            strength = 0.02 + 0.5 * self._sureness()
        return 1 - strength[..., np.newaxis] * (1 - colours[self.regions])

    def _sureness(self) -> NDArray[np.float64]:
        """Return 0 where all classes are equally probable, and 1 where the winner is certain."""
        if self.log_proba is None:
            raise NaivelyError(
                f"shade='probabilities' needs a classifier with predict_log_proba, which "
                f"{self.name} does not have. Use shade='classes'."
            )
        least = 1 / max(2, len(self.class_names))
        best = np.exp(self.log_proba.max(axis=-1))
        return np.clip((best - least) / (1 - least), 0, 1)

    def _curves(self, kind: str) -> list[tuple[int, NDArray[np.float64]]]:
        """Return the closed curves of the classes shown that have one."""
        naive, data = (self.means, self.variances), (self.point_means, self.covariances)
        centres, shapes = naive if kind == "naive" else data
        if centres is None or shapes is None:
            needs = "points: give X and y, or use curve=None"
            if kind == "naive":
                needs = f"the classes' means and variances, which {self.name} does not have"
                needs += ". Use curve='data' or curve=None"
            raise NaivelyError(f"curve={kind!r} needs {needs}.")
        ellipse = naive_ellipse if kind == "naive" else data_ellipse
        return [
            (place, ellipse(centres[k], shapes[k], self.level))
            for place, k in self._places
            if np.isfinite(shapes[k]).all()
        ]


TINT = 0.24
_DASHES: dict[str, Any] = {"naive": "solid", "data": (0, (4, 2))}

Shown = Sequence[tuple[int, int]]


def draw_regions(display: Any, ax: Any, tints: NDArray[np.float64]) -> Any:
    """Colour the grid, and draw the boundaries; return the picture."""
    image = ax.imshow(
        tints,
        extent=(*edges(display.x0), *edges(display.x1)),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    if display.log_proba is None or min(display.log_proba.shape) < 2:
        return image
    finite = np.maximum(display.log_proba, -1e4)  # minus infinity has no contour
    second, first = np.moveaxis(np.partition(finite, -2, axis=-1)[..., -2:], -1, 0)
    for k in np.unique(display.regions):
        lead = np.where(display.regions == k, first - second, finite[..., k] - first)
        if lead.min() < 0 < lead.max():
            style = {"colors": canvas.INK, "linewidths": 0.7, "alpha": 0.7}
            ax.contour(display.x0, display.x1, lead, levels=[0], **style)
    return image


def draw_points(display: Any, ax: Any, places: Shown) -> list[Any]:
    """Draw the points of each class shown."""
    if display.points is None:
        return []
    size = 24 if len(display.points) <= 500 else 14
    return [
        ax.scatter(
            *display.points[display.point_classes == k].T,
            marker=canvas.marker(place),
            color=canvas.colour(place),
            edgecolors="white",
            linewidths=0.4,
            s=size * canvas.marker_area(place),
            zorder=3,
        )
        for place, k in places
    ]


def draw_centroids(display: Any, ax: Any, places: Shown) -> list[Any]:
    """Draw the centroid of each class shown."""
    if display.means is None:
        return []
    style = {"marker": "X", "s": 100, "edgecolors": "white", "linewidths": 1.2, "zorder": 5}
    return [ax.scatter(*display.means[k], color=canvas.deep(place), **style) for place, k in places]


def draw_legend(display: Any, ax: Any, places: Shown) -> None:
    """Add the legend of colours, marks and lines."""
    line, patch = canvas.matplotlib("lines").Line2D, canvas.matplotlib("patches").Patch
    handles: list[Any] = []
    for place, _ in places:
        tint = canvas.mixed("#FFFFFF", canvas.colour(place), TINT)
        region = patch(facecolor=tint, edgecolor="none")
        dot = line([], [], **canvas.dot(canvas.colour(place), canvas.marker(place)))
        handles.append((region, dot) if display.points_ else region)
    names = [canvas.caption(display.class_names[k]) for _, k in places]
    if len(names) < len(display.class_names):
        handles.append(patch(facecolor=canvas.mixed("#FFFFFF", canvas.REST, TINT)))
        names.append(f"{len(display.class_names) - len(names)} other classes")
    if display.centroids_:
        handles.append(line([], [], **canvas.dot(canvas.FAINT, "X")))
        names.append("centroid")
    for kind in display.curves_:
        style = {"linestyle": _DASHES[kind], "linewidth": 1.7, "color": canvas.FAINT}
        handles.append(line([], [], **style))
        how = ", with correlation" if kind == "data" else " of its class"
        names.append(f"holds {display.level:g}{how}")
    canvas.legend(ax, handles, names)


def draw_curves(ax: Any, lines: list[tuple[int, NDArray[np.float64]]], kind: str) -> list[Any]:
    """Draw closed curves, each in the colour of its class."""
    style = {"linestyle": _DASHES[kind], "linewidth": 1.7, "zorder": 4}
    return [ax.plot(*line.T, color=canvas.deep(place), **style)[0] for place, line in lines]
