r"""Nomogram: points for every value of every column, their total, and its probability.

.. math:: \log \frac{p(a \mid x)}{p(b \mid x)} = c + \sum_j g_j(x_j), \qquad
          \mathrm{points}_j(x) = \frac{g_j(x) - \min g_j}{u}, \qquad
          \log \frac{p(a \mid x)}{p(b \mid x)} = c + \sum_j \min g_j + u \sum_j \mathrm{points}_j

where :math:`g_j` is what column j adds to class a less what it adds to class b, and u is such that
the widest column has 100 points. A missing cell adds 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np

from naively.data.kinds import CATEGORY, NUMBER, TEXT, Kind
from naively.data.labels import quoted
from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.display.plots import canvas
from naively.display.plots.canvas import Display
from naively.errors import NaivelyError
from naively.families.forms import Pieces
from naively.model.terms import top_words
from naively.statistics import Documents, Occurrences
from naively.statistics.summary import Summary

# those whose names matter most first: where there is no room, later ones have none
_PROBABILITIES = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.05, 0.95, 0.3, 0.7, 0.2, 0.8, 0.4, 0.6)
_MAX_TICKS = 9  # numbers that a line names, about
_MAX_LOG_ODDS = 7.0  # to either side, that the ruler of totals shows
_LETTER_POINTS = 1.02  # that a letter is wide
_MARK = canvas.colour(1)
_GRID_POINTS = 513  # at which a curve of a number is looked at
_SPREADS = 2.5  # standard deviations of each class, where no sample says what is usual
_USUAL = (0.005, 0.995)  # quantiles of the sample
_MAX_CATEGORIES = 40  # of a column
_MAX_WORDS = 6  # of each class


@dataclass(eq=False, repr=False, kw_only=True)
class NomogramDisplay(Display):
    """Points for every value of every column, their total, and the probability that it means.

    Look up the points of each value straight above it, on the first line; add them up, and find the
    total and its probability on the last two. Values of numbers above a line add more as they
    grow, those below it less. A tick of grey is a missing cell.

    With more than two classes it compares two of them: the probability of one, rather than the
    other. Interactions are no sum over columns, so they have no line, and it says so.

    Parameters
    ----------
    nomogram : Nomogram
        The lines, and what points mean.
    row : RowPoints, optional
        A row that is marked.

    Attributes
    ----------
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

        A row of ``X`` is marked. Without one, the classes that are compared are by default the
        second against the first of two classes, and of more the two most frequent ones. Columns are
        the most important ones, or those of the widest range where importance cannot be measured
        for want of a sample; the others are missing.
        """
        canvas.check_explained("a nomogram", estimator)
        canvas.check_at_least_one(max_columns=max_columns)
        if not isinstance(row, Integral):
            raise NaivelyError(f"row must be the number of a row; got {row!r}.")
        if X is None:
            return cls(nomogram=read_nomogram(estimator, of, against, max_columns)).plot(ax)
        one = estimator.explain(X)[row]
        odds, classes = one.log_odds(of, against), one.classes.tolist()
        a, b = classes[int(odds.of[0])], classes[int(odds.against[0])]
        found = read_nomogram(estimator, a, b, max_columns)
        places = {int(j): t for t, j in enumerate(one.contributions.columns) if j >= 0}
        own = [places.get(axis.column) for axis in found.axes]
        each = [0.0 if t is None else float(odds.values[0, t]) for t in own]
        rest = float(odds.total[0]) - found.constant - sum(each)
        return cls(nomogram=found, row=RowPoints(int(one.rows[0]), tuple(each), rest)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        found, row = self.nomogram, self.row
        rest = ["everything else"] if row is not None and abs(row.rest) > 1e-12 else []
        lines = len(found.axes) + len(rest)
        ax = self._one_axes(ax, 9.0, 2.6 + 0.58 * lines)
        names = ["points", *(canvas.caption(axis.name, 26) for axis in found.axes), *rest]
        names += ["total points", f"p({found.of})"]
        _ruler(ax, 0, [(float(v), f"{v}", True) for v in range(0, 101, 10)])
        for y, axis in enumerate(found.axes, 1):
            self._column(ax, y, axis)
        self._totals(ax, lines + 1)
        self.marks_ = None if row is None else self._mark(ax, row, lines)
        ax.set_yticks(range(len(names)), [canvas.caption(name, 30) for name in names])
        ax.set(ylim=(len(names) - 0.4, -0.7), xlim=(-3, 103), xticks=[])
        ax.spines[:].set_visible(False)
        ax.tick_params(axis="y", length=0, labelsize=9, colors=canvas.INK)
        of, against = (canvas.caption(name, 24) for name in (found.of, found.against))
        canvas.heading(ax, f"Nomogram: {of} rather than {against}", [self._note()], width=104)
        return self

    def _column(self, ax: Any, y: int, axis: NomogramAxis) -> None:
        found, values = self.nomogram, axis.cells
        is_number = axis.kind is NUMBER
        if is_number and values.size > _MAX_TICKS:
            values = _round_values(_MAX_TICKS, *values[[0, -1]])
        each = axis.ticks([float(v) for v in values])
        ticks = [(float(found.points(axis, odds)), label, rising) for label, odds, rising in each]
        _ruler(ax, y, ticks, found.points(axis, [axis.low, axis.high]), both=not is_number)
        at = float(found.points(axis, 0.0))
        ax.plot([at, at], [y - 0.13, y + 0.13], color=canvas.REST, linewidth=2.4, zorder=1)

    def _totals(self, ax: Any, y: int) -> None:
        """Draw the last two lines: totals, as far as probabilities are between 0.001 and 0.999."""
        found = self.nomogram
        far = (np.array([-_MAX_LOG_ODDS, _MAX_LOG_ODDS]) - found.start) / found.unit
        most = sum((axis.high - axis.low) / found.unit for axis in found.axes)
        low, high = max(0.0, float(far[0])), min(most, float(far[1]))
        if self.row is not None:
            own = self.row.total(found)
            low, high = min(low, own), max(high, own)
        self._total = low, high = (low, high if high > low else low + 1.0)
        totals = [(float(v), f"{v:g}") for v in _round_values(10, low, high)]
        probable = [(float(found.total(p)), f"{p:g}") for p in _PROBABILITIES]
        for line, values in enumerate((totals, probable), y):
            ticks = [(self._across(v), label, True) for v, label in values if low <= v <= high]
            _ruler(ax, line, ticks)

    def _across(self, total: float) -> float:
        low, high = self._total
        return 100 * (total - low) / (high - low)

    def _mark(self, ax: Any, row: RowPoints, lines: int) -> Any:
        """Mark a row: a dot on each line, and what columns without a line add."""
        found = self.nomogram
        pairs = zip(found.axes, row.log_odds, strict=True)
        points = [float(found.points(axis, value)) for axis, value in pairs]
        x = [min(max(-2.0, value), 102.0) for value in points]  # beside a line that is too short
        if lines > len(x):
            text = f"{row.rest / found.unit:+.1f} points in row {row.number}"
            ax.text(0, lines, text, va="center", fontsize=8.5, color=_MARK)
        y = [*range(1, len(x) + 1), lines + 1, lines + 2]
        x += [self._across(row.total(found))] * 2
        style = {"marker": "o", "linestyle": "none", "markersize": 7, "zorder": 4}
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.9, "clip_on": False}
        return ax.plot(x, y, color=_MARK, **style, **edge)[0]

    def _note(self) -> str:
        found, notes, no_row = self.nomogram, [], self.row is None
        if len(found.axes) < found.n_columns:
            how = "most important" if found.ranked == "importance" else "widest"
            rest = "missing" if no_row else "in everything else"
            notes.append(
                f"The {len(found.axes)} {how} of {found.n_columns:,} columns; others are {rest}."
            )
        if found.together and no_row:
            notes.append(
                f"Interactions ({len(found.together)} terms) are left out: "
                "probabilities are those without them."
            )
        few = [axis for axis in found.axes if axis.n_values > len(axis.labels)]
        named = [len(axis.labels) for axis in few if axis.kind is CATEGORY]
        if named:
            notes.append(f"Of categories, the {named[0]} most frequent.")
        if any(axis.kind is TEXT for axis in found.axes):
            notes.append("Words are those that say most, each as a text of one word.")
        if self.row is not None:
            total = self.row.total(found)
            p = float(found.probability(total))
            notes.append(f"Row {self.row.number}: {total:.1f} points, p = {p:.4f}.")
        return " ".join([*notes, "Grey: a missing cell."])


def _round_values(most: int, low: float, high: float) -> Any:
    return canvas.matplotlib("ticker").MaxNLocator(most).tick_values(low, high)


def _ruler(ax: Any, y: int, ticks: Any, ends: Any = (0.0, 100.0), *, both: bool = False) -> None:
    """Draw a line with ticks and names; names that have no room are left out."""
    ax.plot(ends, [y, y], color=canvas.INK, linewidth=1.0, zorder=2)
    taken: dict[int, list[tuple[float, float]]] = {-1: [], 1: []}
    for x, label, rising in ticks:
        side = -1 if rising else 1  # above the line, as y grows downwards
        ax.plot([x, x], [y, y + 0.11 * side], color=canvas.INK, linewidth=0.9, zorder=2)
        text = canvas.caption(label, 18)
        half = 0.5 * _LETTER_POINTS * (len(text) + 1)
        for where in (side, -side) if both else (side,):
            if all(x + half <= a or x - half >= b for a, b in taken[where]):
                taken[where].append((x - half, x + half))
                place = {"ha": "center", "va": "bottom" if where < 0 else "top"}
                ax.text(x, y + 0.14 * where, text, fontsize=7.5, color=canvas.INK, **place)
                break


# --- what is drawn, read off a model --------------------------------------------------------------


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


class PointTick(NamedTuple):
    """A value of a column, and what it adds to the log-odds; rising where more adds more."""

    label: str
    log_odds: float
    rising: bool


@dataclass(frozen=True, eq=False)
class NomogramAxis:
    """One column: its values, and what each adds to the log-odds."""

    name: str
    column: int  # its place in the model
    kind: Kind
    cells: Floats  # numbers on a grid, or codes of categories, or places of words
    log_odds: Floats
    labels: tuple[str, ...] = ()  # the names of categories or words
    n_values: int = 0  # how many of them the model knows

    @property
    def low(self) -> float:
        """The least that a value adds; no more than a missing cell does."""
        return float(self.log_odds.min(initial=0.0))

    @property
    def high(self) -> float:
        """The most that a value adds; no less than a missing cell does."""
        return float(self.log_odds.max(initial=0.0))

    def ticks(self, values: Sequence[float]) -> list[PointTick]:
        """Return where names of values stand: of numbers, those given."""
        if self.kind is not NUMBER:
            pairs = zip(self.labels, self.log_odds.tolist(), strict=True)
            return [PointTick(label, y, True) for label, y in pairs]
        if self.cells.size == 1:
            return [PointTick(f"{self.cells[0]:g}", float(self.log_odds[0]), True)]
        inside = [v for v in values if self.cells[0] <= v <= self.cells[-1]]
        at = np.interp(inside, self.cells, self.log_odds)
        rising = np.interp(inside, self.cells, np.gradient(self.log_odds, self.cells)) >= 0
        ticks = zip(inside, at.tolist(), rising.tolist(), strict=True)
        return [PointTick(f"{v:g}", y, up) for v, y, up in ticks]


@dataclass(frozen=True, eq=False)
class Nomogram:
    """The axes of some columns, and what their points mean."""

    # the classes that are compared
    of: str
    against: str
    axes: tuple[NomogramAxis, ...]  # the columns, the most important first
    constant: float  # the log-odds where all columns are missing
    n_columns: int  # of the model; those without an axis are missing
    ranked: str  # by what the axes were chosen: "importance" or "range"
    together: tuple[str, ...]  # interactions, which no axis shows

    @property
    def unit(self) -> float:
        """The log-odds of one point."""
        widest = max((axis.high - axis.low for axis in self.axes), default=0.0)
        return widest / 100 if widest > 0 else 0.01

    @property
    def start(self) -> float:
        """The log-odds of no points at all."""
        return self.constant + sum(axis.low for axis in self.axes)

    def points(self, axis: NomogramAxis, log_odds: Any) -> Any:
        """Return the points of what a value of a column adds."""
        return (np.asarray(log_odds) - axis.low) / self.unit

    def probability(self, points: Any) -> Any:
        """Return the probability of the one class, rather than the other, of total points."""
        return 1 / (1 + np.exp(-(self.start + self.unit * np.asarray(points))))

    def total(self, probability: Any) -> Any:
        """Return the total points of a probability."""
        p = np.asarray(probability)
        return (np.log(p) - np.log1p(-p) - self.start) / self.unit


def read_nomogram(estimator: Any, of: Any, against: Any, most: int) -> Nomogram:
    """Read the axes off a fitted estimator."""
    model, summary = estimator.model_, estimator.summary_
    a, b = _compared_classes(estimator, of, against)
    schema = model.schema
    names = schema.names or [f"column {j}" for j in range(schema.n_columns)]
    importance = getattr(estimator, "importance_", None)
    columns: Sequence[int] = [j for j in range(schema.n_columns) if model.by_column[j]]
    if importance is not None:
        columns = [j for j in importance.order.tolist() if model.by_column[j]][:most]
    axes = [_axis(model, summary, j, str(names[j]), a, b) for j in columns]
    axes.sort(key=lambda axis: axis.low - axis.high if importance is None else 0.0)
    labels = [str(label) for label in model.classes.tolist()]
    constant = float(model.constant[a] - model.constant[b])
    if not np.isfinite(constant):
        raise NaivelyError(
            "a nomogram needs two classes of positive probability; got a prior of 0."
        )
    joint = model.interactions
    return Nomogram(
        of=labels[a],
        against=labels[b],
        axes=tuple(axes[:most]),
        constant=constant,
        n_columns=schema.n_columns,
        ranked="range" if importance is None else "importance",
        together=() if joint is None else tuple(joint.names(schema, names)),
    )


def _compared_classes(estimator: Any, of: Any, against: Any) -> tuple[int, int]:
    """Return the places of the classes that are compared.

    By default, of two classes the second against the first, as scikit-learn takes it for the
    positive one; of more, the two most probable ones.
    """
    classes, prior = estimator.classes_.tolist(), estimator.class_prior_
    if len(classes) < 2:
        raise NaivelyError("a nomogram compares two classes; the model has one.")
    for label in (of, against):
        if label is not None and label not in classes:
            known = quoted(estimator.classes_)
            raise NaivelyError(f"of and against must be classes ({known}); got {label!r}.")
    order = [1, 0] if len(classes) == 2 else np.argsort(-prior, kind="stable").tolist()
    a, b = (None if label is None else classes.index(label) for label in (of, against))
    a = next(k for k in order if k != b) if a is None else a
    b = next(k for k in order if k != a) if b is None else b
    if a == b:
        raise NaivelyError(f"of and against must be two classes; got {of!r} for both.")
    return a, b


def _axis(model: Any, summary: Summary, j: int, name: str, a: int, b: int) -> NomogramAxis:
    """Read a column: its usual numbers, its most frequent categories, or words that say most."""
    schema = model.schema
    kind: Kind
    labels: tuple[str, ...] = ()
    n_values = 0
    if j in schema.texts:
        term, _ = model.by_column[j][0]
        words = model.words[term.at]
        listed = top_words(term, words, _MAX_WORDS)
        places = {one.word: one.place for k in (a, b) for one in listed[k]}
        at, labels = np.array([*places.values()], np.int64), tuple(places)
        rows = SparseRows(np.arange(at.size + 1), at, np.ones(at.size), words.size)
        kind, cells, n_values = TEXT, at.astype(float), int((term.parameters.total > 0).sum())
        added = model.column_contributions(j, rows)  # each as a text of its own
    elif j in schema.categories:
        place = schema.categories.index(j)
        known, counts = model.vocabularies[place], np.zeros(model.vocabularies[place].size)
        seen = summary.tally(place).sum(axis=0)
        counts[: seen.size] = seen
        cells = np.sort(np.argsort(-counts, kind="stable")[:_MAX_CATEGORIES]).astype(np.float64)
        labels = tuple(str(known[int(code)]) for code in cells)
        kind, n_values, added = CATEGORY, known.size, model.column_contributions(j, cells)
    else:
        kind, cells = NUMBER, _usual_numbers(model, summary, j)
        added = model.column_contributions(j, cells)
    with np.errstate(invalid="ignore"):  # 0 where neither class is possible
        odds: Floats = np.nan_to_num(added[:, a] - added[:, b], nan=0.0)
    return NomogramAxis(name, j, kind, cells, np.clip(odds, -1000.0, 1000.0), labels, n_values)


def _usual_numbers(model: Any, summary: Summary, j: int) -> Floats:
    """Return numbers as they are usual in a column: a grid, or whole ones."""
    terms, at = model.by_column[j], model.schema.numbers.index(j)
    low, high = _usual_range(summary, at)
    low = max(low, *(term.family.support[0] for term, _ in terms))
    high = min(high, *(term.family.support[1] for term, _ in terms))
    step = getattr(terms[0][0].form, "step", None)
    if step is not None:
        return np.array([0.0, np.floor(step) + 1])
    if not high > low:
        return np.array([low])
    if all(getattr(term.family, "discrete", False) for term, _ in terms):
        return np.arange(np.floor(low), np.ceil(high) + 1)[:_GRID_POINTS]
    knots = [term.form.knots[i] for term, i in terms if isinstance(term.form, Pieces)]
    every = np.concatenate([np.linspace(low, high, _GRID_POINTS), *knots])
    return np.unique(every[(every >= low) & (every <= high)])


def _usual_range(summary: Summary, at: int) -> tuple[float, float]:
    if summary.schema.counted is not None:  # how often, in the class that has most of it
        kind: Any = Documents if summary.schema.counted == "documents" else Occurrences
        seen = summary.class_weight > 0
        rates = summary[kind].values[seen, at] / summary.class_weight[seen]
        rate = float(rates.max(initial=0.0))
        return 0.0, float(max(1.0, np.ceil(rate + 3 * np.sqrt(rate))))
    if summary.sample is not None and len(summary.sample):
        x = summary.sample.numbers[:, at]
        x = x[~np.isnan(x)]
        if x.size:
            low, high = np.quantile(x, _USUAL).tolist()
            return low, high
    weight, mean, m2 = summary.moments.values[:3, :, at]
    seen = weight > 0
    if not seen.any():
        return 0.0, 0.0
    reach = _SPREADS * np.sqrt(m2[seen] / weight[seen])
    return float((mean[seen] - reach).min()), float((mean[seen] + reach).max())
