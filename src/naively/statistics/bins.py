"""The weight of the cells between the edges of a histogram, by class and column of numbers."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from naively import _kernel
from naively.data.axes import Axes
from naively.data.rows import Block
from naively.data.schema import Schema
from naively.data.types import Floats
from naively.statistics.statistic import ColumnMove
from naively.statistics.weights import Weights


class Bins(Weights):
    """Weights of shape (n_classes, n_numbers, n_bins); the schema has the edges."""

    name: ClassVar[str] = "bins"
    counted: ClassVar[str] = "a bin"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        """Whether the schema has edges."""
        return schema.edges is not None

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        """Return the numbers of classes, of columns of numbers, and of bins."""
        return axes.classes.size, len(schema.numbers), schema.n_bins

    @classmethod
    def measure(cls, block: Block) -> Self:
        """Count the cells of rows between edges."""
        found = np.zeros(cls.shape(block.schema, block.axes))
        if found.size:
            _kernel.tally_bins(
                block.numbers, block.classes, block.weights, block.schema.edge_array, found
            )
        return cls(found)

    def with_columns(self, move: ColumnMove) -> Self:
        """Return the bins of some columns."""
        values = np.zeros((len(self.values), len(move.after.numbers), move.after.n_bins))
        to, of = move.numbers()
        if of and self.values.shape[2]:
            values[:, to] = self.values[:, of]
        return type(self)(values)

    def by_class(self, axes: Axes) -> Floats:
        """Return the weight of each column's cells."""
        return self.values.sum(axis=2)
