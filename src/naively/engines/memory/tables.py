"""Tables of numbers, categories and text, column by column, as the kernel reads them.

A column's type says what it holds, by the rule of `naively.data.kinds`.

>>> import pandas
>>> schema_of(pandas.DataFrame({"age": [30, 40], "town": ["Ulm", None]})).kinds
('number', 'category')

Categories become codes; missing cells have the code -1. What a category is called is kept as text,
as a number or as a boolean, so that it means the same in every batch, file and engine.

>>> encode(np.array(["red", None, "blue"], dtype=object), "column 'colour'")
(array([ 0, -1,  1], dtype=int32), array(['red', 'blue'], dtype='<U4'))

Dates become their parts.

>>> days = np.array(["2024-02-29"], "M8[D]")
>>> names, columns = expanded(["x", "day"], [[1.0], days], {"day": False})
>>> names, columns[1].numbers(), columns[2].codes()[0]
(('x', 'day.year', 'day.month', 'day.weekday'), array([2024.]), array([1], dtype=int32))

Columns of text become rows of words.

>>> from naively.data.schema import Schema
>>> rows, (words,) = read_texts([["win a prize", None]], Schema(1, kinds=("text",)))
>>> words.tolist(), rows.columns[0].dense().tolist()
(['prize', 'win'], [[1.0, 1.0], [0.0, 0.0]])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.dates import PARTS, Dates, part_codes, part_names, part_numbers, read_objects
from naively.data.kinds import (
    CATEGORY,
    LOOKED_AT,
    NUMBER,
    TEXT,
    Held,
    Kind,
    held_by_dtype,
    is_interval,
)
from naively.data.labels import are_booleans, is_hashable, is_missing, number_array, text_array
from naively.data.plan import Source, check_distinct, held_by_part, plan
from naively.data.rows import Rows, TextRows, recode
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.texts import Texts, texts_of
from naively.data.tokens import UNICODE, Words, no_words, tokenize
from naively.engines.memory import arrays, frames
from naively.engines.memory.frames import cells_of, is_column, is_frame, library_of, names_of
from naively.errors import NaivelyError
from naively.statistics.hashed_texts import HashedTexts

_FLAGS = np.array([False, True])


def flagged(rows: Rows, columns: Set[int], schema: Schema) -> Rows:
    """Return rows with booleans in some columns, where they were texts or numbers."""
    if not columns:
        return rows
    codes, categories = rows.code_columns, list(rows.categories)
    for i, j in enumerate(schema.categories):
        if j in columns and categories[i].size and not are_booleans(categories[i]):
            codes[i] = recode(codes[i], categories[i], _FLAGS, schema.name(j))
            categories[i] = _FLAGS
    return replace(rows, codes=codes, categories=tuple(categories))


def schema_of(
    X: Any,
    agreed: Schema | None = None,
    given: Mapping[Any, Kind] | None = None,
    *,
    names: tuple[str, ...] | None = None,
) -> Schema:
    """Return what a table's columns hold: as agreed or given, and otherwise by their types.

    A single column of text is a table of text. Names may be given for the columns of an array.
    """
    if isinstance(X, SparseRows):
        if not (agreed or given):
            return Schema(X.n_columns)
        X = X.dense_as_held()
    if agreed is None:
        if (column := text_column(X, None)) is not None:
            X, given = column, {only_name(column): TEXT} | dict(given or {})
        return plan(_source(names or names_of(X), _columns(X)), given=given)
    if not agreed.undecided:
        return agreed
    return plan(_source(agreed.names, columns_of(X, agreed)), agreed, given=given)


def _source(names: tuple[str, ...] | None, columns: list[Any]) -> Source:
    """Return what `plan` asks of a table in memory."""
    names_or_places = names or range(len(columns))
    named = dict(zip(names_or_places, columns, strict=True))

    def held(name: Any) -> Held:
        column = named[name]
        return column.held if isinstance(column, DatePart) else frames.held_by(column)

    return Source(names_or_places, held, lambda n: frames.first_cells(named[n], LOOKED_AT))


def read(
    X: Any, schema: Schema, words: tuple[Words, ...] | None = None, n_jobs: int | None = None
) -> Rows:
    """Make a table readable under a schema: by name, or by place where there are no names.

    Where the words of a model are given, for each column of text, others are left out.
    """
    if isinstance(X, SparseRows):
        if not (schema.categories or schema.texts or schema.undecided):
            return Rows.of_numbers(X)
        X = X.dense_as_held()
    X = arrays.unmasked(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2 and not schema.dates:
        return _read_array(X, schema)
    columns = columns_of(X, schema)
    n_rows = len(columns[0]) if columns else len(X)
    numbers = [number_column(columns[j], schema.name(j)) for j in schema.numbers]
    encoded = [encode(columns[j], schema.name(j)) for j in schema.categories]
    texts = read_texts([columns[j] for j in schema.texts], schema, words, n_jobs)
    return Rows.of_columns((n_rows, schema.n_columns), numbers, encoded, *texts)


def number_column(column: Any, name: str) -> Any:
    """Return a column of numbers as an array, or as what converts rows of it later."""
    is_part = isinstance(column, DatePart)
    return column.numbers() if is_part else frames.number_column(column, name)


def _read_array(X: NDArray[Any], schema: Schema) -> Rows:
    if X.shape[1] != schema.n_columns:
        raise NaivelyError(f"there must be {schema.n_columns} columns; got {X.shape[1]}.")
    if not (schema.categories or schema.texts or schema.undecided):
        return Rows.of_numbers(arrays.table(X))
    numbers = arrays.table(X[:, schema.numbers])
    encoded = [encode(X[:, j], schema.name(j)) for j in schema.categories]
    texts = read_texts([X[:, j] for j in schema.texts], schema)
    return Rows.of_columns(X.shape, numbers, encoded, *texts)


def columns_of(X: Any, schema: Schema) -> list[Any]:
    """Return the columns of a schema, by name, or by place where there are no names."""
    column = text_column(X, schema)
    X = X if column is None else column
    columns = _columns(X)
    names = None if schema.names is None else names_of(X)
    if schema.dates:
        names, columns = _parts_known(names, columns, schema)
    if names is not None and schema.names is not None and names != schema.names:
        places = {name: j for j, name in enumerate(names)}
        columns = [columns[_place(name, places, schema)] for name in schema.names]
    if len(columns) != schema.n_columns:
        raise NaivelyError(f"there must be {schema.n_columns} columns; got {len(columns)}.")
    return columns


def _parts_known(
    names: tuple[str, ...] | None, columns: list[Any], schema: Schema
) -> tuple[tuple[str, ...] | None, list[Any]]:
    """Replace dates by their parts, but for parts that the table has as columns of their own."""
    labels = names or schema.inputs or ()
    if len(labels) != len(columns):  # without names: perhaps all parts, one by one
        return names, columns
    own = dict(zip(labels, columns, strict=True))
    dates = {name: own[name] for name in schema.dates if name in own}
    parts = zip(*expanded([*dates], [*dates.values()], dict.fromkeys(dates, True)), strict=True)
    found = {**dict(parts), **own}
    return tuple(found), [*found.values()]


def _place(name: str, places: Mapping[str, int], schema: Schema) -> int:
    if name not in places:
        raise NaivelyError(
            f"the table has no column {schema.input(name)!r}, which the model was fitted on. "
            "Add it; a column of missing cells will do."
        )
    return places[name]


def text_column(X: Any, known: Schema | None) -> Any:
    """Return a single column of text as a table; None where X is none.

    A column of pandas or polars keeps its name, unless the model has another one. A model of a
    single column of text takes columns in which all cells are missing too; for a model of several
    columns, what has one dimension is a row.
    """
    arrays.check_no_file(X)
    if getattr(X, "ndim", 1) != 1 or (known is not None and known.n_columns != 1):
        return None
    wanted = {"text"} if known is None or known.held != (TEXT,) else {"text", "nothing"}
    if isinstance(X, np.ndarray | list | tuple):
        cells = np.asarray(arrays.unmasked(X), dtype=object) if _held_by_list(X) in wanted else None
        return None if cells is None or cells.ndim != 1 else cells[:, np.newaxis]
    if not is_column(X) or frames.held_by(X).what not in wanted:
        return None
    names = None if known is None else known.names
    name = getattr(X, "name", None) if names is None else names[0]
    if hasattr(X, "to_frame") and isinstance(name, str) and name:
        return X.to_frame(name)
    return np.array(frames.cells_of(X), dtype=object)[:, np.newaxis]


def _held_by_list(X: Any) -> str:
    """Return what a list or an array of one dimension holds, by its first present cell."""
    if isinstance(X, np.ndarray) and (X.ndim != 1 or X.dtype.kind not in "OUT"):
        return "other"
    for cell in X:
        if not is_missing(cell):
            return "text" if isinstance(cell, str) else "other"
    return "nothing" if len(X) else "other"


def only_name(X: Any) -> Any:
    """Return the name of a table's only column, or its place."""
    return (names_of(X) or (0,))[0]


