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
files that hold all of them, is read once. The tasks that serve one partition alone become a
subgraph, which a single task runs. So there is one task per partition, and an error in it, also one
of reading files, can name the partition. Tasks that several partitions need, and what a cluster
already holds, stay in the graph.

>>> graph = {"all": [1, 2], "a": (max, "all"), "b": (min, "all"), "c": (abs, "b")}
>>> shared, (first, second) = split(graph, [("a",), ("c",)])
>>> shared, first.needs
({'all': [1, 2]}, ('all',))
>>> first([1, 2]), second([1, 2])
([2], [1])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from math import isnan
from operator import add
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import LOOKED_AT
from naively.data.labels import as_array
from naively.data.schema import Schema
from naively.engines import summarize as summarize_rows
from naively.engines.classifier import Classifier
from naively.engines.memory.arrays import as_weights, unmasked
from naively.engines.memory.frames import held_by
from naively.engines.memory.tables import schema_of
from naively.errors import NaivelyError, need
from naively.statistics.summary import Summary

dask: Any = need("dask", "reading Dask collections", extra="dask")
pd: Any = need("pandas", "reading Dask collections", extra="dask")
da: Any = need("dask.array", "reading Dask arrays", extra="dask")
delayed: Any = need("dask.delayed", "reading Dask collections", extra="dask")
highlevelgraph: Any = need("dask.highlevelgraph", "reading Dask collections", extra="dask")
dd: Any = need("dask.dataframe", "reading Dask data frames", extra="dask")
core: Any = need("dask.core", "reading Dask collections", extra="dask")

_BRANCHES = 8  # summaries that one task adds


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
    schema = schema_of(example(X)) if schema is None else schema
    beside = {"y": y} if sample_weight is None else {"y": y, "sample_weight": sample_weight}
    lengths = None if all(map(is_lazy, beside.values())) else _lengths(X)
    work, held = partial(_measured, measure), dask.delayed(schema, traverse=False)
    parts = each_partition(work, X, beside, held, lengths=lengths, most=most)
    return _total(parts).compute()


def _total(parts: list[Any]) -> Any:
    """Add neighbours, some at a time, until one summary is left."""
    add_some = dask.delayed(_sum)
    while len(parts) > 1:
        parts = [add_some(parts[i : i + _BRANCHES]) for i in range(0, len(parts), _BRANCHES)]
    return parts[0]


def _measured(
    measure: Callable[..., Summary], partition: Partition, schema: Schema, *shared: Any
) -> Summary:
    with name_partition(partition.number):
        parts = partition.load(*shared)
        X, y, w = unmasked(parts["X"]), parts["y"], parts.get("sample_weight")
        return measure(X, y, schema=schema, sample_weight=w, n_jobs=1)


def _sum(summaries: list[Summary]) -> Summary:
    return reduce(add, summaries)


def _lengths(X: Any) -> list[int]:
    """Return how many rows each partition has; they are counted where nobody knows."""
    if is_array(X) and not isnan(X.shape[0]):
        return list(X.chunks[0])
    return list(dask.compute(*each_partition(_length, X, {})))


def _length(partition: Partition, *shared: Any) -> int:
    with name_partition(partition.number):
        return len(partition.load(*shared)["X"])


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


def example(X: Any) -> Any:
    """Return rows of X's types: missing cells, or the first rows where cells must be looked at.

    X is computed only where it holds text or Python's objects, and then as many of its first
    partitions as hold `LOOKED_AT` cells of each such column.
    """
    check_table(X)
    looked_at = _looked_at(X)
    found: list[Any] = []
    start, n_parts = 0, count(X) if looked_at else 0
    while start < n_parts and not _are_enough(found, looked_at):
        stop = min(n_parts, 2 * start + 1)  # one, then twice as many as before
        found += [rows for rows in _first_rows(X, start, stop, looked_at) if len(rows)]
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
    return [
        j
        for j, (is_object, its) in enumerate(held)
        if is_object or (its.what == "text" and not its.coded)
    ]


def _first_rows(X: Any, start: int, stop: int, columns: list[int]) -> list[Any]:
    """Return the rows of some partitions that hold the first cells of columns."""
    if is_array(X):
        parts = [X.blocks[i].compute() for i in range(start, stop)]
        return [_rows_with_cells(part, columns) for part in parts]
    parts = X.partitions[start:stop].to_delayed()
    found: tuple[Any, ...] = dask.compute(
        *(dask.delayed(_rows_with_cells)(part, columns) for part in parts)
    )
    return list(found)


def _rows_with_cells(rows: Any, columns: list[int]) -> Any:
    """Return the first row, and those that hold the first `LOOKED_AT` present cells of columns."""
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


@dataclass(frozen=True)
class Partition:
    """One partition of each of several collections."""

    number: int  # which one, from 0
    subgraph: Subgraph  # the tasks that make them
    names: tuple[tuple[str, ...], ...]  # the names of its results, in their order
    in_memory: dict[str, Any]  # parts that are in memory already

    def load(self, *shared: Any) -> dict[str, Any]:
        """Return the parts by name."""
        parts = dict(self.in_memory)
        for names, made in zip(self.names, self.subgraph(*shared), strict=True):
            parts.update(zip(names, made, strict=True))
        return parts


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


