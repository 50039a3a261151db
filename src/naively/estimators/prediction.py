"""What a fitted classifier answers for rows that are readable: labels, probabilities, one row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import NUMBER, held_by_dtype, held_by_objects, numbers_of_objects
from naively.data.schema import Schema
from naively.data.sparse import SparseRows, is_sparse
from naively.data.threads import block_slices, map_blocks
from naively.engines.memory.arrays import unmasked
from naively.errors import NaivelyError
from naively.estimators.decisions import decide
from naively.estimators.state import learned
from naively.estimators.validation import Checked
from naively.statistics.measure import raise_not_finite

_FLOAT64 = np.dtype(np.float64)  # as the machine writes it, of which there is one
_MAX_BLOCKS = 64


def labels_of(estimator: Any, checked: Checked) -> NDArray[Any]:
    """Return the class of each row: the most probable, or of least cost, or the label of reject."""
    costs, reject = getattr(estimator, "costs", None), getattr(estimator, "reject", None)
    if costs is not None or reject is not None:
        p = values_of(estimator, "proba", checked)
        return decide(p, estimator.classes_, costs, reject)
    state = learned(estimator)
    model, classes = state.model(estimator._read), state.summary.classes
    out = np.empty(checked.table.shape[0], dtype=classes.dtype)
    kernel = model.kernel_for(checked.table)

    def label(table: Any, out: NDArray[Any]) -> bool:
        at = np.empty(out.size, dtype=np.int64)
        finite: bool = kernel.labels(table, at)
        classes.take(at, out=out, mode="clip")  # "raise" would copy
        return finite

    estimator._score(label, checked, out)
    return out


def values_of(estimator: Any, want: str, checked: Checked) -> NDArray[Any]:
    """Return what the scorer of the model calls so: joint, log_proba, proba or evidence."""
    state = learned(estimator)
    model = state.model(estimator._read)
    n_values = 1 if want == "evidence" else len(model.labels)
    dtype = np.result_type(checked.dtype, state.dtype)
    out = np.empty((checked.table.shape[0], n_values), dtype=dtype)
    estimator._score(getattr(model.kernel_for(checked.table), want), checked, out)
    return out


def score_blocks(
    score: Any, checked: Checked, out: NDArray[Any], schema: Schema, n_jobs: int | None
) -> None:
    """Score rows by blocks, on several threads; raise where a cell is infinite."""
    table = checked.table
    n_rows, n_columns = table.shape
    if isinstance(table, SparseRows):
        n_columns = table.n_cells // max(1, n_rows)
    blocks = block_slices(n_rows, n_columns, most=_MAX_BLOCKS)
    if not all(map_blocks(lambda rows: score(table[rows], out[rows]), blocks, n_jobs)):
        raise_not_finite(table, schema)


def label_of_row(estimator: Any, row: Any) -> Any:
    """Return the class of one row."""
    state, table = learned(estimator), estimator._one(row)
    if not isinstance(table, np.ndarray):
        return estimator.predict(table).tolist()[0]
    model = state.model(estimator._read)
    at = model.kernel.label_one(table[0])
    if at < 0:
        raise_not_finite(table, state.summary.schema)
    return model.labels[at]


def proba_of_row(estimator: Any, row: Any) -> NDArray[np.float64]:
    """Return p(k | x) of one row."""
    state, table = learned(estimator), estimator._one(row)
    if not isinstance(table, np.ndarray):
        p: NDArray[np.float64] = estimator.predict_proba(table)[0]
        return p
    model = state.model(estimator._read)
    out = np.empty((1, len(model.labels)))
    if not model.kernel.proba(table, out):
        raise_not_finite(table, state.summary.schema)
    return out[0]


def numbers_of_row(row: Any, schema: Schema) -> NDArray[np.float64]:
    """Return the numbers of a row, given in order or by column name."""
    if isinstance(row, dict):
        row = row_of_dict(row, schema)
    elif is_sparse(row):
        row = row.toarray().reshape(-1) if row.shape[0] == 1 or row.ndim == 1 else row.toarray()
    values = row if type(row) is np.ndarray else _array_of_row(row)
    if values.shape != (schema.n_columns,):
        raise NaivelyError(f"a row must have {schema.n_columns} numbers; got shape {values.shape}.")
    if values.dtype is _FLOAT64:
        return values
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):  # infinity is an error that names the cell
            return np.ascontiguousarray(values, dtype=np.float64)
    if values.dtype.kind == "O":
        cells = enumerate(values.tolist())
        return np.array([numbers_of_objects([cell], schema.name(j))[0] for j, cell in cells])
    NUMBER.check(held_by_dtype(values.dtype) or held_by_objects(values.tolist()), "the row")
    return values.astype(np.float64)


def _array_of_row(row: Any) -> NDArray[Any]:
    """Return a row as an array: of numbers, or of its cells as they are."""
    try:
        array = np.asarray(row if type(row) is list else unmasked(row))
    except (TypeError, ValueError):  # such as dates beside numbers
        return np.array(row, dtype=object)
    return array if array.dtype.kind in "fiub" else np.array(row, dtype=object)


def row_of_dict(row: dict[str, Any], schema: Schema) -> list[Any]:
    """Return the cells of a row in the order of the columns."""
    names = schema.names
    if names is None:
        raise NaivelyError(
            "a dict needs column names, and the model was fitted on an array without any. "
            "Fit on a data frame, or give the row as a list."
        )
    if schema.dates:
        from naively.engines.memory.date_columns import row_parts

        row = {**row_parts(row, schema), **row}
    try:
        return [row[name] for name in names]
    except KeyError as absent:
        raise NaivelyError(
            f"the row has no column {schema.input(absent.args[0])!r}. Use None for a missing cell."
        ) from None