def _columns(X: Any) -> list[Any]:
    if not isinstance(X, np.ndarray | list | tuple) and is_frame(X):
        return frames.columns_of(X)
    X = _array(X)
    if X.ndim != 2:
        raise arrays.shape_error(X)
    return list(X.T)


def _array(X: Any) -> NDArray[Any]:
    """Return an array in which numbers beside text stay numbers."""
    arrays.check_dense(X)
    X = arrays.unmasked(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise NaivelyError(f"rows of X must be equally long; {error}") from None
    if array.ndim and not isinstance(X, np.ndarray) and arrays.holds_more(X):
        array = np.asarray(X, dtype=object)
    return array


# --- Columns of text become rows of words -------------------------------------------------------


Counting = Literal["rows", "elsewhere", "none"]


def read_texts(
    columns: Sequence[Any],
    schema: Schema,
    known: Sequence[Words] | None = None,
    n_jobs: int | None = None,
    *,
    counting: Counting = "rows",
) -> tuple[TextRows | None, tuple[Words, ...]]:
    """Return the words of the columns of text, and the vocabularies that number them.

    Parameters
    ----------
    columns : sequence
        The columns of text: lists, arrays, or columns of pandas, polars or pyarrow.
    schema : Schema
        How they become words, and their names for messages.
    known : sequence of Words, optional
        The vocabularies of a model: other words are left out. Rows of which words are gathered
        have a hash of each text, for samples.
    n_jobs : int, optional
        Threads; None for all cores where there is enough to do.
    counting : {"rows", "elsewhere", "none"}, default="rows"
        Whether each row's words are counted; or by `HashedCounts`, which are of hashed words; or
        not at all, so that texts have hashes alone.
    """
    if not schema.texts:
        return None, ()
    if counting != "rows":
        found = [texts_of(columns[i], schema.name(j)) for i, j in enumerate(schema.texts)]
        places = tuple(map(no_words, schema.options))
        hashed = HashedTexts.of(found, schema)
        if counting == "elsewhere":
            return hashed, places
        none = TextRows.empty(len(hashed), [one.size for one in places])
        return TextRows(hashed.hashes, none.columns), places
    encoded, hashes = [], []
    for i, (j, options) in enumerate(zip(schema.texts, schema.options, strict=True)):
        if known is None and options.unicode != UNICODE:
            raise NaivelyError(
                f"{schema.name(j)} was measured by Unicode {options.unicode}, and this Python has "
                f"{UNICODE}: what each counts as a word may differ, so their counts cannot be "
                "added. Use a Python of that version, or fit again."
            )
        texts = texts_of(columns[i], schema.name(j))
        words = None if known is None else known[i]
        encoded.append(tokenize(texts, options, words, n_jobs, name=schema.name(j)))
        hashes.append(_hashes(texts, needed=known is None))
    rows = TextRows(np.stack(hashes, axis=1), tuple(one.rows for one in encoded))
    return rows, tuple(one.words for one in encoded)


def _hashes(texts: Texts, *, needed: bool) -> NDArray[np.uint64]:
    found = np.zeros(texts.lengths.size, np.uint64)
    if needed:
        _kernel.hash_texts(np.ascontiguousarray(texts.addresses), texts.lengths, found)
    return found


# --- Categories become codes: text, booleans and numbers, without a loop over rows ---------------


Encoded = tuple[NDArray[Any], NDArray[Any]]  # codes, categories
_NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)


