"""The kernels that measure rows on a GPU, in Triton.

Rows come in an order in which those of a class stand together. Each program reads an equal part of
that order and adds up, class by class, in float64 and in a fixed order, so that the sums are the
same bits each time. The sums of part p in class k stand in line p + k: as both only grow along the
order, no two share a line.

The order is of int64. Where there are fewer than 2^31 rows, it is read as int32 in steps of two.
Columns are FAR apart where the last begins 2^31 cells or more after the first.
"""

# Triton compiles these functions: their arguments have no types, and constants are arguments.
# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def read_cells(X, row, row_step, columns, column_step, there, HALF: tl.constexpr):
    """Return cells of rows and columns; of those that are not there, zeros."""
    x = tl.load(X + row[:, None] * row_step + columns[None, :] * column_step, there, 0.0)
    return x.to(tl.float32) if HALF else x


@triton.jit
def first_cells(
    X, row_step, column_step, weights, order, starts, origin, d,
    HALF: tl.constexpr, WEIGHTED: tl.constexpr, STEP: tl.constexpr, FAR: tl.constexpr,
    LOOK: tl.constexpr, C: tl.constexpr,
):  # fmt: skip
    """Write the first cell of each class and column that is present among its first rows; or 0."""
    k = tl.program_id(0)
    columns = tl.program_id(1) * C + tl.arange(0, C)
    if FAR:
        columns = columns.to(tl.int64)
    at = tl.arange(0, LOOK)
    start, end = tl.load(starts + k), tl.load(starts + k + 1)
    row = tl.load(order + STEP * (start + at), start + at < end, 0).to(tl.int64)
    seen = start + at < end
    if WEIGHTED:
        seen = seen & (tl.load(weights + row) > 0.0)
    there = seen[:, None] & (columns < d)[None, :]
    x = read_cells(X, row, row_step, columns, column_step, there, HALF).to(tl.float64)
    first = tl.min(tl.where(there & (x == x), at[:, None], LOOK), 0)
    found = tl.sum(tl.where(at[:, None] == first[None, :], x, 0.0), 0)
    tl.store(origin + k * d + columns, found, columns < d)


@triton.jit
def _added(
    x, row, weights, there, o, s0, s1, s2,
    MISSING: tl.constexpr, WEIGHTED: tl.constexpr, TAIL: tl.constexpr,
):  # fmt: skip
    z = x.to(tl.float64) - o
    if MISSING:
        there = there & (x == x)
    if WEIGHTED:
        w = tl.load(weights + row)[:, None]
        there = there & (w > 0.0)
    if MISSING or TAIL:
        z = tl.where(there, z, 0.0)
    if WEIGHTED:
        return s0 + tl.where(there, w, 0.0), s1 + w * z, s2 + w * z * z
    if MISSING:
        s0 += there.to(tl.int32)
    return s0, s1 + z, s2 + z * z


@triton.jit
def _class_of(starts, place, n_classes, n_steps):
    """Return the class of a place in the order, by halving; the last one beyond the end."""
    low = place * 0  # how many classes begin before or there
    high = low + n_classes
    for _ in range(n_steps):
        middle = (low + high) // 2
        after = tl.load(starts + middle) > place
        high = tl.where(after, middle, high)
        low = tl.where(after | (low == high), low, middle + 1)
    return tl.minimum(low, n_classes) - 1


