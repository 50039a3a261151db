"""Decision regions: which class wins where, over two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from naively.data.types import Floats
from naively.display.plots import canvas
from naively.display.plots.display import Display
from naively.display.plots.pair import (
    Limits,
    Pair,
    Points,
    coordinates,
    data_ellipse,
    edges,
    limits_of_pair,
    naive_ellipse,
    predict_on,
    read_pair,
    read_points,
)
from naively.display.plots.reading import class_captions
from naively.errors import NaivelyError
from naively.estimators.state import snapshot

_TINT = 0.24
_DASHES: dict[str, Any] = {"naive": "solid", "data": (0, (4, 2))}


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
    log_proba : ndarray of shape (n1, n0, n_classes), optional
        Log-probabilities on the grid: they smooth the boundaries and shade the regions.
    pair : Pair
        The two columns, the classes shown, and their means and variances.
    rows : Points, optional
        The rows of the two columns, with their own means and covariances.
    level : float, default=0.95
        The share of its class that a curve holds.
    name : str
        The classifier's name.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The regions.
    points_, centroids_ : list of matplotlib PathCollection
        The points and the centroid of each class shown.
    curves_ : dict of str to list of matplotlib Line2D
        The curves of the classes shown, under "naive" and "data".

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

    x0: Floats
    x1: Floats
    regions: NDArray[np.intp]
    class_names: Sequence[str]
    pair: Pair
    log_proba: Floats | None = None
    rows: Points | None = None
    level: float = 0.95
    name: str = "the model"

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
            The two columns; by default the two that separate the classes best.
        grid : int, default=400
            Points of the grid along each column.
        step : float or pair of float, optional
            The distance of the grid's points instead.
        extent : {"curves", "data"} or pair of pairs, default="curves"
            What the grid spans: points and curves with a margin, exactly the points from
            smallest to largest, or ``((low, high), (low, high))``.
        max_points : int, default=2000
            If there are more, so many are drawn, chosen at random.
        """
        check_is_fitted(estimator)
        estimator = snapshot(estimator)
        if (X is None) != (y is None):
            raise NaivelyError("X and y go together: give both, or neither.")
        if not hasattr(estimator, "summary_") and estimator.n_features_in_ > 2:
            raise NaivelyError(
                f"{type(estimator).__name__} must be fitted on two columns; got "
                f"{estimator.n_features_in_}. Only naively's models can leave the other columns "
                "out."
            )
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
            pair=pair,
            rows=rows,
            level=level,
            name=type(estimator).__name__,
        )
        return display.plot(ax, **options)

    @property
    def column_names(self) -> tuple[str, str]:
        """What the columns are called."""
        return self.pair.names

    @property
    def points(self) -> Floats | None:
        """The points that are drawn."""
        return None if self.rows is None else self.rows.drawn

    @property
    def means(self) -> Floats | None:
        """The classes' centroids: the model's, or those of the points."""
        return self.rows.means if self.pair.means is None and self.rows else self.pair.means

    @property
    def areas(self) -> Floats:
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
            curve = None if self.pair.variances is None else "naive"
        kinds = {"both": ["naive", "data"], None: []}.get(curve, [curve])
        tints = self._tints(shade)
        lines = {str(kind): self._curves(str(kind)) for kind in kinds}
        ax = self._one_axes(ax, 7.6, 4.8)
        self.image_ = self._draw_regions(ax, tints)
        self.points_ = self._draw_points(ax) if points else []
        self.curves_ = {}
        for kind, each in lines.items():
            style = {"linestyle": _DASHES[kind], "linewidth": 1.7, "zorder": 4}
            drawn = [ax.plot(*line.T, color=canvas.deep(place), **style) for place, line in each]
            self.curves_[kind] = [line for (line,) in drawn]
        self.centroids_ = self._draw_centroids(ax) if centroids else []
        ax.set(xlim=self._view(0), ylim=self._view(1))
        a, b = self.column_names
        canvas.name_axes(ax, canvas.caption(a, 50), canvas.caption(b, 40))
        canvas.tidy(ax)
        paler = "The paler a region, the less sure its class." * (shade == "probabilities")
        notes = [*self.pair.notes, *(self.rows.notes if self.rows else ()), paler]
        canvas.heading(ax, f"Decision regions of {self.name}", notes)
        if legend:
            self._draw_legend(ax)
        return self

    @property
    def _places(self) -> list[tuple[int, int]]:
        """The classes shown: their place in the palette, and their index."""
        return list(enumerate(self.pair.shown))

    def _view(self, j: int) -> tuple[float, float]:
        """Return the grid's limits, with a little room where a point lies at the edge."""
        low, high = edges((self.x0, self.x1)[j])
        if self.points is None or not self.points.size:
            return low, high
        column, room = self.points[:, j], 0.015 * (high - low)
        crowded_low, crowded_high = column.min() < low + room, column.max() > high - room
        return low - room * crowded_low, high + room * crowded_high

    def _tints(self, shade: str) -> Floats:
        """Return the colour of each point of the grid."""
        colours = np.tile(canvas.rgb(canvas.REST), (len(self.class_names), 1))
        for place, k in self._places:
            colours[k] = canvas.rgb(canvas.colour(place))
        strength = np.full(self.regions.shape, _TINT)
        if shade == "probabilities":
            strength = 0.02 + 0.5 * self._sureness()
        return 1 - strength[..., np.newaxis] * (1 - colours[self.regions])

    def _sureness(self) -> Floats:
        """Return 0 where all classes are equally probable, and 1 where the winner is certain."""
        if self.log_proba is None:
            raise NaivelyError(
                f"shade='probabilities' needs a classifier with predict_log_proba, which "
                f"{self.name} does not have. Use shade='classes'."
            )
        least = 1 / max(2, len(self.class_names))
        best = np.exp(self.log_proba.max(axis=-1))
        return np.clip((best - least) / (1 - least), 0, 1)

    def _curves(self, kind: str) -> list[tuple[int, Floats]]:
        """Return the closed curves of the classes shown that have one."""
        ellipse = naive_ellipse if kind == "naive" else data_ellipse
        if kind == "naive":
            centres, shapes = self.pair.means, self.pair.variances
            needs = f"the classes' means and variances, which {self.name} does not have"
            needs += ". Use curve='data' or curve=None"
        else:
            rows = self.rows
            centres, shapes = (rows.means, rows.covariances) if rows else (None, None)
            needs = "points: give X and y, or use curve=None"
        if centres is None or shapes is None:
            raise NaivelyError(f"curve={kind!r} needs {needs}.")
        return [
            (place, ellipse(centres[k], shapes[k], self.level))
            for place, k in self._places
            if np.isfinite(shapes[k]).all()
        ]

    def _draw_regions(self, ax: Any, tints: Floats) -> Any:
        """Colour the grid, and draw the boundaries; return the picture."""
        where = {"extent": (*edges(self.x0), *edges(self.x1)), "origin": "lower"}
        image = ax.imshow(tints, aspect="auto", interpolation="nearest", **where)
        if self.log_proba is None or min(self.log_proba.shape) < 2:
            return image
        finite = np.maximum(self.log_proba, -1e4)  # minus infinity has no contour
        second, first = np.moveaxis(np.partition(finite, -2, axis=-1)[..., -2:], -1, 0)
        for k in np.unique(self.regions):
            lead = np.where(self.regions == k, first - second, finite[..., k] - first)
            if lead.min() < 0 < lead.max():
                style = {"colors": canvas.INK, "linewidths": 0.7, "alpha": 0.7}
                ax.contour(self.x0, self.x1, lead, levels=[0], **style)
        return image

    def _draw_points(self, ax: Any) -> list[Any]:
        if self.rows is None:
            return []
        points, classes = self.rows.drawn, self.rows.drawn_classes
        size = 24 if len(points) <= 500 else 14
        style = {"edgecolors": "white", "linewidths": 0.4, "zorder": 3}
        return [
            ax.scatter(
                *points[classes == k].T,
                marker=canvas.marker(place),
                color=canvas.colour(place),
                s=size * canvas.marker_area(place),
                **style,
            )
            for place, k in self._places
        ]

    def _draw_centroids(self, ax: Any) -> list[Any]:
        if self.means is None:
            return []
        style = {"marker": "X", "s": 100, "edgecolors": "white", "linewidths": 1.2, "zorder": 5}
        centres = [(canvas.deep(place), self.means[k]) for place, k in self._places]
        return [ax.scatter(*centre, color=colour, **style) for colour, centre in centres]

    def _draw_legend(self, ax: Any) -> None:
        """Add the legend of colours, marks and lines."""
        line, patch = canvas.matplotlib("lines").Line2D, canvas.matplotlib("patches").Patch
        handles: list[Any] = []
        for place, _ in self._places:
            tint = canvas.mixed("#FFFFFF", canvas.colour(place), _TINT)
            region = patch(facecolor=tint, edgecolor="none")
            dot = line([], [], **canvas.dot(canvas.colour(place), canvas.marker(place)))
            handles.append((region, dot) if self.points_ else region)
        names = [canvas.caption(self.class_names[k]) for _, k in self._places]
        if len(names) < len(self.class_names):
            handles.append(patch(facecolor=canvas.mixed("#FFFFFF", canvas.REST, _TINT)))
            names.append(f"{len(self.class_names) - len(names)} other classes")
        if self.centroids_:
            handles.append(line([], [], **canvas.dot(canvas.FAINT, "X")))
            names.append("centroid")
        for kind in self.curves_:
            style = {"linestyle": _DASHES[kind], "linewidth": 1.7, "color": canvas.FAINT}
            handles.append(line([], [], **style))
            how = ", with correlation" if kind == "data" else " of its class"
            names.append(f"holds {self.level:g}{how}")
        canvas.legend(ax, handles, names)
