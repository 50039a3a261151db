r"""Canonical columns: the directions in which the means of classes differ most.

With the scatter within classes :math:`C = (1-\lambda) D^{-1/2} S D^{-1/2} / n + \lambda I = L L^T`
(see `PooledScatter`), the directions are those of Fisher's linear discriminant analysis,

.. math:: Z = L^{-1} D^{-1/2} \Big[\sqrt{N_k / n}\,(M_k - \bar M)\Big]_k = U e V^T, \qquad
          W = D^{-1/2} L^{-T} U

and :math:`z = W^T f(x)` are at most K - 1 columns that are computed, uncorrelated within classes.
Like any column of numbers they are described by a Student t and a histogram. What columns say
together, such as their difference, is thereby a column of its own.

Their terms are cross-fitted: a fifth of the rows (one of equal rows) is taken out of the scatter by
subtraction, the directions and families are read off the rest, and they judge that fifth.

References
----------
R. A. Fisher (1936), The use of multiple measurements in taxonomic problems.
C. R. Rao (1948), The utilization of multiple measurements in problems of biological classification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.families.edges import bin_of, edges
from naively.families.family import Codes, Family
from naively.families.histogram import BinnedColumns, Histogram
from naively.families.student_t import StudentT
from naively.interactions.features import by_class
from naively.interactions.scatter import PooledScatter, inverse_factor
from naively.statistics import Moments
from naively.term import Term

__all__ = ["FAMILIES", "FoldTerms", "along", "cross_fitted", "directions", "fold_terms"]
__all__ += ["judged_by_folds", "log_densities", "terms_of"]

Floats = NDArray[np.float64]

FAMILIES: tuple[Family, ...] = (StudentT(), Histogram())
_FOLDS = 5
_BINS = 8  # of a histogram: sums of columns are smooth, and more bins learn the rows by heart
_DECIMALS = 9
_LEAST = 1e-6  # of the first canonical correlation: a direction below it is rounding


@dataclass(frozen=True, eq=False)
class FoldTerms:
    """Directions and the terms along them, read off all rows but those of one fold."""

    fold: int
    W: Floats  # (p, r)
    terms: tuple[Term, ...]


def directions(scatter: PooledScatter) -> Floats:
    """Return W of shape (p, r), the best direction first; r may be 0."""
    n, p = scatter.n, scatter.sums.shape[1]
    most = min(scatter.weight.size - 1, p)
    if most < 1 or not n > 0:
        return np.empty((p, 0))
    within = scatter.within
    root = np.sqrt(scatter.diagonal(within))
    shrunk = within / (n * np.outer(root, root))
    shrunk *= 1 - scatter.shrinkage
    shrunk[np.diag_indices(p)] += scatter.shrinkage
    inverse, _ = inverse_factor(shrunk)
    share = scatter.weight / n
    around = scatter.mean - share @ scatter.mean
    Z = inverse @ (np.sqrt(share)[:, np.newaxis] * around / root).T
    U, e, _ = np.linalg.svd(Z, full_matrices=False)
    kept = int(np.sum(e[:most] > _LEAST * max(e[0], 1e-9)))
    W: Floats = inverse.T @ U[:, :kept] / root[:, np.newaxis]
    largest = np.abs(W).argmax(axis=0)
    return W * np.sign(W[largest, np.arange(kept)])  # the sign that rounding chose means nothing


def along(values: Floats, W: Floats) -> Floats:
    """Return the computed columns of features, of shape (n, r).

    Equal rows have equal cells, to the last bit: BLAS would round them by their place. What differs
    by less than 1e-9 standard deviations is rounding, and must not be cut apart by a histogram.
    """
    z = np.zeros((len(values), W.shape[1]))
    _kernel.project(np.ascontiguousarray(values), np.ascontiguousarray(W), z)
    return np.round(z, _DECIMALS)


def terms_of(z: Floats, codes: Codes, weight: Floats, n_classes: int) -> tuple[Term, ...]:
    """Describe computed columns (n, r) by families, read off weighted rows."""
    r = z.shape[1]
    seen = weight > 0
    cuts = edges(z[seen], _BINS)
    statistics = [
        _moments(z, codes, weight, n_classes),
        BinnedColumns(
            _tallies(bin_of(z, cuts), cuts.knots.shape[1], codes, weight, n_classes), cuts
        ),
    ]
    ones = np.ones((n_classes, r))
    return tuple(
        Term(family, range(r), range(r), statistic, family.parameters(statistic), ones)
        for family, statistic in zip(FAMILIES, statistics, strict=True)
    )


def log_densities(terms: Sequence[Term], z: Floats) -> Floats:
    """Return the terms of rows, family after family: (n, K, 2 r)."""
    none = np.empty((len(z), 0), np.int32)
    return np.concatenate([term.log_density(z, none) for term in terms], axis=2)


def cross_fitted(
    values: Floats, codes: Codes, weight: Floats, whole: PooledScatter, n_directions: int
) -> Floats:
    """Return the terms of rows by directions and families of the other folds: (n, K, 2 r).

    Parameters
    ----------
    values : array of shape (n, p)
        The features.
    codes, weight : arrays of shape (n,)
        Class and weight of each row, of which one is taken out.
    whole : PooledScatter
        Of all rows.
    n_directions : int
        Of the model; where a fold has fewer, further terms are 0.
    """
    folds = fold_terms(values, codes, weight, whole, n_directions)
    return judged_by_folds(folds, values, whole.weight.size, n_directions)


def fold_terms(
    values: Floats, codes: Codes, weight: Floats, whole: PooledScatter, n_directions: int
) -> list[FoldTerms]:
    """Return directions and families of the rows outside each fold, as for `cross_fitted`."""
    n_classes, found = whole.weight.size, []
    for fold in range(min(_FOLDS, len(values))):
        at = slice(fold, None, _FOLDS)
        own = np.minimum(weight[at], 1.0)  # of equal rows, one
        W = directions(whole - PooledScatter.of(values[at], by_class(codes[at], own, n_classes)))
        W = W[:, :n_directions]
        rest = weight.copy()
        rest[at] -= own
        if W.shape[1] and (rest > 0).any():
            found.append(FoldTerms(fold, W, terms_of(along(values, W), codes, rest, n_classes)))
    return found


def judged_by_folds(
    folds: Sequence[FoldTerms], values: Floats, n_classes: int, n_directions: int, first: int = 0
) -> Floats:
    """Return the terms of rows by the other folds: (n, K, 2 r), or (n, m, K, 2 r) of (n, m, p).

    The rows are those from the first on, in the order in which they made the folds.
    """
    found = np.zeros((*values.shape[:-1], n_classes, len(FAMILIES) * n_directions))
    for fold in folds:
        at = slice((fold.fold - first) % _FOLDS, None, _FOLDS)
        some, r = values[at], fold.W.shape[1]
        if not some.size:
            continue
        terms = log_densities(fold.terms, along(some.reshape(-1, some.shape[-1]), fold.W))
        starts = n_directions * np.arange(len(FAMILIES))
        places = (starts[:, np.newaxis] + np.arange(r)).ravel()
        found[at][..., places] = terms.reshape(*some.shape[:-1], n_classes, places.size)
    return found


def _moments(z: Floats, codes: Codes, weight: Floats, n_classes: int) -> Moments:
    own = by_class(codes, weight, n_classes)
    total = own.sum(axis=0)[:, np.newaxis]
    safe = np.where(total > 0, total, 1.0)
    mean = own.T @ z / safe
    m2 = own.T @ (z - mean[codes]) ** 2
    return Moments.of(np.broadcast_to(total, mean.shape), mean, m2)


def _tallies(
    bins: NDArray[np.intp], n_bins: int, codes: Codes, weight: Floats, n_classes: int
) -> Floats:
    r = bins.shape[1]
    at = (codes[:, np.newaxis] * r + np.arange(r)) * n_bins + bins
    every = np.broadcast_to(weight[:, np.newaxis], at.shape)
    found = np.bincount(at.ravel(), every.ravel(), n_classes * r * n_bins)
    return found.reshape(n_classes, r, n_bins).astype(np.float64, copy=False)
