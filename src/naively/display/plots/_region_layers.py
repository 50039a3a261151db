"""The layers of a picture of decision regions: the grid, points, centroids, curves, the legend.

Each function draws what a `DecisionRegionDisplay` holds; ``places`` are the classes shown, as their
places in the palette and their indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.display.plots import _canvas, palette
from naively.display.plots._grid import edges

__all__ = ["TINT", "draw_centroids", "draw_curves", "draw_legend", "draw_points", "draw_regions"]

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
            style = {"colors": palette.INK, "linewidths": 0.7, "alpha": 0.7}
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
            marker=palette.marker(place),
            color=palette.colour(place),
            edgecolors="white",
            linewidths=0.4,
            s=size * palette.marker_area(place),
            zorder=3,
        )
        for place, k in places
    ]


def draw_centroids(display: Any, ax: Any, places: Shown) -> list[Any]:
    """Draw the centroid of each class shown."""
    if display.means is None:
        return []
    style = {"marker": "X", "s": 100, "edgecolors": "white", "linewidths": 1.2, "zorder": 5}
    return [
        ax.scatter(*display.means[k], color=palette.deep(place), **style) for place, k in places
    ]


def draw_legend(display: Any, ax: Any, places: Shown) -> None:
    """Add the legend of colours, marks and lines."""
    line, patch = _canvas.matplotlib("lines").Line2D, _canvas.matplotlib("patches").Patch
    handles: list[Any] = []
    for place, _ in places:
        tint = palette.mixed("#FFFFFF", palette.colour(place), TINT)
        region = patch(facecolor=tint, edgecolor="none")
        dot = line([], [], **_canvas.dot(palette.colour(place), palette.marker(place)))
        handles.append((region, dot) if display.points_ else region)
    names = [_canvas.caption(display.class_names[k]) for _, k in places]
    if len(names) < len(display.class_names):
        handles.append(patch(facecolor=palette.mixed("#FFFFFF", palette.REST, TINT)))
        names.append(f"{len(display.class_names) - len(names)} other classes")
    if display.centroids_:
        handles.append(line([], [], **_canvas.dot(palette.FAINT, "X")))
        names.append("centroid")
    for kind in display.curves_:
        style = {"linestyle": _DASHES[kind], "linewidth": 1.7, "color": palette.FAINT}
        handles.append(line([], [], **style))
        how = ", with correlation" if kind == "data" else " of its class"
        names.append(f"holds {display.level:g}{how}")
    _canvas.legend(ax, handles, names)


def draw_curves(ax: Any, lines: list[tuple[int, NDArray[np.float64]]], kind: str) -> list[Any]:
    """Draw closed curves, each in the colour of its class."""
    style = {"linestyle": _DASHES[kind], "linewidth": 1.7, "zorder": 4}
    return [ax.plot(*line.T, color=palette.deep(place), **style)[0] for place, line in lines]
