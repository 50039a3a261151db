"""One task per partition runs the kernel; a tree of fixed shape adds the summaries.

The tree depends only on the number of partitions. So the sum has the same bits on any scheduler and
any number of workers, also if some of them die.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from math import isnan
from operator import add
from typing import Any

from naively.data.schema import Schema
from naively.engines import summarize as summarize_rows
from naively.engines.dask.example import example
from naively.engines.dask.partitions import (
    Partition,
    check_table,
    each_partition,
    is_array,
    is_lazy,
    name_partition,
)
from naively.engines.memory.arrays import unmasked
from naively.engines.memory.tables import schema_of
from naively.errors import need
from naively.statistics.summary import Summary

dask: Any = need("dask", "reading Dask collections", extra="dask")

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
