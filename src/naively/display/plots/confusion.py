"""Confusion matrices: what is taken for what, of one model or of two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from naively.display.plots import _canvas, palette
from naively.display.plots._read import class_captions, model_names
from naively.errors import NaivelyError

__all__ = ["ConfusionDisplay"]


@dataclass(eq=False, repr=False, kw_only=True)
class ConfusionDisplay:
    """Confusion matrices side by side, in one scale of colours.

    Each is drawn by scikit-learn's ConfusionMatrixDisplay. Of many classes, those are shown
    that have the most mistakes.

    It is recommended to create a display with `from_estimator`, `from_predictions`,
    `from_comparison` or `from_evaluation`.

    Parameters
    ----------
    matrices : sequence of ndarray of shape (n_classes, n_classes)
        Rows counted by true class (down) and predicted class (across).
    names : sequence of str
        The models' names; an empty one is not written.
    class_names : sequence of str
        What the classes are called.
    max_classes : int, default=15
        If there are more, those with the most mistakes are shown.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes
        One per matrix.
    figure_ : matplotlib Figure or SubFigure
        Their figure.
    displays_ : list of sklearn.metrics.ConfusionMatrixDisplay
        What was drawn.

    Examples
    --------
    >>> from naively.plots import ConfusionDisplay
    >>> truth, guess = ["cat", "cat", "dog"], ["cat", "dog", "dog"]
    >>> display = ConfusionDisplay.from_predictions(truth, guess)
    >>> display.matrices[0].tolist()
    [[1, 1], [0, 1]]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    matrices: Sequence[NDArray[Any]]
    names: Sequence[str]
    class_names: Sequence[str]
    max_classes: int = 15

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        other: Any = None,
        names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        max_classes: int = 15,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Evaluate a fitted classifier, and perhaps another, and draw.

        Parameters
        ----------
        estimator : fitted classifier
            Any of scikit-learn's contract.
        X, y : table and labels
            The rows to evaluate it on.
        other : fitted classifier, optional
            Another to draw beside it.
        names : sequence of str, optional
            What to call the models.
        class_names : sequence of str, optional
            What to call the classes.
        max_classes : int, default=15
            If there are more, those with the most mistakes are shown.
        ax : matplotlib Axes, optional
            A subplot whose place the panels take; None for a new figure.
        **options
            As for `plot`.
        """
        models = [estimator] if other is None else [estimator, other]
        for model in models:
            check_is_fitted(model)
        predicted = [model.predict(X) for model in models]
        return cls.from_predictions(
            y,
            predicted[0],
            other=predicted[1] if other is not None else None,
            names=model_names(models, names),
            class_names=class_names,
            max_classes=max_classes,
            ax=ax,
            **options,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        other: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        max_classes: int = 15,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Count what was taken for what, and draw.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,)
            True and predicted labels.
        other : array-like of shape (n_rows,), optional
            What another model predicted.
        names, class_names, max_classes, ax, **options
            As for `from_estimator`.
        """
        guesses = [y_pred] if other is None else [y_pred, other]
        classes = unique_labels(y_true, *guesses)
        return cls(
            matrices=[confusion_matrix(y_true, guess, labels=classes) for guess in guesses],
            names=names if names is not None else ["", "the other"][: len(guesses)],
            class_names=class_captions(classes, class_names),
            max_classes=max_classes,
        ).plot(ax, **options)

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Any,
        *,
        other: Any = None,
        names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        max_classes: int = 15,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw what `naively.evaluate` returned, and perhaps another of the same classes."""
        both = [evaluation] if other is None else [evaluation, other]
        if any(not np.array_equal(each.classes, evaluation.classes) for each in both):
            raise NaivelyError("the evaluations must be of the same classes; they differ.")
        return cls(
            matrices=[each.confusion for each in both],
            names=names if names is not None else [each.method for each in both],
            class_names=class_captions(evaluation.classes, class_names),
            max_classes=max_classes,
        ).plot(ax, **options)

    @classmethod
    def from_comparison(cls, comparison: Any, **options: Any) -> Self:
        """Draw the test rows of what `naively.compare` returned; options as elsewhere."""
        first, other = comparison.evaluations
        return cls.from_evaluation(first, other=other, names=comparison.names, **options)

    def plot(self, ax: Any = None, *, normalize: bool = False) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A subplot whose place the panels take; None for a new figure.
        normalize : bool, default=False
            Write shares of each true class instead of counts.
        """
        shown, notes = self._choose()
        matrices = [_shares(m) if normalize else np.asarray(m) for m in self.matrices]
        tables = [matrix[np.ix_(shown, shown)] for matrix in matrices]
        captions = [_canvas.caption(self.class_names[k], 18) for k in shown]
        tilt = 45 if max(map(len, captions)) > 4 + 12 // len(captions) else 0
        side = max(2.5, 0.95 + (0.42 if len(shown) > 6 else 0.6) * len(shown))
        self.figure_ = _canvas.panels(ax, (side * len(tables) + 1.1, side + 1.1), square=True)
        self.ax_ = self.figure_.subplots(1, len(tables), squeeze=False)[0]
        largest = 1.0 if normalize else max(1, *(int(table.max()) for table in tables))
        self.displays_ = []
        for axes, table in zip(self.ax_, tables, strict=True):
            display = ConfusionMatrixDisplay(table, display_labels=captions)
            self.displays_.append(
                display.plot(
                    ax=axes,
                    cmap="Blues",
                    colorbar=False,
                    xticks_rotation=tilt,
                    values_format=".2f" if normalize else None,
                    im_kw={"vmin": 0, "vmax": largest},
                    text_kw={"fontsize": 9 if len(shown) <= 8 else 7},
                )
            )
        self._dress(largest, tilt)
        title = "Confusion matrix" if len(tables) == 1 else "Confusion matrices"
        shares = "Shares of each true class." * normalize
        _canvas.heading(self.figure_, title, [note for note in (notes, shares) if note])
        return self

    def _choose(self) -> tuple[list[int], str]:
        """Return the classes to show: all, or those with the most mistakes in either matrix."""
        n = len(self.class_names)
        if n <= self.max_classes:
            return list(range(n)), ""
        wrong = np.sum([np.asarray(m) for m in self.matrices], axis=0)
        wrong = wrong - np.diag(np.diag(wrong))
        order = np.argsort(-(wrong.sum(axis=0) + wrong.sum(axis=1)), kind="stable")
        chosen: list[int] = np.sort(order[: self.max_classes]).tolist()
        return chosen, f"The {self.max_classes} of {n:,} classes with the most mistakes."

    def _dress(self, largest: float, tilt: int) -> None:
        for place, (axes, display) in enumerate(zip(self.ax_, self.displays_, strict=True)):
            axes.tick_params(colors=palette.INK, labelsize=9, length=0)
            axes.spines[:].set_visible(False)
            axes.set_xlabel("predicted class", color=palette.INK)
            axes.set_ylabel("true class" if place == 0 else "", color=palette.INK)
            if tilt:
                for label in axes.get_xticklabels():
                    label.set(ha="right", rotation_mode="anchor")
            if place:
                axes.set_yticklabels([])
            for value, text in zip(display.im_.get_array().flat, display.text_.flat, strict=True):
                text.set_color("white" if value > 0.55 * largest else palette.INK)
                text.set_alpha(1.0 if value else 0.4)
            matrix = np.asarray(self.matrices[place])
            accuracy = f"accuracy {np.trace(matrix) / max(1, matrix.sum()):.4f}"
            name = _canvas.caption(self.names[place])
            title = f"{name}\n{accuracy}" if name else accuracy
            axes.set_title(title, loc="left", fontsize=10, color=palette.INK)


def _shares(matrix: NDArray[Any]) -> NDArray[np.float64]:
    rows = np.maximum(np.asarray(matrix).sum(axis=1, keepdims=True), 1)
    return matrix / rows
