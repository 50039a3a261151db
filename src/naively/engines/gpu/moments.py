r"""Moments of rows on a GPU: weight, mean and squared deviations, in float64 whatever the input.

Cells are measured from an origin of their class and column, the first cell that is present:

.. math:: \bar x = o + \frac{s_1}{s_0}, \qquad m_2 = s_2 - \frac{s_1^2}{s_0}

where :math:`s_i = \sum w (x - o)^i`. The difference loses the digits that :math:`s_2 / m_2` has
before its point; where these are more than three, as after a first cell that is an outlier, the
rows are read again with the means as origins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from naively.data.types import Floats
from naively.engines.gpu.rows import DeviceRows, DeviceTargets
from naively.engines.memory.devices import numpy_of, power_of_two, processors, sent, torch_for
from naively.statistics.moments import sum_and_rest

_LOOK = 32  # rows of a class among which the first present cell is looked for
_MOST_LOST = 1e3  # of s2 / m2
_PARTS = 16  # for each multiprocessor
_TILE = 1024  # cells of a tile


def measured(X: DeviceRows, targets: DeviceTargets) -> tuple[Floats, Floats | None]:
    """Return the weight of each class, and its moments; None where those are not finite."""
    torch = torch_for("measuring rows on a GPU")
    with torch.cuda.device_of(X.tensor), np.errstate(all="ignore"):  # the interpreter uses NumPy
        sums = _sums(X.tensor, targets, missing=targets.weights is not None)
        if not np.isfinite(sums.values).all():
            sums = _sums(X.tensor, targets, missing=True)
        found = _moments(sums)
        lost = found[2] * _MOST_LOST < sums.values[:, 2]
        if lost.any() and np.isfinite(found).all():
            found = _moments(_sums(X.tensor, targets, missing=True, origin=found[1]))
        weight = sums.n_rows
        if targets.weights is not None:
            zero, unweighted = np.zeros((weight.size, 1)), targets._replace(weights=None)
            total = _sums(targets.weights[:, None], unweighted, missing=True, origin=zero)
            weight = total.values[:, 1, 0]
    return weight, found if np.isfinite(found).all() else None


class OriginSums(NamedTuple):
    """Sums about origins, by class and column, and how many rows each class has."""

    values: Floats  # by class: weights, sums and sums of squares, by column
    origin: Floats
    n_rows: Floats


def _moments(sums: OriginSums) -> Floats:
    """Return weight, mean, m2 and rest."""
    weight, s1, s2 = sums.values[:, 0], sums.values[:, 1], sums.values[:, 2]
    step = s1 / np.where(weight > 0, weight, 1.0)  # without a cell, origin and sums are 0
    mean, rest = sum_and_rest(sums.origin, step)
    return np.stack([weight, mean, np.maximum(s2 - s1 * step, 0.0), rest])


def _sums(
    X: Any, targets: DeviceTargets, *, missing: bool, origin: Floats | None = None
) -> OriginSums:
    """Read all rows. Where no cell is missing, that is sooner done; else sums are NaN."""
    from naively.engines.gpu import kernels

    torch = torch_for("measuring rows on a GPU")
    _, order, starts, weights = targets
    (n, d), n_classes, device = X.shape, targets.classes.size, X.device
    half = X.dtype.itemsize == 2
    C = min(64, power_of_two(d))
    R, blocks = _TILE // C, -(-d // C)
    short = n < 1 << 31
    order = order.view(torch.int32) if short else order
    far = d * X.stride(1) >= 1 << 31
    sizes = {"HALF": half, "WEIGHTED": weights is not None, "STEP": 1 + short, "FAR": far, "C": C}
    given = X, *X.stride(), order if weights is None else weights, order, starts
    begin = torch.empty((n_classes, d), dtype=torch.float64, device=device)
    if origin is None:
        kernels.first_cells[n_classes, blocks](*given, begin, d, LOOK=_LOOK, **sizes)
    else:
        begin = sent(origin, device)
    n_parts = max(1, min(_PARTS * processors(device), -(-n // (4 * R))))
    length = -(-n // n_parts)
    parts = torch.empty((n_parts + n_classes, 3, d), dtype=torch.float64, device=device)
    sums = torch.empty((n_classes, 3, d), dtype=torch.float64, device=device)
    cuts = begin, parts, n, d, length, n_classes, n_classes.bit_length() + 1
    sizes |= {"MISSING": missing, "R": R}
    kernels.sum_parts[n_parts, blocks](*given, *cuts, num_warps=8, **sizes)
    kernels.add_parts[n_classes, -(-3 * d // 64)](parts, starts, sums, d, length, R=32, C=64)
    both = numpy_of(torch.cat([sums.ravel(), begin.ravel(), starts.to(torch.float64)]))
    values, at = both[: 3 * begin.numel()], both[3 * begin.numel() : 4 * begin.numel()]
    n_rows = np.diff(both[4 * begin.numel() :])
    found = OriginSums(values.reshape(sums.shape), at.reshape(begin.shape), n_rows)
    if not missing:
        found.values[:, 0] = n_rows[:, np.newaxis]
    return found
