"""The interactions of a model: how they are read off a summary, and weighed with its other terms.

The sample of rows judges every term, each row taken out before. Where it does not hold all rows and
the summary has products of all numbers (`Scatter`), the quadratic term is read off those, and so
are the directions of a table of numbers alone. A few outliers among a million rows can spoil such
products; so they are taken only where the sample's rows are likelier under them than under the
products of the sample. Indicators of categories, which nobody knows before the rows are read,
what lies along a direction, and pairs are always read off the sample.

What interactions add to rows of the sample, each judged as if it had not been seen.

It is what calibration saw: every term is judged by taking the row out. A column may be missing, as
in `predict`: then its number is the mean in directions and in the quadratic term, no category of it
is there, and its pairs add nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from naively.data.kinds import CATEGORY, NUMBER, TEXT
from naively.data.schema import Schema
from naively.data.types import Floats
from naively.families.forms import Tables, weighted
from naively.families.joint_forms import (
    Ellipsoids,
    GridAxes,
    Grids,
    JointForms,
    Projection,
    StandardNumbers,
)
from naively.model import calibration
from naively.model.calibration import Calibration, terms_of_sample
from naively.model.interactions import canonical, quadratic
from naively.model.interactions.features import ClassScatter, Features, by_class
from naively.model.interactions.pairs import (
    BinnedRows,
    PairAxis,
    PairTable,
    chosen_pairs,
)
from naively.model.interactions.quadratic import QuadraticParameters
from naively.model.terms import Term
from naively.statistics import Sample, Scatter
from naively.statistics.sample import EVERYTHING

INTERACTIONS = ("canonical", "quadratic", "pairs")
_LEAST_WEIGHT = 50.0  # of a sample: of fewer rows, no fifth can be left out
MOST_CLASSES = 128  # that have weights of their own
_MIN_AND_MAX_ROWS = (500, 4000)  # of the sample, at least and at most
_SAMPLE_TERMS = 4_000_000  # of the terms of a sample
_ROWS_BESIDE_TEXT = 80  # rows of the sample for each class and direction, or there are none
_PAIR_COLUMNS = 32
_MANY_ROWS = 1000  # from which columns have more bins
_BINS = (8, 16)
_MAX_DEVIATIONS = (
    1000.0  # standard deviations between a centre and a mean, of a column empty at first
)


@dataclass(frozen=True, eq=False)
class Canonical:
    """Directions, and the terms of the columns that are computed along them."""

    W: Floats  # (p, r): the directions, by feature
    terms: tuple[Term, ...]  # of all computed columns, family after family
    scatter: ClassScatter  # what the directions were read off


@dataclass(frozen=True, eq=False)
class QuadraticTerm:
    """A Student t in all numbers together."""

    parameters: QuadraticParameters
    weight: Floats  # (K,)

    @property
    def form(self) -> Ellipsoids:
        """What scores rows."""
        A, B, s = quadratic.coefficients(self.parameters)
        w, every = self.weight, np.full(A.size, B)
        mean, factor = self.parameters.mean, self.parameters.factor
        if (w == w[0]).all():
            return Ellipsoids(w * A, w * every, s, mean, factor)
        return Ellipsoids(A, every, s, mean, factor, np.ascontiguousarray(w))


@dataclass(frozen=True, eq=False)
class PairTerm:
    """The table of two axes."""

    table: PairTable
    weight: Floats  # (K,)

    @property
    def values(self) -> Floats:
        """What the table adds: by the bins of both axes, and class."""
        return np.ascontiguousarray(weighted(self.table.values.transpose(1, 2, 0), self.weight))


@dataclass(frozen=True, eq=False)
class Interactions:
    """Terms of several columns."""

    features: Features  # standardised numbers and indicators of categories
    canonical: Canonical | None  # the terms
    quadratic: QuadraticTerm | None
    pairs: tuple[PairTerm, ...]
    axes: tuple[PairAxis, ...]  # how columns are cut, to which the pairs' tables point
    n_categories: tuple[int, ...]  # how many categories each column of them has

    @property
    def n_directions(self) -> int:
        """How many columns are computed."""
        return 0 if self.canonical is None else self.canonical.W.shape[1]

    def table(self, schema: Schema, names: Sequence[Any]) -> list[dict[str, Any]]:
        """Describe the terms one by one: kind, columns, weights; of a direction its loadings."""
        lines: list[dict[str, Any]] = []
        numbers = [names[schema.numbers[i]] for i in self.features.numbers]
        for r in range(self.n_directions):
            assert self.canonical is not None
            loadings = self.loadings(schema, names, r)
            weights = np.array([term.weight[:, r] for term in self.canonical.terms])
            one = {"kind": "direction", "columns": tuple(loadings), "weights": weights}
            lines.append({**one, "loadings": loadings})
        if self.quadratic is not None:
            weights = self.quadratic.weight[np.newaxis]
            lines.append({"kind": "quadratic", "columns": tuple(numbers), "weights": weights})
        for pair in self.pairs:
            axes = [self.axes[i] for i in (pair.table.a, pair.table.b)]
            places = [axis.place_in(schema) for axis in axes]
            columns = tuple(names[j] for j in places)
            lines.append({"kind": "pair", "columns": columns, "weights": pair.weight[np.newaxis]})
        return lines

    def names(self, schema: Schema, names: Sequence[Any]) -> tuple[str, ...]:
        """Name the terms one by one, in the order of `table`."""
        singles = [f"direction {r + 1}" for r in range(self.n_directions)]
        singles += [] if self.quadratic is None else ["quadratic"]
        table = self.table(schema, names)[len(singles) :]
        return (*singles, *("pair {} x {}".format(*one["columns"]) for one in table))

    def loadings(self, schema: Schema, names: Sequence[Any], r: int) -> dict[Any, float]:
        """Return how much a standard deviation of each column counts in a direction, most first.

        Of a column of categories, that is the root of the sum of squares of its indicators.
        """
        assert self.canonical is not None
        features, W = self.features, self.canonical.W[:, r]
        n = features.numbers.size
        by_column = {
            schema.numbers[i]: float(w) for i, w in zip(features.numbers, W[:n], strict=True)
        }
        for place in np.unique(features.columns):
            own = W[n:][features.columns == place]
            by_column[schema.categories[place]] = float(np.sqrt(own @ own))
        return {names[j]: by_column[j] for j in sorted(by_column, key=lambda j: -abs(by_column[j]))}

    def weighted(self, weight: Floats) -> Interactions:
        """Return the same terms with weights of shape (K, number of terms), in their order."""
        canonical, rest = self.canonical, weight
        if canonical is not None:
            terms = []
            for term in canonical.terms:
                own, rest = np.split(rest, [len(term.columns)], axis=1)
                terms.append(replace(term, weight=own))
            canonical = replace(canonical, terms=tuple(terms))
        quad = self.quadratic
        if quad is not None:
            quad, rest = replace(quad, weight=rest[:, 0]), rest[:, 1:]
        pairs = tuple(replace(pair, weight=w) for pair, w in zip(self.pairs, rest.T, strict=True))
        return replace(self, canonical=canonical, quadratic=quad, pairs=pairs)

    @cached_property
    def form(self) -> JointForms:
        """What scores rows."""
        n = self.features.numbers.size
        features = self.features
        standard = StandardNumbers(
            features.numbers.tolist(), features.mean[:n].copy(), features.scale[:n].copy()
        )
        computed = () if self.canonical is None else tuple(t.form for t in self.canonical.terms)
        return JointForms(
            standard,
            None if self.canonical is None else self._projection(self.canonical.W),
            computed,
            None if self.quadratic is None else self.quadratic.form,
            self._grids() if self.pairs else None,
        )

    def _projection(self, W: Floats) -> Projection:
        """Return the directions: indicators are 0 for most rows, so they start from there."""
        n, features = self.features.numbers.size, self.features
        of_levels = features.scale[n:, np.newaxis] * W[n:]
        columns = np.unique(features.columns).tolist()
        tables = []
        for j in columns:
            table = np.zeros((self.n_categories[j] + 1, W.shape[1]))
            own = features.columns == j
            table[features.levels[own]] = of_levels[own]
            tables.append(table)
        return Projection(
            np.ascontiguousarray(W[:n]),
            -features.mean[n:] @ of_levels,
            columns,
            Tables.of(tables) if tables else None,
        )

    def _grids(self) -> Grids:
        """Return the grids of all pairs, on those axes that they need."""
        used = {i for pair in self.pairs for i in (pair.table.a, pair.table.b)}
        order = sorted(used, key=lambda i: (self.axes[i].kind is not NUMBER, self.axes[i].at))
        place = {axis: at for at, axis in enumerate(order)}
        axes = [self.axes[i] for i in order]
        numbers: list[Any] = [axis for axis in axes if axis.kind is NUMBER]
        categories: list[Any] = [axis for axis in axes if axis.kind is CATEGORY]
        pairs = [(place[pair.table.a], place[pair.table.b]) for pair in self.pairs]
        return Grids(
            GridAxes(
                [axis.at for axis in numbers],
                [axis.at for axis in categories],
                tuple(axis.knots for axis in numbers),
                tuple(axis.bins.astype(np.int32) for axis in categories),
            ),
            np.array(pairs, np.int32),
            tuple(pair.values for pair in self.pairs),
        )


# --- Reading them off a sample --------------------------------------------------------------------


def read_interactions(
    terms: Sequence[Term],
    log_prior: Floats,
    sample: Sample,
    n_categories: Sequence[int],
    kinds: Collection[str],
    products: tuple[Scatter, Sequence[float]] | None = None,
) -> tuple[Interactions, Calibration] | None:
    """Read interactions, and fit the weights of all terms; None if there are none.

    The terms are those of single columns, which were read off the sample; columns of categories
    have so many categories. Which of `INTERACTIONS` are wanted is given; products are of all rows,
    with their centres.
    """
    n_classes, n_terms = log_prior.size, sum(term.n_weights for term in terms)
    per_row = max(1, n_classes * n_terms)
    sample = sample_for_interactions(terms, sample, n_classes)
    many = n_classes > MOST_CLASSES or per_row > calibration.MOST_WEIGHTS
    alone = not (sample.numbers.shape[1] or sample.categories.shape[1])  # text, which has no pairs
    if sample.texts is not None:
        many |= len(sample) < _ROWS_BESIDE_TEXT * n_classes * (n_classes - 1)
    if not kinds or many or alone or n_classes < 2 or sample.weight.sum() < _LEAST_WEIGHT:
        return None
    return _SampleReader(terms, log_prior, sample, n_categories, products).read(kinds)


def sample_for_interactions(terms: Sequence[Term], sample: Sample, n_classes: int) -> Sample:
    """Return the rows of a sample that interactions are read off."""
    n_terms = sum(term.n_weights for term in terms)
    size = min(
        _MIN_AND_MAX_ROWS[1],
        max(_MIN_AND_MAX_ROWS[0], _SAMPLE_TERMS // max(1, n_classes * n_terms)),
    )
    if sample.texts is not None:  # whose weights need no fewer rows than without interactions
        size = calibration.sample_rows(n_classes, n_terms, text=True)
    return sample.least(size)


class _Numbers(NamedTuple):
    """Features, the values of those that are numbers in the sample, and what is read off them."""

    features: Features
    values: Floats
    scatter: ClassScatter
    term: quadratic.QuadraticParameters
    honest: Floats


class _SampleReader:
    """A sample, and what is known of it."""

    def __init__(
        self,
        terms: Sequence[Term],
        log_prior: Floats,
        sample: Sample,
        n_categories: Sequence[int],
        products: tuple[Scatter, Sequence[float]] | None,
    ) -> None:
        self.terms, self.log_prior, self.sample = terms, log_prior, sample
        self.products = products
        self.n_categories, self.n_classes = tuple(n_categories), log_prior.size
        self.own = by_class(sample.codes, sample.weight, log_prior.size)
        self.honest = [terms_of_sample(terms, sample, log_prior.size)]

    def read(self, kinds: Collection[str]) -> tuple[Interactions, Calibration] | None:
        """Read the kinds that are wanted, pairs last: they explain what the others do not."""
        sample = self.sample
        cells = sample.numbers, sample.categories
        numbers = self._numbers(Features.of(*cells, sample.weight, self.own))
        features, f = numbers.features, numbers.features.values(*cells)
        of_numbers = numbers.values.shape == f.shape
        pooled = numbers.scatter if of_numbers else ClassScatter.of(f, self.own)
        directions = self._canonical(f, pooled) if "canonical" in kinds else None
        one = None
        if "quadratic" in kinds and features.numbers.size:
            self.honest.append(numbers.honest)
            one = QuadraticTerm(numbers.term, np.ones(self.n_classes))
        fitted = self._fitted()
        axes, pairs = self._pairs(fitted) if "pairs" in kinds else ((), ())
        if directions is None and one is None and not pairs:
            return None
        fitted = self._fitted() if pairs else fitted
        every = Interactions(features, directions, one, pairs, axes, self.n_categories)
        n_terms = sum(term.n_weights for term in self.terms)
        return every.weighted(fitted.weight[:, n_terms:]), fitted

    def _fitted(self) -> Calibration:
        every = self.honest[0] if len(self.honest) == 1 else np.concatenate(self.honest, axis=2)
        self.honest = [every]
        sample = self.sample
        return calibration.fit(every, sample.codes, sample.weight, self.log_prior, adaptive=True)

    def _numbers(self, features: Features) -> _Numbers:
        """Return the features with their scatter in the sample, or that of all rows if better."""
        sample, own = self.sample, self.own
        sampled = self._read_numbers(features, lambda values: ClassScatter.of(values, own))
        is_all = sample.bound == EVERYTHING and not sample.drawn
        if self.products is None or is_all or not features.numbers.size:
            return sampled
        seen, centres = self.products
        centred = features.measured_from(centres)
        with np.errstate(over="ignore", invalid="ignore"):
            each = ClassScatter.of_all_rows(seen, centred)
        far = np.abs((centred.mean - features.mean) * features.scale) > _MAX_DEVIATIONS
        if far.any() or not np.isfinite(each.each).all():
            return sampled
        whole = self._read_numbers(centred, lambda _: each)
        return max(whole, sampled, key=self._likelihood)

    def _read_numbers(
        self, features: Features, scatter: Callable[[Floats], ClassScatter]
    ) -> _Numbers:
        sample = self.sample
        values = features.values(sample.numbers, sample.categories)
        values = np.ascontiguousarray(values[:, : features.numbers.size])
        each = scatter(values)
        term = quadratic.parameters(each)
        honest = quadratic.honest_terms(values, sample.codes, sample.weight, term)
        return _Numbers(features, values, each, term, honest)

    def _likelihood(self, numbers: _Numbers) -> float:
        """Return the log likelihood of rows, each as if it had not been seen."""
        own = numbers.honest[np.arange(len(numbers.honest)), self.sample.codes, 0]
        return float(self.sample.weight @ own)

    def _canonical(self, f: Floats, whole: ClassScatter) -> Canonical | None:
        codes, weight = self.sample.codes, self.sample.weight
        W = canonical.directions(whole)
        if not W.shape[1]:
            return None
        W = canonical.oriented(W, f, weight)
        without = canonical.DirectionsWithoutEach(f, codes, weight, whole, W)
        terms = canonical.terms_of(without.z, codes, weight, self.n_classes)
        self.honest.append(without.terms(terms, f))
        return Canonical(W, terms, whole)

    def _pairs(self, fitted: Calibration) -> tuple[tuple[PairAxis, ...], tuple[PairTerm, ...]]:
        sample = self.sample
        axes = self._axes()
        if len(axes) < 2:
            return (), ()
        cells = sample.numbers, sample.categories
        rows = BinnedRows.of(axes, *cells, sample.codes, sample.weight, self.n_classes)
        joint = fitted.joint(self.honest[0], self.log_prior)
        p = np.exp(joint - joint.max(axis=1, keepdims=True))
        chosen = chosen_pairs(rows, p / p.sum(axis=1, keepdims=True))
        self.honest += [terms[:, :, np.newaxis] for _, terms in chosen]
        ones = np.ones(self.n_classes)
        return tuple(axes), tuple(PairTerm(table, ones) for table, _ in chosen)

    def _axes(self) -> list[PairAxis]:
        """Cut the columns whose own terms say most: those of the largest mean square."""
        sample, most = self.sample, _BINS[len(self.sample) >= _MANY_ROWS]
        axes = []
        for kind, at in self._columns()[:_PAIR_COLUMNS]:
            if kind is NUMBER:
                axis = PairAxis.of_numbers(at, sample.numbers[:, at], most, sample.weight)
            else:
                codes, n = sample.categories[:, at], self.n_categories[at]
                axis = PairAxis.of_categories(at, codes, sample.weight, n, most)
            if axis.n_bins > 1 + (kind is CATEGORY):  # which has a bin for all others
                axes.append(axis)
        return axes

    def _columns(self) -> list[tuple[str, int]]:
        """Return kind and place of the columns, those that say most first."""
        n_terms = sum(term.n_weights for term in self.terms)
        own = self.honest[0][:, :, :n_terms]
        squares = np.einsum("nkt,nkt->nt", own, own) - own.sum(axis=1) ** 2 / self.n_classes
        said = self.sample.weight @ squares
        total: dict[tuple[str, int], float] = {}
        start = 0
        for term in self.terms:
            places = [term.at] if term.family.kind is CATEGORY else term.at
            if term.family.kind is TEXT:  # words are no cells of which pairs are made
                places = []
            for i, at in enumerate(places):
                column = term.family.kind, int(at)
                total[column] = total.get(column, 0.0) + float(said[start + i])
            start += term.n_weights
        return sorted(total, key=lambda column: -total[column])


# --- What interactions add to rows of the sample, each judged as if it had not been seen --------


class UnseenInteractions:
    """The interactions of a model, and the sample that they were read off."""

    def __init__(self, given: Interactions, sample: Sample, schema: Schema, n_classes: int) -> None:
        self.given, self.sample, self.schema, self.n_classes = given, sample, schema, n_classes
        features = given.features
        self.values = features.values(sample.numbers, sample.categories)
        missing = -features.mean * features.scale  # of an indicator; a number is its mean
        missing[: features.numbers.size] = 0.0
        self.missing = missing
        self.columns = np.concatenate(
            [
                np.asarray(schema.numbers, np.intp)[features.numbers],
                np.asarray(schema.categories, np.intp)[features.columns],
            ]
        )
        if given.canonical is not None:
            directions = given.canonical
            rows = self.values, sample.codes, sample.weight
            self.without = canonical.DirectionsWithoutEach(*rows, directions.scatter, directions.W)

    def joint(self, rows: slice) -> Floats:
        """Return what all of them add to some rows: (n, K)."""
        parts = [whole for _, whole, _ in self._parts(rows, without_each=False)]
        return np.asarray(np.sum(parts, axis=0), dtype=np.float64)

    def without_each(self, rows: slice) -> Floats:
        """Return what they add to some rows in which each column is missing: (n, K, d)."""
        total = np.zeros((len(self.values[rows]), self.n_classes, self.schema.n_columns))
        for columns, whole, without in self._parts(rows, without_each=True):
            total += whole[:, :, np.newaxis]
            total[:, :, columns] += without - whole[:, :, np.newaxis]
        return total

    def _parts(self, rows: slice, *, without_each: bool) -> Iterator[tuple[Any, Floats, Any]]:
        """Yield the columns of each kind of term, what it adds, and that without each of those."""
        given, values, none = self.given, self.values[rows], np.zeros((1, 1, 1))
        codes, weight = self.sample.codes[rows], self.sample.weight[rows]
        if given.canonical is not None:
            columns, without = np.unique(self.columns if without_each else []).astype(int), none
            if columns.size:
                gone = (np.where(self.columns == j, self.missing, values) for j in columns)
                without = np.stack([self._directions(part, rows) for part in gone], axis=2)
            yield columns, self._directions(values, rows), without
        if given.quadratic is not None:
            numbers = np.ascontiguousarray(values[:, : given.features.numbers.size])
            seen = numbers, codes, weight, given.quadratic.parameters
            w, without = given.quadratic.weight[:, np.newaxis], none
            if without_each:
                each = quadratic.honest_terms(*seen, without_each=True)
                without = (each - each.mean(axis=1, keepdims=True)) * w
            yield (
                self.columns[: numbers.shape[1]],
                _weighted(quadratic.honest_terms(*seen), w),
                without,
            )
        if given.pairs:
            cells = self.sample.numbers[rows], self.sample.categories[rows]
            binned = BinnedRows.of(given.axes, *cells, codes, weight, self.n_classes)
            for pair in given.pairs:
                terms = pair.table.honest_terms(binned)[:, :, np.newaxis]
                axes = given.axes[pair.table.a], given.axes[pair.table.b]
                both = [axis.place_in(self.schema) for axis in axes]
                yield both, _weighted(terms, pair.weight[:, np.newaxis]), none

    def _directions(self, values: Floats, rows: slice) -> Floats:
        directions = self.given.canonical
        assert directions is not None
        weight = np.concatenate([term.weight for term in directions.terms], axis=1)
        return _weighted(self.without.terms(directions.terms, values, rows), weight)


def _weighted(terms: Floats, weight: Floats) -> Floats:
    """Return terms (n, K, T), centred over classes, times weights (K, T), added up: (n, K)."""
    centred = terms - terms.mean(axis=1, keepdims=True)
    total: Floats = np.einsum("nkt,kt->nk", centred, weight)
    return total
