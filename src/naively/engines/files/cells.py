"""Arrow's columns become what the kernel reads: numbers, codes of labels, weights, rows; and back.

Nothing here needs pandas. `pyarrow.array` and `to_numpy` import pandas wherever it is installed, to
ask whether they were given something of it. That takes longer than to read a small file.

>>> arrow_strings(["a", "", "ü"]).to_pylist(), arrow_numbers(np.array([True, False])).to_pylist()
(['a', '', 'ü'], [True, False])
>>> arrow_labels_among(np.array(["b", "a", "b"]), np.array(["a", "b"])).to_pylist()
['b', 'a', 'b']

Numbers are handed over where they lie, unless there are nulls among them (NaN, then), or they
are booleans, decimals or float16.

>>> numbers(pa.array([1.5, None])).tolist(), numbers(pa.array([3, 4])).tolist()
([1.5, nan], [3, 4])
>>> encode(pa.chunked_array([["b", "a"], ["b"]]))
(array(['a', 'b'], dtype='<U1'), array([1, 0, 1], dtype=int32))

Batches, of Arrow or of arrays, become rows.

>>> batch = Batch({"age": pa.array([30.0, None]), "town": pa.array(["Bonn", "Ulm"])}, 2)
>>> rows = rows_of(batch, {"age": None, "town": "str"})
>>> [codes.tolist() for codes in rows.codes[:]], rows.categories
([[0, 1]], (array(['Bonn', 'Ulm'], dtype='<U4'),))
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.rows import Rows, TextRows
from naively.data.schema import Schema
from naively.data.tokens import Words
from naively.engines.memory import tables
from naively.engines.memory.frames.arrow import (
    decoded,
    floats,
    held_by_type,
    without_views,
)
from naively.engines.memory.tables import Counting, DatePart, read_texts
from naively.errors import NaivelyError, later
from naively.statistics.summary import Summary

pa = later("pyarrow", "reading files", extra="files")
pc = later("pyarrow.compute", "reading files", extra="files")

# --- From Arrow's arrays to NumPy's and back, without pandas --------------------------------------


def arrow_strings(texts: Sequence[str]) -> Any:
    """Return texts as an array."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


def arrow_numbers(values: NDArray[Any]) -> Any:
    """Return numbers or booleans as an array."""
    cells = np.ascontiguousarray(values)
    if labels.are_booleans(cells):
        cells = np.packbits(cells, bitorder="little")
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(cells)])


def arrow_labels(values: NDArray[Any]) -> Any:
    """Return a few labels, text or numbers, as an array."""
    return arrow_numbers(values) if values.dtype.kind in "biuf" else arrow_strings(values.tolist())


def arrow_labels_among(values: NDArray[Any], known: NDArray[Any]) -> Any:
    """Return labels, all of which are among the sorted known ones, as an array."""
    return arrow_labels(known).take(arrow_numbers(np.searchsorted(known, values)))


def empty_table(schema: Any) -> Any:
    """Return a table without rows."""
    return pa.Table.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)


# --- Numbers, labels and weights ------------------------------------------------------------------


_FLOATS = {"double", "float"}  # as Arrow calls types
_IN_PLACE = _FLOATS | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_INTEGER = r"[ \t]*[+-]?[0-9]{1,%d}[ \t]*"  # Python counts no more spaces as part of a number
_FLOAT = r"[ \t]*[+-]?([0-9]{1,%d}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,%d})?[ \t]*"
_KINDS: dict[str, tuple[str, Any]] = {  # what a label looks like, and what it then is
    "bool": (r"true|false|True|False|TRUE|FALSE", lambda text: text.lower() == "true"),
    "int": (_INTEGER % 20, int),
    "float": (_FLOAT % (15, 2), float),
    "str": (r"(?s:.*)", str),
}


