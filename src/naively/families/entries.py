r"""Families of counts of entries, as of words: each describes all columns of a table at once.

`Multinomial` knows how often each entry occurs,

.. math:: \log f(x \mid k) = \sum_j x_j \log \frac{N_{kj} + \alpha_j}{N_k + A} + \mathrm{const},
          \qquad A = \sum_j \alpha_j

where :math:`N_{kj}` is how often entry j occurs in class k, and :math:`N_k` their sum. A class
without any has equal shares, or those of alpha. In its `Complement` an entry speaks for a class
that the other classes lack,

.. math:: w_{kj} = -\log \frac{\sum_{l \ne k} N_{lj} + \alpha_j}{\sum_{l \ne k} N_l + A}

and with ``norm`` these are divided by the sum of their sizes. There is no probability of classes in
it, as in scikit-learn. `Presence` is the Bernoulli family: whether each entry is in a row,

.. math:: \log f(x \mid k) = \sum_j x_j \log p_{kj} + (1 - x_j) \log(1 - p_{kj}),
          \qquad p_{kj} = \frac{D_{kj} + \alpha_j}{W_{kj} + 2 \alpha_j}

where :math:`D_{kj}` is the weight of the rows of class k that hold entry j, and :math:`W_{kj}` that
of all its rows in which the entry is not missing.

Tables of counts may be as large as memory allows, so nothing of their size is made but the result,
a block of columns at a time.

References
----------
J. D. Rennie, L. Shih, J. Teevan, D. R. Karger (2003), Tackling the poor assumptions of naive Bayes
text classifiers.

Examples
--------
>>> from naively import summarize
>>> from naively.data.schema import Schema
>>> seen = summarize([[2, 0], [0, 1]], ["a", "b"], schema=Schema(2, counted="occurrences"))
>>> counts = EntryCounts(seen[Occurrences], seen.class_weight)
>>> np.exp(Multinomial(1.0).parameters(counts).log_share).round(3).tolist()
[[0.75, 0.25], [0.333, 0.667]]
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.sparse import SparseRows
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.family import Codes, Family
from naively.families.forms import Lines
from naively.statistics import Documents, MissingCells, Occurrences
from naively.statistics.counts import Counts
from naively.statistics.summary import Summary

_LOG_OF_ZERO = -1e9  # it outweighs every text, and leaves digits for the rest
_NOTHING_SHARE = 1e-13  # of a whole: what rounding leaves of a difference of sums
_BLOCK_WEIGHTS = 1 << 16  # which stay in the cache of a core
_CACHE_LINE_BYTES = 64
_BLOCK_CELLS = 1 << 20  # times classes, whose terms are looked at together
_MAX_WEIGHTS = 16  # of sampled rows, for which sums over all entries are made


@dataclass(frozen=True, eq=False)
class EntryCounts:
    """What the families of counts read."""

    counts: Counts  # by class and entry
    class_weight: Floats  # (n_classes,): the weight of the rows of each class
    missing: Counts | None = None  # the weight of missing cells, where rows are counted
    n_jobs: int | None = None  # threads that read weights off

    @property
    def values(self) -> Floats:
        """The counts, of shape (n_classes, n_entries)."""
        return self.counts.values

    @cached_property
    def total(self) -> Floats:
        """The sum of all counts of each class."""
        return self.values.sum(axis=1)

    @cached_property
    def whole(self) -> Floats:
        """The counts of all classes together."""
        return self.values.sum(axis=0)


class SeenRows(NamedTuple):
    """Class and weight of rows that were seen, by which they are taken out again."""

    codes: Codes
    weights: Floats


class CellTerms(NamedTuple):
    """The terms of single cells: row, column, and what it adds to each class, (n_cells, K).

    Law: added up by row, they are what the family's form adds, or of seen rows its ``left_out``.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: Floats

    def by_row(self, n_rows: int) -> Floats:
        """Return the sums of terms by row: (n, K)."""
        sums = [np.bincount(self.rows, column, n_rows) for column in self.values.T]
        return np.stack(sums, axis=1)


