"""Hashed words that are counted straight into tables, without rows of counts between.

Rows of counts of a whole file would be larger than its text. Tables of whole numbers grow batch by
batch instead, and only rows that somebody picks, as a sample does, become rows of counts.

>>> from naively.data.schema import Schema
>>> from naively.data.texts import texts_of
>>> schema = Schema(1, kinds=("text",), options=(TextOptions(hashed=8),))
>>> rows = HashedTexts.of([texts_of(["tea and tea", "coffee"])], schema)
>>> counts = HashedCounts(schema)
>>> counts.add(rows, Targets(np.array(["a", "b"]), np.array([0, 1], np.int32)))
>>> counts.summary()[Occurrences].values.sum(axis=1)
array([3., 1.])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data import labels
from naively.data.rows import Targets, TextRows
from naively.data.schema import Schema
from naively.data.texts import Texts
from naively.data.tokens import TextOptions, alphabet, no_words, raise_status, tokenize
from naively.statistics import Documents, Occurrences
from naively.statistics.axes import Axes, placed
from naively.statistics.summary import Summary


def are_hashed_words(schema: Schema) -> bool:
    """Whether there is text, all of it hashed word by word, and no other counts."""
    hashed = [one.hashed is not None and one.analyzer == "word" for one in schema.options]
    return bool(hashed) and all(hashed) and not schema.counted


@dataclass(frozen=True, eq=False)
class HashedTexts(TextRows):
    """Columns of text of which only rows that are picked become rows of counts.

    Attributes
    ----------
    texts : tuple of Texts
        The texts of each column.
    schema : Schema
        How they become words, and their names.
    """

    texts: tuple[Texts, ...]
    schema: Schema

    @classmethod
    def of(cls, texts: Sequence[Texts], schema: Schema) -> HashedTexts:
        """Return columns with a hash of each text, for samples."""
        hashes = np.zeros((texts[0].lengths.size, len(texts)), np.uint64, order="F")
        for column, out in zip(texts, hashes.T, strict=True):
            _kernel.hash_texts(np.ascontiguousarray(column.addresses), column.lengths, out)
        return cls(hashes, (), tuple(texts), schema)

    def __getitem__(self, at: Any) -> TextRows:
        """Return some rows: those of a slice are not counted either."""
        texts = tuple(Texts(one.addresses[at], one.lengths[at], one.owners) for one in self.texts)
        if isinstance(at, slice):
            return HashedTexts(self.hashes[at], (), texts, self.schema)
        pairs = zip(texts, self.schema.options, strict=True)
        return TextRows(self.hashes[at], tuple(tokenize(*pair, n_jobs=1).rows for pair in pairs))


class HashedCounts:
    """How often words occur in each class, and in how many documents: sums over batches of rows.

    Parameters
    ----------
    schema : Schema
        Whose columns of text are hashed words.
    most : int
        How many tokens a count of the tables can hold.
    """

    def __init__(self, schema: Schema, *, most: int = np.iinfo(np.uint32).max) -> None:
        words = tuple(map(no_words, schema.options))
        vocabularies = tuple(np.empty(0, dtype=str) for _ in schema.categories)
        self._schema, self._axes = schema, Axes(np.empty(0, np.int64), vocabularies, words)
        self._starts = self._axes.word_starts
        self._pairs = np.zeros((0, self._starts[-1], 2), np.uint32)
        self._last = [np.zeros(one.size, np.uint32) for one in words]
        self._most, self._documents, self._tokens = most, 0, 0  # that the pairs may hold
        self._sums: list[NDArray[np.float64]] | None = None

    def add(self, rows: HashedTexts, targets: Targets) -> None:
        """Count the words of rows that have no weights."""
        n_tokens = sum(map(_most_tokens, rows.texts, self._schema.options))
        if max(self._tokens + n_tokens, self._documents + len(rows)) >= self._most:
            self._settle()
        codes = self._codes(targets)
        columns = zip(rows.texts, self._schema.options, self._schema.texts, strict=True)
        for i, (texts, options, j) in enumerate(columns):
            status = _kernel.tally_hashed(
                np.ascontiguousarray(texts.addresses),
                np.ascontiguousarray(texts.lengths),
                codes,
                alphabet(options.lowercase),
                *options.ngram_range,
                self._pairs,
                self._starts[i],
                self._last[i],
                self._documents,
            )
            raise_status(*status, self._schema.name(j))
        self._documents, self._tokens = self._documents + len(rows), self._tokens + n_tokens

    def absorb(self, other: HashedCounts) -> None:
        """Add other counts of the same schema, which are given up."""
        classes = other._axes.classes
        places = self._codes(Targets(classes, np.arange(classes.size, dtype=np.int32)))
        self._tokens += other._tokens
        self._documents += other._documents
        have_sums = self._sums is not None or other._sums is not None
        if have_sums or max(self._tokens, self._documents) >= self._most:
            self._settle()
            other._settle()
        tables: list[tuple[Any, Any]] = [(self._pairs, other._pairs)]
        tables += zip(self._sums or (), other._sums or (), strict=True)
        for mine, its in tables:
            for k, counts in zip(places, its, strict=True):
                np.add(mine[k], counts, out=mine[k])
        for last in self._last:
            last.fill(0)

    def summary(self) -> Summary:
        """Return the sums as a summary of which only the words are measured; they are given up."""
        if self._sums is not None:
            self._settle()
        tables: list[NDArray[Any]] = [*(self._sums or self._tables)]
        found = [
            kind(self._pairs.shape[:2], (table, ()))
            for kind, table in zip((Occurrences, Documents), tables, strict=True)
        ]
        del self._pairs
        return Summary.of(self._schema, self._axes, *found)

    @property
    def _tables(self) -> list[NDArray[np.uint32]]:
        return [self._pairs[:, :, 0], self._pairs[:, :, 1]]

    def _codes(self, targets: Targets) -> NDArray[np.int32]:
        """Return the places of the rows' classes, for which there is room then."""
        if targets.classes is not self._axes.classes:
            mine = self._axes.classes
            axes = replace(self._axes, classes=labels.union(mine, targets.classes))
            if axes.classes.size > mine.size:
                places, n = labels.positions(mine, axes.classes), axes.classes.size
                self._pairs = placed(self._pairs, places, n)
                if self._sums is not None:
                    self._sums = [placed(table, places, n) for table in self._sums]
                self._axes = axes
        at = labels.positions(targets.classes, self._axes.classes)
        return at.astype(np.int32)[targets.codes]

    def _settle(self) -> None:
        """Add the whole numbers to sums of float64, and begin anew."""
        if self._sums is None:
            self._sums = [np.zeros(self._pairs.shape[:2]) for _ in range(2)]
        for total, table in zip(self._sums, self._tables, strict=True):
            np.add(total, table, out=total)
        for used in (self._pairs, *self._last):
            used.fill(0)
        self._documents = self._tokens = 0


def _most_tokens(texts: Texts, options: TextOptions) -> int:
    """Return how many tokens there can be: a word takes two bytes, and a third behind it."""
    least, greatest = options.ngram_range
    lengths = np.maximum(texts.lengths, 0)
    return int((lengths // 3 + 1).sum()) * (greatest - least + 1)
