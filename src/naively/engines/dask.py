"""Dask arrays and data frames, on threads or on a cluster.

One task per partition runs the kernel; a tree of fixed shape adds the summaries, and no row comes
to the client.

The tree depends only on the number of partitions. So the sum has the same bits on any scheduler and
any number of workers, also if some of them die.

>>> import dask.array as da
>>> X = da.from_array([[1.0], [3.0], [10.0]], chunks=(2, 1))
>>> summarize(X, ["a", "a", "b"])
<Summary of weight 3: 1 columns, 2 classes ('a', 'b')>

Predictions are as lazy as the collection is.

>>> from naively import GaussianNB
>>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"])
>>> answer = predict(model, "predict", da.from_array([[3.0], [7.0]], chunks=(1, 1)))
>>> answer.chunks, answer.compute()
(((1, 1),), array(['a', 'b'], dtype='<U1'))

What columns hold is read off a few rows in memory that have their types.

>>> example(da.zeros((1000, 2), dtype="float32"))
array([[nan, nan]], dtype=float32)

Rows, labels and weights are joined before Dask optimizes them, so that what they share, such as
files that hold all of them, is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from itertools import pairwise
from math import isnan
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import LOOKED_AT
from naively.data.labels import as_array
from naively.data.schema import Schema
from naively.engines import Classifier
from naively.engines import summarize as summarize_rows
from naively.engines.memory.arrays import as_weights, unmasked
from naively.engines.memory.frames import held_by
from naively.engines.memory.tables import schema_of
from naively.errors import NaivelyError, need
from naively.statistics.summary import Summary

dask: Any = need("dask", "reading Dask collections", extra="dask")
pd: Any = need("pandas", "reading Dask collections", extra="dask")
da: Any = need("dask.array", "reading Dask arrays", extra="dask")
dd: Any = need("dask.dataframe", "reading Dask data frames", extra="dask")

_MAX_SUMMARIES = 8  # summaries that one task adds


def summarize(
    X: Any,
    y: Any,
    *,
    schema: Schema | None = None,
    sample_weight: Any = None,
    most: int | None = None,
    measure: Callable[..., Summary] = summarize_rows,
) -> Summary:
    """Summarize the rows of a Dask collection by their labels, where the rows are.

    Parameters
    ----------
    X : Dask array or data frame
        Rows. Chunks may have unknown lengths, and may be of some of the columns.
    y : Dask array or series, or array-like
        Labels, in the partitions of X. Those in memory are cut like X; where the lengths of its
        partitions are not known, they are counted first, which makes every partition twice.
    schema : Schema, optional
        What to measure; by default, what the collection's types say.
    sample_weight : Dask array or series, or array-like, optional
        Weights, finite and >= 0; weight 0 is the same as leaving the row out.
    most : int, optional
        Only so many partitions, evenly spread: for a first look.
    measure : callable
        What summarizes the rows of one partition, with the parameters of `naively.summarize`.

    Returns
    -------
    Summary
        The same bits whatever the scheduler.
    """
    check_table(X)
    schema = schema_of(example(X, sample_weight)) if schema is None else schema
    names, parts, cut = _together(X, {"y": y, "sample_weight": sample_weight})
    held = dask.delayed(schema, traverse=False)
    results = []
    for i in range(0, len(parts), 1 if most is None else -(-len(parts) // most)):
        given = {name: pieces[i] for name, pieces in cut.items()}
        work = dask.delayed(partial(_measured, i, measure, given, names))
        results.append(work(held, *parts[i]))
    (total,) = _computed([_total(results)], parts)
    return total


def _computed(results: list[Any], parts: list[tuple[Any, ...]]) -> list[Any]:
    """Compute results of partitions; where one cannot be made, find out which."""
    try:
        return list(dask.compute(*results))
    except NaivelyError:
        raise
    except Exception as error:
        for number, part in enumerate(() if _is_of_cluster(error) else parts):
            with name_partition(number):
                dask.compute(*part)
        raise


def _total(parts: list[Any]) -> Any:
    """Add neighbours, some at a time, until one summary is left."""
    add_some = dask.delayed(_sum)
    while len(parts) > 1:
        parts = [
            add_some(parts[i : i + _MAX_SUMMARIES]) for i in range(0, len(parts), _MAX_SUMMARIES)
        ]
    return parts[0]


def _measured(
    number: int,
    measure: Callable[..., Summary],
    given: dict[str, Any],
    names: tuple[tuple[str, ...], ...],
    schema: Schema,
    *made: tuple[Any, ...],
) -> Summary:
    """Summarize a partition: what was made of its collections, and what is in memory."""
    parts = _by_name(given, names, made)
    with name_partition(number):
        X, y, w = unmasked(parts["X"]), parts["y"], parts.get("sample_weight")
        return measure(X, y, schema=schema, sample_weight=w, n_jobs=1)


def _sum(summaries: list[Summary]) -> Summary:
    return reduce(add, summaries)


def _lengths(X: Any) -> list[int]:
    """Return how many rows each partition has; they are counted where nobody knows."""
    if is_array(X) and not isnan(X.shape[0]):
        return list(X.chunks[0])
    _, parts = _joined({"X": X})
    return _computed([dask.delayed(_length)(part) for (part,) in parts], parts)


def _length(made: tuple[Any, ...]) -> int:
    return len(made[0])


# --- Predictions ----------------------------------------------------------------------------------


def predict(model: Classifier, method: str, X: Any) -> Any:
    """Return the answers of a model's method, to be computed later.

    Parameters
    ----------
    model : estimator
        Fitted. What it learns afterwards does not change the answers.
    method : str
        Its method: "predict", "predict_proba", "predict_log_proba",
        "predict_joint_log_proba", "score_samples" or "decision_function".
    X : Dask array or data frame
        Rows.

    Returns
    -------
    Dask array, series or data frame
        For an array, an array with its chunks of rows. For a frame, a series, or a frame with one
        column per class, with its partitions, divisions and index.
    """
    check_table(X)
    model = model.__naively_snapshot__(n_jobs=1)  # Dask has threads of its own
    expected = getattr(model, method)(missing_row(X))[:0]
    # The model is in the graph once, not once per partition.
    held = dask.delayed(model, pure=True, traverse=False)
    if is_array(X):
        return _of_array(held, method, X, expected)
    expected = _framed(expected, X._meta.index[:0], model.classes_)
    return X.map_partitions(_framed_answers, model=held, method=method, meta=expected)


def _of_array(held: Any, method: str, X: Any, expected: NDArray[Any]) -> Any:
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    one = expected.ndim == 1
    return X.map_blocks(
        _answers,
        model=held,
        method=method,
        expected=expected,
        chunks=(X.chunks[0],) if one else (X.chunks[0], (expected.shape[1],)),
        drop_axis=1 if one else None,
        dtype=expected.dtype,
        meta=expected,
    )


def _answers(
    rows: Any,
    *,
    model: Classifier,
    method: str,
    expected: NDArray[Any],
    block_id: Any = (0,),
) -> NDArray[Any]:
    if rows.shape[0] == 0:
        return expected
    with name_partition(block_id[0]):
        return getattr(model, method)(unmasked(rows))


def _framed_answers(
    rows: Any, *, model: Classifier, method: str, partition_info: Any = None
) -> Any:
    some = rows if len(rows) else rows.reset_index(drop=True).reindex([0])  # of missing cells
    with name_partition(partition_info["number"] if partition_info else 0):
        answers = getattr(model, method)(some)
    return _framed(answers[: len(rows)], rows.index, model.classes_)


def _framed(answers: NDArray[Any], index: Any, classes: NDArray[Any]) -> Any:
    pandas: Any = need("pandas", "reading Dask data frames", extra="dask")
    if answers.ndim == 1:
        return pandas.Series(answers, index=index)
    return pandas.DataFrame(answers, index=index, columns=classes)


# --- A few rows that have the columns and the types of a collection -------------------------------


def example(X: Any, sample_weight: Any = None) -> Any:
    """Return rows of X's types: missing cells, or the first rows where cells must be looked at.

    X is computed only where it holds text or Python's objects, and then as many of its first
    partitions as hold `LOOKED_AT` cells of each such column. Rows of weight 0 are not among them.
    """
    check_table(X)
    looked_at = _looked_at(X)
    if not looked_at:
        return missing_row(X)
    found, first_rows = list[Any](), _reading(X, sample_weight, looked_at)
    start, n_parts = 0, count(X)
    while start < n_parts and not _are_enough(found, looked_at):
        stop = min(n_parts, 2 * start + 1)  # one, then twice as many as before
        found += [rows for rows in first_rows(range(start, stop)) if len(rows)]
        start = stop
    if not found:
        return missing_row(X)
    return np.concatenate(found) if is_array(X) else pd.concat(found, ignore_index=True)


def _looked_at(X: Any) -> list[int]:
    """Return the columns that hold text or objects."""
    if is_array(X):
        return list(range(X.shape[1])) if X.dtype.kind in "OUT" else []
    columns = [column for _, column in X._meta.items()]
    held = [(column.dtype == np.dtype(object), held_by(column)) for column in columns]
    return [j for j, (is_object, its) in enumerate(held) if is_object or its.is_text]


def _reading(X: Any, sample_weight: Any, columns: list[int]) -> Callable[[range], Sequence[Any]]:
    """Return what reads the rows of some partitions that hold the first cells of columns."""
    names, parts, cut = _together(X, {"sample_weight": sample_weight})
    look = dask.delayed(partial(_rows_with_cells, columns, names))

    def read(some: range) -> Sequence[Any]:
        given = [{name: pieces[i] for name, pieces in cut.items()} for i in some]
        rows: Sequence[Any] = dask.compute(
            *(look(own, *parts[i]) for i, own in zip(some, given, strict=True))
        )
        return rows

    return read


def _rows_with_cells(
    columns: list[int],
    names: tuple[tuple[str, ...], ...],
    given: dict[str, Any],
    *made: tuple[Any, ...],
) -> Any:
    """Return the first row, and those that hold the first `LOOKED_AT` present cells of columns."""
    parts = _by_name(given, names, made)
    rows, w = parts["X"], parts.get("sample_weight")
    if w is not None and len(w) == len(rows):  # or it is an error later on
        rows = rows[np.asarray(w) != 0]
    present = _present(rows, columns)
    first = np.arange(len(present)) == 0
    return rows[first | (present & (np.cumsum(present, axis=0) <= LOOKED_AT)).any(axis=1)]


def _present(rows: Any, columns: list[int]) -> NDArray[np.bool_]:
    cells = pd.DataFrame(rows) if isinstance(rows, np.ndarray) else rows
    return np.asarray(cells.iloc[:, columns].notna())


def _are_enough(found: list[Any], columns: list[int]) -> bool:
    counts = [_present(rows, columns).sum(axis=0) for rows in found]
    return bool(counts) and bool((np.sum(counts, axis=0) >= LOOKED_AT).all())


def missing_row(X: Any) -> Any:
    """Return one row without cells."""
    if not is_array(X):
        meta = X._meta.reset_index(drop=True)  # in which booleans, also sparse, need a null
        is_flag = [getattr(kind, "subtype", kind) == np.dtype(bool) for kind in meta.dtypes]
        return meta.astype(dict.fromkeys(meta.columns[is_flag], "boolean")).reindex([0])
    row: NDArray[Any] = np.zeros((1, X.shape[1]), X.dtype)
    if X.dtype.kind in "fO":
        row[:] = np.nan
    return row


# --- Partitions that belong together: rows, labels and weights ------------------------------------


def is_array(X: Any) -> bool:
    """Whether X is a Dask array."""
    return isinstance(X, da.Array)


def is_lazy(X: Any) -> bool:
    """Whether X is a collection of Dask's that has rows."""
    return is_array(X) or isinstance(X, dd.DataFrame | dd.Series)


