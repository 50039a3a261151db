"""What comes in is checked here: a short way for plain arrays, scikit-learn's for the rest.

scikit-learn is imported when it is first needed: it takes ten times as long as NumPy.
Nothing here changes the estimator: it is set only after all of a call has succeeded.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data import kinds, labels
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.data.sparse import SparseRows, is_sparse
from naively.engines.memory import arrays
from naively.errors import NaivelyError
from naively.model.model import ALL_ZERO
from naively.statistics.measure import checked_weights

_PLAIN = np.dtype(np.float64), np.dtype(np.float32)  # as the machine writes them
_LARGEST_CODE = 2**53  # as a float64 holds it


class Checked(NamedTuple):
    """A table that the kernel can read, and what is to be measured."""

    table: Rows
    names: tuple[str, ...] | None
    dtype: np.dtype[Any]
    schema: Schema = Schema(0)


def check_table(estimator: Any, X: Any, known: Schema | None) -> Checked:
    """Make X readable in place; if the estimator is fitted, X must have the columns known."""
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype in _PLAIN:
        checked = Checked(Rows.of_numbers(arrays.table(X)), None, X.dtype)
    else:
        checked = _check_other(estimator, X)
    if known is not None:
        if checked.names is not None or known.names is not None:
            _check_names(estimator, X)
        _check_width(estimator, checked.table, known)
    return checked


def _check_other(estimator: Any, X: Any) -> Checked:
    if is_sparse(X):
        sparse = SparseRows.of(X)
        _check_not_empty(estimator, sparse.shape)
        is_short = X.dtype.kind == "f" and X.dtype.itemsize <= 4
        dtype = np.dtype(np.float32 if is_short else np.float64)
        return Checked(Rows.of_numbers(sparse), None, dtype)
    if not isinstance(X, np.ndarray | list | tuple):
        from naively.engines.memory import frames
        from naively.engines.memory.native import is_frame

        if is_frame(X):
            if (held := frames.sparse_rows(X)) is not None:
                _check_not_empty(estimator, held.shape)
                return Checked(Rows.of_numbers(held), frames.names_of(X), np.dtype(np.float64))
            rows, names = frames.numbers_of(X), frames.names_of(X)
            _check_not_empty(estimator, rows.shape)
            is_short = all(getattr(cells, "dtype", None) == np.float32 for cells in rows.numbers)
            return Checked(rows, names, np.dtype(np.float32 if is_short else np.float64))
    array = _check_array(estimator, X, dtype="numeric")
    dtype = np.dtype(
        np.float32 if array.dtype.kind == "f" and array.dtype.itemsize <= 4 else np.float64
    )
    return Checked(Rows.of_numbers(arrays.table(array)), None, dtype)


def _check_array(estimator: Any, X: Any, dtype: Any) -> NDArray[Any]:
    arrays.check_dense(X)
    arrays.check_no_file(X)
    X = arrays.unmasked(X)
    if dtype == "numeric":
        X = _numbers(estimator, X)
    from sklearn.utils.validation import check_array

    try:
        return check_array(
            X, dtype=dtype, ensure_all_finite=False, estimator=estimator, input_name="X"
        )
    except ValueError as error:
        if "could not convert string" in str(error) or "bytes/strings" in str(error):
            raise _text_error(estimator, str(error)) from None
        if "Complex data not supported" in str(error):
            raise _complex_error() from None
        if "Expected 2D array" in str(error) or "2-dimensional container" in str(error):
            raise arrays.shape_error(X) from None
        if "inhomogeneous" in str(error):
            raise NaivelyError(f"rows of X must be equally long; {error}") from None
        raise NaivelyError(str(error)) from None


def _numbers(estimator: Any, X: Any) -> Any:
    """Return objects that are numbers or missing as numbers, or raise with what to do.

    What is neither is left to scikit-learn, which has errors of its own for it.
    """
    if not isinstance(X, np.ndarray):
        try:
            X = np.asarray(X)
        except (TypeError, ValueError):  # such as rows of different lengths
            return X
    if X.ndim == 0:
        raise arrays.shape_error(X)
    held = kinds.held_by_dtype(X.dtype) or kinds.held_by_objects(X.ravel().tolist())
    if held.what == "text":
        raise _text_error(estimator, held.type)
    if X.dtype.kind == "c" or any(isinstance(cell, complex) for cell in _objects(X, held)):
        raise _complex_error()
    if held.what in (*kinds.DATES, "time") or (held.what == "other" and X.dtype.kind != "O"):
        kinds.kind_of(held, "X")
    if X.dtype.kind != "O" or held.what == "other":
        return X
    return kinds.numbers_of_objects(X.ravel().tolist(), "X").reshape(X.shape)


def _objects(X: NDArray[Any], held: kinds.Held) -> list[Any]:
    return X.ravel().tolist() if X.dtype.kind == "O" and held.what == "other" else []


def _text_error(estimator: Any, what: str) -> NaivelyError:
    return NaivelyError(
        f"{estimator._name} needs numbers; got text in X ({what}). "
        "Use NaiveBayes, which reads text as categories or words."
    )


def _complex_error() -> NaivelyError:
    return NaivelyError(
        "X must hold real numbers; got complex ones. Complex data not supported: give their real "
        "and imaginary parts as columns."
    )


def check_cells(estimator: Any, X: Any, known: Schema | None) -> Any:
    """Return a frame as it is, sparse rows, or an array of any cells; all must have some."""
    if is_sparse(X):
        rows = SparseRows.of(X)
        _check_not_empty(estimator, rows.shape)
        _check_width(estimator, rows, known)
        return rows
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.char in "df":
        _check_width(estimator, X, known)
        return X
    if not isinstance(X, np.ndarray | list | tuple):
        from naively.engines.memory import frames
        from naively.engines.memory.native import is_frame

        if is_frame(X):
            _check_not_empty(estimator, frames.shape_of(X))
            return X
    elif not isinstance(X, np.ndarray):
        X = np.array(X, dtype=object) if arrays.holds_more(X) else X
    X = _check_array(estimator, X, dtype=None)
    _check_width(estimator, X, known)
    return X


def _check_width(estimator: Any, X: Any, known: Schema | None) -> None:
    if known is None or X.shape[1] == known.n_columns:
        return
    if not known.dates or X.shape[1] != len(known.inputs or ()):
        from sklearn.utils.validation import _check_n_features

        _raise_as_ours(_check_n_features, estimator, X)


def _check_names(estimator: Any, X: Any) -> None:
    from sklearn.utils.validation import _check_feature_names

    _raise_as_ours(_check_feature_names, estimator, X)


def _raise_as_ours(check: Any, estimator: Any, X: Any) -> None:
    """Raise the error of a check of scikit-learn's as one of this package, with what to do."""
    try:
        check(estimator, X, reset=False)
    except ValueError as error:
        raise NaivelyError(
            f"{str(error).strip()} Give the columns that {estimator._name} was fitted on, in their "
            "order, and no others."
        ) from None


