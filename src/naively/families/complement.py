r"""The complement of the multinomial: an entry speaks for a class that the other classes lack.

.. math:: w_{kj} = -\log \frac{\sum_{l \ne k} N_{lj} + \alpha_j}{\sum_{l \ne k} N_l + A}

and with ``norm`` these are divided by the sum of their sizes. There is no probability of classes in
it, as in scikit-learn.

References
----------
J. D. Rennie, L. Shih, J. Teevan, D. R. Karger (2003), Tackling the poor assumptions of naive Bayes
text classifiers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.families.entries import (
    CellTerms,
    EntryCounts,
    EntryFamily,
    SeenRows,
    log_or_least,
    own_cells,
    read_weights,
    what_is_left,
)
from naively.families.family import Codes
from naively.families.forms import Lines
from naively.families.multinomial import MultinomialShares, infinite, scaled_lines

_CELLS = 1 << 20  # times classes, whose terms are looked at together


@dataclass(frozen=True, eq=False)
class ComplementWeights(MultinomialShares):
    """Weights of entries by what the other classes hold, read off when they are asked for."""

    norm: bool = False

    @cached_property
    def whole(self) -> Floats:
        """How much all other classes hold, alpha included: of shape (n_classes,)."""
        total = self.statistic.total
        return what_is_left(total.sum(), total) + self.mass(self.statistic.values.shape[1])

    @cached_property
    def weights(self) -> Floats:
        """Weights of shape (n_entries, n_classes)."""
        counts, whole = self.statistic.values, self.statistic.whole
        empty = (self.whole == 0)[:, np.newaxis]  # equal shares
        n_entries = max(1, counts.shape[1])
        log_whole = np.log(np.where(self.whole > 0, self.whole, n_entries))[:, np.newaxis]

        def weight(at: slice, out: Floats) -> None:
            others = what_is_left(whole[at], counts[:, at]) + self.some(at)
            out[...] = (log_whole - log_or_least(np.where(empty, 1.0, others))).T

        found = read_weights(weight, counts.shape, self.statistic.n_jobs)
        if self.norm:
            total = found.sum(axis=0)  # 0 where there is one entry, or none
            np.divide(found, total, out=found, where=total != 0)
        return found

    @property
    def log_share(self) -> Floats:
        """Weights of shape (n_classes, n_entries)."""
        found: Floats = self.weights.T
        return found if self.norm else -infinite(-found)


@dataclass(frozen=True, eq=False)
class Complement(EntryFamily):
    """Weights of entries by the other classes.

    Parameters
    ----------
    alpha : float, or array of shape (n_entries,)
        What is added to every count.
    norm : bool
        Whether the weights of each class are divided by their sum.
    n_jobs : int or None
        Threads that read weights off.
    """

    alpha: Any = 1.0
    norm: bool = False
    n_jobs: int | None = None

    name = "complement"
    oracle = "multinomial"
    has_prior = False

    def parameters(self, statistic: EntryCounts, prior: None = None) -> ComplementWeights:
        """Return the weights, which are read off when they are asked for."""
        return ComplementWeights(statistic, self.alpha, self.norm)

    def form(self, parameters: ComplementWeights, weight: Floats) -> Lines:
        """Return B x; all classes have one weight."""
        return scaled_lines(parameters.weights, weight)

    def left_out(
        self,
        x: SparseRows,
        codes: Codes,
        weights: Floats,
        statistic: EntryCounts,
        parameters: ComplementWeights,
    ) -> Floats:
        """Return the terms of rows in their own class, whose weights do not hold the row."""
        return self.log_density(x, parameters)[np.arange(len(x)), codes]

    def among_others(self, x: SparseRows, weights: Floats, parameters: ComplementWeights) -> Floats:
        """Return the terms of rows in all other classes, whose weights are taken without the row.

        What ``norm`` divides by stays as it is.
        """
        n_classes = parameters.statistic.values.shape[0]
        total, scale = np.empty((len(x), n_classes)), self._scale(parameters)
        some = max(1, _CELLS // (n_classes * max(1, x.n_cells // max(1, len(x)))))
        for start in range(0, len(x), some):
            at = slice(start, start + some)
            total[at] = scale * self._of_others(x[at], weights[at], parameters)
        return total

    def cell_terms(
        self, rows: SparseRows, parameters: ComplementWeights, seen: SeenRows | None
    ) -> CellTerms:
        """Return the terms of single cells; those of seen rows as if each were not seen."""
        i, j, x = own_cells(rows)
        values = x[:, np.newaxis] * parameters.weights[j]
        if seen is not None:
            statistic, (codes, weights) = parameters.statistic, seen
            lost, size = weights[i] * x, np.bincount(i, x, len(rows))
            others = what_is_left(statistic.whole[j], statistic.values[:, j], lost)
            whole = parameters.whole[:, np.newaxis] - weights * size
            log_whole = np.log(np.maximum(whole, np.finfo(float).tiny))[:, i]
            logs = x * (log_whole - log_or_least(others + parameters.some(j)))
            own = np.arange(len(logs)) == codes[i][:, np.newaxis]
            values = np.where(own, values, self._scale(parameters) * logs.T)
        return CellTerms(i, j, values)

    def _scale(self, parameters: ComplementWeights) -> Floats:
        """Return what the weights of each class are multiplied by."""
        plain = ComplementWeights(parameters.statistic, self.alpha)
        n_classes = parameters.statistic.values.shape[0]
        return 1 / plain.weights.sum(axis=0) if self.norm else np.ones(n_classes)

    @staticmethod
    def _of_others(rows: SparseRows, weights: Floats, parameters: ComplementWeights) -> Floats:
        statistic = parameters.statistic
        i, j, x = own_cells(rows)
        lost = weights[i] * x
        others = what_is_left(statistic.whole[j], statistic.values[:, j], lost)
        size = np.bincount(i, x, len(rows))
        whole = np.maximum(parameters.whole[:, np.newaxis] - weights * size, np.finfo(float).tiny)
        logs = x * log_or_least(others + parameters.some(j))
        sums = np.stack([np.bincount(i, line, len(rows)) for line in logs], axis=1)
        return np.asarray(size[:, np.newaxis] * np.log(whole).T - sums, np.float64)
