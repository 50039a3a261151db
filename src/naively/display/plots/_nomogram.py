r"""What a nomogram draws: points for each value of each column, and what a sum of them means.

.. math:: \log \frac{p(a \mid x)}{p(b \mid x)} = c + \sum_j g_j(x_j), \qquad
          \mathrm{points}_j(x) = \frac{g_j(x) - \min g_j}{u}, \qquad
          \log \frac{p(a \mid x)}{p(b \mid x)} = c + \sum_j \min g_j + u \sum_j \mathrm{points}_j

where :math:`g_j` is what column j adds to class a less what it adds to class b, and u is such that
the widest column has 100 points. A missing cell adds 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from naively.data.kinds import CATEGORY, NUMBER, TEXT, Kind
from naively.data.labels import quoted
from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.forms import Pieces, WordLines, weighted
from naively.model.top_words import top_words
from naively.statistics import Documents, Occurrences
from naively.statistics.summary import Summary

__all__ = ["Nomogram", "NomogramAxis", "PointTick", "places_of_classes", "read_nomogram"]


_GRID = 513  # points at which a curve of a number is looked at
_REACH = 2.5  # standard deviations of each class, where no sample says what is usual
_USUAL = (0.005, 0.995)  # quantiles of the sample
_MOST_VALUES = 40  # categories or words of a column
_WORDS = 6  # of each class


class PointTick(NamedTuple):
    """A value of a column, and what it adds to the log-odds; rising where more adds more."""

    label: str
    log_odds: float
    rising: bool


@dataclass(frozen=True, eq=False)
class NomogramAxis:
    """One column: its values, and what each adds to the log-odds.

    Attributes
    ----------
    name : str
        Of the column.
    column : int
        Its place in the model.
    kind : Kind
        What it holds.
    cells, log_odds : ndarray
        Numbers on a grid, or codes of categories or places of words, and what they add.
    labels : tuple of str
        The names of categories or words; none for numbers.
    n_values : int
        How many categories or words the model knows.
    """

    name: str
    column: int
    kind: Kind
    cells: Floats
    log_odds: Floats
    labels: tuple[str, ...] = ()
    n_values: int = 0

    @property
    def low(self) -> float:
        """The least that a value adds; no more than a missing cell does."""
        return float(min(0.0, self.log_odds.min(initial=0.0)))

    @property
    def high(self) -> float:
        """The most that a value adds; no less than a missing cell does."""
        return float(max(0.0, self.log_odds.max(initial=0.0)))

    def ticks(self, values: Sequence[float]) -> list[PointTick]:
        """Return where names of values stand: of numbers, those given."""
        if self.kind is not NUMBER:
            pairs = zip(self.labels, self.log_odds.tolist(), strict=True)
            return [PointTick(label, y, True) for label, y in pairs]
        if self.cells.size == 1:
            return [PointTick(f"{self.cells[0]:g}", float(self.log_odds[0]), True)]
        inside = [v for v in values if self.cells[0] <= v <= self.cells[-1]]
        at = np.interp(inside, self.cells, self.log_odds)
        slope = np.gradient(self.log_odds, self.cells)
        rising = np.interp(inside, self.cells, slope) >= 0
        found = zip(inside, at.tolist(), rising.tolist(), strict=True)
        return [PointTick(f"{v:g}", y, up) for v, y, up in found]


@dataclass(frozen=True, eq=False)
class Nomogram:
    """The axes of some columns, and what their points mean.

    Attributes
    ----------
    of, against : str
        The classes that are compared.
    axes : tuple of NomogramAxis
        The columns, the most important first.
    constant : float
        The log-odds where all columns are missing.
    n_columns : int
        How many columns the model has; those without an axis are missing.
    ranked : str
        By what the axes were chosen: ``"importance"`` or ``"range"``.
    together : tuple of str
        Interactions, which no axis shows.
    """

    of: str
    against: str
    axes: tuple[NomogramAxis, ...]
    constant: float
    n_columns: int
    ranked: str
    together: tuple[str, ...]

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


def places_of_classes(estimator: Any, of: Any, against: Any) -> tuple[int, int]:
    """Return the places of the classes that are compared.

    By default, of two classes the second against the first, as scikit-learn takes it for the
    positive one; of more, the two most probable ones.
    """
    classes, prior = estimator.classes_.tolist(), estimator.class_prior_
    if len(classes) < 2:
        raise NaivelyError("a nomogram compares two classes; the model has one.")
    order = [1, 0] if len(classes) == 2 else np.argsort(-prior, kind="stable").tolist()
    given = []
    for label in (of, against):
        if label is not None and label not in classes:
            known = quoted(estimator.classes_)
            raise NaivelyError(f"of and against must be classes ({known}); got {label!r}.")
        given.append(None if label is None else classes.index(label))
    a, b = given
    a = next(k for k in order if k != b) if a is None else a
    b = next(k for k in order if k != a) if b is None else b
    if a == b:
        raise NaivelyError(f"of and against must be two classes; got {of!r} for both.")
    return a, b


def read_nomogram(estimator: Any, of: Any, against: Any, most: int) -> Nomogram:
    """Read the axes off a fitted estimator."""
    model, summary = estimator.model_, estimator.summary_
    a, b = places_of_classes(estimator, of, against)
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


def _axis(model: Any, summary: Summary, j: int, name: str, a: int, b: int) -> NomogramAxis:
    schema = model.schema
    if j in schema.texts:
        return _words(model, j, name, a, b)
    if j in schema.categories:
        place = schema.categories.index(j)
        known, counts = model.vocabularies[place], np.zeros(model.vocabularies[place].size)
        seen = summary.tally(place).sum(axis=0)
        counts[: seen.size] = seen
        codes = np.sort(np.argsort(-counts, kind="stable")[:_MOST_VALUES]).astype(np.float64)
        names = tuple(str(known[int(code)]) for code in codes)
        values = _difference(_terms(model, j, codes), a, b)
        return NomogramAxis(name, j, CATEGORY, codes, values, names, known.size)
    cells = _usual(model, summary, j)
    return NomogramAxis(name, j, NUMBER, cells, _difference(_terms(model, j, cells), a, b))


def _terms(model: Any, j: int, cells: Floats) -> Floats:
    """Return what the terms of a column add for some cells: (n, K)."""
    out = np.zeros((cells.size, model.classes.size))
    for term, i in model.by_column[j]:
        form: Any = term.form
        if term.family.kind is CATEGORY:
            form.add(cells.astype(np.int32)[:, np.newaxis], out)
        elif hasattr(form, "column"):
            form.column(i).add(np.ascontiguousarray(cells)[:, np.newaxis], out)
        else:
            out += weighted(term.log_density_of(i, cells), term.weight[:, i])
    return out


def _usual(model: Any, summary: Summary, j: int) -> Floats:
    """Return numbers as they are usual in a column: a grid, or whole ones."""
    terms, at = model.by_column[j], model.schema.numbers.index(j)
    low, high = _range(summary, at)
    supports = [term.family.support for term, _ in terms]
    low = max(low, *(least for least, _ in supports))
    high = min(high, *(most for _, most in supports))
    if getattr(terms[0][0].form, "step", None) is not None:
        return np.array([0.0, np.floor(terms[0][0].form.step) + 1])
    if not high > low:
        return np.array([low])
    if all(getattr(term.family, "discrete", False) for term, _ in terms):
        return np.arange(np.floor(low), np.ceil(high) + 1)[:_GRID]
    knots = [term.form.knots[i] for term, i in terms if isinstance(term.form, Pieces)]
    every = np.concatenate([np.linspace(low, high, _GRID), *knots])
    return np.unique(every[(every >= low) & (every <= high)])


def _range(summary: Summary, at: int) -> tuple[float, float]:
    sample = summary.sample
    if summary.schema.counted is not None:
        rate = _rate(summary, at)
        return 0.0, float(max(1.0, np.ceil(rate + 3 * np.sqrt(rate))))
    if sample is not None and len(sample):
        x = sample.numbers[:, at]
        x = x[~np.isnan(x)]
        if x.size:
            low, high = np.quantile(x, _USUAL)
            return float(low), float(high)
    weight, mean, m2 = summary.moments.values[:3, :, at]
    seen = weight > 0
    if not seen.any():
        return 0.0, 0.0
    reach = _REACH * np.sqrt(m2[seen] / weight[seen])
    return float((mean[seen] - reach).min()), float((mean[seen] + reach).max())


def _rate(summary: Summary, at: int) -> float:
    """Return how often a column occurs in a row of the class that has most of it."""
    kind: Any = Documents if summary.schema.counted == "documents" else Occurrences
    seen = summary.class_weight > 0
    return float((summary[kind].values[seen, at] / summary.class_weight[seen]).max(initial=0.0))


def _words(model: Any, j: int, name: str, a: int, b: int) -> NomogramAxis:
    """Return the words that speak most for either class, each as a text of its own."""
    term, _ = model.by_column[j][0]
    form: Any = term.form
    assert isinstance(form, WordLines)
    words = model.words[term.at]
    listed = top_words(term, words, _WORDS)
    places = {one.word: one.place for k in (a, b) for one in listed[k]}
    at = np.array([*places.values()], np.int64)
    rows = SparseRows(np.arange(at.size + 1), at, np.ones(at.size), words.size)
    out = np.zeros((at.size, model.classes.size))
    form.add(rows, out)
    known, values = int((term.parameters.total > 0).sum()), _difference(out, a, b)
    return NomogramAxis(name, j, TEXT, at.astype(np.float64), values, tuple(places), known)


def _difference(terms: Floats, a: int, b: int) -> Floats:
    """Return what is added to one class less what is added to another; 0 if to neither."""
    with np.errstate(invalid="ignore"):
        found: Floats = np.nan_to_num(terms[:, a] - terms[:, b], nan=0.0)
    return np.clip(found, -1000.0, 1000.0)
