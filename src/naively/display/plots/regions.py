r"""Decision regions: which class wins where over two columns; points, and curves around classes.

The curve around a class's mean holds a given share of it. For a Gaussian in two dimensions the
squared distance from the mean, in units of the spread, follows the chi-squared distribution with
two degrees of freedom, whose quantile is :math:`r^2 = -2 \log(1 - \mathrm{level})`. The naive
curve is the ellipse

.. math::

    \frac{(x_0 - \mu_0)^2}{\sigma_0^2} + \frac{(x_1 - \mu_1)^2}{\sigma_1^2} = r^2

with its axes along the columns, since columns are taken to be independent; the data's own is
:math:`(x - \mu)^T \Sigma^{-1} (x - \mu) = r^2` with their covariance.

>>> float(radius(0.95).round(4))
2.4477
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from naively.data.labels import positions
from naively.data.types import Floats
from naively.display.plots import canvas
from naively.display.plots.canvas import Display
from naively.display.plots.reading import (
    cells,
    choose_classes,
    choose_pair,
    class_captions,
    codes_of,
    column_names,
    drawn_rows,
    gaussians_of,
    ours,
    schema_of,
)
from naively.engines.memory.frames import is_frame
from naively.errors import NaivelyError
from naively.estimators.state import snapshot

_BLOCK_CELLS = 1 << 22  # that are predicted at once
_MAX_GRID = 1 << 24  # points
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
        extent: Any = "curves",
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
        name_pair(ax, self.pair)
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


# --- two columns ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """Two columns, the classes to show, and their means and variances if the model has them."""

    at: list[int]
    names: tuple[str, str]
    shown: list[int]
    notes: list[str]
    means: Floats | None = None
    variances: Floats | None = None  # of bell curves
    spread: Floats | None = None  # of the cells, whatever their curves


@dataclass(frozen=True)
class Points:
    """The rows whose two cells are present: all of them, and those to draw."""

    all: Floats
    drawn: Floats
    drawn_classes: NDArray[np.intp]
    means: Floats
    covariances: Floats
    notes: list[str]


def read_pair(
    model: Any,
    columns: Sequence[str | int] | None,
    feature_names: Sequence[str] | None,
    max_classes: int,
) -> Pair:
    """Choose two columns and the classes to show, and read what is known of them there."""
    n_columns, n_classes = schema_of(model).n_columns, len(model.classes_)
    names, known = column_names(model, n_columns, feature_names), ours(model)
    summary = None if known is None else known.summary_
    pair = choose_pair(summary, names, columns)
    both = names[pair.at[0]], names[pair.at[1]]
    if summary is None:
        more = f"The first {max_classes} of {n_classes:,} classes." * (n_classes > max_classes)
        shown = list(range(min(max_classes, n_classes)))
        return Pair(pair.at, both, shown, _written(pair.note, more))
    classes = choose_classes(summary, max_classes, pair.at)
    at, bells = [summary.schema.numbers.index(j) for j in pair.at], gaussians_of(known)
    means, variances = bells.mean[:, at], bells.variance[:, at]
    for place in np.flatnonzero(np.isnan(means).any(axis=0)):
        raise NaivelyError(f"column {both[place]!r} has no cell that was seen. Choose another.")
    notes = _written(pair.note, classes.note)
    of_bells = variances if hasattr(model, "theta_") else None
    return Pair(pair.at, both, classes.at, notes, means, of_bells, variances)


def read_points(model: Any, X: Any, y: Any, pair: Pair, most: int) -> Points:
    """Read two columns of a table; at most so many points are drawn, chosen at random."""
    points = cells(X, pair.at, model)
    codes = codes_of(y, np.asarray(model.classes_), len(points))
    whole = ~np.isnan(points).any(axis=1)
    n_lost = int((~whole).sum())
    points, codes = points[whole], codes[whole]
    groups = [points[codes == k] for k in range(len(model.classes_))]
    keep = np.flatnonzero(np.isin(codes, pair.shown))
    few = f"{most:,} of {keep.size:,} points are drawn, chosen at random." * (keep.size > most)
    keep = drawn_rows(keep, most)
    rows, are = (f"{n_lost:,} rows with", "are") if n_lost > 1 else ("One row with", "is")
    unknown = np.full((2, 2), np.nan)
    return Points(
        points,
        points[keep],
        codes[keep],
        np.array([g.mean(axis=0) if len(g) else unknown[0] for g in groups]),
        np.array([np.cov(g.T) if len(g) > 1 else unknown for g in groups]),
        _written(f"{rows} a missing cell {are} not drawn." * (n_lost > 0), few),
    )


def name_pair(ax: Any, pair: Pair) -> None:
    """Write what the two columns are called."""
    canvas.name_axes(ax, canvas.caption(pair.names[0], 50), canvas.caption(pair.names[1], 40))
    canvas.tidy(ax)


def _written(*notes: str) -> list[str]:
    return [note for note in notes if note]


# --- a grid, and what is answered on it ---


def limits_of_pair(extent: Any, pair: Pair, rows: Points | None, level: float) -> Floats:
    """Return what a grid spans: points and curves with a margin, the points, or as given."""
    seen = [] if rows is None or not len(rows.all) else [rows.all]
    if isinstance(extent, str):
        if extent not in ("curves", "data"):
            raise NaivelyError(f"extent must be 'curves', 'data' or limits; got {extent!r}.")
        curved = extent == "curves" and (pair.variances is not None or not seen)
        if curved and pair.means is not None and pair.spread is not None:
            mean, variance = pair.means[pair.shown], pair.spread[pair.shown]
            seen += [naive_ellipse(m, v, level) for m, v in zip(mean, variance, strict=True)]
        if not seen:
            raise NaivelyError(
                "a grid needs limits: give X and y, or extent=((low, high), (low, high))."
            )
        return limits_of(seen, margin=0.03 if extent == "curves" else 0.0)
    limits = np.asarray(extent, dtype=np.float64)
    if limits.shape != (2, 2) or not (limits[:, 0] < limits[:, 1]).all():
        raise NaivelyError(
            f"extent must be ((low, high), (low, high)), low below high; got {extent!r}."
        )
    return limits


def limits_of(rows: Sequence[Floats], margin: float = 0.0) -> Floats:
    """Return the smallest and largest of both columns, with a margin as a part of the range."""
    every = np.concatenate(rows)
    low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
    room = margin * (high - low) + (high == low) * np.maximum(np.abs(low), 1.0) * 0.05
    return np.column_stack([low - room, high + room])


def coordinates(
    limits: Any, n: int, step: float | tuple[float, float] | None
) -> tuple[Floats, Floats]:
    """Return the grid's coordinates along both columns: n each, or every step from the low end.

    >>> [axis.size for axis in coordinates(((1.0, 6.9), (0.1, 2.5)), 400, 0.02)]
    [296, 121]
    """
    low, high = np.transpose(limits)
    if step is None:
        if n < 2:
            raise NaivelyError(f"grid must be at least 2; got {n}.")
        n0 = n1 = n
    else:
        steps = np.ravel(np.asarray(step, dtype=np.float64))
        if steps.size not in (1, 2) or not (steps > 0).all():
            raise NaivelyError(f"step must be a positive number, or two of them; got {step!r}.")
        with np.errstate(over="ignore"):  # the end belongs to the grid although steps round
            n0, n1 = np.floor((high - low) / steps + 1e-9) + 1
    if n0 * n1 > _MAX_GRID:
        raise NaivelyError(
            f"a grid must have at most {_MAX_GRID:,} points; got {n0:,.0f} x {n1:,.0f}. "
            "Use a larger step."
        )
    if step is None:
        return np.linspace(low[0], high[0], n), np.linspace(low[1], high[1], n)
    return low[0] + steps[0] * np.arange(n0), low[1] + steps[-1] * np.arange(n1)


def edges(x: Floats) -> tuple[float, float]:
    """Return where the outer cells end whose centres these are."""
    half = (x[1] - x[0]) / 2 if x.size > 1 else 0.5
    return float(x[0] - half), float(x[-1] + half)


def predict_on(
    model: Any,
    x0: Floats,
    x1: Floats,
    at: Sequence[int],
    like: Any = None,
) -> tuple[NDArray[np.intp], Floats | None]:
    """Return the classes that win on a grid, and their log-probabilities if there are any.

    To the model, columns other than the two at these places are missing cells. Where it was
    fitted on a frame, it is asked with frames.
    """
    if getattr(model, "reject", None) is not None:  # a region belongs to a class
        model = snapshot(model, reject=None)
    shape = x1.size, x0.size
    points = np.stack(np.meshgrid(x0, x1), axis=-1).reshape(-1, 2)
    n_columns, classes = schema_of(model).n_columns, np.asarray(model.classes_)
    regions = np.empty(len(points), dtype=np.intp)
    probable = hasattr(model, "predict_log_proba")
    log_proba = np.empty((len(points), classes.size)) if probable else None
    size = max(1, _BLOCK_CELLS // n_columns)
    for rows in (slice(start, start + size) for start in range(0, len(points), size)):
        block = np.full((len(points[rows]), n_columns), np.nan)
        block[:, at] = points[rows]
        table = _as_frame(block, like, model)
        with np.errstate(divide="ignore"), warnings.catch_warnings():  # the logarithm of 0
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            regions[rows] = positions(model.predict(table), classes)
            if log_proba is not None:
                log_proba[rows] = model.predict_log_proba(table)
    return regions.reshape(shape), None if log_proba is None else log_proba.reshape(*shape, -1)


def _as_frame(block: Floats, like: Any, model: Any) -> Any:
    names = getattr(model, "feature_names_in_", None)
    # A model with families takes missing cells of any kind as they are.
    if names is None or not is_frame(like) or hasattr(model, "families_"):
        return block
    backend = nw.get_native_namespace(like)
    columns = {str(name): block[:, j] for j, name in enumerate(names)}
    return nw.from_dict(columns, backend=backend).to_native()


# --- curves ---


def radius(level: float) -> np.float64:
    """Return the distance, in standard deviations, within which this share of a class lies."""
    if not 0 < level < 1:
        raise NaivelyError(f"level must lie between 0 and 1; got level={level!r}. Use 0.95.")
    return np.sqrt(-2 * np.log1p(-level))


def naive_ellipse(mean: ArrayLike, variance: ArrayLike, level: float = 0.95) -> Floats:
    """Return the closed curve that holds this share of a class by the model."""
    return np.asarray(mean) + radius(level) * _circle() * np.sqrt(np.asarray(variance))


def data_ellipse(mean: ArrayLike, covariance: ArrayLike, level: float = 0.95) -> Floats:
    """Return the same with correlation: what a Gaussian that is not naive would hold."""
    spread, axes = np.linalg.eigh(np.asarray(covariance, dtype=np.float64))
    root = axes * np.sqrt(np.maximum(spread, 0.0))  # a degenerate one may round below zero
    return np.asarray(mean) + radius(level) * _circle() @ root.T


def _circle() -> Floats:
    angle = np.linspace(0, 2 * np.pi, 181)
    return np.column_stack([np.cos(angle), np.sin(angle)])
