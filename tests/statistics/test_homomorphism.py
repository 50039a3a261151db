"""Summarizing respects addition: any split, order, chunking and engine gives the same summary.

The bounds are those of a sum of n terms, n ulp of the sum of their sizes, in the terms that the
statistics are made of: weights, deviations and squared deviations from the mean.
"""

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naively import summarize
from naively.data.schema import Schema
from tests import oracles

EPS = np.finfo(float).eps
TINY = np.finfo(float).tiny  # squares below it underflow
COLUMNS = 3

laws = settings(deadline=None, max_examples=100)
offsets = st.sampled_from([0.0, 0.0, 1e8, -1e15])
cells = st.builds(add, offsets, st.floats(-100, 100, allow_subnormal=False)) | st.just(np.nan)
weights = st.sampled_from([0.0, 1.0, 1.0, 1e-10, 0.1, 3.0, 1e6])


@st.composite
def tables(draw, max_rows=25):
    """Rows with missing cells, their labels, their weights or None."""
    n = draw(st.integers(1, max_rows))
    X = np.array(draw(st.lists(cells, min_size=n * COLUMNS, max_size=n * COLUMNS)))
    y = np.array(draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))
    given_weights = st.lists(weights, min_size=n, max_size=n).map(np.array)
    return X.reshape(n, COLUMNS), y, draw(st.none() | given_weights)


def part(data, rows):
    X, y, w = data
    return summarize(X[rows], y[rows], sample_weight=None if w is None else w[rows])


def assert_same_statistics(a, b, data):
    """Equal but for rounding: of means to an ulp of the spread, and what m2 makes of that.

    How far the cells are from zero counts only by the square of an ulp.
    """
    X, y, _ = data
    assert np.array_equal(a.classes, b.classes)
    n, M = len(X), np.max(np.abs(X), initial=0.0, where=~np.isnan(X), axis=0)
    w, m2, e = a.moments.weight, a.moments.m2, 4 * n * EPS
    near = e * np.array([spread(X[y == k]) for k in a.classes]).reshape(w.shape) + e * EPS * M
    assert np.allclose(a.class_weight, b.class_weight, rtol=n * EPS, atol=0)
    assert np.allclose(w, b.moments.weight, rtol=n * EPS, atol=0)
    assert np.allclose(a.moments.mean, b.moments.mean, rtol=EPS, atol=near)
    apart = (a.moments.mean - b.moments.mean) + (a.moments.rest - b.moments.rest)
    assert (np.abs(apart) <= near).all()
    bound = 32 * e * m2 + 2 * near * np.sqrt(w * m2) + near**2 * w + TINY
    assert (np.abs(m2 - b.moments.m2) <= bound).all()


def spread(X):
    """Return how far apart the cells of each column are; 0 where there are none."""
    cells = [column[~np.isnan(column)] for column in X.T]
    return [np.ptp(column) if column.size else 0.0 for column in cells]


@laws
@given(tables())
def test_a_summary_holds_the_exact_moments(data):
    X, y, w = data
    got = part(data, slice(None))
    codes = np.searchsorted(got.classes, y)
    kept = np.isin(y, got.classes)
    exact = oracles.moments(X[kept], codes[kept], got.classes.size, None if w is None else w[kept])
    moments = type(got.moments)(oracles.rounded(exact) if exact else np.zeros((4, 0, COLUMNS)))
    expected = got.with_statistic(moments)
    assert_same_statistics(got, expected, data)


@laws
@given(tables(), st.lists(st.integers(0, 25), max_size=5))
def test_the_summaries_of_chunks_add_up_to_the_whole(data, cuts):
    bounds = [0, *sorted(cuts), len(data[0])]
    chunks = [part(data, slice(a, b)) for a, b in pairwise(bounds)]
    assert_same_statistics(reduce(add, chunks), part(data, slice(None)), data)


@laws
@given(tables())
def test_the_summaries_of_single_rows_add_up_to_the_whole(data):
    rows = [part(data, slice(i, i + 1)) for i in range(len(data[0]))]
    assert_same_statistics(reduce(add, rows), part(data, slice(None)), data)


@laws
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(data, random):
    order = list(range(len(data[0])))
    random.shuffle(order)
    assert_same_statistics(part(data, order), part(data, slice(None)), data)


@laws
@given(tables(), st.permutations(range(COLUMNS)))
def test_columns_do_not_see_each_other(data, order):
    X, y, w = data
    whole, shuffled = part(data, slice(None)), part((X[:, order], y, w), slice(None))
    assert np.array_equal(shuffled.moments.values, whole.moments.values[:, :, order])


@laws
@given(tables())
def test_weight_two_is_the_row_twice(data):
    X, y, w = data
    w = np.ones(len(X)) if w is None else w
    repeated = np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(w, 2)
    twice = part(repeated, slice(None))
    assert_same_statistics(part((X, y, 2 * w), slice(None)), twice, repeated)


@laws
@given(tables())
def test_weight_zero_is_the_row_left_out(data):
    X, y, w = data
    w = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0) if w is None else w
    assert part((X, y, w), slice(None)) == part((X, y, w), w > 0)


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars in chunks": lambda columns: pl.concat(
        [pl.DataFrame({name: column[rows] for name, column in columns.items()}) for rows in HALVES]
    ),
    "pyarrow": pa.table,
    "pyarrow with nulls": lambda columns: pa.table(
        {name: pa.array(column, from_pandas=True) for name, column in columns.items()}
    ),
}
HALVES = slice(0, 11), slice(11, None)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@settings(deadline=None, max_examples=30)
@given(data=tables())
def test_frames_hold_what_arrays_hold(frame, data):
    X, y, w = data
    columns = dict(zip("xyz", X.T, strict=True))
    of_frame = summarize(frame(columns), y, sample_weight=w)
    of_array = part(data, slice(None))
    assert of_frame.schema == Schema(COLUMNS, ("x", "y", "z"))
    assert of_frame.moments == of_array.moments
    assert np.array_equal(of_frame.class_weight, of_array.class_weight)


@laws
@given(tables())
def test_user_data_is_not_modified(data):
    before = [None if array is None else array.tobytes() for array in data]
    part(data, slice(None))
    assert [None if array is None else array.tobytes() for array in data] == before
