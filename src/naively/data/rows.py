"""Rows, the one table below the engines: numbers, codes and words; and their classes."""

from __future__ import annotations

import reprlib
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import are_booleans, is_text, positions
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.tensors import Tensors, UnsoundError
from naively.data.tokens import Words
from naively.errors import NaivelyError

BOOLEANS = {  # what stands for a boolean in text; 1.0 is how a float is written
    True: ("True", "true", "TRUE", "1", "1.0"),
    False: ("False", "false", "FALSE", "0", "0.0"),
}
_FLAGS: dict[Any, bool] = {  # as numbers, 1 and 1.0 are one key
    spelling: flag for flag, spellings in BOOLEANS.items() for spelling in (*spellings, int(flag))
}


_WORD_CELLS = (np.int64, np.int32, np.uint32)  # types of starts, places and counts


@dataclass(frozen=True, eq=False)
class TextRows:
    """Cells of columns of text.

    Attributes
    ----------
    hashes : ndarray of uint64 of shape (n_rows, n_columns)
        Of the text of each cell; 0 where it is missing.
    columns : tuple of SparseRows
        For each column, how often each of its words occurs in each row.
    """

    hashes: NDArray[np.uint64]
    columns: tuple[SparseRows, ...]

    @classmethod
    def empty(cls, n_rows: int, sizes: Sequence[int]) -> TextRows:
        """Return missing cells, of columns of so many words."""
        columns = tuple(SparseRows.empty(size, n_rows) for size in sizes)
        return cls(np.zeros((n_rows, len(sizes)), np.uint64), columns)

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, at: Any) -> TextRows:
        """Return some rows: a slice of them shares their memory."""
        return TextRows(self.hashes[at], tuple(column[at] for column in self.columns))

    @staticmethod
    def joined(parts: Sequence[TextRows]) -> TextRows:
        """Return the rows of several, one after the other, under the words of the first."""
        columns = zip(*(part.columns for part in parts), strict=True)
        hashes = np.concatenate([part.hashes for part in parts])
        return TextRows(hashes, tuple(SparseRows.joined(column) for column in columns))

    def placed(self, places: Sequence[NDArray[Any]], sizes: Sequence[int]) -> TextRows:
        """Return the same with words in other places; -1 where one is gone."""
        triples = zip(self.columns, places, sizes, strict=True)
        columns = tuple(column.moved(at, size) for column, at, size in triples)
        return TextRows(self.hashes, columns)

    def with_columns(self, to: Sequence[int], of: Sequence[int], sizes: Sequence[int]) -> TextRows:
        """Return some of the columns in other places; cells of the others are missing."""
        other = TextRows.empty(len(self), sizes)
        columns = list(other.columns)
        for i, j in zip(to, of, strict=True):
            columns[i] = self.columns[j]
            other.hashes[:, i] = self.hashes[:, j]
        return TextRows(other.hashes, tuple(columns))

    def compact(self) -> TextRows:
        """Return the same in memory of its own, without what other rows need."""
        columns = (column.compact(*_WORD_CELLS) for column in self.columns)
        return TextRows(self.hashes, tuple(columns))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TextRows)
            and np.array_equal(self.hashes, other.hashes)
            and self.columns == other.columns
        )

    def tensors(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the whole content as arrays, by names that begin with this one."""
        arrays: dict[str, NDArray[Any]] = {f"{name}.hashes": self.hashes}
        for i, column in enumerate(self.compact().columns):
            arrays |= column.tensors(f"{name}.{i}")
        return arrays

    @classmethod
    def from_tensors(
        cls, tensors: Tensors, name: str, n_rows: int, sizes: Sequence[int]
    ) -> TextRows:
        """Return what `tensors` was told of, having checked every number."""
        hashes = tensors.take(f"{name}.hashes", np.uint64, (n_rows, len(sizes)))
        columns = tuple(
            SparseRows.from_tensors(tensors, f"{name}.{i}", (n_rows, size), *_WORD_CELLS)
            for i, size in enumerate(sizes)
        )
        if not all(column.values.all() for column in columns):
            raise UnsoundError(f"{name} must hold words that occur")
        return cls(hashes, columns)


@dataclass(frozen=True, eq=False)
class Rows:
    """The one table below the engines: columns of numbers, of codes and of text; also of one row.

    Numbers are an array, columns where they lie (arrays, or what becomes one when it is sliced), or
    `SparseRows`; NaN is missing. Codes are an array or columns; a negative one is missing. A slice
    of rows holds what the kernel reads: arrays, lists of arrays, and `SparseRows`.

    >>> codes, towns = np.array([0, -1]), np.array(["Ulm"])
    >>> rows = Rows.of_columns((2, 2), [np.array([1.0, 2.0])], [(codes, towns)])
    >>> rows[1:].array(), rows[1:].code_columns
    (array([[2.]]), [array([-1])])
    """

    shape: tuple[int, int]  # rows and columns, of all kinds
    numbers: Any
    codes: Any
    # the categories of each column of codes, in the order of the codes; none: codes themselves
    categories: tuple[NDArray[Any], ...] = ()
    texts: TextRows | None = None  # columns of text; None where there are none
    words: tuple[Words, ...] = ()  # the words of each of them

    @classmethod
    def of_numbers(cls, numbers: Any) -> Rows:
        """Return a table of numbers alone."""
        return cls(numbers.shape, numbers, [])

    @classmethod
    def of_columns(
        cls,
        shape: tuple[int, int],
        numbers: Any,
        encoded: Sequence[tuple[NDArray[Any], NDArray[Any]]],
        texts: TextRows | None = None,
        words: tuple[Words, ...] = (),
    ) -> Rows:
        """Return a table of columns of numbers, of codes with their categories, and of text."""
        categories = tuple(categories for _, categories in encoded)
        return cls(shape, numbers, [codes for codes, _ in encoded], categories, texts, words)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def is_sparse(self) -> bool:
        """Whether only cells that are not zero are held of the numbers."""
        return isinstance(self.numbers, SparseRows)

    @property
    def has_sparse(self) -> bool:
        """Whether there are sparse numbers or words, which are counted all at once."""
        return self.is_sparse or self.texts is not None

    @property
    def cells_per_row(self) -> int:
        """How many cells a row has: of sparse rows, how many are held of one on average."""
        n_rows, n_words = max(1, self.shape[0]), 0
        if self.texts is not None:
            n_words = sum(column.n_cells for column in self.texts.columns) // n_rows
        if not isinstance(self.numbers, SparseRows):
            return self.shape[1] + n_words
        return len(self.categories) + self.numbers.n_cells // n_rows + n_words

    @property
    def code_columns(self) -> list[NDArray[Any]]:
        """The columns of codes, one array each."""
        return list(self.codes if isinstance(self.codes, list) else self.codes.T)

    def code_array(self) -> NDArray[np.int32]:
        """Return the codes as one array."""
        columns = self.code_columns
        codes = np.stack(columns, axis=1) if columns else np.empty((len(self), 0))
        return codes.astype(np.int32)

    def array(self) -> NDArray[np.float64]:
        """Return the numbers as one array of float64, which may be what holds them."""
        if isinstance(self.numbers, SparseRows):
            return self.numbers.dense()
        cells = _chosen(self.numbers, slice(None), self.shape[0])
        cells = np.column_stack(cells) if isinstance(cells, list) else cells
        return np.asarray(cells, dtype=np.float64)

    def sparse(self) -> SparseRows:
        """Return the numbers as sparse rows, which may be what holds them."""
        numbers = self.numbers
        return numbers if isinstance(numbers, SparseRows) else SparseRows.of_dense(self.array())

    def dense(self) -> Rows:
        """Return the same, with all cells of the numbers."""
        return replace(self, numbers=self.array()) if self.is_sparse else self

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> Rows:
        """Return some rows; a slice shares their memory, where it need not be converted."""
        n_rows, n_columns = self.shape
        count = len(range(*rows.indices(n_rows))) if isinstance(rows, slice) else rows.size
        return Rows(
            (count, n_columns),
            _chosen(self.numbers, rows, count),
            _chosen(self.codes, rows, count),
            self.categories,
            None if self.texts is None else self.texts[rows],
            self.words,
        )

    def columns(self, schema: Schema, chosen: Container[int]) -> Rows:
        """Return some columns, by their places in the schema of all, in ascending order."""
        numbers, codes, texts = (
            [i for i, j in enumerate(places) if j in chosen]
            for places in (schema.numbers, schema.categories, schema.texts)
        )
        words = None
        if self.texts is not None and texts:
            cells = tuple(self.texts.columns[i] for i in texts)
            words = TextRows(self.texts.hashes[:, texts], cells)
        return Rows(
            (self.shape[0], len(numbers) + len(codes) + len(texts)),
            _columns(self.numbers, numbers),
            _columns(self.codes, codes),
            tuple(self.categories[i] for i in codes) if self.categories else (),
            words,
            tuple(self.words[i] for i in texts) if self.words else (),
        )

    def known(
        self, categories: Sequence[NDArray[Any]], schema: Schema, words: tuple[Words, ...] = ()
    ) -> Rows:
        """Return rows with codes of other categories: one more than they are if unknown.

        And with the places of other words, without those that are unknown. Codes without
        categories are the categories themselves; those from the last on are unknown.
        """
        rows = self
        if rows.texts is not None and rows.words != words:
            pairs: Any = zip(rows.words, words, strict=True)
            places = [own.positions(its) for own, its in pairs]
            texts = rows.texts.placed(places, [its.size for its in words])
            rows = replace(rows, texts=texts, words=words)
        if rows.categories is categories or all(map(np.array_equal, rows.categories, categories)):
            return rows
        names = map(schema.name, schema.categories)
        codes = [*map(recode, rows.code_columns, rows.categories, categories, names)]
        return replace(rows, codes=codes, categories=tuple(categories))


def _chosen(cells: Any, rows: slice | NDArray[np.intp], n_rows: int) -> Any:
    """Return some rows of numbers or codes; a list of no columns would not say how many."""
    if isinstance(cells, list):
        found = [column[rows] if type(rows) is slice else column[:][rows] for column in cells]
        return found or np.empty((n_rows, 0), np.int32)
    return cells[rows] if type(rows) is slice else cells[:][rows]


def _columns(cells: Any, at: list[int]) -> Any:
    if isinstance(cells, SparseRows):
        places = np.full(cells.n_columns, -1, np.intp)
        places[at] = np.arange(len(at))
        return cells.moved(places, len(at))
    if isinstance(cells, list):
        return [cells[i] for i in at]
    return cells if len(at) == cells.shape[1] else cells[:, at]


class Targets(NamedTuple):
    """Whose the rows are: the classes, the code of each row's class, and the rows' weights."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None


# --- Codes among other categories ---------------------------------------------------------------


def recode(
    codes: NDArray[Any], categories: NDArray[Any], known: NDArray[Any], name: str = "a column"
) -> NDArray[np.int32]:
    """Return codes among other, sorted categories; one more than they are for those unknown.

    >>> recode(np.array([0, 1, -1]), np.array(["b", "x"]), np.array(["a", "b"]))
    array([ 1,  2, -1], dtype=int32)

    Where booleans are known, 1 and 0 are booleans, and so are the texts that a CSV has for them.

    >>> recode(np.array([0, 1, -1]), np.array(["true", "0"]), np.array([False, True]))
    array([ 1,  0, -1], dtype=int32)
    """
    if are_booleans(known):
        categories = _flags(codes, categories, name)
    places = np.full(categories.size + 1, known.size, dtype=np.int32)
    if known.size and categories.size:
        if is_text(categories) != is_text(known):
            _raise_other(codes, categories, known, name)
        else:
            at = np.minimum(positions(categories, known), known.size - 1)
            places[:-1] = np.where(known[at] == categories, at, known.size)
    places[-1] = -1  # where codes of missing cells point
    return places[codes]


def _raise_other(
    codes: NDArray[Any], categories: NDArray[Any], known: NDArray[Any], name: str
) -> None:
    """Raise where a cell is text and categories are numbers, or the reverse: it is a mistake."""
    present = codes >= 0
    if not present.any():
        return
    got = categories.tolist()[codes[np.argmax(present)]]
    held, mind = "numbers", ""
    if is_text(known):
        held, mind = "text", "; mind that a number has lost the zeros in front of it"
    raise NaivelyError(
        f"{name} must hold {held}, as it did when the model was fitted; got {reprlib.repr(got)}. "
        f"Convert it{mind}."
    )


def _flags(codes: NDArray[Any], categories: NDArray[Any], name: str) -> NDArray[Any]:
    """Return categories as booleans; those that are none may have no cell."""
    if are_booleans(categories):
        return categories
    flags = [_FLAGS.get(category) for category in categories.tolist()]
    odd = [i for i, flag in enumerate(flags) if flag is None]
    if odd and np.isin(codes, odd).any():
        got = categories.item(next(i for i in odd if (codes == i).any()))
        raise NaivelyError(
            f"{name} must hold true or false, as it did when the model was fitted; "
            f"got {reprlib.repr(got)}. Give booleans, the numbers 1 and 0, or the texts true and "
            "false."
        )
    return np.array([bool(flag) for flag in flags], dtype=bool)