def encode(column: Any, name: str) -> Encoded:
    """Return a code for each cell, and the categories in the order of their codes.

    The column is an array, one of pandas, polars or pyarrow, or a part of dates; it holds text,
    booleans, numbers or a frame's own categories. Messages call it by the name: ``column 'town'``.
    """
    if isinstance(column, DatePart):
        return column.codes()
    if not isinstance(column, np.ndarray):
        return _of_native(column, name)
    if column.dtype.kind not in "OT":
        CATEGORY.check(held_by_dtype(column.dtype) or Held("nothing", ""), name)
    if are_booleans(column):
        return column.view(np.int8), np.array([False, True])
    if column.dtype.kind in "iuf":
        return _of_numbers(column)
    if column.dtype.kind == "U":
        categories, codes = np.unique(column, return_inverse=True)
        return codes.astype(np.int32), categories
    return _of_objects(column.tolist(), name)


def _of_native(native: Any, name: str) -> Encoded:
    """Encode a column of a data frame."""
    library = library_of(native)
    cells = library.objects(native)
    encoded = None if cells is None else _of_text(cells)
    if encoded is not None:
        return encoded
    held = library.held(native)
    CATEGORY.check(held, name)
    if held.what == "nothing":
        return np.full(len(native), -1, np.int32), np.empty(0, dtype=str)
    if cells is not None:
        return _of_objects(cells, name)
    if held.what == "boolean" and not held.coded:
        flags = library.numbers(native)
        return np.where(flags == flags, flags, -1).astype(np.int8), np.array([False, True])
    codes, values = library.distinct(native)
    return _plain(codes, values, name)


