"""What the families of a `NaiveBayes` believe of some of its columns, as curves and shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.estimators.naive_model import Block, blocks_of
from naively.families import gaussian
from naively.plots.shares import bin_shares, category_shares, rebinned
from naively.summary import Summary

__all__ = ["Believed", "Chosen", "has_families"]

Floats = NDArray[np.float64]


def has_families(model: Any) -> bool:
    """Whether a fitted model describes each column by families of its own."""
    return hasattr(model, "families_")


@dataclass(frozen=True)
class Believed:
    """A family of a column of numbers, as the place of the column in a block, of some classes."""

    block: Block
    place: int
    weight: Floats  # of the bins of all classes together, where the family reads bins
    classes: Sequence[int]

    def curves(self, x: Floats, edges: Floats) -> tuple[Floats, Floats]:
        """Return points and densities by class: at x, or in steps between edges.

        Whole numbers have probabilities, which are drawn in steps of width 1.
        """
        if self.block.family.reads == "bins":
            cuts, knots = (part[self.place] for part in self.block.statistic.edges)
            shares = bin_shares(self.weight, self._log_density(knots))
            return _steps(edges, rebinned(cuts, shares, edges))
        low, high = self.block.family.support
        if np.isinf(low):
            said = self._log_density(x)
            silent = ~said.any(axis=1, keepdims=True)  # a column of one value says nothing
            return np.broadcast_to(x, said.shape), np.where(silent, np.nan, np.exp(said))
        first, last = max(low, np.floor(x[0])), min(high, np.ceil(x[-1]))
        whole = np.arange(first, last + 1)
        return _steps(np.arange(first - 0.5, last + 1), np.exp(self._log_density(whole)))

    def _log_density(self, x: Floats) -> Floats:
        """Return log f of shape (n_shown, n)."""
        cells = np.full((x.size, len(self.block.columns)), np.nan)
        cells[:, self.place] = x
        found = self.block.family.log_density(cells, self.block.parameters)
        return np.asarray(found[:, self.classes, self.place].T)


@dataclass(frozen=True)
class Chosen:
    """Some columns of a model, and some of its classes.

    Attributes
    ----------
    summary : Summary
        Of these columns alone.
    blocks : list of Block
        What their families read off it.
    classes : sequence of int
        The classes to show.
    """

    summary: Summary
    blocks: list[Block]
    classes: Sequence[int]

    @classmethod
    def of(cls, model: Any, at: Sequence[int], classes: Sequence[int]) -> Chosen:
        """Take columns and classes of a fitted model."""
        families = list(model.families_.values())
        summary = model.summary_.with_columns(at)
        return cls(summary, blocks_of(summary, [families[j] for j in at]), classes)

    def families(self, place: int) -> list[Believed]:
        """Return what is believed of a column of numbers, given by its place among the chosen."""
        number = self.summary.schema.numbers.index(place)
        weight = self.summary.bins.values[:, number].sum(axis=0)
        return [
            Believed(block, block.columns.index(place), weight, self.classes)
            for block in self.blocks
            if place in block.columns
        ]

    def bells(self, place: int) -> tuple[Floats, Floats]:
        """Return mean and variance of the cells of a column of numbers, by class."""
        seen = gaussian.parameters(self.summary.moments, var_smoothing=0.0)
        at = self.classes, self.summary.schema.numbers.index(place)
        return seen.mean[at], seen.variance[at]

    def shares(self, place: int) -> tuple[NDArray[Any], Floats, Floats]:
        """Return categories, their shares by class, and their weights in all classes together."""
        number = self.summary.schema.categories.index(place)
        family = next(block.family for block in self.blocks if place in block.columns)
        tally = self.summary.tally(number)
        shares = category_shares(tally, family)[self.classes]
        return self.summary.categories[number], shares, tally.sum(axis=0)


def _steps(edges: Floats, heights: Floats) -> tuple[Floats, Floats]:
    """Return the outline of bars as points."""
    x = np.repeat(edges, 2)
    y = np.pad(np.repeat(heights, 2, axis=1), ((0, 0), (1, 1)))
    return np.broadcast_to(x, y.shape), y
