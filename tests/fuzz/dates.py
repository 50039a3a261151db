"""Columns of dates of any type, in every engine, against Python's datetime.

Dates lie in the years 1 to 9999 where the type reaches so far; some are missing. Texts are written
in every way that ISO 8601 has for them: with or without a time of day, and with or without a zone.
Spark needs seconds for each table; it reads those of `tests.engines.test_date_spellings`.
"""

import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from tests import oracles, postgres
from tests.every_engine import ENGINES, OF_NUMBERS, POORLY_TYPED

FEW_TYPES = POORLY_TYPED | {"spark"}
FEW = ("date32", "timestamp[us]", "UTC, s", "text")

TYPES = {
    "date32": pa.date32(),
    "date64": pa.date64(),
    **{f"timestamp[{unit}]": pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
    **{f"{zone}, {unit}": pa.timestamp(unit, zone)
       for zone in ("UTC", "Asia/Tokyo", "America/New_York") for unit in ("s", "ns")},
    "text": pa.string(),
}  # fmt: skip
OLDEST = {"ns": datetime(1678, 1, 1)}
NEWEST = {"ns": datetime(2262, 1, 1)}
OFFSETS = ["", "Z", "+00", "-01", "+0530", "-09:30", "+14:00", "-12:00"]
CLOCKS = ["%H", "%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%H:%M:%S,%f"]


def columns(engine):
    return st.sampled_from(types_of(engine)).flatmap(
        lambda name: st.tuples(
            st.just(engine), st.just(name), st.lists(rows(name), min_size=1, max_size=12)
        )
    )


def types_of(engine):
    """Return the types that an engine can hold."""
    return [name for name in TYPES if engine not in FEW_TYPES or name in FEW]


def rows(name):
    cells = texts() if name == "text" else moments(name.rstrip("]")[-2:])
    return st.tuples(st.none() | cells, st.sampled_from(["a", "b", "c"]))


def moments(unit):
    oldest, newest = (datetime(1, 1, 3), datetime(9999, 12, 28))
    oldest, newest = OLDEST.get(unit, oldest), NEWEST.get(unit, newest)
    near = st.integers(-3, 3).map(lambda hours: datetime(1970, 1, 1) + timedelta(hours=hours))
    return st.datetimes(oldest, newest) | near


def texts():
    """Draw dates as text; all days are in Python's years in every zone."""
    times = st.tuples(
        moments("us"), st.sampled_from("T "), st.sampled_from(CLOCKS), st.sampled_from(OFFSETS)
    )
    return st.one_of(
        moments("us").map(lambda moment: moment.date().isoformat()),
        times.map(lambda t: f"{t[0].date().isoformat()}{t[1]}{t[0].strftime(t[2])}{t[3]}"),
    )


ABSENT = {"postgres"} if postgres.binaries() is None else set()
QUICK = [name for name in ENGINES if name not in OF_NUMBERS | ABSENT and "spark" not in name]
CASES = st.sampled_from(QUICK).flatmap(columns)


def check(case):
    engine, name, rows = case
    cells, y = [cell for cell, _ in rows], np.array([label for _, label in rows])
    if all(cell is None for cell in cells):
        return  # a column of nothing: see tests.engines.test_empty_columns
    table, truth = table_of(engine, name, cells)
    with tempfile.TemporaryDirectory() as folder:
        found = ENGINES[engine](table, y, folder)
    compare(found, truth, y)


def table_of(engine, name, cells):
    """Return a table of a column of dates and one of numbers, and the dates that it holds."""
    kind = TYPES[name]
    if name == "text":
        return pa.table({"when": pa.array(cells, kind), "x": [1.0] * len(cells)}), cells
    cells = [None if cell is None else held(cell, kind) for cell in cells]
    zone = getattr(kind, "tz", None)
    if zone is not None and engine in {*FEW_TYPES, "csv", "jsonl"}:  # which write no other
        zone = "UTC"
    if pa.types.is_timestamp(kind):
        kind = pa.timestamp("us" if engine in FEW_TYPES else kind.unit, zone)
    elif engine == "polars":  # to which date64 has a time of day
        kind = pa.date32()
    array = pa.array(cells, kind)
    return pa.table({"when": array, "x": [1.0] * len(cells)}), cells


def held(cell, kind):
    """Return what a type holds of a time: the day, or all down to the unit; instants in UTC."""
    if pa.types.is_date(kind):
        return cell.date()
    smallest = {"s": 1_000_000, "ms": 1000}.get(kind.unit, 1)
    cell = cell.replace(microsecond=cell.microsecond // smallest * smallest)
    return cell if kind.tz is None else cell.replace(tzinfo=UTC)


def compare(found, cells, y):
    truth = [oracles.date_parts(cell) for cell in cells]
    has_time = any(isinstance(c, datetime) or (isinstance(c, str) and len(c) > 10) for c in cells)
    parts = ["year", "month", "weekday", "hour"] if has_time else ["year", "month", "weekday"]
    name, names = found.schema.dates[0], found.schema.names
    assert names == (*(f"{name}.{part}" for part in parts), names[-1])
    classes, labels = found.classes.tolist(), y.tolist()
    for k, label in enumerate(classes):
        years = [t["year"] for t, of in zip(truth, labels, strict=True) if of == label]
        exact = oracles.moments_of_cells([float(year) for year in years if year is not None])
        assert found.moments.weight[k, 0] == exact.weight
        assert abs(found.moments.mean[k, 0] - exact.mean) <= 1e-12 * 9999
        assert abs(found.moments.m2[k, 0] - exact.m2) <= 1e-12 * (1 + exact.m2)
    for i, part in enumerate(parts[1:]):
        tally = Counter(
            (t[part], k) for t, k in zip(truth, labels, strict=True) if t[part] is not None
        )
        values = found.categories[i].tolist()
        assert sorted(values) == sorted({value for value, _ in tally}), (part, values)
        assert found.tally(i).tolist() == [[tally[v, k] for v in values] for k in classes], part
