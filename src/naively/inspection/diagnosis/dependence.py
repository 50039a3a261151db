r"""How columns depend on each other within classes: what naive Bayes assumes they do not.

Of two columns of numbers, the correlation within classes,

.. math:: r = \frac{\sum_k S_{k,ij}}{\sqrt{\sum_k S_{k,ii} \sum_k S_{k,jj}}}

where :math:`S_k` are products around the means of class k: those of all rows where the summary
holds them, or of the sample. Of any two columns, numbers cut at the quantiles of each class, the
mutual information given the class, less what chance gives it,

.. math:: I = \frac{1}{N} \Bigl(\sum_k N_k I_k - \frac{f}{2}\Bigr), \qquad
          s = \sqrt{\frac{1 - e^{-2 I}}{1 - e^{-2 \min(H_i, H_j)}}}

where f are the degrees of freedom of the tables. s is the correlation of two Gaussian columns of
the same information, and 1 of two columns of which each tells the other; less than 0.05 nats count
as none. The strength of a pair is the larger of both, or 0 where chance may explain it. The number
of independent columns among p is :math:`p^2 / \sum_{ij} s_{ij}^2`: p without any dependence, and 1
where all are one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtrc, erfc

from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.inspection.diagnosis.distributions import columns_of, mid_shares, n_rows
from naively.statistics import Sample, Scatter
from naively.statistics.summary import Summary

_MAX_CORRELATED = 2000  # columns of numbers whose correlations are looked at
_MAX_CUT = 128  # columns whose mutual information is
_CHANCE = 0.001  # of all pairs together
_MAX_BINS = 8
_ROWS_OF_A_CELL = 5  # that are expected in a cell of a table
_MIN_NATS = 0.05  # of columns that hardly vary, less is all there is
_MIN_ROWS = 20  # of a class


class DependentPair(NamedTuple):
    """Two columns, by place; NaN is what was not looked at."""

    a: int
    b: int
    correlation: float
    information: float  # in nats, given the class
    strength: float
    p_value: float


@dataclass(frozen=True, eq=False)
class Dependence:
    """How columns depend on each other within classes.

    Attributes
    ----------
    columns : tuple of int
        Those that were looked at, by place.
    strength : ndarray of shape (p, p)
        From 0 to 1, with 1 on the diagonal.
    correlation, information, p_value : ndarray of shape (p, p)
        What the strength is made of, and how probable that is by chance, all pairs together.
    left_out : int
        How many columns were not looked at.
    """

    columns: tuple[int, ...]
    strength: Floats
    correlation: Floats
    information: Floats
    p_value: Floats
    left_out: int

    @classmethod
    def of(cls, summary: Summary, sample: Sample) -> Dependence:
        """Look at the columns of numbers and categories."""
        numbers, cut = _chosen(summary, sample)
        columns = sorted({*numbers, *cut})
        place = {j: i for i, j in enumerate(columns)}
        p = len(columns)
        correlation, information = np.full((2, p, p), np.nan)
        chance, strength = np.ones((p, p)), np.zeros((p, p))
        n = float(n_rows(sample.weight)) - summary.classes.size - 3
        if len(numbers) > 1 and n > 0:
            at = np.ix_(*[[place[j] for j in numbers]] * 2)
            correlation[at] = _correlations(summary, sample, numbers)
            r = np.abs(np.clip(correlation[at], -1 + 1e-15, 1 - 1e-15))
            chance[at] = erfc(np.arctanh(r) * np.sqrt(n / 2))
            strength[at] = np.abs(correlation[at])
        if len(cut) > 1:
            at = np.ix_(*[[place[j] for j in cut]] * 2)
            pairs = informations(summary, sample, cut)
            information[at] = pairs.information
            chance[at] = np.minimum(chance[at], pairs.p_value)
            strength[at] = np.maximum(strength[at], pairs.strength)
        tests = (len(numbers) > 1) * p * (p - 1) / 2 + len(cut) * (len(cut) - 1) / 2
        chance = np.minimum(1.0, chance * max(1.0, tests))
        strength = np.where(chance < _CHANCE, np.nan_to_num(strength), 0.0)
        np.fill_diagonal(strength, 1.0)
        kinds = len(summary.schema.numbers) + len(summary.schema.categories)
        return cls(tuple(columns), strength, correlation, information, chance, kinds - p)

    def effective(self, at: Sequence[int] | None = None) -> float:
        """Return how many independent columns these are worth, all or some by index."""
        some = self.strength if at is None else self.strength[np.ix_(at, at)]
        return float(len(some) ** 2 / np.square(some).sum()) if len(some) else 0.0

    def pairs(self, least: float) -> list[DependentPair]:
        """Return the pairs of at least some strength, the strongest first."""
        a, b = np.nonzero(np.triu(self.strength, 1) >= least)
        order = np.argsort(-self.strength[a, b], kind="stable")
        return [self._pair(i, j) for i, j in zip(a[order].tolist(), b[order].tolist(), strict=True)]

    def strongest(self, group: Sequence[int]) -> DependentPair:
        """Return the strongest pair of some columns, by index."""
        some = np.triu(self.strength[np.ix_(group, group)], 1)
        i, j = (group[int(at)] for at in np.unravel_index(some.argmax(), some.shape))
        return self._pair(i, j)

    def _pair(self, i: int, j: int) -> DependentPair:
        parts = self.correlation, self.information, self.strength, self.p_value
        return DependentPair(
            self.columns[i], self.columns[j], *(float(part[i, j]) for part in parts)
        )

    def clusters(self, least: float) -> list[list[int]]:
        """Return groups of columns, by index, that are connected by pairs of such strength."""
        linked = np.triu(self.strength, 1) >= least
        n_groups, group = connected_components(linked, directed=False)
        groups = [np.flatnonzero(group == g).tolist() for g in range(n_groups)]
        return [group for group in groups if len(group) > 1]


def _chosen(summary: Summary, sample: Sample) -> tuple[list[int], list[int]]:
    """Return the columns of numbers that are correlated, and all whose information is looked at.

    Of too many, those in which classes differ most; of sparse ones, those that most rows hold.
    """
    schema = summary.schema
    numbers = np.array(schema.numbers, dtype=np.intp)
    if isinstance(sample.numbers, SparseRows):
        places = sample.numbers.places[sample.numbers.cells]
        said = np.bincount(places, minlength=numbers.size).astype(np.float64)
    else:
        moments = summary.moments
        within, whole = moments.m2.sum(axis=0), moments.pooled().m2
        said = np.divide(whole, within, out=np.zeros_like(whole), where=within > 0)
    order = np.argsort(-said, kind="stable")
    correlated = numbers[np.sort(order[: _MAX_CORRELATED if schema.counted is None else _MAX_CUT])]
    categories = list(schema.categories[: _MAX_CUT // 2 if numbers.size else _MAX_CUT])
    cut = np.sort(order[: _MAX_CUT - len(categories)])
    return correlated.tolist(), sorted([*numbers[cut].tolist(), *categories])


def _correlations(summary: Summary, sample: Sample, columns: Sequence[int]) -> Floats:
    """Return correlations within classes; NaN for constant columns."""
    place = {j: i for i, j in enumerate(summary.schema.numbers)}
    at = [place[j] for j in columns]
    if summary.schema.centres is not None and summary[Scatter].weight.any():
        products = summary[Scatter].within(at).sum(axis=0)
    else:
        products = np.zeros((len(at), len(at)))
        x = columns_of(sample.numbers, at)
        for k in np.unique(sample.codes):
            rows = sample.codes == k
            w, cells = sample.weight[rows, np.newaxis], x[rows]
            seen = ~np.isnan(cells)
            scale = np.maximum(np.max(np.abs(cells), axis=0, initial=0.0, where=seen), 1e-300)
            cells = np.where(seen, cells, 0.0) / scale
            mean = (w * cells).sum(axis=0) / np.maximum((w * seen).sum(axis=0), 1e-300)
            around = np.where(seen, cells - mean, 0.0) * scale
            products += (w * around).T @ around
    deviation = np.sqrt(np.diagonal(products))
    outer = np.outer(deviation, deviation)
    return np.divide(products, outer, out=np.full(outer.shape, np.nan), where=outer > 0)


# --- mutual information of columns given the class, by tables of their bins ----------------------


class Informations(NamedTuple):
    """Of all pairs: information in nats, the strength it is worth, and its p-value."""

    information: Floats
    strength: Floats
    p_value: Floats


def informations(summary: Summary, sample: Sample, columns: Sequence[int]) -> Informations:
    """Return the mutual information of all pairs of columns given the class, and its worth."""
    shape = len(columns), len(columns)
    total, freedom, weight, entropy = (np.zeros(shape) for _ in range(4))
    for bins, row_weight, n_bins in _cut(summary, sample, columns):
        parts = _of_class(bins, row_weight, n_bins)
        for sums, part in zip((total, freedom, weight, entropy), parts, strict=True):
            sums += part
    N = np.maximum(weight, 1e-300)
    information = np.maximum(0.0, (total - freedom / 2) / N)
    largest = np.minimum(entropy / N, (entropy / N).T)
    largest = np.maximum(-np.expm1(-2 * largest), 1e-12)
    strength = np.sqrt(np.minimum(1.0, -np.expm1(-2 * information) / largest))
    strength = np.where(information >= _MIN_NATS, strength, 0.0)
    p = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1.0), 2 * total), 1.0)
    return Informations(information, strength, p)


def _cut(
    summary: Summary, sample: Sample, columns: Sequence[int]
) -> Iterator[tuple[NDArray[np.intp], Floats, int]]:
    """Yield of each class the bins of its rows, -1 where a cell is missing; weights; bins."""
    schema = summary.schema
    number = {j: i for i, j in enumerate(schema.numbers)}
    category = {j: i for i, j in enumerate(schema.categories)}
    at = [i for i, j in enumerate(columns) if j in number]
    x = columns_of(sample.numbers, [number[columns[i]] for i in at])
    for k in np.unique(sample.codes):
        rows = np.flatnonzero(sample.codes == k)
        weight = sample.weight[rows]
        n = float(n_rows(weight))
        if n < _MIN_ROWS:
            continue
        n_bins = int(np.clip(np.sqrt(n / _ROWS_OF_A_CELL), 2, _MAX_BINS))
        bins = np.full((rows.size, len(columns)), -1)
        shares = mid_shares(x[rows], weight)
        cuts = np.where(np.isnan(shares), -1, np.minimum(n_bins * shares, n_bins - 1))
        bins[:, at] = cuts.astype(np.intp)
        for i, j in enumerate(columns):
            if j in category:
                bins[:, i] = _levels(sample.categories[rows, category[j]], weight, n_bins)
        yield bins, weight, n_bins


def _levels(codes: NDArray[np.int32], weight: Floats, most: int) -> NDArray[np.intp]:
    """Return the places of the most frequent categories; the last is all others."""
    seen = codes >= 0
    total = np.bincount(codes[seen], weight[seen])
    rank = np.empty(total.size, np.intp)
    rank[np.argsort(-total, kind="stable")] = np.arange(total.size)
    return np.where(seen, np.minimum(rank[codes] if total.size else 0, most - 1), -1)


def _of_class(
    bins: NDArray[np.intp], weight: Floats, n_bins: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return of one class, for all pairs: N I, degrees of freedom, N, and N H of the first."""
    p = bins.shape[1]
    hot = (bins[:, :, np.newaxis] == np.arange(n_bins)).reshape(len(bins), -1).astype(np.float64)
    scale = float(n_rows(weight)) / weight.sum()
    joint = ((hot.T * (scale * weight)) @ hot).reshape(p, n_bins, p, n_bins)
    rows, columns = joint.sum(axis=3), joint.sum(axis=1)
    n = rows.sum(axis=1)
    of_rows = np.divide(rows, n[:, np.newaxis], out=np.zeros_like(rows), where=rows > 0)
    expected = of_rows[:, :, :, np.newaxis] * columns[:, np.newaxis]
    ratio = np.divide(joint, expected, out=np.ones_like(joint), where=joint > 0)
    information = (joint * np.log(ratio)).sum(axis=(1, 3))
    n_levels = (
        np.maximum((rows > 0).sum(axis=1) - 1, 0),
        np.maximum((columns > 0).sum(axis=2) - 1, 0),
    )
    entropy = -(rows * np.log(np.where(rows > 0, of_rows, 1.0))).sum(axis=1)
    return information, (n_levels[0] * n_levels[1]).astype(np.float64), n, entropy
