"""The parts of dates, beside Python's datetime: any year, any unit, any zone, before 1970 too."""

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from naively import NaivelyError
from naively.data.dates import PARTS, WEEKDAYS, are_dates, part_codes, part_numbers, read_objects
from tests import oracles

OFFSETS = st.timedeltas(timedelta(hours=-23), timedelta(hours=23))
ZONES = st.none() | st.timezones() | st.builds(timezone, OFFSETS)


def check(dates, cells):
    for part in PARTS:
        expected = [oracles.date_parts(cell)[part] for cell in cells]
        codes, categories = part_codes(dates, part)
        assert categories[codes].tolist() == expected
        numbers = [WEEKDAYS.index(day) for day in expected] if part == "weekday" else expected
        assert part_numbers(dates, part).tolist() == numbers


@settings(deadline=None)
@given(st.lists(st.datetimes() | st.dates(), min_size=1))
@example([datetime.min, datetime.max, date.min, date.max])
@example([datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(1970, 1, 1)])
@example([date(1900, 2, 28), date(2000, 2, 29), date(2100, 3, 1)])
def test_parts_are_those_of_python(cells):
    check(read_objects(cells, "x"), cells)
    check(read_objects([cell.isoformat() for cell in cells], "x"), cells)


@settings(deadline=None)
@given(st.lists(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=ZONES), min_size=1))
def test_times_with_a_zone_are_read_in_utc(cells):
    cells = [cell for cell in cells if cell.tzinfo is None or cell.utcoffset() is not None]
    check(read_objects(cells, "x"), cells)


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"])
@settings(deadline=None)
@given(count=st.integers(-9000, 9000))
def test_every_unit_of_numpy_gives_the_parts_of_its_days(unit, count):
    cell = np.datetime64(count, unit)
    near = {"as": "us", "ps": "us", "fs": "us", "ns": "us", "W": "D"}.get(unit, unit)
    check(np.array([cell]), [cell.astype(f"M8[{near}]").item()])


@pytest.mark.parametrize("missing", [None, float("nan"), np.datetime64("NaT"), np.ma.masked])
def test_a_missing_date_has_no_parts(missing):
    dates = read_objects([missing, date(2024, 2, 29)], "x")
    for part in PARTS:
        assert np.isnan(part_numbers(dates, part)).tolist() == [True, False]
        assert (part_codes(dates, part)[0] < 0).tolist() == [True, False]


def test_no_dates_at_all_have_no_parts():
    for part in PARTS:
        assert part_numbers(read_objects([], "x"), part).size == 0
        assert part_codes(read_objects([], "x"), part)[0].size == 0


DATES = ["2024-02-29", "2024-02-29T13", "2024-02-29 13:45", "2024-02-29T13:45:30.123456789Z"]
DATES += ["2024-02-29T13:45+05:30", "0001-01-01", "9999-12-31 23:59:59,5", "2024-02-29 13:45:00+01"]
TEXTS = ["2024", "2024-02", "20240229", "2024-02-30", "29.02.2024", "2024-02-29T25:00", "2024-2-9"]
TEXTS += [" 2024-02-29", "2024-02-29 ", "2024-W09-4", "", "0000-01-01", "0001-01-01T00:00+01:00"]


@pytest.mark.parametrize("text", DATES)
def test_iso_texts_are_dates(text):
    assert are_dates([None, text])
    assert not are_dates([text, "soon"])


@pytest.mark.parametrize("text", TEXTS)
def test_other_texts_are_none(text):
    assert not are_dates([text])
    with pytest.raises(NaivelyError, match="column 'when' must hold dates; got "):
        read_objects([text], "column 'when'")


def test_nothing_is_no_dates():
    assert not are_dates([])
    assert not are_dates([None, None])


@pytest.mark.parametrize("cell", [3, 2.5, True, b"2024-02-29", [1], timedelta(1), object()])
def test_what_is_no_date_is_named(cell):
    with pytest.raises(NaivelyError, match=r"x must hold dates; got .* Give dates"):
        read_objects([cell], "x")
