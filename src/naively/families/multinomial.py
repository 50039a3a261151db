r"""The multinomial family: how often each entry occurs, as of words in a text.

.. math:: \log f(x \mid k) = \sum_j x_j \log \frac{N_{kj} + \alpha_j}{N_k + A} + \mathrm{const},
          \qquad A = \sum_j \alpha_j

where :math:`N_{kj}` is how often entry j occurs in class k, and :math:`N_k` their sum. A class
without any has equal shares, or those of alpha.

Examples
--------
>>> from naively import Schema, summarize
>>> from naively.statistics import Occurrences
>>> seen = summarize([[2, 0], [0, 1]], ["a", "b"], schema=Schema(2, counted="occurrences"))
>>> counts = EntryCounts(seen[Occurrences], seen.class_weight)
>>> np.exp(Multinomial(1.0).parameters(counts).log_share).round(3).tolist()
[[0.75, 0.25], [0.333, 0.667]]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.families.entries import (
    LEAST,
    CellTerms,
    EntryCounts,
    EntryFamily,
    SeenRows,
    aligned,
    log_or_least,
    own_cells,
    read_weights,
    what_is_left,
)
from naively.families.family import Codes
from naively.families.forms import Lines


@dataclass(frozen=True, eq=False)
class MultinomialShares:
    """Logarithms of shares, read off when they are asked for."""

    statistic: EntryCounts
    alpha: Floats | float

    @cached_property
    def weights(self) -> Floats:
        """Logarithms of shares, of shape (n_entries, n_classes)."""
        counts, n_entries = self.statistic.values, self.statistic.values.shape[1]
        mass = self.mass(n_entries)
        whole = self.statistic.total + mass
        log_whole = np.log(np.where(whole > 0, whole, max(1, n_entries)))
        empty = whole == 0  # equal shares

        def share(at: slice, out: Floats) -> None:
            np.add(counts[:, at].T, np.reshape(self.some(at), (-1, 1)), out=out)
            if empty.any():
                out[:, empty] = 1.0
            log_or_least(out, out)
            out -= log_whole

        return read_weights(share, counts.shape, self.statistic.n_jobs)

    @property
    def log_share(self) -> Floats:
        """Logarithms of shares, of shape (n_classes, n_entries); of 0, minus infinity."""
        return infinite(self.weights.T)

    def mass(self, n_entries: int) -> float:
        """Return the sum of alpha."""
        return float(np.sum(self.alpha)) if np.ndim(self.alpha) else n_entries * float(self.alpha)

    def some(self, at: Any) -> Any:
        """Return the alpha of some entries."""
        return self.alpha[at] if isinstance(self.alpha, np.ndarray) else self.alpha


@dataclass(frozen=True, eq=False)
class Multinomial(EntryFamily):
    """Shares of entries.

    Parameters
    ----------
    alpha : float, or array of shape (n_entries,)
        What is added to every count.
    n_jobs : int or None
        Threads that read weights off.
    """

    alpha: Any = 1.0
    n_jobs: int | None = None

    name = "multinomial"
    oracle = "multinomial"

    def parameters(self, statistic: EntryCounts, prior: None = None) -> MultinomialShares:
        """Return the shares, which are read off when they are asked for."""
        return MultinomialShares(statistic, self.alpha)

    def form(self, parameters: MultinomialShares, weight: Floats) -> Lines:
        """Return B x; all classes have one weight."""
        return scaled_lines(parameters.weights, weight)

    def left_out(
        self,
        x: SparseRows,
        codes: Codes,
        weights: Floats,
        statistic: EntryCounts,
        parameters: MultinomialShares,
    ) -> Floats:
        r"""Return the terms of rows in their own class, added up, as if they had not been seen.

        .. math:: \frac{N_{kj} - w_i x_{ij} + \alpha_j}{N_k - w_i n_i + A}
        """
        i, _, cells = own_cells(x)
        size = np.bincount(i, cells, len(x))
        log_count, log_total = _without(x, SeenRows(codes, weights), parameters)
        return np.bincount(i, cells * log_count, len(x)) - size * log_total

    def cell_terms(
        self, rows: SparseRows, parameters: MultinomialShares, seen: SeenRows | None
    ) -> CellTerms:
        """Return the terms of single cells; those of seen rows as if each had not been seen."""
        i, j, x = own_cells(rows)
        values = x[:, np.newaxis] * parameters.weights[j]
        if seen is not None:
            log_count, log_total = _without(rows, seen, parameters)
            values[np.arange(i.size), seen.codes[i]] = x * (log_count - log_total[i])
        return CellTerms(i, j, values)


def _without(
    rows: SparseRows, seen: SeenRows, parameters: MultinomialShares
) -> tuple[Floats, Floats]:
    """Return log counts of cells, and log totals of rows, in their own class without the row."""
    statistic, (codes, weights) = parameters.statistic, seen
    i, j, x = own_cells(rows)
    count = what_is_left(statistic.values[codes[i], j], weights[i] * x) + parameters.some(j)
    size = np.bincount(i, x, len(rows))
    total = statistic.total[codes] - weights * size + parameters.mass(rows.n_columns)
    return log_or_least(count), np.log(np.where(total > 0, total, 1.0))


def scaled_lines(B: Floats, weight: Floats, A: Floats | None = None, **options: Any) -> Lines:
    """Return A + B x times the one weight of all entries and classes."""
    factor = float(weight.flat[0]) if weight.size else 1.0
    A = np.zeros(B.shape) if A is None else A  # which takes no memory
    if factor == 1:
        return Lines(A, B, **options)
    scaled = np.multiply(B, factor, out=aligned(B.shape))
    return Lines(A * factor if A.any() else A, scaled, **options)


def infinite(weights: Floats) -> Floats:
    """Return minus infinity for what was the logarithm of 0; the same array where none was."""
    if weights.min(initial=0.0) >= 0.5 * LEAST:
        return weights
    return np.where(weights < 0.5 * LEAST, -np.inf, weights)
