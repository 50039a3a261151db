"""Counts of sparse rows: exact, the same in any form, and cheap to add to."""

import numpy as np
import pytest
import scipy.sparse

from naively import NaivelyError, Summary, summarize
from naively.data.schema import Schema
from naively.statistics import Documents, MissingCells, Occurrences

D = 400
COUNTED = {
    Occurrences: Schema(D, counted="occurrences"),
    Documents: Schema(D, counted="documents", threshold=1.0),
    MissingCells: Schema(D, counted="documents", threshold=1.0),
}


def drawn(seed, n, classes="abc", missing=0.0):
    rng = np.random.default_rng(seed)
    dense = rng.integers(0, 4, size=(n, D)) * (rng.random((n, D)) < 0.05).astype(float)
    dense[rng.random(dense.shape) < missing] = np.nan
    return dense, rng.choice(list(classes), n)


def expected(dense, y, kind, weights=None, threshold=1.0):
    """Return the counts by plain sums over the rows of each class."""
    w = np.ones(len(y)) if weights is None else weights
    cells = {
        Occurrences: np.nan_to_num(dense),
        Documents: np.nan_to_num(dense) > threshold,
        MissingCells: np.isnan(dense),
    }[kind]
    return np.array([w[y == k] @ cells[y == k] for k in np.unique(y)])


@pytest.mark.parametrize("kind", COUNTED, ids=lambda kind: kind.name)
@pytest.mark.parametrize("n", [3, 3000], ids=["a few rows", "many rows"])
@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_matrix", "asarray"])
def test_counts_are_plain_sums_whatever_holds_the_rows(kind, n, form):
    dense, y = drawn(0, n, missing=0.01)
    X = getattr(np if form == "asarray" else scipy.sparse, form)(dense)
    weights = np.random.default_rng(1).integers(1, 4, size=n).astype(float)
    for w in (None, weights):
        found = summarize(X, y, schema=COUNTED[kind], sample_weight=w)[kind]
        np.testing.assert_array_equal(found.values, expected(dense, y, kind, w))


@pytest.mark.parametrize("kind", COUNTED, ids=lambda kind: kind.name)
def test_batches_of_any_size_add_up_to_the_whole_exactly(kind):
    dense, y = drawn(2, 1000, missing=0.01)
    X, schema = scipy.sparse.csr_array(dense), COUNTED[kind]
    total, start = Summary.zero(schema), 0
    for size in (1, 1, 1, 5, 700, 1, 2, 200, 89):
        total = total + summarize(X[start : start + size], y[start : start + size], schema=schema)
        start += size
    assert start == 1000
    assert total == summarize(X, y, schema=schema)
    rest = total - summarize(X[:300], y[:300], schema=schema)
    assert rest == summarize(X[300:], y[300:], schema=schema)
    few = total - summarize(X[:3], y[:3], schema=schema)
    assert few == summarize(X[3:], y[3:], schema=schema)


def test_adding_a_few_rows_copies_no_table():
    wide = Schema(1 << 20, counted="occurrences")
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((4000, 1 << 20), density=1e-3, rng=rng, format="csr")
    total = summarize(X, np.arange(4000) % 2, schema=wide)
    more = total + summarize(X[:10], np.arange(10) % 2, schema=wide)
    assert more[Occurrences].parts[0] is total[Occurrences].parts[0]
    again = more + summarize(X[:10], np.arange(10) % 2, schema=wide)
    assert again[Occurrences].parts[0] is total[Occurrences].parts[0]
    first = X[:10].toarray()
    added = np.array([first[::2].sum(axis=0), first[1::2].sum(axis=0)])
    np.testing.assert_allclose(
        again[Occurrences].values, total[Occurrences].values + 2 * added, rtol=1e-15
    )


