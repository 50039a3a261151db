"""Pictures of what was measured of a model: importance, drift, tuning, terms of a row, fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively.display.plots import canvas
from naively.display.plots.display import Display
from naively.errors import NaivelyError
from naively.evaluation.candidates import COLUMNS
from naively.evaluation.metrics import scoring_of
from naively.evaluation.tuning import Tuning, described
from naively.inspection.diagnosis import Fit
from naively.inspection.drifts.value import BOUNDS, LEVELS
from naively.inspection.explanations import RowTerms
from naively.inspection.importance import Importance

_WORSE, _BETTER = canvas.colour(0), canvas.colour(1)  # without the column


@dataclass(eq=False, repr=False, kw_only=True)
class ImportanceDisplay(Display):
    """How much the log loss of unseen rows grows when a column is left out.

    Bars are the increase, with one standard error; below 0 the model predicts better without the
    column.


    Parameters
    ----------
    importance : Importance
        Of all columns.
    max_columns : int, default=20
        How many columns are drawn, the most important ones.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        One bar per column, the first on top.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from naively import GaussianNB
    >>> from naively.plots import ImportanceDisplay
    >>> model = GaussianNB(calibration="weights").fit(*load_iris(return_X_y=True))
    >>> display = ImportanceDisplay.from_estimator(model)
    >>> [round(float(bar.get_width()), 2) for bar in display.bars_]
    [0.41, 0.08, 0.02, 0.0]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    importance: Importance
    max_columns: int = 20

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, **options: Any) -> Self:
        """Measure the importance of the columns of a fitted estimator, and draw.

        Parameters
        ----------
        estimator : fitted estimator
            With `importance_`, or with rows to measure it on.
        X, y : table and labels, optional
            Rows that the model has not learned from; None for its own sample.
        **options
            As for `from_importance`.
        """
        if not hasattr(type(estimator), "importance_"):
            raise NaivelyError(
                f"importance needs an estimator of naively's; got "
                f"{type(estimator).__module__}.{type(estimator).__qualname__}."
            )
        found = estimator.importance_ if X is None else estimator.importance(X, y)
        return cls.from_importance(found, **options)

    @classmethod
    def from_importance(
        cls, importance: Importance, *, max_columns: int = 20, ax: Any = None
    ) -> Self:
        """Draw what ``importance_`` or `importance` returned.

        Parameters
        ----------
        importance : Importance
            Of all columns.
        max_columns : int, default=20
            How many columns are drawn, the most important ones.
        """
        canvas.check_at_least_one(max_columns=max_columns)
        return cls(importance=importance, max_columns=max_columns).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        found = self.importance
        at = found.order[: self.max_columns]
        ax = self._one_axes(ax, 7.6, 1.7 + 0.32 * at.size)
        y = np.arange(at.size)
        error = {"xerr": found.error[at], "error_kw": {"ecolor": canvas.FAINT, "elinewidth": 1}}
        colours = np.where(found.increase[at] >= 0, _WORSE, _BETTER).tolist()
        self.bars_ = ax.barh(y, found.increase[at], 0.62, color=colours, **error)
        ax.axvline(0.0, color=canvas.INK, linewidth=0.9, zorder=0)
        canvas.named_rows(ax, [found.columns[j] for j in at], 32)
        ax.set_xlabel("increase of the log loss without the column", color=canvas.INK)
        notes = [f"With all columns, the log loss of {found.n_rows:,} unseen rows is "]
        notes[0] += f"{found.loss:.4f}. Lines are standard errors."
        if at.size < len(found.columns):
            notes.append(f"The {at.size} most important of {len(found.columns):,} columns.")
        canvas.heading(ax, "Importance of columns", [" ".join(notes)], width=84)
        return self


_COLOURS = (canvas.REST, canvas.REST, "#E69F00", "#D55E00")  # by severity


