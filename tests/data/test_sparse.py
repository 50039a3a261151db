"""Sparse rows: the same cells as a dense table, whatever matrix holds them."""

import numpy as np
import pytest
import scipy.sparse

from naively.data.sparse import SparseRows, is_sparse
from naively.errors import NaivelyError

DENSE = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 4], [5, 0, 0, 0]])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.longdouble])
@pytest.mark.parametrize("form", ["matrix", "array"])
def test_any_matrix_becomes_the_same_rows(kind, dtype, form):
    X = getattr(scipy.sparse, f"{kind}_{form}")(DENSE.astype(dtype))
    assert is_sparse(X)
    assert not is_sparse(DENSE)
    np.testing.assert_array_equal(SparseRows.of(X).dense(), DENSE.astype(dtype))


def test_a_matrix_by_rows_is_read_where_it_lies():
    X = scipy.sparse.csr_matrix(DENSE.astype(np.float32))
    rows = SparseRows.of(X)
    assert np.shares_memory(rows.values, X.data)
    assert np.shares_memory(rows.places, X.indices)
    assert np.shares_memory(rows[1:3].values, X.data)


def test_slices_and_chosen_rows_have_the_cells_of_dense_ones():
    rows = SparseRows.of_dense(DENSE)
    for at in (slice(1, 3), slice(None), slice(2, 2), slice(-1, None), slice(None, None, -2)):
        np.testing.assert_array_equal(rows[at].dense(), DENSE[at])
    np.testing.assert_array_equal(rows[1:][1:][[1, 0, 1]].dense(), DENSE[[3, 2, 3]])
    np.testing.assert_array_equal(rows[DENSE[:, 0] > 0].dense(), DENSE[DENSE[:, 0] > 0])
    joined = SparseRows.joined([rows[2:], rows[:1], rows[1:1]])
    np.testing.assert_array_equal(joined.dense(), DENSE[[2, 3, 0]])


def test_columns_move_and_vanish():
    rows = SparseRows.of_dense(DENSE)[1:]
    moved = rows.moved(np.array([4, -1, 0, 1]), 5)
    expected = np.zeros((3, 5))
    expected[:, [4, 0, 1]] = DENSE[1:, [0, 2, 3]]
    np.testing.assert_array_equal(moved.dense(), expected)


def test_cells_of_one_place_are_added_up():
    X = scipy.sparse.csr_array((np.array([1.0, 2.0, 4.0]), [1, 1, 0], [0, 3]), shape=(1, 2))
    assert SparseRows.of(X).dense().tolist() == [[4.0, 3.0]]
    assert X.nnz == 3  # as it was


def test_what_is_no_table_of_numbers_is_an_error():
    with pytest.raises(NaivelyError, match="real numbers; got dtype complex128"):
        SparseRows.of(scipy.sparse.csr_array(DENSE.astype(complex)))
    with pytest.raises(NaivelyError, match="two dimensions"):
        SparseRows.of(scipy.sparse.coo_array(np.array([1.0, 2.0])))
    X = scipy.sparse.csr_array(DENSE)
    X.indices = X.indices + 3
    with pytest.raises(NaivelyError, match="beyond its columns"):
        SparseRows.of(X).dense()
    X = scipy.sparse.csr_array(DENSE)
    X.indptr = X.indptr[::-1].copy()
    with pytest.raises(NaivelyError, match="indptr descends"):
        SparseRows.of(X)
