"""Columns that only count the rows."""

from __future__ import annotations

import numpy as np

from naively.statistics.summary import Summary

_FEWEST = 10  # rows by which a column is said to count them


def counting_columns(summary: Summary) -> list[int]:
    """Return the places of the columns that only count the rows, in any order.

    Of 1, ..., n the mean is (n + 1) / 2 and the sum of squared deviations n (n^2 - 1) / 12; a
    column that has both, or those of 0, ..., n - 1, is hardly anything else.

    >>> from naively import summarize
    >>> counting_columns(summarize([[i, i % 7] for i in range(20)], ["a", "b"] * 10))
    [0]
    """
    n = summary.weight
    if n < _FEWEST or n != int(n) or summary.schema.counted is not None:
        return []
    total = summary.moments.pooled()
    counts = (total.weight == n) & np.isclose(np.abs(total.mean - n / 2), 0.5, rtol=1e-9)
    counts &= np.isclose(total.m2, n * (n * n - 1) / 12, rtol=1e-9)
    return [j for j, its in zip(summary.schema.numbers, counts.tolist(), strict=True) if its]
