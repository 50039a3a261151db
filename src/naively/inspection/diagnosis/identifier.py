"""Columns that number or name the rows: what they hold says nothing of new rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from naively.data.sparse import SparseRows
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, percent
from naively.model.row_numbers import counting_columns
from naively.statistics.summary import Summary

_FEWEST = 20  # rows whose categories differ
_FEWEST_WHOLE = 100  # rows of whole numbers of which none comes twice
_EXACT = 2.0**53  # from here on, all float64 are whole
_MOSTLY = 0.9  # of the cells have a category of their own
_ADVICE = "Leave it out: what it holds does not come again in new rows."


def identifiers(evidence: Evidence) -> Iterator[Finding]:
    """Find categories that hardly come twice, row numbers, and whole numbers that never repeat."""
    summary, schema = evidence.summary, evidence.summary.schema
    for place, j in enumerate(schema.categories):
        tally = summary.tally(place).sum(axis=0)
        if is_identifier(tally):
            share = float((tally == 1).sum() / tally.sum())
            seen = (
                f"{evidence.column(j)} holds {np.count_nonzero(tally):,} categories in "
                f"{tally.sum():,.0f} rows: {percent(share)} of the rows have one of their own."
            )
            yield Finding("identifier", "high", seen, _ADVICE, (evidence.names[j],), figure=share)
    counting = counting_columns(summary)
    for j in counting:
        seen = f"{evidence.column(j)} counts the rows: it holds each number from 0 or 1 on once."
        yield Finding("identifier", "high", seen, _ADVICE, (evidence.names[j],), figure=1.0)
    for j in _never_twice(summary):
        if j not in counting:
            seen = f"{evidence.column(j)} holds another whole number in every row of the sample."
            advice = "Leave it out if it is an identifier, such as a customer's number."
            yield Finding("identifier", "low", seen, advice, (evidence.names[j],), figure=1.0)


def is_identifier(tally: NDArray[np.float64]) -> bool:
    """Whether nearly every cell has a category of its own, given the weight of each category.

    >>> is_identifier(np.ones(30)), is_identifier(np.array([10.0, 20.0]))
    (True, False)
    """
    total = tally.sum()
    return bool(total >= _FEWEST and (tally == 1).sum() >= _MOSTLY * total)


def _never_twice(summary: Summary) -> Iterator[int]:
    """Yield the columns of whole numbers of which none comes twice in the sample."""
    sample = summary.sample
    if sample is None or isinstance(sample.numbers, SparseRows):
        return
    for cells, j in zip(sample.numbers.T, summary.schema.numbers, strict=True):
        known = cells[~np.isnan(cells)]
        whole = (known == np.floor(known)) & (np.abs(known) < _EXACT)
        if known.size < _FEWEST_WHOLE or not whole.all():
            continue
        if np.unique(known).size == known.size and (sample.weight == 1).all():
            yield j
