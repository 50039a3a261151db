"""Summaries of tables of numbers and categories: what is counted, and the laws."""

import math
from collections import Counter
from dataclasses import replace
from operator import add

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naively import NaivelyError, Summary, summarize
from naively.data.schema import Schema
from naively.engines.memory.tables import schema_of
from naively.statistics import Sample
from naively.statistics.sample import EVERYTHING, hashes_of

NAMES = ("x", "town", "z")
SCHEMA = Schema(
    3,
    NAMES,
    ("number", "category", "number"),
    edges=((-1.0, 0.0, 2.0), (0.0, 0.0, 5.0)),
    knots=((-2.0, -0.5, 1.0, 3.0), (-1.0, 0.0, 2.0, 6.0)),
    sample=5,
)
ZERO = Summary.zero(SCHEMA)

laws = settings(deadline=None, max_examples=60)
numbers = st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0, 7.0, None])
rows = st.lists(
    st.tuples(
        numbers,
        st.sampled_from(["Ulm", "Bonn", "Köln", "", None]),
        numbers,
        st.sampled_from("abc"),
        st.sampled_from([0.0, 1.0, 1.0, 2.0]),
    ),
    max_size=15,
)


def summary_of(rows):
    frame = pl.DataFrame(
        {name: [row[j] for row in rows] for j, name in enumerate(NAMES)},
        schema={"x": pl.Float64, "town": pl.String, "z": pl.Float64},
    )
    y = np.array([row[3] for row in rows], dtype="<U1")
    w = np.array([row[4] for row in rows], dtype=float)
    return summarize(frame, y, schema=SCHEMA, sample_weight=w)


def from_operations(values):
    return st.one_of(
        st.builds(add, values, values),
        st.builds(lambda factor, a: factor * a, st.sampled_from([0.0, 0.5, 2.0]), values),
        st.builds(lambda a, b: (a + b) - b, values, values),
    )


summaries = st.recursive(st.just(ZERO) | rows.map(summary_of), from_operations, max_leaves=4)


def assert_same(a, b):
    """Weights here are sums of powers of two, which are exact; means are not."""
    assert a.classes.tolist() == b.classes.tolist()
    assert np.array_equal(a.class_weight, b.class_weight)
    assert all(map(np.array_equal, a.categories, b.categories))
    assert a.tallies == b.tallies
    assert a.bins == b.bins
    assert a.sample == b.sample
    np.testing.assert_allclose(a.moments.values, b.moments.values, rtol=1e-13, atol=1e-12)


# --- what is counted ------------------------------------------------------------------------------


@laws
@given(rows)
def test_tallies_and_bins_are_those_of_a_plain_loop(rows):
    found = summary_of(rows)
    towns, bins = Counter(), Counter()
    for x, town, z, y, w in rows:
        if town is not None and w:
            towns[y, town] += w
        for j, cell in enumerate((x, z)):
            if cell is not None and w:
                bins[y, j, sum(edge < cell for edge in SCHEMA.edges[j])] += w
    classes = sorted({y for *_, y, w in rows if w})
    assert found.classes.tolist() == classes
    assert found.categories[0].tolist() == sorted({town for _, town in towns})
    for k, y in enumerate(classes):
        for c, town in enumerate(found.categories[0].tolist()):
            assert found.tally(0)[k, c] == towns[y, town]
        for j in range(2):
            assert found.bins.values[k, j].tolist() == [bins[y, j, b] for b in range(4)]


@laws
@given(rows)
def test_the_sample_is_the_rows_of_least_hash_with_the_weight_of_their_equals(rows):
    found = summary_of(rows).sample
    weights = Counter()
    for *cells, w in rows:
        weights[tuple(cells)] += w
    kept = {cells: w for cells, w in weights.items() if w}
    assert len(found) >= min(len(kept), SCHEMA.sample)
    assert len(found) <= SCHEMA.sample or found.hashes[SCHEMA.sample - 1] == found.hashes[-1]
    order = [*zip(found.hashes.tolist(), found.codes.tolist(), strict=True)]
    assert order == sorted(set(order))
    summary = summary_of(rows)
    for i in range(len(found)):
        x, z = (None if math.isnan(v) else v for v in found.numbers[i])
        code = found.categories[i, 0]
        town = summary.categories[0][code].item() if code >= 0 else None
        assert found.weight[i] == kept[x, town, z, summary.classes[found.codes[i]].item()]
    assert (found.bound == EVERYTHING) == (len(kept) <= SCHEMA.sample)


FRAMES = {
    "pandas": lambda d: pd.DataFrame(d),
    "pandas categories": lambda d: pd.DataFrame(d).astype({"town": "category"}),
    "pandas objects": lambda d: pd.DataFrame(d).astype({"town": object}),
    "polars": lambda d: pl.DataFrame(d),
    "polars categories": lambda d: pl.DataFrame(d).with_columns(
        pl.col("town").cast(pl.Categorical)
    ),
    "pyarrow": lambda d: pa.table(d),
    "pyarrow dictionary": lambda d: pa.table(
        {**d, "town": pa.array(d["town"]).dictionary_encode()}
    ),
    "pyarrow chunks": lambda d: pa.concat_tables([pa.table(d).slice(0, 3), pa.table(d).slice(3)]),
    "objects": lambda d: np.array(list(zip(*d.values(), strict=True)), dtype=object),
}
DATA = {
    "x": [1.0, -2.5, None, 0.0, 4.0, 1.0],
    "town": ["Ulm", None, "Bonn", "Ulm", "Köln", "Ulm"],
    "z": [3, 1, 2, 0, 9, 3],
}
LABELS = ["a", "b", "a", "b", "b", "a"]


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_every_frame_gives_the_same_summary(make):
    expected = summarize(pd.DataFrame(DATA), LABELS, schema=SCHEMA)
    assert summarize(make(DATA), LABELS, schema=SCHEMA) == expected


