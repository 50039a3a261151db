"""How a table becomes a summary, wherever its rows are: what comes in is checked, then measured.

Plain arrays are checked in a short way, and the rest as scikit-learn does it. scikit-learn is
imported when it is first needed: it takes ten times as long as NumPy. Nothing here changes the
estimator: it is set only after all of a call has succeeded.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data import kinds, labels
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.data.sparse import SparseRows, is_sparse
from naively.engines import FILES, SQL, engine_of
from naively.engines.memory import arrays, frames
from naively.engines.memory.columns import find_targets, names_to_read, rows_and_labels
from naively.engines.memory.devices import (
    check_one_place,
    holds_booleans,
    is_dask,
    is_on_device,
    on_host,
)
from naively.engines.memory.frames import is_frame, without_zeros
from naively.errors import NaivelyError
from naively.model.model import ALL_ZERO
from naively.statistics.measure import checked_weights
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.estimators.estimator import SummaryClassifier

_FLOAT64 = np.dtype(np.float64)
_PLAIN = np.dtype(np.float64), np.dtype(np.float32)  # as the machine writes them
_COMPLEX = (
    "X must hold real numbers; got complex ones. Complex data not supported: give their real and "
    "imaginary parts as columns."
)
_MAX_CODE = 2**53  # as a float64 holds it


class Checked(NamedTuple):
    """A table that the kernel can read, what is to be measured, and the type of answers."""

    table: Rows
    schema: Schema = Schema(0)
    dtype: np.dtype[Any] = _FLOAT64


# --- tables ---------------------------------------------------------------------------------------


def check_table(estimator: SummaryClassifier, X: Any, known: Schema | None) -> Checked:
    """Make numbers readable in place; if the estimator is fitted, X must have the columns known."""
    cells = _readable(estimator, X, of_numbers=True)
    names, dtype = None, getattr(X, "dtype", np.dtype(np.float64))
    if isinstance(cells, np.ndarray):
        rows, dtype = Rows.of_numbers(arrays.table(cells)), cells.dtype
    elif isinstance(cells, SparseRows):
        rows = Rows.of_numbers(cells)
    else:
        names, held = frames.names_of(X), frames.sparse_rows(X)
        rows = frames.numbers_of(X) if held is None else Rows.of_numbers(held)
        is_short = held is None and all(_dtype_of(column) == np.float32 for column in rows.numbers)
        dtype = np.dtype(np.float32 if is_short else np.float64)
    if known is not None:
        if names is not None or known.names is not None:
            _check_names(estimator, X)
        _check_width(estimator, rows, known)
    is_short = dtype.kind == "f" and dtype.itemsize <= 4
    schema = Schema(rows.shape[1], names) if known is None or known.names != names else known
    return Checked(rows, schema, np.dtype(np.float32 if is_short else np.float64))


def _dtype_of(column: Any) -> Any:
    return getattr(column, "dtype", None)


def check_cells(estimator: SummaryClassifier, X: Any, known: Schema | None) -> Any:
    """Return a frame as it is, sparse rows, or an array of any cells; all must have some."""
    cells = _readable(estimator, X, of_numbers=False)
    if isinstance(cells, np.ndarray | SparseRows):
        _check_width(estimator, cells, known)
    return cells


def check_codes(
    estimator: SummaryClassifier, X: Any, known: Schema | None
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Return an array of codes, whole numbers or NaN, and the names of its columns."""
    arrays.check_dense(X)
    cells, names = _readable(estimator, X, of_numbers=True), None
    if not isinstance(cells, np.ndarray):
        names, cells = frames.names_of(X), _codes_of_frame(estimator, X)
    if known is not None:
        _check_names(estimator, X)
        _check_width(estimator, cells, known)
    return cells, names


