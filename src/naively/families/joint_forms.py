r"""Forms of several cells: what scores the interactions of a model.

The `forms` are functions of one cell. Interactions need three things more, and no others:

============= ======================================== =================================
Projection    :math:`z = c + W^T f(x)`                 columns that are computed, to which
                                                       the forms of numbers apply
Ellipsoids    :math:`A - B \log(1 + s |G (f-M)|^2)`    a Student t in many numbers
Grids         a number for each pair of bins           a table of two columns
============= ======================================== =================================

where :math:`f_j = (x_j - m_j)\,s_j` are standardised numbers, 0 where a cell is missing.

A direction is a column like any other once it is computed, so it is no form of its own. The other
two cannot be written as sums of functions of one cell, be it a computed one: the first would need
all products of numbers, the second has a value for every pair of bins. Each is linear algebra or a
lookup, which the kernel, SQL, ONNX and the page of a report can all do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.types import Floats
from naively.families.forms import Form, Tables, columns_of


@dataclass(frozen=True, eq=False)
class StandardNumbers:
    """Columns of numbers, by place, with what standardises them."""

    at: Sequence[int]
    mean: Floats
    scale: Floats

    def values(self, X: Any, n_rows: int) -> Floats | None:
        """Return the features of rows, of shape (n, p); None at infinity."""
        out = np.empty((n_rows, len(self.at)))
        if not len(self.at):
            return out
        fine = _kernel.standardize(columns_of(X, self.at), self.mean, self.scale, out)
        return out if fine else None


@dataclass(frozen=True, eq=False)
class Projection:
    """Directions: a sum over standardised numbers and over categories."""

    W: Floats  # (p, r): of the numbers
    start: Floats  # (r,): what is added to all rows
    columns: Sequence[int]  # places among the columns of categories
    tables: Tables | None  # what their categories add

    def values(self, f: Floats, codes: Any) -> Floats:
        """Return the computed columns, of shape (n, r)."""
        z = np.tile(self.start, (len(f), 1))
        _kernel.project(f, self.W, z)
        if self.tables is not None:
            self.tables.add(columns_of(codes, self.columns), z)
        return z


@dataclass(frozen=True, eq=False)
class Ellipsoids:
    """A - B log(1 + s |G (f - mean)|^2) by class; weights that differ are not folded in."""

    A: Floats  # (K,)
    B: Floats
    s: Floats
    mean: Floats  # (K, p)
    factor: Floats  # (K, p, p): G, lower triangular
    weight: Floats | None = None

    def add(self, f: Floats, joint: Floats) -> None:
        """Add the terms of features."""
        _kernel.add_multivariate_students(
            f, self.A, self.B, self.s, self.mean, self.factor, joint, self.weight
        )


@dataclass(frozen=True, eq=False)
class GridAxes:
    """How cells become places in grids: columns of numbers first, then columns of categories."""

    numbers: Sequence[int]  # places among the columns of each kind, which ascend
    categories: Sequence[int]
    # Of each column of numbers: between them grids are interpolated, and flat beyond
    knots: tuple[Floats, ...]
    # Of each column of categories: the bin of each code, the last for all others
    bins: tuple[NDArray[np.int32], ...]

    @property
    def sizes(self) -> NDArray[np.int32]:
        """The number of bins of each axis."""
        sizes = [knots.size for knots in self.knots] + [int(bins.max()) + 1 for bins in self.bins]
        return np.array(sizes, np.int32)


@dataclass(frozen=True, eq=False)
class Grids:
    """Values by the bins of two columns and class, pair after pair."""

    axes: GridAxes  # the columns
    pairs: NDArray[np.int32]  # (n_pairs, 2): the axes of each pair
    # (bins of one, bins of the other, K): between knots they are bilinear; a missing cell adds
    # nothing
    values: tuple[Floats, ...]

    def add(self, X: Any, codes: Any, joint: Floats) -> None:
        """Add the terms."""
        axes, none = self.axes, np.empty((len(joint), 0))
        x = columns_of(X, axes.numbers) if len(axes.numbers) else none
        c = columns_of(codes, axes.categories) if len(axes.categories) else none
        _kernel.add_pairs(x, c, joint=joint, **self._given)

    def pair(self, p: int) -> Grids:
        """Return the grid of one pair, on its two axes."""
        axes, n = self.axes, len(self.axes.numbers)
        used = sorted(self.pairs[p].tolist())
        numbers, categories = [i for i in used if i < n], [i - n for i in used if i >= n]
        own = GridAxes(
            [axes.numbers[i] for i in numbers],
            [axes.categories[i] for i in categories],
            tuple(axes.knots[i] for i in numbers),
            tuple(axes.bins[i] for i in categories),
        )
        pairs = np.array([[used.index(i) for i in self.pairs[p].tolist()]], np.int32)
        return Grids(own, pairs, (self.values[p],))

    def coefficients(self) -> list[tuple[Floats, Floats, Floats, Floats]]:
        """Return the four numbers of each cell of each grid: v + a s + b t + c s t, by line.

        There s and t are how far a cell is on the way from a bin of either axis to the next.
        """
        each = []
        for table in self.values:
            right = np.concatenate([table[1:], table[-1:]])
            up = np.concatenate([table[:, 1:], table[:, -1:]], axis=1)
            both = np.concatenate([right[:, 1:], right[:, -1:]], axis=1)
            parts = table, right - table, up - table, both - right - up + table
            v, a, b, c = (part.reshape(-1, table.shape[2]) for part in parts)
            each.append((v, a, b, c))
        return each

    @cached_property
    def _given(self) -> dict[str, Any]:
        """Axes and tables as the kernel takes them, each in one array."""
        n_classes = self.values[0].shape[2]
        lines = [table.reshape(-1, n_classes) for table in self.values]
        knots, knot_offsets = _joined(self.axes.knots, np.float64)
        bins, bin_offsets = _joined(self.axes.bins, np.int32)
        return {
            "knots": knots,
            "knot_offsets": knot_offsets,
            "bins": bins,
            "bin_offsets": bin_offsets,
            "pairs": self.pairs,
            "n_bins": self.axes.sizes,
            "offsets": np.cumsum([0, *map(len, lines)]),
            "values": np.concatenate(lines),
        }


@dataclass(frozen=True, eq=False)
class JointForms:
    """All forms of several cells of a model."""

    features: StandardNumbers  # what projection and ellipsoids see
    # Directions, and the forms of all of them together, one after the other
    projection: Projection | None
    computed: tuple[Form, ...]
    ellipsoids: Ellipsoids | None
    grids: Grids | None

    def add(self, X: Any, codes: Any, joint: Floats) -> bool:
        """Add the terms of some rows, given as arrays or as columns; False at infinity."""
        if self.projection is not None or self.ellipsoids is not None:
            f = self.features.values(X, len(joint))
            if f is None:
                return False
            if self.projection is not None:
                z = self.projection.values(f, codes)
                if not all(form.add(z, joint) for form in self.computed):
                    return False
            if self.ellipsoids is not None:
                self.ellipsoids.add(f, joint)
        if self.grids is not None:
            self.grids.add(X, codes, joint)
        return True

    def each(self, X: Any, codes: Any, n_rows: int, n_classes: int) -> Iterator[Floats]:
        """Yield the terms one by one: of directions, of the ellipsoids, and of each pair."""
        f = self.features.values(X, n_rows)
        assert f is not None, "numbers must be finite"
        if self.projection is not None:
            z = self.projection.values(f, codes)
            for parts in zip(*(form.each(z, n_classes) for form in self.computed), strict=True):
                yield np.sum(parts, axis=0)
        joint = np.zeros((n_rows, n_classes))
        if self.ellipsoids is not None:
            self.ellipsoids.add(f, joint)
            yield joint
        for p in range(0 if self.grids is None else len(self.grids.pairs)):
            joint = np.zeros((n_rows, n_classes))
            self._pairs[p].add(X, codes, joint)
            yield joint

    @cached_property
    def _pairs(self) -> list[Grids]:
        assert self.grids is not None
        return [self.grids.pair(p) for p in range(len(self.grids.pairs))]


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    offsets = np.cumsum([0, *(part.size for part in parts)])
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype), offsets
