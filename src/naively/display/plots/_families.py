"""The families of a fitted model for some of its columns, as curves and shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.display.plots.shares import bin_shares, category_shares, rebinned
from naively.families import gaussian
from naively.model.terms import Term
from naively.model.top_words import top_words
from naively.statistics import Bins
from naively.statistics.summary import Summary

__all__ = ["FamilyCurves", "ShownColumns", "has_families"]


_MOST_STEPS = 2000
_MOST_WORDS = 8


def has_families(model: Any) -> bool:
    """Whether a fitted model describes each column by families of its own."""
    return hasattr(model, "families_")


@dataclass(frozen=True)
class FamilyCurves:
    """A family of a column of numbers, as the place of the column in a term, of some classes."""

    term: Term
    place: int
    weight: Floats  # of the bins of all classes together, where the family reads bins
    classes: Sequence[int]

    def curves(self, x: Floats, edges: Floats) -> tuple[Floats, Floats]:
        """Return points and densities by class: at x, or in steps between edges.

        Whole numbers have probabilities, which are drawn in steps of width 1, unless that would be
        more steps than can be seen.
        """
        if self.term.family.reads is Bins:
            cuts, knots = (part[self.place] for part in self.term.statistic.edges)
            shares = bin_shares(self.weight, self._log_density(knots))
            return _steps(edges, rebinned(cuts, shares, edges))
        low, high = self.term.family.support
        if not self.term.family.discrete:
            found = self._log_density(x)
            silent = ~found.any(axis=1, keepdims=True)  # a column of one value adds nothing
            known = np.where((x >= low) & (x <= high), np.exp(found), 0.0)
            return np.broadcast_to(x, found.shape), np.where(silent, np.nan, known)
        first, last = max(low, np.floor(x[0])), min(high, np.ceil(x[-1]))
        if last - first > _MOST_STEPS or last >= 2.0**52:
            x = np.clip(x, first, last)
            found = np.exp(self._log_density(np.rint(x)))
            return np.broadcast_to(x, found.shape), found
        whole = np.arange(first, last + 1)
        return _steps(np.arange(first - 0.5, last + 1), np.exp(self._log_density(whole)))

    def _log_density(self, x: Floats) -> Floats:
        """Return log f of shape (n_shown, n)."""
        return np.asarray(self.term.log_density_of(self.place, x)[:, self.classes].T)


@dataclass(frozen=True)
class ShownColumns:
    """Some columns of a fitted model, and some of its classes."""

    summary: Summary  # of all its columns
    terms: Sequence[Sequence[tuple[Term, int]]]  # what its families read off that, by column
    at: Sequence[int]  # the columns to show
    classes: Sequence[int]  # the classes to show

    @classmethod
    def of(cls, model: Any, at: Sequence[int], classes: Sequence[int]) -> ShownColumns:
        """Take columns and classes of a fitted model."""
        return cls(model.summary_, model.model_.by_column, at, classes)

    def families(self, place: int) -> list[FamilyCurves]:
        """Return the families of a column of numbers, given by its place among those shown."""
        j = self.at[place]
        weight = self.summary.bins.values[:, self._number(place)].sum(axis=0)
        return [FamilyCurves(term, i, weight, self.classes) for term, i in self.terms[j]]

    def bells(self, place: int) -> tuple[Floats, Floats]:
        """Return mean and variance of the cells of a column of numbers, by class."""
        seen = gaussian.parameters(self.summary.moments, var_smoothing=0.0)
        at = self.classes, self._number(place)
        return seen.mean[at], seen.variance[at]

    def shares(self, place: int) -> tuple[NDArray[Any], Floats, Floats]:
        """Return categories, their shares by class, and their weights in all classes together."""
        j = self.at[place]
        number = self.summary.schema.categories.index(j)
        family = self.terms[j][0][0].family
        tally = self.summary.tally(number)
        shares = category_shares(tally, family)[self.classes]
        return self.summary.categories[number], shares, tally.sum(axis=0)

    def words(self, place: int) -> tuple[list[str], Floats]:
        """Return words that speak for the classes shown, and the share of documents with them."""
        term = self.terms[self.at[place]][0][0]
        found = top_words(term, self.summary.words[term.at], _MOST_WORDS)
        ranked = [one for rank in zip_longest(*(found[k] for k in self.classes)) for one in rank]
        counts = {one.word: one.counts[self.classes] for one in ranked if one is not None}
        seen = np.maximum(self.summary.class_weight[self.classes], np.finfo(float).tiny)
        kept = list(counts)[: max(_MOST_WORDS, len(self.classes))]
        shares = np.array([counts[word] for word in kept]).reshape(len(kept), -1) / seen
        return kept, shares.T

    def _number(self, place: int) -> int:
        return self.summary.schema.numbers.index(self.at[place])


def _steps(edges: Floats, heights: Floats) -> tuple[Floats, Floats]:
    """Return the outline of bars as points."""
    x = np.repeat(edges, 2)
    y = np.pad(np.repeat(heights, 2, axis=1), ((0, 0), (1, 1)))
    return np.broadcast_to(x, y.shape), y
