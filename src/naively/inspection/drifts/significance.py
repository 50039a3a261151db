"""What several tests say together, and which of many are to be believed."""

from __future__ import annotations

import numpy as np

from naively.data.types import Floats


def least(*p_values: Floats) -> Floats:
    """Return the least of several p-values, times their number: Bonferroni's correction.

    Tests that could not be made are NaN and do not count.

    >>> least(np.array([0.01, np.nan]), np.array([0.5, np.nan]), np.array([np.nan, 0.2]))
    array([0.02, 0.2 ])
    """
    every = np.stack(p_values)
    made = np.sum(~np.isnan(every), axis=0)
    found = np.fmin.reduce(every, axis=0) * made
    return np.minimum(found, 1.0)


def adjusted(p: Floats) -> Floats:
    """Return p-values adjusted for their number by Benjamini and Hochberg; NaN stays NaN.

    >>> adjusted(np.array([0.01, np.nan, 0.04, 0.03])).round(3)
    array([0.03,  nan, 0.04, 0.04])
    """
    found, made = np.full(p.shape, np.nan), ~np.isnan(p)
    order = np.argsort(p[made])
    scaled = p[made][order] * order.size / np.arange(1, order.size + 1)
    adjusted_values = np.empty(order.size)
    adjusted_values[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    found[made] = adjusted_values
    return found
