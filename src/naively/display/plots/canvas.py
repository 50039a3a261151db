"""What all displays are, and where they draw: axes, titles, notes, legends, and colours.

No global state is changed. Colours, markers and dashes of the classes are safe for the
colour-blind. The hues are those of Okabe and Ito without yellow, which a white page swallows. After
seven classes they come again, darker and with other dashes, then lighter; markers differ for
twelve.

References
----------
M. Okabe, K. Ito (2008), Color universal design: how to make figures and presentations that are
friendly to colorblind people.
"""

from __future__ import annotations

import re
import textwrap
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively.errors import NaivelyError, need

INK = "#333333"
FAINT = "#666666"
GRID = "#E4E4E4"
REST = "#B0B0B0"  # what is not shown in colour

_HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
_TONES = (("#000000", 0.0), ("#000000", 0.45), ("#FFFFFF", 0.45))
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1.5, 1)))
_MARKERS = "os^DvP<>*phd"  # X is kept for centroids
_AREAS = dict.fromkeys("^v<>", 1.4) | {"*": 2.0, "D": 0.8, "P": 1.2, "s": 0.9}


class Display:
    """A picture: a ``from_...`` computes it once and draws it, `plot` draws it again elsewhere.

    Parameters that mean the same in every display are documented here alone.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        Where to draw; None for a new figure. Several panels take the place of a subplot.
    estimator, other : fitted classifier
        Of scikit-learn's contract; another to draw with it or beside it.
    X, y : table and labels
        Rows, and their classes.
    names : sequence of str, optional
        What to call the models.
    class_names, feature_names : sequence of str, optional
        What to write instead of the model's own labels and names.
    columns : sequence of str or int, optional
        The columns that are drawn, by name or number. None for all, or for as many as there is
        room for of those that separate the classes best.
    row : int
        Which of the rows is drawn.
    of, against : labels, optional
        The classes that are compared; the answer and the next most probable class by default.
    max_columns, max_classes, ... : int
        How many are drawn at most: those that matter most, which the picture says.
    notes : sequence of str
        What is said under the title.
    legend : bool, default=True
        Whether to draw it.
    **options
        Further parameters of the display, and of `plot`.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of them
        Where it was drawn: one, or one for each panel.
    figure_ : matplotlib Figure or SubFigure
        Its figure.
    """

    ax_: Any
    figure_: Any

    def __post_init__(self) -> None:
        check_at_least_one(**{n: v for n, v in vars(self).items() if n.startswith("max_")})

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw."""

    def _one_axes(self, ax: Any, width: float, height: float) -> Any:
        self.ax_ = one_axes(ax, (width, height))
        self.figure_ = self.ax_.figure
        return self.ax_

    def _panels(self, ax: Any, size: tuple[float, float], grid: tuple[int, int], **how: Any) -> Any:
        """Return the axes of a grid of panels."""
        self.figure_ = panels(ax, size, square=how.pop("square", False))
        self.ax_ = self.figure_.subplots(*grid, squeeze=False, **how)
        return self.ax_


# --- axes, titles, notes, legends -----------------------------------------------------------------


def matplotlib(module: str) -> Any:
    """Import a module of matplotlib, or say how to get it."""
    return need(f"matplotlib.{module}", "drawing plots", extra="plots")


def one_axes(ax: Any, size: tuple[float, float], projection: str | None = None) -> Any:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return _checked(ax)
    figure = matplotlib("pyplot").figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection=projection)


def panels(ax: Any, size: tuple[float, float], *, square: bool = False) -> Any:
    """Return a new figure for several panels, or a subfigure in the place of the axes given."""
    if ax is None:
        layout = "compressed" if square else "constrained"
        figure = matplotlib("pyplot").figure(figsize=size, layout=layout)
        figure.get_layout_engine().set(w_pad=0.09, h_pad=0.09)
        return figure
    spec = _checked(ax).get_subplotspec()
    if spec is None:
        raise NaivelyError(
            "ax must be a subplot, whose place can be divided into panels; got axes at a fixed "
            "position. Make it with plt.subplots(), or leave ax out."
        )
    figure = ax.figure
    ax.remove()
    return figure.add_subfigure(spec)


def _checked(ax: Any) -> Any:
    if not isinstance(ax, matplotlib("axes").Axes):
        raise NaivelyError(f"ax must be one matplotlib Axes; got {type(ax).__name__}.")
    return ax


def caption(name: object, width: int = 28) -> str:
    r"""Write a name so that matplotlib shows it as it is, and no longer than there is room.

    >>> caption("price in $"), caption("_id"), caption("a very long name indeed", width=12)
    ('price in \\$', ' _id', 'a very long…')
    """
    text = re.sub(r"\s+", " ", str(name)).strip()
    if len(text) > width:
        text = text[: width - 1].rstrip() + "…"
    text = text.replace("$", r"\$")  # else it begins a formula
    return f" {text}" if text.startswith("_") else text  # else legends leave it out


def tidy(ax: Any, *, grid: str | None = None) -> None:
    """Take away what says nothing: two spines, heavy ticks; perhaps add a faint grid."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(FAINT)
    ax.tick_params(colors=INK, labelsize=9, length=3, width=0.8)
    if grid:
        ax.grid(axis=grid, color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)


def name_axes(ax: Any, across: str, up: str) -> None:
    """Write what the two axes are."""
    ax.set_xlabel(across, color=INK)
    ax.set_ylabel(up, color=INK)


