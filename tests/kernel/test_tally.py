"""Counting and hashing against plain loops: what is read, what is counted, what is refused."""

import itertools

import numpy as np
import pytest

from naively import _kernel
from tests.kernel.test_kernel import DTYPES, LAYOUTS

SIGNED = ["int8", "int16", "int32", "int64", "float32", "float64"]


def codes_of(dtype, shape, sizes, missing=0.2, seed=0):
    """Codes below each column's size, some of them missing where the dtype can say so."""
    rng = np.random.default_rng(seed)
    codes = np.floor(rng.random(shape) * np.asarray(sizes))
    if dtype in SIGNED:
        lost = rng.random(shape) < missing
        codes[lost] = -1 if np.dtype(dtype).kind == "i" else np.nan
    return codes.astype(dtype)


def classes_of(n_rows, n_classes, seed=1):
    return np.random.default_rng(seed).integers(n_classes, size=n_rows).astype(np.int32)


def offsets_of(sizes):
    return np.array([0, *itertools.accumulate(sizes)], np.int64)


def tally(X, y, sizes, n_classes, weights=None):
    out = np.zeros((n_classes, sum(sizes)))
    _kernel.tally(X, y, weights, offsets_of(sizes), out)
    return out


def tally_by_hand(X, y, sizes, n_classes, weights=None):
    out, offsets = np.zeros((n_classes, sum(sizes))), offsets_of(sizes)
    for i, row in enumerate(X.tolist()):
        for j, code in enumerate(row):
            if code >= 0:
                out[y[i], offsets[j] + int(code)] += 1 if weights is None else weights[i]
    return out


SIZES = [3, 1, 2, 2, 2, 2, 2, 2, 2]  # as many categories as a bool holds, mostly


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_codes_of_any_dtype_and_layout_are_counted(dtype, layout):
    sizes = [2] * 9 if dtype == "bool" else SIZES
    X, y = codes_of(dtype, (131, 9), sizes), classes_of(131, 3)
    assert np.array_equal(tally(LAYOUTS[layout](X), y, sizes, 3), tally_by_hand(X, y, sizes, 3))


SHAPES = [(rows, 3, 2) for rows in (0, 1, 3, 4, 5, 63, 64, 65, 1023, 1024, 1025, 3000)]
SHAPES += [(70, columns, 3) for columns in (0, 1, 7, 8, 9, 200)] + [(900, 9, 1), (900, 9, 300)]


@pytest.mark.parametrize("layout", ["rows", "columns", "a list of columns"])
@pytest.mark.parametrize(
    ("rows", "columns", "classes"),
    SHAPES,
    ids=[f"{n} rows {p} columns {k} classes" for n, p, k in SHAPES],
)
def test_any_number_of_rows_columns_and_classes_is_counted(rows, columns, classes, layout):
    sizes = [2 + j % 5 for j in range(columns)]
    X, y = codes_of("int64", (rows, columns), sizes), classes_of(rows, classes)
    expected = tally_by_hand(X, y, sizes, classes)
    assert np.array_equal(tally(LAYOUTS[layout](X), y, sizes, classes), expected)


@pytest.mark.parametrize("size", [10, 1000, 100_000], ids=["few", "many", "more than rows"])
@pytest.mark.parametrize("columns", [2, 12])
def test_any_number_of_categories_is_counted(size, columns):
    sizes = [size] * columns
    X, y = codes_of("int32", (2000, columns), sizes), classes_of(2000, 5)
    assert np.array_equal(tally(X, y, sizes, 5), tally_by_hand(X, y, sizes, 5))


@pytest.mark.parametrize("columns", [1, 9])
def test_equal_neighbours_are_counted_one_by_one(columns):
    sizes, X, y = [3] * columns, np.full((5003, columns), 2), np.zeros(5003, np.int32)
    y[4000:] = 1
    assert np.array_equal(tally(X, y, sizes, 2), [[0, 0, 4000] * columns, [0, 0, 1003] * columns])


