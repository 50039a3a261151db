"""What is drawn of true labels and answers: curves over thresholds, reliability, confusion."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.utils.validation import check_is_fitted

from naively.data import labels
from naively.data.types import Floats
from naively.display.plots import canvas
from naively.display.plots.canvas import Display
from naively.display.plots.reading import class_captions, codes_of, model_names
from naively.errors import NaivelyError
from naively.estimators.state import snapshot
from naively.evaluation import Evaluation
from naively.evaluation.curves import ClassCurve, place_of
from naively.evaluation.judgement import Judgement
from naively.evaluation.metrics import Reliability

_MAX_CURVES = 10  # classes that are drawn together
_FAINT = {"color": canvas.FAINT, "linewidth": 1, "linestyle": (0, (4, 3))}

Points = tuple[Floats, Floats, float]


class DrawnCurve(NamedTuple):
    """A line: its points, the figure that sums it up, and what it is called."""

    x: Floats
    y: Floats
    area: float
    name: str


class AnswersDisplay(Display):
    """A picture of true labels and a model's answers, or those of several models.

    ``from_estimator`` asks a fitted classifier, and perhaps another, for the classes of rows;
    ``from_predictions`` takes their answers; ``from_evaluation`` and ``from_comparison`` what
    `naively.evaluate` and `naively.compare` returned.
    """

    _title: ClassVar[str]
    _answer: ClassVar[str] = "predict_proba"
    _called: ClassVar[tuple[str, str]] = ("the model", "the other")

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
        """Ask a fitted classifier, and perhaps another, and draw.

        Options are those of `from_predictions`; ``X`` and ``y`` are the rows to judge it by.
        """
        models = list(map(snapshot, [estimator] if other is None else [estimator, other]))
        for model in models:
            check_is_fitted(model)
            if not hasattr(model, cls._answer):
                raise NaivelyError(
                    f"{cls._title} needs probabilities; {type(model).__name__} has no "
                    f"{cls._answer}."
                )
        answers = [getattr(model, cls._answer)(X) for model in models]
        judged = cls._judge(y, answers, models[0].classes_)
        return cls._draw(judged, model_names(models, names), ax, options)

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
        """Judge probabilities, and draw.

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
        judged = cls._judge(y_true, [y_proba] if other is None else [y_proba, other], classes)
        return cls._draw(judged, names, ax, options)

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
        judged = [evaluation, *others, *([] if other is None else [other])]
        named = [each.model or each.method for each in judged] if names is None else names
        return cls._draw(judged, named, ax, options)

    @classmethod
    def from_comparison(cls, comparison: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw what `naively.compare` returned: the rows that were held out, for each model."""
        return cls._draw(comparison.evaluations, comparison.names, ax, options)

    @classmethod
    def _draw(
        cls, judged: Sequence[Evaluation], names: Any, ax: Any, options: dict[str, Any]
    ) -> Self:
        names = cls._called[: len(judged)] if names is None else names
        return cls._read(judged, names, **options).plot(ax)

    @classmethod
    @abstractmethod
    def _read(cls, judged: Sequence[Evaluation], names: Sequence[str]) -> Self:
        """Return what is drawn of evaluations, one for each model."""

    @classmethod
    def _judge(cls, y: Any, answers: Sequence[Any], classes: Any) -> list[Evaluation]:
        """Judge answers that are probabilities: the likeliest class is what is predicted."""
        classes, each = labels.as_array(classes), [np.asarray(p, dtype=np.float64) for p in answers]
        judged = []
        for p in each:
            if p.shape[1:] != classes.shape:
                raise NaivelyError(
                    f"there must be one column of probabilities per class ({classes.size}); got "
                    f"shape {p.shape}."
                )
            unknown = np.full(len(p), np.nan)
            truth = codes_of(y, classes, len(p))
            rows = Judgement(truth, p.argmax(axis=1), classes.size, unknown, unknown, p)
            judged.append(Evaluation(classes, "", rows))
        return judged


@dataclass(eq=False, repr=False, kw_only=True)
class ClassCurveDisplay(AnswersDisplay):
    """A curve for each class or for each model; subclasses say what the curve is.

    Of two classes the curve is that of the second, of more there is one for each class against the
    rest.

    Parameters
    ----------
    curves : sequence of DrawnCurve
        What is drawn: points, the figure that sums them up, and a name.
    share : float
        The share of the rows of the class, where all curves are of one class; else NaN.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One per curve.
    """

    curves: Sequence[DrawnCurve]
    share: float = float("nan")
    notes: Sequence[str] = ()

    _area: ClassVar[str]  # what the figure is called
    _axes: ClassVar[tuple[str, str]]
    _drawstyle: ClassVar[str] = "default"

    @classmethod
    @abstractmethod
    def _line(cls, curve: ClassCurve) -> Points:
        """Return the points of the line, and the figure that sums it up."""

    @abstractmethod
    def _draw_baseline(self) -> list[Any]:
        """Draw what a model without any knowledge gives, and return handles of it."""

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        self._one_axes(ax, 7.2, 4.9)
        baseline = self._draw_baseline()
        self.lines_ = []
        for place, curve in enumerate(self.curves):
            style = {"color": canvas.colour(place), "linestyle": canvas.dash(place)}
            style["drawstyle"] = self._drawstyle
            self.lines_ += self.ax_.plot(curve.x, curve.y, linewidth=1.7, **style)
        canvas.tidy(self.ax_, grid="both")
        self.ax_.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02))
        canvas.name_axes(self.ax_, *self._axes)
        canvas.heading(self.ax_, self._title, self.notes)
        names = [f"{canvas.caption(c.name)}\n{self._area} {c.area:.4f}" for c in self.curves]
        names += ["by chance"] * len(baseline)
        canvas.legend(self.ax_, [*self.lines_, *baseline], names)
        return self

    @classmethod
    def _read(
        cls, judged: Sequence[Evaluation], names: Sequence[str], *, pos_label: Any = None
    ) -> Self:
        """Return the curves of one class for each model, or of all classes of one model."""
        first, classes = judged[0], judged[0].classes
        if any(each.probabilities is None for each in judged):
            raise NaivelyError(f"{cls._title} needs probabilities, and there are none.")
        if pos_label is not None or classes.size == 2 or len(judged) > 1:
            k = place_of(pos_label, classes)
            n, n_rows = int(first.support[k]), first.n_rows
            if not 0 < n < n_rows:
                raise NaivelyError(
                    f"curves need rows of the class and of others; {n} of {n_rows} rows are of "
                    f"{classes.item(k)!r}."
                )
            drawn = [(each.rows.curve(k), name) for each, name in zip(judged, names, strict=True)]
            share, notes = n / n_rows, [f"class {classes.item(k)!r}"]
        else:
            there = np.flatnonzero((first.support > 0) & (first.support < first.n_rows))
            if not there.size:
                raise NaivelyError("curves need rows of two classes; all rows are of one.")
            most = np.argsort(-first.support[there], kind="stable")[:_MAX_CURVES]
            drawn = [(first.rows.curve(k), str(classes[k])) for k in np.sort(there[most]).tolist()]
            share, notes = float("nan"), ["each class against the rest"]
            if len(drawn) < classes.size:
                notes.append(f"{len(drawn)} of {classes.size} classes, those with most rows")
        curves = [DrawnCurve(*cls._line(curve), name) for curve, name in drawn]
        return cls(curves=curves, share=share, notes=notes)


@dataclass(eq=False, repr=False, kw_only=True)
class RocCurveDisplay(ClassCurveDisplay):
    """ROC curve: recall of a class over the false positive rate.

    Examples
    --------
    >>> from naively.plots import RocCurveDisplay
    >>> proba = [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]
    >>> display = RocCurveDisplay.from_predictions(["a", "b", "b"], proba, classes=["a", "b"])
    >>> display.curves[0].area
    1.0
    """

    _title, _area = "ROC curve", "area"
    _axes = "false positive rate: share of the others", "recall: share of the class"

    @classmethod
    def _line(cls, curve: ClassCurve) -> Points:
        x, y = np.append(0.0, curve.false_positive_rate), np.append(0.0, curve.recall)
        return x, y, curve.roc_auc

    def _draw_baseline(self) -> list[Any]:
        return list(self.ax_.plot([0, 1], [0, 1], **_FAINT))


@dataclass(eq=False, repr=False, kw_only=True)
class PrecisionRecallDisplay(ClassCurveDisplay):
    """Precision of a class over its recall; ``curves`` holds the average precisions as well."""

    _title, _area = "Precision and recall", "average precision"
    _axes = "recall: share of the class that is found", "precision: share that is right"
    _drawstyle = "steps-pre"  # a precision holds for the recall up to it

    @classmethod
    def _line(cls, curve: ClassCurve) -> Points:
        x, y = np.append(0.0, curve.recall), np.append(curve.precision[:1], curve.precision)
        return x, y, curve.average_precision

    def _draw_baseline(self) -> list[Any]:
        if np.isnan(self.share):  # each class has another
            return []
        return list(self.ax_.plot([0, 1], [self.share, self.share], **_FAINT))


@dataclass(eq=False, repr=False, kw_only=True)
class GainDisplay(ClassCurveDisplay):
    """Cumulative gain: recall of a class among the rows with the highest probabilities.

    The lift is the share of the class among the first tenth of these rows, divided by its share of
    all rows.

    Examples
    --------
    >>> from naively.plots import GainDisplay
    >>> truth, proba = ["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]
    >>> display = GainDisplay.from_predictions(truth, proba, classes=["a", "b"])
    >>> round(display.curves[0].area, 2)  # the lift
    1.5
    """

    _title, _area = "Cumulative gain", "lift of the first 10 %"
    _axes = "share of all rows, the most probable first", "share of the class that is found"

    @classmethod
    def _line(cls, curve: ClassCurve) -> Points:
        answered = curve.true_positive + curve.false_positive
        x, y = np.append(0.0, answered / answered[-1]), np.append(0.0, curve.recall)
        return x, y, float(np.interp(0.1, x, y) / 0.1)

    def _draw_baseline(self) -> list[Any]:
        if not np.isnan(self.share):
            best = {**_FAINT, "linestyle": (0, (1, 2))}
            self.ax_.plot([0, self.share, 1], [0, 1, 1], **best)
        return list(self.ax_.plot([0, 1], [0, 1], **_FAINT))


@dataclass(eq=False, repr=False, kw_only=True)
class ReliabilityDisplay(AnswersDisplay):
    r"""How often a classifier is right when it is so sure, over how often it is so sure.

    The confidence is the largest probability of a row. On the dashed line a model is right as
    often as it says; below it, it is too sure of itself, as naive Bayes is where columns repeat
    each other. The bars under it count the rows.

    Parameters
    ----------
    reliabilities : sequence of Reliability
        Per model: edges of the bins, and in each the confidence, the accuracy and the count.

    Attributes
    ----------
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
    """

    reliabilities: Sequence[Reliability]
    names: Sequence[str]

    _title = "Reliability"

    @classmethod
    def _read(cls, judged: Sequence[Evaluation], names: Sequence[str]) -> Self:
        return cls(reliabilities=[each.reliability for each in judged], names=names)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        how = {"sharex": True, "height_ratios": [3.6, 1]}
        self.ax_ = top, below = self._panels(ax, (7.2, 5.2), (2, 1), **how)[:, 0]
        (perfect,) = top.plot([0, 1], [0, 1], **_FAINT)
        self.lines_, self.bars_, lowest = [], [], 0.5
        for place, seen in enumerate(self.reliabilities):
            style = {"color": canvas.colour(place), "marker": canvas.marker(place)}
            look = {"linewidth": 1.6, "markersize": 6, "markeredgecolor": "white"}
            held = seen.count > 0
            x, y = seen.confidence[held], seen.accuracy[held]
            self.lines_ += top.plot(x, y, **style, **look)
            width = np.diff(seen.edges) / len(self.reliabilities)  # they stand beside each other
            left = seen.edges[:-1] + place * width
            bars = {"align": "edge", "color": style["color"], "edgecolor": "white"}
            self.bars_.append(below.bar(left, seen.count, width, linewidth=0.6, **bars))
            lowest = min(lowest, seen.edges[int(held.argmax())] if held.any() else 0.0)
        for axes in (top, below):
            canvas.tidy(axes, grid="y")
            axes.spines["left"].set_visible(False)
        top.set_ylim(-0.02, 1.04)
        top.set_ylabel("share of rows that are right", color=canvas.INK)
        top.tick_params(axis="x", length=0)
        below.set_xlim(lowest, 1.01)
        below.set_yscale("log")  # most rows are often in the last bin
        below.set_ylim(bottom=0.6)
        below.yaxis.set_major_formatter("{x:,.0f}")
        below.minorticks_off()
        canvas.name_axes(below, "confidence: the largest probability of a row", "rows (log)")
        canvas.heading(self.figure_, self._title)
        pairs = zip(self.names, self.reliabilities, strict=True)
        names = [f"{canvas.caption(a)}\ncalibration error {b.error:.4f}" for a, b in pairs]
        canvas.legend(self.figure_, [*self.lines_, perfect], [*names, "perfectly calibrated"])
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class ConfusionDisplay(AnswersDisplay):
    """Confusion matrices side by side, in one scale of colours.

    Each is drawn by scikit-learn's ConfusionMatrixDisplay. Of many classes, those are shown
    that have the most mistakes.

    Parameters
    ----------
    matrices : sequence of ndarray of shape (n_classes, n_classes)
        Rows counted by true class (down) and predicted class (across).
    names : sequence of str
        The models' names; an empty one is not written.
    max_classes : int, default=15
        If there are more, those with the most mistakes are shown.
    normalize : bool, default=False
        Write shares of each true class instead of counts.

    Attributes
    ----------
    displays_ : list of sklearn.metrics.ConfusionMatrixDisplay
        What was drawn.

    Examples
    --------
    >>> from naively.plots import ConfusionDisplay
    >>> truth, guess = ["cat", "cat", "dog"], ["cat", "dog", "dog"]
    >>> display = ConfusionDisplay.from_predictions(truth, guess)
    >>> display.matrices[0].tolist()
    [[1, 1], [0, 1]]
    """

    matrices: Sequence[NDArray[Any]]
    names: Sequence[str]
    class_names: Sequence[str]
    max_classes: int = 15
    normalize: bool = False

    _title, _answer, _called = "Confusion matrix", "predict", ("", "the other")

    @classmethod
    def from_predictions(  # type: ignore[override]
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        other: ArrayLike | None = None,
        names: Sequence[str] | None = None,
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
        names, ax
            As for every `Display`.
        **options
            ``class_names``, ``max_classes``, ``normalize``.
        """
        judged = cls._judge(y_true, [y_pred] if other is None else [y_pred, other], None)
        return cls._draw(judged, names, ax, options)

    @classmethod
    def _judge(cls, y: Any, answers: Sequence[Any], classes: Any) -> list[Evaluation]:
        """Judge answers that are labels: the classes are those that occur."""
        classes = reduce(labels.union, [labels.encode(each)[0] for each in (y, *answers)])
        truth = codes_of(y, classes, len(answers[0]))
        unknown = np.full(truth.size, np.nan)
        each = [codes_of(answer, classes, truth.size) for answer in answers]
        rows = [Judgement(truth, k, classes.size, unknown, unknown, None) for k in each]
        return [Evaluation(classes, "", one) for one in rows]

    @classmethod
    def _read(
        cls,
        judged: Sequence[Evaluation],
        names: Sequence[str],
        *,
        class_names: Sequence[str] | None = None,
        **options: Any,
    ) -> Self:
        classes = judged[0].classes
        if any(not np.array_equal(each.classes, classes) for each in judged):
            raise NaivelyError("the evaluations must be of the same classes; they differ.")
        return cls(
            matrices=[each.confusion for each in judged],
            names=names,
            class_names=class_captions(classes, class_names),
            **options,
        )

    def plot(self, ax: Any = None, *, normalize: bool | None = None) -> Self:
        """Draw; perhaps as shares, or as counts, whatever was drawn before."""
        normalize = self.normalize if normalize is None else normalize
        shown, notes = self._choose()
        matrices = [_shares(m) if normalize else np.asarray(m) for m in self.matrices]
        tables = [matrix[np.ix_(shown, shown)] for matrix in matrices]
        captions = [canvas.caption(self.class_names[k], 18) for k in shown]
        tilt = 45 if max(map(len, captions)) > 4 + 12 // len(captions) else 0
        side = max(2.5, 0.95 + (0.42 if len(shown) > 6 else 0.6) * len(shown))
        size = side * len(tables) + 1.1, side + 1.1
        self.ax_ = self._panels(ax, size, (1, len(tables)), square=True)[0]
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
        title = self._title if len(tables) == 1 else "Confusion matrices"
        shares = "Shares of each true class." * normalize
        canvas.heading(self.figure_, title, [note for note in (notes, shares) if note])
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
            axes.tick_params(colors=canvas.INK, labelsize=9, length=0)
            axes.spines[:].set_visible(False)
            axes.set_xlabel("predicted class", color=canvas.INK)
            axes.set_ylabel("true class" if place == 0 else "", color=canvas.INK)
            if tilt:
                for label in axes.get_xticklabels():
                    label.set(ha="right", rotation_mode="anchor")
            if place:
                axes.set_yticklabels([])
            for value, text in zip(display.im_.get_array().flat, display.text_.flat, strict=True):
                text.set_color("white" if value > 0.55 * largest else canvas.INK)
                text.set_alpha(1.0 if value else 0.4)
            matrix = np.asarray(self.matrices[place])
            accuracy = f"accuracy {np.trace(matrix) / max(1, matrix.sum()):.4f}"
            name = canvas.caption(self.names[place])
            title = f"{name}\n{accuracy}" if name else accuracy
            axes.set_title(title, loc="left", fontsize=10, color=canvas.INK)


def _shares(matrix: NDArray[Any]) -> Floats:
    rows = np.maximum(np.asarray(matrix).sum(axis=1, keepdims=True), 1)
    return matrix / rows
