"""The densities of classes over two columns, as hills or as contours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from naively.data.types import Floats
from naively.display.plots import canvas
from naively.display.plots.reading import check_bells, class_captions
from naively.display.plots.regions import (
    Pair,
    coordinates,
    limits_of,
    naive_ellipse,
    name_pair,
    read_pair,
)
from naively.errors import NaivelyError
from naively.estimators.state import snapshot
from naively.families.gaussian import log_density

_LEVELS = (0.95, 0.75, 0.5, 0.25)  # the shares of a class that the contours hold


class Densities(NamedTuple):
    """The densities of the classes shown, on a grid: (n_shown, n1, n0)."""

    x0: Floats
    x1: Floats
    values: Floats
    means: Floats
    variances: Floats
    pair: Pair


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
    canvas.heading(place, name, [*found.pair.notes, contours])
    if legend:
        patch, n = canvas.matplotlib("patches").Patch, len(found.pair.shown)
        handles = [patch(facecolor=canvas.colour(k)) for k in range(n)]
        canvas.legend(place, handles, [canvas.caption(every[k]) for k in found.pair.shown])
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
    check_bells(estimator, "drawing densities")
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
        values = values * np.asarray(estimator.class_prior_)[pair.shown][:, np.newaxis, np.newaxis]
    return Densities(x0, x1, values, means, variances, pair)


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
    ax.set_xlabel(canvas.caption(found.pair.names[0], 24), color=canvas.INK, labelpad=6)
    ax.set_ylabel(canvas.caption(found.pair.names[1], 24), color=canvas.INK, labelpad=6)
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
    name_pair(ax, found.pair)