def _readable(estimator: SummaryClassifier, X: Any, *, of_numbers: bool) -> Any:
    """Return a frame as it is, sparse rows, or an array: of numbers, or of any cells."""
    if is_sparse(X):
        X = SparseRows.of(X)
    elif not isinstance(X, np.ndarray | list | tuple) and is_frame(X):
        _check_not_empty(estimator, X.shape)
        return X
    elif not (type(X) is np.ndarray and X.ndim == 2 and X.dtype in _PLAIN):
        arrays.check_dense(X)
        arrays.check_no_file(X)
        X = arrays.unmasked(X)
        try:
            as_they_are = not of_numbers and isinstance(X, list | tuple) and arrays.holds_more(X)
            X = np.array(X, dtype=object) if as_they_are else np.asarray(X)
        except (TypeError, ValueError) as error:
            raise NaivelyError(f"rows of X must be equally long; {error}") from None
        if X.ndim > 2:
            name = estimator.public_name
            raise NaivelyError(f"Found array with dim {X.ndim}. {name} expected <= 2.")
        if X.ndim < 2:
            raise arrays.shape_error(X)
        if X.dtype.kind == "c":
            raise NaivelyError(_COMPLEX)
        X = _numbers(estimator, X) if of_numbers else X
    _check_not_empty(estimator, X.shape)
    return X


def _numbers(estimator: SummaryClassifier, X: NDArray[Any]) -> NDArray[Any]:
    """Return objects that are numbers or missing as numbers, or raise with what to do."""
    held = kinds.held_by_dtype(X.dtype) or kinds.held_by_objects(X.ravel().tolist())
    if held.what == "text":
        raise NaivelyError(
            f"{estimator.public_name} needs numbers; got text in X ({held.type}). "
            "Use NaiveBayes, which reads text as categories or words."
        )
    is_other = held.what == "other"
    cells = X.ravel().tolist() if X.dtype.kind == "O" else []
    if is_other and any(isinstance(cell, complex) for cell in cells):
        raise NaivelyError(_COMPLEX)
    if held.what in (*kinds.DATES, "time") or (is_other and X.dtype.kind != "O"):
        kinds.kind_of(held, "X")
    if X.dtype.kind != "O":
        return X
    if not is_other:
        return kinds.numbers_of_objects(cells, "X").reshape(X.shape)
    try:
        return X.astype(np.float64)  # numbers of any type, or the TypeError that scikit-learn wants
    except ValueError as error:
        raise NaivelyError(
            f"X must hold numbers; got {held.type}: {str(error).rstrip('.')}."
        ) from None


def _check_width(estimator: SummaryClassifier, X: Any, known: Schema | None) -> None:
    if known is None or X.shape[1] == known.n_columns:
        return
    if not known.dates or X.shape[1] != len(known.inputs or ()):
        from sklearn.utils.validation import _check_n_features

        _raise_as_ours(_check_n_features, estimator, X)


def _check_names(estimator: SummaryClassifier, X: Any) -> None:
    from sklearn.utils.validation import _check_feature_names

    _raise_as_ours(_check_feature_names, estimator, X)


def _raise_as_ours(check: Any, estimator: SummaryClassifier, X: Any) -> None:
    """Raise the error of a check of scikit-learn's as one of this package, with what to do."""
    try:
        check(estimator, X, reset=False)
    except ValueError as error:
        raise NaivelyError(
            f"{str(error).strip()} Give the columns that {estimator.public_name} was fitted on, in "
            "their order, and no others."
        ) from None


def whole_codes(array: NDArray[Any]) -> NDArray[Any]:
    """Return codes as the kernel reads them: integers, or float64 where cells are missing."""
    if array.dtype.kind == "f":
        array = np.asarray(array, dtype=np.float64)
        if np.isinf(array).any():
            raise NaivelyError("Input X contains infinity; categories are coded 0, 1, 2, ...")
        if np.isnan(array).any():
            return np.trunc(array)
        return np.clip(array, -1, _MAX_CODE).astype(np.int64)
    if array.dtype == np.uint64:  # such a code was never seen, whatever it is
        return np.minimum(array, _MAX_CODE).astype(np.int64)
    plain = array.dtype.isnative and array.flags.aligned
    return array if plain else np.array(array, array.dtype.newbyteorder("="))


def _codes_of_frame(estimator: SummaryClassifier, X: Any) -> NDArray[Any]:
    names, codes = frames.names_of(X) or range(X.shape[1]), []
    for name, column in zip(names, frames.columns_of(X), strict=True):
        held = frames.held_by(column)
        kind = kinds.kind_of(held, f"column {name!r}")
        if held.coded or (kind is kinds.CATEGORY and held.what != "boolean"):
            raise NaivelyError(
                f"{estimator.public_name} reads codes 0, 1, 2, ...; got {held.type} in column "
                f"{name!r}. Use NaiveBayes, which reads text and categories as they are."
            )
        codes.append(frames.number_column(column, f"column {name!r}")[:])
    return np.column_stack(codes)


