"""Density surfaces: the bell curves of two columns, multiplied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from naively.display.plots import canvas
from naively.display.plots.display import Display
from naively.display.plots.ellipses import naive_ellipse
from naively.display.plots.grid import coordinates, limits_of
from naively.display.plots.reading import (
    bells_of,
    choose_classes,
    choose_pair,
    class_captions,
    column_names,
)
from naively.errors import NaivelyError
from naively.estimators.state import snapshot
from naively.families.gaussian import log_density

__all__ = ["DensitySurfaceDisplay"]

_HELD = (0.95, 0.75, 0.5, 0.25)  # the shares of a class that the contours hold


@dataclass(eq=False, repr=False, kw_only=True)
class DensitySurfaceDisplay(Display):
    r"""The density of each class over two columns, as hills or as contours.

    .. math::

        f(x_0, x_1 \mid k) = f(x_0 \mid \mu_{k0}, \sigma^2_{k0}) \,
                             f(x_1 \mid \mu_{k1}, \sigma^2_{k1})

    The surface shows the highest of the densities, in the colour of its class; the contours
    show all of them, each as the curves that hold a quarter, a half, three quarters and 0.95 of
    its class.


    Parameters
    ----------
    x0, x1 : ndarray of shape (n0,) and (n1,)
        The grid's coordinates along the two columns.
    density : ndarray of shape (n_shown, n1, n0)
        The density of each class shown, times its prior if ``weighted``.
    means, variances : ndarray of shape (n_shown, 2)
        Of the classes shown.
    class_names : sequence of str
        Of the classes shown.
    column_names : pair of str
        What the columns are called.
    weighted : bool, default=False
        Whether the densities are multiplied by the classes' priors.
    name : str
        The classifier's name.

    Attributes
    ----------
    surface_ : matplotlib Poly3DCollection, or None
        The hills.
    contours_ : list of list of matplotlib Line2D
        By class and share; empty without contours.

    Examples
    --------
    >>> from naively import GaussianNB
    >>> from naively.plots import DensitySurfaceDisplay
    >>> people = [[110.0, 20.0], [130.0, 30.0], [160.0, 60.0], [180.0, 80.0]]
    >>> model = GaussianNB(ddof=1).fit(people, ["child", "child", "adult", "adult"])
    >>> display = DensitySurfaceDisplay.from_estimator(model, feature_names=["height", "weight"])
    >>> display.density.shape, display.class_names
    ((2, 120, 120), ['adult', 'child'])
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    x0: NDArray[np.float64]
    x1: NDArray[np.float64]
    density: NDArray[np.float64]
    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    class_names: Sequence[str]
    column_names: tuple[str, str]
    weighted: bool = False
    name: str = "the model"
    notes: Sequence[str] = ()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        columns: Sequence[str | int] | None = None,
        weighted: bool = False,
        grid: int = 120,
        max_classes: int = 12,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the densities of a fitted model, and draw them.

        Parameters
        ----------
        estimator : fitted GaussianNB
            naively's, or scikit-learn's.
        columns : pair of str or int, optional
            The two columns, by name or number. None for the two that separate the classes best.
        weighted : bool, default=False
            Multiply by the priors: then the highest is the class that wins.
        grid : int, default=120
            Points of the grid along each column.
        max_classes : int, default=12
            If there are more, those that stand apart most are shown.
        """
        estimator = snapshot(estimator)
        bells = bells_of(estimator, "drawing densities")
        names = column_names(estimator, bells.means.shape[1], feature_names)
        pair = choose_pair(bells.summary, names, columns)
        classes = choose_classes(bells.summary, max_classes, pair.at)
        at = np.ix_(classes.at, pair.at)
        means, variances = bells.means[at], bells.variances[at]
        if not (variances > 0).all():
            empty = names[pair.at[int((~(variances > 0)).any(axis=0).argmax())]]
            raise NaivelyError(
                f"a density needs positive variances; column {empty!r} has none in some class. "
                "Choose other columns."
            )
        curves = [naive_ellipse(m, v, 0.995) for m, v in zip(means, variances, strict=True)]
        x0, x1 = coordinates(limits_of(curves), grid, None)
        captions = class_captions(estimator.classes_, class_names)
        display = cls(
            x0=x0,
            x1=x1,
            density=_densities(x0, x1, means, variances)
            * (bells.prior[classes.at] if weighted else np.ones(len(classes.at)))[:, None, None],
            means=means,
            variances=variances,
            class_names=[captions[k] for k in classes.at],
            column_names=(names[pair.at[0]], names[pair.at[1]]),
            weighted=weighted,
            name=type(estimator).__name__,
            notes=[note for note in (pair.note, classes.note) if note],
        )
        return display.plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: Literal["surface", "contours", "both"] = "surface",
        legend: bool = True,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw, for a surface with ``projection="3d"``; for both, a subplot whose
            place they take. None for a new figure.
        kind : {"surface", "contours", "both"}, default="surface"
            Hills, contours, or one beside the other.
        legend : bool, default=True
            Whether to draw it.
        """
        canvas.check_option("kind", kind, ("surface", "contours", "both"))
        place: Any
        if kind == "both":
            self.figure_ = place = canvas.panels(ax, (10.5, 4.9))
            parts = place.add_gridspec(1, 2, width_ratios=[1.25, 1])
            left, right = place.add_subplot(parts[0], projection="3d"), place.add_subplot(parts[1])
            self.ax_ = np.array([left, right])
        else:
            size, depth = ((7.2, 5.4), "3d") if kind == "surface" else ((7.2, 4.8), None)
            left = right = place = self._one_axes(ax, *size, projection=depth)
        self.surface_ = self._draw_surface(left) if kind != "contours" else None
        self.contours_ = self._draw_contours(right) if kind != "surface" else []
        what = "Densities times priors" if self.weighted else "Densities"
        shares = ", ".join(f"{level:g}" for level in sorted(_HELD))
        drawn = f"The contours of a class hold {shares} of it." * (kind != "surface")
        canvas.heading(place, f"{what} of {self.name}", [*self.notes, drawn])
        if legend:
            self._draw_legend(place)
        return self

    def _draw_surface(self, ax: Any) -> Any:
        if getattr(ax, "name", "") != "3d":
            raise NaivelyError(
                "a surface needs axes with projection='3d'; got flat ones. Use kind='contours', "
                "or leave ax out."
            )
        faces = {"facecolors": self._tints(), "linewidth": 0, "antialiased": False, "shade": False}
        mesh = np.meshgrid(self.x0, self.x1)
        height = self.density.max(axis=0)
        surface = ax.plot_surface(*mesh, height, rcount=400, ccount=400, **faces)
        ax.set_zlim(0, float(height.max()))
        ax.set_xlabel(canvas.caption(self.column_names[0], 24), color=canvas.INK, labelpad=6)
        ax.set_ylabel(canvas.caption(self.column_names[1], 24), color=canvas.INK, labelpad=6)
        height_is = "density times prior" if self.weighted else "density"
        ax.set_zlabel(height_is, color=canvas.INK, labelpad=-8)
        ax.set_box_aspect((4, 4, 3), zoom=0.97)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_pane_color((0.97, 0.97, 0.97, 1.0))
            axis.line.set_color(canvas.FAINT)
        ax.tick_params(colors=canvas.INK, labelsize=8)
        ax.locator_params(nbins=5)
        ax.set_zticks([])  # the height of a density depends on the columns' units
        ax.view_init(elev=32, azim=-60)
        return surface

    def _tints(self) -> NDArray[np.float64]:
        """Return colours: the class that is highest, pale where it is low, lit from the left."""
        highest, height = self.density.argmax(axis=0), self.density.max(axis=0)
        peaks = self.density.max(axis=(1, 2))
        tints = np.array([canvas.rgb(canvas.colour(k)) for k in range(len(peaks))])
        strength = (0.1 + 0.9 * (height / peaks[highest]) ** 0.5)[..., np.newaxis]
        light = canvas.matplotlib("colors").LightSource(azdeg=315, altdeg=55)
        steep = height / height.max() * 0.35 * len(self.x0)
        lit = light.hillshade(steep)[..., np.newaxis]
        return (1 - strength * (1 - tints[highest])) * (0.72 + 0.28 * lit)

    def _draw_contours(self, ax: Any) -> list[list[Any]]:
        drawn = []
        for place, (mean, variance) in enumerate(zip(self.means, self.variances, strict=True)):
            colour = canvas.colour(place)
            lines: list[Any] = []
            for level in _HELD:
                curve = naive_ellipse(mean, variance, level)
                ax.fill(*curve.T, color=colour, alpha=0.13, linewidth=0)
                style = {"linestyle": canvas.dash(place), "linewidth": 1.1}
                lines += ax.plot(*curve.T, color=canvas.deep(place), **style)
            drawn.append(lines)
        ax.set(xlim=(self.x0[0], self.x0[-1]), ylim=(self.x1[0], self.x1[-1]))
        ax.set_xlabel(canvas.caption(self.column_names[0], 50), color=canvas.INK)
        ax.set_ylabel(canvas.caption(self.column_names[1], 40), color=canvas.INK)
        canvas.tidy(ax)
        return drawn

    def _draw_legend(self, place: Any) -> None:
        patch = canvas.matplotlib("patches").Patch
        handles = [patch(facecolor=canvas.colour(k)) for k in range(len(self.class_names))]
        names = [canvas.caption(name) for name in self.class_names]
        canvas.legend(place, handles, names)


def _densities(
    x0: NDArray[np.float64],
    x1: NDArray[np.float64],
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the product of the two columns' densities, by class."""
    (m0, m1), (v0, v1) = means.T[..., None], variances.T[..., None]
    across, down = log_density(x0, m0, v0), log_density(x1, m1, v1)
    return np.exp(down[:, :, np.newaxis] + across[:, np.newaxis, :])
