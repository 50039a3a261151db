"""Axes: the labels along which statistics grow.

The classes are one axis, and every column of categories or text has a vocabulary, which is another.
Labels are united here and nowhere else; statistics are told where labels went by a `Move`.

Examples
--------
>>> a, b = Axes(np.array(["no"])), Axes(np.array(["maybe", "yes"]))
>>> both = a.united(b, Schema(0))
>>> both.classes, b.move(both).classes
(array(['maybe', 'no', 'yes'], dtype='<U5'), array([0, 2]))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate, pairwise
from operator import is_
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.schema import Schema
from naively.data.tokens import Words, no_words
from naively.data.types import Places
from naively.errors import NaivelyError

MAX_WORDS = 1 << 25  # of a column of text
MAX_COUNTS = 1 << 28  # of a column of text, words times classes: two tables of 2 GB
_MAX_SLICES = 8

Labels: TypeAlias = NDArray[Any]
"""For each label, its place on another axis; -1 where it is not there."""
Masks: TypeAlias = Sequence[NDArray[np.bool_]] | None
"""For each vocabulary, which labels are kept; None for all."""


@dataclass(frozen=True, eq=False)
class Axes:
    """The classes, and the vocabulary of each column of categories or text."""

    classes: Labels
    vocabularies: tuple[Labels, ...] = ()  # for each column of categories, those seen
    words: tuple[Words, ...] = ()  # for each column of text, the words seen

    def __post_init__(self) -> None:
        self.classes.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what was computed of them is not part of a pickle."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def starts(self) -> list[int]:
        """Where each vocabulary begins, if they stand one after the other; and the end."""
        return [0, *accumulate(column.size for column in self.vocabularies)]

    @cached_property
    def word_starts(self) -> list[int]:
        """Where the words of each column of text begin, one after the other; and the end."""
        return [0, *accumulate(words.size for words in self.words)]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Axes)
            and np.array_equal(self.classes, other.classes)
            and len(self.vocabularies) == len(other.vocabularies)
            and all(map(np.array_equal, self.vocabularies, other.vocabularies))
            and self.words == other.words
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Axes, (np.array(self.classes), self.vocabularies, self.words)

    def united(self, other: Axes, schema: Schema) -> Axes:
        """Return the labels of both, sorted; this itself where the other has none besides."""
        classes = labels.union(self.classes, other.classes)
        pairs = zip(schema.categories, self.vocabularies, other.vocabularies, strict=True)
        vocabularies = tuple(
            mine if mine is its else _union(schema.name(j), mine, its) for j, mine, its in pairs
        )
        words = tuple(mine.union(its) for mine, its in zip(self.words, other.words, strict=True))
        vocabularies_are_mine = all(map(is_, vocabularies, self.vocabularies))
        if classes is self.classes and vocabularies_are_mine and all(map(is_, words, self.words)):
            return self
        return Axes(classes, vocabularies, words).checked(schema)

    def checked(self, schema: Schema) -> Axes:
        """Return the same, or raise where a column of text has more words than is sensible."""
        for j, words in zip(schema.texts, self.words, strict=True):
            n_counts = words.size * self.classes.size
            if words.width is None and (words.size > MAX_WORDS or n_counts > MAX_COUNTS):
                raise NaivelyError(
                    f"{schema.name(j)} must have at most {MAX_WORDS:,} different words, and "
                    f"{MAX_COUNTS:,} counts, words times classes; got {words.size:,} words and "
                    f"{self.classes.size:,} classes. Hash the words to a fixed number of places by "
                    "Text(hashed=2**20), or take shorter n-grams."
                )
        return self

    def with_columns(self, before: Schema, after: Schema, origin: Sequence[int]) -> Axes:
        """Return the vocabularies of other columns, each that of its origin; else empty."""
        known = dict(zip(before.categories, self.vocabularies, strict=True))
        written = dict(zip(before.texts, self.words, strict=True))
        of = dict(enumerate(origin))
        none = np.empty(0, dtype=str)
        vocabularies = tuple(known.get(of.get(j, -1), none) for j in after.categories)
        pairs = zip(after.texts, after.options, strict=True)
        words = tuple(written.get(of.get(j, -1), no_words(option)) for j, option in pairs)
        return Axes(self.classes, vocabularies, words)

    def move(self, to: Axes) -> Move:
        """Return where each label stands on axes that hold them all."""
        classes, vocabularies, words = None, None, None
        if not labels.are_same(self.classes, to.classes):
            classes = labels.positions(self.classes, to.classes)
        if not all(map(labels.are_same, self.vocabularies, to.vocabularies)):
            pairs = zip(self.vocabularies, to.vocabularies, strict=True)
            vocabularies = [labels.positions(mine, its) for mine, its in pairs]
        if self.words is not to.words and self.words != to.words:
            both = zip(self.words, to.words, strict=True)
            words = [mine.positions(its).astype(np.intp) for mine, its in both]
        return Move(classes, vocabularies, self, to, words)

    def chosen(self, classes: NDArray[Any], masks: Masks, word_masks: Masks = None) -> Move:
        """Return the move to some of the classes, and of each vocabulary to some of its labels."""
        places = np.full(self.classes.size, -1)
        places[classes] = np.arange(classes.size)
        vocabularies, moves = _kept(self.vocabularies, masks)
        words, word_moves = _kept(self.words, word_masks)
        after = Axes(self.classes[classes], vocabularies, words)
        return Move(places, moves, self, after, word_moves)


class Move(NamedTuple):
    """Where the labels of some axes went; None where all are where they were."""

    # For each class, its new place; -1 where it is gone. No two have the same.
    classes: Places | None
    vocabularies: list[Places] | None  # the same for the labels of each vocabulary
    before: Axes
    after: Axes
    words: list[Places] | None = None  # the same for the words of each column of text

    @property
    def is_still(self) -> bool:
        """Whether every label stays where it is."""
        return self.classes is None and self.vocabularies is None and self.words is None

    @property
    def entries(self) -> Places | None:
        """For the labels of all vocabularies, one after the other, their new places."""
        return _joined(self.vocabularies, self.after.starts)

    @property
    def word_entries(self) -> Places | None:
        """For the words of all columns of text, one after the other, their new places."""
        return _joined(self.words, self.after.word_starts)


def _joined(columns: list[Places] | None, starts: list[int]) -> Places | None:
    """Return places in several vocabularies as places in all of them, one after the other."""
    if columns is None:
        return None
    moved = [np.where(at < 0, -1, start + at) for start, at in zip(starts, columns, strict=False)]
    return np.concatenate([np.empty(0, np.intp), *moved])


def _kept(columns: tuple[Any, ...], masks: Masks) -> tuple[tuple[Any, ...], list[Places] | None]:
    """Return some labels of each vocabulary, and where they go."""
    if masks is None:
        return columns, None
    kept = tuple(column[mask] for column, mask in zip(columns, masks, strict=True))
    return kept, [np.where(mask, np.cumsum(mask) - 1, -1) for mask in masks]


def placed(values: NDArray[Any], places: Places, size: int, axis: int = 0) -> NDArray[Any]:
    """Return an array of which an axis has another size, with each entry in its new place.

    Entries at places of -1 are left out, and places that nobody takes are 0. New labels are few, as
    a rule, so that all others move in a few slices.

    >>> placed(np.array([1.0, 2.0]), np.array([0, 2]), 3)
    array([1., 0., 2.])
    """
    shape = (*values.shape[:axis], size, *values.shape[axis + 1 :])
    result = np.empty(shape, values.dtype)
    after, before = (np.moveaxis(array, axis, 0) for array in (result, values))
    ends = [*(np.flatnonzero(places[1:] - places[:-1] != 1) + 1).tolist(), places.size]
    if len(ends) > _MAX_SLICES or (np.diff(places) <= 0).any() or places.min(initial=0) < 0:
        kept = places >= 0
        after[:] = 0
        after[places[kept]] = before[kept]
        return result
    free = 0
    for start, end in pairwise([0, *ends]):
        to = int(places[start]) if end > start else free
        after[free:to] = 0
        free = to + end - start
        after[to:free] = before[start:end]
    after[free:] = 0
    return result


def checked_places(at: Sequence[int] | NDArray[Any], size: int) -> Places:
    """Return places among so many as an array, each of them once; or raise.

    >>> checked_places([2, 0], 3)
    array([2, 0])
    """
    places = np.asarray(at)
    if places.size == 0:
        return np.empty(0, np.intp)
    whole = places.ndim == 1 and places.dtype.kind in "iu"
    if not whole or places.min() < 0 or places.max() >= size or np.unique(places).size < len(at):
        raise NaivelyError(
            f"places must be different whole numbers from 0 to {size - 1}; got {list(at)!r}."
        )
    return places.astype(np.intp)


def _union(name: str, a: Labels, b: Labels) -> Labels:
    try:
        return labels.union(a, b)
    except NaivelyError as error:
        raise NaivelyError(f"{name}: {error}") from None
