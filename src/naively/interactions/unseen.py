"""What interactions add to rows of the sample, each judged as if it had not been seen.

It is what calibration saw: every term is judged by taking the row out. A column may be missing, as
in `predict`: then its number is the mean in directions and in the quadratic term, no category of it
is there, and its pairs add nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.interactions import canonical, quadratic
from naively.interactions.interaction import Interactions
from naively.interactions.pairs import BinnedRows
from naively.schema import Schema
from naively.statistics import Sample

__all__ = ["UnseenInteractions"]

Floats = NDArray[np.float64]


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
            found = given.canonical
            rows = self.values, sample.codes, sample.weight
            self.without = canonical.DirectionsWithoutEach(*rows, found.scatter, found.W)

    def joint(self, rows: slice) -> Floats:
        """Return what all of them add to some rows: (n, K)."""
        total = np.zeros((len(self.values[rows]), self.n_classes))
        if self.given.canonical is not None:
            total += self._directions(self.values[rows], rows)
        if self.given.quadratic is not None:
            every = quadratic.honest_terms(*self._numbers(rows), self.given.quadratic.parameters)
            total += _weighted(every, self.given.quadratic.weight[:, np.newaxis])
        for _, terms in self._pairs(rows):
            total += terms
        return total

    def without_each(self, rows: slice) -> Floats:
        """Return what they add to some rows in which each column is missing: (n, K, d)."""
        n, n_columns = len(self.values[rows]), self.schema.n_columns
        total = np.zeros((n, self.n_classes, n_columns))
        if self.given.canonical is not None:
            total += self._directions(self.values[rows], rows)[:, :, np.newaxis]
            for j in np.unique(self.columns):
                cells = np.where(self.columns == j, self.missing, self.values[rows])
                total[:, :, j] = self._directions(cells, rows)
        if self.given.quadratic is not None:
            self._add_quadratic(rows, total)
        for columns, terms in self._pairs(rows):
            kept = ~np.isin(np.arange(n_columns), columns)
            total += terms[:, :, np.newaxis] * kept
        return total

    def _directions(self, values: Floats, rows: slice) -> Floats:
        directions = self.given.canonical
        assert directions is not None
        weight = np.concatenate([term.weight for term in directions.terms], axis=1)
        return _weighted(self.without.terms(directions.terms, values, rows), weight)

    def _add_quadratic(self, rows: slice, total: Floats) -> None:
        term = self.given.quadratic
        assert term is not None
        given, weight = (*self._numbers(rows), term.parameters), term.weight[:, np.newaxis]
        whole = _weighted(quadratic.honest_terms(*given), weight)[:, :, np.newaxis]
        each = quadratic.honest_terms_without_each(*given)
        each -= each.mean(axis=1, keepdims=True)
        total += whole
        total[:, :, self.columns[: self.given.features.numbers.size]] += each * weight - whole

    def _numbers(self, rows: slice) -> tuple[Floats, NDArray[np.int32], Floats]:
        n, sample = self.given.features.numbers.size, self.sample
        values = np.ascontiguousarray(self.values[rows, :n])
        return values, sample.codes[rows], sample.weight[rows]

    def _pairs(self, rows: slice) -> list[tuple[list[int], Floats]]:
        """Return the columns and the terms of each pair."""
        given, sample = self.given, self.sample
        if not given.pairs:
            return []
        cells = sample.numbers[rows], sample.categories[rows]
        codes, weight = sample.codes[rows], sample.weight[rows]
        binned = BinnedRows.of(given.axes, *cells, codes, weight, self.n_classes)
        found = []
        for pair in given.pairs:
            axes = given.axes[pair.table.a], given.axes[pair.table.b]
            columns = [
                (self.schema.numbers if axis.kind == "number" else self.schema.categories)[axis.at]
                for axis in axes
            ]
            terms = pair.table.honest_terms(binned)[:, :, np.newaxis]
            found.append((columns, _weighted(terms, pair.weight[:, np.newaxis])))
        return found


def _weighted(terms: Floats, weight: Floats) -> Floats:
    """Return terms (n, K, T), centred over classes, times weights (K, T), added up: (n, K)."""
    centred = terms - terms.mean(axis=1, keepdims=True)
    total: Floats = np.einsum("nkt,kt->nk", centred, weight)
    return total
