"""Curves of one class against the rest, of one model or several: what three displays share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from naively.data.labels import as_array
from naively.display.plots import _canvas, palette
from naively.display.plots._read import codes_of, model_names
from naively.errors import NaivelyError
from naively.estimators.state import snapshot
from naively.evaluation.curves import ClassCurve
from naively.evaluation.thresholds import place_of

__all__ = ["ClassCurveDisplay", "DrawnCurve"]

_MOST = 10  # classes that are drawn together


class DrawnCurve(NamedTuple):
    """A line: its points, the figure that sums it up, and what it is called."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    area: float
    name: str


@dataclass(eq=False, repr=False, kw_only=True)
class ClassCurveDisplay:
    """A curve for each class or for each model; subclasses say what the curve is.

    Parameters
    ----------
    curves : sequence of DrawnCurve
        What is drawn.
    share : float
        The share of the rows of the class, where all curves are of one class; else NaN.
    notes : sequence of str
        What is said under the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The diagram.
    figure_ : matplotlib Figure or SubFigure
        Its figure.
    lines_ : list of matplotlib Line2D
        One per curve.
    """

    curves: Sequence[DrawnCurve]
    share: float = float("nan")
    notes: Sequence[str] = ()

    _title: ClassVar[str]
    _area: ClassVar[str]  # what the figure is called
    _axes: ClassVar[tuple[str, str]]
    _drawstyle: ClassVar[str] = "default"

    @classmethod
    @abstractmethod
    def _line(cls, curve: ClassCurve) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Return the points of the line, and the figure that sums it up."""

    @abstractmethod
    def _draw_baseline(self) -> list[Any]:
        """Draw what a model without any knowledge gives, and return handles of it."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        other: Any = None,
        pos_label: Any = None,
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
            Another of the same classes, to draw with it.
        pos_label : label, optional
            The class to draw. By default the second of two, and of more all, the ten largest.
        names : sequence of str, optional
            What to call the models.
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.
        """
        models = list(map(snapshot, [estimator] if other is None else [estimator, other]))
        for model in models:
            check_is_fitted(model)
            if not hasattr(model, "predict_proba"):
                raise NaivelyError(
                    f"{cls._title} needs probabilities; {type(model).__name__} has no "
                    "predict_proba."
                )
        both = [np.asarray(model.predict_proba(X)) for model in models]
        classes = as_array(models[0].classes_)
        called = model_names(models, names)
        return cls._of(y, both, classes, pos_label, called).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        classes: ArrayLike,
        other: ArrayLike | None = None,
        pos_label: Any = None,
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
        pos_label, names, ax
            As for `from_estimator`.
        """
        both = [y_proba] if other is None else [y_proba, other]
        called = names if names is not None else ["the model", "the other"][: len(both)]
        arrays = [np.asarray(p, dtype=np.float64) for p in both]
        return cls._of(y_true, arrays, as_array(classes), pos_label, called).plot(ax)

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Any,
        *others: Any,
        pos_label: Any = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what `naively.evaluate` returned, and perhaps others of the same rows."""
        every = [evaluation, *others]
        called = names if names is not None else [each.model or each.method for each in every]
        if any(each.probabilities is None for each in every):
            raise NaivelyError(f"{cls._title} needs probabilities, and there are none.")
        both = [each.probabilities for each in every]
        return cls._of(evaluation.truth, both, evaluation.classes, pos_label, called).plot(ax)

    @classmethod
    def from_comparison(cls, comparison: Any, *, pos_label: Any = None, ax: Any = None) -> Self:
        """Draw what `naively.compare` returned, one curve for each model."""
        first, *others = comparison.evaluations
        named = {"pos_label": pos_label, "names": comparison.names, "ax": ax}
        return cls.from_evaluation(first, *others, **named)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None for a new figure.
        """
        self.ax_ = _canvas.one_axes(ax, (7.2, 4.9))
        self.figure_ = self.ax_.figure
        baseline = self._draw_baseline()
        self.lines_ = []
        for place, curve in enumerate(self.curves):
            style = {"color": palette.colour(place), "linestyle": palette.dash(place)}
            style["drawstyle"] = self._drawstyle
            self.lines_ += self.ax_.plot(curve.x, curve.y, linewidth=1.7, **style)
        _canvas.tidy(self.ax_, grid="both")
        self.ax_.set_xlim(-0.01, 1.01)
        self.ax_.set_ylim(-0.01, 1.02)
        self.ax_.set_xlabel(self._axes[0], color=palette.INK)
        self.ax_.set_ylabel(self._axes[1], color=palette.INK)
        _canvas.heading(self.ax_, self._title, self.notes)
        names = [f"{_canvas.caption(c.name)}\n{self._area} {c.area:.4f}" for c in self.curves]
        names += ["by chance"] * len(baseline)
        _canvas.legend(self.ax_, [*self.lines_, *baseline], names)
        return self

    @classmethod
    def _of(
        cls,
        y: ArrayLike,
        every: list[NDArray[np.float64]],
        classes: NDArray[Any],
        pos_label: Any,
        names: Sequence[str],
    ) -> Self:
        """Return the curves of one class for each model, or of all classes of one model."""
        for p in every:
            if p.shape[1:] != classes.shape:
                raise NaivelyError(
                    f"there must be one column of probabilities per class ({classes.size}); got "
                    f"shape {p.shape}."
                )
        truth = codes_of(y, classes, len(every[0]))
        if pos_label is None and classes.size > 2 and len(every) == 1:
            return cls._of_classes(truth, every[0], classes)
        k = place_of(pos_label, classes)
        found = [ClassCurve.of(truth == k, p[:, k]) for p in every]
        lines = [cls._line(_checked(curve, classes.item(k))) for curve in found]
        drawn = [DrawnCurve(*line, name) for line, name in zip(lines, names, strict=True)]
        share = found[0].positives / truth.size
        return cls(curves=drawn, share=share, notes=[f"class {classes.item(k)!r}"])

    @classmethod
    def _of_classes(
        cls, truth: NDArray[np.intp], p: NDArray[np.float64], classes: NDArray[Any]
    ) -> Self:
        rows = np.bincount(truth, minlength=classes.size)
        there = np.flatnonzero((rows > 0) & (rows < truth.size))
        if not there.size:
            raise NaivelyError("curves need rows of two classes; all rows are of one.")
        shown = np.sort(there[np.argsort(-rows[there], kind="stable")[:_MOST]])
        curves = [
            DrawnCurve(*cls._line(ClassCurve.of(truth == k, p[:, k])), str(classes[k]))
            for k in shown
        ]
        notes = ["each class against the rest"]
        if shown.size < classes.size:
            notes.append(f"{shown.size} of {classes.size} classes, those with most rows")
        return cls(curves=curves, notes=notes)


def _checked(curve: ClassCurve, label: Any) -> ClassCurve:
    if not curve.is_defined:
        raise NaivelyError(
            f"curves need rows of the class and of others; {curve.positives:g} of "
            f"{curve.positive.size} rows are of {label!r}."
        )
    return curve
