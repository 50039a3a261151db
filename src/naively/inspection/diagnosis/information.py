"""Mutual information of columns given the class, by tables of their bins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from naively.data.types import Floats
from naively.inspection.diagnosis.fits import columns_of
from naively.inspection.diagnosis.uniformity import mid_shares, n_rows
from naively.statistics import Sample
from naively.statistics.summary import Summary

_MOST_BINS = 8
_EXPECTED = 5  # rows in a cell of a table
_LEAST = 0.05  # nats: of columns that hardly vary, less is all there is
_FEWEST_ROWS = 20  # of a class


class Informations(NamedTuple):
    """Of all pairs: information in nats, the strength it is worth, and its p-value."""

    information: Floats
    strength: Floats
    p_value: Floats


def informations(summary: Summary, sample: Sample, columns: Sequence[int]) -> Informations:
    """Return the mutual information of all pairs of columns given the class, and its worth."""
    cut = _cut(summary, sample, columns)
    total, freedom, weight, entropy = (np.zeros((len(columns), len(columns))) for _ in range(4))
    for part in _of_classes(cut):
        total, freedom = total + part[0], freedom + part[1]
        weight, entropy = weight + part[2], entropy + part[3]
    N = np.maximum(weight, 1e-300)
    information = np.maximum(0.0, (total - freedom / 2) / N)
    most = np.minimum(entropy / N, (entropy / N).T)
    most = np.maximum(-np.expm1(-2 * most), 1e-12)
    strength = np.sqrt(np.minimum(1.0, -np.expm1(-2 * information) / most))
    strength = np.where(information >= _LEAST, strength, 0.0)
    p = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1.0), 2 * np.asarray(total)), 1.0)
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
        if n < _FEWEST_ROWS:
            continue
        n_bins = int(np.clip(np.sqrt(n / _EXPECTED), 2, _MOST_BINS))
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


def _of_classes(
    cut: Iterable[tuple[NDArray[np.intp], Floats, int]],
) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
    """Yield of each class, for all pairs: N I, degrees of freedom, N, and N H of the first."""
    for bins, weight, n_bins in cut:
        p = bins.shape[1]
        hot = (
            (bins[:, :, np.newaxis] == np.arange(n_bins)).reshape(len(bins), -1).astype(np.float64)
        )
        scale = float(n_rows(weight)) / weight.sum()
        joint = ((hot.T * (scale * weight)) @ hot).reshape(p, n_bins, p, n_bins)
        rows, columns = joint.sum(axis=3), joint.sum(axis=1)
        n = rows.sum(axis=1)
        of_rows = np.divide(rows, n[:, np.newaxis], out=np.zeros_like(rows), where=rows > 0)
        expected = of_rows[:, :, :, np.newaxis] * columns[:, np.newaxis]
        ratio = np.divide(joint, expected, out=np.ones_like(joint), where=joint > 0)
        information = (joint * np.log(ratio)).sum(axis=(1, 3))
        freedom = np.maximum((rows > 0).sum(axis=1) - 1, 0) * np.maximum(
            (columns > 0).sum(axis=2) - 1, 0
        )
        share = np.where(rows > 0, of_rows, 1.0)
        entropy = -(rows * np.log(share)).sum(axis=1)
        yield information, freedom.astype(np.float64), n, entropy
