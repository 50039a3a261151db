r"""Canonical columns: the directions in which the means of classes differ most.

With the scatter within classes :math:`C = (1-\lambda) D^{-1/2} S D^{-1/2} / n + \lambda I = L L^T`
(see `ClassScatter`), the directions are those of Fisher's linear discriminant analysis,

.. math:: Z = L^{-1} D^{-1/2} \Big[\sqrt{N_k / n}\,(M_k - \bar M)\Big]_k = U e V^T, \qquad
          W = D^{-1/2} L^{-T} U

and :math:`z = W^T f(x)` are at most K - 1 columns that are computed, uncorrelated within classes.
Like any column of numbers they are described by a Student t and a histogram. What columns say
together, such as their difference, is thereby a column of its own.

Each row of the sample is judged by directions and families that leave it out, in a closed form that
depends neither on the order of rows nor on that of columns: see `DirectionsWithoutEach`.

References
----------
R. A. Fisher (1936), The use of multiple measurements in taxonomic problems.
C. R. Rao (1948), The utilization of multiple measurements in problems of biological classification.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.types import Floats
from naively.families.edges import bin_of, edges
from naively.families.family import Codes, Family
from naively.families.histogram import BinnedColumns, Histogram
from naively.families.student_t import StudentT
from naively.model.interactions.features import ClassScatter, by_class, inverse_factor
from naively.model.terms import Term
from naively.statistics import Moments

FAMILIES: tuple[Family, ...] = (StudentT(), Histogram())
_BINS = 8  # of a histogram: sums of columns are smooth, and more bins learn the rows by heart
_DECIMALS = 9
_LEAST_LEFT = 1e-3  # of what is left of a scatter
_LEAST_CORRELATION = 1e-6  # of the first canonical correlation: a direction below it is rounding


def directions(scatter: ClassScatter) -> Floats:
    """Return W of shape (p, r), the best direction first; r may be 0."""
    n, p = scatter.n, scatter.mean.shape[1]
    most = min(scatter.weight.size - 1, p)
    if most < 1 or not n > 0:
        return np.empty((p, 0))
    sigma = scatter.sigma
    root = np.sqrt(scatter.diagonal)
    inverse, _ = inverse_factor(sigma / np.outer(root, root))
    share = np.sqrt(scatter.weight / n)
    Z = inverse @ (share[:, np.newaxis] * scatter.around / root).T
    U, e, _ = np.linalg.svd(Z, full_matrices=False)
    kept = int(np.sum(e[:most] > _LEAST_CORRELATION * max(e[0], 1e-9)))
    return np.asarray(inverse.T @ U[:, :kept] / root[:, np.newaxis], dtype=np.float64)


def oriented(W: Floats, values: Floats, weight: Floats) -> Floats:
    """Return directions with the sign by which rows are skewed to the right.

    That of eigenvectors is chosen by rounding, and so by the order of columns.
    """
    z = values @ W
    z -= weight @ z / weight.sum()
    return W * np.where(weight @ z**3 < 0, -1.0, 1.0)


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
    cuts = edges(z[seen], _BINS, weight[seen])
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


class DirectionsWithoutEach:
    r"""The directions that are left without a row, for each row of a sample.

    Let :math:`\Sigma = (1-\lambda) S / n + \lambda D` and
    :math:`T = e^{-1} V^T \mathrm{diag}(\sqrt{N / n})`, so that :math:`W = \Sigma^{-1} M^T T^T`.
    Without a weight v of a row x of class k, with :math:`u = x - M_k`, and T, D and
    :math:`\lambda` as they are, by Sherman and Morrison,

    .. math:: c = \frac{1-\lambda}{n} \frac{v N_k}{N_k - v}, \qquad
              \Sigma' = \Sigma - c\,u u^T, \qquad
              d = 1 - c\,u^T \Sigma^{-1} u

    .. math:: \Sigma'^{-1} M'^T T^T = W + \Sigma^{-1} u\,g^T, \qquad
              g = T \Big[\frac{c}{d}\,M_l^T \Sigma^{-1} u
                  - \frac{v}{d\,(N_k - v)}\,1[l = k]\Big]_l

    Of all bases of the space that these span, the model's directions mean the one that is nearest
    to them and uncorrelated under :math:`\Sigma'`. With :math:`a = W^T u`,
    :math:`b = \Sigma^{-1} u - W a`, :math:`\eta = u^T b` and :math:`q = g / (1 + a^T g)`, it is

    .. math:: W' = (W + b\,q^T)\,(I + \eta\,q q^T)^{-1/2}\,(I - c\,r r^T)^{-1/2}, \qquad
              r = (I + \eta\,q q^T)^{-1/2} (a + \eta\,q)

    up to a product of small numbers. A cell in class l is judged at its distance
    :math:`W'^T (f - M_l')` from the mean of the class: that of the other rows has moved, too.
    """

    def __init__(
        self, values: Floats, codes: Codes, weight: Floats, scatter: ClassScatter, W: Floats
    ) -> None:
        self.W, self.codes, self.own = W, codes, np.minimum(weight, 1.0)  # of equal rows, one
        self.z = along(values, W)
        n, N, mean, around = scatter.n, scatter.weight[codes], scatter.mean, scatter.around
        rest = N - self.own
        left = rest > 1e-9 * N
        share = np.divide(self.own, rest, out=np.zeros_like(rest), where=left)
        c = (1 - scatter.shrinkage) / n * N * share
        # where nothing is left of its class, that has the mean of all rows
        u = np.where(left[:, np.newaxis], values - mean[codes], around[codes])
        factor = inverse_factor(scatter.sigma)[0]
        y = u @ factor.T
        h = _dot(y, y)
        d = np.maximum(1 - c * h, _LEAST_LEFT)
        loss = np.where(left, share / d, n / np.maximum(n - self.own, 1e-300))
        self.towards, a = y @ factor, u @ W  # Sigma^-1 u, and a
        between = around @ W
        T = scatter.weight[:, np.newaxis] / n * between
        T /= np.maximum((T * between).sum(axis=0), 1e-300)
        g = (c / d)[:, np.newaxis] * (self.towards @ around.T @ T) - loss[:, np.newaxis] * T[codes]
        turn = 1 + _dot(a, g)
        turn[np.abs(turn) < _LEAST_LEFT] = _LEAST_LEFT
        eta = np.maximum(h - _dot(a, a), 0.0)
        q = g / turn[:, np.newaxis]
        roots = _root(q, eta)
        r = a + eta[:, np.newaxis] * q
        r += (roots * _dot(q, r))[:, np.newaxis] * q
        self.a, self.q, self.turns = a, q, ((q, roots), (r, _root(r, -c)))
        # W^T M_l' and u^T Sigma^-1 M_l'
        self.centres = np.tile(mean @ W, (codes.size, 1, 1))
        self.along_u = self.towards @ mean.T
        at = np.arange(codes.size), codes
        self.centres[at] -= share[:, np.newaxis] * a
        self.along_u[at] -= share * h

    def terms(self, terms: Sequence[Term], values: Floats, rows: slice = slice(None)) -> Floats:
        """Return the terms of some rows, each as if it had not been seen: (n, K, 2 r).

        Their features may be others now, as where a column is missing.
        """
        z, codes, own, centres = self.z[rows], self.codes[rows], self.own[rows], self.centres[rows]
        x = along(values, self.W)[:, np.newaxis] - centres
        far = _dot(values, self.towards[rows])[:, np.newaxis] - self.along_u[rows]
        far -= np.einsum("ikr,ir->ik", x, self.a[rows])
        x += far[:, :, np.newaxis] * self.q[rows, np.newaxis]
        for v, root in self.turns:
            share = root[rows, np.newaxis] * np.einsum("ikr,ir->ik", x, v[rows])
            x += share[:, :, np.newaxis] * v[rows, np.newaxis]
        x += centres
        at = np.arange(codes.size), codes
        parts = []
        for term in terms:
            family: Any = term.family  # one of FAMILIES
            part = family.log_density_by_class(x, term.parameters)
            part[at] = family.left_out(z, codes, own, term.statistic, term.parameters, at=x[at])
            parts.append(part)
        return np.concatenate(parts, axis=2)


def _dot(a: Floats, b: Floats) -> Floats:
    """Return the products of rows with rows."""
    return np.asarray(np.einsum("ij,ij->i", a, b), dtype=np.float64)


def _root(v: Floats, s: Floats) -> Floats:
    """Return t, by row, where I + t v v^T is the inverse root of I + s v v^T."""
    square = _dot(v, v)
    root = np.sqrt(np.maximum(1 + s * square, _LEAST_LEFT))
    return np.divide(1 / root - 1, square, out=np.zeros_like(square), where=square > 1e-300)


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
    tallies = np.bincount(at.ravel(), every.ravel(), n_classes * r * n_bins)
    return tallies.reshape(n_classes, r, n_bins).astype(np.float64, copy=False)
