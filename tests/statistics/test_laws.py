"""The laws of `Moments` and `Summary`, on values that come out of operations.

Every bound follows from two roundings. A weight or an m2 is off by a few ulp of itself; a mean
by a few ulp of the largest mean M in play, and moving means by e under a weight w moves m2 by at
most 2 e sqrt(w m2) + e^2 w. Removal magnifies both by the whole weight over what is left of it.
"""

import pickle
from fractions import Fraction
from functools import reduce
from operator import add, neg

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from naively import NaivelyError, Summary, summarize
from naively.data.schema import Schema
from naively.statistics import Moments
from tests import oracles
from tests.engines.test_mixed import ZERO as MIXED_ZERO
from tests.engines.test_mixed import assert_same
from tests.engines.test_mixed import summaries as mixed_summaries

EPS = np.finfo(float).eps
TINY = np.finfo(float).tiny  # squares below it underflow
COLUMNS = 2
ZERO = Summary.zero(Schema(COLUMNS))

laws = settings(deadline=None, max_examples=100)
offsets = st.sampled_from([0.0, 0.0, 1e8, -1e15])
cells = st.builds(add, offsets, st.floats(-100, 100, allow_subnormal=False))
weights = st.sampled_from([0.0, 1.0, 1.0, 1e-10, 0.1, 3.0, 1e6])
factors = st.sampled_from([0.0, 0.5, 0.9, 1.0, 2.0, 1e-3])


def one_cell(x, w):
    return Moments.of(w, x if w > 0 else 0.0, 0.0)


def from_operations(values):
    return st.one_of(
        st.builds(add, values, values),
        st.builds(lambda factor, a: factor * a, factors, values),
        st.builds(lambda a, b: (a + b) - b, values, values),
    )


def rows_of_data(min_size=0, max_size=12):
    """Labels, rows with missing cells, weights."""
    cell = cells | st.just(np.nan)
    row = st.tuples(st.sampled_from("abc"), st.tuples(*[cell] * COLUMNS), weights)
    return st.lists(row, min_size=min_size, max_size=max_size).map(as_arrays)


def as_arrays(rows):
    X = np.array([x for _, x, _ in rows]).reshape(-1, COLUMNS)
    return X, np.array([y for y, _, _ in rows], dtype="<U1"), np.array([w for *_, w in rows])


def summary_of(data):
    X, y, w = data
    return summarize(X, y, sample_weight=w)


moments = st.recursive(
    st.just(Moments.zero()) | st.builds(one_cell, cells, weights), from_operations, max_leaves=10
)
summaries = st.recursive(
    st.just(ZERO) | rows_of_data().map(summary_of), from_operations, max_leaves=5
)


def assert_moments_close(a, b, terms, *, magnified=1.0, ulps=32):
    """Compare elementwise; the terms are whatever went into a and b.

    Means are compared with what rounding took from them: they are off by ulps of the distances
    between the terms, and of how far those are from zero by the square of an ulp.
    """
    whole, e = reduce(add, terms), ulps * EPS
    w, m2 = whole.weight, whole.m2
    M = np.max([np.abs(term.mean) for term in terms], axis=0)
    near = magnified * e * (distance(terms) + EPS * M)
    assert (np.abs(a.weight - b.weight) <= magnified * e * w).all()
    assert (np.abs(a.mean - b.mean) <= near + EPS * M).all()
    assert (np.abs((a.mean - b.mean) + (a.rest - b.rest)) <= near).all()
    bound = magnified * (e * m2 + TINY) + 2 * near * np.sqrt(w * m2) + near**2 * w
    assert (np.abs(a.m2 - b.m2) <= bound).all()


def distance(terms):
    """Return how far apart the cells of all terms may be, elementwise."""
    means = np.array([np.where(term.weight > 0, term.mean, np.nan) for term in terms])
    most = np.max([term.m2 / np.maximum(term.weight, TINY) for term in terms], axis=0) ** 0.5
    low, high = np.fmin.reduce(means), np.fmax.reduce(means)
    return np.where(np.isnan(low), 0.0, high - low) + most


def assert_close(a, b, terms, **how):
    """Compare summaries of the same classes: their moments, and the class weights."""
    assert np.array_equal(a.classes, b.classes)
    whole = reduce(add, terms)
    room = Summary.zero(whole.schema, whole.classes)
    assert_moments_close(a.moments, b.moments, [(room + t).moments for t in terms], **how)
    bound = how.get("ulps", 32) * EPS * whole.class_weight
    assert (np.abs(a.class_weight - b.class_weight) <= bound).all()


# --- Moments and summaries ------------------------------------------------------------------