def named_rows(ax: Any, names: Sequence[object], width: int) -> None:
    """Name rows of bars or dots, the first of them on top."""
    ax.set_yticks(range(len(names)), [caption(name, width) for name in names])
    ax.invert_yaxis()
    tidy(ax, grid="x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def heading(ax: Any, title: str, notes: Sequence[str] = (), *, width: int = 92) -> None:
    """Write a title over axes or a (sub)figure, and under it, small, what must be said."""
    lines = [line for note in notes if note for line in textwrap.wrap(note, width)]
    bold = {"fontsize": 12, "fontweight": "bold", "color": INK}
    small = {"fontsize": 8.5, "color": FAINT, "linespacing": 1.35}
    if hasattr(ax, "suptitle"):
        ax.suptitle(title, x=0.012, ha="left", **bold)
        if lines:
            ax.supxlabel("\n".join(lines), x=0.012, ha="left", **small)
        return
    ax.set_title(title, loc="left", pad=8 + 12 * len(lines) + 2 * bool(lines), **bold)
    if lines:
        above = {"xycoords": "axes fraction", "xytext": (0, 6), "textcoords": "offset points"}
        small |= {"va": "bottom", "annotation_clip": False}
        ax.annotate("\n".join(lines), (0, 1), **above, **small)


def legend(place: Any, handles: Sequence[Any], names: Sequence[str], **options: Any) -> Any:
    """Put a legend beside axes or a (sub)figure, or inside where no layout makes room for it."""
    figure = place if hasattr(place, "suptitle") else place.figure
    style = {"fontsize": 9, "labelcolor": INK, "frameon": False, "handlelength": 1.8, **options}
    if figure.get_layout_engine() is None:
        ax = place.axes[0] if place is figure else place
        return ax.legend(handles, names, **{**style, "frameon": True, "framealpha": 0.9})
    if place is figure:
        return figure.legend(handles, names, loc="outside right upper", **style)
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    return place.legend(handles, names, **beside, **style)


def grid_of(n: int, most_across: int) -> tuple[int, int]:
    """Return rows and columns of a grid of panels: as wide as allowed, and without a short row.

    >>> grid_of(4, 3), grid_of(6, 3), grid_of(1, 3)
    ((2, 2), (2, 3), (1, 1))
    """
    rows = int(np.ceil(n / most_across))
    return rows, int(np.ceil(n / rows))


def room_for_panels(figure: Any, aside: float = 1.5) -> int:
    """Return how many panels fit beside each other."""
    return max(1, int((figure.bbox.width / figure.figure.dpi - aside) / 1.9))


def room_for_text(figure: Any, across: int, aside: float = 1.5) -> int:
    """Return how many characters fit over each of several panels beside each other."""
    inches = figure.bbox.width / figure.figure.dpi - aside
    return max(8, int(inches / across / 0.085))


def dot(colour: str, marker: str) -> dict[str, Any]:
    """Return the style of a legend's marker."""
    edge = {"markerfacecolor": colour, "markeredgecolor": "white", "markeredgewidth": 0.5}
    return {"marker": marker, "markersize": 8, "linestyle": "none", **edge}


def check_explained(picture: str, estimator: Any) -> None:
    """Raise where what is drawn cannot be explained."""
    if not hasattr(type(estimator), "explain"):
        raise NaivelyError(
            f"{picture} needs an estimator of naively's; got "
            f"{type(estimator).__module__}.{type(estimator).__qualname__}."
        )


def check_at_least_one(**values: int) -> None:
    """Raise where a number of things to draw is below one."""
    for name, value in values.items():
        if value < 1:
            raise NaivelyError(f"{name} must be at least 1; got {value}.")


def check_option(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise where a value is none of those allowed."""
    if value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise NaivelyError(f"{name} must be one of {listed}; got {name}={value!r}.")


# --- colours and marks ---


def colour(k: int) -> str:
    """Return the colour of class k.

    >>> colour(0), colour(7)
    ('#0072B2', '#003F62')
    """
    other, part = _TONES[k // len(_HUES) % len(_TONES)]
    return mixed(_HUES[k % len(_HUES)], other, part) if part else _HUES[k % len(_HUES)]


def deep(k: int) -> str:
    """Return a darker shade of it, for lines and marks over points."""
    return mixed(colour(k), "#000000", 0.3)


def dash(k: int) -> Any:
    """Return the line style of class k."""
    return _DASHES[k // len(_HUES) % len(_DASHES)]


def marker(k: int) -> str:
    """Return the marker of class k."""
    return _MARKERS[k % len(_MARKERS)]


def marker_area(k: int) -> float:
    """Return how much area makes the marker of class k look as large as a circle."""
    return _AREAS.get(marker(k), 1.0)


def mixed(a: str, b: str, part: float) -> str:
    """Mix this part of colour b into colour a.

    >>> mixed("#000000", "#FFFFFF", 0.4)
    '#666666'
    """
    return str(matplotlib("colors").to_hex((1 - part) * rgb(a) + part * rgb(b))).upper()


def rgb(code: str) -> NDArray[np.float64]:
    """Return red, green and blue between 0 and 1.

    >>> rgb("#FF0000")
    array([1., 0., 0.])
    """
    return np.array(matplotlib("colors").to_rgb(code))
