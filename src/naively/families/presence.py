r"""The Bernoulli family of many entries: whether each is in a row, as words are in a text.

.. math:: \log f(x \mid k) = \sum_j x_j \log p_{kj} + (1 - x_j) \log(1 - p_{kj}),
          \qquad p_{kj} = \frac{D_{kj} + \alpha_j}{W_{kj} + 2 \alpha_j}

where :math:`D_{kj}` is the weight of the rows of class k that hold entry j, and :math:`W_{kj}` that
of all its rows in which the entry is not missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.errors import NaivelyError
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

_ROUNDING = 1e-9
_FEW_WEIGHTS = 16  # of sampled rows, for which sums over all entries are made


@dataclass(frozen=True, eq=False)
class PresenceProbabilities(MultinomialShares):
    """Probabilities of entries, read off when they are asked for."""

    def seen(self, at: slice = slice(None)) -> Floats | Any:
        """Return the weight of the rows in which some entries are not missing, class first."""
        weight = self.statistic.class_weight[:, np.newaxis]
        missing = self.statistic.missing
        if missing is None or missing.is_zero:
            return weight
        return what_is_left(weight, missing.values[:, at])

    def absent(self, at: slice, without: float = 0.0) -> tuple[Floats, Floats]:
        """Return what is the numerator of absence, alpha included, and of both together."""
        seen, alpha = self.seen(at) - without, self.some(at)
        weight = self.statistic.class_weight[:, np.newaxis]
        rest = what_is_left(weight, self.statistic.values[:, at], weight - seen)
        whole = seen + 2 * alpha
        return rest + alpha, np.where(whole > 0, whole, 1.0)

    @cached_property
    def log_absent(self) -> Floats:
        """The logarithm of 1 - p, of shape (n_entries, n_classes)."""

        def found(at: slice) -> Floats:
            absent, whole = self.absent(at)
            return log_or_least(absent) - np.log(whole)

        return self._read(found)

    @cached_property
    def weights(self) -> Floats:
        """The logarithm of p / (1 - p), of shape (n_entries, n_classes)."""

        def found(at: slice) -> Floats:
            present = self.statistic.values[:, at] + self.some(at)
            return log_or_least(present) - log_or_least(self.absent(at)[0])

        return self._read(found)

    def _read(self, found: Any) -> Floats:
        def write(at: slice, out: Floats) -> None:
            out[...] = found(at).T

        return read_weights(write, self.statistic.values.shape, self.statistic.n_jobs)

    @property
    def log_share(self) -> Floats:
        """The logarithm of p, of shape (n_classes, n_entries)."""
        return infinite((self.weights + self.log_absent).T)

    def check(self) -> None:
        """Raise where something was counted more often than there are rows."""
        values, seen = self.statistic.values, self.seen()
        if (values > seen * (1 + _ROUNDING)).any():
            raise NaivelyError(
                "with binarize=None, cells must be 0 or 1; got more occurrences of a column than "
                "there are rows. Give a threshold, such as binarize=0.0."
            )


@dataclass(frozen=True, eq=False)
class Presence(EntryFamily):
    """Probabilities of entries.

    Parameters
    ----------
    alpha : float, or array of shape (n_entries,)
        Weight added to the rows that hold an entry, and to those that do not.
    step : float or None
        What is above it is present; None where cells are 0 and 1.
    n_jobs : int or None
        Threads that read weights off.
    """

    alpha: Any = 1.0
    step: float | None = 0.0
    n_jobs: int | None = None

    name = "presence"
    oracle = "bernoulli"
    support = (0.0, 1.0)

    def parameters(self, statistic: EntryCounts, prior: None = None) -> PresenceProbabilities:
        """Return the probabilities, which are read off when they are asked for."""
        return PresenceProbabilities(statistic, self.alpha)

    def form(self, parameters: PresenceProbabilities, weight: Floats) -> Lines:
        """Return A + B x; all classes have one weight."""
        if self.step is None:
            parameters.check()
        return scaled_lines(parameters.weights, weight, parameters.log_absent, step=self.step)

    def left_out(
        self,
        x: SparseRows,
        codes: Codes,
        weights: Floats,
        statistic: EntryCounts,
        parameters: PresenceProbabilities,
    ) -> Floats:
        """Return the terms of rows in their own class, added up, as if they had not been seen."""
        own = np.empty(len(x))
        if np.unique(weights).size > _FEW_WEIGHTS:
            weights = np.round(weights * _FEW_WEIGHTS) / _FEW_WEIGHTS
        for w in np.unique(weights):
            at = np.flatnonzero(weights == w)
            own[at] = self._own(x.take(at), codes[at], float(w), parameters)
        return own

    def cell_terms(
        self, rows: SparseRows, parameters: PresenceProbabilities, seen: SeenRows | None
    ) -> CellTerms:
        """Return the terms of single cells, absent ones too: of seen rows as if not seen."""
        x = rows.dense()
        i, j = np.nonzero(~np.isnan(x))
        present = x[i, j] > (0.0 if self.step is None else self.step)
        values = parameters.log_absent[j] + present[:, np.newaxis] * parameters.weights[j]
        if seen is not None:
            statistic, k, w = parameters.statistic, seen.codes[i], seen.weights[i]
            whole = np.broadcast_to(parameters.seen(), statistic.values.shape)[k, j] - w
            every, held, alpha = (
                statistic.class_weight[k],
                statistic.values[k, j],
                parameters.some(j),
            )
            absent = what_is_left(every, held, every - whole)
            count = np.where(present, what_is_left(held, w), absent) + alpha
            both = whole + 2 * alpha
            own = log_or_least(count) - np.log(np.where(both > 0, both, 1.0))
            values[np.arange(i.size), k] = own
        return CellTerms(i, j, values)

    def _own(
        self, rows: SparseRows, codes: Any, w: float, parameters: PresenceProbabilities
    ) -> Floats:
        """Return the terms of the own class without rows of one weight."""
        absent, whole = parameters.absent(slice(None), w)
        log_absent = np.broadcast_to(log_or_least(absent) - np.log(whole), absent.shape)
        i, j, x = own_cells(rows)
        present = x > self.step if self.step is not None else x > 0
        i, j = i[present], j[present]
        k = codes[i]
        count = what_is_left(parameters.statistic.values[k, j], w) + parameters.some(j)
        gain = log_or_least(count) - log_or_least(absent[k, j])
        found = log_absent.sum(axis=1)[codes] + np.bincount(i, gain, len(rows))
        lost_rows = rows.row_numbers[np.isnan(rows.values[rows.cells].astype(np.float64))]
        lost = rows.places[rows.cells][np.isnan(rows.values[rows.cells].astype(np.float64))]
        return found - np.bincount(lost_rows, log_absent[codes[lost_rows], lost], len(rows))
