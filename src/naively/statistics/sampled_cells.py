"""The cells of sampled rows: an array, or sparse rows where numbers are counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.sparse import SparseRows
from naively.statistics.row_hashes import cells_of
from naively.tensors import Tensors, UnsoundError

__all__ = [
    "are_same",
    "chosen_columns",
    "joined",
    "numbers_from",
    "numbers_of",
    "tensors_of",
]


def sparse_or_dense(numbers: Any, is_sparse: bool) -> Any:
    """Return cells as sparse rows where numbers are counts, otherwise as array or columns."""
    if isinstance(numbers, SparseRows):
        return numbers if is_sparse else numbers.dense()
    if not is_sparse:
        return numbers
    return SparseRows.of_dense(np.column_stack(numbers) if isinstance(numbers, list) else numbers)


def numbers_of(numbers: Any, rows: NDArray[np.intp]) -> Any:
    """Return the numbers of some rows."""
    if isinstance(numbers, SparseRows):
        return numbers.take(rows).tidy()
    return cells_of(numbers, rows, np.float64) + 0.0  # -0.0 becomes 0.0: the same cell


def joined(parts: Sequence[Any]) -> Any:
    """Return the rows of several, one after the other."""
    return SparseRows.joined(parts) if isinstance(parts[0], SparseRows) else np.concatenate(parts)


def are_same(a: Any, b: Any) -> bool:
    """Whether all cells are the same."""
    if isinstance(a, SparseRows) or isinstance(b, SparseRows):
        return bool(a == b)
    return np.array_equal(a, b, equal_nan=True)


def chosen_columns(numbers: Any, to: Sequence[int], of: Sequence[int], n: int) -> Any:
    """Return rows with some columns at other places, of n; unseen ones are missing.

    Of sparse rows, unseen columns are zero.
    """
    if isinstance(numbers, SparseRows):
        places = np.full(numbers.n_columns, -1)
        places[list(of)] = list(to)
        return numbers.moved(places, n).tidy()
    cells = np.full((len(numbers), n), np.nan)
    cells[:, to] = numbers[:, of]
    return cells


def tensors_of(name: str, rows: Any) -> dict[str, NDArray[Any]]:
    """Return rows as tensors that a file can hold."""
    if not isinstance(rows, SparseRows):
        return {name: rows}
    return {
        f"{name}.starts": (rows.starts - rows.starts[0]).astype(np.uint64),
        f"{name}.places": rows.places[rows.cells].astype(np.uint64),
        f"{name}.values": rows.values[rows.cells].astype(np.float64),
    }


def numbers_from(tensors: Tensors, shape: tuple[int, int], is_sparse: bool) -> Any:
    """Return the numbers of a sample, having checked where they stand."""
    if not is_sparse:
        return tensors.take("sample.numbers", np.float64, shape)
    n_cells = tensors.length("sample.numbers.values")
    starts = tensors.take("sample.numbers.starts", np.uint64, (shape[0] + 1,))
    places = tensors.take("sample.numbers.places", np.uint64, (n_cells,))
    values = tensors.take("sample.numbers.values", np.float64, (n_cells,))
    sound = starts[0] == 0 and int(starts[-1]) == n_cells and (starts[1:] >= starts[:-1]).all()
    if not sound or (n_cells and int(places.max()) >= shape[1]):
        raise UnsoundError("its sample holds cells of no row or no column")
    rows = SparseRows(starts.astype(np.int64), places.astype(np.int64), values, shape[1])
    if rows.tidy() != rows:
        raise UnsoundError("the cells of its sample must be in order, none of them twice")
    return rows
