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

The cells of sampled rows: an array, or sparse rows where numbers are counts.

The rows of a sample in a file, and what they must satisfy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from naively.data.axes import Axes, Move
from naively.data.rows import Block
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.tensors import Tensors, UnsoundError
from naively.data.text.rows import TextRows, joined_texts
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.statistics.hashes import (
    cells_of,
    distinct_rows,
    enough,
    hash_rows,
    hashes_of,
    least,
    places_of,
)
from naively.statistics.statistic import ColumnMove, Statistic
from naively.statistics.weights import remaining

ROWS = ("hashes", "weight", "codes", "numbers", "categories")  # what a sample holds of each row
_FLAGS = ("drawn", "untyped")
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
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
        """Whether the schema asks for rows."""
        return bool(schema.sample)

    @classmethod
    def shape(cls, schema: Schema, axes: Axes) -> tuple[int, ...]:
        """Return how many rows are kept, the numbers of columns, and the sizes of vocabularies."""
        sizes = [words.size for words in axes.words]
        is_sparse = int(schema.counted is not None)
        return schema.sample, len(schema.numbers), len(schema.categories), is_sparse, *sizes

    @classmethod
    def measure(cls, block: Block) -> Sample:
        """Return the rows of least hash, each with the weight of all that are equal to it."""
        size, bound, weights = block.schema.sample, block.bound, block.weights
        found, is_sparse = np.empty(block.classes.size, np.uint64), bool(block.schema.counted)
        numbers = sparse_or_dense(block.numbers, is_sparse)
        hash_rows(numbers, block.codes, block.category_hashes, block.texts, found)
        at = np.arange(found.size) if weights is None else np.flatnonzero(weights)
        at = least(found, at, size) if bound == EVERYTHING else at[found[at] < bound]
        if not at.size:
            nothing = cls.zero(*cls.shape(block.schema, block.axes))
            return replace(nothing, bound=bound, untyped=block.untyped)
        first, inverse = distinct_rows(found[at], block.classes[at])
        weight = np.bincount(inverse, None if weights is None else weights[at], first.size)
        kept = at[first] if block.untyped else at[first[: enough(found[at[first]], size)]]
        sample = cls(
            size,
            bound,
            found[kept],
            weight[: kept.size].astype(np.float64),
            block.classes[kept],
            numbers_of(numbers, kept),
            cells_of(block.codes, kept, np.int32),
            untyped=block.untyped,
            texts=None if block.texts is None else block.texts[kept].compact(),
        )
        return sample.least(size)

    @classmethod
    def zero(cls, *shape: int) -> Sample:
        """No rows."""
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
        rows: Any = {name: joined([getattr(one, name) for one in parts]) for name in ROWS}
        rows["texts"] = joined_texts(*(one.texts for one in parts))
        state: Any = {name: any(getattr(one, name) for one in parts) for name in _FLAGS}
        found = replace(parts[0], bound=min(one.bound for one in parts), **state, **rows)
        return found.merged().least(found.size)

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
        pairs = {name: (getattr(self, name), getattr(row, name)) for name in ROWS}
        rows: Any = {  # in a fifth of the time of `numpy.insert`
            name: joined([mine[:at], its, mine[at:]]) for name, (mine, its) in pairs.items()
        }
        if self.texts is not None and row.texts is not None:
            rows["texts"] = joined_texts(self.texts[:at], row.texts, self.texts[at:])
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

    __rmul__ = __mul__

    def __getitem__(self, at: Any) -> Sample:
        """Take some of the rows."""
        rows: Any = {name: getattr(self, name)[at] for name in ROWS}
        rows["texts"] = None if self.texts is None else self.texts[at]
        return replace(self, **rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sample):
            return False
        pairs = [(getattr(self, name), getattr(other, name)) for name in ROWS]
        return (
            (self.size, self.bound) == (other.size, other.bound)
            and (self.drawn, self.untyped) == (other.drawn, other.untyped)
            and all(are_same(mine, its) for mine, its in pairs)
            and self.texts == other.texts
        )

    __hash__ = None  # type: ignore[assignment]

    def moved(self, move: Move) -> Sample:
        """Return the same rows with the codes of other places, without those of classes gone."""
        if move.is_still or not len(self):
            return self
        rows, categories, codes = self, self.categories, self.codes
        if move.classes is not None:
            if (gone := move.classes[codes] < 0).any():
                rows = self[~gone]
                categories, codes = rows.categories, rows.codes
            codes = move.classes[codes].astype(np.int32)
        if move.vocabularies is not None:
            categories = categories.copy()
            for j, places in enumerate(move.vocabularies):
                present = categories[:, j] >= 0
                categories[present, j] = places[categories[present, j]]
        texts = None if rows.texts is None else rows.texts.moved(move)
        same = replace(rows, codes=codes, categories=categories, texts=texts)
        if len(same) < 2 or move.classes is None:
            return same
        ordered = (np.diff(move.classes[move.classes >= 0]) > 0).all()
        return same if ordered else same.merged()

    def with_columns(self, move: ColumnMove) -> Sample:
        """Return the same rows, rehashed, with other columns; unseen cells are missing."""
        numbers = chosen_columns(self.numbers, *move.numbers(), len(move.after.numbers))
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
        """Return the weight of the rows of each class."""
        weight = np.bincount(self.codes, self.weight, axes.classes.size)
        return weight.astype(np.float64, copy=False)[:, np.newaxis]

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the rows, and what is known of all of them."""
        state = np.array([self.bound, self.drawn, self.untyped, True], np.uint64)
        found = {"sample.state": state} | tensors_of("sample.numbers", self.numbers)
        found |= {f"sample.{name}": getattr(self, name) for name in ROWS if name != "numbers"}
        return found if self.texts is None else found | self.texts.tensors("sample.texts")

    @classmethod
    def from_tensors(cls, tensors: Tensors, schema: Schema, axes: Axes) -> Sample:
        """Return the rows, having checked them. Earlier files have hashes of labels, too."""
        n, shape = tensors.length("sample.hashes"), cls.shape(schema, axes)
        bound, *flags = tensors.take("sample.state", np.uint64, (4,)).tolist()
        if max(flags) > 1:
            raise UnsoundError(f"its sample has the flags {flags}")
        rows = read_rows(tensors, n, *shape[1:])
        found = cls(schema.sample, bound, **rows, drawn=bool(flags[0]), untyped=bool(flags[1]))
        check_sample(found, axes)
        return found if flags[2] else found.rehashed(axes.vocabularies)

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
        hashes = np.empty(len(self), np.uint64)
        known = [*map(hashes_of, categories)]
        hash_rows(self.numbers, self.categories, known, self.texts, hashes)
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


def sparse_or_dense(numbers: Any, is_sparse: bool) -> Any:
    """Return cells as sparse rows where numbers are counts, otherwise as array or columns."""
    if isinstance(numbers, SparseRows):
        return numbers if is_sparse else numbers.dense()
    if not is_sparse:
        return numbers
    return SparseRows.of_dense(np.column_stack(numbers) if isinstance(numbers, list) else numbers)


def numbers_of(numbers: Any, rows: NDArray[np.intp]) -> Any:
    """Return the numbers of some rows."""
    if isinstance(numbers, SparseRows):
        return numbers.take(rows).tidy()
    return cells_of(numbers, rows, np.float64) + 0.0  # -0.0 becomes 0.0: the same cell


def joined(parts: Sequence[Any]) -> Any:
    """Return the rows of several, one after the other."""
    return SparseRows.joined(parts) if isinstance(parts[0], SparseRows) else np.concatenate(parts)


def are_same(a: Any, b: Any) -> bool:
    """Whether all cells are the same."""
    if isinstance(a, SparseRows) or isinstance(b, SparseRows):
        return bool(a == b)
    return np.array_equal(a, b, equal_nan=True)


def chosen_columns(numbers: Any, to: Sequence[int], of: Sequence[int], n: int) -> Any:
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


def tensors_of(name: str, rows: Any) -> dict[str, NDArray[Any]]:
    """Return rows as tensors that a file can hold."""
    if not isinstance(rows, SparseRows):
        return {name: rows}
    return {
        f"{name}.starts": (rows.starts - rows.starts[0]).astype(np.uint64),
        f"{name}.places": rows.places[rows.cells].astype(np.uint64),
        f"{name}.values": rows.values[rows.cells].astype(np.float64),
    }


def numbers_from(tensors: Tensors, shape: tuple[int, int], is_sparse: bool) -> Any:
    """Return the numbers of a sample, having checked where they stand."""
    if not is_sparse:
        return tensors.take("sample.numbers", np.float64, shape)
    n_cells = tensors.length("sample.numbers.values")
    starts = tensors.take("sample.numbers.starts", np.uint64, (shape[0] + 1,))
    places = tensors.take("sample.numbers.places", np.uint64, (n_cells,))
    values = tensors.take("sample.numbers.values", np.float64, (n_cells,))
    sound = starts[0] == 0 and int(starts[-1]) == n_cells and (starts[1:] >= starts[:-1]).all()
    if not sound or (n_cells and int(places.max()) >= shape[1]):
        raise UnsoundError("its sample holds cells of no row or no column")
    rows = SparseRows(starts.astype(np.int64), places.astype(np.int64), values, shape[1])
    if rows.tidy() != rows:
        raise UnsoundError("the cells of its sample must be in order, none of them twice")
    return rows


# --- The rows of a sample in a file, and what they must satisfy ---------------------------------


def read_rows(
    tensors: Tensors, n_rows: int, n_numbers: int, n_categories: int, is_sparse: int, *sizes: int
) -> dict[str, Any]:
    """Return the rows of a sample, with the sizes of the vocabularies of text."""
    return {
        "hashes": tensors.take("sample.hashes", np.uint64, (n_rows,)),
        "weight": tensors.weights("sample.weight", (n_rows,)),
        "codes": tensors.take("sample.codes", np.int32, (n_rows,)),
        "numbers": numbers_from(tensors, (n_rows, n_numbers), bool(is_sparse)),
        "categories": tensors.take("sample.categories", np.int32, (n_rows, n_categories)),
        "texts": TextRows.from_tensors(tensors, "sample.texts", n_rows, sizes) if sizes else None,
    }


def check_sample(sample: Sample, axes: Axes) -> None:
    """Raise where rows are too many, without weight, equal, not in order, or of no class."""
    sizes = np.array([column.size for column in axes.vocabularies], dtype=np.int64)
    codes, cells, hashes = sample.codes, sample.categories, sample.hashes
    outside = (codes < 0) | (codes >= axes.classes.size)
    if outside.any() or ((cells < -1) | (cells >= sizes)).any():
        raise UnsoundError("its sample holds codes of no class or no category")
    numbers = getattr(sample.numbers, "values", sample.numbers)
    if np.isinf(numbers).any() or (len(sample) and int(hashes[-1]) >= sample.bound):
        raise UnsoundError("its sample holds infinity, or a hash beyond its bound")
    same = hashes[1:] == hashes[:-1]
    order = (hashes[1:] > hashes[:-1]) | (same & (codes[1:] > codes[:-1]))
    few = len(sample.least(sample.size)) == len(sample)
    if not (few and order.all() and (sample.weight > 0).all()):
        raise UnsoundError("its sample must be few rows of weight, by ascending hashes")
