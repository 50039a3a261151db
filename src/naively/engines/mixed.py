"""Tables of numbers and categories, measured block by block of rows.

>>> import pandas
>>> frame = pandas.DataFrame({"age": [30.0, 40.0, None], "town": ["Ulm", "Bonn", "Ulm"]})
>>> summary = summarize(frame, ["no", "yes", "no"])
>>> summary.categories, summary.tally(0)
((array(['Bonn', 'Ulm'], dtype='<U4'),), array([[0., 2.],
       [1., 0.]]))
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel
from naively._threads import block_slices, map_blocks
from naively.engines.arrays import Table, as_weights, summarize_table
from naively.engines.tables import Mixed, kinds_of, kinds_under, read
from naively.labels import encode, positions
from naively.sample import EVERYTHING, Sample, distinct_rows, hashes_of
from naively.schema import Schema
from naively.stats import Tallies
from naively.summary import Summary

__all__ = ["Mixed", "decided", "measure", "sample_rows", "summarize"]

_MOST_BLOCKS = 16
_MOST_RESULTS = 1 << 27  # bytes that the blocks' tallies may take
_BLOCK = 1 << 16  # rows that are looked through at a time for those of a sample


def summarize(
    X: Any,
    y: ArrayLike,
    *,
    schema: Schema | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Summary:
    """Summarize the rows of a table of numbers and categories by their labels.

    Parameters
    ----------
    X : data frame or array
        Text, booleans and a frame's own categories are categories; the rest must be numbers.
    y : array-like of shape (n_rows,)
        Labels.
    schema : Schema, optional
        What to measure, where it has been agreed upon; by default, what the table's types say.
    sample_weight : array-like of shape (n_rows,), optional
        Weights, finite and >= 0; weight 0 is the same as leaving the row out.
    n_jobs : int, optional
        Threads; None for all cores where there is enough to do.
    """
    schema = decided(X, schema)
    classes, codes = encode(y)
    weights = as_weights(sample_weight)
    return measure(read(X, schema), schema, classes, codes, weights, n_jobs)


def decided(X: Any, agreed: Schema | None = None) -> Schema:
    """Return what a table's types say; of an agreed schema, they decide what is undecided."""
    if agreed is None:
        names, kinds = kinds_of(X)
        return Schema(len(kinds), names, kinds)
    if not agreed.undecided:
        return agreed
    kinds = kinds_under(X, agreed)
    return agreed.decided(kinds)


def measure(
    table: Mixed,
    schema: Schema,
    classes: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    n_jobs: int | None,
    bound: int = EVERYTHING,
    untyped: bool = False,
    sample: Sample | None = None,
) -> Summary:
    """Summarize what the kernel reads: moments, tallies, bins and a sample.

    Where a bound is given, only rows of a lesser hash are sampled. Classes may be untyped: see
    `Sample`. A sample of these rows that has been drawn already is not drawn again.
    """
    numbers = summarize_table(table.numbers, schema, classes, codes, weights, n_jobs)
    tallies, bins = _tallied(table, schema, classes, codes, weights, n_jobs)
    if not schema.sample:
        sample = None
    elif sample is None:
        sample = sample_rows(table, schema, classes, codes, weights, n_jobs, bound, untyped)
    kept = positions(numbers.classes, classes)  # those of a positive weight
    orders = [np.argsort(column, kind="stable") for column in table.categories]
    if sample is not None:
        sample = sample.recoded(
            _inverse(kept, classes.size), [_inverse(order, order.size) for order in orders]
        )
    starts = np.cumsum([0, *(order.size for order in orders)])
    cells = [start + order for start, order in zip(starts, orders, strict=False)]
    at = np.concatenate([np.empty(0, np.intp), *cells])
    return Summary(
        schema,
        numbers.classes,
        numbers.class_weight,
        numbers.moments,
        tuple(column[order] for column, order in zip(table.categories, orders, strict=True)),
        Tallies(np.ascontiguousarray(tallies[kept][:, at])),
        Tallies(bins[kept]),
        sample,
    ).without_empty_categories()


