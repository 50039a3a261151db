"""Moments of functions of cells, such as log x: by class and function of a column.

The schema says which: see `naively.functions`. A cell for which a function has no value counts as
missing, so that the weight says how many cells have one.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from naively import _kernel
from naively.axes import Axes
from naively.functions import function_values
from naively.rows import Block, NotFiniteError
from naively.schema import Schema
from naively.statistics.moments import Moments
from naively.statistics.statistic import ColumnMove

__all__ = ["FunctionMoments"]


class FunctionMoments(Moments):
    """Weight, mean, m2 and rest of shape (4, n_classes, n_functions); laws as those of `Moments`.

    Rounding differs from one processor to another: so do the last digits of a logarithm.
    """

    name: ClassVar[str] = "function_moments"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        """Whether the schema has functions."""
        return bool(schema.functions)

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        """Return the numbers of classes and of functions."""
        return axes.classes.size, len(schema.functions)

    @classmethod
    def measure(cls, block: Block) -> FunctionMoments:
        """Add up the functions of rows' cells."""
        n_classes, n_functions = cls.shape(block.schema, block.axes)
        place, numbers = {j: i for i, j in enumerate(block.schema.numbers)}, block.numbers
        values = []
        for column, name, period in block.schema.functions:
            if (i := place.get(column)) is None:  # no cell of the column has been seen
                values.append(np.full(block.classes.size, np.nan))
                continue
            cells = numbers[i] if isinstance(numbers, list) else numbers[:, i]
            values.append(function_values(name, cells, period))
        found = np.zeros((4, n_classes, n_functions))
        classes, weights = block.classes, block.weights
        if not _kernel.summarize(values, classes, weights, np.zeros(n_classes), found):
            raise NotFiniteError
        return cls(found)

    def with_columns(self, move: ColumnMove) -> FunctionMoments:
        """Return the moments of the functions of some columns."""
        before = {function: i for i, function in enumerate(move.before.functions)}
        values = np.zeros((4, self.values.shape[1], len(move.after.functions)))
        for i, function in enumerate(move.after.functions):
            origin = function._replace(column=move.origin[function.column])
            if origin in before:
                values[:, :, i] = self.values[:, :, before[origin]]
        return FunctionMoments(values)
