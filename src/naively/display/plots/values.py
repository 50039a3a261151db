"""Pictures of what was measured: importance, drift, tuning, terms of a row, fits, comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from naively.display.plots import canvas
from naively.display.plots.canvas import Display
from naively.errors import NaivelyError
from naively.evaluation.candidates import COLUMNS
from naively.evaluation.metrics import scoring_of
from naively.evaluation.tuning import Tuning, described
from naively.inspection.diagnosis import Fit, diagnose
from naively.inspection.drifts.value import BOUNDS, LEVELS
from naively.inspection.explanations import RowTerms
from naively.inspection.importance import Importance

_MORE, _LESS = canvas.colour(0), canvas.colour(1)  # bars above and below 0
_SEVERITIES = (canvas.REST, canvas.REST, "#E69F00", "#D55E00")
_MIN_VALUES = 4  # of a parameter that make a line
_MAX_LINES = 6
_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_LOG_RATIO = 50.0  # of values that are drawn on a logarithmic scale


@dataclass(eq=False, repr=False, kw_only=True)
class ImportanceDisplay(Display):
    """How much the log loss of unseen rows grows when a column is left out.

    Bars are the increase, with one standard error; below 0 the model predicts better without the
    column.

    Parameters
    ----------
    importance : Importance
        What ``importance_`` or `importance` returned.
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
    """

    importance: Importance
    max_columns: int = 20

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, **options: Any) -> Self:
        """Measure the importance of the columns of a fitted estimator, and draw.

        ``X`` and ``y`` are rows that the model has not learned from; None for its own sample.
        """
        canvas.check_explained("importance", estimator)
        found = estimator.importance_ if X is None else estimator.importance(X, y)
        return cls.from_importance(found, **options)

    @classmethod
    def from_importance(
        cls, importance: Importance, *, max_columns: int = 20, ax: Any = None
    ) -> Self:
        """Draw what ``importance_`` or `importance` returned."""
        return cls(importance=importance, max_columns=max_columns).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        found = self.importance
        at = found.order[: self.max_columns]
        ax = self._one_axes(ax, 7.6, 1.7 + 0.32 * at.size)
        error = {"xerr": found.error[at], "error_kw": {"ecolor": canvas.FAINT, "elinewidth": 1}}
        colours = np.where(found.increase[at] >= 0, _MORE, _LESS).tolist()
        self.bars_ = ax.barh(np.arange(at.size), found.increase[at], 0.62, color=colours, **error)
        ax.axvline(0.0, color=canvas.INK, linewidth=0.9, zorder=0)
        canvas.named_rows(ax, [found.columns[j] for j in at], 32)
        ax.set_xlabel("increase of the log loss without the column", color=canvas.INK)
        note = f"With all columns, the log loss of {found.n_rows:,} unseen rows is "
        note += f"{found.loss:.4f}. Lines are standard errors."
        if at.size < len(found.columns):
            note += f" The {at.size} most important of {len(found.columns):,} columns."
        canvas.heading(ax, "Importance of columns", [note], width=84)
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class DriftDisplay(Display):
    """How far each column has moved: a bar for all rows, and a mark for each class.

    Distances are from 0 to 1; bars of columns that may have changed by chance are grey.

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
    """

    drift: Any
    max_columns: int = 20

    @classmethod
    def from_drift(cls, drift: Any, *, max_columns: int = 20, ax: Any = None) -> Self:
        """Draw what `naively.drift` returned."""
        return cls(drift=drift, max_columns=max_columns).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        found = self.drift
        at = found.order[: self.max_columns]
        ax = self._one_axes(ax, 7.6, 1.9 + 0.3 * at.size)
        distance, levels = found.measures.distance[:, at], found.levels[:, at]
        colours = [_SEVERITIES[level] for level in levels[0].tolist()]
        self.bars_ = ax.barh(np.arange(at.size), np.nan_to_num(distance[0]), 0.62, color=colours)
        for marked, colour in ((True, canvas.INK), (False, canvas.REST)):
            k, j = np.nonzero(((levels[1:] > 0) == marked) & ~np.isnan(distance[1:]))
            style = {"marker": "|", "s": 22, "linewidth": 0.8, "zorder": 3}
            ax.scatter(distance[1:][k, j], j, color=colour, **style)
        for bound, name in zip(BOUNDS, LEVELS[2:], strict=True):
            ax.axvline(bound, color=canvas.FAINT, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
            where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
            style = {"va": "top", "fontsize": 8, "color": canvas.FAINT}
            ax.annotate(name, (bound, 1.0), xytext=(3, -2), **where, **style)
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


@dataclass(eq=False, repr=False, kw_only=True)
class TuningDisplay(Display):
    """The scores of candidates, with their standard deviations over the folds.

    Candidates are lines along a parameter that has many values, and otherwise dots, the best first.

    Parameters
    ----------
    tuning : Tuning
        What `naively.tune` returned.
    parameter : str or None
        A parameter of numbers, or ``"columns"``, whose values are the horizontal axis; by default
        the one with most values, if it has four or more. None for dots.
    max_candidates : int, default=20
        How many dots there are: the best.

    Examples
    --------
    >>> from naively import GaussianNB, tune
    >>> from naively.plots import TuningDisplay
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> found = tune(GaussianNB(), X, y, grid={"variance": ["class", "shared"]}, folds=3)
    >>> display = TuningDisplay.from_tuning(found)
    >>> display.parameter is None  # dots
    True
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
        """Draw what `naively.tune` returned."""
        n_values = {name: len(set(_numbers(tuning, name).values())) for name in tuning.varied}
        if parameter is not None and not n_values.get(parameter):
            raise NaivelyError(
                f"parameter must be one of numbers that candidates differ in; got {parameter!r}. "
                f"There are {', '.join(name for name, n in n_values.items() if n) or 'none'}."
            )
        if parameter is None and max(n_values.values(), default=0) >= _MIN_VALUES:
            parameter = max(n_values, key=lambda name: n_values[name])
        return cls(tuning=tuning, parameter=parameter, max_candidates=max_candidates).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        tuning, parameter = self.tuning, self.parameter
        n_dots = min(self.max_candidates, len(tuning.params))
        ax = self._one_axes(ax, 7.6, 4.4 if parameter else 1.4 + 0.3 * n_dots)
        scoring = scoring_of(tuning.scoring)
        if parameter:
            canvas.tidy(ax, grid="y")
            self._draw_lines(ax, parameter)
            ax.set_ylabel(scoring.title, color=canvas.INK)
        else:
            self._draw_dots(ax, n_dots)
            ax.set_xlabel(scoring.title, color=canvas.INK)
        better = "higher" if scoring.greater_is_better else "lower"
        notes = [
            f"Best: {described(tuning.best_params)} ({tuning.best_score:.4f}).",
            f"{tuning.method}, {tuning.n_rows:,} rows; {better} is better. "
            f"{'The band is' if parameter else 'Bars are'} standard deviations over the folds.",
        ]
        notes = [canvas.caption(note, 240) for note in notes]
        title = f"{tuning.model}: {len(tuning.params):,} candidates"
        canvas.heading(ax, title, notes, width=96 if parameter else 60)
        return self

    def _draw_lines(self, ax: Any, parameter: str) -> None:
        tuning, values, handles = self.tuning, _numbers(self.tuning, parameter), []
        lines = _lines(tuning, parameter, values)
        for k, at in enumerate([*lines.values()][:_MAX_LINES]):
            style = {"color": canvas.colour(k), "linestyle": canvas.dash(k)}
            x, mean, std = [values[i] for i in at], tuning.mean[at], tuning.std[at]
            if k == 0:  # the band of the line of the best candidate
                low, high = mean - std, mean + std
                ax.fill_between(x, low, high, color=style["color"], alpha=0.12, linewidth=0)
            handles += ax.plot(x, mean, **style, marker="o", markersize=3.5)
        model = tuning.best_model  # which may have the parameter as it was given
        best = (
            model.summary_.schema.n_columns
            if parameter == COLUMNS
            else model.get_params()[parameter]
        )
        ring = {"markerfacecolor": "none", "markeredgecolor": canvas.INK, "markeredgewidth": 1.4}
        if np.ndim(best) == 0:
            ax.plot([best], [tuning.best_score], "o", markersize=10, **ring)
        least, most = min(values.values()), max(values.values())
        if least > 0 and most > _LOG_RATIO * least:
            ax.set_xscale("log")
        name = "number of columns" if parameter == COLUMNS else parameter
        ax.set_xlabel(canvas.caption(name), color=canvas.INK)
        if len(lines) > 1:
            names = [canvas.caption(name, 34) for name in [*lines][:_MAX_LINES]]
            title = None if len(lines) <= _MAX_LINES else f"best {_MAX_LINES} of {len(lines)}"
            canvas.legend(ax, handles, names, title=title)

    def _draw_dots(self, ax: Any, n_dots: int) -> None:
        order, y = self.tuning.order[:n_dots], np.arange(n_dots)
        mean, std = self.tuning.mean[order], self.tuning.std[order]
        bars, dots = (
            [canvas.colour(0)] + [other] * (n_dots - 1) for other in (canvas.REST, canvas.FAINT)
        )
        ax.hlines(y, mean - std, mean + std, color=bars, linewidth=2)
        ax.scatter(mean, y, color=dots, zorder=3)
        canvas.named_rows(ax, [described(self.tuning.params[i]) for i in order], 60)


