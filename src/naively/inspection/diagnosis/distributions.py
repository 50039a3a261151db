r"""How well the family of each column fits its cells, class by class, and which would fit better.

If F is the distribution of X, then F(X) is uniform on [0, 1]: the probability integral transform.
For cells :math:`x_1, \dots, x_n` of one class and column, Kolmogorov's distance is

.. math:: D = \sup_x |F_n(x) - F(x)| = \max_i |\tilde F_n(x_i) - F(x_i)| + \frac{1}{2n}

where :math:`\tilde F_n` is the empirical distribution with half of the cells that equal x: without
ties both are the same. With ties, of cells that were rounded, only the second stays small where the
family fits. Its p-value is that of Kolmogorov with Stephens's correction for small n. Parameters
that were read off the same cells make D smaller, so that the p-value is an upper bound: a finding
may be missed, and is not invented. `scipy.stats.kstest` has neither weights nor such ties.

A column of several families is judged by the one that fits best, since weights choose among them.

References
----------
M. A. Stephens (1970), Use of the Kolmogorov-Smirnov, Cramer-von Mises and related statistics
without extensive tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import kolmogorov

from naively import _kernel
from naively.data.functions import function_values
from naively.data.kinds import NUMBER
from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.families import FAMILIES
from naively.families.family import Family
from naively.model.model import Model
from naively.model.terms import Term
from naively.statistics import Bins, FunctionMoments, Moments, Sample

N_BINS = 20  # of the histogram of transformed cells
_MIN_ROWS = 20  # of a class and column
_MAX_CELLS = 1_000_000  # that are transformed
_MIN_OF_ALL = 500  # rows, whatever the number of columns
_MUCH_BETTER = 0.6  # of the distance: below that, another family is better


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
    sample = sample[: max(_MIN_OF_ALL, _MAX_CELLS // max(1, len(term.columns)))]
    x = columns_of(sample.numbers, term.at)
    u = term.family.cdf(x, sample.codes, term.parameters)
    if u is None:
        return
    low = _before(term.family, x, sample.codes, term.parameters) if term.family.discrete else u
    spread = low + (u - low) * np.random.default_rng(0).random((len(x), 1))
    count = np.bincount(sample.codes, minlength=len(labels))
    for k in np.flatnonzero(count >= _MIN_ROWS).tolist():
        rows = sample.codes == k
        weight, middle = sample.weight[rows], 0.5 * (low[rows] + u[rows])
        cells = np.where(np.isnan(middle), np.nan, x[rows])
        n = n_rows(np.where(np.isnan(cells), 0.0, weight[:, np.newaxis]))
        D, mean = distances(mid_shares(cells, weight), middle, n)
        p = p_value(D, n)
        shares = _histograms(spread[rows], weight)
        for i in np.flatnonzero((n >= _MIN_ROWS) & ~np.isnan(D)).tolist():
            j, figures = term.columns[i], (float(n[i]), float(D[i]), float(mean[i]), float(p[i]))
            yield k, Fit(str(names[j]), j, labels[k], term.family.name, *figures, shares[i])


def _histograms(u: Floats, weight: Floats) -> Floats:
    """Return the shares of the cells in equal bins of [0, 1], of shape (d, N_BINS)."""
    d, known = u.shape[1], ~np.isnan(u)
    at = np.clip(
        (N_BINS * np.where(known, u, 0.0)).astype(int), 0, N_BINS - 1
    ) + N_BINS * np.arange(d)
    w = np.broadcast_to(weight[:, np.newaxis], u.shape)
    sums = np.bincount(at[known], w[known], N_BINS * d).reshape(d, N_BINS)
    return np.asarray(sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-300))


def _before(family: Family, x: Floats, codes: Any, parameters: Any) -> Floats:
    """Return the probability of less than x."""
    below: Any = family.cdf(np.nextafter(x, -np.inf), codes, parameters)
    return np.asarray(below, dtype=np.float64)


def better_family(fit: Fit, at: int, moments: Moments, sample: Sample) -> Family:
    """Return the family that fits a column of numbers best, given its place among them.

    Families that read moments of cells, or of functions of them, are tried with the parameters of
    their defaults, its own first; where none is much better, it is one that takes any shape.
    """
    x = columns_of(sample.numbers, [at])
    some = Moments(np.ascontiguousarray(moments.values[:, :, at : at + 1]))
    ones = np.ones((some.weight.shape[0], 1))
    best, least = None, _MUCH_BETTER * fit.distance
    candidates = _candidates(x[~np.isnan(x)])
    for family in sorted(candidates, key=lambda family: family.name != fit.family):
        read = _moments_of_functions(family, x, sample, some) if family.functions else some
        term = Term(family, [0], [at], read, family.parameters(read), ones)
        fits = fits_of_term(term, sample, [""], range(len(ones)))
        distance = max((one.distance for _, one in fits), default=np.inf)
        if distance < least:
            best, least = family, distance
            if family.name == fit.family:
                break
    return best or next(kind() for kind in FAMILIES.values() if kind.reads is Bins)


def _candidates(cells: Any) -> Iterator[Family]:
    """Yield the families of moments whose support holds all cells."""
    for kind in FAMILIES.values():
        low, high = kind.support
        if (
            kind.kind is not NUMBER
            or kind.reads not in (Moments, FunctionMoments)
            or not cells.size
        ):
            continue
        within = low <= cells.min() and cells.max() <= high
        if within and not (kind.discrete and (cells != np.floor(cells)).any()):
            yield kind()


def _moments_of_functions(family: Family, x: Any, sample: Sample, cells: Moments) -> Moments:
    """Return the moments of functions of the sampled cells: by class, function and column."""
    values = [function_values(name, x[:, 0], period) for name, period in family.functions]
    n_classes = cells.weight.shape[0]
    moments = np.zeros((4, n_classes, len(values)))
    _kernel.summarize(values, sample.codes, sample.weight, np.zeros(n_classes), moments)
    return Moments(moments[..., np.newaxis])


# --- distances from the family, by weighted cells -------------------------------------------------


def mid_shares(x: Floats, weight: Floats) -> Floats:
    """Return the share of the cells below each, and half of those equal to it, by column.

    Missing cells have none: NaN.

    >>> mid_shares(np.array([[3.0], [1.0], [3.0], [np.nan]]), np.ones(4))[:, 0].round(3).tolist()
    [0.667, 0.167, 0.667, nan]
    """
    shares = np.full(x.shape, np.nan)
    for cells, share in zip(x.T, shares.T, strict=True):
        known = ~np.isnan(cells)
        _, at = np.unique(cells[known], return_inverse=True)
        w = np.bincount(at, weight[known])
        share[known] = ((np.cumsum(w) - w / 2) / max(w.sum(), 1e-300))[at]
    return shares


def distances(shares: Floats, transformed: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return Kolmogorov's distance and the mean distance (Wasserstein's) of each column.

    Parameters
    ----------
    shares : array of shape (n, d)
        The empirical distribution of the cells, as by `mid_shares`.
    transformed : array of shape (n, d)
        The family's distribution function of the cells.
    n : array of shape (d,)
        The number of cells.
    """
    apart = np.abs(shares - transformed)
    seen = ~np.isnan(apart)
    largest = np.max(apart, axis=0, initial=0.0, where=seen) + 0.5 / np.maximum(n, 1.0)
    count = seen.sum(axis=0)
    mean = np.sum(apart, axis=0, where=seen) / np.maximum(count, 1)
    known = count > 0
    return np.where(known, largest, np.nan), np.where(known, mean, np.nan)


