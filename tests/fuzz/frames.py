"""Frames of columns of any dtype, with random cells, against a plain loop.

The dtypes are those of `tests.dtypes`. What each column was taken for stands in the table there;
here its cells differ: few or many, missing or not, in one piece or in several.
"""

from collections import Counter
from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from naively import summarize
from tests import oracles
from tests.dtypes import DTYPES, VALUES, expected

TAKEN = {key: row["summarize"] for key, row in expected().items()}
LIBRARIES = ("pandas", "polars", "pyarrow")
CELLS = {
    "numbers": st.integers(0, 100),
    "codes": st.integers(0, 5),
    "booleans": st.booleans(),
    "flags": st.booleans(),
    "texts": st.sampled_from(
        ["a", "b", "ü", "日本", "", " a", "1", "01", "true", "NaN", "None", "<NA>"]
    ),
    "ranges": st.sampled_from(sorted({*VALUES["ranges"]})),
    "nothing": st.none(),
    "days": st.dates(date(1678, 1, 1), date(2262, 1, 1)),  # as far as nanoseconds reach
    "moments": st.datetimes(datetime(1678, 1, 1), datetime(2262, 1, 1)),
}


def columns(library):
    """Draw some columns of a library that are no errors, and their cells."""
    known = "numbers", "categories", "undecided", "dates"
    usable = [k for k in DTYPES if k[0] == library and TAKEN[k] in known]
    return st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.lists(
                st.sampled_from(usable).flatmap(lambda k: column(k, n)), min_size=1, max_size=4
            ),
            st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n),
            st.integers(0, n),
        )
    )


def column(key, n):
    dtype = DTYPES[key]
    cells = CELLS[dtype.values]
    if dtype.holes:
        cells = st.none() | cells
    return st.tuples(st.just(key), st.lists(cells, min_size=n, max_size=n))


CASES = st.sampled_from(LIBRARIES).flatmap(columns)


def check(case):
    listed, y, cut = case
    y = np.array(y)
    found = summarize(frame_of(listed, cut), y)
    for j, (key, cells) in enumerate(listed):
        if TAKEN[key] != "dates":
            compare(found, f"c{j}", cells, y, TAKEN[key])
            continue
        parts = [oracles.date_parts(cell) for cell in cells]
        its = [part for part in parts[0] if f"c{j}.{part}" in found.schema.names]
        for part in its:
            taken = "numbers" if part == "year" else "categories"
            compare(found, f"c{j}.{part}", [cell[part] for cell in parts], y, taken)
        if any(cell is not None for cell in cells):
            times = ["hour"] if DTYPES[key].values == "moments" else []
            assert its == ["year", "month", "weekday", *times]


def frame_of(listed, cut):
    """Return a frame; of two pieces, where the library knows pieces."""
    made = {f"c{j}": DTYPES[key].make(cells) for j, (key, cells) in enumerate(listed)}
    library = listed[0][0][0]
    if library == "pandas":
        return pd.DataFrame(made)
    if library == "polars":
        frame = pl.DataFrame(made)
        return pl.concat([frame[:cut], frame[cut:]], rechunk=False)
    table = pa.table(made)
    return pa.concat_tables([table[:cut], table[cut:]])


def compare(found, name, cells, y, taken):
    at = found.schema.names.index(name)
    present = [(c, label) for c, label in zip(cells, y.tolist(), strict=True) if c is not None]
    kind = found.schema.kinds[at] if found.schema.kinds else "number"
    classes = found.classes.tolist()
    assert classes == sorted(set(y.tolist()))
    if not present:
        assert kind == "undecided" or {"number": "numbers", "category": "categories"}[kind] == taken
    elif taken == "categories":
        place = list(found.schema.categories).index(at)
        names, tally = sorted({c for c, _ in present}), Counter(present)
        assert found.categories[place].tolist() == names, (found.categories[place], names)
        assert found.tally(place).tolist() == [[tally[c, k] for c in names] for k in classes]
    else:
        assert kind == "number", kind
        place = list(found.schema.numbers).index(at)
        for k, label in enumerate(classes):
            exact = oracles.moments_of_cells([float(c) for c, of in present if of == label])
            assert found.moments.weight[k, place] == exact.weight
            assert abs(found.moments.mean[k, place] - exact.mean) <= 1e-15 * (100 + abs(exact.mean))
            assert abs(found.moments.m2[k, place] - exact.m2) <= 1e-12 * (1 + exact.m2)
