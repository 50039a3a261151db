"""The weight of each category of each column, by class.

>>> towns = Axes(np.array(["no", "yes"]), (np.array(["Bonn", "Ulm"]),))
>>> Tallies(np.array([[0.0, 2.0], [1.0, 0.0]])).by_class(towns)
array([[2.],
       [1.]])
"""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.axes import Axes, Move, placed
from naively.data.rows import Block
from naively.data.schema import Schema
from naively.data.types import Floats
from naively.statistics.statistic import ColumnMove
from naively.statistics.weights import Weights


class Tallies(Weights):
    """Weights of shape (n_classes, n_categories of all columns), column after column."""

    name: ClassVar[str] = "tallies"
    counted: ClassVar[str] = "a category"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        """Whether there are columns of categories."""
        return bool(schema.categories)

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        """Return the numbers of classes and of categories."""
        return axes.classes.size, axes.starts[-1]

    @classmethod
    def measure(cls, block: Block) -> Self:
        """Count the categories of rows."""
        found = np.zeros(cls.shape(block.schema, block.axes))
        starts = np.array(block.axes.starts)
        _kernel.tally(block.codes, block.classes, block.weights, starts, found)
        return cls(found)

    def moved(self, move: Move) -> Self:
        """Return the same once classes and categories went to other places."""
        if move.vocabularies is None:
            return super().moved(move)
        return type(self)(self._placed(move))

    def plus(self, other: Self, own: Move, its: Move) -> Self:
        """Add another in one copy."""
        entries = its.entries
        if entries is None:
            return super().plus(other, own, its)
        values = self._placed(own)
        classes = np.arange(len(values)) if its.classes is None else its.classes
        values[np.ix_(classes, entries)] += other.values
        return type(self)(values)

    def with_columns(self, move: ColumnMove) -> Self:
        """Return the categories of some columns."""
        values = np.zeros((len(self.values), move.axes_after.starts[-1]))
        to, of = move.axes_after.starts, move.axes_before.starts
        for i, j in zip(*move.categories(), strict=True):
            values[:, to[i] : to[i + 1]] = self.values[:, of[j] : of[j + 1]]
        return type(self)(values)

    def by_class(self, axes: Axes) -> Floats:
        """Return the weight of each column's cells."""
        columns = [self.values[:, i:j].sum(axis=1) for i, j in pairwise(axes.starts)]
        return np.stack(columns, axis=1)

    def seen(self, axes: Axes) -> list[NDArray[np.bool_]]:
        """Return which categories have weight."""
        return np.split(self.values.any(axis=0), axes.starts[1:-1])

    def _placed(self, move: Move) -> Floats:
        values, entries = super()._placed(move), move.entries
        if entries is None:
            return values
        return placed(values, entries, move.after.starts[-1], axis=1)