def _lines(tuning: Tuning, parameter: str, values: dict[int, float]) -> dict[str, list[int]]:
    """Return the candidates that have a parameter by all others, the line of the best first."""
    lines: dict[str, list[int]] = {}
    for i in sorted(values, key=lambda i: tuning.rank[i]):
        others = {name: value for name, value in tuning.params[i].items() if name != parameter}
        lines.setdefault(described(others) if others else "", []).append(i)
    return {name: sorted(at, key=lambda i: (values[i], i)) for name, at in lines.items()}


def _numbers(tuning: Tuning, parameter: str) -> dict[int, float]:
    """Return the values of a parameter by candidate, where they are numbers."""
    values = {i: params.get(parameter) for i, params in enumerate(tuning.params)}
    if parameter == COLUMNS:
        values = {i: None if value is None else len(value) for i, value in values.items()}
    return {
        i: float(value)
        for i, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


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
    """

    terms: RowTerms

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, row: int = 0, **options: Any) -> Self:
        """Explain rows by a fitted estimator of naively's, and draw one of them."""
        canvas.check_explained("a waterfall", estimator)
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
        """Draw a row of what `explain` returned; terms beyond the strongest share a bar."""
        canvas.check_at_least_one(max_terms=max_terms)
        terms = explanation.row_terms(row, of=of, against=against, max_terms=max_terms)
        return cls(terms=terms).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        found = self.terms
        every = (*found.constants, *found.terms)
        ax = self._one_axes(ax, 7.6, 1.5 + 0.32 * len(every))
        width = np.array([term.log_odds for term in every])
        finite = np.isfinite(width)  # infinity is longer than all others together
        far = 1.0 + 1.2 * float(np.abs(width[finite]).sum())
        width = np.where(finite, width, np.sign(width) * far)
        ends = np.cumsum(width)
        start, y = np.append(0.0, ends[:-1]), np.arange(len(every))
        colours = [_MORE if value >= 0 else _LESS for value in width]
        self.bars_ = ax.barh(y, width, 0.66, left=start, color=colours)
        for at, end in zip(y[:-1], ends[:-1], strict=True):
            ax.plot([end, end], [at, at + 1], color=canvas.FAINT, linewidth=0.7, zorder=0)
        ax.axvline(0.0, color=canvas.INK, linewidth=0.9, zorder=0)
        low, high = min(0.0, float(ends.min())), max(0.0, float(ends.max()))
        room = 0.14 * ((high - low) or 1.0)
        ax.set_xlim(low - room, high + room)
        for at, (term, end) in enumerate(zip(every, ends, strict=True)):
            side = 1 if width[at] >= 0 else -1  # to which the bar points
            style = {"va": "center", "ha": "left" if side > 0 else "right", "fontsize": 8.5}
            where = {"xytext": (4 * side, 0), "textcoords": "offset points"}
            text = f"{term.log_odds:+.2f}".replace("inf", "∞")
            ax.annotate(text, (end, at), color=canvas.INK, **where, **style)
        canvas.named_rows(ax, [term.label for term in every], 40)
        of, against = (canvas.caption(name, 24) for name in (found.of, found.against))
        ax.set_xlabel(f"log-odds: ← {against}    {of} →", color=canvas.INK)
        total = f"{found.total.log_odds:.2f}".replace("inf", "∞")
        note = f"p = {found.p_of:.4f} against {found.p_against:.4f}; log-odds {total}."
        canvas.heading(ax, f"Row {found.row}: {of} rather than {against}", [note], width=72)
        return self


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
    """

    fits: Sequence[Fit]

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> Self:
        """Diagnose a fitted estimator of naively's that has a sample of rows, and draw."""
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
        max_panels, ax
            As for every `Display`.
        """
        canvas.check_at_least_one(max_panels=max_panels)
        fits = [fit for fit in diagnosis.fits if fit.column == column]
        if column is None:
            ascending = sorted(diagnosis.fits, key=lambda fit: fit.distance)
            fits = list({fit.place: fit for fit in ascending}.values())  # the worst class of each
            fits.sort(key=lambda fit: -fit.distance)
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
        room = canvas.room_for_text(self.figure_, across, 0.5)
        panels = list(self.ax_.flat)
        self.bars_ = [_draw_fit(*pair, room) for pair in zip(panels, self.fits, strict=False)]
        for panel in panels[len(self.fits) :]:
            panel.set_visible(False)
        note = (
            "Share of the cells by F(x), the family's probability of at most x. Where the family "
            "fits, bars are as high as the line, and 95 of 100 within the band."
        )
        canvas.heading(self.figure_, "Does the family fit?", [note], width=int(across * room))
        return self


def _draw_fit(panel: Any, fit: Fit, room: int) -> Any:
    n = fit.histogram.size
    expected = 1 / n
    chance = 1.96 * np.sqrt(expected * (1 - expected) / fit.n_rows)
    low, high = max(0.0, expected - chance), expected + chance
    panel.axhspan(low, high, color=canvas.GRID, linewidth=0)
    style = {"align": "edge", "color": canvas.colour(0), "alpha": 0.85}
    bars = panel.bar(np.arange(n) / n, fit.histogram, 1 / n, **style)
    panel.axhline(expected, color=canvas.INK, linewidth=0.9)
    panel.set_xlim(0, 1)
    panel.set_ylim(bottom=0)
    canvas.tidy(panel)
    name = canvas.caption(f"{fit.column}, {fit.label}", room)
    title = f"{name}\n{fit.family}: distance {fit.distance:.2f}"
    panel.set_title(title, loc="left", fontsize=8.5, color=canvas.INK)
    return bars


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
