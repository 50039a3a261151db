"""The value everything else is read off.

    Data becomes a `Summary`. Summaries add. Models are read off a `Summary`.

A `Schema` says what is measured, `Axes` name the classes and categories, and statistics hold what
was measured. Nothing derived is kept, no smoothing and no prior, so two halves add up to the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data import labels
from naively.data.kinds import UNDECIDED, Kind
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.data.tokens import Words
from naively.errors import NaivelyError
from naively.statistics import STATISTICS, Bins, ClassWeight, Moments, Sample, Statistic, Tallies
from naively.statistics.axes import Axes, Move, checked_places
from naively.statistics.statistic import ColumnMove, TooLargeError, check_factor
from naively.statistics.weights import remaining

S = TypeVar("S", bound=Statistic)
_ROUNDING = 1e-9  # of sums of weights in another order
_LAST_ROUNDING = 16 * np.finfo(float).eps  # of one weight that is taken from a sum
_COUNT_NOISE = 1e-6  # of all counts of a class: rounding leaves less, as in the kernel
_ROW_NOISE = 1e-3  # of what is removed: rounding of what is left is less, by far


@dataclass(frozen=True, eq=False)
class Summary:
    """What was measured: it adds, subtracts and scales.

    Laws, each a test of the same name::

        a + zero == a == zero + a            exactly
        a + b ~ b + a,  (a + b) + c ~ a + (b + c)
        summarize(A) + summarize(B) ~ summarize(A and B)
        (a + b) - b ~ a;  a - a == zero
        2 * a ~ a + a;  0 * a == zero

    ``+`` unites the classes, and the categories of each column; one that a side lacks is
    untouched, bit for bit. ``-`` raises where a weight would go below zero, and keeps classes
    that became empty, but not such categories.

    Parameters
    ----------
    schema : Schema
        The columns.
    axes : Axes
        The labels of the classes, and of the categories of each column; sorted.
    statistics : mapping
        What was measured, by type: ``summary[Moments]``.

    Examples
    --------
    >>> import numpy as np
    >>> from naively import summarize
    >>> X, y = np.array([[0.0], [2.0], [4.0]]), np.array(["a", "a", "b"])
    >>> whole = summarize(X, y)
    >>> whole.classes, whole.class_weight
    (array(['a', 'b'], dtype='<U1'), array([2., 1.]))
    >>> summarize(X[:1], y[:1]) + summarize(X[1:], y[1:]) == whole
    True
    >>> (whole - summarize(X[2:], y[2:])).class_weight
    array([2., 0.])
    """

    schema: Schema
    axes: Axes
    statistics: Mapping[type[Statistic], Statistic]

    @classmethod
    def of(cls, schema: Schema, axes: Axes, *statistics: Statistic) -> Summary:
        """Put statistics together; of those that are not given, nothing was seen."""
        given = {type(statistic): statistic for statistic in statistics}
        asked = [kind for kind in STATISTICS if kind.is_measured(schema)]
        nothing = {
            kind: kind.zero(*kind.shape(schema, axes)) for kind in asked if kind not in given
        }
        return cls(schema, axes, {kind: (given | nothing)[kind] for kind in asked})

    @classmethod
    def zero(cls, schema: Schema, classes: NDArray[Any] | None = None) -> Summary:
        """Nothing seen, of classes that may be declared beforehand."""
        if classes is None:
            classes = np.array([], dtype=np.int64)
        return cls.of(schema, Axes(classes).with_columns(Schema(0), schema, ()))

    def __getitem__(self, kind: type[S]) -> S:
        """Return what was measured, by its type."""
        statistic: Any = self.statistics[kind]
        return statistic

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted."""
        return self.axes.classes

    @property
    def class_weight(self) -> NDArray[np.float64]:
        """The weight of the rows of each class: their number, if they are not weighted."""
        return self[ClassWeight].values

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(np.add.reduce(self.class_weight))  # in half the time of `sum`

    @property
    def moments(self) -> Moments:
        """Of the cells that are present in the columns of numbers, by class and column."""
        return self._or_nothing(Moments)

    @property
    def categories(self) -> tuple[NDArray[Any], ...]:
        """For each column of categories, those seen, sorted."""
        return self.axes.vocabularies

    @property
    def words(self) -> tuple[Words, ...]:
        """For each column of text, the words seen, sorted."""
        return self.axes.words

    @property
    def tallies(self) -> Tallies:
        """The weight of each category, column after column, by class."""
        return self._or_nothing(Tallies)

    @property
    def bins(self) -> Bins:
        """The weight of the cells between the schema's edges, by class, column and bin."""
        return self._or_nothing(Bins)

    @property
    def sample(self) -> Sample | None:
        """Some rows, where the schema asks for them."""
        sample: Any = self.statistics.get(Sample)
        return sample

    @property
    def sampled_rows(self) -> Rows:
        """The cells of the sample's rows, under the summary's categories and words."""
        sample, shape = self[Sample], (len(self[Sample]), self.schema.n_columns)
        cells = sample.numbers, sample.categories, self.categories, sample.texts, self.words
        return Rows(shape, *cells)

    def tally(self, j: int) -> NDArray[np.float64]:
        """Return the weights of the categories of the j-th column of categories, by class."""
        start, end = self.axes.starts[j : j + 2]
        return self.tallies.values[:, start:end]

    def _or_nothing(self, kind: type[S]) -> S:
        known: Any = self.statistics.get(kind)
        return kind.zero(*kind.shape(self.schema, self.axes)) if known is None else known

    # --- algebra ------------------------------------------------------------------------------

    def __add__(self, other: Summary) -> Summary:
        if not isinstance(other, Summary):
            return NotImplemented
        schema, axes, a, b = self._shared(other)
        own, its = a.axes.move(axes), b.axes.move(axes)
        try:
            total = {
                kind: mine.plus(b.statistics[kind], own, its) for kind, mine in a.statistics.items()
            }
        except TooLargeError as error:
            raise _too_large(schema, axes, error) from None
        return Summary(schema, axes, total)

    def __sub__(self, other: Summary) -> Summary:
        if not isinstance(other, Summary):
            return NotImplemented
        schema, axes, a, b = self._shared(other)
        a, b = a._moved(a.axes.move(axes)), b._moved(b.axes.move(axes))
        weights = remaining(a.class_weight, b.class_weight)
        _check_added(weights < 0, f"weight {weights[weights < 0][:1].sum()}", axes.classes)
        left = {kind: mine - b.statistics[kind] for kind, mine in a.statistics.items()}
        weight = left[ClassWeight].by_class(axes)[:, 0]
        parts = [part.by_class(axes).max(axis=1, initial=0.0) for part in left.values()]
        heaviest = np.max(parts, axis=0)
        noise = _ROUNDING * a.class_weight + _ROW_NOISE * b.class_weight
        _check_added(heaviest - weight > noise, "less weight than a column of it", axes.classes)
        # Rounding may take more from a class than from its heaviest part, whose weight is truer.
        # A class is empty where no part of it is left, beside what rounding leaves of each.
        empty = weight == 0
        if empty.any():
            for kind, part in left.items():
                kept = part.by_class(axes)
                if kept.size:
                    before = a.statistics[kind].by_class(axes)
                    empty &= (kept <= _LAST_ROUNDING * before).all(axis=1)
        weight = np.where(heaviest > (1 + _ROUNDING) * weight, heaviest, weight)
        rest = Summary(schema, axes, {**left, ClassWeight: ClassWeight(weight)})
        if empty.any():
            for kind, part in left.items():
                limit = _COUNT_NOISE * a.statistics[kind].total_by_class(axes)
                much = empty & (part.total_by_class(axes) > limit)
                _check_added(much, "no rows, and counts of them", axes.classes)
            rest = rest._chosen(np.flatnonzero(~empty)) + Summary.zero(schema, axes.classes)
        return rest._kept(labels.positions(self.classes, axes.classes))

    def _shared(self, other: Summary) -> tuple[Schema, Axes, Summary, Summary]:
        """Return the schema and the axes of both, and both under that schema."""
        schema = self.schema.united(other.schema)
        a, b = self._under(schema), other._under(schema)
        return schema, a.axes.united(b.axes, schema), a, b

    def __mul__(self, factor: float) -> Summary:
        check_factor(factor)
        if factor == 0:
            return Summary.zero(self.schema, self.classes)
        try:
            scaled = {kind: mine * factor for kind, mine in self.statistics.items()}
        except TooLargeError as error:
            raise _too_large(self.schema, self.axes, error) from None
        return Summary(self.schema, self.axes, scaled)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Summary)
            and self.schema == other.schema
            and self.axes == other.axes
            and dict(self.statistics) == dict(other.statistics)
        )

    def __repr__(self) -> str:
        return (
            f"<Summary of weight {self.weight:g}: {self.schema.n_columns} columns, "
            f"{self.classes.size} classes ({labels.quoted(self.classes)})>"
        )

    # --- other labels, other columns ----------------------------------------------------------

    def with_classes(self, at: Sequence[int] | NDArray[np.intp]) -> Summary:
        """Return some of the classes, by their places; they stay sorted."""
        return self._chosen(np.sort(checked_places(at, self.classes.size)))

    def relabelled(self, classes: ArrayLike) -> Summary:
        """Return the same under other labels, one for each class; those of one label add up.

        >>> from naively import summarize
        >>> summarize([[1.0], [3.0]], ["1", "01"]).relabelled(np.array([1, 1])).class_weight
        array([2.])
        """
        distinct, codes = labels.encode(classes)
        if codes.size != self.classes.size:
            raise NaivelyError(
                f"there must be one label per class ({self.classes.size}: "
                f"{labels.quoted(self.classes)}); got {codes.size} of them."
            )
        first = np.unique(codes, return_index=True)[1]
        total = self._chosen(first)._named(distinct)
        for k in sorted(set(range(codes.size)) - set(first.tolist())):
            total = total + self._chosen(np.array([k]))._named(distinct[codes[k : k + 1]])
        return total

    def with_columns(self, at: Sequence[int]) -> Summary:
        """Return what was measured of some columns, by their places, in that order."""
        places: list[int] = checked_places(at, self.schema.n_columns).tolist()
        return self.under(self.schema.columns(places), places)

    def with_statistic(self, statistic: Statistic) -> Summary:
        """Return the same with one statistic replaced."""
        return Summary(self.schema, self.axes, {**self.statistics, type(statistic): statistic})

    def decided(self, kinds: Sequence[Kind | str]) -> Summary:
        """Return the same, with columns in which no cell has been seen as columns of some kinds.

        >>> from naively import summarize
        >>> summarize([[1.5, None]], ["a"]).decided(["number", "number"]).moments.weight
        array([[1., 0.]])
        """
        pairs = zip(kinds, self.schema.held, strict=True)
        decided = [kind if its is UNDECIDED else its for kind, its in pairs]
        return self._under(self.schema.decided(decided))

    def with_categories(self, vocabularies: Sequence[NDArray[Any]]) -> Summary:
        """Return the same with categories that hold those of each column; new ones have no weight.

        >>> from naively import summarize
        >>> from naively.data.schema import Schema
        >>> seen = summarize([[2]], ["a"], schema=Schema(1, kinds=("category",)))
        >>> seen.with_categories([np.arange(4)]).tallies.values
        array([[0., 0., 1., 0.]])
        """
        after = replace(self.axes, vocabularies=tuple(vocabularies))
        return self._moved(self.axes.move(after))

    def ordered(self, *, empty_classes: bool = True, all_words: bool = False) -> Summary:
        """Return the same with sorted categories, without those that have no weight.

        Classes without weight are kept only if ``empty_classes``; words if that or ``all_words``.
        """
        axes, every = self.axes, empty_classes or bool(self.class_weight.all())
        all_words = all_words or empty_classes or not axes.words
        if every and not axes.vocabularies and all_words:
            return self
        kept = np.arange(self.classes.size) if every else np.flatnonzero(self.class_weight)
        found = self if kept.size == self.classes.size else self._chosen(kept)
        if not all(map(_ascends, axes.vocabularies)):
            places = [np.argsort(column, kind="stable") for column in axes.vocabularies]
            columns = zip(axes.vocabularies, places, strict=True)
            after = replace(found.axes, vocabularies=tuple(c[order] for c, order in columns))
            move = Move(None, [np.argsort(order) for order in places], found.axes, after)
            found = found._moved(move)
        return found._kept(None, all_words=all_words)

    def _kept(self, classes: NDArray[np.intp] | None, *, all_words: bool = False) -> Summary:
        """Return some of the classes, without categories that have no weight, nor such words."""
        axes = self.axes
        if classes is None:
            classes = np.arange(axes.classes.size)
        elif not self.class_weight[classes].any():
            return Summary.zero(self.schema, axes.classes[classes])
        statistics = self.statistics.values()
        masks = _some(statistic.seen(axes) for statistic in statistics)
        words = _some(part.seen_words(axes) for part in (() if all_words else statistics))
        if masks is None and words is None and classes.size == axes.classes.size:
            return self
        return self._moved(axes.chosen(classes, masks, words))

    def _chosen(self, classes: NDArray[np.intp]) -> Summary:
        """Return some of the classes, by their places, in that order."""
        return self._moved(self.axes.chosen(classes, None))

    def _moved(self, move: Move) -> Summary:
        if move.is_still:
            return self
        moved = {kind: mine.moved(move) for kind, mine in self.statistics.items()}
        return Summary(self.schema, move.after, moved)

    def _named(self, classes: NDArray[Any]) -> Summary:
        return Summary(self.schema, replace(self.axes, classes=classes), self.statistics)

    def _under(self, schema: Schema) -> Summary:
        """Return the same under a schema in which undecided columns have been decided."""
        if self.schema.kinds == schema.kinds:
            return self
        return self.under(schema, range(schema.n_columns))

    def under(self, schema: Schema, origin: Sequence[int]) -> Summary:
        """Return the summary of a schema's columns, each measured at its origin; nothing at -1."""
        axes = self.axes.with_columns(self.schema, schema, origin)
        move = ColumnMove(self.schema, schema, origin, self.axes, axes)
        return Summary.of(schema, axes, *(s.with_columns(move) for s in self.statistics.values()))


def _ascends(column: NDArray[Any]) -> bool:
    return column.size < 2 or bool((column[1:] > column[:-1]).all())


def _some(found: Iterable[list[NDArray[np.bool_]] | None]) -> list[NDArray[np.bool_]] | None:
    """Return the first masks that leave something out; None where there are none."""
    masks = next((masks for masks in found if masks is not None), None)
    return None if masks is None or all(mask.all() for mask in masks) else masks


def _check_added(wrong: NDArray[np.bool_], what: str, classes: NDArray[Any]) -> None:
    """Raise where a class would become what no rows can be."""
    if wrong.any():
        raise NaivelyError(
            f"cannot subtract: class {classes.item(np.argmax(wrong))!r} would have {what}. "
            "Subtract only what was added to this summary."
        )


def _too_large(schema: Schema, axes: Axes, error: TooLargeError) -> NaivelyError:
    """Return the error of a statistic that would not be finite; nothing has been changed."""
    k, j = error.at
    return NaivelyError(
        f"in class {axes.classes.item(k)!r}, {schema.name(schema.numbers[j])} would hold numbers "
        f"so large that their variance exceeds the range of float64 (a mean of {error.mean:g}). "
        "Rescale the column, or leave such rows out. Nothing was changed."
    )