def check_codes(
    estimator: Any, X: Any, *, fitted: bool
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Return an array of codes, whole numbers or NaN, and the names of its columns."""
    names, frame = None, None
    if not isinstance(X, np.ndarray | list | tuple):
        from naively.engines.memory import frames
        from naively.engines.memory.native import is_frame

        frame = X if is_frame(X) else None
    if frame is None:
        array = _check_array(estimator, X, dtype="numeric")
    else:
        names, array = frames.names_of(X), _codes_of_frame(estimator, X)
    if fitted:
        _check_names(estimator, X)
        _check_width(estimator, array, estimator.summary_.schema)
    return whole_codes(array), names


def whole_codes(array: NDArray[Any]) -> NDArray[Any]:
    """Return codes as the kernel reads them: integers, or float64 where cells are missing."""
    if array.dtype.kind == "f":
        array = np.asarray(array, dtype=np.float64)
        if np.isinf(array).any():
            raise NaivelyError("Input X contains infinity; categories are coded 0, 1, 2, ...")
        if np.isnan(array).any():
            return np.trunc(array)
        return np.clip(array, -1, _LARGEST_CODE).astype(np.int64)
    if array.dtype == np.uint64:  # such a code was never seen, whatever it is
        return np.minimum(array, _LARGEST_CODE).astype(np.int64)
    plain = array.dtype.isnative and array.flags.aligned
    return array if plain else np.array(array, array.dtype.newbyteorder("="))


def _codes_of_frame(estimator: Any, X: Any) -> NDArray[Any]:
    from naively.engines.memory import frames

    _check_not_empty(estimator, frames.shape_of(X))
    names, codes = frames.names_of(X) or range(X.shape[1]), []
    for name, column in zip(names, frames.columns_of(X), strict=True):
        held = frames.held_by(column)
        kind = kinds.kind_of(held, f"column {name!r}")
        if held.coded or (kind is kinds.CATEGORY and held.what != "boolean"):
            raise NaivelyError(
                f"{estimator._name} reads codes 0, 1, 2, ...; got {held.type} in column "
                f"{name!r}. Use NaiveBayes, which reads text and categories as they are."
            )
        codes.append(frames.number_column(column, f"column {name!r}")[:])
    return np.column_stack(codes)


def _check_not_empty(estimator: Any, shape: tuple[int, ...]) -> None:
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise NaivelyError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required "
                f"by {estimator._name}."
            )


def check_labels(estimator: Any, y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return the labels as an array, one per row."""
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU"):
        y = _check_other_labels(estimator, y)
    if y.shape[0] != n_rows:
        raise NaivelyError(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, y.shape[0]]}"
        )
    return y


def _check_other_labels(estimator: Any, y: Any) -> NDArray[Any]:
    if y is None:
        raise NaivelyError(f"{estimator._name} requires y to be passed, but the target y is None.")
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
