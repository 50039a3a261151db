r"""A bounded sample of rows that adds: those whose cells have the least hash.

.. math:: S_k(A \cup B) = S_k(S_k(A) \cup S_k(B))

where :math:`S_k` keeps the rows whose hash is at most that of the k-th. What a row's cells hold
decides whether it is kept, so the sample depends neither on the order of rows nor on batches,
engines or threads. Labels are not hashed, since those of a CSV file have no type until all of them
have been read: rows of the same cells are kept together, and a row is identified by its hash and
its class. Equal rows are one row of more weight: a sample of distinct rows with their weights,
which gives every mean over rows without bias. Rows can be taken out again; then the sample is
smaller, and ``bound`` remembers below which hash it is still complete.

References
----------
P. Gibbons (2001), Distinct sampling for highly-accurate answers to distinct values queries and
event reports.
E. Cohen, H. Kaplan (2007), Summarizing data using bottom-k sketches.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.rows import Rows, TextRows
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.tensors import Tensors, UnsoundError
from naively.data.types import Floats, Hashes
from naively.errors import NaivelyError
from naively.statistics.axes import Axes, Move
from naively.statistics.statistic import Block, ColumnMove, Statistic
from naively.statistics.weights import remaining

_ROWS = ("hashes", "weight", "codes", "numbers", "categories", "texts")  # held of each row
_FLAGS = ("drawn", "untyped")
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
_COUNT_CELLS = (np.uint64, np.uint64, np.float64)  # types of sparse numbers in a file
EVERYTHING = int(np.iinfo(np.uint64).max)  # a bound above every row: none has this hash


@dataclass(frozen=True, eq=False)
class Sample(Statistic):
    """Rows of least hash, in the order of their hashes and classes."""

    size: int  # how many rows are kept; more only where rows of the last hash differ in their class
    bound: int  # all rows seen whose hash is below this are here
    hashes: NDArray[np.uint64]  # (n_rows,): ascending
    weight: NDArray[np.float64]  # (n_rows,): the weight of all rows of the same content
    # (n_rows,): their classes: ascending and distinct among rows of one hash
    codes: NDArray[np.int32]
    # (n_rows, n_numbers): cells of the columns of numbers; NaN is missing. Where numbers are
    # counts, they are sparse.
    numbers: Any
    categories: NDArray[np.int32]  # (n_rows, n_categories): codes of the others; -1 is missing
    # Whether there are rows that were drawn at random, so that their hashes are not those of their
    # cells. Rows cannot be taken out again: nobody knows whether they are here.
    drawn: bool = False
    # Whether classes may turn out to be one: "1" and "01" in a CSV file of which not all labels
    # have been read. Until then, cells are counted instead of rows.
    untyped: bool = False
    texts: TextRows | None = None  # cells of the columns of text; None where there are none

    name: ClassVar[str] = "sample"

    @classmethod
    def is_measured(cls, schema: Schema) -> bool:
        return bool(schema.sample)

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        # how many rows, numbers and categories; whether numbers are sparse; sizes of vocabularies
        is_sparse = int(schema.counted is not None)
        sizes = [words.size for words in axes.words]
        return schema.sample, len(schema.numbers), len(schema.categories), is_sparse, *sizes

    @classmethod
    def measure(cls, block: Block) -> Sample:
        size, bound, weights = block.schema.sample, block.bound, block.weights
        rows = block.rows
        rows = replace(rows, numbers=rows.sparse()) if block.schema.counted else rows.dense()
        hashes = hash_rows(rows, block.category_hashes)
        at = np.arange(hashes.size) if weights is None else np.flatnonzero(weights)
        at = least(hashes, at, size) if bound == EVERYTHING else at[hashes[at] < bound]
        if not at.size:
            nothing = cls.zero(*cls.shape(block.schema, block.axes))
            return replace(nothing, bound=bound, untyped=block.untyped)
        first, inverse = distinct_rows(hashes[at], block.classes[at])
        weight = np.bincount(inverse, None if weights is None else weights[at], first.size)
        kept = at[first] if block.untyped else at[first[: enough(hashes[at[first]], size)]]
        part = rows[kept]
        sample = cls(
            size,
            bound,
            hashes[kept],
            weight[: kept.size].astype(np.float64),
            block.classes[kept],
            part.numbers.tidy() if part.is_sparse else part.array() + 0.0,  # -0.0 is the same cell
            part.code_array(),
            untyped=block.untyped,
            texts=None if part.texts is None else part.texts.compact(),
        )
        return sample.least(size)

    @classmethod
    def zero(cls, *shape: int) -> Sample:
        size, n_numbers, n_categories, is_sparse, *sizes = shape
        return cls(
            size,
            EVERYTHING,
            np.empty(0, np.uint64),
            np.empty(0),
            np.empty(0, np.int32),
            SparseRows.empty(n_numbers) if is_sparse else np.empty((0, n_numbers)),
            np.empty((0, n_categories), np.int32),
            texts=TextRows.empty(0, sizes).compact() if sizes else None,
        )

    def __len__(self) -> int:
        return self.hashes.size

    def __add__(self, other: Sample) -> Sample:
        if not len(other) and other.bound == EVERYTHING:
            return self
        if not len(self) and self.bound == EVERYTHING:
            return other
        bound = min(self.bound, other.bound)
        drawn, untyped = self.drawn or other.drawn, self.untyped or other.untyped
        if len(other) < 2 and (bound, drawn, untyped) == (self.bound, self.drawn, self.untyped):
            return self._with(other) if len(other) else self
        return Sample.sum([self, other])

    @staticmethod
    def sum(parts: Sequence[Sample]) -> Sample:
        """Return the sum of several at once."""
        rows: Any = {name: _joined([getattr(one, name) for one in parts]) for name in _ROWS}
        state: Any = {name: any(getattr(one, name) for one in parts) for name in _FLAGS}
        total = replace(parts[0], bound=min(one.bound for one in parts), **state, **rows)
        return total.merged().least(total.size)

    def _with(self, row: Sample) -> Sample:
        """Add one row, of a stream: most have too great a hash, and others have one place."""
        if int(row.hashes[0]) >= self.bound:
            return self
        low, high = (int(self.hashes.searchsorted(row.hashes[0], side)) for side in _SIDES)
        at = low + int(self.codes[low:high].searchsorted(row.codes[0]))
        if at < high and self.codes[at] == row.codes[0]:
            weight = self.weight.copy()
            weight[at] += row.weight[0]
            return replace(self, weight=weight)
        pairs = {name: (getattr(self, name), getattr(row, name)) for name in _ROWS}
        rows: Any = {  # in a fifth of the time of `numpy.insert`
            name: None if mine is None else _joined([mine[:at], its, mine[at:]])
            for name, (mine, its) in pairs.items()
        }
        return replace(self, **rows).least(self.size)

    def __sub__(self, other: Sample) -> Sample:
        if not len(other):
            return self
        if self.drawn or other.drawn:
            raise NaivelyError(
                "cannot subtract: the sample of rows was drawn at random, by a database or by an "
                "earlier version, and does not tell which rows are in it. Fit again without the "
                "rows, or measure without a sample: calibration=None."
            )
        gone = other[other.hashes < self.bound]
        at = places_of(gone.hashes, gone.codes, self.hashes, self.codes)
        if (at < 0).any():
            raise NaivelyError(
                "cannot subtract: a row was never added. Subtract only what was added."
            )
        taken = np.zeros(len(self))
        taken[at] = gone.weight
        rest = remaining(self.weight, taken)
        if rest.min(initial=0.0) < 0:
            raise NaivelyError(
                "cannot subtract: a row would have a weight below zero. "
                "Subtract only what was added."
            )
        return replace(self, weight=rest)[rest > 0]

    def __mul__(self, factor: float) -> Sample:
        if factor == 0:
            return replace(self[:0], bound=EVERYTHING, drawn=False, untyped=False)
        return replace(self, weight=self.weight * factor)

    def __getitem__(self, at: Any) -> Sample:
        """Take some of the rows."""
        cells = {name: getattr(self, name) for name in _ROWS}
        rows: Any = {
            name: column if column is None else column[at] for name, column in cells.items()
        }
        return replace(self, **rows)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sample)
            and (self.size, self.bound) == (other.size, other.bound)
            and (self.drawn, self.untyped) == (other.drawn, other.untyped)
            and all(_are_same(getattr(self, name), getattr(other, name)) for name in _ROWS)
        )

    def moved(self, move: Move) -> Sample:
        if move.is_still or not len(self):
            return self
        rows = self
        if move.classes is not None:
            if (gone := move.classes[rows.codes] < 0).any():
                rows = rows[~gone]
            rows = replace(rows, codes=move.classes[rows.codes].astype(np.int32))
        if move.vocabularies is not None:
            columns = zip(move.vocabularies, rows.categories.T, strict=True)
            moved = [np.append(places, -1)[codes] for places, codes in columns]
            rows = replace(rows, categories=np.stack(moved, axis=1).astype(np.int32))
        if move.words is not None and rows.texts is not None:
            sizes = [words.size for words in move.after.words]
            rows = replace(rows, texts=rows.texts.placed(move.words, sizes))
        if len(rows) < 2 or move.classes is None:
            return rows
        ordered = (np.diff(move.classes[move.classes >= 0]) > 0).all()
        return rows if ordered else rows.merged()

    def with_columns(self, move: ColumnMove) -> Sample:
        numbers = _chosen_columns(self.numbers, *move.numbers(), len(move.after.numbers))
        codes = np.full((len(self), len(move.after.categories)), -1, np.int32)
        to, of = move.categories()
        codes[:, to] = self.categories[:, of]
        sizes = [words.size for words in move.axes_after.words]
        before = TextRows.empty(len(self), ()) if self.texts is None else self.texts
        texts = before.with_columns(*move.texts(), sizes).compact() if sizes else None
        other = replace(self, numbers=numbers, categories=codes, texts=texts)
        if self.drawn or not len(self):
            return other
        return other.rehashed(move.axes_after.vocabularies)

    def by_class(self, axes: Axes) -> Floats:
        weight = np.bincount(self.codes, self.weight, axes.classes.size)
        return weight.astype(np.float64, copy=False)[:, np.newaxis]

    def tensors(self) -> dict[str, NDArray[Any]]:
        state = np.array([self.bound, self.drawn, self.untyped, True], np.uint64)
        arrays: dict[str, Any] = {name: getattr(self, name) for name in _ROWS}
        arrays = {"sample.state": state} | {f"sample.{name}": a for name, a in arrays.items()}
        if isinstance(self.numbers, SparseRows):
            arrays |= self.numbers.compact(*_COUNT_CELLS).tensors("sample.numbers")
        if self.texts is not None:
            arrays |= self.texts.tensors("sample.texts")
        return {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}

    @classmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Sample:
        n, (size, n_numbers, n_categories, is_sparse, *sizes) = (
            tensors.length("sample.hashes"),
            cls.shape(schema, axes),
        )
        bound, *flags = tensors.take("sample.state", np.uint64, (4,)).tolist()
        if max(flags) > 1:
            raise UnsoundError(f"its sample has the flags {flags}")
        shape, numbers = (n, n_numbers), "sample.numbers"
        sample = cls(
            size,
            bound,
            tensors.take("sample.hashes", np.uint64, (n,)),
            tensors.weights("sample.weight", (n,)),
            tensors.take("sample.codes", np.int32, (n,)),
            SparseRows.from_tensors(tensors, numbers, shape, *_COUNT_CELLS)
            if is_sparse
            else tensors.take(numbers, np.float64, shape),
            tensors.take("sample.categories", np.int32, (n, n_categories)),
            drawn=bool(flags[0]),
            untyped=bool(flags[1]),
            texts=TextRows.from_tensors(tensors, "sample.texts", n, sizes) if sizes else None,
        )
        sample._check(axes)
        return sample if flags[2] else sample.rehashed(axes.vocabularies)  # of earlier files

    def _check(self, axes: Axes) -> None:
        """Raise where rows are too many, without weight, equal, not in order, or of no class."""
        sizes = np.array([column.size for column in axes.vocabularies], dtype=np.int64)
        codes, cells, hashes = self.codes, self.categories, self.hashes
        outside = (codes < 0) | (codes >= axes.classes.size)
        if outside.any() or ((cells < -1) | (cells >= sizes)).any():
            raise UnsoundError("its sample holds codes of no class or no category")
        if isinstance(self.numbers, SparseRows) and self.numbers.tidy() != self.numbers:
            raise UnsoundError("the cells of its sample must be in order, none of them twice")
        numbers = getattr(self.numbers, "values", self.numbers)
        if np.isinf(numbers).any() or (len(self) and int(hashes[-1]) >= self.bound):
            raise UnsoundError("its sample holds infinity, or a hash beyond its bound")
        same = hashes[1:] == hashes[:-1]
        order = (hashes[1:] > hashes[:-1]) | (same & (codes[1:] > codes[:-1]))
        few = len(self.least(self.size)) == len(self)
        if not (few and order.all() and (self.weight > 0).all()):
            raise UnsoundError("its sample must be few rows of weight, by ascending hashes")

    def merged(self) -> Sample:
        """Put rows in order; equal ones become one row of their weight."""
        first, inverse = distinct_rows(self.hashes, self.codes)
        weight = np.bincount(inverse, self.weight, first.size)
        return replace(self[first], weight=weight.astype(np.float64, copy=False))

    def least(self, size: int) -> Sample:
        """Return a sample of another size: the rows whose hash is at most that of the last."""
        bound = self.bound
        counted = np.unique(self.hashes) if self.untyped else self.hashes
        if counted.size > size:
            bound = min(bound, int(counted[size - 1]) + 1)
        within = not len(self) or int(self.hashes[-1]) < bound  # they ascend
        if within and (size, bound) == (self.size, self.bound):
            return self
        kept = self if within else self[self.hashes < bound]
        return replace(kept, size=size, bound=bound)

    def settled(self) -> Sample:
        """Return the sample once all classes are known."""
        return replace(self, untyped=False).least(self.size) if self.untyped else self

    def rehashed(self, categories: Sequence[NDArray[Any]]) -> Sample:
        """Return the same rows under the hashes of their cells, which had others before.

        Where the sample does not hold all rows, those it holds were drawn at random, as seen from
        these hashes.
        """
        rows = Rows((len(self), 0), self.numbers, self.categories, texts=self.texts)
        hashes = hash_rows(rows, [*map(hashes_of, categories)])
        every = replace(self, hashes=hashes, bound=EVERYTHING).merged()
        return every if self.bound == EVERYTHING else every.thinned(self.bound)

    def thinned(self, bound: int) -> Sample:
        r"""Return rows that were drawn at random from more rows as a sample below a bound.

        Each hash h becomes :math:`h\,b / 2^{64}`, for the bound b: that is what hashes below b look
        like. Means over rows stay without bias, also where such samples meet others.
        """
        hashes = [h * bound >> 64 for h in self.hashes.tolist()]
        scaled = np.array(hashes, dtype=np.uint64)
        return replace(self, hashes=scaled, bound=bound, drawn=True).merged()


# --- The cells of sampled rows ------------------------------------------------------------------


def _joined(parts: Sequence[Any]) -> Any:
    """Return the rows of several, one after the other."""
    if parts[0] is None or isinstance(parts[0], np.ndarray):
        return None if parts[0] is None else np.concatenate(parts)
    return (SparseRows if isinstance(parts[0], SparseRows) else TextRows).joined(parts)


def _are_same(a: Any, b: Any) -> bool:
    both = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return np.array_equal(a, b, equal_nan=True) if both else bool(a == b)


def _chosen_columns(numbers: Any, to: Sequence[int], of: Sequence[int], n: int) -> Any:
    """Return rows with some columns at other places, of n; unseen ones are missing.

    Of sparse rows, unseen columns are zero.
    """
    if isinstance(numbers, SparseRows):
        places = np.full(numbers.n_columns, -1)
        places[list(of)] = list(to)
        return numbers.moved(places, n).tidy()
    cells = np.full((len(numbers), n), np.nan)
    cells[:, to] = numbers[:, of]
    return cells


# --- Hashes of rows and categories: the same on every machine, in every engine -------------------


def distinct_rows(
    hashes: NDArray[np.uint64], codes: NDArray[np.int32]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first of each distinct pair of hash and class, in their order, and the inverse.

    >>> hashes, codes = np.array([7, 3, 7], np.uint64), np.array([1, 0, 1], np.int32)
    >>> first, inverse = distinct_rows(hashes, codes)
    >>> first.tolist(), inverse.tolist()
    ([1, 0], [1, 0, 1])
    """
    order = np.argsort(hashes, kind="stable")
    same = np.diff(hashes[order]) == 0
    if (np.diff(codes[order])[same] < 0).any():  # rare: equal cells of different classes
        order = np.lexsort((codes, hashes))
    is_first = np.ones(hashes.size, dtype=bool)
    is_first[1:] = ~(same & (np.diff(codes[order]) == 0))
    inverse = np.empty(hashes.size, np.intp)
    inverse[order] = np.cumsum(is_first) - 1
    return order[is_first], inverse