of_all = pytest.mark.parametrize(
    "values",
    [moments, summaries, mixed_summaries],
    ids=["moments", "summaries", "mixed summaries"],
)


def zero_like(a):
    return Moments.zero() if isinstance(a, Moments) else Summary.zero(a.schema, a.classes)


def assert_near(a, b, terms):
    if isinstance(a, Summary) and a.schema == MIXED_ZERO.schema:
        assert_same(a, b)
    else:
        (assert_moments_close if isinstance(a, Moments) else assert_close)(a, b, terms)


@of_all
@laws
@given(data=st.data())
def test_adding_nothing_changes_nothing(values, data):
    a = data.draw(values)
    zero = Moments.zero() if values is moments else Summary.zero(a.schema)
    assert a + zero == a == zero + a


@of_all
@laws
@given(data=st.data())
def test_addition_commutes(values, data):
    a, b = data.draw(st.tuples(values, values))
    assert_near(a + b, b + a, [a, b])


@of_all
@laws
@given(data=st.data())
def test_addition_associates(values, data):
    a, b, c = data.draw(st.tuples(values, values, values))
    assert_near((a + b) + c, a + (b + c), [a, b, c])


@of_all
@laws
@given(data=st.data())
def test_everything_without_everything_is_nothing_and_so_is_no_times_it(values, data):
    a = data.draw(values)
    assert a - a == 0 * a == zero_like(a)


@of_all
@laws
@given(data=st.data())
def test_twice_is_the_sum_with_itself(values, data):
    a = data.draw(values)
    assert 2 * a == a + a == np.float64(2) * a


@of_all
@laws
@given(data=st.data())
def test_all_survive_pickling(values, data):
    a = data.draw(values)
    assert pickle.loads(pickle.dumps(a)) == a


# --- Moments --------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [1e200, -1e308, 5e-324], ids=["huge", "the largest", "the smallest"])
def test_adding_nothing_changes_nothing_at_the_ends_of_the_range(x):
    a, zero = one_cell(x, 1.0), Moments.zero()
    assert a + zero == a == zero + a == a - zero


def test_nothing_and_nothing_is_nothing():
    assert Moments.zero(2, 3) + Moments.zero(2, 3) == Moments.zero(2, 3)
    assert ZERO + ZERO == ZERO


@laws
@given(moments, moments)
def test_addition_agrees_with_fractions(a, b):
    exact = oracles.merged(*map(exactly, (a, b)))
    assert_moments_close(a + b, Moments(oracles.rounded([[exact]])[:, 0, 0]), [a, b])


def exactly(moments):
    weight, mean, m2, rest = map(Fraction, moments.values.tolist())
    return oracles.Exact(weight, mean + rest, m2)


@laws
@given(moments, moments)
def test_what_was_added_can_be_removed(a, b):
    rest = (a + b) - b
    if rest.weight == 0:  # the weight of a was lost in the rounding of the sum
        assert a.weight <= 16 * EPS * b.weight
    else:
        assert_moments_close(rest, a, [a, b], magnified=(a + b).weight / rest.weight)


@laws
@given(factors, moments, moments)
def test_scaling_distributes_over_addition(factor, a, b):
    assert_moments_close(factor * (a + b), factor * a + factor * b, [a, b])


@laws
@given(moments)
def test_where_there_is_no_weight_there_is_nothing(a):
    assert a.weight > 0 or a == Moments.zero()


def test_a_weight_that_decays_below_every_float_is_nothing():
    a = Moments.of([1.0, 1e250], [5.0, 5.0], [3.0, 3.0])
    assert (1e-200 * (1e-200 * a))[0] == Moments.zero()


@laws
@given(st.lists(moments, min_size=1, max_size=6))
def test_pooling_adds_up_the_classes(parts):
    table = Moments(np.stack([part.values for part in parts], axis=1))
    assert_moments_close(table.pooled(), reduce(add, parts), parts)


@pytest.mark.parametrize("b", [one_cell(4.0, 3.0), one_cell(9.0, 1.0)], ids=["weight", "variance"])
def test_what_was_never_added_cannot_be_removed(b):
    with pytest.raises(NaivelyError, match="Subtract only what was added"):
        Moments.of(weight=2.0, mean=4.0, m2=0.5) - b


@pytest.mark.parametrize("factor", [-1.0, np.inf, np.nan])
@pytest.mark.parametrize("a", [one_cell(4.0, 3.0), ZERO], ids=["moments", "summary"])
def test_a_factor_must_be_finite_and_not_negative(a, factor):
    with pytest.raises(NaivelyError, match="factor must be finite and >= 0"):
        factor * a


