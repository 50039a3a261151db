"""Partitions of Dask collections that belong together: rows, labels and weights.

Collections of the same kind are joined before Dask optimizes them, so that what they share, such
as files that hold both rows and labels, is read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._optional import need
from naively.engines.arrays import as_weights
from naively.engines.dask.recipes import Graph, Recipe, recipes
from naively.exceptions import NaivelyError
from naively.labels import as_array

__all__ = ["Partition", "check_table", "count", "is_array", "is_lazy", "naming", "partitions"]

da: Any = need("dask.array", "reading Dask arrays", extra="dask")
dd: Any = need("dask.dataframe", "reading Dask data frames", extra="dask")


@dataclass(frozen=True)
class Partition:
    """One partition of each of several collections.

    Attributes
    ----------
    number : int
        Which one, from 0.
    recipe : Recipe
        How to make them.
    names : tuple of tuple of str
        What the recipe's results hold, in their order.
    given : dict
        Parts that are in memory already.
    """

    number: int
    recipe: Recipe
    names: tuple[tuple[str, ...], ...]
    given: dict[str, Any]

    def load(self, *shared: Any) -> dict[str, Any]:
        """Return the parts by name."""
        parts = dict(self.given)
        for names, made in zip(self.names, self.recipe(*shared), strict=True):
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
        raise NaivelyError(f"X must be a Dask array or data frame; got {type(X).__name__}.")
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


def partitions(
    X: Any, beside: dict[str, Any], lengths: list[int] | None = None
) -> tuple[Graph, list[Partition]]:
    """Return the tasks that partitions share, and the partitions.

    Parameters
    ----------
    X : Dask array or data frame
        The rows, called "X".
    beside : dict
        What there is for each row, by name: Dask arrays or series, or arrays in memory.
    lengths : list of int, optional
        How many rows each partition has; only for what is in memory.
    """
    lazy: dict[str, Any] = {"X": X}
    slices: dict[str, list[Any]] = {}
    for name, values in beside.items():
        if is_lazy(values):
            lazy[name] = _aligned(X, values, name)
        else:
            slices[name] = _cut(values, lengths or [], name)
    graph: Graph = {}
    names, keys = [], []
    for join, kind in ((_joined_arrays, da.Array), (_joined_frames, object)):
        group = {name: lazy.pop(name) for name in list(lazy) if isinstance(lazy[name], kind)}
        if group:
            delayed = join(list(group.values()))
            graph.update(delayed[0].dask)
            names.append(tuple(group))
            keys.append([part.key for part in delayed])
    shared, made = recipes(graph, list(zip(*keys, strict=True)))
    return shared, [
        Partition(i, recipe, tuple(names), {name: parts[i] for name, parts in slices.items()})
        for i, recipe in enumerate(made)
    ]


@contextmanager
def naming(number: int) -> Iterator[None]:
    """Let an error say in which partition it came about."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] == "distributed":
            raise  # such as the wish to run elsewhere
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