def _inverse(places: NDArray[np.intp], size: int) -> NDArray[np.int32]:
    """Return where each of ``size`` things went; 0 for those that went nowhere."""
    inverse = np.zeros(size, np.int32)
    inverse[places] = np.arange(places.size)
    return inverse


def _tallied(
    table: Mixed,
    schema: Schema,
    classes: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    n_jobs: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count categories, and cells between edges, by class."""
    offsets = np.cumsum([0, *(column.size for column in table.categories)])
    shape = (classes.size, len(schema.numbers), schema.n_bins)

    def work(rows: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        block, given = table[rows], None if weights is None else weights[rows]
        tallies, bins = np.zeros((classes.size, offsets[-1])), np.zeros(shape)
        if table.categories:
            _kernel.tally(block.codes, codes[rows], given, offsets, tallies)
        if bins.size:
            _kernel.tally_bins(block.numbers, codes[rows], given, schema.edge_array, bins)
        return tallies, bins

    if not table.categories and not schema.n_bins:
        return np.zeros((classes.size, 0)), np.zeros(shape)
    size = 8 * (classes.size * int(offsets[-1]) + int(np.prod(shape)))
    blocks = block_slices(*table.shape, max(2, min(_MOST_BLOCKS, _MOST_RESULTS // (size + 1))))
    return reduce(_added, map_blocks(work, blocks, n_jobs))


def _added(a: Any, b: Any) -> Any:
    for mine, other in zip(a, b, strict=True):
        mine += other
    return a


def sample_rows(
    table: Mixed,
    schema: Schema,
    classes: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    n_jobs: int | None,
    bound: int = EVERYTHING,
    untyped: bool = False,
) -> Sample:
    """Return the rows of least hash, each with the weight of all that are equal to it."""
    found = np.empty(table.shape[0], np.uint64)
    category_hashes = [hashes_of(column) for column in table.categories]

    def work(rows: slice) -> None:
        block = table[rows]
        _kernel.hash_rows(block.numbers, block.codes, category_hashes, found[rows])

    map_blocks(work, block_slices(*table.shape, _MOST_BLOCKS), n_jobs)
    at = np.arange(found.size) if weights is None else np.flatnonzero(weights)
    at = _few(found, at, schema.sample) if bound == EVERYTHING else at[found[at] < bound]
    if not at.size:
        shape = schema.sample, len(schema.numbers), len(schema.categories)
        return replace(Sample.zero(*shape), bound=bound, untyped=untyped)
    first, inverse = distinct_rows(found[at], codes[at])
    weight = np.bincount(inverse, None if weights is None else weights[at], first.size)
    kept = at[first]
    sample = Sample(
        schema.sample,
        bound,
        found[kept],
        weight.astype(np.float64),
        codes[kept],
        _taken(table.numbers, kept, np.float64) + 0.0,  # -0.0 becomes 0.0, which is the same cell
        _taken(table.codes, kept, np.int32),
        untyped=untyped,
    )
    return sample.least(schema.sample)


def _few(hashes: NDArray[np.uint64], at: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Leave out rows that are surely too many: of great hashes, where enough differ below."""
    if at.size <= 8 * size:
        return at
    bound = np.uint64(4 * size / at.size * 2.0**64)
    low = at[hashes[at] < bound]
    return low if np.unique(hashes[low]).size > size else at


def _taken(table: Table, rows: NDArray[np.intp], dtype: Any) -> NDArray[Any]:
    """Return some rows of a table as an array."""
    if isinstance(table, np.ndarray):
        return table[rows].astype(dtype)
    out = np.empty((rows.size, table.shape[1]), dtype)
    for start in range(0, table.shape[0], _BLOCK):
        here = (rows >= start) & (rows < start + _BLOCK)
        if here.any():
            block = table[start : start + _BLOCK]
            columns = block if isinstance(block, list) else list(block.T)
            for j, column in enumerate(columns):
                out[here, j] = column[rows[here] - start]
    return out
