"""What a fitted classifier answers for rows that are readable: labels, probabilities, one row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import NUMBER, held_by_dtype, held_by_objects, numbers_of_objects
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.data.sparse import is_sparse
from naively.engines.memory.arrays import unmasked
from naively.errors import NaivelyError
from naively.estimators.decisions import decide
from naively.estimators.plain_row import as_list
from naively.estimators.state import learned
from naively.estimators.validation import Checked
from naively.model.scorer import Answer
from naively.statistics.measure import raise_not_finite

_FLOAT64 = np.dtype(np.float64)  # as the machine writes it, of which there is one


def labels_of(estimator: Any, checked: Checked) -> NDArray[Any]:
    """Return the class of each row: the most probable, or of least cost, or the label of reject."""
    costs, reject = getattr(estimator, "costs", None), getattr(estimator, "reject", None)
    if costs is not None or reject is not None:
        p = values_of(estimator, "proba", checked)
        return decide(p, estimator.classes_, costs, reject)
    model = learned(estimator).model(estimator._read)
    return model.labels_of(checked.table, n_jobs=estimator.n_jobs)


def values_of(estimator: Any, want: Answer, checked: Checked) -> NDArray[Any]:
    """Return what the scorer of the model calls so: joint, log_proba, proba or evidence."""
    state = learned(estimator)
    dtype = np.result_type(checked.dtype, state.dtype)
    model = state.model(estimator._read)
    return model.score(checked.table, want, n_jobs=estimator.n_jobs, dtype=dtype)


def label_of_row(estimator: Any, row: Any) -> Any:
    """Return the class of one row; numbers alone go to the kernel without a table."""
    state = learned(estimator)
    if estimator._alone is not NUMBER:
        return as_list(labels_of(estimator, _checked(estimator, row)))[0]
    model, schema = state.model(estimator._read), state.summary.schema
    values = numbers_of_row(row, schema)
    at = model.scorer.label_one(values)
    if at < 0:
        raise_not_finite(Rows.of_numbers(values[np.newaxis]), schema)
    return model.labels[at]


def proba_of_row(estimator: Any, row: Any) -> NDArray[np.float64]:
    """Return p(k | x) of one row."""
    learned(estimator)
    p: NDArray[np.float64] = values_of(estimator, "proba", _checked(estimator, row))[0]
    return p


def _checked(estimator: Any, row: Any) -> Checked:
    return Checked(estimator._one(row), None, _FLOAT64)


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