def _of_numbers(column: NDArray[Any]) -> Encoded:
    if column.dtype.char == "g" or not column.dtype.isnative:
        with np.errstate(over="ignore"):
            column = column.astype(
                np.float64 if column.dtype.kind == "f" else f"={column.dtype.str[1:]}"
            )
    present = column == column
    categories, codes = np.unique(column[present], return_inverse=True)
    every = np.full(column.size, -1, dtype=np.int32)
    every[present] = codes
    return every, categories


def _of_text(values: list[Any]) -> Encoded | None:
    """Encode Python's objects that are text or missing; None where there is no text, or more."""
    codes = np.empty(len(values), dtype=np.int32)
    first = _kernel.encode_text(values, codes)
    return (codes, text_array([values[i] for i in first])) if first else None


def _of_objects(values: list[Any], name: str) -> Encoded:
    encoded = _of_text(values)
    if encoded is not None:
        return encoded
    _check_unmixed(values, name)
    try:
        distinct = dict.fromkeys(values)
    except TypeError:  # a list, say; or a signalling NaN of decimal's, which is a missing cell
        values = [None if is_missing(value) else value for value in values]
        odd = [value for value in values if not is_hashable(value)]
        if odd:
            raise NaivelyError(
                f"{name} must hold text, numbers or booleans; got objects such as {odd[0]!r}. "
                "Convert it or leave it out."
            ) from None
        distinct = dict.fromkeys(values)
    code_of = {value: code for code, value in enumerate(distinct)}
    codes = np.fromiter(map(code_of.__getitem__, values), np.int32, len(values))
    return _plain(codes, list(distinct), name)


def _check_unmixed(values: list[Any], name: str) -> None:
    """Raise where numbers are beside booleans: True equals 1, and the first would name both."""
    kinds = set(map(type, values))
    if not kinds & {bool, np.bool_} or len(kinds) == 1:
        return
    if any(_kind(value) == "number" and not is_missing(value) for value in values):
        raise NaivelyError(
            f"{name} must hold text, numbers or booleans, all of one type; got boolean and number. "
            "Convert it or leave it out."
        )


