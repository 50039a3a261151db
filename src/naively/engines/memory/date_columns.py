"""Columns of dates are replaced by their parts, before anything else sees them.

>>> days = np.array(["2024-02-29"], "M8[D]")
>>> names, columns = expanded(["x", "day"], [[1.0], days], {"day": False})
>>> names, columns[1].numbers(), columns[2].codes()[0]
(('x', 'day.year', 'day.month', 'day.weekday'), array([2024.]), array([1], dtype=int32))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.dates import PARTS, Dates, part_codes, part_names, part_numbers, read_objects
from naively.data.kinds import NUMBER, Held
from naively.data.plan import check_distinct, held_by_part
from naively.data.schema import Schema
from naively.engines.memory.frames import cells_of, library_of


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