class EntryFamily(Family):
    """A distribution of the entries of rows: all columns are one term, sparse rows stay sparse."""

    alpha: Any
    n_jobs: int | None

    reads = Occurrences  # or Documents: as the schema says
    support = (0.0, np.inf)
    discrete = True
    is_joint = True
    floor = 1e60

    def __post_init__(self) -> None:
        """Take alpha as it is: it may be an array."""

    def statistic_of(self, summary: Summary, columns: Sequence[int], at: Any) -> EntryCounts:
        """Return the counts of all columns."""
        by_row = summary.schema.counted == "documents"
        missing = summary[MissingCells] if by_row else None
        return EntryCounts(counts_of(summary), summary.class_weight, missing, self.n_jobs)

    def cells_of(self, numbers: Any, codes: Any, texts: Any, at: Any) -> SparseRows:
        """Return whole rows."""
        return numbers

    def form(self, parameters: EntryWeights, weight: Floats) -> Lines:
        """Return B x; all classes have one weight."""
        return _scaled_lines(parameters.weights, weight)

    def log_density(self, x: SparseRows, parameters: EntryWeights) -> Floats:
        """Return the terms of rows, added up, of shape (n, K)."""
        total = np.zeros((len(x), parameters.statistic.class_weight.size))
        self.form(parameters, np.ones(1)).add(x, total)
        return total

    def left_out(
        self, x: SparseRows, codes: Codes, weights: Floats, statistic: EntryCounts, parameters: Any
    ) -> Floats:
        """Return the terms of rows in their own class, added up, as if they had not been seen."""
        return self.own_terms(x, SeenRows(codes, weights), parameters)

    @abstractmethod
    def own_terms(self, rows: SparseRows, seen: SeenRows, parameters: Any) -> Floats:
        """Return what `left_out` does."""

    @abstractmethod
    def cell_terms(self, rows: SparseRows, parameters: Any, seen: SeenRows | None) -> CellTerms:
        """Return the terms of single cells; those of seen rows as if each had not been seen."""