@pytest.mark.parametrize("a", [one_cell(4.0, 3.0), ZERO], ids=["moments", "summary"])
def test_there_is_no_negative(a):
    with pytest.raises(TypeError):
        neg(a)


# --- Summary --------------------------------------------------------------------------------


@laws
@given(summaries, summaries)
def test_a_summary_that_was_added_can_be_removed(a, b):
    whole = a + b
    left, a = (Summary.zero(whole.schema, whole.classes) + s for s in (whole - b, a))
    lost = (left.moments.weight == 0) & (a.moments.weight > 0)
    assert (a.moments.weight[lost] <= 16 * EPS * whole.moments.weight[lost]).all()
    assume(not lost.any() and left.weight > 0)
    share = left.moments.weight / np.where(whole.moments.weight > 0, whole.moments.weight, 1.0)
    magnified = 1 / np.where(share > 0, share, 1.0)
    assert_close(left, a, [whole, a, b], magnified=magnified)


@pytest.mark.parametrize(
    "heavy",
    [[("a", (np.nan, np.nan), 1e6)], [("a", (0.0, np.nan), 1.0), ("a", (np.nan, 0.0), 1e6)]],
    ids=["all missing", "another column"],
)
def test_a_light_row_stays_when_heavy_rows_without_its_cells_are_removed(heavy):
    light = summary_of(as_arrays([("a", (2.0, np.nan), 1e-10)]))
    heavy = summary_of(as_arrays(heavy))
    left = light + heavy - heavy
    np.testing.assert_allclose(left.class_weight, [1e-10], rtol=1e-5)
    np.testing.assert_allclose(left.moments.weight, [[1e-10, 0.0]], rtol=1e-5)


@laws
@given(summaries, summaries)
def test_a_class_that_one_side_lacks_is_untouched(a, b):
    whole = a + b
    for k, label in enumerate(whole.classes):
        owners = [side for side in (a, b) if label in side.classes]
        if len(owners) == 1:
            at = owners[0].classes.tolist().index(label)
            assert whole.moments[k] == owners[0].moments[at]
            assert whole.class_weight[k] == owners[0].class_weight[at]


@laws
@given(summaries, summaries)
def test_operands_are_not_modified(a, b):
    before = pickle.dumps((a, b))
    _ = a + b, (a + b) - b, 0.5 * a, a.moments.pooled()
    assert pickle.dumps((a, b)) == before


@pytest.mark.parametrize("name", ["classes", "class_weight"])
def test_what_was_measured_cannot_be_written_over(name):
    a = summarize([[1.0]], ["a"])
    with pytest.raises(ValueError, match="read-only"):
        getattr(a, name)[:] = getattr(a, name)
    with pytest.raises(ValueError, match="read-only"):
        a.moments.mean[:] = 0.0


def test_a_removal_that_is_too_large_names_the_class():
    a, b = summarize([[1.0], [1.0]], ["a", "b"]), summarize([[1.0]] * 3, ["b"] * 3)
    with pytest.raises(NaivelyError, match=r"class 'b' would have weight -2\.0"):
        a - b


def test_a_removal_of_a_class_that_was_never_seen_names_the_class():
    with pytest.raises(NaivelyError, match=r"class 'c' would have weight -1\.0"):
        summarize([[1.0]], ["a"]) - summarize([[1.0]], ["c"])


NAMED = {names: Schema(2, tuple(names)) for names in ("xy", "yx", "xz")}


@pytest.mark.parametrize("operation", ["__add__", "__sub__"])
@pytest.mark.parametrize(
    ("a", "b"),
    [(Schema(2), Schema(3)), (NAMED["xy"], NAMED["yx"]), (NAMED["xy"], NAMED["xz"])],
    ids=["counts", "order", "names"],
)
def test_summaries_of_other_columns_do_not_combine(operation, a, b):
    with pytest.raises(NaivelyError, match=r"same columns.*share a schema"):
        getattr(Summary.zero(a), operation)(Summary.zero(b))


def test_columns_with_names_meet_columns_without():
    assert (ZERO + Summary.zero(NAMED["xy"])).schema.names == ("x", "y")


@pytest.mark.parametrize(
    ("a", "b"),
    [("a", 1), ("a", b"a"), ("a", True), (np.datetime64("2020-01-01"), 1)],
    ids=["text and number", "text and bytes", "text and truth", "date and number"],
)
def test_labels_of_different_types_do_not_mix(a, b):
    with pytest.raises(NaivelyError, match="labels must be all of one type"):
        summarize([[1.0]], np.array([a])) + summarize([[1.0]], np.array([b]))