@pytest.mark.parametrize("kind", [Occurrences, Documents])
def test_absorbing_is_adding_in_the_same_memory(kind):
    rng = np.random.default_rng(1)
    schema = Schema(5000, counted=kind.name)
    batches = [rng.poisson(0.02, (n, 5000)).astype(float) for n in (3, 30, 300, 2, 300)]
    parts = [summarize(X, np.arange(len(X)) % 2, schema=schema)[kind] for X in batches]
    held = [part.values.copy() for part in parts]
    total, tables = parts[0], []
    for part in parts[1:]:
        total = total.absorbed(part)
        tables.append(total.parts[0])
    np.testing.assert_array_equal(total.values, sum(held))
    assert tables[-1] is tables[-2] is not None
    for part, before in zip(parts, held, strict=True):
        np.testing.assert_array_equal(part.values, before)


def test_absorbing_sums_beyond_every_float64_is_an_error():
    schema = Schema(9, counted="occurrences")
    light = summarize(np.ones((1, 9)), [0], schema=schema)[Occurrences]
    heavy = 1e18 * summarize(np.full((1, 9), 1e290), [0], schema=schema)[Occurrences]
    total = light.absorbed(light).absorbed(heavy)
    with pytest.raises(NaivelyError, match="must add up to less than"):
        total.absorbed(heavy)


def test_threads_do_not_change_a_bit():
    X = scipy.sparse.random_array((20_000, 5000), density=1e-2, rng=1, format="csr")
    y = np.random.default_rng(0).integers(70, size=20_000)
    schema = Schema(5000, counted="occurrences")
    one, two, many = (summarize(X, y, schema=schema, n_jobs=n) for n in (1, 2, 7))
    assert one == two == many


def test_a_negative_count_is_an_error_that_names_row_and_column():
    dense, y = drawn(3, 50)
    dense[17, 3] = -2.0
    names = tuple(f"w{j}" for j in range(D))
    for X in (dense, scipy.sparse.csr_array(dense), scipy.sparse.csc_matrix(dense)):
        with pytest.raises(NaivelyError, match=r"got -2 in row 17, column 'w3'"):
            summarize(X, y, schema=Schema(D, names, counted="occurrences"))
        summarize(X, y, schema=COUNTED[Documents])  # it is not above the threshold
    dense[17, 3] = np.inf
    with pytest.raises(NaivelyError, match=r"got inf in row 17, column 3\."):
        summarize(scipy.sparse.csr_array(dense), y, schema=COUNTED[Occurrences])


def test_summaries_that_count_differently_do_not_add():
    dense, y = drawn(4, 20)
    parts = [
        summarize(dense, y, schema=schema)
        for schema in (COUNTED[Occurrences], COUNTED[Documents], Schema(D))
    ]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        with pytest.raises(NaivelyError, match="must count the same"):
            _ = parts[a] + parts[b]


def test_sums_beyond_every_float64_are_an_error_and_nothing_changes():
    schema = Schema(1, counted="occurrences")
    one = summarize([[1e289]], ["a"], schema=schema)
    with pytest.raises(NaivelyError, match="add up to less"):
        _ = 1e20 * one
    with pytest.raises(NaivelyError, match="add up to less"):
        summarize([[1e280]], ["a"], schema=schema, sample_weight=[1e30])


def test_a_sum_with_nothing_does_not_own_the_table_of_the_other():
    a = Occurrences((1, 2), (np.array([[1.0, 2.0]]), ()))
    owned = a.absorbed(a)
    kept, same = owned.values.copy(), owned + Occurrences.zero(1, 2)
    same.absorbed(a)
    np.testing.assert_array_equal(owned.values, kept)


def test_tables_of_small_numbers_add_like_those_of_float64():
    pairs = np.arange(12, dtype=np.uint32).reshape(2, 3, 2)
    small = Occurrences((2, 3), (pairs[:, :, 1], ()))
    large = Occurrences((2, 3), (pairs[:, :, 1].astype(float), ()))
    assert small == large
    assert small + small == large + large == large.absorbed(large).absorbed(small) - small
    assert small.values.dtype == np.float64