class RowError(Exception):
    """Something is wrong with a row, which is counted from the first of those at hand."""

    def __init__(self, row: int, what: str, advice: str) -> None:
        super().__init__(what)
        self.row, self.what, self.advice = row, what, advice


@contextmanager
def rows_counted_from(start: int) -> Iterator[None]:
    """Count the row of an error from some row on: that with which the rows at hand begin."""
    try:
        yield
    except RowError as error:
        raise RowError(start + error.row, error.what, error.advice) from None


def is_number(kind: Any) -> bool:
    """Whether a type of Arrow holds numbers: also booleans, and nothing but nulls."""
    return held_by_type(kind).what in ("number", "boolean", "nothing")


def plain(kind: Any) -> Any:
    """Return the type that a column has once its dictionary, or its runs, are spelled out."""
    packed = pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind)
    return plain(kind.value_type) if packed else kind


def numbers(array: Any) -> NDArray[Any]:
    """Return an array that the kernel reads; null is NaN."""
    if isinstance(array, np.ndarray):
        return array
    if isinstance(array, DatePart):
        return array.numbers()
    kind = str(array.type)
    if kind in _IN_PLACE and not array.null_count:
        return np.from_dlpack(array)
    if pa.types.is_dictionary(array.type) or pa.types.is_run_end_encoded(array.type):
        return numbers(decoded(array))
    if kind not in _FLOATS:
        array = floats(array)
    return array.to_numpy(zero_copy_only=False)


