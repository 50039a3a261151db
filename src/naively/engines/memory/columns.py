"""Which columns of a table a model learns from.

What a column holds is decided by `naively.data.kinds`. A column that cannot be learned from is an
error
that says what to do; or, for those who ask for that and tell the user, it is left out, and the
reason is kept. A column without a name (an index that somebody wrote down) is always left out.

>>> import pyarrow
>>> table = pyarrow.table({"age": [30, 40], "town": ["Ulm", "Bonn"], "sick": ["no", "yes"]})
>>> choose(table, target="sick", skip_columns=True)
ColumnChoice(names=('age',), left_out=(LeftOut(name='town', reason='text', cell=None, line=None),))
>>> choose(table, target="sick", kinds={}).names
('age', 'town')
>>> choose(table, target="sikc")
Traceback (most recent call last):
    ...
naively.errors.NaivelyError: no column 'sikc'; did you mean 'sick'?

Columns of text that are probably meant as numbers.

>>> import pyarrow
>>> column = pyarrow.chunked_array([["30", "40", "?"]])
>>> looks_numeric(column), first_text(column)
(True, ('?', 4))
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from naively.data.kinds import DATES, NUMBER, Kind, kind_of
from naively.data.schema import Schema
from naively.engines.memory.devices import is_dask
from naively.engines.memory.frames import is_frame, native_of
from naively.engines.memory.frames.arrow import held_by_type
from naively.errors import NaivelyError, later

pa = later("pyarrow", "reading columns", extra="files")
pc = later("pyarrow.compute", "reading columns", extra="files")
pacsv = later("pyarrow.csv", "reading columns", extra="files")

OUT_OF_FILES = "leave it out: exclude=[{name!r}], or name the others: columns=[...]"
_SHOWN = 5  # columns of which a message says why they were left out


@dataclass(frozen=True)
class LeftOut:
    """A column that is not learned from: why, and the first cell that is no number."""

    name: str
    reason: str
    cell: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class ColumnChoice:
    """The columns to learn from, in the table's order, and those left out."""

    names: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def find(name: str, names: Sequence[str], where: str = "") -> str:
    """Return the name if it is there, or raise with the one that was probably meant."""
    if not isinstance(name, str):
        raise NaivelyError(f"a column must be given by its name, a text; got {name!r}.")
    if name in names:
        return name
    folded = {other.casefold(): other for other in names}
    close = get_close_matches(name.casefold(), folded, n=1)
    if close:
        raise NaivelyError(f"no column {name!r}{where}; did you mean {folded[close[0]]!r}?")
    if not names:
        raise NaivelyError(f"no column {name!r}{where}, which has no columns at all.")
    shown = ", ".join([*map(repr, names[:8]), *(["..."] if len(names) > 8 else [])])
    raise NaivelyError(f"no column {name!r}{where}; its columns are {shown}.")


def find_targets(
    target: str | None, weight: str | None, names: Sequence[str], where: str = ""
) -> list[str]:
    """Return the columns of labels and of weights, or raise where they are not two."""
    found = [find(name, names, where) for name in (target, weight) if name is not None]
    if len(set(found)) < len(found):
        raise NaivelyError(
            f"labels and weights must be in different columns; got {target!r} for both{where}. "
            "Choose another one for the weights, or none."
        )
    return found


def rows_and_labels(
    data: Any, y: Any, target: str | None, weight: str | None = None
) -> tuple[Any, Any, Any] | None:
    """Return rows, labels and weights: labels given as y, or columns of a frame divided from it.

    A frame is in memory or of Dask's. None where columns of anything else are named, which is read
    as files are.
    """
    if y is not None and target is not None:
        raise NaivelyError(f"labels are given as y or as target, not as both; got {target=}.")
    if target is None:
        return data, y, None
    is_table = not isinstance(data, str | os.PathLike | list | tuple) and is_frame(data)
    if not (is_table or (is_dask(data) and hasattr(data, "columns"))):
        return None
    frame = native_of(data) if is_table else data
    is_arrow = type(frame).__module__.startswith("pyarrow")
    there = list(frame.column_names if is_arrow else frame.columns)
    names = [name for name in there if isinstance(name, str)]
    if not names:
        raise NaivelyError(
            "target must name a column; got a frame without names. Name its columns, or give the "
            "labels beside it."
        )
    beside = find_targets(target, weight, names)
    others = [name for name in there if name not in beside]
    check_some(others, target)
    has_select = is_arrow or type(frame).__module__.startswith("polars")
    rows = frame.select(others) if has_select else frame[others]
    return rows, frame[target], None if weight is None else frame[weight]


def is_index(name: str) -> bool:
    """Whether pandas wrote its index under this name, or under none: it says nothing of a row.

    >>> is_index("__index_level_0__"), is_index(""), is_index("index")
    (True, True, False)
    """
    return not name or re.fullmatch(r"__index_level_\d+__", name) is not None