def check_table(X: Any) -> None:
    """Raise unless X has rows and a known number of columns."""
    if not (is_array(X) or isinstance(X, dd.DataFrame)):
        raise NaivelyError(
            f"X must be a Dask array or data frame; got {type(X).__name__}. Of a single column, "
            "X.to_frame() makes a frame."
        )
    if X.ndim != 2:
        raise NaivelyError(f"X must have two dimensions, rows and columns; got shape {X.shape}.")
    if is_array(X) and isnan(X.shape[1]):
        raise NaivelyError(
            "X must have a known number of columns; got chunks of unknown width. "
            "Call X.compute_chunk_sizes() first."
        )


def count(X: Any) -> int:
    """Return how many partitions a collection has: chunks of rows."""
    return int(X.numblocks[0] if is_array(X) else X.npartitions)


def _together(
    X: Any, others: dict[str, Any]
) -> tuple[tuple[tuple[str, ...], ...], list[tuple[Any, ...]], dict[str, list[NDArray[Any]]]]:
    """Return what `_joined` does, of X and of other collections; what is in memory is cut."""
    lazy, in_memory = {"X": X}, {}
    for name, values in others.items():
        if is_lazy(values):
            lazy[name] = _aligned(X, values, name)
        elif values is not None:
            in_memory[name] = values
    names, parts = _joined(lazy)
    lengths = _lengths(X) if in_memory else []
    return names, parts, {name: _cut(v, lengths, name) for name, v in in_memory.items()}