@dataclass(frozen=True, eq=False)
class EntryWeights:
    """Weights of entries, read off when they are asked for."""

    statistic: EntryCounts
    alpha: Floats | float

    @cached_property
    @abstractmethod
    def weights(self) -> Floats:
        """What an entry adds to the classes, of shape (n_entries, n_classes)."""

    @property
    def log_share(self) -> Floats:
        """Logarithms of shares, of shape (n_classes, n_entries); of 0, minus infinity."""
        return _infinite(self.weights.T)

    def mass(self) -> float:
        """Return the sum of alpha."""
        n_entries = self.statistic.values.shape[1]
        return float(np.sum(self.alpha)) if np.ndim(self.alpha) else n_entries * float(self.alpha)

    def some(self, at: Any) -> Any:
        """Return the alpha of some entries."""
        return self.alpha[at] if isinstance(self.alpha, np.ndarray) else self.alpha

    def read(self, weights: Callable[[slice], Floats]) -> Floats:
        """Return weights of shape (n_entries, n_classes), given those of some entries, class first.

        Memory begins with a line of the cache: reading a row of it takes fewer lines.
        """
        n_classes, n_entries = self.statistic.values.shape
        out = _aligned((n_entries, n_classes))
        step = max(1, _BLOCK_WEIGHTS // max(1, n_classes))
        blocks = [slice(start, start + step) for start in range(0, n_entries, step)]

        def write(at: slice) -> None:
            out[at] = weights(at).T

        map_blocks(write, blocks, self.statistic.n_jobs)
        return out


# --- How often entries occur ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MultinomialShares(EntryWeights):
    """Logarithms of shares."""

    @cached_property
    def weights(self) -> Floats:
        """Logarithms of shares, of shape (n_entries, n_classes)."""
        counts = self.statistic.values
        whole = (self.statistic.total + self.mass())[:, np.newaxis]
        empty = whole == 0  # equal shares
        log_whole = np.log(np.where(empty, max(1, counts.shape[1]), whole))

        def log_share(at: slice) -> Floats:
            count = counts[:, at] + self.some(at)
            if empty.any():
                count[empty[:, 0]] = 1.0
            log_count = _log_or_least(count, count)
            log_count -= log_whole
            return log_count

        return self.read(log_share)


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

    def own_terms(self, rows: SparseRows, seen: SeenRows, parameters: MultinomialShares) -> Floats:
        r"""Return the terms of rows in their own class, added up, as if they had not been seen.

        .. math:: \frac{N_{kj} - w_i x_{ij} + \alpha_j}{N_k - w_i n_i + A}
        """
        own = _own_cells(rows, parameters, seen)
        return np.bincount(_present(rows)[0], own, len(rows)).astype(np.float64, copy=False)

    def cell_terms(
        self, rows: SparseRows, parameters: MultinomialShares, seen: SeenRows | None
    ) -> CellTerms:
        """Return the terms of single cells; those of seen rows as if each had not been seen."""
        i, j, x = _present(rows)
        values = x[:, np.newaxis] * parameters.weights[j]
        if seen is not None:
            values[np.arange(i.size), seen.codes[i]] = _own_cells(rows, parameters, seen)
        return CellTerms(i, j, values)


def _own_cells(rows: SparseRows, parameters: MultinomialShares, seen: SeenRows) -> Floats:
    """Return the terms of cells in the class of their row, without it."""
    statistic, (codes, weights) = parameters.statistic, seen
    i, j, x = _present(rows)
    count = _remainder(statistic.values[codes[i], j], weights[i] * x) + parameters.some(j)
    size = np.bincount(i, x, len(rows))
    total = statistic.total[codes] - weights * size + parameters.mass()
    return x * (_log_or_least(count) - np.log(np.where(total > 0, total, 1.0))[i])


# --- How often the other classes have them --------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ComplementWeights(EntryWeights):
    """Weights of entries by what the other classes hold."""

    norm: bool = False

    @cached_property
    def whole(self) -> Floats:
        """How much all other classes hold, alpha included: of shape (n_classes, 1)."""
        total = self.statistic.total[:, np.newaxis]
        return _remainder(total.sum(), total) + self.mass()

    @cached_property
    def _scaled(self) -> tuple[Floats, Floats]:
        counts, whole = self.statistic.values, self.statistic.whole
        empty = self.whole == 0  # equal shares
        log_whole = np.log(np.where(empty, max(1, counts.shape[1]), self.whole))

        def weight(at: slice) -> Floats:
            others = _remainder(whole[at], counts[:, at]) + self.some(at)
            return log_whole - _log_or_least(np.where(empty, 1.0, others))

        weights = self.read(weight)
        total = weights.sum(axis=0) if self.norm else np.ones(len(counts))
        scale = 1 / np.where(total != 0, total, 1.0)  # 0 where there is one entry, or none
        if self.norm:
            weights *= scale
        return weights, scale

    @property
    def weights(self) -> Floats:
        """Weights of shape (n_entries, n_classes)."""
        return self._scaled[0]

    @property
    def scale(self) -> Floats:
        """What the weights of each class were multiplied by."""
        return self._scaled[1]

    @property
    def log_share(self) -> Floats:
        """Weights of shape (n_classes, n_entries)."""
        return self.weights.T if self.norm else -_infinite(-self.weights.T)


@dataclass(frozen=True, eq=False)
class Complement(EntryFamily):
    """Weights of entries by the other classes.

    Parameters
    ----------
    alpha, n_jobs
        As of `Multinomial`.
    norm : bool
        Whether the weights of each class are divided by their sum.
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

    def own_terms(self, rows: SparseRows, seen: SeenRows, parameters: ComplementWeights) -> Floats:
        """Return the terms of rows in their own class, whose weights do not hold the row."""
        return self.log_density(rows, parameters)[np.arange(len(rows)), seen.codes]

    def among_others(self, x: SparseRows, weights: Floats, parameters: ComplementWeights) -> Floats:
        """Return the terms of rows in all other classes, whose weights are taken without the row.

        What ``norm`` divides by stays as it is.
        """
        n_classes = len(parameters.whole)
        total = np.empty((len(x), n_classes))
        some = max(1, _BLOCK_CELLS // (n_classes * max(1, x.n_cells // max(1, len(x)))))
        for start in range(0, len(x), some):
            at = slice(start, start + some)
            rows = x[at]
            total[at] = self._without(rows, weights[at], parameters).by_row(len(rows))
        return total

    def cell_terms(
        self, rows: SparseRows, parameters: ComplementWeights, seen: SeenRows | None
    ) -> CellTerms:
        """Return the terms of single cells; those of seen rows as if each were not seen."""
        i, j, x = _present(rows)
        values = x[:, np.newaxis] * parameters.weights[j]
        if seen is not None:
            own = np.arange(values.shape[1]) == seen.codes[i][:, np.newaxis]
            values = np.where(own, values, self._without(rows, seen.weights, parameters).values)
        return CellTerms(i, j, values)

    @staticmethod
    def _without(rows: SparseRows, weights: Floats, parameters: ComplementWeights) -> CellTerms:
        """Return the terms of cells in classes that are not their row's, without it."""
        statistic = parameters.statistic
        i, j, x = _present(rows)
        others = _remainder(statistic.whole[j], statistic.values[:, j], weights[i] * x)
        size = np.bincount(i, x, len(rows))
        whole = np.maximum(parameters.whole - weights * size, np.finfo(float).tiny)
        logs = np.log(whole)[:, i] - _log_or_least(others + parameters.some(j))
        return CellTerms(i, j, parameters.scale * (x * logs).T)


# --- Whether they are there -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PresenceProbabilities(EntryWeights):
    """Probabilities of entries."""

    def seen(self, at: slice = slice(None)) -> Floats | Any:
        """Return the weight of the rows in which some entries are not missing, class first."""
        weight = self.statistic.class_weight[:, np.newaxis]
        missing = self.statistic.missing
        if missing is None or missing.is_zero:
            return weight
        return _remainder(weight, missing.values[:, at])

    def absent(self, at: slice, without: float = 0.0) -> tuple[Floats, Floats]:
        """Return what is the numerator of absence, alpha included, and of both together."""
        seen, alpha = self.seen(at) - without, self.some(at)
        weight = self.statistic.class_weight[:, np.newaxis]
        rest = _remainder(weight, self.statistic.values[:, at], weight - seen)
        whole = seen + 2 * alpha
        return rest + alpha, np.where(whole > 0, whole, 1.0)

    @cached_property
    def log_absent(self) -> Floats:
        """The logarithm of 1 - p, of shape (n_entries, n_classes)."""

        def logs(at: slice) -> Floats:
            absent, whole = self.absent(at)
            return _log_or_least(absent) - np.log(whole)

        return self.read(logs)

    @cached_property
    def weights(self) -> Floats:
        """The logarithm of p / (1 - p), of shape (n_entries, n_classes)."""

        def logs(at: slice) -> Floats:
            present = self.statistic.values[:, at] + self.some(at)
            return _log_or_least(present) - _log_or_least(self.absent(at)[0])

        return self.read(logs)

    @property
    def log_share(self) -> Floats:
        """The logarithm of p, of shape (n_classes, n_entries)."""
        return _infinite((self.weights + self.log_absent).T)

    def check(self) -> None:
        """Raise where something was counted more often than there are rows."""
        if (self.statistic.values > self.seen() * (1 + 1e-9)).any():
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
        As of `Multinomial`.
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

    def form(self, parameters: PresenceProbabilities, weight: Floats) -> Lines:  # type: ignore[override]
        """Return A + B x; all classes have one weight."""
        if self.step is None:
            parameters.check()
        return _scaled_lines(parameters.weights, weight, parameters.log_absent, step=self.step)

    def own_terms(
        self, rows: SparseRows, seen: SeenRows, parameters: PresenceProbabilities
    ) -> Floats:
        """Return the terms of rows in their own class, added up, as if they had not been seen."""
        own, (codes, weights) = np.empty(len(rows)), seen
        if np.unique(weights).size > _MAX_WEIGHTS:
            weights = np.round(weights * _MAX_WEIGHTS) / _MAX_WEIGHTS
        for w in np.unique(weights):
            at = np.flatnonzero(weights == w)
            own[at] = self._own(rows[at], codes[at], float(w), parameters)
        return own

    def cell_terms(
        self, rows: SparseRows, parameters: PresenceProbabilities, seen: SeenRows | None
    ) -> CellTerms:
        """Return the terms of single cells, absent ones too: of seen rows as if not seen."""
        x = rows.dense()
        i, j = np.nonzero(~np.isnan(x))
        present = x[i, j] > (self.step or 0.0)
        values = parameters.log_absent[j] + present[:, np.newaxis] * parameters.weights[j]
        if seen is not None:
            statistic, k, w = parameters.statistic, seen.codes[i], seen.weights[i]
            held, alpha = statistic.values[k, j], parameters.some(j)
            whole = np.broadcast_to(parameters.seen(), statistic.values.shape)[k, j] - w
            every = statistic.class_weight[k]
            absent = _remainder(every, held, every - whole)
            count = np.where(present, _remainder(held, w), absent) + alpha
            both = whole + 2 * alpha
            own = _log_or_least(count) - np.log(np.where(both > 0, both, 1.0))
            values[np.arange(i.size), k] = own
        return CellTerms(i, j, values)

    def _own(
        self, rows: SparseRows, codes: Codes, w: float, parameters: PresenceProbabilities
    ) -> Floats:
        """Return the terms of the own class without rows of one weight."""
        absent, whole = parameters.absent(slice(None), w)
        log_absent = np.broadcast_to(_log_or_least(absent) - np.log(whole), absent.shape)
        i, j, x = _present(rows)
        present = x > (self.step or 0.0)
        i, j = i[present], j[present]
        k = codes[i]
        count = _remainder(parameters.statistic.values[k, j], w) + parameters.some(j)
        gain = _log_or_least(count) - _log_or_least(absent[k, j])
        own = log_absent.sum(axis=1)[codes] + np.bincount(i, gain, len(rows))
        missing = np.isnan(rows.values[rows.cells].astype(np.float64))
        i, j = rows.row_numbers[missing], rows.places[rows.cells][missing]
        return own - np.bincount(i, log_absent[codes[i], j], len(rows))


# --- What they share ------------------------------------------------------------------------------


def counts_of(summary: Summary) -> Counts:
    """Return how often each column occurs, or in how many rows: as the schema says."""
    return summary[Documents if summary.schema.counted == "documents" else Occurrences]


def _present(rows: SparseRows) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return row, column and value of each cell that is held, and not missing."""
    places, values = rows.places[rows.cells], rows.values[rows.cells].astype(np.float64)
    present = ~np.isnan(values)
    return rows.row_numbers[present], places[present].astype(np.intp), values[present]


def _log_or_least(x: Floats, out: Floats | None = None) -> Floats:
    """Return logarithms, and `_LOG_OF_ZERO` instead of that of 0.

    >>> _log_or_least(np.array([1.0, 0.0])).tolist()
    [0.0, -1000000000.0]
    """
    if x.size and x.min() > 0:  # all at once, which is much faster
        return np.log(x, out=out)
    return np.log(x, out=np.full(x.shape, _LOG_OF_ZERO), where=x > 0)


def _infinite(weights: Floats) -> Floats:
    """Return minus infinity for what was the logarithm of 0; the same array where none was."""
    if weights.min(initial=0.0) >= 0.5 * _LOG_OF_ZERO:
        return weights
    return np.where(weights < 0.5 * _LOG_OF_ZERO, -np.inf, weights)


def _remainder(whole: Any, *parts: Any) -> Floats:
    """Return a sum of weights without some of them: 0, where all but a rounding is taken away.

    >>> _remainder(np.array([0.1 + 0.2, 2.0]), np.array([0.3, 0.5])).tolist()
    [0.0, 1.5]
    """
    rest = whole
    for part in parts:
        rest = rest - part
    return np.where(rest > _NOTHING_SHARE * whole, rest, 0.0)


def _scaled_lines(B: Floats, weight: Floats, A: Floats | None = None, **options: Any) -> Lines:
    """Return A + B x times the one weight of all entries and classes."""
    factor = float(weight.flat[0]) if weight.size else 1.0
    A = np.zeros(B.shape) if A is None else A  # which takes no memory
    if factor == 1:
        return Lines(A, B, **options)
    scaled = np.multiply(B, factor, out=_aligned(B.shape))
    return Lines(A * factor if A.any() else A, scaled, **options)


def _aligned(shape: tuple[int, ...]) -> Floats:
    """Return memory that begins with a line of the cache.

    >>> _aligned((3, 20)).ctypes.data % 64
    0
    """
    size = int(np.prod(shape))
    room = np.empty(size + _CACHE_LINE_BYTES // 8)
    first = -room.ctypes.data % _CACHE_LINE_BYTES // 8
    return room[first : first + size].reshape(shape)