def test_columns_are_found_by_name_in_any_order():
    frame = pd.DataFrame(DATA)[["z", "town", "x"]].assign(more=1)
    assert summarize(frame, LABELS, schema=SCHEMA) == summarize(
        pd.DataFrame(DATA), LABELS, schema=SCHEMA
    )


def test_categories_of_numbers_and_booleans_stay_what_they_are():
    schema = Schema(2, ("zip", "flag"), ("category", "category"))
    frame = pl.DataFrame({"zip": [89073, 53111, None], "flag": [True, False, True]})
    found = summarize(frame, ["a", "a", "b"], schema=schema)
    assert found.categories[0].tolist() == [53111, 89073]
    assert found.categories[1].tolist() == [False, True]
    assert found.tally(1).tolist() == [[1.0, 1.0], [0.0, 1.0]]


# --- laws, beside those of every summary in tests/statistics/test_laws.py -------------------------


@laws
@given(rows, rows)
def test_two_halves_add_up_to_the_whole(a, b):
    assert_same(summary_of(a) + summary_of(b), summary_of(a + b))


@laws
@given(rows, st.randoms())
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert_same(summary_of(shuffled), summary_of(rows))


@laws
@given(rows, rows)
def test_what_was_added_can_be_removed(a, b):
    both, first = summary_of(a) + summary_of(b), summary_of(a)
    rest = both - summary_of(b)
    room = Summary.zero(SCHEMA, both.classes) + first
    assert rest.classes.tolist() == room.classes.tolist()
    assert rest.tallies == room.tallies
    assert rest.bins == room.bins
    assert all(map(np.array_equal, rest.categories, room.categories))
    known = rest.sample.hashes  # fewer than before, where others had pushed some out
    assert np.isin(known, first.sample.hashes).all()
    below = first.sample.hashes < rest.sample.bound
    assert np.array_equal(first.sample.hashes[below], known)


def test_removing_what_was_never_there_raises():
    a, b = (
        summarize(pd.DataFrame(DATA)[rows], LABELS[rows], schema=SCHEMA)
        for rows in (slice(0, 3), slice(3, 6))
    )
    with pytest.raises(NaivelyError, match="cannot subtract"):
        a - b
    odd = Sample(
        2,
        EVERYTHING,
        *(getattr(a.sample, n) for n in ("hashes", "weight", "codes", "numbers", "categories")),
    )
    with pytest.raises(NaivelyError, match="a row was never added"):
        odd - b.sample
    with pytest.raises(NaivelyError, match="below zero"):
        odd - 2 * odd


# --- schemas --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Schema(2, ("x", "town")), "the same columns; got 3 and 2"),
        (Schema(3, ("x", "city", "z")), "'town' and 'city'"),
        (Schema(3, NAMES), "column 'town' as categories in one and as numbers in the other"),
        (replace(SCHEMA, edges=((0.0,),) * 2, knots=((0.0, 1.0),) * 2), "same edges"),
        (replace(SCHEMA, sample=9), "5 and 9 rows"),
    ],
    ids=["columns", "names", "kinds", "edges", "samples"],
)
def test_summaries_of_other_schemas_do_not_add(other, message):
    with pytest.raises(NaivelyError, match=message):
        ZERO + Summary.zero(other)


def test_a_category_that_was_text_cannot_become_a_number():
    text = summarize(pd.DataFrame({"c": ["a"]}), ["k"])
    number = summarize(pl.DataFrame({"c": [1]}), ["k"], schema=text.schema)
    with pytest.raises(NaivelyError, match="column 'c': labels must be all of one type"):
        text + number


def test_all_columns_of_numbers_are_the_plain_schema():
    assert Schema(2, None, ("number", "number")) == Schema(2)


KINDS = {
    "numbers": ([1, 2.5, None], "number"),
    "text": (["1", "a", None], "category"),
    "booleans": ([True, None, False], "category"),
}


@pytest.mark.parametrize(("cells", "kind"), KINDS.values(), ids=KINDS)
@pytest.mark.parametrize(
    "make",
    [
        lambda c: pl.DataFrame({"c": c}, strict=False),
        lambda c: pa.table({"c": c}),
        lambda c: pd.DataFrame({"c": pd.Series(c, dtype=object)}),
        lambda c: np.array(c, dtype=object)[:, np.newaxis],
    ],
    ids=["polars", "pyarrow", "pandas", "objects"],
)
def test_the_type_of_a_column_says_what_it_holds(make, cells, kind):
    assert schema_of(make(cells)).held == (kind,)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_a_column_of_no_type_is_undecided(make):
    assert schema_of(make({"c": [None, None]})).held == ("undecided",)


def test_hashes_are_the_same_on_every_machine():
    assert hashes_of(np.array(["a"])).tolist() == [3405396810240292928]
    assert hashes_of(np.array([True])) == hashes_of(np.array([1]))
