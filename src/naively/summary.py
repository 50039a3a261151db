"""The value everything else is read off.

    Data becomes a `Summary`. Summaries add. Models are read off a `Summary`.

A `Schema` says what is measured, a `Summary` what was measured under it: class labels, the
weight of each class, the moments of every column of numbers in every class, the tallies of every
category. Nothing derived is kept, no smoothing and no prior, so two halves add up to the whole.

Examples
--------
>>> import numpy as np
>>> from naively.engines.arrays import summarize
>>> X, y = np.array([[0.0], [2.0], [4.0]]), np.array(["a", "a", "b"])
>>> whole = summarize(X, y)
>>> whole.classes, whole.class_weight
(array(['a', 'b'], dtype='<U1'), array([2., 1.]))
>>> summarize(X[:1], y[:1]) + summarize(X[1:], y[1:]) == whole
True
>>> (whole - summarize(X[2:], y[2:])).class_weight
array([2., 0.])
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from math import isfinite
from operator import is_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import labels
from naively.exceptions import NaivelyError
from naively.sample import Sample
from naively.schema import Kind, Schema
from naively.stats import Moments, Tallies, TooLargeError, remaining

__all__ = ["Schema", "Summary", "check_weight"]

_ROUNDING = 1e-9  # of sums of weights in another order
_FEW = 100  # classes whose weights are added up one by one


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

    Attributes
    ----------
    schema : Schema
        The columns.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight : ndarray of shape (n_classes,)
        The weight of the rows of each class: their number, if they are not weighted.
    moments : Moments of shape (n_classes, n_numbers)
        Of the cells that are present in the columns of numbers.
    categories : tuple of ndarray
        For each column of categories, those seen, sorted.
    tallies : Tallies of shape (n_classes, n_categories of all columns)
        The weight of each category, column after column.
    bins : Tallies of shape (n_classes, n_numbers, n_bins)
        The weight of the cells between the schema's edges.
    sample : Sample, or None
        Some rows, where the schema asks for them.
    """

    schema: Schema
    classes: NDArray[Any]
    class_weight: NDArray[np.float64]
    moments: Moments
    categories: tuple[NDArray[Any], ...] = ()
    tallies: Tallies = field(default=None)  # type: ignore[assignment]
    bins: Tallies = field(default=None)  # type: ignore[assignment]
    sample: Sample | None = None

    def __post_init__(self) -> None:
        self.classes.flags.writeable = False
        self.class_weight.flags.writeable = False
        schema, n_classes = self.schema, self.classes.size
        if self.tallies is None:
            none = tuple(np.empty(0, dtype=str) for _ in schema.categories)
            object.__setattr__(self, "categories", none)
            object.__setattr__(self, "tallies", _no_tallies(n_classes, 0))
        if self.bins is None:
            shape = (n_classes, len(schema.numbers), schema.n_bins)
            object.__setattr__(self, "bins", _no_tallies(*shape))
        if self.sample is None and schema.sample:
            shape = (schema.sample, len(schema.numbers), len(schema.categories))
            object.__setattr__(self, "sample", Sample.zero(*shape))

    @classmethod
    def zero(cls, schema: Schema, classes: NDArray[Any] | None = None) -> Summary:
        """Nothing seen, of classes that may be declared beforehand."""
        if classes is None:
            classes = np.array([], dtype=np.int64)
        moments = Moments.zero(classes.size, len(schema.numbers))
        return cls(schema, classes, np.zeros(classes.size), moments)

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.class_weight.sum())

    def tally(self, j: int) -> NDArray[np.float64]:
        """Return the weights of the categories of the j-th column of categories, by class."""
        start = self._starts[j]
        return self.tallies.values[:, start : start + self.categories[j].size]

    @cached_property
    def _starts(self) -> list[int]:
        """Where the tallies of each column of categories begin."""
        return [0, *accumulate(column.size for column in self.categories)]

    def __add__(self, other: Summary) -> Summary:
        schema, a, b, classes, categories = self._axes(other)
        if classes.size == a.classes.size + b.classes.size:
            a, b = a._spread(a.classes, categories), b._spread(b.classes, categories)
            return a._joined(b, schema, classes)
        a = a._spread(classes, categories)
        b = b._spread(classes if b.classes.size == classes.size else b.classes, categories)
        if b.classes.size < a.classes.size:
            try:
                return a._added(b, schema)
            except TooLargeError:
                b = b._spread(a.classes, a.categories)  # and say below which class it is
        check_weight(a.class_weight, b.class_weight)
        weight = a.class_weight + b.class_weight
        try:
            moments = a.moments + b.moments
        except TooLargeError as error:
            raise _too_large(schema, a, b, *error.at) from None
        return Summary(
            schema,
            a.classes,
            weight,
            moments,
            a.categories,
            a.tallies + b.tallies if a.categories else a.tallies,
            a.bins + b.bins if schema.edges else a.bins,
            None if a.sample is None or b.sample is None else a.sample + b.sample,
        )

    def _joined(self, other: Summary, schema: Schema, classes: NDArray[Any]) -> Summary:
        """Take over classes, all of which are new: nothing is added up, and copied but once."""
        check_weight(self.class_weight, other.class_weight)
        at, sample = labels.positions(other.classes, self.classes), None
        if self.sample is not None and other.sample is not None:
            mine, its = (labels.positions(part.classes, classes) for part in (self, other))
            sample = self.sample.recoded(mine, []) + other.sample.recoded(its, [])
        return Summary(
            schema,
            classes,
            np.insert(self.class_weight, at, other.class_weight),
            self.moments.joined(other.moments, at),
            self.categories,
            self.tallies.joined(other.tallies, at),
            self.bins.joined(other.bins, at),
            sample,
        )

    def _added(self, other: Summary, schema: Schema) -> Summary:
        """Add to some of the classes: the work is that of copying the others."""
        check_weight(self.class_weight, other.class_weight)
        at = labels.positions(other.classes, self.classes)
        weight, sample = self.class_weight.copy(), None
        weight[at] += other.class_weight
        if self.sample is not None and other.sample is not None:
            sample = self.sample + other.sample.recoded(at, [])
        return Summary(
            schema,
            self.classes,
            weight,
            self.moments.added(other.moments, at),
            self.categories,
            self.tallies.added(other.tallies, at) if self.categories else self.tallies,
            self.bins.added(other.bins, at) if schema.edges else self.bins,
            sample,
        )

    def __sub__(self, other: Summary) -> Summary:
        schema, a, b = self._beside(other)
        rest = remaining(a.class_weight, b.class_weight)
        if (rest < 0).any():
            k = int(np.argmax(rest < 0))
            raise NaivelyError(
                f"cannot subtract: class {a.classes[k].item()!r} would have weight {rest[k]}. "
                "Subtract only what was added to this summary."
            )
        kept = labels.positions(self.classes, a.classes)
        moments, tallies, bins = a.moments - b.moments, a.tallies - b.tallies, a.bins - b.bins
        rest = _no_lighter(rest, moments.weight, bins.values.sum(axis=2))
        left = Summary(
            schema,
            self.classes,
            _no_lighter(rest, *_by_column(tallies, a._starts))[kept],
            moments[kept],
            a.categories,
            tallies[kept],
            bins[kept],
            None if a.sample is None or b.sample is None else a.sample - b.sample,
        )
        return left._recoded(a.classes).without_empty_categories()

    def __mul__(self, factor: float) -> Summary:
        with np.errstate(over="ignore", invalid="ignore"):
            weight = self.class_weight * factor
        try:
            moments = self.moments * factor  # raises for a factor that is no factor
        except TooLargeError as error:
            check_weight(weight)
            raise _too_large(self.schema, self, self, *error.at) from None
        check_weight(weight)
        scaled = Summary(
            self.schema,
            self.classes,
            weight,
            moments,
            self.categories,
            self.tallies * factor,
            self.bins * factor,
            None if self.sample is None else self.sample * factor,
        )
        return scaled if factor else scaled.without_empty_categories()

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Summary)
            and self.schema == other.schema
            and np.array_equal(self.classes, other.classes)
            and np.array_equal(self.class_weight, other.class_weight)
            and self.moments == other.moments
            and all(map(np.array_equal, self.categories, other.categories))
            and self.tallies == other.tallies
            and self.bins == other.bins
            and self.sample == other.sample
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<Summary of weight {self.weight:g}: {self.schema.n_columns} columns, "
            f"{self.classes.size} classes ({labels.quoted(self.classes)})>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        copies = np.array(self.classes), np.array(self.class_weight)
        rest = self.moments, self.categories, self.tallies, self.bins, self.sample
        return Summary, (self.schema, *copies, *rest)

    def _beside(self, other: Summary) -> tuple[Schema, Summary, Summary]:
        """Return both with the classes and the categories of both."""
        schema, a, b, classes, categories = self._axes(other)
        return schema, a._spread(classes, categories), b._spread(classes, categories)

    def _axes(
        self, other: Summary
    ) -> tuple[Schema, Summary, Summary, NDArray[Any], tuple[NDArray[Any], ...]]:
        """Return both under one schema, and the classes and the categories of both."""
        schema = self.schema.united(other.schema)
        a, b = self, other
        if a.schema.kinds != b.schema.kinds:
            a, b = a._under(schema), b._under(schema)
        classes = labels.union(a.classes, b.classes)
        categories = tuple(
            _united(schema.name(j), mine, its)
            for j, mine, its in zip(schema.categories, a.categories, b.categories, strict=True)
        )
        return schema, a, b, classes, categories

    def decided(self, kind: Kind) -> Summary:
        """Return the same, with columns in which no cell has been seen as columns of a kind.

        >>> from naively import summarize
        >>> summarize([[1.5, None]], ["a"]).decided("number").moments.weight
        array([[1., 0.]])
        """
        kinds = self.schema.kinds
        if kinds is None or not self.schema.undecided:
            return self
        return self._under(
            self.schema.decided([kind if its == "undecided" else its for its in kinds])
        )

    def _under(self, schema: Schema) -> Summary:
        """Make room for columns that were undecided, in which no cell has been seen."""
        if self.schema.kinds == schema.kinds:
            return self
        at = [j for j, number in enumerate(schema.numbers) if number in set(self.schema.numbers)]
        values = np.zeros((4, self.classes.size, len(schema.numbers)))
        values[:, :, at] = self.moments.values
        bins = np.zeros((self.classes.size, len(schema.numbers), schema.n_bins))
        if self.bins.values.shape[2]:
            bins[:, at] = self.bins.values
        known = dict(zip(self.schema.categories, self.categories, strict=True))
        none = np.empty(0, dtype=str)
        categories = tuple(known.get(j, none) for j in schema.categories)
        sample = self.sample
        if sample is not None:
            places = [i for i, j in enumerate(schema.categories) if j in known]
            sample = sample.with_columns(len(schema.numbers), at, categories, places)
        measured = Moments(values), categories, self.tallies, Tallies(bins), sample
        return Summary(schema, self.classes, self.class_weight, *measured)

    def _spread(self, classes: NDArray[Any], categories: tuple[NDArray[Any], ...]) -> Summary:
        """Make room for classes and categories that were not seen."""
        if classes is self.classes and all(map(is_, categories, self.categories)):
            return self
        same = classes is self.classes
        at = np.arange(classes.size) if same else labels.positions(self.classes, classes)
        weight = np.zeros(classes.size)
        weight[at] = self.class_weight
        values = np.zeros((4, classes.size, self.moments.values.shape[2]))
        values[:, at] = self.moments.values
        if not self.categories and self.schema.edges is None and self.sample is None:
            return Summary(self.schema, classes, weight, Moments(values))
        bins = np.zeros((classes.size, *self.bins.values.shape[1:]))
        bins[at] = self.bins.values
        places = [labels.positions(*pair) for pair in zip(self.categories, categories, strict=True)]
        tallies = np.zeros((classes.size, sum(column.size for column in categories)))
        tallies[np.ix_(at, _side_by_side(places, categories))] = self.tallies.values
        sample = self.sample
        if sample is not None:
            sample = sample.recoded(at, places)
        return Summary(
            self.schema,
            classes,
            weight,
            Moments(values),
            categories,
            Tallies(tallies),
            Tallies(bins),
            sample,
        )

    def _recoded(self, classes: NDArray[Any]) -> Summary:
        """Let the sample, whose codes are places among these classes, have places among ours."""
        if self.sample is None or classes is self.classes:
            return self
        places = np.zeros(classes.size, np.int32)
        places[labels.positions(self.classes, classes)] = np.arange(self.classes.size)
        same = [np.arange(column.size) for column in self.categories]
        return replace(self, sample=self.sample.recoded(places, same))

    def without_empty_categories(self) -> Summary:
        """Leave out categories without weight, and what a sample knew of rows if none is left."""
        sample = self.sample
        if sample is not None and not self.weight > 0:
            sample = 0 * sample
        seen = self.tallies.values.sum(axis=0) > 0
        if seen.all() and sample is self.sample:
            return self
        ends = np.cumsum([column.size for column in self.categories])[:-1]
        masks = np.split(seen, ends) if self.categories else []
        places = [np.cumsum(mask) - 1 for mask in masks]
        categories = tuple(c[mask] for c, mask in zip(self.categories, masks, strict=True))
        if sample is not None:
            sample = sample.recoded(np.arange(self.classes.size), places)
        tallies = Tallies(np.ascontiguousarray(self.tallies.values[:, seen]))
        return replace(self, categories=categories, tallies=tallies, sample=sample)


