r"""Forms of functions of a cell: columns that are computed, and then scored by a form each.

.. math:: \sum_f g_f(f(x))

where f are some of `naively.functions` and :math:`g_f` are forms. A cell for which a function has
no value adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.functions import function_values

__all__ = ["FunctionPart", "FunctionSums"]

Floats = NDArray[np.float64]


class FunctionPart(NamedTuple):
    """A function by its name and period, and the form of its values."""

    function: str
    period: float
    form: Any


@dataclass(frozen=True)
class FunctionSums:
    """A sum of forms, each of a function of the cell, for some columns."""

    parts: tuple[FunctionPart, ...]

    def column(self, i: int) -> FunctionSums:
        """Return the form of one column."""
        return self.some(slice(i, i + 1))

    def some(self, at: Any) -> FunctionSums:
        """Return the form of some columns."""
        return FunctionSums(tuple(p._replace(form=p.form.some(at)) for p in self.parts))

    def add(self, X: Any, joint: Floats) -> bool:
        """Add the terms of some rows, given as an array or as columns; False at infinity."""
        x = np.asarray(np.column_stack(X) if isinstance(X, list) else X, dtype=np.float64)
        if np.isinf(x).any():
            return False
        return all(
            form.add(function_values(name, x, period), joint) for name, period, form in self.parts
        )

    def each(self, X: NDArray[Any], n_classes: int) -> Iterator[Floats]:
        """Yield the terms of column after column, each of shape (n_rows, n_classes)."""
        for i in range(X.shape[1]):
            joint = np.zeros((len(X), n_classes))
            self.column(i).add(X[:, i : i + 1], joint)
            yield joint
