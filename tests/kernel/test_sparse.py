"""Counting and scoring of sparse rows: the kernel beside plain loops over dense cells."""

import math

import numpy as np
import pytest

from naively import _kernel
from naively.data.sparse import SparseRows
from tests import oracles

VALUES = [np.float64, np.float32, np.int64, np.int8, np.uint16, np.bool_]
PLACES = [np.int32, np.int64]


def drawn(seed, n=60, d=17, dtype=np.float64, places=np.int32, low=0, empty=0.2):
    """Return rows in which cells stand in any order, some of them twice; some rows are empty."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 2 * d, size=n) * (rng.random(n) > empty)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    at = rng.integers(d, size=starts[-1]).astype(places)
    values = rng.integers(low, 4, size=at.size).astype(dtype)
    return SparseRows(starts, at, values, d)


def cells(rows, i):
    """Return the cells of a row by place: those of one place are added up."""
    found = {}
    for at in range(int(rows.starts[i]), int(rows.starts[i + 1])):
        place = int(rows.places[at])
        found[place] = found.get(place, 0.0) + float(rows.values[at])
    return found


def counted(rows, codes, weights, measure, n_classes, threshold=0.0):
    out = np.zeros((n_classes, rows.n_columns))
    for i in range(len(rows)):
        w = 1.0 if weights is None else weights[i]
        for place, x in cells(rows, i).items():
            if math.isnan(x):
                out[codes[i], place] += w * (measure == "missing")
            elif measure == "occurrences":
                out[codes[i], place] += w * x
            elif measure == "documents":
                out[codes[i], place] += w * (x > threshold)
    return out


def count(rows, codes, weights, measure, n_classes, threshold=0.0, **options):
    out = np.zeros((n_classes, rows.n_columns + 5))
    given = {"is_distinct": False, "offset": 3, **options}
    problem = _kernel.count_sparse(rows, codes, weights, measure, threshold, out=out, **given)
    assert not out[:, :3].any()
    assert not out[:, -2:].any()
    return problem or out[:, 3:-2]


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("measure", ["occurrences", "documents", "missing"])
def test_counts_are_those_of_plain_loops(dtype, places, measure):
    rows = drawn(1, dtype=dtype, places=places)
    rng = np.random.default_rng(2)
    codes = rng.integers(3, size=len(rows)).astype(np.int32)
    for weights in (None, rng.integers(3, size=len(rows)).astype(float)):
        for threshold in (0.0, 1.5):
            expected = counted(rows, codes, weights, measure, 3, threshold)
            found = count(rows, codes, weights, measure, 3, threshold)
            np.testing.assert_array_equal(found, expected)


def test_rows_are_counted_alike_class_by_class_and_in_their_order():
    rows = drawn(3)
    object.__setattr__(rows, "values", np.random.default_rng(1).random(rows.values.size))
    codes = np.random.default_rng(4).integers(5, size=len(rows)).astype(np.int32)
    order, ends = np.empty(len(rows), np.uint32), np.empty(6, np.int64)
    _kernel.group_rows(codes, 5, order, ends)
    np.testing.assert_array_equal(order, np.argsort(codes, kind="stable"))
    whole = count(rows, codes, None, "occurrences", 5)
    parts = np.zeros((5, rows.n_columns))
    for k in range(5):
        at = order[ends[k] : ends[k + 1]]
        assert (codes[at] == k).all()
        parts += count(rows, codes, None, "occurrences", 5, order=at)
    np.testing.assert_array_equal(parts, whole)  # bit for bit


def test_listed_cells_are_added_as_by_a_plain_loop():
    rng = np.random.default_rng(3)
    classes, entries = rng.integers(0, 3, 500).astype(np.int32), rng.integers(0, 70, 500)
    values, out = rng.normal(size=500), rng.normal(size=(3, 70))
    expected = out.copy()
    for k, j, value in zip(classes, entries, values, strict=True):
        expected[k, j] += value
    _kernel.add_listed(classes, entries, values, out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("k", "j"), [(3, 0), (-1, 0), (0, 70), (0, -1)])
def test_listed_cells_that_have_no_place_are_an_error(k, j):
    with pytest.raises(ValueError, match="has no"):
        _kernel.add_listed(np.array([k], np.int32), np.array([j]), np.ones(1), np.zeros((3, 70)))


def test_missing_cells_are_skipped_and_counted_apart():
    values = np.array([1.0, np.nan, 2.0, np.nan, 3.0])
    rows = SparseRows(np.array([0, 3, 5]), np.array([0, 1, 1, 2, 0], np.int32), values, 3)
    codes = np.zeros(2, np.int32)
    assert count(rows, codes, None, "occurrences", 1).tolist() == [[4.0, 0.0, 0.0]]
    assert count(rows, codes, None, "documents", 1).tolist() == [[2.0, 0.0, 0.0]]
    assert count(rows, codes, None, "missing", 1).tolist() == [[0.0, 1.0, 1.0]]


@pytest.mark.parametrize(
    ("value", "problem"), [(-1.0, "negative"), (np.inf, "infinite"), (-np.inf, "infinite")]
)
def test_what_is_no_count_is_found_unless_its_row_weighs_nothing(value, problem):
    rows = SparseRows(np.array([0, 1, 3]), np.array([0, 1, 0]), np.array([1.0, value, 1.0]), 2)
    codes = np.zeros(2, np.int32)
    assert count(rows, codes, None, "occurrences", 1) == (problem, 1)
    if problem == "infinite":
        assert count(rows, codes, None, "documents", 1) == (problem, 1)
    else:
        assert count(rows, codes, None, "documents", 1).tolist() == [[2.0, 0.0]]
    found = count(rows, codes, np.array([1.0, 0.0]), "occurrences", 1)
    assert found.tolist() == [[1.0, 0.0]]
    out = np.zeros((1, 2))
    dense = rows.dense()
    assert _kernel.count_table(dense, codes, None, "occurrences", 0.0, out, 0) == (problem, 1)


def test_a_negative_part_of_a_sum_that_is_not_negative_is_no_error():
    rows = SparseRows(np.array([0, 2]), np.array([1, 1]), np.array([-1.0, 3.0]), 2)
    assert count(rows, np.zeros(1, np.int32), None, "occurrences", 1).tolist() == [[0.0, 2.0]]


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("place", [-1, 17, 2**31 - 1])
def test_a_place_beyond_the_columns_is_found_and_not_read(places, place):
    rows = drawn(5, places=places)
    rows.places[7] = place
    codes = np.zeros(len(rows), np.int32)
    row = int(np.searchsorted(rows.starts, 7, side="right")) - 1
    assert count(rows, codes, None, "occurrences", 1) == ("place", row)
    joint = np.zeros((len(rows), 1))
    assert _kernel.add_sparse_lines(rows, None, np.ones((17, 1)), None, joint) == ("place", row)


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("layout", ["rows", "columns", "list"])
def test_dense_counts_are_those_of_sparse_rows(dtype, layout):
    dense = np.random.default_rng(0).integers(0, 3, size=(70, 300)).astype(dtype)
    table = {"rows": dense, "columns": np.asfortranarray(dense), "list": list(dense.T.copy())}
    rows, codes = SparseRows.of_dense(dense), (np.arange(70) % 4).astype(np.int32)
    weights = (np.arange(70) % 3).astype(float)
    for measure in ("occurrences", "documents", "missing"):
        out = np.zeros((4, 302))
        given = codes, weights, measure, 1.0
        assert _kernel.count_table(table[layout], *given, out, 1) is None
        np.testing.assert_array_equal(out[:, 1:-1], count(rows, *given[:3], 4, 1.0))


def test_dense_missing_cells_are_skipped():
    dense = np.array([[1.0, np.nan], [np.nan, 2.0]])
    expected = {"occurrences": [1.0, 2.0], "documents": [1.0, 1.0], "missing": [1.0, 1.0]}
    for measure, sums in expected.items():
        out = np.zeros((1, 2))
        _kernel.count_table(dense, np.zeros(2, np.int32), None, measure, 0.0, out, 0)
        assert out.tolist() == [sums]


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("n_classes", [1, 2, 7, 8, 20, 33, 70])
def test_scores_are_those_of_plain_loops(dtype, n_classes):
    rows = drawn(6, dtype=dtype, low=-2 if np.dtype(dtype).kind in "fi" else 0)
    rng = np.random.default_rng(7)
    A, B = rng.normal(size=(2, rows.n_columns, n_classes))
    start = rng.normal(size=(len(rows), n_classes))
    for step in (None, 0.5):
        expected, joint = start.copy(), start.copy()
        for i in range(len(rows)):
            for place, x in cells(rows, i).items():
                expected[i] += B[place] * (x if step is None else x > step)
        assert _kernel.add_sparse_lines(rows, A, B, step, joint) is None
        np.testing.assert_allclose(joint, expected, rtol=0, atol=1e-12)  # 100 terms of about 1


def test_the_term_of_a_missing_cell_is_taken_out():
    rows = SparseRows(np.array([0, 2, 3]), np.array([1, 0, 1]), np.array([np.nan, 2.0, 3.0]), 2)
    A, B, joint = np.array([[1.0], [10.0]]), np.array([[5.0], [7.0]]), np.zeros((2, 1))
    assert _kernel.add_sparse_lines(rows, A, B, None, joint) is None
    assert joint.tolist() == [[2 * 5.0 - 10.0], [3 * 7.0]]
    assert _kernel.add_sparse_lines(rows, None, B, None, joint) is None  # nothing to take out
    rows.values[0] = np.inf
    assert _kernel.add_sparse_lines(rows, A, B, None, joint) == ("infinite", 0)


def test_arrays_that_do_not_fit_are_errors():
    rows, codes = drawn(1), np.zeros(60, np.int32)
    out = np.zeros((1, 17))
    with pytest.raises(ValueError, match="place for every column"):
        _kernel.count_sparse(rows, codes, None, "occurrences", 0.0, False, out, 1)
    with pytest.raises(ValueError, match="no class"):
        _kernel.count_sparse(rows, codes + 1, None, "occurrences", 0.0, False, out, 0)
    with pytest.raises(ValueError, match="equally long"):
        _kernel.count_sparse(rows, codes[:-1], None, "occurrences", 0.0, False, out, 0)
    broken = SparseRows(rows.starts + 1, rows.places, rows.values, 17)
    with pytest.raises(ValueError, match="starts must ascend"):
        _kernel.count_sparse(broken, codes, None, "occurrences", 0.0, False, out, 0)
    order = np.array([60], np.uint32)
    with pytest.raises(ValueError, match="no such row"):
        _kernel.count_sparse(rows, codes, None, "occurrences", 0.0, False, out, 0, order)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_sparse_rows_are_those_of_all_cells(weighted):
    rng = np.random.default_rng(8)
    rows = drawn(9, n=80, low=-3)
    values = rows.values + 1e3 * (rows.places == 4)
    values[rng.random(values.size) < 0.05] = np.nan
    rows = SparseRows(rows.starts, rows.places, values, rows.n_columns)
    codes = rng.integers(3, size=80).astype(np.int32)
    weights = rng.integers(3, size=80).astype(float) if weighted else None
    order = np.argsort(codes, kind="stable").astype(np.uint32)
    class_weight = np.bincount(codes, weights, 3).astype(float)
    found = np.zeros((4, 3, 17))
    assert _kernel.add_sparse_moments(rows, codes, weights, class_weight, order, found) is None
    exact = oracles.rounded(oracles.moments(rows.dense(), codes, 3, weights))
    np.testing.assert_allclose(found[0], exact[0], rtol=1e-14)
    np.testing.assert_allclose(found[1], exact[1], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found[2], exact[2], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("n_classes", [1, 3, 20])
def test_quadratics_of_sparse_rows_are_those_of_plain_loops(n_classes):
    rows, rng = drawn(10, low=-2), np.random.default_rng(11)
    rows.values[::7] = np.nan
    A, B, C = rng.normal(size=(3, 17, n_classes))
    joint = rng.normal(size=(60, n_classes))
    expected = joint.copy()
    for i in range(60):
        for place, x in cells(rows, i).items():
            missing = math.isnan(x)
            expected[i] += -A[place] if missing else B[place] * x + C[place] * x * x
    assert _kernel.add_sparse_quadratics(rows, A, B, C, joint) is None
    np.testing.assert_allclose(joint, expected, rtol=0, atol=1e-11)
