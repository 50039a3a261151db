r"""The family of text: shares of words.

.. math:: \log f(x \mid k) = \sum_j x_j \log p_{kj}, \qquad
          p_{kj} = \frac{d_{kj} + \alpha_k}{d_k + \alpha_k V}

where j goes over the words of the document, and V is the number of words that were seen. The words
of a document depend on each other, so a word counts once, and less in a long document,

.. math:: x_j = 1 / \sqrt{n}, \qquad \alpha_k = \alpha K \frac{d_k + 1}{\sum_l (d_l + 1)}

where K is the number of classes that have documents, n the number of words of the document;
:math:`d_{kj}` is the weight of the documents of class k that have the word, and :math:`d_k` the sum
of those. The smoothing is proportional to the size of the class, so that a word that two classes
have not seen favours neither. Words are put into groups by how many documents have them, so that
each group has as many words of documents as the others, and every group is a term with a weight of
its own. One more term is what the length says:

.. math:: \sum_j x_j \log (d_k / w_k)

with the weight :math:`w_k` of the documents of the class.

Without ``presence`` it is the multinomial of the textbooks: :math:`x_j` is how often the word
occurs in the document, :math:`d_{kj}` how often in those of class k, :math:`\alpha_k = \alpha`, and
there is one term.

A word that was never seen contributes nothing, and neither does a missing text, nor an empty one.

Examples
--------
>>> from naively.families.text import WordCounts
>>> seen = WordCounts(np.array([[3.0, 1.0], [0.0, 4.0]]), np.array([4.0, 4.0]))
>>> family = Text(presence=False)
>>> np.exp(family.parameters(seen).log_share.T).round(3)
array([[0.667, 0.333],
       [0.167, 0.833]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.kinds import TEXT, Kind
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.tokens import TextOptions
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.family import Codes, Family
from naively.families.forms import WordLines
from naively.statistics import Documents, Occurrences, Statistic
from naively.statistics.counts import Counts
from naively.statistics.summary import Summary

GROUPS = 10  # of words, by how many documents have them
_ROUNDED_SHARE = 1e-9  # of a word's weight, below which a difference is one of rounding


@dataclass(frozen=True)
class WordCounts:
    """What is read of a column of text."""

    # (n_classes, n_words): the weight of the documents that have each word; or how often it
    # occurs
    values: Floats
    documents: Floats  # (n_classes,): the weight of all documents


@dataclass(frozen=True)
class TextParameters:
    """What scores documents, and the prior of it: words seen in all classes, and their groups."""

    # (n_words, n_classes): logarithm of the smoothed share of each word; 0 for words that were
    # never seen
    log_share: Floats
    log_length: Floats  # (n_classes,): logarithm of how many words a document has
    total: Floats  # (n_words,): the weight of each word in all classes
    bounds: Floats  # the weights at which groups begin, without the first; empty for one group
    # What is added to each word of a class, for each word of its documents and one more
    added: float

    @property
    def prior(self) -> TextParameters:
        """What all classes share."""
        return self

    def groups(self, total: Floats) -> NDArray[np.intp]:
        """Return the group of words of some weight."""
        return np.searchsorted(self.bounds, total, side="right")


@dataclass(frozen=True)
class Text(Family):
    """Smoothed shares of the words of a text.

    Parameters
    ----------
    analyzer : {"word", "char_wb"}
        ``"word"`` for words of two or more letters, digits and underscores; ``"char_wb"`` for
        n-grams of characters within words, with a space before and after each word.
    ngram_range : tuple of int
        The minimum and maximum number of words, or characters, of an n-gram.
    lowercase : bool
        Whether texts are converted to lower case.
    hashed : int or None
        Hash words to this many counters, for bounded memory; None for a dictionary of words.
    alpha : float
        Additive (Laplace) smoothing; with ``presence`` it is proportional to the size of the
        class, and alpha is the average.
    presence : bool
        If True, a word counts once per document, less in long documents, and words form groups
        with weights. If False, it counts as often as it occurs, as in textbooks; without
        calibration this is always so.
    """

    analyzer: Literal["word", "char_wb"] = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    hashed: int | None = None
    alpha: float = 1.0
    presence: bool = True

    name: ClassVar[str] = "text"
    positive: ClassVar[tuple[str, ...]] = ("alpha",)
    kind: ClassVar[Kind] = TEXT
    reads: ClassVar[type[Statistic]] = Documents  # or Occurrences, which are counted beside them
    oracle: ClassVar[str] = "multinomial"
    support: ClassVar[tuple[float, float]] = (0, np.inf)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.ngram_range, list):  # as JSON has it
            object.__setattr__(self, "ngram_range", tuple(self.ngram_range))
        self.options  # noqa: B018 - it is checked by being made

    @classmethod
    def of(cls, options: TextOptions) -> Text:
        """Return the family of text that is read in some way."""
        return cls(options.analyzer, options.ngram_range, options.lowercase, options.hashed)

    @property
    def options(self) -> TextOptions:
        """How texts become words."""
        return TextOptions(self.analyzer, self.ngram_range, self.lowercase, self.hashed)

    @property
    def n_terms(self) -> int:
        """How many weights a column has: of each group, and of the length; or one."""
        return GROUPS + 1 if self.presence else 1

    def uncalibrated(self) -> Text:
        """Return the family as the textbooks have it."""
        return replace(self, presence=False)

    def statistic_of(self, summary: Summary, columns: Sequence[int], at: int) -> WordCounts:
        """Return the counts of the column's words, which stand behind those of numbers."""
        kind: type[Counts] = Documents if self.presence else Occurrences
        starts, values = summary.axes.word_starts, summary[kind].values
        first = values.shape[1] - starts[-1]
        return WordCounts(
            values[:, first + starts[at] : first + starts[at + 1]], summary.class_weight
        )

    def check_measured(self, schema: Schema, columns: Sequence[int]) -> None:
        """Raise where the words of a column are others than the family's."""
        for j in columns:
            options = schema.options[schema.texts.index(j)]
            if replace(options, unicode=self.options.unicode) != self.options:
                raise NaivelyError(
                    f"the family of {schema.name(j)} must read words as the summary does, by "
                    f"{options}; got {self}. Give the column another family, or measure it again."
                )

    def parameters(
        self, statistic: WordCounts, prior: TextParameters | None = None
    ) -> TextParameters:
        """Read the shares off the weights of words."""
        values, of_class = statistic.values, statistic.values.sum(axis=1)
        total = values.sum(axis=0) if prior is None else prior.total
        bounds = self._bounds(total) if prior is None else prior.bounds
        n_classes = max(1, int(np.count_nonzero(statistic.documents)))
        added = self.alpha * n_classes / (total.sum() + n_classes) if prior is None else prior.added
        seen, alpha = total > 0, self._alpha(of_class, added)
        log_share = np.log(np.ascontiguousarray(values.T) + alpha)
        log_share -= np.log(of_class + alpha * max(1, seen.sum()))
        log_share[~seen] = 0.0
        return TextParameters(log_share, _log_length(of_class, statistic), total, bounds, added)

    def _alpha(self, of_class: Floats, added: float) -> Floats | float:
        """Return what is added to the words of classes."""
        return added * (of_class + 1) if self.presence else self.alpha

    def _bounds(self, total: Floats) -> Floats:
        """Return where groups begin, so that documents have as many words of each.

        They begin a little before a word's weight: words of the same weight are of one group,
        however their documents were added up.
        """
        if not self.presence:
            return np.empty(0)
        ascending = np.sort(total[total > 0])
        if not ascending.size:
            return np.full(GROUPS - 1, np.inf)
        mass = np.cumsum(ascending)
        below = 1 - _ROUNDED_SHARE
        at = np.searchsorted(mass, below * mass[-1] * np.arange(1, GROUPS) / GROUPS)
        return below * ascending[np.minimum(at, ascending.size - 1)]

    def log_density(self, x: SparseRows, parameters: TextParameters) -> Floats:
        """Return the terms of documents, of shape (n, K, T)."""
        return self._terms(self._cells(x, parameters), len(x), parameters)

    def among_others(self, x: SparseRows, weights: Floats, parameters: TextParameters) -> Floats:
        """Return the terms of documents that were seen, by what the others say of their words."""
        return self._terms(self._cells(x, parameters, weights), len(x), parameters)

    def left_out(
        self,
        x: SparseRows,
        codes: Codes,
        weights: Floats,
        statistic: WordCounts,
        parameters: TextParameters,
    ) -> Floats:
        """Return the terms of documents in their own class as if they had not been seen: (n, T)."""
        cells, values = self._cells(x, parameters, weights), statistic.values
        counts = self._counts(x)
        own = np.bincount(x.row_numbers, counts, len(x)) * weights  # what each takes with it
        of_class = np.maximum(values.sum(axis=1)[codes] - own, 0.0)
        alpha = self._alpha(of_class, parameters.added) + np.zeros(len(x))
        seen = max(1, (parameters.total > 0).sum())
        left = values[codes[cells.rows], cells.places] - cells.counts * weights[cells.rows]
        share = np.log(np.maximum(left, 0.0) + alpha[cells.rows])
        share -= np.log(of_class + alpha * seen)[cells.rows]
        terms: Floats = np.zeros(len(x) * self.n_groups)
        terms += np.bincount(cells.at, cells.x * share, terms.size)
        terms = terms.reshape(len(x), self.n_groups)
        if not self.presence:
            return terms
        documents = np.maximum(statistic.documents[codes] - weights, 0.0)
        length = np.log((of_class + 1) / (documents + 1))
        return np.column_stack([terms, cells.sums(len(x)) * length])

    def form(self, parameters: TextParameters, weight: Floats) -> WordLines:
        """Return a number for each word and class."""
        differ, log_share = (weight != weight[:1]).any(), parameters.log_share
        log_length = parameters.log_length
        if differ:  # then terms are centred, as `weighted` does it
            log_share = log_share - log_share.mean(axis=1, keepdims=True)
            log_length = log_length - log_length.mean()
        B = log_share * weight.T[parameters.groups(parameters.total)]
        if self.presence:
            B += log_length * weight[:, -1]
        seen = parameters.total > 0
        B[~seen] = 0.0
        return WordLines(B, self.presence, None if seen.all() else seen)

    @property
    def n_groups(self) -> int:
        """How many groups of words there are."""
        return GROUPS if self.presence else 1

    def _counts(self, x: SparseRows) -> Floats:
        """Return what each cell adds to the statistic."""
        return np.ones(x.n_cells) if self.presence else x.values[x.cells].astype(np.float64)

    def _cells(
        self, x: SparseRows, parameters: TextParameters, own: Floats | None = None
    ) -> _Cells:
        """Return the words that count, without those that only the documents themselves have."""
        rows, places, counts = x.row_numbers, x.places[x.cells], self._counts(x)
        total = parameters.total[places]
        if own is not None:
            rest = total - counts * own[rows]
            total = np.where(rest > _ROUNDED_SHARE * total, rest, 0.0)
        kept = total > 0
        rows, places, counts, total = rows[kept], places[kept], counts[kept], total[kept]
        value = counts
        if self.presence:
            n = np.bincount(rows, x.values[x.cells][kept], len(x))
            value = (1 / np.sqrt(np.maximum(n, 1)))[rows]
        at = rows * self.n_groups + parameters.groups(total)
        return _Cells(rows, places, counts, value, at)

    def _terms(self, cells: _Cells, n_rows: int, parameters: TextParameters) -> Floats:
        n_words, n_classes = parameters.log_share.shape
        sums = np.zeros((n_rows * self.n_groups, n_classes))
        order = np.argsort(cells.at, kind="stable")
        starts = np.zeros(len(sums) + 1, np.int64)
        np.cumsum(np.bincount(cells.at, minlength=len(sums)), out=starts[1:])
        grouped = SparseRows(starts, cells.places[order], cells.x[order], n_words)
        _kernel.add_sparse_lines(grouped, None, parameters.log_share, None, sums)
        terms = sums.reshape(n_rows, self.n_groups, n_classes).transpose(0, 2, 1)
        if not self.presence:
            return np.ascontiguousarray(terms)
        length = cells.sums(n_rows)[:, np.newaxis] * parameters.log_length
        return np.concatenate([terms, length[:, :, np.newaxis]], axis=2)


class _Cells(NamedTuple):
    """Words of documents that count."""

    rows: NDArray[np.intp]  # the document and the word
    places: NDArray[Any]
    counts: Floats  # what the cell adds to the statistic
    x: Floats  # what the word counts in the document
    at: NDArray[np.intp]  # the place of the document and the word's group among all of them

    def sums(self, n_rows: int) -> Floats:
        """Return the sum of x in each document."""
        return np.bincount(self.rows, self.x, n_rows).astype(np.float64)


def _log_length(of_class: Floats, statistic: WordCounts) -> Floats:
    """Return the logarithm of how many words a document has, one word and document added."""
    return np.log((of_class + 1) / (statistic.documents + 1))
