"""The interactions of a model: terms of several columns, with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from naively.data.kinds import CATEGORY, NUMBER
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
from naively.model.interactions import quadratic
from naively.model.interactions.features import ClassScatter, Features
from naively.model.interactions.pairs import PairAxis, PairTable
from naively.model.interactions.quadratic import QuadraticParameters
from naively.model.terms import Term


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
