"""Nomogram: points for every value of every column, their total, and its probability."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from naively.data.kinds import CATEGORY, NUMBER, TEXT
from naively.display.plots import _canvas, palette
from naively.display.plots._nomogram import Nomogram, NomogramAxis, read_nomogram
from naively.errors import NaivelyError

__all__ = ["NomogramDisplay"]

# those whose names matter most first: where there is no room, later ones have none
_PROBABILITIES = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.05, 0.95, 0.3, 0.7, 0.2, 0.8, 0.4, 0.6)
_FEW = 9  # numbers that a line names, about
_FAR = 7.0  # log-odds to either side that the ruler of totals shows
_LETTER = 1.02  # points that a letter is wide
_MARK = palette.colour(1)


@dataclass(eq=False, repr=False, kw_only=True)
class NomogramDisplay:
    """Points for every value of every column, their total, and the probability that it means.

    Look up the points of each value straight above it, on the first line; add them up, and find the
    total and its probability on the last two. Values of numbers above a line add more as they
    grow, those below it less. A tick of grey is a missing cell.

    With more than two classes it compares two of them: the probability of one, rather than the
    other. Interactions are no sum over columns, so they have no line, and it says so.

    It is recommended to create a display with `from_estimator`.

    Parameters
    ----------
    nomogram : Nomogram
        The lines, and what points mean.
    row : RowPoints, optional
        A row that is marked.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    marks_ : matplotlib Line2D or None
        The marked row: a dot on each line, on that of totals and on that of probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from naively import GaussianNB
    >>> from naively.plots import NomogramDisplay
    >>> model = GaussianNB().fit(*load_iris(return_X_y=True))
    >>> display = NomogramDisplay.from_estimator(model, of=2, against=1)
    >>> display.nomogram.axes[0].name
    'column 3'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    nomogram: Nomogram
    row: RowPoints | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        row: int = 0,
        *,
        of: Any = None,
        against: Any = None,
        max_columns: int = 10,
        ax: Any = None,
    ) -> Self:
        """Read the points off a fitted estimator of naively's, and draw.

        Parameters
        ----------
        estimator : fitted estimator
            Of any kind of columns.
        X : table, optional
            Rows, of which one is marked.
        row : int, default=0
            Which of them.
        of, against : labels, optional
            The classes that are compared. By default the answer for the row that is marked and the
            next most probable class; without one, of two classes the second against the first, and
            of more the two most frequent ones.
        max_columns : int, default=10
            How many columns are drawn: the most important ones, or those of the widest range where
            importance cannot be measured for want of a sample. The others are missing.
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.

        Returns
        -------
        NomogramDisplay
            Drawn.
        """
        if not hasattr(estimator, "explain"):
            raise NaivelyError(
                f"a nomogram needs an estimator of naively's; got "
                f"{type(estimator).__module__}.{type(estimator).__qualname__}."
            )
        if max_columns < 1:
            raise NaivelyError(f"max_columns must be at least 1; got {max_columns}.")
        if not isinstance(row, Integral):
            raise NaivelyError(f"row must be the number of a row; got {row!r}.")
        if X is None:
            return cls(nomogram=read_nomogram(estimator, of, against, max_columns)).plot(ax)
        one = estimator.explain(X)[row]
        odds = one.log_odds(of, against)
        classes = one.classes.tolist()
        a, b = int(odds.of[0]), int(odds.against[0])
        found = read_nomogram(estimator, classes[a], classes[b], max_columns)
        places = {int(j): t for t, j in enumerate(one.contributions.columns) if j >= 0}
        own = [places.get(axis.column) for axis in found.axes]
        each = [0.0 if t is None else float(odds.values[0, t]) for t in own]
        rest = float(odds.total[0]) - found.constant - sum(each)
        return cls(nomogram=found, row=RowPoints(int(one.rows[0]), tuple(each), rest)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.

        Returns
        -------
        NomogramDisplay
            Itself.
        """
        found, row = self.nomogram, self.row
        shown = row is not None and abs(row.rest) > 1e-12
        lines = len(found.axes) + shown
        self.ax_ = ax = _canvas.one_axes(ax, (9.0, 2.6 + 0.58 * lines))
        self.figure_ = ax.figure
        names = ["points", *(_canvas.caption(axis.name, 26) for axis in found.axes)]
        names += [*(["everything else"] if shown else []), "total points", f"p({found.of})"]
        _ruler(ax, 0, [(float(v), f"{v}", True) for v in range(0, 101, 10)])
        for y, axis in enumerate(found.axes, 1):
            self._column(ax, y, axis)
        self._totals(ax, lines + 1)
        self.marks_ = None if row is None else self._mark(ax, row, shown)
        ax.set_yticks(range(len(names)), [_canvas.caption(name, 30) for name in names])
        ax.set_ylim(len(names) - 0.4, -0.7)
        ax.set_xlim(-3, 103)
        ax.set_xticks([])
        for spine in ax.spines.values():
            spine.set_visible(False)
        ax.tick_params(axis="y", length=0, labelsize=9, colors=palette.INK)
        of, against = (_canvas.caption(name, 24) for name in (found.of, found.against))
        _canvas.heading(ax, f"Nomogram: {of} rather than {against}", [self._note()], width=104)
        return self

    def _column(self, ax: Any, y: int, axis: NomogramAxis) -> None:
        found = self.nomogram
        values = axis.cells
        if axis.kind is NUMBER and values.size > _FEW:
            values = _canvas.matplotlib("ticker").MaxNLocator(_FEW).tick_values(*values[[0, -1]])
        ticks = [
            (float(found.points(axis, tick.log_odds)), tick.label, tick.rising)
            for tick in axis.ticks([float(v) for v in values])
        ]
        ends = found.points(axis, [axis.low, axis.high])
        _ruler(ax, y, ticks, ends, both=axis.kind is not NUMBER)
        at = float(found.points(axis, 0.0))
        ax.plot([at, at], [y - 0.13, y + 0.13], color=palette.REST, linewidth=2.4, zorder=1)

    def _totals(self, ax: Any, y: int) -> None:
        """Draw the last two lines: totals, as far as probabilities are between 0.001 and 0.999."""
        found = self.nomogram
        most = sum((axis.high - axis.low) / found.unit for axis in found.axes)
        far = (np.array([-_FAR, _FAR]) - found.start) / found.unit
        low, high = max(0.0, float(far[0])), min(most, float(far[1]))
        if self.row is not None:
            own = self.row.total(found)
            low, high = min(low, own), max(high, own)
        self._total = low, high = (low, high if high > low else low + 1.0)
        values = _canvas.matplotlib("ticker").MaxNLocator(10).tick_values(low, high)
        inside = [float(v) for v in values if low <= v <= high]
        _ruler(ax, y, [(self._across(v), f"{v:g}", True) for v in inside], (0.0, 100.0))
        ticks = [(float(found.total(p)), f"{p:g}", True) for p in _PROBABILITIES]
        shown = [(self._across(t), label, up) for t, label, up in ticks if low <= t <= high]
        _ruler(ax, y + 1, shown, (0.0, 100.0))

    def _across(self, total: float) -> float:
        low, high = self._total
        return 100 * (total - low) / (high - low)

    def _mark(self, ax: Any, row: RowPoints, shown: bool) -> Any:
        """Mark a row: a dot on each line, and what columns without a line add."""
        found = self.nomogram
        pairs = zip(found.axes, row.log_odds, strict=True)
        points = [float(found.points(axis, value)) for axis, value in pairs]
        x = [min(max(-2.0, value), 102.0) for value in points]  # beside a line that is too short
        y = [float(at) for at in range(1, len(x) + 1)]
        total = row.total(found)
        below = len(x) + shown + 1
        if shown:
            text = f"{row.rest / found.unit:+.1f} points in row {row.number}"
            ax.text(0, len(x) + 1, text, va="center", fontsize=8.5, color=_MARK)
        x += [self._across(total)] * 2
        y += [float(below), float(below + 1)]
        style = {"marker": "o", "linestyle": "none", "markersize": 7, "zorder": 4}
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.9, "clip_on": False}
        return ax.plot(x, y, color=_MARK, **style, **edge)[0]

    def _note(self) -> str:
        found, notes = self.nomogram, []
        if len(found.axes) < found.n_columns:
            how = "most important" if found.ranked == "importance" else "widest"
            rest = "missing" if self.row is None else "in everything else"
            notes.append(
                f"The {len(found.axes)} {how} of {found.n_columns:,} columns; others are {rest}."
            )
        if found.together and self.row is None:
            notes.append(
                f"Interactions ({len(found.together)} terms) are left out: "
                "probabilities are those without them."
            )
        named = [
            axis
            for axis in found.axes
            if axis.kind is CATEGORY and axis.n_values > len(axis.labels)
        ]
        if named:
            notes.append(f"Of categories, the {len(named[0].labels)} most frequent.")
        if any(axis.kind is TEXT for axis in found.axes):
            notes.append("Words are those that say most, each as a text of one word.")
        if self.row is not None:
            p = float(found.probability(self.row.total(found)))
            notes.append(f"Row {self.row.number}: {self.row.total(found):.1f} points, p = {p:.4f}.")
        notes.append("Grey: a missing cell.")
        return " ".join(notes)


@dataclass(frozen=True)
class RowPoints:
    """A row: what the cells of the drawn columns add to the log-odds, and what the rest adds."""

    number: int
    log_odds: tuple[float, ...]
    rest: float

    def total(self, nomogram: Nomogram) -> float:
        """Return its total points, with what has no line."""
        least = sum(axis.low for axis in nomogram.axes)
        return (sum(self.log_odds) + self.rest - least) / nomogram.unit


def _ruler(ax: Any, y: int, ticks: Any, ends: Any = (0.0, 100.0), *, both: bool = False) -> None:
    """Draw a line with ticks and names; names that have no room are left out."""
    low, high = float(ends[0]), float(ends[1])
    ax.plot([low, high], [y, y], color=palette.INK, linewidth=1.0, zorder=2)
    taken: dict[int, list[tuple[float, float]]] = {-1: [], 1: []}
    for x, label, rising in ticks:
        side = -1 if rising else 1  # above the line, as y grows downwards
        ax.plot([x, x], [y, y + 0.11 * side], color=palette.INK, linewidth=0.9, zorder=2)
        text = _canvas.caption(label, 18)
        half = 0.5 * _LETTER * (len(text) + 1)
        for where in (side, -side) if both else (side,):
            if all(x + half <= a or x - half >= b for a, b in taken[where]):
                taken[where].append((x - half, x + half))
                place = {"ha": "center", "va": "bottom" if where < 0 else "top"}
                ax.text(x, y + 0.14 * where, text, fontsize=7.5, color=palette.INK, **place)
                break
