"""Dates of every type and in every spelling have the parts that Python's datetime gives them."""

from datetime import datetime, timedelta
from itertools import product

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes, NaivelyError
from tests import databases
from tests.every_engine import ENGINES, OF_NUMBERS
from tests.fuzz.dates import CLOCKS, OFFSETS, compare, table_of, types_of

pytestmark = databases.QUIET

EVERYWHERE = [name for name in ENGINES if name not in OF_NUMBERS]
TIMES = [
    datetime(1899, 12, 31, 23, 59, 59, 999_999),
    datetime(1969, 12, 31, 20, 45, 0, 1),
    datetime(2000, 2, 29),
]
OLD = [datetime(1, 1, 3), datetime(9999, 12, 28, 23, 59, 59, 999_999), datetime(1582, 10, 10, 5)]
SPELLINGS = [None, *(time.date().isoformat() for time in TIMES + OLD)] + [
    f"{time.date().isoformat()}{between}{time.strftime(clock)}{offset}"
    for time, between, clock, offset in product(TIMES + OLD, "T ", CLOCKS, OFFSETS)
]


@pytest.mark.parametrize("engine", EVERYWHERE)
def test_every_spelling_of_iso_dates_is_read_in_every_engine(engine, tmp_path):
    y = np.array(["a", "b", "a"] * len(SPELLINGS))[: len(SPELLINGS)]
    table, truth = table_of(engine, "text", SPELLINGS)
    compare(ENGINES[engine](table, y, tmp_path), truth, y)


@pytest.mark.parametrize(
    ("engine", "name"), [(e, name) for e in EVERYWHERE for name in types_of(e) if name != "text"]
)
def test_every_type_of_dates_is_read_in_every_engine(engine, name, tmp_path):
    times = TIMES if name.rstrip("]").endswith("ns") else TIMES + OLD
    cells = [None, *(time + timedelta(hours=h) for time in times for h in range(0, 40, 3))]
    y = np.array(["a", "b", "a"] * len(cells))[: len(cells)]
    table, truth = table_of(engine, name, cells)
    compare(ENGINES[engine](table, y, tmp_path), truth, y)


@pytest.mark.parametrize("engine", EVERYWHERE)
@pytest.mark.parametrize("cell", ["soon", "2023-02-29", "2024-02-29 25:00"])
def test_a_late_text_that_is_no_date_is_an_error_in_every_engine(engine, cell, tmp_path):
    cells = [f"2024-02-{1 + i % 29:02d} {i % 24:02d}:30" for i in range(2500)]
    table, _ = table_of(engine, "text", [*cells, cell])
    labels = np.array(["a", "b"] * 1250 + ["a"])
    if engine.startswith("spark"):  # whose rows have no order: this one may be among the first
        try:
            assert ENGINES[engine](table, labels, tmp_path).schema.dates == ()
        except NaivelyError:
            return
    else:
        with pytest.raises(NaivelyError, match=rf"(?s)must hold dates; got '{cell}'|{cell}"):
            ENGINES[engine](table, labels, tmp_path)


@pytest.mark.parametrize("part", ["year", "month", "weekday"])
def test_a_part_of_dates_in_the_paths_of_files_may_be_a_number(part, tmp_path):
    rows = pd.DataFrame(
        {"day": [f"2024-0{1 + i % 7}-1{i % 9}" for i in range(40)], "x": 1.0, "y": ["a", "b"] * 20}
    )
    for day, its in rows.groupby("day"):
        (tmp_path / f"day={day}").mkdir()
        its.drop(columns="day").to_parquet(tmp_path / f"day={day}" / "a.parquet")
    (tmp_path / "day=__HIVE_DEFAULT_PARTITION__").mkdir()
    rows[:2].drop(columns="day").to_csv(tmp_path / "day=__HIVE_DEFAULT_PARTITION__" / "a.csv")
    families = {f"day.{part}": "gaussian"}
    found = NaiveBayes.from_files(tmp_path, target="y", families=families, columns=["x", "day"])
    frame = pd.concat([rows, rows[:2].assign(day=None)])[["x", "day", "y"]]
    twin = NaiveBayes(families=families).fit(frame[["x", "day"]], frame["y"])
    found, twin = found.summary_, twin.summary_
    assert found.schema.kinds == twin.schema.kinds
    np.testing.assert_allclose(found.moments.mean, twin.moments.mean, rtol=1e-13)
    np.testing.assert_array_equal(found.moments.weight, twin.moments.weight)