@dataclass(eq=False, repr=False, kw_only=True)
class DriftDisplay(Display):
    """How far each column has moved: a bar for all rows, and a mark for each class.

    Distances are from 0 to 1; bars of columns that may have changed by chance are grey. It is
    recommended to create a display with `from_drift`.

    Parameters
    ----------
    drift : Drift
        What `naively.drift` returned.
    max_columns : int, default=20
        How many columns are drawn: those that have changed most.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        One bar per column, the one that has changed most on top.

    Examples
    --------
    >>> import numpy as np
    >>> from naively import drift
    >>> rng = np.random.default_rng(0)
    >>> display = drift(rng.normal(size=(900, 2)), rng.normal(1.0, size=(900, 2))).plot()
    >>> len(display.bars_)
    2
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    drift: Any
    max_columns: int = 20

    @classmethod
    def from_drift(cls, drift: Any, *, max_columns: int = 20, ax: Any = None) -> Self:
        """Draw what `naively.drift` returned.

        Parameters
        ----------
        drift : Drift
            Two sets of rows compared.
        max_columns : int, default=20
            How many columns are drawn: those that have changed most.
        """
        canvas.check_at_least_one(max_columns=max_columns)
        return cls(drift=drift, max_columns=max_columns).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        found = self.drift
        at = found.order[: self.max_columns]
        ax = self._one_axes(ax, 7.6, 1.9 + 0.3 * at.size)
        y, distance = np.arange(at.size), found.measures.distance[:, at]
        levels = found.levels[0, at].tolist()
        colours = [_COLOURS[level] for level in levels]
        self.bars_ = ax.barh(y, np.nan_to_num(distance[0]), 0.62, color=colours)
        marked, faint = found.levels[1:, at] > 0, {"s": 22, "linewidth": 0.8, "zorder": 3}
        for inside, style in ((marked, canvas.INK), (~marked, canvas.REST)):
            k, j = np.nonzero(inside & ~np.isnan(distance[1:]))
            ax.scatter(distance[1:][k, j], j, marker="|", color=style, **faint)
        for bound, name in zip(BOUNDS, LEVELS[2:], strict=True):
            ax.axvline(bound, color=canvas.FAINT, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
            ax.annotate(
                name,
                (bound, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(3, -2),
                textcoords="offset points",
                va="top",
                fontsize=8,
                color=canvas.FAINT,
            )
        canvas.named_rows(ax, [found.columns[j] for j in at.tolist()], 32)
        ax.set_xlim(0.0, max(0.3, 1.08 * float(np.nan_to_num(distance).max(initial=0.0))))
        ax.set_ylim(at.size - 0.4, -1.2)
        ax.set_xlabel("Jensen-Shannon distance beyond chance", color=canvas.INK)
        more = len(found.columns) - at.size
        notes = [
            "Bars are all rows, ticks are classes." if found.classes.size else "",
            "What is grey may be chance, or is too small to matter.",
            f"{more:,} columns that have changed less are not shown." if more else "",
        ]
        canvas.heading(ax, found.title, [" ".join(note for note in notes if note)], width=98)
        return self


_FEWEST = 4  # values of a parameter that make a line
_MOST_LINES = 6
_WIDE = 50.0  # a ratio of values that is drawn on a logarithmic scale


class TuningLine(NamedTuple):
    """Candidates that differ in one parameter: its values, and the scores."""

    name: str
    x: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class TuningDisplay(Display):
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
        """
        canvas.check_at_least_one(max_candidates=max_candidates)
        found = {name: len(set(_numbers(tuning, name).values())) for name in tuning.varied}
        if parameter is not None and not found.get(parameter):
            raise NaivelyError(
                f"parameter must be one of numbers that candidates differ in; got {parameter!r}. "
                f"There are {', '.join(name for name, n in found.items() if n) or 'none'}."
            )
        if parameter is None:
            most = max(found, key=lambda name: found[name], default=None)
            parameter = most if most is not None and found[most] >= _FEWEST else None
        return cls(tuning=tuning, parameter=parameter, max_candidates=max_candidates).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        n_dots = min(self.max_candidates, len(self.tuning.params))
        size = (7.6, 4.4) if self.parameter else (7.6, 1.4 + 0.3 * n_dots)
        ax = self._one_axes(ax, *size)
        scoring = scoring_of(self.tuning.scoring)
        if self.parameter:
            canvas.tidy(ax, grid="y")
            self._draw_lines(ax, self.parameter)
            ax.set_ylabel(scoring.title, color=canvas.INK)
        else:
            self._draw_dots(ax, n_dots)
            ax.set_xlabel(scoring.title, color=canvas.INK)
        best, mean = described(self.tuning.best_params), self.tuning.best_score
        better = "higher" if scoring.greater_is_better else "lower"
        notes = [
            f"Best: {best} ({mean:.4f}).",
            f"{self.tuning.method}, {self.tuning.n_rows:,} rows; {better} is better. "
            + ("The band is" if self.parameter else "Bars are")
            + " standard deviations over the folds.",
        ]
        notes = [canvas.caption(note, 240) for note in notes]
        title = f"{self.tuning.model}: {len(self.tuning.params):,} candidates"
        canvas.heading(ax, title, notes, width=96 if self.parameter else 60)
        return self

    def _draw_lines(self, ax: Any, parameter: str) -> None:
        lines = lines_of(self.tuning, parameter)
        handles = []
        for i, line in enumerate(lines[:_MOST_LINES]):
            style = {"color": canvas.colour(i), "linestyle": canvas.dash(i)}
            if i == 0:  # the band of the line of the best candidate
                low, high = line.mean - line.std, line.mean + line.std
                ax.fill_between(line.x, low, high, color=style["color"], alpha=0.12, linewidth=0)
            handles += ax.plot(line.x, line.mean, **style, marker="o", markersize=3.5)
        model = self.tuning.best_model  # which may have the parameter as it was given
        best = model.n_features_in_ if parameter == COLUMNS else getattr(model, parameter)
        ring = {"markerfacecolor": "none", "markeredgecolor": canvas.INK, "markeredgewidth": 1.4}
        if np.ndim(best) == 0:
            ax.plot([best], [self.tuning.best_score], "o", markersize=10, **ring)
        every = np.concatenate([line.x for line in lines])
        if every.min() > 0 and every.max() > _WIDE * every.min():
            ax.set_xscale("log")
        name = "number of columns" if parameter == COLUMNS else parameter
        ax.set_xlabel(canvas.caption(name), color=canvas.INK)
        if len(lines) > 1:
            names = [canvas.caption(line.name, 34) for line in lines[:_MOST_LINES]]
            title = None if len(lines) <= _MOST_LINES else f"best {_MOST_LINES} of {len(lines)}"
            canvas.legend(ax, handles, names, title=title)

    def _draw_dots(self, ax: Any, n_dots: int) -> None:
        order = self.tuning.order[:n_dots]
        y = np.arange(n_dots)
        mean, std = self.tuning.mean[order], self.tuning.std[order]
        colours = [canvas.colour(0)] + [canvas.REST] * (n_dots - 1)
        ax.hlines(y, mean - std, mean + std, color=colours, linewidth=2)
        ax.scatter(mean, y, color=[canvas.colour(0)] + [canvas.FAINT] * (n_dots - 1), zorder=3)
        canvas.named_rows(ax, [described(self.tuning.params[i]) for i in order], 60)


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


