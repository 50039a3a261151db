"""Batches of rows, of Arrow or of arrays, become rows that the kernel reads.

>>> batch = pa.record_batch({"age": [30.0, None], "town": ["Bonn", "Ulm"]})
>>> rows = rows_of(batch, {"age": None, "town": "str"}, {})
>>> [codes.tolist() for codes in rows.codes[:]], rows.categories
([[0, 1]], (array(['Bonn', 'Ulm'], dtype='<U4'),))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.data.text.rows import TextRows
from naively.data.text.words import Words
from naively.engines.files.cells import RowError, numbers
from naively.engines.memory import categories
from naively.engines.memory.tables import Counting, read_texts
from naively.errors import NaivelyError, later

pa = later("pyarrow", "reading files", extra="files")


class ArrayBatch:
    """Columns that are no record batch of Arrow, and are used like one.

    They are arrays by name: Arrow's, or NumPy's where they hold numbers.
    """

    def __init__(self, columns: dict[str, Any], num_rows: int) -> None:
        self.columns, self.num_rows = columns, num_rows

    def column(self, name: str) -> Any:
        """Return a column."""
        return self.columns[name]


def combined(batches: list[Any]) -> list[Any]:
    """Put small batches together: each costs a fixed time.

    Several remain where one column would hold more text than one array can.
    """
    if len(batches) < 2:
        return batches
    return pa.Table.from_batches(batches).combine_chunks().to_batches()


def rows_of(
    batch: Any,
    columns: Mapping[str, str | None],
    constants: Mapping[str, Any],
    schema: Schema | None = None,
    words: tuple[Words, ...] | None = None,
    *,
    counting: Counting = "rows",
) -> Rows:
    """Return the columns of a batch, and those that the file's path holds: the constants.

    For each column, in order, it is told what its categories are; "text" where it holds text, and
    None where it holds numbers. Words that a model does not know are left out. ``counting`` is as
    in `read_texts`.
    """
    plain = [name for name, form in columns.items() if form is None]
    forms = [(name, form) for name, form in columns.items() if form not in (None, "text")]
    coded = [_coded(batch, name, form or "", constants) for name, form in forms]
    cells = number_columns(batch, plain, constants)
    texts: tuple[TextRows | None, tuple[Words, ...]] = (None, ())
    if schema is not None and schema.texts:
        named = [name for name, form in columns.items() if form == "text"]
        found = [_text(batch, name, constants) for name in named]
        texts = read_texts(found, schema, words, n_jobs=1, counting=counting)
    return Rows.of_columns((batch.num_rows, len(columns)), cells, coded, *texts)


def text_hashes(
    batch: Any, columns: Mapping[str, str | None], constants: Mapping[str, Any], schema: Schema
) -> NDArray[np.uint64]:
    """Return the hashes of the texts of a batch, which rows of known words do not have."""
    cells = [_text(batch, name, constants) for name, form in columns.items() if form == "text"]
    rows, _ = read_texts(cells, schema, n_jobs=1, counting="none")
    assert rows is not None
    return rows.hashes


def _text(batch: Any, name: str, constants: Mapping[str, Any]) -> Any:
    """Return a column of text; one that the path holds is the same in all rows."""
    if name in constants:
        return pa.array([constants[name]] * batch.num_rows, pa.string())
    return batch.column(name)


def number_columns(
    batch: Any, names: Iterable[str], constants: Mapping[str, Any]
) -> list[NDArray[Any]]:
    """Return columns of numbers; a constant takes no memory."""
    return [
        np.broadcast_to(np.float64(constants[name]), batch.num_rows)
        if name in constants
        else numbers(batch.column(name))
        for name in names
    ]


def raise_not_finite(columns: Sequence[NDArray[Any]], names: Sequence[str], start: int) -> None:
    """Raise an error that names the infinite cell, or cells too large for a variance."""
    for name, column in zip(names, columns, strict=False):
        infinite = np.isinf(column)
        if infinite.any():
            advice = "Naive Bayes needs finite numbers; NaN is allowed and means missing."
            at = start + int(np.argmax(infinite))
            raise RowError(at, f"column {name!r} holds infinity", advice)
    sizes = [np.max(np.abs(np.nan_to_num(column)), initial=0.0) for column in columns]
    raise NaivelyError(
        f"column {names[int(np.argmax(sizes))]!r} holds numbers so large that their variance "
        f"exceeds the range of float64, such as {max(sizes):g}. Rescale it."
    )


def _coded(batch: Any, name: str, form: str, constants: Mapping[str, Any]) -> categories.Encoded:
    """Return the codes of a column of categories, and what they mean."""
    if name in constants:
        return _constant(constants[name], batch.num_rows)
    column = batch.column(name)
    codes, found = categories.encode(column, f"column {name!r}")
    if form == "int" and found.dtype.kind == "f" and all(map(labels.is_whole, found.tolist())):
        found = labels.number_array([int(one) for one in found.tolist()])  # as they were written
    return codes, found


def _constant(value: Any, n_rows: int) -> categories.Encoded:
    if value is None or value != value:
        return np.full(n_rows, -1, np.int32), np.empty(0, dtype=str)
    return np.zeros(n_rows, np.int32), np.array([value])
