"""Figures that functions draw: densities over two columns, bars of accuracy and of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from naively.data.types import Floats
from naively.display.plots import canvas
from naively.display.plots.pair import coordinates, limits_of, naive_ellipse, read_pair
from naively.display.plots.reading import bells_of, class_captions
from naively.errors import NaivelyError
from naively.estimators.state import snapshot
from naively.families.gaussian import log_density

_LEVELS = (0.95, 0.75, 0.5, 0.25)  # the shares of a class that the contours hold
_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


class Densities(NamedTuple):
    """The densities of the classes shown, on a grid: (n_shown, n1, n0)."""

    x0: Floats
    x1: Floats
    values: Floats
    means: Floats
    variances: Floats
    shown: list[int]
    names: tuple[str, str]
    notes: list[str]


def density_surface(
    estimator: Any,
    *,
    columns: Sequence[str | int] | None = None,
    kind: Literal["surface", "contours", "both"] = "surface",
    weighted: bool = False,
    grid: int = 120,
    max_classes: int = 12,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    legend: bool = True,
    ax: Any = None,
) -> Any:
    r"""Draw the density of each class over two columns, as hills or as contours.

    .. math::

        f(x_0, x_1 \mid k) = f(x_0 \mid \mu_{k0}, \sigma^2_{k0}) \,
                             f(x_1 \mid \mu_{k1}, \sigma^2_{k1})

    The surface shows the highest of the densities, in the colour of its class; the contours
    show all of them, each as the curves that hold a quarter, a half, three quarters and 0.95 of
    its class. Parameters that are not listed are those of every `Display`.

    Parameters
    ----------
    estimator : fitted GaussianNB
        naively's, or scikit-learn's.
    kind : {"surface", "contours", "both"}, default="surface"
        Hills, contours, or one beside the other.
    weighted : bool, default=False
        Multiply by the priors: then the highest is the class that wins.
    grid : int, default=120
        Points of the grid along each column.
    ax : matplotlib Axes, optional
        Where to draw, for a surface with ``projection="3d"``; for both, a subplot whose
        place they take. None for a new figure.

    Returns
    -------
    matplotlib Axes, or a list of two

    Examples
    --------
    >>> from naively import GaussianNB
    >>> from naively.plots import density_surface
    >>> people = [[110.0, 20.0], [130.0, 30.0], [160.0, 60.0], [180.0, 80.0]]
    >>> model = GaussianNB(ddof=1).fit(people, ["child", "child", "adult", "adult"])
    >>> density_surface(model, feature_names=["height", "weight"]).get_xlabel()
    'height'
    >>> import matplotlib.pyplot as plt
    >>> plt.close()
    """
    canvas.check_option("kind", kind, ("surface", "contours", "both"))
    estimator = snapshot(estimator)
    found = read_densities(estimator, columns, weighted, grid, max_classes, feature_names)
    every = class_captions(estimator.classes_, class_names)
    place: Any
    if kind == "both":
        place = canvas.panels(ax, (10.5, 4.9))
        parts = place.add_gridspec(1, 2, width_ratios=[1.25, 1])
        left, right = place.add_subplot(parts[0], projection="3d"), place.add_subplot(parts[1])
    else:
        size, depth = ((7.2, 5.4), "3d") if kind == "surface" else ((7.2, 4.8), None)
        left = right = place = canvas.one_axes(ax, size, depth)
    if kind != "contours":
        _draw_surface(left, found, "density times prior" if weighted else "density")
    if kind != "surface":
        _draw_contours(right, found)
    shares = ", ".join(f"{level:g}" for level in sorted(_LEVELS))
    contours = f"The contours of a class hold {shares} of it." * (kind != "surface")
    what = "Densities times priors" if weighted else "Densities"
    name = f"{what} of {type(estimator).__name__}"
    canvas.heading(place, name, [*found.notes, contours])
    if legend:
        patch, n = canvas.matplotlib("patches").Patch, len(found.shown)
        handles = [patch(facecolor=canvas.colour(k)) for k in range(n)]
        canvas.legend(place, handles, [canvas.caption(every[k]) for k in found.shown])
    return [left, right] if kind == "both" else place


def read_densities(
    estimator: Any,
    columns: Sequence[str | int] | None,
    weighted: bool,
    grid: int,
    max_classes: int,
    feature_names: Sequence[str] | None = None,
) -> Densities:
    """Return the product of two columns' densities, by class, perhaps times the priors."""
    prior = bells_of(estimator, "drawing densities").prior
    pair = read_pair(estimator, columns, feature_names, max_classes)
    assert pair.means is not None
    assert pair.variances is not None
    means, variances = pair.means[pair.shown], pair.variances[pair.shown]
    for place in np.flatnonzero(~(variances > 0).all(axis=0)):
        raise NaivelyError(
            f"a density needs positive variances; column {pair.names[place]!r} has none in some "
            "class. Choose other columns."
        )
    curves = [naive_ellipse(m, v, 0.995) for m, v in zip(means, variances, strict=True)]
    x0, x1 = coordinates(limits_of(curves), grid, None)
    (m0, m1), (v0, v1) = means.T[..., np.newaxis], variances.T[..., np.newaxis]
    across, down = log_density(x0, m0, v0), log_density(x1, m1, v1)
    values = np.exp(down[:, :, np.newaxis] + across[:, np.newaxis, :])
    if weighted:
        values = values * prior[pair.shown][:, np.newaxis, np.newaxis]
    return Densities(x0, x1, values, means, variances, pair.shown, pair.names, pair.notes)