_FOR, _AGAINST = canvas.colour(0), canvas.colour(1)


@dataclass(eq=False, repr=False, kw_only=True)
class WaterfallDisplay(Display):
    """How the terms of a row add up to the log-odds of one class against another.

    Bars begin where the one above ends: at 0 both classes are equally probable, and where the last
    bar ends is the answer. What speaks for the class goes to the right.


    Parameters
    ----------
    terms : RowTerms
        Prior, bias and terms of the row, the strongest first.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        One bar per term, the first on top.

    Examples
    --------
    >>> from naively import GaussianNB
    >>> from naively.plots import WaterfallDisplay
    >>> model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
    >>> display = WaterfallDisplay.from_estimator(model, [[4.0]])
    >>> [round(float(bar.get_width()), 2) for bar in display.bars_]
    [0.0, 3.5]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    terms: RowTerms

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, row: int = 0, **options: Any) -> Self:
        """Explain rows by a fitted estimator of naively's, and draw one of them.

        Parameters
        ----------
        estimator : fitted estimator
            With `explain`.
        X : table
            Rows.
        row : int, default=0
            Which row to draw.
        **options
            As for `from_explanation`.
        """
        if not hasattr(estimator, "explain"):
            raise NaivelyError(
                f"a waterfall needs an estimator of naively's; got {type(estimator).__name__}."
            )
        return cls.from_explanation(estimator.explain(X), row, **options)

    @classmethod
    def from_explanation(
        cls,
        explanation: Any,
        row: int = 0,
        *,
        of: Any = None,
        against: Any = None,
        max_terms: int = 12,
        ax: Any = None,
    ) -> Self:
        """Draw a row of what `explain` returned.

        Parameters
        ----------
        explanation : Explanation
            Of some rows.
        row : int, default=0
            Which of them.
        of, against : labels, optional
            The classes that are compared; the answer and the next most probable class by default.
        max_terms : int, default=12
            How many terms have a bar of their own, the strongest; the others share one.
        """
        canvas.check_at_least_one(max_terms=max_terms)
        found = explanation.row_terms(row, of=of, against=against, max_terms=max_terms)
        return cls(terms=found).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        every = (*self.terms.constants, *self.terms.terms)
        ax = self._one_axes(ax, 7.6, 1.5 + 0.32 * len(every))
        width = _finite(np.array([term.log_odds for term in every]))
        start = np.concatenate([[0.0], np.cumsum(width)[:-1]])
        y = np.arange(len(every))
        colours = [_FOR if value >= 0 else _AGAINST for value in width]
        self.bars_ = ax.barh(y, width, 0.66, left=start, color=colours)
        for at, end in zip(y[:-1], (start + width)[:-1], strict=True):
            ax.plot([end, end], [at, at + 1], color=canvas.FAINT, linewidth=0.7, zorder=0)
        ax.axvline(0.0, color=canvas.INK, linewidth=0.9, zorder=0)
        self._label(ax, width, start)
        canvas.named_rows(ax, [term.label for term in every], 40)
        found = self.terms
        of, against = (canvas.caption(name, 24) for name in (found.of, found.against))
        ax.set_xlabel(f"log-odds: ← {against}    {of} →", color=canvas.INK)
        total = f"{found.total.log_odds:.2f}".replace("inf", "∞")
        note = f"p = {found.p_of:.4f} against {found.p_against:.4f}; log-odds {total}."
        canvas.heading(ax, f"Row {found.row}: {of} rather than {against}", [note], width=72)
        return self

    def _label(self, ax: Any, width: NDArray[np.float64], start: NDArray[np.float64]) -> None:
        """Write what each term adds beside its bar, on the side it points to."""
        every = (*self.terms.constants, *self.terms.terms)
        ends = np.concatenate([start, start + width, [0.0]])
        low, high = float(ends.min()), float(ends.max())
        room = 0.14 * ((high - low) or 1.0)
        ax.set_xlim(low - room, high + room)
        for at, (term, w, left) in enumerate(zip(every, width, start, strict=True)):
            side = 1 if w >= 0 else -1
            style = {"va": "center", "ha": "left" if side > 0 else "right", "fontsize": 8.5}
            where = {"xytext": (4 * side, 0), "textcoords": "offset points"}
            text = f"{term.log_odds:+.2f}".replace("inf", "∞")
            ax.annotate(text, (left + w, at), color=canvas.INK, **where, **style)


def _finite(width: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return widths that can be drawn: infinity is longer than all others together."""
    finite = np.isfinite(width)
    far = 1.0 + 1.2 * float(np.abs(width[finite]).sum())
    return np.where(finite, width, np.sign(width) * far)