def _check_not_empty(estimator: SummaryClassifier, shape: tuple[int, ...]) -> None:
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise NaivelyError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required "
                f"by {estimator.public_name}."
            )


# --- labels and weights ---------------------------------------------------------------------------


def check_labels(estimator: SummaryClassifier, y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return the labels as an array, one per row."""
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU"):
        y = _check_other_labels(estimator, y)
    if y.shape[0] != n_rows:
        raise NaivelyError(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, y.shape[0]]}"
        )
    return y


def _check_other_labels(estimator: SummaryClassifier, y: Any) -> NDArray[Any]:
    if y is None:
        raise NaivelyError(
            f"{estimator.public_name} requires y to be passed, but the target y is None."
        )
    array = labels.as_array(y)
    if array.dtype.kind in "iubOTUS" and array.ndim == 1:
        return array  # encode says what is wrong with them
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_y

    try:
        array = _check_y(y, multi_output=False, y_numeric=False, estimator=estimator)
        check_classification_targets(array)
    except ValueError as error:
        what = str(error).removesuffix(".")
        if array.ndim != 1:
            raise NaivelyError(f"{what}. {labels.ONE_PER_ROW}") from None
        is_regression = "continuous" in what
        hint = "Make classes of them, as by pandas.cut" if is_regression else "Leave those rows out"
        raise NaivelyError(f"{what}. {hint}.") from None
    return array


def row_weights(n_rows: int, sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
    """Return one weight per row as float64, or None; they may all be zero."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        return np.full(n_rows, float(sample_weight))
    return arrays.as_weights(sample_weight)


def check_weights(n_rows: int, sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
    """Return one weight per row of rows to be averaged, not all of them zero; or None."""
    weights = row_weights(n_rows, sample_weight)
    if weights is not None and not checked_weights(weights, n_rows).any():
        raise NaivelyError(ALL_ZERO)
    return weights


def check_known(present: NDArray[Any], declared: NDArray[Any] | None) -> None:
    """Raise where a label is not among those that were declared; None for any."""
    if declared is None or declared is labels.union(declared, present):
        return
    unknown = present[~labels.contained(present, declared)]
    raise NaivelyError(
        f"The target label(s) {unknown} in y do not exist in the initial classes {declared}. "
        "With open_classes=True, new labels may come at any time."
    )


# --- summaries ------------------------------------------------------------------------------------


_TARGET = "Give fit(X, y), or fit(frame, target='y') with the labels in a column of the frame."


_OF_TABLES = {"weight"}  # options that tables of a database have as files do

Measured = tuple[Summary, np.dtype[Any]]
"""A summary, and the type of answers."""


class _RowsNeededError(Exception):
    """A schema cannot be settled without a sample of rows."""


def _no_rows(size: int) -> Any:
    raise _RowsNeededError


def measured(
    estimator: SummaryClassifier,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    known: Schema | None = None,
) -> Measured:
    """Summarize rows, in memory or wherever they are; and return the type of answers."""
    if is_on_device(X):
        return _measured_on_device(estimator, X, y, sample_weight, known)
    check_one_place(X, y=y, sample_weight=sample_weight)
    if is_dask(X):
        return _measured_by_dask(estimator, X, y, sample_weight, known)
    if sample_weight is not None:
        X, y, sample_weight = without_zeros(X, y, sample_weight)
    checked = estimator.check_rows(X, None if known is None else estimator._decided(X, known))
    return summarized(estimator, checked, y, sample_weight), checked.dtype


def measured_with_target(
    estimator: SummaryClassifier, data: Any, y: Any, sample_weight: Any, target: Any, weight: Any
) -> Measured:
    """Summarize a table that holds its labels; and return the type of answers.

    A frame in memory or of Dask's is split into rows, labels and weights. What streams is read as
    files are, in one pass, and never as a whole.
    """
    if target is None:
        raise NaivelyError(f"{weight=} names a column beside target=; got no target. {_TARGET}")
    if weight is not None and sample_weight is not None:
        raise NaivelyError("weights are given as sample_weight or as weight=, not as both.")
    rows = rows_and_labels(data, y, target, weight)
    if rows is None:
        return _measured_stream(estimator, data, sample_weight, target, weight), _FLOAT64
    X, y, weights = rows
    return measured(estimator, X, y, sample_weight if weight is None else weights)


def _measured_stream(
    estimator: SummaryClassifier, source: Any, sample_weight: Any, target: str, weight: str | None
) -> Summary:
    """Summarize files, a stream of Arrow, a lazy frame, or a relation of a database."""
    if isinstance(source, np.ndarray) or is_sparse(source) or _is_of_rows(source):
        raise NaivelyError(
            f"target must name a column; got {type(source).__name__}, whose columns have no names. "
            f"{_TARGET}"
        )
    if engine_of(source) not in (FILES, SQL):
        arrays.check_in_memory(source)
    if sample_weight is not None:
        raise NaivelyError("weights of what is streamed are a column of it: give weight='name'.")
    summary = measured_files(estimator, source, target=target, weight=weight)
    return estimator.readable(summary)


def measured_files(
    estimator: SummaryClassifier, source: Any, *, target: str, **options: Any
) -> Summary:
    """Summarize files or a stream, of which the first rows may decide what is measured.

    Where they do not, a database adds up its own rows.
    """
    from naively.engines.files import SchemaFromFirstRows

    schema = options.pop("schema", None) or estimator.files_schema()
    if engine_of(source) is SQL and schema == SchemaFromFirstRows() and {*options} <= _OF_TABLES:
        beside = find_targets(target, options.get("weight"), source.columns)
        names = names_to_read(source.columns, None, None, beside)
        schema = Schema(len(names), names=names)
        summary = SQL.module.summarize(source, target=target, schema=schema, **options)
    else:
        how = {"schema": schema, "n_jobs": estimator.n_jobs}
        summary = FILES.module.summarize(source, target=target, **how, **options)
    estimator.warn_of(summary, summary.schema)
    return summary


def _is_of_rows(source: Any) -> bool:
    """Whether this is a list of rows, and not of files."""
    return isinstance(source, list | tuple) and not any(
        isinstance(one, str | os.PathLike) for one in source
    )


def summarized(
    estimator: SummaryClassifier, checked: Checked, y: ArrayLike, sample_weight: ArrayLike | None
) -> Summary:
    """Summarize rows that are readable, with their labels and weights."""
    n_rows = checked.table.shape[0]
    classes, codes = labels.encode(check_labels(estimator, y, n_rows))
    targets = Targets(classes, codes, row_weights(n_rows, sample_weight))
    return estimator.measure_rows(checked.table, checked.schema, targets)


def _measured_by_dask(
    estimator: SummaryClassifier, X: Any, y: Any, sample_weight: Any, known: Schema | None
) -> Measured:
    from naively.engines import dask

    is_open = known is None or known.undecided
    example = dask.example(X, sample_weight) if is_open else dask.missing_row(X)
    decided = None if known is None else estimator._decided(example, known)
    checked = estimator.check_rows(example, decided)
    schema = checked.schema

    def summarize(schema: Schema, **options: Any) -> Summary:
        options |= {"schema": schema, "sample_weight": sample_weight}
        return dask.summarize(X, y, **options, **estimator._of_partitions())

    def first(size: int) -> Any:
        return summarize(replace(schema, sample=size), most=8).sample

    schema = estimator.settled(schema, first) if known is None else schema
    return summarize(schema), checked.dtype


def _measured_on_device(
    estimator: SummaryClassifier, X: Any, y: Any, sample_weight: Any, known: Schema | None
) -> Measured:
    """Summarize rows on a GPU: there, where moments are enough, or else on the host."""
    from naively.engines import gpu

    rows = gpu.DeviceRows(X)
    shape = min(2, rows.shape[0]), rows.shape[1]
    few = np.zeros(shape, np.bool_ if holds_booleans(X) else rows.dtype)  # to be looked at
    checked = estimator.check_rows(few, known)
    schema = checked.schema
    with suppress(_RowsNeededError):
        schema = estimator.settled(schema, _no_rows) if known is None else schema
        if gpu.is_measured_here(schema):
            return gpu.summarize(rows, y, schema=schema, sample_weight=sample_weight), checked.dtype
    check_one_place(X, y=y, sample_weight=sample_weight)
    return measured(estimator, rows[:], on_host(y), on_host(sample_weight), known)
