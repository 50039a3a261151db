"""Tables of numbers, categories and text, column by column, as the kernel reads them.

A column's type says what it holds, by the rule of `naively.data.kinds`.

>>> import pandas
>>> schema_of(pandas.DataFrame({"age": [30, 40], "town": ["Ulm", None]})).kinds
('number', 'category')

Columns of text become rows of words.

>>> from naively.data.schema import Schema
>>> rows, (words,) = read_texts([["win a prize", None]], Schema(1, kinds=("text",)))
>>> words.tolist(), rows.columns[0].dense().tolist()
(['prize', 'win'], [[1.0, 1.0], [0.0, 0.0]])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.kinds import LOOKED_AT, TEXT, Held, Kind
from naively.data.labels import are_booleans, is_missing
from naively.data.plan import Source, plan
from naively.data.rows import Rows, TextRows, recode
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.texts import Texts, texts_of
from naively.data.tokens import UNICODE, Words, no_words, tokenize
from naively.engines.memory import arrays, frames
from naively.engines.memory.categories import encode
from naively.engines.memory.date_columns import DatePart, expanded
from naively.engines.memory.frames import is_column, is_frame
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


def names_of(X: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns; None where it has none, as an array."""
    if isinstance(X, np.ndarray | list | tuple) or not is_frame(X):
        return None
    return frames.names_of(X)


def schema_of(
    X: Any,
    agreed: Schema | None = None,
    given: Mapping[Any, Kind] | None = None,
    *,
    names: tuple[str, ...] | None = None,
) -> Schema:
    """Return what a table's columns hold: as agreed or given, and otherwise by their types.

    Names may be given for the columns of an array.
    """
    if isinstance(X, SparseRows):
        if not (agreed or given):
            return Schema(X.n_columns)
        X = X.dense_as_held()
    if agreed is None:
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
    encoded = [_encoded(columns[j], schema.name(j)) for j in schema.categories]
    texts = read_texts([columns[j] for j in schema.texts], schema, words, n_jobs)
    return Rows.of_columns((n_rows, schema.n_columns), numbers, encoded, *texts)


def number_column(column: Any, name: str) -> Any:
    """Return a column of numbers as an array, or as what converts rows of it later."""
    is_part = isinstance(column, DatePart)
    return column.numbers() if is_part else frames.number_column(column, name)


def _encoded(column: Any, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    return column.codes() if isinstance(column, DatePart) else encode(column, name)


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
    array = np.asarray(X)
    if not isinstance(X, np.ndarray) and arrays.holds_more(X):
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
