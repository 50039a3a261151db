"""One task per partition runs the kernel; a tree of fixed shape adds the summaries.

The tree depends on the number of partitions alone, so that the sum has the same bits on any
scheduler and any number of workers, also where some of them die.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from math import isnan
from operator import add
from typing import Any
from uuid import uuid4

from naively._optional import need
from naively.engines import mixed
from naively.engines.arrays import unmasked
from naively.engines.dask.example import example
from naively.engines.dask.partitions import (
    Partition,
    check_table,
    is_array,
    is_lazy,
    naming,
    partitions,
)
from naively.engines.dask.recipes import Graph, Key
from naively.engines.tables import kinds_of
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["summarize"]

delayed: Any = need("dask.delayed", "reading Dask collections", extra="dask")
highlevelgraph: Any = need("dask.highlevelgraph", "reading Dask collections", extra="dask")

_BRANCHES = 8  # summaries that one task adds


def summarize(
    X: Any,
    y: Any,
    *,
    schema: Schema | None = None,
    sample_weight: Any = None,
    most: int | None = None,
    measure: Callable[..., Summary] = mixed.summarize,
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
        What summarizes the rows of one partition, as `naively.engines.mixed.summarize` does.

    Returns
    -------
    Summary
        The same bits whatever the scheduler.
    """
    check_table(X)
    schema = _schema_of(X) if schema is None else schema
    beside = {"y": y} if sample_weight is None else {"y": y, "sample_weight": sample_weight}
    lengths = None if all(map(is_lazy, beside.values())) else _lengths(X)
    shared, parts = partitions(X, beside, lengths)
    if most is not None:
        parts = parts[:: -(-len(parts) // most)]
    name = f"naively-summarize-{uuid4().hex}"
    graph = {**shared, (name, "schema"): schema}
    keys = _add_tasks(graph, (name, 0), partial(_measured, measure), parts, (name, "schema"))
    found: Summary = _computed(name, graph, _add_tree(graph, name, keys))
    return found


def _add_tasks(
    graph: Graph, name: Any, work: Callable[..., Any], parts: list[Partition], *more: Key
) -> list[Key]:
    """Add a task for each partition."""
    for part in parts:
        graph[*name, part.number] = (partial(work, part), *more, *part.recipe.needs)
    return [(*name, part.number) for part in parts]


def _add_tree(graph: Graph, name: str, keys: list[Key]) -> Key:
    """Add the tasks that add summaries up, some neighbours at a time, and return the last one's."""
    level = 0
    while len(keys) > 1:
        level += 1
        groups = [keys[i : i + _BRANCHES] for i in range(0, len(keys), _BRANCHES)]
        keys = [(name, level, i) for i in range(len(groups))]
        graph.update({key: (_sum, group) for key, group in zip(keys, groups, strict=True)})
    return keys[0]


def _computed(name: str, graph: Graph, key: Key) -> Any:
    layers = highlevelgraph.HighLevelGraph.from_collections(name, graph, dependencies=())
    return delayed.Delayed(key, layers, layer=name).compute()


def _measured(
    measure: Callable[..., Summary], partition: Partition, schema: Schema, *shared: Any
) -> Summary:
    with naming(partition.number):
        parts = partition.load(*shared)
        X, y, w = unmasked(parts["X"]), parts["y"], parts.get("sample_weight")
        return measure(X, y, schema=schema, sample_weight=w, n_jobs=1)


def _sum(summaries: list[Summary]) -> Summary:
    return reduce(add, summaries)


def _lengths(X: Any) -> list[int]:
    """Return how many rows each partition has; they are counted where nobody knows."""
    if is_array(X) and not isnan(X.shape[0]):
        return list(X.chunks[0])
    graph, parts = partitions(X, {})
    name = f"naively-lengths-{uuid4().hex}"
    graph[name] = (list, _add_tasks(graph, (name,), _length, parts))
    return _computed(name, graph, name)


def _length(partition: Partition, *shared: Any) -> int:
    with naming(partition.number):
        return len(partition.load(*shared)["X"])


def _schema_of(X: Any) -> Schema:
    names, kinds = kinds_of(example(X))
    return Schema(len(kinds), names, None if set(kinds) <= {"number"} else kinds)