def _draw_surface(ax: Any, found: Densities, height_is: str) -> None:
    if getattr(ax, "name", "") != "3d":
        raise NaivelyError(
            "a surface needs axes with projection='3d'; got flat ones. Use kind='contours', "
            "or leave ax out."
        )
    faces = {"facecolors": _tints(found), "linewidth": 0, "antialiased": False, "shade": False}
    height = found.values.max(axis=0)
    ax.plot_surface(*np.meshgrid(found.x0, found.x1), height, rcount=400, ccount=400, **faces)
    ax.set_zlim(0, float(height.max()))
    ax.set_xlabel(canvas.caption(found.names[0], 24), color=canvas.INK, labelpad=6)
    ax.set_ylabel(canvas.caption(found.names[1], 24), color=canvas.INK, labelpad=6)
    ax.set_zlabel(height_is, color=canvas.INK, labelpad=-8)
    ax.set_box_aspect((4, 4, 3), zoom=0.97)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((0.97, 0.97, 0.97, 1.0))
        axis.line.set_color(canvas.FAINT)
    ax.tick_params(colors=canvas.INK, labelsize=8)
    ax.locator_params(nbins=5)
    ax.set_zticks([])  # the height of a density depends on the columns' units
    ax.view_init(elev=32, azim=-60)


def _tints(found: Densities) -> Floats:
    """Return colours: the class that is highest, pale where it is low, lit from the left."""
    highest, height = found.values.argmax(axis=0), found.values.max(axis=0)
    peaks = found.values.max(axis=(1, 2))
    tints = np.array([canvas.rgb(canvas.colour(k)) for k in range(len(peaks))])
    strength = (0.1 + 0.9 * (height / peaks[highest]) ** 0.5)[..., np.newaxis]
    light = canvas.matplotlib("colors").LightSource(azdeg=315, altdeg=55)
    steep = height / height.max() * 0.35 * len(found.x0)
    lit = light.hillshade(steep)[..., np.newaxis]
    tinted: Floats = (1 - strength * (1 - tints[highest])) * (0.72 + 0.28 * lit)
    return tinted


def _draw_contours(ax: Any, found: Densities) -> None:
    for place, (mean, variance) in enumerate(zip(found.means, found.variances, strict=True)):
        for level in _LEVELS:
            curve = naive_ellipse(mean, variance, level)
            ax.fill(*curve.T, color=canvas.colour(place), alpha=0.13, linewidth=0)
            style = {"linestyle": canvas.dash(place), "linewidth": 1.1}
            ax.plot(*curve.T, color=canvas.deep(place), **style)
    ax.set(xlim=(found.x0[0], found.x0[-1]), ylim=(found.x1[0], found.x1[-1]))
    canvas.name_axes(ax, canvas.caption(found.names[0], 50), canvas.caption(found.names[1], 40))
    canvas.tidy(ax)