def hash_rows(rows: Rows, category_hashes: list[Hashes]) -> Hashes:
    """Return the hash of each row's cells: numbers, categories, then text; then those of counts."""
    out, codes = np.empty(len(rows), np.uint64), rows.codes
    if rows.texts is not None:  # a text is hashed as a category of which it is the only cell
        at = np.arange(len(rows), dtype=np.int32)
        cells = [np.ascontiguousarray(column) for column in rows.texts.hashes.T]
        codes = [*rows.code_columns, *(np.where(one, at, -1).astype(np.int32) for one in cells)]
        category_hashes = [*category_hashes, *cells]
    numbers = np.empty((out.size, 0)) if rows.is_sparse else rows.numbers
    _kernel.hash_rows(numbers, codes, category_hashes, out)
    if rows.is_sparse:
        _kernel.hash_sparse(rows.numbers, None, out)
    return out


def hashes_of(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash for each category: the same on every machine.

    >>> hashes_of(np.array(["a", "b"]))
    array([3405396810240292928, 8453121595177857668], dtype=uint64)

    A number is hashed by its value, whatever type holds it, and true is 1. Text is text, whatever
    it looks like.

    >>> bool(hashes_of(np.array([1])) == hashes_of(np.array([1.0])) == hashes_of(np.array([True])))
    True
    >>> len(set(hashes_of(np.array(["1", "01", "1.0", "true"])).tolist()))
    4
    """
    is_text = values.dtype.kind not in "iubf"
    contents = map(_text if is_text else _number, values.tolist())
    hashed = partial(hashlib.blake2b, digest_size=8, person=b"" if is_text else b"number")
    digests = b"".join(hashed(content).digest() for content in contents)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _text(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def _number(value: float) -> bytes:
    """Return what is hashed of a number: a double, or the digits of an integer that is none."""
    return struct.pack("<d", value + 0.0) if float(value) == value else str(value).encode()


def places_of(
    hashes: Hashes, codes: NDArray[np.int32], among: Hashes, codes_among: NDArray[np.int32]
) -> NDArray[np.intp]:
    """Return where pairs of hash and class stand among others in order; -1 if they do not.

    >>> among, codes = np.array([3, 7, 7], np.uint64), np.array([0, 0, 1], np.int32)
    >>> places_of(np.array([7, 9], np.uint64), np.array([1, 0], np.int32), among, codes).tolist()
    [2, -1]
    """
    distinct = np.unique(among)
    n_classes = max(codes.max(initial=0), codes_among.max(initial=0)) + 1
    keys = np.searchsorted(distinct, among) * n_classes + codes_among
    at = np.searchsorted(keys, np.searchsorted(distinct, hashes) * n_classes + codes)
    inside = np.minimum(at, max(among.size - 1, 0))
    found = (at < among.size) & (among.size > 0)
    if found.any():
        found &= (among[inside] == hashes) & (codes_among[inside] == codes)
    return np.where(found, at, -1)


def least(hashes: Hashes, at: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Leave out rows that are surely too many: of great hashes, where enough differ below."""
    if at.size <= 8 * size:
        return at
    bound = np.uint64(4 * size / at.size * 2.0**64)
    low = at[hashes[at] < bound]
    return low if np.unique(hashes[low]).size > size else at


def enough(hashes: Hashes, size: int) -> int:
    """Return how many rows of ascending hashes a sample needs: one more shows what is left out.

    >>> enough(np.array([1, 2, 2, 3, 4], np.uint64), 2)
    4
    """
    if hashes.size <= size:
        return hashes.size
    return int(np.searchsorted(hashes, hashes[size - 1], side="right")) + 1
