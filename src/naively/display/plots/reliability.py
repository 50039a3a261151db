"""Reliability: whether a classifier is right as often as it is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from naively.data.labels import as_array
from naively.display.plots import _canvas, palette
from naively.display.plots._read import codes_of, model_names
from naively.errors import NaivelyError
from naively.estimators.state import snapshot
from naively.evaluation.metrics import Reliability, reliability

__all__ = ["ReliabilityDisplay"]


@dataclass(eq=False, repr=False, kw_only=True)
class ReliabilityDisplay:
    r"""How often a classifier is right when it is so sure, over how often it is so sure.

    The confidence is the largest probability of a row. On the dashed line a model is right as
    often as it says; below it, it is too sure of itself, as naive Bayes is where columns repeat
    each other. The bars under it count the rows.

    It is recommended to create a display with `from_estimator`, `from_predictions`,
    `from_evaluation` or `from_comparison`.

    Parameters
    ----------
    reliabilities : sequence of Reliability
        Per model: edges of the bins, and in each the confidence, the accuracy and the count.
    names : sequence of str
        The models' names.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes
        The diagram, and the bars under it.
    figure_ : matplotlib Figure or SubFigure
        Their figure.
    lines_ : list of matplotlib Line2D
        One per model.
    bars_ : list of matplotlib BarContainer
        One per model.

    Notes
    -----
    scikit-learn's CalibrationDisplay looks at the probability of one of two classes; this looks
    at the class that won, of any number. The bins are those of the expected calibration error,
    :math:`\sum_b n_b / n \, |\mathrm{accuracy}_b - \mathrm{confidence}_b|`.

    Examples
    --------
    >>> from naively.plots import ReliabilityDisplay
    >>> proba = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]
    >>> display = ReliabilityDisplay.from_predictions(["a", "b", "b"], proba, classes=["a", "b"])
    >>> display.reliabilities[0].count.tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 0]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    reliabilities: Sequence[Reliability]
    names: Sequence[str]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        other: Any = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Evaluate a fitted classifier, and perhaps another, and draw.

        Parameters
        ----------
        estimator : fitted classifier
            With ``predict_proba``.
        X, y : table and labels
            The rows to evaluate it on.
        other : fitted classifier, optional
            Another to draw with it.
        names : sequence of str, optional
            What to call them.
        ax : matplotlib Axes, optional
            A subplot whose place the panels take; None for a new figure.
        """
        models = list(map(snapshot, [estimator] if other is None else [estimator, other]))
        for model in models:
            check_is_fitted(model)
            if not hasattr(model, "predict_proba"):
                raise NaivelyError(
                    f"a reliability diagram needs probabilities; {type(model).__name__} has no "
                    "predict_proba."
                )
        judged = [_judge(y, model.predict_proba(X), model.classes_) for model in models]
        return cls(reliabilities=judged, names=model_names(models, names)).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        classes: ArrayLike,
        other: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Evaluate probabilities, and draw.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels.
        y_proba : array-like of shape (n_rows, n_classes)
            Probabilities.
        classes : array-like of shape (n_classes,)
            The label of each of their columns.
        other : array-like of shape (n_rows, n_classes), optional
            Another model's probabilities.
        names : sequence of str, optional
            What to call the models.
        ax : matplotlib Axes, optional
            A subplot whose place the panels take; None for a new figure.
        """
        both = [y_proba] if other is None else [y_proba, other]
        judged = [_judge(y_true, proba, classes) for proba in both]
        called = names if names is not None else ["the model", "the other"][: len(both)]
        return cls(reliabilities=judged, names=called).plot(ax)

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Any,
        *,
        other: Any = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what `naively.evaluate` returned, and perhaps another."""
        both = [evaluation] if other is None else [evaluation, other]
        called = names if names is not None else [each.method for each in both]
        return cls(reliabilities=[each.reliability for each in both], names=called).plot(ax)

    @classmethod
    def from_comparison(cls, comparison: Any, *, ax: Any = None) -> Self:
        """Draw the rows that were held out by `naively.compare`, of each of its models."""
        seen = [judged.reliability for judged in comparison.evaluations]
        return cls(reliabilities=seen, names=comparison.names).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A subplot whose place the panels take; None for a new figure.
        """
        self.figure_ = _canvas.panels(ax, (7.2, 5.2))
        ratios = {"height_ratios": [3.6, 1]}
        self.ax_ = self.figure_.subplots(2, 1, sharex=True, gridspec_kw=ratios)
        top, below = self.ax_
        straight = {"color": palette.FAINT, "linewidth": 1, "linestyle": (0, (4, 3))}
        (perfect,) = top.plot([0, 1], [0, 1], **straight)
        self.lines_, self.bars_ = [], []
        for place, seen in enumerate(self.reliabilities):
            style = {"color": palette.colour(place), "marker": palette.marker(place)}
            look = {"linewidth": 1.6, "markersize": 6, "markeredgecolor": "white"}
            held = seen.count > 0
            x, y = seen.confidence[held], seen.accuracy[held]
            self.lines_ += top.plot(x, y, **style, **look)
            self.bars_.append(self._draw_counts(below, place, seen))
        self._dress(top, below)
        names = [_canvas.caption(name) for name in self.names]
        errors = [f"{seen.error:.4f}" for seen in self.reliabilities]
        names = [f"{a}\ncalibration error {b}" for a, b in zip(names, errors, strict=True)]
        _canvas.legend(self.figure_, [*self.lines_, perfect], [*names, "perfectly calibrated"])
        return self

    def _draw_counts(self, ax: Any, place: int, seen: Reliability) -> Any:
        """Draw a bar per bin; those of several models stand beside each other."""
        share = np.diff(seen.edges) / len(self.reliabilities)
        left = seen.edges[:-1] + place * share
        style = {"align": "edge", "color": palette.colour(place), "edgecolor": "white"}
        return ax.bar(left, seen.count, share, linewidth=0.6, **style)

    def _dress(self, top: Any, below: Any) -> None:
        for axes in (top, below):
            _canvas.tidy(axes, grid="y")
            axes.spines["left"].set_visible(False)
        lowest = min(_lowest(seen) for seen in self.reliabilities)
        below.set_xlim(lowest, 1.01)
        top.set_ylim(-0.02, 1.04)
        top.set_ylabel("share of rows that are right", color=palette.INK)
        below.set_xlabel("confidence: the largest probability of a row", color=palette.INK)
        below.set_yscale("log")  # most rows are often in the last bin
        below.set_ylim(bottom=0.6)
        below.yaxis.set_major_formatter("{x:,.0f}")
        below.minorticks_off()
        below.set_ylabel("rows (log)", color=palette.INK)
        top.tick_params(axis="x", length=0)
        _canvas.heading(self.figure_, "Reliability")


def _judge(y: ArrayLike, proba: ArrayLike, classes: Any) -> Reliability:
    proba = np.asarray(proba, dtype=np.float64)
    classes = as_array(classes)
    if proba.shape[1:] != classes.shape:
        raise NaivelyError(
            f"there must be one column of probabilities per class ({classes.size}); "
            f"got shape {proba.shape}."
        )
    truth = codes_of(y, classes, len(proba))
    return reliability(proba.max(axis=1), proba.argmax(axis=1) == truth)


def _lowest(seen: Reliability) -> float:
    """Return the lower edge of the first bin that holds a row, or 0.5 if that is lower."""
    held = np.flatnonzero(seen.count)
    return min(0.5, float(seen.edges[held[0]])) if held.size else 0.0