def p_value(distance: Floats, n: Floats) -> Floats:
    """Return how probable such a distance, or a larger one, is by chance."""
    root = np.sqrt(np.maximum(n, 1.0))
    return np.asarray(kolmogorov((root + 0.12 + 0.11 / root) * distance), dtype=np.float64)


def n_rows(weight: Any, axis: int = 0) -> Any:
    r"""Return how many rows weights are worth: their sum where they count rows.

    Weights that are no whole numbers are worth :math:`(\sum w)^2 / \sum w^2` rows.

    >>> n_rows(np.array([1.0, 3.0])), n_rows(np.array([0.5, 0.5]))
    (np.float64(4.0), np.float64(2.0))
    """
    total = weight.sum(axis=axis)
    if (weight == np.floor(weight)).all():
        return total
    squares = np.square(weight).sum(axis=axis)
    return np.square(total) / np.where(squares > 0, squares, 1.0)


def columns_of(numbers: Any, at: Sequence[int]) -> Floats:
    """Return some columns of the sample's numbers, dense."""
    if isinstance(numbers, SparseRows):
        places = np.full(numbers.n_columns, -1)
        places[list(at)] = np.arange(len(at))
        return numbers.moved(places, len(at)).dense()
    return np.asarray(numbers[:, list(at)], dtype=np.float64)
