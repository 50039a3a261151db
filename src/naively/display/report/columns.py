"""What a page knows of each column: its range, its histogram, its curves, and a slider.

>>> slider(1.0, 6.9, whole=False)
{'low': 0.5, 'high': 7.4, 'step': 0.02, 'digits': 2}
>>> slider(0.0, 1.0, whole=True)
{'low': 0, 'high': 1, 'step': 1, 'digits': 0}
>>> slider(0.0, 0.0, whole=True)
{'low': -0.575, 'high': 0.575, 'step': 0.005, 'digits': 3}
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.rows import Rows

_CELLS = 1 << 22  # of a block: 32 MB
_BINS = 24
_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Ranges:
    """The least and the largest cell of each column, and what kind of cells it has."""

    # least and most, (n_columns,): NaN for a column without a cell
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    missing: NDArray[np.int64]  # (n_columns,): cells that are missing
    whole: NDArray[np.bool_]  # (n_columns,): whether all cells are whole numbers

    @classmethod
    def of(cls, rows: Rows) -> Ranges:
        """Look at every number once."""
        d = rows[:0].array().shape[1]
        least, most = np.full(d, np.nan), np.full(d, np.nan)
        missing, whole = np.zeros(d, dtype=np.int64), np.ones(d, dtype=bool)
        for _, block in blocks(rows):
            np.fmin(least, np.fmin.reduce(block, axis=0), out=least)
            np.fmax(most, np.fmax.reduce(block, axis=0), out=most)
            absent = np.isnan(block)
            missing += absent.sum(axis=0)
            whole &= (absent | (block == np.rint(block))).all(axis=0)
        return cls(least, most, missing, whole)

    def __add__(self, other: Ranges) -> Ranges:
        """Return the ranges of the rows of both."""
        return Ranges(
            np.fmin(self.least, other.least),
            np.fmax(self.most, other.most),
            self.missing + other.missing,
            self.whole & other.whole,
        )


def blocks(rows: Rows) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Give the numbers of rows as arrays of some rows each."""
    step = max(1, _CELLS // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        at = slice(start, min(start + step, len(rows)))
        yield at, rows[at].array()


def histograms(
    table: Rows,
    codes: NDArray[np.int32],
    n_classes: int,
    columns: Sequence[int],
    ranges: Ranges,
) -> list[dict[str, Any]]:
    """Count the cells of each class in bins of equal width, for some columns.

    A column of few whole numbers has a bin for each, and the number in its middle.
    """
    edges = [_edges(ranges, j) for j in columns]
    counts = [np.zeros((n_classes, n), dtype=np.int64) for _, _, n in edges]
    for rows, block in blocks(table):
        for j, (low, high, n), count in zip(columns, edges, counts, strict=True):
            x = block[:, j]
            present = ~np.isnan(x)
            at = np.clip((x[present] - low) / (high - low) * n, 0, n - 1).astype(np.int64)
            cells = np.bincount(codes[rows][present] * n + at, minlength=n_classes * n)
            count += cells.reshape(n_classes, n)
    return [
        {"edges": [low, high], "counts": count.tolist()}
        for (low, high, _), count in zip(edges, counts, strict=True)
    ]


def _edges(ranges: Ranges, j: int) -> tuple[float, float, int]:
    least, most = float(ranges.least[j]), float(ranges.most[j])
    if math.isnan(least):
        return 0.0, 1.0, 1
    has_halves = max(-least, most) < 2.0**52  # from there on, there is no number between whole ones
    if ranges.whole[j] and has_halves and most - least < 2 * _BINS:
        return least - 0.5, most + 0.5, int(most - least) + 1
    margin = 0.0 if most > least else abs(least) * 0.01 or 0.5
    return max(least - margin, -_LARGEST), min(most + margin, _LARGEST), _BINS


def slider(least: float, most: float, *, whole: bool) -> dict[str, float]:
    """Return a round range that holds a column's and some room, a round step, its decimals.

    The room is for what is beyond the data, as curves are, but it never crosses zero: what is
    never negative stays so. Whole numbers of a short range need no room, and a column without a
    cell has 0 to 1.
    """
    if math.isnan(least):
        return {"low": 0, "high": 1, "step": 0.01, "digits": 2}
    if whole and 0 < most - least <= 100:
        return {"low": int(least), "high": int(most), "step": 1, "digits": 0}
    reach = (most - least) / 2 if most > least else abs(least) / 2 or 0.5
    middle = least / 2 + most / 2
    step = _round_step(reach / 60)
    low = 5 * math.floor((middle - 1.15 * reach) / step / 5)
    high = 5 * math.ceil((middle + 1.15 * reach) / step / 5)
    if least < most or least != 0:  # a column of zeros alone has room on both sides
        low, high = max(low, 0) if least >= 0 else low, min(high, 0) if most <= 0 else high
    digits = max(0, -math.floor(math.log10(step)))
    return {
        "low": round(low * step, digits),
        "high": round(high * step, digits),
        "step": round(step, digits),
        "digits": digits,
    }


def _round_step(about: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a number."""
    power = 10.0 ** math.floor(math.log10(about))
    return float(power * max(m for m in (1, 2, 5) if m * power <= about * (1 + 1e-9)))