def _plain(codes: NDArray[Any], values: list[Any], name: str) -> Encoded:
    """Return categories of one plain type, without those that are missing."""
    kept = [i for i, value in enumerate(values) if not is_missing(value)]
    kinds = {_kind(values[i]) for i in kept}
    if len(kinds) > 1 or not kinds <= {"text", "number", "boolean"}:
        shown = " and ".join(sorted(kinds))
        raise NaivelyError(
            f"{name} must hold text, numbers or booleans, all of one type; got {shown}. "
            "Convert it or leave it out."
        )
    found = [values[i] for i in kept]
    places = np.full(len(values) + 1, -1, dtype=np.int32)
    if kinds == {"number"}:
        try:
            categories, places[kept] = np.unique(number_array(found), return_inverse=True)
        except NaivelyError as error:
            raise NaivelyError(f"{name}: {error}") from None
        return places[codes], categories
    found = [*map(str, found)] if kinds <= {"text"} else found
    code_of = {value: code for code, value in enumerate(dict.fromkeys(found))}
    places[kept] = [code_of[value] for value in found]  # Arrow's dictionaries may repeat a value
    categories = text_array([*code_of]) if kinds <= {"text"} else np.array([*code_of])
    return (codes if len(code_of) == len(values) else places[codes]), categories


def _kind(value: Any) -> str:
    """Return what a category is: text, boolean or number, or the name of its type."""
    if isinstance(value, str) or is_interval(value):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    return "number" if isinstance(value, _NUMBERS) else type(value).__name__


# --- Columns of dates are replaced by their parts, before anything else sees them -----------------


@dataclass(frozen=True, eq=False)
class DateColumn:
    """A column of dates, which is read when a part of it is."""

    column: Any  # of a library, or an array
    name: str  # what messages call it

    @cached_property
    def dates(self) -> Dates:
        """The cells as NumPy's dates."""
        return read_dates(self.column, self.name)


@dataclass(frozen=True, eq=False)
class DatePart:
    """A part of the dates of a column, which is a column itself: of numbers, or of categories."""

    source: DateColumn
    part: str

    def __len__(self) -> int:
        return len(self.source.column)

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """Return some cells as Python's objects, None where one is missing."""
        source = DateColumn(self.source.column[rows], self.source.name)
        codes, categories = part_codes(source.dates, self.part)
        return np.array([*categories.tolist(), None], dtype=object)[codes]

    @property
    def held(self) -> Held:
        """What it holds; all but years are categories."""
        return held_by_part(self.part)

    def numbers(self) -> NDArray[np.float64]:
        """Return the part of each date as a number, NaN where it is missing."""
        return part_numbers(self.source.dates, self.part)

    def codes(self) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Return the part of each date as a code, -1 where it is missing, and the categories."""
        return part_codes(self.source.dates, self.part)


def expanded(
    names: Sequence[str], columns: Sequence[Any], dates: Mapping[str, bool]
) -> tuple[tuple[str, ...], list[Any]]:
    """Return the names and columns of a table in which parts are in the place of dates.

    For each column of dates, it is told whether they have a time of day.
    """
    found: list[tuple[str, Any]] = []
    for name, column in zip(names, columns, strict=True):
        if name not in dates:
            found.append((name, column))
            continue
        source = DateColumn(column, f"column {name!r}")
        parts = part_names(name, has_time=dates[name])
        found += zip(parts, (DatePart(source, part) for part in PARTS), strict=False)
    check_distinct([name for name, _ in found])
    return tuple(name for name, _ in found), [column for _, column in found]


def row_parts(row: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return the parts of a row's dates as cells, which are None where a date is missing.

    >>> schema = Schema(2, ("day.year", "day.weekday"), ("number", "category"), dates=("day",))
    >>> row_parts({"day": "2024-02-29"}, schema)
    {'day.year': 2024.0, 'day.weekday': 'Thursday'}
    """
    found = {}
    for name, kind in zip(schema.names or (), schema.held, strict=False):
        source = schema.input(name)
        if source != name and source in row:
            column = DateColumn(np.array([row[source]], object), f"column {source!r}")
            part = DatePart(column, name.rpartition(".")[2])
            found[name] = part.numbers().item() if kind is NUMBER else part[:].item()
    return found


def read_dates(column: Any, name: str) -> Dates:
    """Return a column as NumPy's dates: of dates, of objects, or of texts; or raise."""
    if isinstance(column, np.ndarray):
        found = column if column.dtype.kind == "M" else None
    else:
        found = library_of(column).dates(column)
    return read_objects(cells_of(column), name) if found is None else found