def checked_weights(found: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return weights as float64, or raise where one is not finite and >= 0."""
    bad = ~((found >= 0) & np.isfinite(found))
    if bad.any():
        at = int(np.argmax(bad))
        advice = "Weights must be finite and >= 0."
        raise RowError(at, f"the weight {name!r} is {found[at]:g}", advice)
    return np.ascontiguousarray(found, dtype=np.float64)


def encode(column: Any, name: str = "") -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the distinct labels of a chunked column, sorted, and the code of each row's."""
    column = _of_labels(without_views(column), name)
    if column.null_count:
        _raise_missing(pc.index(column.is_null(), True).as_py(), name)
    is_coded = pa.types.is_dictionary(column.type)
    column = (column if is_coded else column.dictionary_encode()).unify_dictionaries()
    chunks = column.chunks
    codes = np.concatenate(
        [np.zeros(0, np.int32), *(np.from_dlpack(one.indices) for one in chunks)]
    )
    values = chunks[0].dictionary.to_pylist() if chunks else []
    used = np.flatnonzero(np.bincount(codes, minlength=len(values)))
    wrong = [k for k in used if _is_wrong(values[k])]
    if wrong:
        at = int(np.argmax(np.isin(codes, wrong)))
        if labels.is_missing(values[codes[at]]):
            _raise_missing(at, name)
        _raise_measurement(at, name, values[codes[at]])
    kind = column.type.value_type
    dtype = kind.to_pandas_dtype() if pa.types.is_integer(kind) and used.size else None
    names = [values[k] for k in used]
    classes, places = labels.encode(names if dtype is None else np.array(names, dtype))
    code_of = np.zeros(len(values), np.int32)
    code_of[used] = places
    return classes, code_of[codes]


def _of_labels(column: Any, name: str) -> Any:
    """Return a column whose cells can be labels; dates and the like are text."""
    kind = plain(column.type)
    if pa.types.is_floating(kind):
        return decoded(column).cast(pa.float64())
    if held_by_type(kind).what in ("number", "boolean", "text", "nothing"):
        return column
    try:
        if not pa.types.is_binary(kind):
            return decoded(column).cast(pa.string())
    except pa.ArrowException:
        pass
    raise NaivelyError(
        f"the target {name!r} must hold strings, integers or booleans; got {column.type}."
    )


def _is_wrong(label: Any) -> bool:
    """Whether a label is missing, or a fraction."""
    is_fraction = isinstance(label, float | Decimal) and label == label and not _is_whole(label)
    return is_fraction or labels.is_missing(label)


def _is_whole(number: float | Decimal) -> bool:
    return abs(number) == float("inf") or labels.is_whole(number)  # infinity has its own message


def read_text(column: Any, name: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Encode labels that were read as text; all that look like fractions are measurements."""
    classes, codes = encode(column, name)
    found = _looking_alike(classes)
    if found.dtype.kind == "f" and not (whole := found == np.floor(found)).all():
        k = int(np.argmin(whole))
        _raise_measurement(int(np.argmax(codes == k)), name, found[k])
    return classes, codes


def typed(summary: Summary, kind: str | None) -> Summary:
    """Turn labels that were read as text into what they all look like, or what they are to be.

    ``1`` and ``01`` are one integer and add up; a single ``x`` among them makes all of them
    text, and so do integers that no type of 64 bits holds together.
    """
    return settled(summary.relabelled(typed_labels(summary.classes, kind)))


def typed_labels(texts: NDArray[Any], kind: str | None) -> NDArray[Any]:
    """Return labels that were read as text as what they all look like, or are to be."""
    return _looking_alike(texts) if kind is None else _labels_as(kind, texts)


def number_of(text: str, decimal: str = ".") -> float | None:
    """Return the number that a text writes, an integer as such; None where it is none.

    >>> number_of(" 18446744073709551615"), number_of("1,50", decimal=","), number_of("0x10")
    (18446744073709551615, 1.5, None)
    """
    if re.fullmatch(_INTEGER % 400, text):
        return int(text)
    plain = text if decimal == "." else text.replace(".", "?").replace(decimal, ".")
    return float(plain) if re.fullmatch(_FLOAT % (400, 4), plain) else None


def settled(summary: Summary) -> Summary:
    """Return a summary whose classes will not change their type any more."""
    sample = summary.sample
    return summary if sample is None else summary.with_statistic(sample.settled())


def _looking_alike(texts: NDArray[Any]) -> NDArray[Any]:
    """Return texts as what all of them look like."""
    for kind in _KINDS:
        with suppress(NaivelyError):
            return _labels_as(kind, texts)
    raise AssertionError("any text is text")


def _labels_as(kind: str, texts: NDArray[Any]) -> NDArray[Any]:
    """Return texts as labels of a kind, or raise."""
    pattern, made_of = _KINDS[kind]
    listed = texts.tolist()
    for text in listed:
        if not re.fullmatch(pattern, text):
            raise NaivelyError(f"the labels must be {kind}; got {text!r}.")
    if kind == "str" or not listed:
        return texts
    found = [made_of(text) for text in listed]
    return labels.number_array(found) if kind == "int" else np.array(found)


def _raise_missing(row: int, name: str) -> None:
    advice = (
        "Leave such rows out; files do it with drop_missing_target=True, or --drop-missing-target "
        "on the command line."
    )
    raise RowError(row, f"the target {name!r} is missing", advice)


def _raise_measurement(row: int, name: str, value: Any) -> None:
    advice = "It must hold classes: naive Bayes does not predict measurements."
    raise RowError(row, f"the target {name!r} is {value}", advice)


# --- Batches of rows ------------------------------------------------------------------------------


class Batch:
    """Some rows of a file: columns by name, and the constants that its path holds.

    Columns are Arrow's, or NumPy's where they hold numbers, or parts of dates.
    """

    def __init__(
        self, columns: Mapping[str, Any], num_rows: int, constants: Mapping[str, Any] | None = None
    ) -> None:
        self.columns, self.num_rows, self.constants = columns, num_rows, constants or {}
        self.as_written: Mapping[str, Any] = {}  # columns to be copied

    def column(self, name: str) -> Any:
        """Return a column that the file holds."""
        return self.columns[name]

    def array(self, name: str, kind: Any = None) -> Any:
        """Return any column as an array of Arrow's; a constant may be of a type."""
        if name in self.constants:
            return pa.array([self.constants[name]] * self.num_rows, kind, from_pandas=True)
        column = self.columns[name]
        if isinstance(column, DatePart):
            codes, names = column.codes()
            return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(names))
        return pa.array(column, from_pandas=True) if isinstance(column, np.ndarray) else column


def combined(batches: list[Any]) -> list[Any]:
    """Put small batches together: each costs a fixed time.

    Several remain where one column would hold more text than one array can.
    """
    if len(batches) < 2:
        return batches
    return pa.Table.from_batches(batches).combine_chunks().to_batches()


def rows_of(
    batch: Batch,
    columns: Mapping[str, str | None],
    schema: Schema | None = None,
    words: tuple[Words, ...] | None = None,
    *,
    counting: Counting = "rows",
) -> Rows:
    """Return the columns of a batch as rows.

    For each column, in order, it is told what its categories are; "text" where it holds text, and
    None where it holds numbers. Words that a model does not know are left out. ``counting`` is as
    in `read_texts`.
    """
    cells = number_columns(batch, [name for name, form in columns.items() if form is None])
    coded = [_coded(batch, name, f) for name, f in columns.items() if f not in (None, "text")]
    texts: tuple[TextRows | None, tuple[Words, ...]] = (None, ())
    if schema is not None and schema.texts:
        texts = read_texts(_texts(batch, columns), schema, words, n_jobs=1, counting=counting)
    return Rows.of_columns((batch.num_rows, len(columns)), cells, coded, *texts)


def columns_in(columns: Mapping[str, str | None], batch: Batch) -> dict[str, Any]:
    """Return some columns of a batch: arrays of numbers, and others of Arrow.

    For each column it is told what its categories are, as to `rows_of`. Parts of dates remain
    dictionaries, others do not.
    """
    arrays: dict[str, Any] = {}
    for name, form in columns.items():
        if form is None:
            (arrays[name],) = number_columns(batch, [name])
        else:
            array = batch.array(name)
            is_part = isinstance(batch.columns.get(name), DatePart)
            arrays[name] = array if is_part else decoded(without_views(array))
    return arrays


def text_hashes(
    batch: Batch, columns: Mapping[str, str | None], schema: Schema
) -> NDArray[np.uint64]:
    """Return the hashes of the texts of a batch, which rows of known words do not have."""
    rows, _ = read_texts(_texts(batch, columns), schema, n_jobs=1, counting="none")
    assert rows is not None
    return rows.hashes


def _texts(batch: Batch, columns: Mapping[str, str | None]) -> list[Any]:
    return [batch.array(name, pa.string()) for name, form in columns.items() if form == "text"]


def number_columns(batch: Batch, names: Iterable[str]) -> list[NDArray[Any]]:
    """Return columns of numbers; a constant takes no memory."""
    return [
        np.broadcast_to(np.float64(batch.constants[name]), batch.num_rows)
        if name in batch.constants
        else numbers(batch.column(name))
        for name in names
    ]


def check_finite(rows: Rows, names: Sequence[str], start: int = 0) -> None:
    """Raise an error that names the infinite cell, if there is one, given columns of numbers."""
    cells = rows.numbers[:]
    if any(np.isinf(column).any() for column in cells):
        raise_not_finite(cells, names, start)


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


def _coded(batch: Batch, name: str, form: str | None) -> tables.Encoded:
    """Return the codes of a column of categories, and what they mean."""
    if name in batch.constants:
        value = batch.constants[name]
        if value is None or value != value:
            return np.full(batch.num_rows, -1, np.int32), np.empty(0, dtype=str)
        return np.zeros(batch.num_rows, np.int32), np.array([value])
    codes, values = tables.encode(batch.column(name), f"column {name!r}")
    if form == "int" and values.dtype.kind == "f" and all(map(labels.is_whole, values.tolist())):
        values = labels.number_array([int(one) for one in values.tolist()])  # as they were written
    return codes, values
