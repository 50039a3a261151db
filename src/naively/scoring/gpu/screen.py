r"""The kernel that scores Gaussian rows by matrix products, and says which rows are in doubt.

.. math:: s_k = c_k + \sum_j b_{kj} z_j + q_{kj} z_j^2, \qquad z_j = (x_j - o_j)\, t_j

Numbers are written as sums of two float16, of which labels need the first alone. The last class
is none: its score is a bound of the error of the others. Rows of which a bound is too large, or
anything is not finite, are listed, to be scored in float64.
"""

# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources

__all__ = ["OutOfResources", "score_rows"]


@triton.jit
def _products(x, o, t, b1, b2, q1, q2, EXACT: tl.constexpr):
    z = (x.to(tl.float32) - o) * t
    y = z * z
    z1, y1 = z.to(tl.float16), y.to(tl.float16)
    s = tl.dot(y1, q1, tl.dot(z1, b1))
    if EXACT:
        z2, y2 = (z - z1.to(tl.float32)).to(tl.float16), (y - y1.to(tl.float32)).to(tl.float16)
        rest = tl.dot(z2, b1, tl.dot(z1, b2))
        s += tl.dot(y2, q1, tl.dot(y1, q2, rest))
    return s


@triton.jit
def score_rows(
    X, row_step, column_step, columns_of, linear, square, constant, limits, names,
    out, doubtful, count, n, d, K, width, n_tiles,
    EXACT: tl.constexpr, ONE: tl.constexpr, R: tl.constexpr, C: tl.constexpr, P: tl.constexpr,
):  # fmt: skip
    """Write labels, or probabilities if EXACT, and list the rows that are doubtful."""
    columns, classes = tl.arange(0, C), tl.arange(0, P)
    c = tl.load(constant + classes)[None, :]
    unit, limit = tl.load(limits), tl.load(limits + 1)
    size = width * P  # of a table of weights
    column_step = tl.cast(column_step, tl.int64)
    if ONE:
        inside = (columns < d)[None, :]
        o = tl.load(columns_of + columns)[None, :]
        t = tl.load(columns_of + width + columns)[None, :]
        at = columns[:, None] * P + classes[None, :]
        b1, q1 = tl.load(linear + at), tl.load(square + at)
        b2, q2 = tl.load(linear + size + at), tl.load(square + size + at)
    for tile in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        rows = (tl.full([R], 0, tl.int64) + tile) * R + tl.arange(0, R)
        there = rows < n
        line = X + rows[:, None] * row_step
        if ONE:
            x = tl.load(line + columns[None, :] * column_step, there[:, None] & inside, 0.0)
            s = c + _products(x, o, t, b1, b2, q1, q2, EXACT)
        else:
            s = tl.full([R, P], 0.0, tl.float32) + c
            for begin in range(0, d, C):
                j = begin + columns
                x = tl.load(line + j[None, :] * column_step, there[:, None] & (j < d)[None, :], 0.0)
                o = tl.load(columns_of + j)[None, :]
                t = tl.load(columns_of + width + j)[None, :]
                at = j[:, None] * P + classes[None, :]
                b1, q1 = tl.load(linear + at), tl.load(square + at)
                b2, q2 = tl.load(linear + size + at), tl.load(square + size + at)
                s += _products(x, o, t, b1, b2, q1, q2, EXACT)
        error = unit * tl.sum(tl.where(classes[None, :] == P - 1, s, 0.0), 1)
        s = tl.where(classes[None, :] < K, s, float("-inf"))
        best = tl.max(s, 1)
        if EXACT:
            power = tl.exp(s - best[:, None])
            p = power / tl.sum(power, 1)[:, None]
            sure = error < limit
            cells = out + rows[:, None] * K + classes[None, :]
            tl.store(cells, p, there[:, None] & (classes < K)[None, :])
        else:
            label = tl.argmax(s, 1)
            second = tl.max(tl.where(classes[None, :] == label[:, None], float("-inf"), s), 1)
            sure = best - second > 2.0 * error
            tl.store(out + rows, tl.load(names + label), there)
        doubt = there & ~(sure & (error < float("inf")) & (best > float("-inf")))
        found = doubt.to(tl.int32)
        n_found = tl.sum(found, 0)
        if n_found > 0:
            place = tl.atomic_add(count, n_found)
            tl.store(doubtful + place + tl.cumsum(found, 0) - found, rows, doubt)