@triton.jit
def sum_parts(
    X, row_step, column_step, weights, order, starts, origin, parts,
    n, d, length, n_classes, n_steps,
    MISSING: tl.constexpr, HALF: tl.constexpr, WEIGHTED: tl.constexpr, STEP: tl.constexpr,
    FAR: tl.constexpr, R: tl.constexpr, C: tl.constexpr,
):  # fmt: skip
    """Write weight, sum and sum of squares of deviations from the origin, by part and class.

    Four tiles are read before any is added, so that enough of memory is on its way. Where no cell
    may be MISSING, one that is makes the sums NaN, and weights are not written.
    """
    p = tl.program_id(0)
    columns = tl.program_id(1) * C + tl.arange(0, C)
    if FAR:
        columns = columns.to(tl.int64)
    inside = (columns < d)[None, :]
    start = p.to(tl.int64) * length
    end = tl.minimum(start + length, n)
    last = _class_of(starts, tl.maximum(end - 1, 0), n_classes, n_steps)
    for k in range(_class_of(starts, start, n_classes, n_steps), last + 1):
        begin = tl.maximum(start, tl.load(starts + k))
        stop = tl.maximum(begin, tl.minimum(end, tl.load(starts + k + 1)))
        if STEP == 2:
            begin, stop = begin.to(tl.int32), stop.to(tl.int32)
        o = tl.load(origin + k * d + columns, columns < d, 0.0)[None, :]
        s1 = tl.full([R, C], 0.0, tl.float64)
        s2 = s1
        s0 = tl.full([R, C], 0, tl.float64 if WEIGHTED else tl.int32)
        whole = begin + (stop - begin) // (4 * R) * (4 * R)
        for i in range(begin, whole, 4 * R):
            at = order + STEP * (i + tl.arange(0, R))
            r0, r1 = tl.load(at).to(tl.int64), tl.load(at + STEP * R).to(tl.int64)
            r2 = tl.load(at + 2 * STEP * R).to(tl.int64)
            r3 = tl.load(at + 3 * STEP * R).to(tl.int64)
            x0 = read_cells(X, r0, row_step, columns, column_step, inside, HALF)
            x1 = read_cells(X, r1, row_step, columns, column_step, inside, HALF)
            x2 = read_cells(X, r2, row_step, columns, column_step, inside, HALF)
            x3 = read_cells(X, r3, row_step, columns, column_step, inside, HALF)
            s0, s1, s2 = _added(x0, r0, weights, True, o, s0, s1, s2, MISSING, WEIGHTED, False)
            s0, s1, s2 = _added(x1, r1, weights, True, o, s0, s1, s2, MISSING, WEIGHTED, False)
            s0, s1, s2 = _added(x2, r2, weights, True, o, s0, s1, s2, MISSING, WEIGHTED, False)
            s0, s1, s2 = _added(x3, r3, weights, True, o, s0, s1, s2, MISSING, WEIGHTED, False)
        for i in range(whole, stop, R):
            at = i + tl.arange(0, R)
            row = tl.load(order + STEP * at, at < stop, 0).to(tl.int64)
            there = (at < stop)[:, None] & inside
            x = read_cells(X, row, row_step, columns, column_step, there, HALF)
            s0, s1, s2 = _added(x, row, weights, there, o, s0, s1, s2, MISSING, WEIGHTED, True)
        line = parts + (p + k).to(tl.int64) * 3 * d + columns
        if MISSING:
            tl.store(line, tl.sum(s0, 0).to(tl.float64), columns < d)
        tl.store(line + d, tl.sum(s1, 0), columns < d)
        tl.store(line + 2 * d, tl.sum(s2, 0), columns < d)


@triton.jit
def add_parts(parts, starts, sums, d, length, R: tl.constexpr, C: tl.constexpr):
    """Add the parts of each class up, in their order."""
    k = tl.program_id(0)
    columns = tl.program_id(1) * C + tl.arange(0, C)  # of weights, sums and squares together
    inside = (columns < 3 * d)[None, :]
    start, end = tl.load(starts + k), tl.load(starts + k + 1)
    total = tl.full([R, C], 0.0, tl.float64)
    last = tl.where(end > start, (end - 1) // length, -1)
    for i in range(start // length, last + 1, R):
        p = i + tl.arange(0, R)
        lines = parts + (p + k)[:, None] * 3 * d + columns[None, :]
        total += tl.load(lines, (p <= last)[:, None] & inside, 0.0)
    tl.store(sums + k * 3 * d + columns, tl.sum(total, 0), columns < 3 * d)
