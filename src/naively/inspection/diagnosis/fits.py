"""How well the family of each column fits its cells, class by class: Kolmogorov's distance.

A column of several families is judged by the one that fits best, since weights choose among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.data.kinds import NUMBER
from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.families.family import Family
from naively.inspection.diagnosis.uniformity import distances, mid_shares, n_rows, p_value
from naively.model.model import Model
from naively.model.terms import Term
from naively.statistics import Sample

BINS = 20  # of the histogram of transformed cells
_FEWEST_ROWS = 20  # of a class and column
_CELLS = 1_000_000  # that are transformed
_FEWEST_OF_ALL = 500  # rows, whatever the number of columns


@dataclass(frozen=True, eq=False)
class Fit:
    """How well a family fits the cells of one class in one column.

    Attributes
    ----------
    column, place : str, int
        The column, and its place in the schema.
    label : label
        The class.
    family : str
        The name of the family.
    n_rows : float
        How many cells were looked at.
    distance, mean_distance : float
        Kolmogorov's distance, the largest difference between the distribution of the cells and
        that of the family; and its mean.
    p_value : float
        How probable that is by chance, one test by itself.
    histogram : ndarray
        The share of the cells in twenty equal bins of the family's distribution function: all
        0.05 where it fits.
    """

    column: str
    place: int
    label: Any
    family: str
    n_rows: float
    distance: float
    mean_distance: float
    p_value: float
    histogram: Floats


def fits_of(model: Model, sample: Sample) -> tuple[Fit, ...]:
    """Return the fits of all columns and classes that have enough cells, in their order."""
    schema, best = model.schema, dict[tuple[int, int], Fit]()
    names = schema.names or [f"column {j}" for j in range(schema.n_columns)]
    for term in model.terms:
        if term.family.kind is not NUMBER or term.family.is_joint:
            continue
        for k, fit in fits_of_term(term, sample, names, model.labels):
            known = best.get((fit.place, k))
            if known is None or fit.distance < known.distance:
                best[fit.place, k] = fit
    return tuple(best[at] for at in sorted(best))


def fits_of_term(
    term: Term, sample: Sample, names: Sequence[str], labels: Sequence[Any]
) -> Iterator[tuple[int, Fit]]:
    """Yield the fits of a term's columns, with the places of their classes.

    Of a discrete family, the histogram spreads each cell at random over its own probability.
    """
    sample = sample[: max(_FEWEST_OF_ALL, _CELLS // max(1, len(term.columns)))]
    x = columns_of(sample.numbers, term.at)
    u = term.family.cdf(x, sample.codes, term.parameters)
    if u is None:
        return
    low = _before(term.family, x, sample.codes, term.parameters) if term.family.discrete else u
    spread = low + (u - low) * np.random.default_rng(0).random((len(x), 1))
    count = np.bincount(sample.codes, minlength=len(labels))
    for k in np.flatnonzero(count >= _FEWEST_ROWS).tolist():
        rows = sample.codes == k
        weight, middle = sample.weight[rows], 0.5 * (low[rows] + u[rows])
        cells = np.where(np.isnan(middle), np.nan, x[rows])
        n = n_rows(np.where(np.isnan(cells), 0.0, weight[:, np.newaxis]))
        D, mean = distances(mid_shares(cells, weight), middle, n)
        p = p_value(D, n)
        shares = _histograms(spread[rows], weight)
        for i in np.flatnonzero((n >= _FEWEST_ROWS) & ~np.isnan(D)).tolist():
            j, figures = term.columns[i], (float(n[i]), float(D[i]), float(mean[i]), float(p[i]))
            yield k, Fit(str(names[j]), j, labels[k], term.family.name, *figures, shares[i])


def _histograms(u: Floats, weight: Floats) -> Floats:
    """Return the shares of the cells in equal bins of [0, 1], of shape (d, BINS)."""
    d, known = u.shape[1], ~np.isnan(u)
    at = np.clip((BINS * np.where(known, u, 0.0)).astype(int), 0, BINS - 1) + BINS * np.arange(d)
    w = np.broadcast_to(weight[:, np.newaxis], u.shape)
    sums = np.bincount(at[known], w[known], BINS * d).reshape(d, BINS)
    return np.asarray(sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-300))


def _before(family: Family, x: Floats, codes: Any, parameters: Any) -> Floats:
    """Return the probability of less than x."""
    found: Any = family.cdf(np.nextafter(x, -np.inf), codes, parameters)
    return np.asarray(found, dtype=np.float64)


def columns_of(numbers: Any, at: Sequence[int]) -> Floats:
    """Return some columns of the sample's numbers, dense."""
    if isinstance(numbers, SparseRows):
        places = np.full(numbers.n_columns, -1)
        places[list(at)] = np.arange(len(at))
        return numbers.moved(places, len(at)).dense()
    return np.asarray(numbers[:, list(at)], dtype=np.float64)