@dataclass(eq=False, repr=False, kw_only=True)
class FitDisplay(Display):
    r"""Whether the cells of a column are distributed as its family says, class by class.

    Each cell is replaced by the probability of at most as much, F(x), in its own class. Where the
    family fits, these are uniform: all bars are as high as the line, up to chance, which the band
    shows for 95 of 100 bars. Bars that are high in the middle: the family is too wide. High at both
    ends: it is too narrow. Sloping: the cells are skewed, or moved.


    Parameters
    ----------
    fits : sequence of Fit
        What to draw, a panel each.

    Attributes
    ----------
    bars_ : list of matplotlib BarContainer
        One per panel.

    Examples
    --------
    >>> import numpy as np
    >>> from naively import NaiveBayes
    >>> from naively.plots import FitDisplay
    >>> X = np.random.default_rng(0).exponential(size=(200, 1))
    >>> model = NaiveBayes(families={0: "gaussian"}).fit(X, ["a"] * 100 + ["b"] * 100)
    >>> display = FitDisplay.from_estimator(model)
    >>> len(display.bars_)
    1
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    fits: Sequence[Fit]

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> Self:
        """Diagnose a fitted estimator of naively's, and draw.

        Parameters
        ----------
        estimator : fitted estimator
            One of naively's, with a sample of rows.
        **options
            As for `from_diagnosis`.
        """
        from naively.inspection.diagnosis import diagnose

        return cls.from_diagnosis(diagnose(estimator), **options)

    @classmethod
    def from_diagnosis(
        cls, diagnosis: Any, *, column: str | None = None, max_panels: int = 6, ax: Any = None
    ) -> Self:
        """Draw the columns whose families fit worst, each in its worst class; or all of one column.

        Parameters
        ----------
        diagnosis : Diagnosis
            What `naively.diagnose` returned.
        column : str, optional
            A column, of which all classes are drawn; None for the columns that fit worst.
        max_panels : int, default=6
            How many panels are drawn.
        """
        canvas.check_at_least_one(max_panels=max_panels)
        ascending = sorted(diagnosis.fits, key=lambda fit: fit.distance)
        fits = list({fit.place: fit for fit in ascending}.values())  # the worst class of each
        fits.sort(key=lambda fit: -fit.distance)
        if column is not None:
            fits = [fit for fit in diagnosis.fits if fit.column == column]
        if not fits:
            known = sorted({fit.column for fit in diagnosis.fits})
            what = f"column {column!r}" if column is not None else "any column"
            raise NaivelyError(
                f"there must be a fit to draw; the diagnosis has none of {what}"
                + (f", but of {', '.join(map(repr, known[:10]))}." if known else ".")
            )
        return cls(fits=fits[:max_panels]).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        rows, across = canvas.grid_of(len(self.fits), 3)
        self._panels(ax, (2.9 * across, 1.1 + 2.1 * rows), (rows, across), sharex=True)
        self.bars_: list[Any] = []
        room = canvas.room_for_text(self.figure_, across, 0.5)
        for panel, fit in zip(self.ax_.flat, self.fits, strict=False):
            self._panel(panel, fit, room)
        for panel in self.ax_.flat[len(self.fits) :]:
            panel.set_visible(False)
        note = (
            "Share of the cells by F(x), the family's probability of at most x. Where the family "
            "fits, bars are as high as the line, and 95 of 100 within the band."
        )
        canvas.heading(self.figure_, "Does the family fit?", [note], width=int(across * room))
        return self

    def _panel(self, panel: Any, fit: Fit, room: int) -> None:
        n = fit.histogram.size
        width, expected = 1 / n, 1 / n
        chance = 1.96 * np.sqrt(expected * (1 - expected) / fit.n_rows)
        panel.axhspan(
            max(0.0, expected - chance), expected + chance, color=canvas.GRID, linewidth=0
        )
        bars = panel.bar(
            np.arange(n) * width,
            fit.histogram,
            width,
            align="edge",
            color=canvas.colour(0),
            alpha=0.85,
        )
        panel.axhline(expected, color=canvas.INK, linewidth=0.9)
        panel.set_xlim(0, 1)
        panel.set_ylim(bottom=0)
        canvas.tidy(panel)
        name = canvas.caption(f"{fit.column}, {fit.label}", room)
        panel.set_title(
            f"{name}\n{fit.family}: distance {fit.distance:.2f}",
            loc="left",
            fontsize=8.5,
            color=canvas.INK,
        )
        self.bars_.append(bars)
