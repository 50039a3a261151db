"""Bars: the accuracy of models on training and test rows, and how long they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from naively.display.plots import canvas
from naively.display.plots.display import Display
from naively.display.plots.reading import model_names
from naively.errors import NaivelyError
from naively.evaluation.compare import Timing

__all__ = ["AccuracyBarsDisplay", "TimeBarsDisplay"]

_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


@dataclass(eq=False, repr=False, kw_only=True)
class AccuracyBarsDisplay(Display):
    """Accuracy on training and on test rows, a bar per model.

    Parameters
    ----------
    names : sequence of str
        The models' names.
    train, test : sequence of float
        The models' accuracies.

    Attributes
    ----------
    bars_ : list of matplotlib BarContainer
        One per model: its bars for training and test rows.

    Examples
    --------
    >>> from naively.plots import AccuracyBarsDisplay
    >>> display = AccuracyBarsDisplay(names=["ours", "theirs"], train=[0.98, 0.97], test=[0.9, 0.9])
    >>> [float(bar.get_height()) for bar in display.plot().bars_[0]]
    [0.98, 0.9]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    names: Sequence[str]
    train: Sequence[float]
    test: Sequence[float]
    notes: Sequence[str] = ()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X_train: Any,
        y_train: ArrayLike,
        X_test: Any,
        y_test: ArrayLike,
        *,
        other: Any = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Evaluate a fitted classifier, and perhaps another, and draw.

        Parameters
        ----------
        estimator : fitted classifier
            Any of scikit-learn's contract.
        X_train, y_train, X_test, y_test : tables and labels
            The rows it was fitted on, and rows it has not seen.
        other : fitted classifier, optional
            Another to draw beside it.
        names : sequence of str, optional
            What to call them.
        """
        models = _models(estimator, other)
        for model in models:
            check_is_fitted(model)
        train, test = (
            [float(accuracy_score(y, model.predict(X))) for model in models]
            for X, y in ((X_train, y_train), (X_test, y_test))
        )
        return cls(names=model_names(models, names), train=train, test=test).plot(ax, **options)

    @classmethod
    def from_comparison(cls, comparison: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw the accuracies of what `naively.compare` returned."""
        return cls(
            names=list(comparison.names),
            train=list(comparison.train_accuracy),
            test=list(comparison.test_accuracy),
        ).plot(ax, **options)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        legend : bool, default=True
            Whether to draw it.
        """
        _check_lengths(self.names, train=self.train, test=self.test)
        ax = self._one_axes(ax, 6.4, 3.9)
        width = 0.72 / len(self.names)
        self.bars_ = []
        for place, both in enumerate(zip(self.train, self.test, strict=True)):
            x = np.arange(2) + (place - (len(self.names) - 1) / 2) * width
            bars = ax.bar(x, both, width * 0.94, color=canvas.colour(place))
            ax.bar_label(bars, fmt="%.4f", padding=2, fontsize=9, color=canvas.INK)
            self.bars_.append(bars)
        ax.set_xticks([0, 1], ["training rows", "test rows"], fontsize=10)
        ax.set(xlim=(-0.55, 1.55), ylim=(0, 1.08), yticks=np.linspace(0, 1, 6))
        ax.set_ylabel("accuracy", color=canvas.INK)
        _dress(ax, "Accuracy", self.notes)
        if legend:
            handles = [bars[0] for bars in self.bars_]
            canvas.legend(ax, handles, [canvas.caption(name) for name in self.names])
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class TimeBarsDisplay(Display):
    """How long models take: median and quartiles over repeated runs.

    Parameters
    ----------
    names : sequence of str
        The models' names.
    timings : sequence of naively.evaluation.Timing
        The seconds that each took.
    what : str, default="training"
        What takes the time.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        One bar per model, in the unit of the axis.
    unit_ : str
        That unit.

    Examples
    --------
    >>> from naively.evaluation import Timing
    >>> from naively.plots import TimeBarsDisplay
    >>> timings = [Timing.of([2e-4, 3e-4, 2e-4]), Timing.of([1e-3, 1e-3, 2e-3])]
    >>> display = TimeBarsDisplay(names=["a", "b"], timings=timings)
    >>> display.plot().unit_, display.ax_.get_title("left")
    ('ms', 'Time of training')
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    names: Sequence[str]
    timings: Sequence[Timing]
    what: str = "training"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        other: Any = None,
        repeats: int = 10,
        names: Sequence[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Fit copies of a classifier, and perhaps of another, again and again, and draw.

        Parameters
        ----------
        estimator : classifier
            Fitted or not.
        X, y : table and labels
            What to fit it on.
        other : classifier, optional
            Another to draw beside it.
        repeats : int, default=10
            How often, at least 2.
        names : sequence of str, optional
            What to call them.
        """
        if repeats < 2:
            raise NaivelyError(f"repeats must be at least 2; got {repeats}.")
        models = _models(estimator, other)
        for model in models:
            _fit_seconds(model, X, y)  # what the first call loads is not its time
        rounds = [[_fit_seconds(model, X, y) for model in models] for _ in range(repeats)]
        seconds = list(zip(*rounds, strict=True))  # they took turns: noise hits all alike
        timings = [Timing.of(times) for times in seconds]
        return cls(names=model_names(models, names), timings=timings).plot(ax, **options)

    @classmethod
    def from_comparison(
        cls,
        comparison: Any,
        *,
        what: Literal["training", "prediction"] = "training",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the times of what `naively.compare` returned."""
        canvas.check_option("what", what, ("training", "prediction"))
        fit = what == "training"
        timings = comparison.fit_seconds if fit else comparison.predict_seconds
        return cls(names=list(comparison.names), timings=timings, what=what).plot(ax, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        _check_lengths(self.names, timings=self.timings)
        ax = self._one_axes(ax, 5.6, 3.9)
        self.unit_, second = _unit(max(timing.median for timing in self.timings))
        medians = np.array([timing.median for timing in self.timings]) / second
        lower, upper = np.array([timing.quartiles for timing in self.timings]).T / second
        error = [medians - lower, upper - medians]
        caps = {"ecolor": canvas.INK, "capsize": 6, "error_kw": {"elinewidth": 1.2}}
        names = [canvas.caption(name, 24) for name in self.names]
        colours = [canvas.colour(place) for place in range(len(names))]
        self.bars_ = ax.bar(range(len(names)), medians, 0.6, yerr=error, color=colours, **caps)
        for x, timing in enumerate(self.timings):
            where = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
            ax.annotate(str(timing), (x, upper[x]), fontsize=9, color=canvas.INK, **where)
        ax.set_xticks(range(len(names)), names, fontsize=10)
        ax.set(xlim=(-0.65, len(names) - 0.35), ylim=(0, 1.2 * float(upper.max())))
        ax.set_ylabel(f"{self.unit_} (median and quartiles)", color=canvas.INK)
        _dress(ax, f"Time of {self.what}", self._notes())
        return self

    def _notes(self) -> list[str]:
        n, medians = self.timings[0].runs, [timing.median for timing in self.timings]
        runs = f"{n:,} runs each." if n > 1 else "One run each."
        if len(medians) != 2 or not min(medians) > 0:
            return [runs]
        quick, slow = np.argsort(medians, kind="stable")
        times = medians[slow] / medians[quick]
        a, b = self.names[quick], self.names[slow]
        faster = f"{canvas.caption(a)} is {times:.3g} times as fast as {canvas.caption(b)}."
        return [faster, runs]


def _models(estimator: Any, other: Any) -> list[Any]:
    return [estimator] if other is None else [estimator, other]


def _fit_seconds(model: Any, X: Any, y: ArrayLike) -> float:
    fresh = clone(model)
    start = perf_counter()
    fresh.fit(X, y)
    return perf_counter() - start


def _unit(seconds: float) -> tuple[str, float]:
    return next(((name, size) for name, size in _UNITS if seconds >= size), _UNITS[-1])


def _check_lengths(names: Sequence[str], **values: Sequence[Any]) -> None:
    for name, numbers in values.items():
        if len(numbers) != len(names) or not len(names):
            raise NaivelyError(
                f"{name} must have one entry per model ({len(names)}); got {len(numbers)}."
            )


def _dress(ax: Any, title: str, notes: Sequence[str]) -> None:
    canvas.tidy(ax, grid="y")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="both", length=0)
    canvas.heading(ax, title, notes, width=72)