def names_to_read(
    there: Sequence[str],
    columns: Sequence[str] | str | None,
    agreed: Schema | None,
    beside: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the columns to read: those named, those of an agreed schema, or all others.

    The columns beside them are those of labels and weights.
    """
    if columns is None and agreed is not None:
        columns = agreed.inputs
    if columns is None:
        return tuple(name for name in there if name not in beside and not is_index(name))
    chosen = (columns,) if isinstance(columns, str) else columns
    names = tuple(find(name, there) for name in chosen)
    if agreed is None:
        names = tuple(dict.fromkeys(names))
    _check_apart(names, beside)
    return names


def _check_apart(names: Sequence[str], beside: Sequence[str]) -> None:
    for name in names:
        if name in beside:
            raise NaivelyError(
                f"labels and weights must not be among the columns; got {name!r}. Leave it out."
            )


def choose(
    table: Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    skip_columns: bool = False,
    types: Mapping[str, Any] | None = None,
    where: str = "",
) -> ColumnChoice:
    """Choose the columns of an Arrow table to learn from.

    Parameters
    ----------
    kinds : mapping, optional
        Where text can be learned from: what some columns hold, which are taken whatever they
        are. None: only numbers can.
    skip_columns : bool
        Leave out columns that cannot be learned from, and empty ones, instead of raising.
    types : mapping, optional
        The types of columns, where they are others than the table's.
    where : str
        Where the table comes from, for messages: ``" in 'data.csv'"``.
    """
    beside = find_targets(target, weight, table.column_names, where)
    unwanted = {*beside, *(find(name, table.column_names, where) for name in exclude)}
    if columns is not None:
        chosen = [find(name, table.column_names, where) for name in columns]
        _check_apart(chosen, beside)
        names = tuple(name for name in dict.fromkeys(chosen) if name not in unwanted)
        return ColumnChoice(names, ())
    settled, take_text = unwanted | set(kinds or ()), kinds is not None
    table_types = dict(zip(table.column_names, table.schema.types, strict=True)) | dict(types or {})
    left_out = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in settled:
            continue
        reason = _left_out(name, column, table_types[name], take_text)
        if reason is not None and not is_index(name) and not skip_columns:
            if reason.reason == "empty":
                continue
            _raise(reason, table_types[name], take_text, where)
        left_out += [] if reason is None else [reason]
    unwanted |= {column.name for column in left_out}
    names = tuple(name for name in table.column_names if name not in unwanted)
    return ColumnChoice(names, tuple(left_out))


def check_some(
    names: Sequence[str],
    target: str | None,
    where: str = "",
    *,
    left_out: Sequence[LeftOut] = (),
    numbers: bool = False,
) -> None:
    """Raise where no column is learned from; ``numbers`` where others have been left out."""
    if names:
        return
    shown = [f"{column.name!r} ({column.reason})" for column in left_out]
    got = "only " + ", ".join(shown[:_SHOWN]) if shown else "none"
    beside = "" if target is None else f" beside the target {target!r}"
    raise NaivelyError(
        f"there must be a column {'of numbers ' if numbers else ''}to learn from{beside}"
        f"{where}; got {got}{', ...' if len(shown) > _SHOWN else ''}."
    )


def out_of_files(name: str) -> str:
    """Return how a column of a file is left out, for messages."""
    return OUT_OF_FILES.format(name=name)


def _raise(column: LeftOut, kind: Any, take_text: bool, where: str) -> None:
    """Raise an error that names the column, what is wrong with it, and what to do."""
    name, out = f"column {column.name!r}{where}", out_of_files(column.name)
    if column.cell is not None:
        raise NaivelyError(
            f"{name} must hold numbers; got {column.cell!r} in line {column.line}. Give "
            f"missing=[{column.cell!r}] if it means a missing cell; use NaiveBayes, which reads "
            f"text as categories; or {out}."
        )
    held = held_by_type(kind)
    if take_text:
        kind_of(held, name, out)
    else:
        NUMBER.check(held, name, out)


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow holds text."""
    types = pa.types
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def _left_out(name: str, column: Any, kind: Any, take_text: bool) -> LeftOut | None:
    """Return why a column is not learned from, or None where it is."""
    if not name:
        return LeftOut(name, "a column without a name, often an index")
    if is_index(name):
        return LeftOut(name, "an index of pandas")
    held = held_by_type(kind)
    if held.what == "nothing":
        return LeftOut(name, "empty")
    if held.what in (*DATES, "time"):
        return LeftOut(name, "dates or times")
    if held.what == "other":
        return LeftOut(name, f"of type {kind}")
    if take_text or held.what == "boolean" or NUMBER.fits(held):
        return None
    if looks_numeric(column):
        return LeftOut(name, "looks numeric", *first_text(column))
    return LeftOut(name, "text")


# --- Columns of text that are probably meant as numbers -----------------------------------------


_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_ALMOST = r"^\s*[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?\s*%?\s*$"  # also 5,1 and 1,000 and 7 %


def looks_numeric(column: Any) -> bool:
    """Whether most cells are numbers, or numbers as some people write them.

    Only in CSV can they be meant as numbers, which is read as text of one type.
    """
    if not pa.types.is_string(column.type):
        return False
    present = pc.sum(pc.not_equal(column, "")).as_py() or 0
    almost = pc.sum(pc.match_substring_regex(column, _ALMOST)).as_py() or 0
    return 2 * almost > present


def first_text(column: Any) -> tuple[str, int]:
    """Return the first cell that is no number, and its line in the file."""
    absent = pc.is_in(column, value_set=pa.array(pacsv.ConvertOptions().null_values))
    for pattern in (_ALMOST, _NUMBER):  # what is nothing like a number is the better example
        fine = pc.or_(absent, pc.match_substring_regex(column, pattern))
        at = pc.index(fine, False).as_py()
        if at >= 0:
            return column[at].as_py(), at + 2
    return column[0].as_py(), 2