def _by_name(
    given: dict[str, Any], names: tuple[tuple[str, ...], ...], made: tuple[tuple[Any, ...], ...]
) -> dict[str, Any]:
    """Return what belongs to a partition: what is in memory, and what was made of collections."""
    pairs = (
        pair
        for group, values in zip(names, made, strict=True)
        for pair in zip(group, values, strict=True)
    )
    return given | dict(pairs)


def _joined(lazy: dict[str, Any]) -> tuple[tuple[tuple[str, ...], ...], list[tuple[Any, ...]]]:
    """Return names of collections in two groups, and for each partition a tuple of each, later."""
    arrays = {name: values for name, values in lazy.items() if is_array(values)}
    frames = {name: values for name, values in lazy.items() if name not in arrays}
    groups = [(_joined_arrays, arrays), (_joined_frames, frames)]
    parts = [join(list(group.values())) for join, group in groups if group]
    names = tuple(tuple(group) for _, group in groups if group)
    return names, list(zip(*parts, strict=True))


@contextmanager
def name_partition(number: int) -> Iterator[None]:
    """Add the number of the partition to the message of an error."""
    try:
        yield
    except Exception as error:
        if _is_of_cluster(error):
            raise  # such as a request to run elsewhere
        kind = "" if isinstance(error, NaivelyError) else f"{type(error).__name__}: "
        raise NaivelyError(f"partition {number}: {kind}{error}") from error