def each_partition(
    work: Callable[..., Any],
    X: Any,
    beside: dict[str, Any],
    *arguments: Any,
    lengths: list[int] | None = None,
    most: int | None = None,
) -> list[Any]:
    """Return the results of a function of each partition, later: one task each.

    Parameters
    ----------
    work : callable
        It is called with a `Partition`, the arguments, and what `Partition.load` takes.
    beside : dict
        What there is for each row, by name: Dask arrays or series, or arrays in memory.
    lengths : list of int, optional
        How many rows each partition has; only for what is in memory.
    most : int, optional
        Only so many partitions, evenly spread.
    """
    lazy, in_memory = {"X": X}, dict[str, list[Any]]()
    for name, values in beside.items():
        if is_lazy(values):
            lazy[name] = _aligned(X, values, name)
        else:
            in_memory[name] = _cut(values, lengths or [], name)
    graph, names, keys = _joined(lazy)
    shared, found = split(graph, keys)
    layer = f"naively-{uuid4().hex}"
    held = highlevelgraph.HighLevelGraph.from_collections(layer, shared, dependencies=())
    results = []
    for i in range(0, len(found), 1 if most is None else -(-len(found) // most)):
        parts = {name: cut[i] for name, cut in in_memory.items()}
        task = delayed.delayed(partial(work, Partition(i, found[i], names, parts)))
        needs = (delayed.Delayed(key, held, layer=layer) for key in found[i].needs)
        results.append(task(*arguments, *needs))
    return results


def _joined(lazy: dict[str, Any]) -> tuple[Graph, tuple[tuple[str, ...], ...], list[Any]]:
    """Return a graph of all collections, and of each partition names and keys."""
    graph: Graph = {}
    names, keys = [], []
    arrays = {name: values for name, values in lazy.items() if is_array(values)}
    frames = {name: values for name, values in lazy.items() if name not in arrays}
    for join, group in ((_joined_arrays, arrays), (_joined_frames, frames)):
        if group:
            parts = join(list(group.values()))
            graph.update(parts[0].dask)
            names.append(tuple(group))
            keys.append([part.key for part in parts])
    return graph, tuple(names), list(zip(*keys, strict=True))


@contextmanager
def name_partition(number: int) -> Iterator[None]:
    """Add the number of the partition to the message of an error."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] == "distributed":
            raise  # such as a request to run elsewhere
        kind = "" if isinstance(error, NaivelyError) else f"{type(error).__name__}: "
        raise NaivelyError(f"partition {number}: {kind}{error}") from error


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


# --- The part of Dask's graph that makes one partition --------------------------------------------


Key: TypeAlias = Any  # a string, or a tuple that begins with one
Graph: TypeAlias = dict[Key, Any]
_SHARED = -1


@dataclass(frozen=True)
class Subgraph:
    """Tasks that one partition alone needs."""

    tasks: Graph  # a graph of Dask's
    keys: tuple[Key, ...]  # those of the results
    # keys of what must be given: results of tasks that are not in this subgraph
    needs: tuple[Key, ...]

    def __call__(self, *shared: Any) -> list[Any]:
        """Run the tasks in this thread, and return their results."""
        given = dict(zip(self.needs, shared, strict=True))
        made = {key: given[key] for key in self.keys if key in given}
        wanted = [key for key in self.keys if key not in given]
        made.update(zip(wanted, core.get(self.tasks, wanted, given), strict=True))
        return [made[key] for key in self.keys]


def split(graph: Graph, wanted: Sequence[tuple[Key, ...]]) -> tuple[Graph, list[Subgraph]]:
    """Return the tasks that are shared, and a subgraph for each group of keys."""
    owner = _owners(graph, wanted)
    own: list[Graph] = [{} for _ in wanted]
    shared: Graph = {}
    for key, i in owner.items():
        (shared if i == _SHARED else own[i])[key] = graph[key]
    found = []
    for tasks, keys in zip(own, wanted, strict=True):
        used = [key for task in tasks for key in _dependencies(graph, task)]
        needs = dict.fromkeys(key for key in (*keys, *used) if key not in tasks)
        found.append(Subgraph(tasks, tuple(keys), tuple(needs)))
    return shared, found


def _owners(graph: Graph, wanted: Sequence[tuple[Key, ...]]) -> dict[Key, int]:
    """Return which group needs each task, or that it is shared; visit each task twice at most."""
    owner: dict[Key, int] = {}
    left = [(key, i) for i, keys in enumerate(wanted) for key in keys]
    while left:
        key, i = left.pop()
        before = owner.get(key)
        if key not in graph or before in (i, _SHARED):
            continue
        used = _dependencies(graph, key)
        alone = (
            before is None and _is_task(graph[key]) and not any(_is_held(graph, k) for k in used)
        )
        owner[key] = i if alone else _SHARED
        left += [(k, owner[key]) for k in used]
    return owner


def _dependencies(graph: Graph, key: Key) -> list[Key]:
    """Return the keys that a node refers to, also those of what a cluster holds."""
    node = graph[key]
    known = getattr(node, "dependencies", None)  # older graphs have tuples, which have none
    found = core.get_dependencies(graph, key) if known is None else known
    return sorted(found, key=str)  # in the same order in every process


def _is_task(node: Any) -> bool:
    """Whether a node computes something, and does not wait for a result of the cluster."""
    return not _is_of_cluster(node) and (callable(node) or bool(core.istask(node)))


def _is_held(graph: Graph, key: Key) -> bool:
    """Whether a cluster holds it, such as a shuffled partition, and decides where it goes."""
    return key not in graph or _is_of_cluster(graph[key])


def _is_of_cluster(node: Any) -> bool:
    return type(node).__module__.partition(".")[0] == "distributed"
