"""What all displays are, and the parameters that mean the same in each of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from naively.data.labels import as_array
from naively.display.plots import canvas
from naively.display.plots.reading import codes_of, model_names
from naively.errors import NaivelyError
from naively.estimators.state import snapshot


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

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw."""

    def _one_axes(self, ax: Any, width: float, height: float) -> Any:
        self.ax_ = canvas.one_axes(ax, (width, height))
        self.figure_ = self.ax_.figure
        return self.ax_

    def _panels(self, ax: Any, size: tuple[float, float], grid: tuple[int, int], **how: Any) -> Any:
        """Return the axes of a grid of panels."""
        self.figure_ = canvas.panels(ax, size, square=how.pop("square", False))
        self.ax_ = self.figure_.subplots(*grid, squeeze=False, **how)
        return self.ax_


class AnswersDisplay(Display):
    """A picture of true labels and a model's answers, or those of several models.

    ``from_estimator`` evaluates a fitted classifier, and perhaps another, on rows;
    ``from_predictions`` takes their answers; ``from_evaluation`` and ``from_comparison`` what
    `naively.evaluate` and `naively.compare` returned.
    """

    _title: ClassVar[str]
    _answer: ClassVar[str] = "predict_proba"
    _called: ClassVar[tuple[str, str]] = ("the model", "the other")
    _drawn_with: ClassVar[tuple[str, ...]] = ()  # options of `plot`

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
        **options: Any,
    ) -> Self:
        """Evaluate a fitted classifier, and perhaps another, and draw.

        Options are those of `from_predictions`; ``X`` and ``y`` are the rows to evaluate it on.
        """
        models = list(map(snapshot, [estimator] if other is None else [estimator, other]))
        for model in models:
            check_is_fitted(model)
            if not hasattr(model, cls._answer):
                raise NaivelyError(
                    f"{cls._title} needs probabilities; {type(model).__name__} has no "
                    f"{cls._answer}."
                )
        answers = [np.asarray(getattr(model, cls._answer)(X)) for model in models]
        classes, called = as_array(models[0].classes_), model_names(models, names)
        return cls._drawn_of("_of_answers", ax, options, y, answers, classes, called)

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
        **options: Any,
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
        names, ax
            As for every `Display`.
        **options
            For curves, ``pos_label``: the class to draw. By default the second of two, and of more
            all, the ten largest.
        """
        every = [y_proba] if other is None else [y_proba, other]
        answers = [np.asarray(p, dtype=np.float64) for p in every]
        called = cls._called[: len(answers)] if names is None else names
        return cls._drawn_of("_of_answers", ax, options, y_true, answers, as_array(classes), called)

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Any,
        *others: Any,
        other: Any = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw what `naively.evaluate` returned, and perhaps others of the same rows."""
        every = [evaluation, *others, *([] if other is None else [other])]
        called = names if names is not None else [each.model or each.method for each in every]
        return cls._drawn_of("_of_evaluations", ax, options, every, called)

    @classmethod
    def from_comparison(cls, comparison: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw what `naively.compare` returned: the rows that were held out, for each model."""
        first, *others = comparison.evaluations
        named = {"names": comparison.names, "ax": ax}
        return cls.from_evaluation(first, *others, **named, **options)

    @classmethod
    def _drawn_of(cls, make: str, ax: Any, options: dict[str, Any], *values: Any) -> Self:
        drawn_with = {name: options.pop(name) for name in cls._drawn_with if name in options}
        display: Self = getattr(cls, make)(*values, **options)
        return display.plot(ax, **drawn_with)

    @staticmethod
    def _codes(y: Any, answers: list[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
        """Return the places of true labels; raise where probabilities are not of these classes."""
        for p in answers:
            if p.shape[1:] != classes.shape:
                raise NaivelyError(
                    f"there must be one column of probabilities per class ({classes.size}); got "
                    f"shape {p.shape}."
                )
        return codes_of(y, classes, len(answers[0]))

    @classmethod
    @abstractmethod
    def _of_answers(
        cls, y: Any, answers: list[Any], classes: Any, names: Sequence[str], **options: Any
    ) -> Self:
        """Return what is drawn of answers, one array for each model."""

    @classmethod
    def _of_evaluations(cls, every: list[Any], names: Sequence[str], **options: Any) -> Self:
        answers = [each.probabilities for each in every]
        if any(p is None for p in answers):
            raise NaivelyError(f"{cls._title} needs probabilities, and there are none.")
        return cls._of_answers(every[0].truth, answers, every[0].classes, names, **options)
