"""Partitions of Dask collections that belong together: rows, labels and weights.

Collections of the same kind are joined before Dask optimizes them, so that what they share, such
as files that hold both rows and labels, is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import isnan
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import as_array
from naively.engines.dask.subgraphs import Graph, Subgraph, split
from naively.engines.memory.arrays import as_weights
from naively.errors import NaivelyError, need

da: Any = need("dask.array", "reading Dask arrays", extra="dask")
delayed: Any = need("dask.delayed", "reading Dask collections", extra="dask")
highlevelgraph: Any = need("dask.highlevelgraph", "reading Dask collections", extra="dask")
dd: Any = need("dask.dataframe", "reading Dask data frames", extra="dask")


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