@pytest.mark.parametrize("size", [4, 5000], ids=["few", "more than rows"])
@pytest.mark.parametrize("layout", ["rows", "a list of columns"])
def test_weights_are_added_up_in_the_order_of_the_rows(layout, size):
    X, y = codes_of("int16", (2000, 9), [size] * 9), classes_of(2000, 3)
    weights = 10.0 ** np.random.default_rng(2).uniform(-9, 9, 2000)
    got = tally(LAYOUTS[layout](X), y, [size] * 9, 3, weights)
    assert np.array_equal(got, tally_by_hand(X, y, [size] * 9, 3, weights))


def test_counts_are_added_to_what_is_there():
    X, y = codes_of("int8", (500, 3), [4, 2, 1]), classes_of(500, 2)
    out = np.full((2, 7), 0.5)
    _kernel.tally(X, y, None, offsets_of([4, 2, 1]), out)
    assert np.array_equal(out, 0.5 + tally_by_hand(X, y, [4, 2, 1], 2))


def test_a_column_of_missing_cells_needs_no_categories():
    X, y = np.full((50, 2), -1), classes_of(50, 2)
    X[:, 1] = 1
    expected = tally_by_hand(X, y, [0, 2], 2)
    assert np.array_equal(tally(X, y, [0, 2], 2), expected)
    assert np.array_equal(tally([*X.T.copy()], y, [0, 2], 2), expected)


TOO_LARGE = [
    ("int8", 3),
    ("int8", 127),
    ("int64", 2**31),
    ("int64", 2**32),
    ("int64", 2**63 - 1),
    ("uint64", 2**64 - 1),
    ("uint64", 2**32),
    ("uint32", 2**32 - 1),
    ("uint8", 255),
    ("float64", 3.0),
    ("float64", 1e300),
    ("float64", np.inf),
    ("float32", np.inf),
]


@pytest.mark.parametrize("columns", [2, 9])
@pytest.mark.parametrize(("dtype", "code"), TOO_LARGE, ids=[f"{d} {c}" for d, c in TOO_LARGE])
def test_a_code_without_a_category_is_refused(dtype, code, columns):
    X, y = np.zeros((70, columns), dtype), classes_of(70, 2)
    X[67, 1] = code
    for table in (X, [*X.T.copy()]):
        with pytest.raises(ValueError, match="a code has no category"):
            tally(table, y, [3] * columns, 2)
        with pytest.raises(ValueError, match="a code has no category"):
            _kernel.add_tables(
                table, offsets_of([3] * columns), np.zeros((3 * columns, 2)), np.zeros((70, 2))
            )


@pytest.mark.parametrize("columns", [2, 9])
def test_a_row_without_weight_may_hold_any_code(columns):
    X, y, weights = codes_of("int64", (70, columns), [3] * columns), classes_of(70, 2), np.ones(70)
    X[67, 1], weights[67] = 99, 0.0
    expected = tally_by_hand(np.delete(X, 67, 0), np.delete(y, 67), [3] * columns, 2)
    assert np.array_equal(tally(X, y, [3] * columns, 2, weights), expected)


@pytest.mark.parametrize("code", [-1, 2], ids=["negative", "too large"])
def test_a_label_without_a_class_is_refused(code):
    y, X = np.array([0, code, 1], np.int32), np.zeros((3, 1))
    with pytest.raises(ValueError, match="a code has no class"):
        tally(X, y, [1], 2)
    with pytest.raises(ValueError, match="a code has no class"):
        _kernel.tally_bins(X, y, None, np.zeros((1, 1)), np.zeros((2, 1, 2)))


@pytest.mark.parametrize("offsets", [[0, 2], [1, 2, 3], [0, 3, 2], [0, 2, 4], [0, -1, 3]])
def test_offsets_that_do_not_fit_are_refused(offsets):
    with pytest.raises(ValueError, match="offset"):
        _kernel.tally(
            np.zeros((2, 2)), np.zeros(2, np.int32), None, np.array(offsets), np.zeros((1, 3))
        )


def bins_by_hand(X, y, edges, n_classes, weights=None):
    out = np.zeros((n_classes, X.shape[1], edges.shape[1] + 1))
    for (i, j), x in np.ndenumerate(X):
        if not np.isnan(x):
            b = sum(edge < x for edge in edges[j].tolist())
            out[y[i], j, b] += 1 if weights is None else weights[i]
    return out


