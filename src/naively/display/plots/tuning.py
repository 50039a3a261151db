"""A picture of tuning: the score of every candidate, by a parameter or one below the other.

>>> from sklearn.datasets import load_wine
>>> from naively import GaussianNB, tune
>>> grid = {"var_smoothing": [1e-9, 1e-6, 1e-3, 1.0], "smoothing": ["column", "global"]}
>>> found = tune(GaussianNB(), *load_wine(return_X_y=True), grid=grid)
>>> lines_of(found, "var_smoothing")[0].name, lines_of(found, "var_smoothing")[0].x
('smoothing=global', array([1.e-09, 1.e-06, 1.e-03, 1.e+00]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively.display.plots import _canvas, palette
from naively.errors import NaivelyError
from naively.evaluation.candidates import COLUMNS
from naively.evaluation.metrics import scoring_of
from naively.evaluation.tuning import Tuning, described

__all__ = ["TuningDisplay", "lines_of"]

_FEWEST = 4  # values of a parameter that make a line
_MOST_LINES = 6
_LABEL = 60  # characters of a candidate's name
_WIDE = 50.0  # a ratio of values that is drawn on a logarithmic scale


class TuningLine(NamedTuple):
    """Candidates that differ in one parameter: its values, and the scores."""

    name: str
    x: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]


@dataclass
class TuningDisplay:
    """The scores of candidates, with their standard deviations over the folds.

    Candidates are lines along a parameter that has many values, and otherwise dots, the best first.

    Attributes
    ----------
    tuning : Tuning
        What is drawn.
    parameter : str or None
        The parameter along which lines go; None for dots.
    max_candidates : int
        How many dots there are.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from naively import GaussianNB, tune
    >>> from naively.plots import TuningDisplay
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> found = tune(GaussianNB(), X, y, grid={"variance": ["class", "shared"]}, folds=3)
    >>> display = TuningDisplay.from_tuning(found)
    >>> display.parameter is None  # dots
    True
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    tuning: Tuning
    parameter: str | None
    max_candidates: int = 20
    ax_: Any = None
    figure_: Any = None

    @classmethod
    def from_tuning(
        cls,
        tuning: Tuning,
        *,
        parameter: str | None = None,
        max_candidates: int = 20,
        ax: Any = None,
    ) -> Self:
        """Draw what `naively.tune` returned.

        Parameters
        ----------
        tuning : Tuning
            Candidates and their scores.
        parameter : str, optional
            A parameter of numbers, or ``"columns"``, whose values are the horizontal axis; by
            default the one with most values, if it has four or more.
        max_candidates : int, default=20
            How many candidates are drawn where there is no such parameter, the best.
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.

        Returns
        -------
        TuningDisplay
            Drawn.
        """
        if max_candidates < 1:
            raise NaivelyError(f"max_candidates must be at least 1; got {max_candidates}.")
        found = {name: len(set(_numbers(tuning, name).values())) for name in tuning.varied}
        if parameter is not None and not found.get(parameter):
            raise NaivelyError(
                f"parameter must be one of numbers that candidates differ in; got {parameter!r}. "
                f"There are {', '.join(name for name, n in found.items() if n) or 'none'}."
            )
        if parameter is None:
            most = max(found, key=lambda name: found[name], default=None)
            parameter = most if most is not None and found[most] >= _FEWEST else None
        return cls(tuning, parameter, max_candidates).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.

        Returns
        -------
        TuningDisplay
            Itself.
        """
        n_dots = min(self.max_candidates, len(self.tuning.params))
        size = (7.6, 4.4) if self.parameter else (7.6, 1.4 + 0.3 * n_dots)
        self.ax_ = ax = _canvas.one_axes(ax, size)
        self.figure_ = ax.figure
        scoring = scoring_of(self.tuning.scoring)
        _canvas.tidy(ax, grid="y" if self.parameter else "x")
        if self.parameter:
            self._draw_lines(ax, self.parameter)
            ax.set_ylabel(scoring.title, color=palette.INK)
        else:
            self._draw_dots(ax, n_dots)
            ax.set_xlabel(scoring.title, color=palette.INK)
        best, mean = described(self.tuning.best_params), self.tuning.best_score
        better = "higher" if scoring.greater_is_better else "lower"
        notes = [
            f"Best: {best} ({mean:.4f}).",
            f"{self.tuning.method}, {self.tuning.n_rows:,} rows; {better} is better. "
            + ("The band is" if self.parameter else "Bars are")
            + " standard deviations over the folds.",
        ]
        notes = [_canvas.caption(note, 240) for note in notes]
        title = f"{self.tuning.model}: {len(self.tuning.params):,} candidates"
        _canvas.heading(ax, title, notes, width=96 if self.parameter else 60)
        return self

    def _draw_lines(self, ax: Any, parameter: str) -> None:
        lines = lines_of(self.tuning, parameter)
        handles = []
        for i, line in enumerate(lines[:_MOST_LINES]):
            style = {"color": palette.colour(i), "linestyle": palette.dash(i)}
            if i == 0:  # the band of the line of the best candidate
                low, high = line.mean - line.std, line.mean + line.std
                ax.fill_between(line.x, low, high, color=style["color"], alpha=0.12, linewidth=0)
            handles += ax.plot(line.x, line.mean, **style, marker="o", markersize=3.5)
        model = self.tuning.best_model  # which may have the parameter as it was given
        best = model.n_features_in_ if parameter == COLUMNS else getattr(model, parameter)
        ring = {"markerfacecolor": "none", "markeredgecolor": palette.INK, "markeredgewidth": 1.4}
        if np.ndim(best) == 0:
            ax.plot([best], [self.tuning.best_score], "o", markersize=10, **ring)
        every = np.concatenate([line.x for line in lines])
        if every.min() > 0 and every.max() > _WIDE * every.min():
            ax.set_xscale("log")
        name = "number of columns" if parameter == COLUMNS else parameter
        ax.set_xlabel(_canvas.caption(name), color=palette.INK)
        if len(lines) > 1:
            names = [_canvas.caption(line.name, 34) for line in lines[:_MOST_LINES]]
            title = None if len(lines) <= _MOST_LINES else f"best {_MOST_LINES} of {len(lines)}"
            _canvas.legend(ax, handles, names, title=title)

    def _draw_dots(self, ax: Any, n_dots: int) -> None:
        order = self.tuning.order[:n_dots]
        y = np.arange(n_dots)
        mean, std = self.tuning.mean[order], self.tuning.std[order]
        colours = [palette.colour(0)] + [palette.REST] * (n_dots - 1)
        ax.hlines(y, mean - std, mean + std, color=colours, linewidth=2)
        ax.scatter(mean, y, color=[palette.colour(0)] + [palette.FAINT] * (n_dots - 1), zorder=3)
        texts = [_canvas.caption(described(self.tuning.params[i]), _LABEL) for i in order]
        ax.set_yticks(y, texts)
        ax.invert_yaxis()
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)


def lines_of(tuning: Tuning, parameter: str) -> list[TuningLine]:
    """Return the candidates that have a parameter by all others, the line of the best first."""
    values, mean = _numbers(tuning, parameter), tuning.mean
    groups: dict[str, list[int]] = {}
    for i in values:
        others = {name: its for name, its in tuning.params[i].items() if name != parameter}
        groups.setdefault(described(others) if others else "", []).append(i)
    found, rank = [], tuning.rank
    for name in sorted(groups, key=lambda name: min(rank[i] for i in groups[name])):
        at = sorted(groups[name], key=lambda i: values[i])
        x = np.array([values[i] for i in at])
        found.append(TuningLine(name, x, mean[at], tuning.std[at]))
    return found


def _numbers(tuning: Tuning, parameter: str) -> dict[int, float]:
    """Return the values of a parameter by candidate, where they are numbers."""
    found: dict[int, float] = {}
    for i, params in enumerate(tuning.params):
        value = params.get(parameter)
        if parameter == COLUMNS:
            value = None if value is None else len(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[i] = float(value)
    return found