def check_weight(*class_weights: NDArray[np.float64]) -> None:
    """Raise where the weight of all rows together is beyond every float64."""
    if not isfinite(sum(map(_total, class_weights))):
        raise NaivelyError(
            "the weights of all rows must add up to less than 1.8e308; got more. Rescale them."
        )


def _total(weights: NDArray[np.float64]) -> float:
    """Return the sum, which may be infinite: Python says nothing of that, and is quick for few."""
    if weights.size < _FEW:
        return sum(weights.tolist())
    with np.errstate(over="ignore"):
        return float(np.add.reduce(weights))


def _too_large(schema: Schema, a: Summary, b: Summary, k: int, j: int) -> NaivelyError:
    """Return the error of a statistic that would not be finite; nothing has been changed."""
    largest = max(a.moments.mean[k, j], b.moments.mean[k, j], key=abs)
    return NaivelyError(
        f"in class {a.classes[k].item()!r}, {schema.name(schema.numbers[j])} would hold numbers so "
        f"large that their variance exceeds every float64 (a mean of {largest:g}). Rescale the "
        "column, or leave such rows out. Nothing was changed."
    )


def _no_lighter(
    class_weight: NDArray[np.float64], *parts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what is left of each class: no less than of a part, which rounding took less from."""
    heaviest = np.max([part.max(axis=1, initial=0.0) for part in parts], axis=0, initial=0.0)
    return np.where(heaviest > (1 + _ROUNDING) * class_weight, heaviest, class_weight)


def _by_column(tallies: Tallies, starts: list[int]) -> list[NDArray[np.float64]]:
    """Return the weight of each column of categories, by class."""
    return [tallies.values[:, i:j].sum(axis=1, keepdims=True) for i, j in pairwise(starts)]


@lru_cache(maxsize=64)  # they are frozen, and a stream of single rows makes many
def _no_tallies(*shape: int) -> Tallies:
    return Tallies.zero(*shape)


def _united(name: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    try:
        return labels.union(a, b)
    except NaivelyError as error:
        raise NaivelyError(f"{name}: {error}") from None


def _side_by_side(
    places: list[NDArray[np.intp]], categories: tuple[NDArray[Any], ...]
) -> NDArray[np.intp]:
    """Return where the tallies of all columns go."""
    starts = np.cumsum([0, *(column.size for column in categories)])
    moved = [start + place for start, place in zip(starts, places, strict=False)]
    return np.concatenate([np.empty(0, np.intp), *moved])