def tally_bins(X, y, edges, n_classes, weights=None):
    out = np.zeros((n_classes, edges.shape[0], edges.shape[1] + 1))
    assert _kernel.tally_bins(X, y, weights, edges, out)
    return out


def edges_of(n_columns, n_edges, seed=3):
    """Ascending edges, every third of them equal to the one before, the last ones infinite."""
    edges = np.sort(np.random.default_rng(seed).normal(size=(n_columns, n_edges)))
    edges[:, 1::3] = edges[:, 0 : n_edges - 1 : 3][:, : edges[:, 1::3].shape[1]]
    edges[:, n_edges - n_edges // 8 :] = np.inf
    return edges


@pytest.mark.parametrize("layout", ["rows", "columns", "a list of columns"])
@pytest.mark.parametrize("bins", [1, 2, 3, 4, 8, 16, 32, 33, 64, 65, 100, 300])
def test_numbers_fall_between_the_edges(bins, layout):
    edges, y = edges_of(11, bins - 1), classes_of(301, 3)
    X = np.random.default_rng(4).normal(size=(301, 11))
    if bins > 1:  # numbers on an edge belong below it
        X[::2] = np.where(np.isinf(edges), 0, edges)[:, y[::2] % (bins - 1)].T
    X[::7, ::2] = np.nan
    got = tally_bins(LAYOUTS[layout](X), y, edges, 3)
    assert np.array_equal(got, bins_by_hand(X, y, edges, 3))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_of_any_dtype_and_layout_fall_into_bins(dtype, layout):
    X = (np.random.default_rng(5).random((131, 19)) * 2 + 0.5).astype(dtype)
    y, edges = classes_of(131, 3), np.tile([0.0, 0.5, 1.0, 1.5, 1.5, 2.0, 2.4], (19, 1))
    expected = bins_by_hand(X.astype(float), y, edges, 3)
    assert np.array_equal(tally_bins(LAYOUTS[layout](X), y, edges, 3), expected)


BIN_SHAPES = [(rows, 3, 2) for rows in (0, 1, 7, 8, 9, 255, 256, 257, 1023, 1024, 1025, 2600)]
BIN_SHAPES += [(40, columns, 3) for columns in (0, 1, 7, 8, 9, 70)] + [(300, 3, 1), (300, 9, 200)]


@pytest.mark.parametrize("layout", ["rows", "a list of columns"])
@pytest.mark.parametrize(
    ("rows", "columns", "classes"),
    BIN_SHAPES,
    ids=[f"{n} rows {p} columns {k} classes" for n, p, k in BIN_SHAPES],
)
def test_any_number_of_rows_columns_and_classes_falls_into_bins(rows, columns, classes, layout):
    X, y = np.random.default_rng(6).normal(size=(rows, columns)), classes_of(rows, classes)
    edges = edges_of(columns, 15)
    expected = bins_by_hand(X, y, edges, classes)
    assert np.array_equal(tally_bins(LAYOUTS[layout](X), y, edges, classes), expected)


@pytest.mark.parametrize("layout", ["rows", "a list of columns"])
def test_weights_fall_into_bins_in_the_order_of_the_rows(layout):
    X, y, edges = np.random.default_rng(7).normal(size=(1500, 9)), classes_of(1500, 2), None
    edges, weights = edges_of(9, 7), 10.0 ** np.random.default_rng(8).uniform(-9, 9, 1500)
    got = tally_bins(LAYOUTS[layout](X), y, edges, 2, weights)
    assert np.array_equal(got, bins_by_hand(X, y, edges, 2, weights))


def test_the_largest_numbers_have_bins():
    X = np.array([[-1.7e308], [1.7e308], [5e-324], [-5e-324], [0.0], [-0.0]])
    y, edges = np.zeros(6, np.int32), np.array([[-1e308, 0.0, 1e308]])
    assert np.array_equal(tally_bins(X, y, edges, 1), [[[1, 3, 1, 1]]])


@pytest.mark.parametrize("at", [0, 77, 1099], ids=["first", "middle", "last"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("layout", ["rows", "columns", "a list of columns"])
def test_infinity_has_no_bin_unless_it_weighs_nothing(layout, value, at):
    X, y, weights = np.zeros((1100, 9)), np.zeros(1100, np.int32), np.ones(1100)
    X[at, 4], edges = value, np.zeros((9, 1))
    table, out = LAYOUTS[layout](X), np.zeros((1, 9, 2))
    assert not _kernel.tally_bins(table, y, None, edges, out.copy())
    assert not _kernel.tally_bins(table, y, weights, edges, out.copy())
    weights[at] = 0.0
    assert _kernel.tally_bins(table, y, weights, edges, out)
    assert np.array_equal(out, [[[1099, 0]] * 9])


START, FACTOR, MASK = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 2**64 - 1


def hash_by_hand(numbers, codes, code_hashes):
    """One row's hash, in Python's integers."""
    words = [0x7FF8000000000000 if x != x else int((x + 0.0).view(np.uint64)) for x in numbers]
    words += [int(code_hashes[j][int(c)]) if c >= 0 else 0 for j, c in enumerate(codes)]
    h = START
    for word in words:
        h = (h ^ word) * FACTOR & MASK
        h ^= h >> 32
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    h = (h ^ (h >> 27)) * 0x94D049BB133111EB & MASK
    return min(h ^ (h >> 31), MASK - 1)


def hashes_of(n, seed):
    return np.random.default_rng(seed).integers(2**64, size=n, dtype=np.uint64)


def numbers_of(dtype, shape):
    rng = np.random.default_rng(9)
    if np.dtype(dtype).kind != "f":
        return rng.integers(2, size=shape).astype(dtype)
    X = rng.normal(size=shape).astype(dtype)
    X[rng.random(shape) < 0.3] = np.nan
    X[rng.random(shape) < 0.2] = -0.0
    return X


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_hashed_by_what_they_hold(dtype, layout):
    X = numbers_of(dtype, (301, 11))
    sizes = [2, 3, 5, 2]
    codes = codes_of("int16", (301, 4), sizes)
    code_hashes = [hashes_of(n, n) for n in sizes]
    out = np.empty(301, np.uint64)
    _kernel.hash_rows(LAYOUTS[layout](X), codes, code_hashes, out)
    expected = [
        hash_by_hand(row, c, code_hashes)
        for row, c in zip(X.astype(float), codes.tolist(), strict=True)
    ]
    assert out.tolist() == expected


@pytest.mark.parametrize("nan", [np.nan, -np.nan, np.array(0x7FF0000000000001).view(float)])
def test_every_nan_is_the_same_missing_cell(nan):
    X = np.array([[1.0, nan], [1.0, np.nan]])
    out = np.empty(2, np.uint64)
    _kernel.hash_rows(X, None, [], out)
    assert out[0] == out[1] == hash_by_hand(X[1], [], [])


@pytest.mark.parametrize("rows", [0, 1, 8, 255, 256, 257, 1000])
def test_rows_without_numbers_are_hashed_by_their_categories(rows):
    codes = codes_of("float64", (rows, 2), [4, 4])
    code_hashes, out = [hashes_of(4, 1), hashes_of(4, 2)], np.empty(rows, np.uint64)
    _kernel.hash_rows([], [*codes.T], code_hashes, out)
    assert out.tolist() == [hash_by_hand([], c, code_hashes) for c in codes.tolist()]


def test_a_category_without_a_hash_is_refused():
    codes = np.array([[1], [4]])
    with pytest.raises(ValueError, match="a code has no category"):
        _kernel.hash_rows([], codes, [hashes_of(4, 1)], np.empty(2, np.uint64))


@pytest.mark.parametrize("columns", [0, 2])
@pytest.mark.parametrize("rows", [4, 6])
def test_another_number_of_rows_is_refused(rows, columns):
    X, y = np.zeros((rows, columns)), np.zeros(5, np.int32)
    with pytest.raises(ValueError, match="equally long"):
        tally(X, y, [1] * columns, 1)
    with pytest.raises(ValueError, match="equally long"):
        _kernel.tally_bins(X, y, None, np.zeros((columns, 1)), np.zeros((1, columns, 2)))
    with pytest.raises(ValueError, match="equally long"):
        _kernel.hash_rows(X, None, [], np.empty(5, np.uint64))
