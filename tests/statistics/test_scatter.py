"""Scatter beside exact fractions: any layout, weights, missing cells, and far from zero."""

from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naively import NaivelyError, Summary, _kernel, summarize
from naively.data.schema import Schema
from naively.data.tensors import UnsoundError
from naively.statistics import Scatter
from naively.statistics.model_file import pack, unpack
from naively.statistics.scatter import pairs_of

EPS = np.finfo(float).eps


def exact(X, weights, centres):
    """Return weight, mean and products of rows of one class, by fractions."""
    rows = [
        [
            Fraction(x) - Fraction(c) if x == x else Fraction(0)
            for x, c in zip(row, centres, strict=True)
        ]
        for row in X.tolist()
    ]
    w = [Fraction(v) for v in weights]
    n, p = sum(w), len(centres)
    mean = [sum(v * d[j] for v, d in zip(w, rows, strict=True)) / n for j in range(p)]
    products = [
        sum(v * (d[i] - mean[i]) * (d[j] - mean[j]) for v, d in zip(w, rows, strict=True))
        for i in range(p)
        for j in range(i, p)
    ]
    return float(n), np.array(mean, float), np.array(products, float)


def table(n=200, p=3, offset=0.0, seed=0):
    """Return rows of correlated columns, with holes; their classes; weights, some of them 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = offset + rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 3 * y[:, np.newaxis]
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng.choice([0.0, 0.5, 1.0, 2.0], size=n)


def measured(X, y, weights=None, centres=(0.0, 1.0, 2.0), **options):
    schema = Schema(X.shape[1], centres=tuple(centres))
    return summarize(X, y, sample_weight=weights, schema=schema, **options)


def assert_exact(found, X, y, weights, centres, rtol=1e-13):
    for k in range(found.weight.size):
        n, mean, products = exact(X[y == k], weights[y == k], centres)
        squares = products[np.diagonal(pairs_of(len(centres)))]
        i, j = np.triu_indices(len(centres))
        assert found.weight[k] == pytest.approx(n)
        np.testing.assert_allclose(found.mean[k], mean, rtol=rtol, atol=rtol)
        bound = rtol * np.sqrt(squares[i] * squares[j])
        assert (np.abs(found.products[k] - products) <= bound).all()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("layout", ["rows", "columns", "every second", "float32", "int16"])
def test_products_are_those_of_fractions_in_any_layout(layout, weighted):
    X, y, w = table()
    if layout == "float32":
        X = X.astype(np.float32)
    elif layout == "int16":
        X = np.nan_to_num(10 * X).astype(np.int16)
    given_rows = X
    if layout == "columns":
        given_rows = np.asfortranarray(X)
    elif layout == "every second":
        given_rows = np.repeat(X, 2, axis=1)[:, ::2]
    centres = (0.25, -1.0, 3.0)
    found = measured(given_rows, y, w if weighted else None, centres)[Scatter]
    assert_exact(found, X.astype(float), y, w if weighted else np.ones(len(y)), centres)


@pytest.mark.parametrize("centre", [0.0, 1e8], ids=["far from the centre", "near the centre"])
def test_a_hundred_million_plus_noise(centre):
    """Sums of plain products, of 1e16 each, have lost every digit of a covariance of 1."""
    X, y, _ = table(offset=1e8)
    X, weights, centres = np.nan_to_num(X, nan=1e8), np.ones(len(y)), (centre,) * 3
    halves = [measured(X[at], y[at], centres=centres)[Scatter] for at in (y < 9, slice(0, 0))]
    assert_exact(halves[0], X, y, weights, centres, rtol=1e-9)
    parts = [measured(X[i : i + 7], y[i : i + 7], centres=centres) for i in range(0, len(y), 7)]
    assert_exact(reduce(add, parts)[Scatter], X, y, weights, centres, rtol=1e-7)
    own = X[y == 0]
    naive = own.T @ own - len(own) * np.outer(own.mean(axis=0), own.mean(axis=0))
    squares = halves[0].within(range(3))[0]
    assert np.abs(naive - squares).max() > 1e-3 * np.abs(squares).max()


def test_a_first_row_far_from_all_others_leaves_ten_digits():
    X, y, _ = table(n=5000)
    X, y = np.nan_to_num(X), np.zeros(len(y), int)
    X[0] = 1e6
    assert_exact(measured(X, y)[Scatter], X, y, np.ones(len(y)), (0.0, 1.0, 2.0), rtol=1e-10)


def test_many_tiles_and_blocks_are_one_table_and_threads_do_not_change_a_bit():
    rng = np.random.default_rng(1)
    y = np.sort(rng.integers(5, size=80_000))
    X = rng.normal(size=(80_000, 9)) @ rng.normal(size=(9, 9)) + y[:, np.newaxis]
    one, two = (measured(X, y, centres=(0.0,) * 9, n_jobs=n)[Scatter] for n in (1, 2))
    assert one == two
    for k in range(5):
        around = X[y == k] - X[y == k].mean(axis=0)
        np.testing.assert_allclose(one.within(range(9))[k], around.T @ around, rtol=1e-9)


rows = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.tuples(*[st.floats(-100, 100, allow_subnormal=False) | st.just(np.nan)] * 2),
        st.sampled_from([0.0, 1.0, 1.0, 1e-10, 3.0, 1e6]),
    ),
    max_size=8,
)
SMALL = Schema(2, centres=(0.0, 50.0))
ZERO = Summary.zero(SMALL)


def summary_of(drawn):
    X = np.array([x for _, x, _ in drawn]).reshape(-1, 2)
    y, w = np.array([y for y, _, _ in drawn], dtype="<U1"), np.array([w for *_, w in drawn])
    return summarize(X, y, sample_weight=w, schema=SMALL)


summaries = st.recursive(
    st.just(ZERO) | rows.map(summary_of),
    lambda values: st.one_of(
        st.builds(add, values, values),
        st.builds(lambda factor, a: factor * a, st.sampled_from([0.0, 0.5, 1.0, 2.0]), values),
    ),
    max_leaves=4,
)
laws = settings(deadline=None, max_examples=100)


def assert_close(a, b, terms, magnified=1.0):
    """Compare to rounding of what went in: no cell is more than 300 from another."""
    weight = reduce(add, terms).class_weight
    assert a.classes.tolist() == b.classes.tolist()
    a, b, e = a[Scatter], b[Scatter], 64 * EPS * magnified
    assert (np.abs(a.weight - b.weight) <= e * weight).all()
    assert (np.abs(a.mean - b.mean) <= 300 * e).all()
    assert (np.abs(a.products - b.products) <= 1e5 * e * weight[:, np.newaxis]).all()


@laws
@given(summaries, summaries, summaries)
def test_the_laws_of_addition(a, b, c):
    assert a + ZERO == a == ZERO + a
    assert_close(a + b, b + a, [a, b])
    assert_close((a + b) + c, a + (b + c), [a, b, c])
    assert (2 * a)[Scatter] == (a + a)[Scatter]
    assert a - a == 0 * a


@laws
@given(summaries, summaries)
def test_what_was_added_can_be_removed(a, b):
    whole = a + b
    left, a = (Summary.zero(SMALL, whole.classes) + part for part in (whole - b, a))
    kept = left.class_weight > 0
    assert (a.class_weight[~kept] <= 16 * EPS * whole.class_weight[~kept]).all()
    share = (left.class_weight[kept] / whole.class_weight[kept]).min(initial=1.0)
    at = np.flatnonzero(kept)
    parts = [part.with_classes(at) for part in (left, a, whole)]
    assert_close(parts[0], parts[1], parts[2:], magnified=1 / share**2)


def test_what_was_never_added_cannot_be_removed():
    few, other = (
        Scatter(np.array([n]), np.array([[m]]), np.array([[0.5]]))
        for n, m in ((2.0, 1.0), (1.0, 9.0))
    )
    with pytest.raises(NaivelyError, match="Subtract only what was added"):
        few - other


def test_rows_of_a_constant_column_can_be_removed_whatever_its_mean_was_rounded_to():
    X = np.full((1000, 3), 0.1) * [1, 10, 1e9]
    y = np.zeros(1000, int)
    parts = [measured(X[i : i + 7], y[i : i + 7]) for i in range(0, 1000, 7)]
    left = reduce(add, parts)
    for part in parts[:-1]:
        left = left - part
    np.testing.assert_allclose(left[Scatter].mean, parts[-1][Scatter].mean, rtol=1e-10)


def test_an_undecided_column_counts_as_its_centre_until_it_is_decided():
    X, y, _ = table()
    names = ("a", "b", "c")
    first = Schema(3, names, ("number", "number", "undecided"), centres=(0.0, 1.0))
    empty = X.copy()
    empty[:, 2] = np.nan
    frame = pd.DataFrame(empty, columns=names).assign(c=None)
    seen = summarize(frame, y, schema=first)
    assert seen[Scatter].mean.shape == (3, 2)
    later = Schema(3, names, centres=(0.0, 1.0, 2.0))
    whole = seen + summarize(X, y, schema=later)
    both = measured(np.vstack([empty, X]), np.concatenate([y, y]))
    np.testing.assert_allclose(whole[Scatter].products, both[Scatter].products, rtol=1e-12)
    assert whole.schema.centres == (0.0, 1.0, 2.0)


def test_summaries_of_other_centres_do_not_add():
    X, y, _ = table()
    for other in (Schema(3), Schema(3, centres=(0.0, 0.0, 0.0))):
        with pytest.raises(NaivelyError, match=r"same centres.*share a schema"):
            measured(X, y) + summarize(X, y, schema=other)


@pytest.mark.parametrize("cell", [1e200, -1.7e308])
def test_a_cell_too_large_for_products_is_refused(cell):
    X, y, _ = table()
    seen = measured(X, y)
    with pytest.raises(NaivelyError, match="column 1"):
        seen + measured(np.array([[0.0, cell, 0.0]]), [0])


@pytest.mark.parametrize("part", ["weight", "mean", "products", "centres"])
def test_a_file_that_holds_what_no_rows_have_is_refused(part):
    header, tensors = pack(measured(*table()[:2]))
    name = part if part == "centres" else f"scatter.{part}"
    tensors[name] = tensors[name].copy()
    for bad in (np.nan, -1.0):
        tensors[name].flat[0] = bad
        if np.isnan(bad) or part in ("weight", "products"):
            with pytest.raises(UnsoundError):
                unpack(dict(header), dict(tensors))


def test_a_light_part_far_away_takes_no_digits_from_the_mean():
    light = Scatter(np.array([1e-300]), np.array([[1e10, -1e10]]), np.zeros((1, 3)))
    heavy = Scatter(np.array([3.0]), np.array([[1.2345, 2.0]]), np.array([[2.0, 1.0, 2.0]]))
    for total in (light + heavy, heavy + light):
        assert total.mean.tolist() == heavy.mean.tolist()
        np.testing.assert_allclose(total.products, heavy.products, rtol=1e-12)


def arrays(n_classes, p):
    return np.zeros(n_classes), np.zeros((n_classes, p)), np.zeros((n_classes, p * (p + 1) // 2))


def test_the_kernel_adds_to_no_class_that_there_is_not():
    for place in (-1, 2):
        with pytest.raises(ValueError, match="no class"):
            _kernel.add_scatter(*arrays(2, 2), *arrays(1, 2), np.array([place]))
    with pytest.raises(ValueError, match="every pair"):
        _kernel.add_scatter(*arrays(2, 2), *arrays(1, 3), np.array([0]))


def test_the_kernel_wants_a_product_for_every_pair():
    X, y, _ = table()
    for p, pairs in ((3, 5), (2, 6)):
        with pytest.raises(ValueError, match="every pair"):
            _kernel.scatter(
                X,
                y.astype(np.int32),
                None,
                np.zeros(3),
                np.zeros(3),
                np.zeros((3, p)),
                np.zeros((3, pairs)),
            )