def _is_of_cluster(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] == "distributed"


def _joined_arrays(arrays: list[Any]) -> list[Any]:
    """Return tuples of the arrays' chunks of the same rows, later; columns are put together."""
    arguments = [arg for array in arrays for arg in (array, "ij"[: array.ndim])]
    joined = da.blockwise(
        _tuple,
        "i",
        *arguments,
        concatenate=any(array.numblocks[1:] > (1,) for array in arrays),  # one would be copied
        align_arrays=False,
        meta=np.empty(0, object),
    )
    return list(joined.to_delayed())


def _joined_frames(frames: list[Any]) -> list[Any]:
    """Return tuples of the frames' partitions, later."""
    joined = dd.map_partitions(
        _tuple, *frames, meta=(None, object), enforce_metadata=False, align_dataframes=False
    )
    return list(joined.to_delayed())


def _tuple(*parts: Any) -> tuple[Any, ...]:
    return tuple(part[0] if isinstance(part, list) else part for part in parts)


def _aligned(X: Any, values: Any, name: str) -> Any:
    """Return values whose partitions are those of X, as far as it can be known before."""
    if values.ndim != 1:
        raise NaivelyError(f"{name} must have one dimension; got {values.ndim} of them.")
    if is_array(X) and is_array(values) and not isnan(X.shape[0] + values.shape[0]):
        if X.shape[0] != values.shape[0]:
            raise NaivelyError(
                f"X and {name} must be equally long; got {X.shape[0]} and {values.shape[0]} rows."
            )
        return values.rechunk((X.chunks[0],))
    if count(X) != count(values):
        raise NaivelyError(
            f"X and {name} must have the same partitions; got {count(X)} and {count(values)} of "
            "them. Repartition one like the other."
        )
    if not (is_array(X) or is_array(values)):
        _check_divisions(X, values, name)
    return values


def _check_divisions(X: Any, values: Any, name: str) -> None:
    known = X.known_divisions and values.known_divisions
    if known and X.divisions != values.divisions:
        raise NaivelyError(
            f"X and {name} must have the same divisions; got {_few(X.divisions)} and "
            f"{_few(values.divisions)}. Repartition one by the other's divisions, or, where their "
            "rows do correspond, call clear_divisions() on one."
        )


def _few(divisions: tuple[Any, ...]) -> str:
    shown = ", ".join(map(repr, divisions[:4]))
    return f"({shown}{', ...' if len(divisions) > 4 else ''})"


def _cut(values: Any, lengths: list[int], name: str) -> list[NDArray[Any]]:
    """Cut what is in memory as the rows are cut."""
    array: Any = as_array(values) if name == "y" else as_weights(values)
    bounds = np.cumsum([0, *lengths])
    if array.ndim != 1 or array.size != bounds[-1]:
        raise NaivelyError(
            f"X and {name} must be equally long; got {bounds[-1]} rows and shape {array.shape}."
        )
    return [array[start:stop] for start, stop in pairwise(bounds)]
