"""Dates become columns: the year as a number; the month, the weekday and the hour as categories.

A column ``when`` of dates is read as ``when.year``, ``when.month`` (1 to 12), ``when.weekday``
(Monday to Sunday) and, if its type has a time of day, ``when.hour`` (0 to 23), by the Gregorian
calendar. Time with a zone, or with an offset, is an instant, whose parts are those of UTC; time
without one is read as it stands. A missing date is a missing cell in each of the columns.

>>> dates = read_objects(["2024-02-29T23:30-01:00", date(1969, 12, 31), None], "column 'when'")
>>> [part_numbers(dates, part).tolist() for part in PARTS]
[[2024.0, 1969.0, nan], [3.0, 12.0, nan], [4.0, 2.0, nan], [0.0, 0.0, nan]]
>>> part_codes(dates, "month")
(array([ 2, 11, -1], dtype=int32), array([ 1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12]))
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import is_missing
from naively.errors import NaivelyError

Dates = NDArray[np.datetime64]

PARTS = ("year", "month", "weekday", "hour")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CATEGORIES: dict[str, NDArray[Any]] = {  # those that have no cell are none of a model
    "month": np.arange(1, 13),
    "weekday": np.array(WEEKDAYS),
    "hour": np.arange(24),
}
_DAY = r"\d{4}-\d\d-\d\d"
_TIME = r"\d\d(:\d\d(:\d\d([.,]\d{1,9})?)?)?(Z|[+-]\d\d(:?\d\d)?)?"
_ISO = re.compile(f"{_DAY}([T ]{_TIME})?")


def part_names(name: str, *, has_time: bool) -> list[str]:
    """Return what the columns are called that a column of dates becomes.

    >>> part_names("when", has_time=False)
    ['when.year', 'when.month', 'when.weekday']
    """
    return [f"{name}.{part}" for part in PARTS if has_time or part != "hour"]


def split_name(name: str) -> tuple[str, str] | None:
    """Return the column of dates and the part that a name means; None where it can mean none.

    >>> split_name("when.year"), split_name("when.day")
    (('when', 'year'), None)
    """
    source, _, part = name.rpartition(".")
    return (source, part) if part in PARTS else None


def has_time(kind: np.dtype[Any]) -> bool:
    """Whether a type of NumPy's dates has a time of day."""
    return np.datetime_data(kind)[0] not in ("Y", "M", "W", "D", "generic")


def part_numbers(dates: Dates, part: str) -> NDArray[np.float64]:
    """Return a part of dates as numbers; NaN where a date is missing. Monday is 0."""
    found = _part(dates, part).astype(np.float64)
    found[np.isnat(dates)] = np.nan
    return found


def part_codes(dates: Dates, part: str) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Return a part of dates as categories: codes, -1 where a date is missing, and their names."""
    values, present = _part(dates, part), ~np.isnat(dates)
    codes = np.full(dates.size, -1, np.int32)
    if part == "year":
        categories, codes[present] = np.unique(values[present], return_inverse=True)
        return codes, categories
    categories = CATEGORIES[part]
    first = 0 if part == "weekday" else int(categories[0])
    codes[present] = values[present] - first
    return codes, categories


def _part(dates: Dates, part: str) -> NDArray[np.int64]:
    """Return a part of dates; anything where one is missing. All divisions round down."""
    if np.datetime_data(dates.dtype)[0] in ("ps", "fs", "as"):  # too fine for years
        dates = dates.astype("M8[us]")
    if part == "year":
        return dates.astype("M8[Y]").astype(np.int64) + 1970
    if part == "month":
        return dates.astype("M8[M]").astype(np.int64) % 12 + 1
    if part == "weekday":
        return (dates.astype("M8[D]").astype(np.int64) + 3) % 7  # 1970 began on a Thursday
    return dates.astype("M8[h]").astype(np.int64) % 24


def are_dates(cells: Sequence[Any]) -> bool:
    """Whether texts are dates, all that are not missing, as ISO 8601 writes them.

    >>> are_dates(["2024-02-29", None]), are_dates(["2024-02-30"]), are_dates(["2024"])
    (True, False, False)
    """
    texts = [cell for cell in cells if not is_missing(cell)]
    return bool(texts) and all(_read_text(text) is not None for text in dict.fromkeys(texts))


def read_objects(cells: Iterable[Any], name: str) -> Dates:
    """Return Python's objects as dates: dates, times, NumPy's and ISO texts; or raise."""
    read: dict[Any, Any] = {}
    found = []
    for cell in cells:
        try:
            known = read.get(cell)
        except TypeError:  # such as a list
            known = None
        if known is None and not is_missing(cell):
            known = _read(cell)
            if known is None:
                raise NaivelyError(
                    f"{name} must hold dates; got {cell!r}. Give dates, times, or texts such as "
                    "2024-02-29 or 2024-02-29T13:45."
                )
            read[cell] = known
        found.append(np.datetime64("NaT") if known is None else known)
    return np.array(found, dtype="M8[us]")


def _read(cell: Any) -> Any:
    """Return a cell as NumPy reads it, in UTC where it has a zone; None where it is no date."""
    if isinstance(cell, str):
        return _read_text(cell)
    if isinstance(cell, datetime):
        return _in_utc(cell)
    return cell if isinstance(cell, date | np.datetime64) else None


def _read_text(text: Any) -> datetime | None:
    if not isinstance(text, str) or _ISO.fullmatch(text) is None:
        return None
    try:
        return _in_utc(datetime.fromisoformat(text))
    except ValueError:  # such as 2024-02-30
        return None


def _in_utc(time: datetime) -> datetime | None:
    """Return a time without a zone; None where it is in no year of Python's."""
    try:
        return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        return None
