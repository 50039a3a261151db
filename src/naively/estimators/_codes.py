"""Codes 0, 1, 2, ... as the categories of columns: how many there are, and their shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively._threads import block_slices, map_blocks
from naively.exceptions import NaivelyError
from naively.families.categorical import Categorical, CategoricalPrior
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["CodeShares", "check_sizes", "counts_of", "highest", "sizes_of"]

_MOST_CODES = 1 << 24  # a column's table has as many rows, and a number for each class in each


class CodeShares(Categorical):
    """Shares of codes, as scikit-learn has them: equal ones in a class without cells."""

    def _prior(self, tallies: NDArray[np.float64]) -> CategoricalPrior:
        prior = super()._prior(tallies)
        share = prior.weight / prior.total if prior.total > 0 else np.ones_like(prior.weight)
        return replace(prior, log_share=np.log(share))


def sizes_of(summary: Summary, least: ArrayLike | None) -> NDArray[np.int64]:
    """Return how many categories each column has: one more than the highest seen, or more."""
    seen = [int(column[-1]) + 1 if column.size else 0 for column in summary.categories]
    check_sizes(np.array(seen, dtype=np.float64), summary.schema)  # beyond int64, perhaps
    sizes = np.array(seen, dtype=np.int64)
    if least is None:
        return sizes
    given = np.array(least)
    if not np.issubdtype(given.dtype, np.signedinteger):
        raise NaivelyError(
            f"'min_categories' should have integral type. Got {given.dtype} instead."
        )
    if given.ndim and given.shape != sizes.shape:
        raise NaivelyError(
            f"'min_categories' should have shape ({sizes.size},) when an array-like is provided. "
            f"Got {given.shape} instead."
        )
    sizes = np.maximum(sizes, given)
    check_sizes(sizes, summary.schema)
    return sizes


def check_sizes(sizes: NDArray[Any], schema: Schema) -> None:
    """Raise where a column has more codes than fit into a table."""
    if sizes.size and sizes.max() > _MOST_CODES:
        j = int(np.argmax(sizes))
        raise NaivelyError(
            "CategoricalNB keeps a share for every code from 0 to the highest, which must be "
            f"below {_MOST_CODES:,}; got {sizes[j] - 1:.10g} in {schema.name(j)}. Use NaiveBayes "
            'with families={column: "categorical"}: it keeps only the codes that were seen.'
        )


def counts_of(summary: Summary, sizes: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """Return the weights of all categories, seen or not."""
    counts = []
    for j, size in enumerate(sizes):
        counts.append(np.zeros((summary.classes.size, size)))
        if summary.categories[j].size:  # those of a column without a cell have no type
            counts[-1][:, summary.categories[j]] = summary.tally(j)
    return counts


def highest(codes: NDArray[Any], n_jobs: int | None) -> NDArray[Any]:
    """Return the greatest code of each column; -1 where all are missing."""
    blocks = block_slices(codes.shape[0], codes.shape[1], most=64)
    tops = map_blocks(lambda rows: np.fmax.reduce(codes[rows], axis=0), blocks, n_jobs)
    return np.nan_to_num(np.fmax.reduce(tops, axis=0), nan=-1)
