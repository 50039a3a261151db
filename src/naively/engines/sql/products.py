r"""The scatter of all columns of numbers, by sums of products inside the database.

.. math:: C_{ij} = \sum w\,d_i d_j - N\,\bar d_i \bar d_j, \qquad d = x - a

where a is the mean of a column over all classes, with missing cells as the schema's centres, and
:math:`\bar d` the mean of a class, both of which its moments tell. What is lost to rounding is
about :math:`1 + \bar d^2 / s^2` times that of the sum, for a standard deviation s. A query has some
hundred sums, so that a table of p columns takes :math:`p (p + 1) / 1200` scans.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.engines.sql.execute import class_places, execute, floats
from naively.engines.sql.selection import Selection, finite
from naively.engines.sql.sums import SCALE, TINY, not_tiny
from naively.statistics import Moments, Scatter

_SUMS = 600  # of one query


def measure_scatter(
    rows: Selection, classes: NDArray[Any], weight: Floats, moments: Moments
) -> Scatter:
    """Return the scatter of classes, whose weights and moments are known."""
    centres, seen = np.array(rows.schema.centres, dtype=np.float64), weight > 0
    N = np.where(seen, weight, 1.0)[:, np.newaxis]
    present = moments.weight / N
    of_classes = present * ((moments.mean - centres) + moments.rest)  # from the centres
    shift = weight @ of_classes / max(weight.sum(), np.finfo(float).tiny)
    a = np.array([float(f"{value:.15g}") for value in centres + shift])  # as the database reads it
    gap = centres - a
    mean = present * ((moments.mean - a) + moments.rest) + (1 - present) * gap
    pooled = moments.pooled()
    spread = np.sqrt(pooled.m2 / np.maximum(pooled.weight, np.finfo(float).tiny))
    scale = np.where((spread < TINY) & (np.abs(gap) < TINY), SCALE, 1.0)
    left, right = np.triu_indices(centres.size)
    pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    products = np.zeros((classes.size, len(pairs)))
    for start in range(0, len(pairs), _SUMS):
        some = pairs[start : start + _SUMS]
        result = execute(_query(rows, some, a, gap, scale))
        at = class_places(result, classes)
        for i in range(len(some)):
            products[at, start + i] = np.nan_to_num(floats(result, f"p{i}"))
    products = products / scale[left] / scale[right]
    products -= N * mean[:, left] * mean[:, right]
    products[:, left == right] = np.maximum(products[:, left == right], 0.0)
    mean -= gap
    mean[~seen], products[~seen] = 0.0, 0.0
    return Scatter(np.where(seen, weight, 0.0), mean, products)


def _query(
    rows: Selection, pairs: list[tuple[int, int]], a: Floats, gap: Floats, scale: Floats
) -> Any:
    """Return a query for the sums of products of some pairs of columns."""
    columns = sorted({column for pair in pairs for column in pair})
    table = rows.select(f"x{i}" for i in columns)
    differences = {
        f"d{i}": finite(
            table[f"x{i}"], not_tiny((table[f"x{i}"] - float(a[i])) * float(scale[i]))
        ).fill_null(float(gap[i] * scale[i]))
        for i in columns
    }
    table = table.mutate(**differences)
    products = [table[f"d{i}"] * table[f"d{j}"] for i, j in pairs]
    if rows.weight is not None:
        products = [table.w * product for product in products]
    return table.group_by("y").aggregate(**{f"p{i}": d.sum() for i, d in enumerate(products)})