def accuracy_bars(comparison: Any, *, legend: bool = True, ax: Any = None) -> Any:
    """Draw the accuracy of two models on training and on test rows, a bar for each.

    Parameters
    ----------
    comparison : Comparison
        What `naively.compare` returned.
    legend, ax
        As for every `Display`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from naively import GaussianNB, compare
    >>> from naively.plots import accuracy_bars
    >>> ax = accuracy_bars(compare(GaussianNB(), *load_iris(return_X_y=True), repeats=1))
    >>> [text.get_text() for text in ax.texts[:2]]
    ['0.9810', '0.9111']
    >>> import matplotlib.pyplot as plt
    >>> plt.close()
    """
    ax, n = canvas.one_axes(ax, (6.4, 3.9)), len(comparison.names)
    width, handles = 0.72 / n, []
    pairs = zip(comparison.train_accuracy, comparison.test_accuracy, strict=True)
    for place, both in enumerate(pairs):
        x = np.arange(2) + (place - (n - 1) / 2) * width
        bars = ax.bar(x, both, width * 0.94, color=canvas.colour(place))
        ax.bar_label(bars, fmt="%.4f", padding=2, fontsize=9, color=canvas.INK)
        handles.append(bars[0])
    ax.set_xticks([0, 1], ["training rows", "test rows"], fontsize=10)
    ax.set(xlim=(-0.55, 1.55), ylim=(0, 1.08), yticks=np.linspace(0, 1, 6))
    ax.set_ylabel("accuracy", color=canvas.INK)
    _dress_bars(ax, "Accuracy", [])
    if legend:
        canvas.legend(ax, handles, [canvas.caption(name) for name in comparison.names])
    return ax


def time_bars(
    comparison: Any, *, what: Literal["training", "prediction"] = "training", ax: Any = None
) -> Any:
    """Draw how long models take: median and quartiles over repeated runs.

    Parameters
    ----------
    comparison : Comparison
        What `naively.compare` returned.
    what : {"training", "prediction"}, default="training"
        What takes the time.
    ax
        As for every `Display`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from naively import GaussianNB, compare
    >>> from naively.plots import time_bars
    >>> time_bars(compare(GaussianNB(), *load_iris(return_X_y=True), repeats=3)).get_title("left")
    'Time of training'
    >>> import matplotlib.pyplot as plt
    >>> plt.close()
    """
    canvas.check_option("what", what, ("training", "prediction"))
    training = what == "training"
    timings = comparison.fit_seconds if training else comparison.predict_seconds
    ax = canvas.one_axes(ax, (5.6, 3.9))
    longest = max(timing.median for timing in timings)
    unit, second = next((one for one in _UNITS if longest >= one[1]), _UNITS[-1])
    medians = np.array([timing.median for timing in timings]) / second
    lower, upper = np.array([timing.quartiles for timing in timings]).T / second
    error = [medians - lower, upper - medians]
    caps = {"ecolor": canvas.INK, "capsize": 6, "error_kw": {"elinewidth": 1.2}}
    names = [canvas.caption(name, 24) for name in comparison.names]
    colours = [canvas.colour(place) for place in range(len(names))]
    ax.bar(range(len(names)), medians, 0.6, yerr=error, color=colours, **caps)
    for x, timing in enumerate(timings):
        where = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
        ax.annotate(str(timing), (x, upper[x]), fontsize=9, color=canvas.INK, **where)
    ax.set_xticks(range(len(names)), names, fontsize=10)
    ax.set(xlim=(-0.65, len(names) - 0.35), ylim=(0, 1.2 * float(upper.max())))
    ax.set_ylabel(f"{unit} (median and quartiles)", color=canvas.INK)
    n = timings[0].runs
    notes = [f"{n:,} runs each." if n > 1 else "One run each."]
    if len(names) == 2 and min(medians) > 0:
        quick, slow = np.argsort(medians, kind="stable")
        times = f"{medians[slow] / medians[quick]:.3g} times as fast as"
        called = [canvas.caption(comparison.names[k]) for k in (quick, slow)]
        notes.insert(0, f"{called[0]} is {times} {called[1]}.")
    _dress_bars(ax, f"Time of {what}", notes)
    return ax


def _dress_bars(ax: Any, title: str, notes: Sequence[str]) -> None:
    canvas.tidy(ax, grid="y")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="both", length=0)
    canvas.heading(ax, title, notes, width=72)
