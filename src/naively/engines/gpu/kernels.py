# mypy: ignore-errors
r"""The kernels that measure and score rows on a GPU, in Triton.

*Moments.* Rows come in an order in which those of a class stand together. Each program reads an
equal part of that order and adds up, class by class, in float64 and in a fixed order, so that the
sums are the same bits each time. The sums of part p in class k stand in line p + k: as both only
grow along the order, no two share a line.

The order is of int64. Where there are fewer than 2^31 rows, it is read as int32 in steps of two.
Columns are FAR apart where the last begins 2^31 cells or more after the first.

*Forms.* In float64, each of the five adds its terms to a table of rows and classes.

*Screen.* Gaussian rows are scored by matrix products, and those in doubt are told:

.. math:: s_k = c_k + \sum_j b_{kj} z_j + q_{kj} z_j^2, \qquad z_j = (x_j - o_j)\, t_j

Numbers are written as sums of two float16, of which labels need the first alone. The last class
is none: its score is a bound of the error of the others. Rows of which a bound is too large, or
anything is not finite, are listed, to be scored in float64.
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources as OutOfResources  # what launches raise

# --- Moments --------------------------------------------------------------------------------------


# Triton compiles these functions: their arguments have no types, and constants are arguments.


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


# --- Forms: each adds its terms to a table of rows and classes ------------------------------------


@triton.jit
def _column(X, rows, row_step, column, column_step, there, HALF: tl.constexpr):
    x = tl.load(X + rows * row_step + tl.cast(column, tl.int64) * column_step, there, 0.0)
    if HALF:
        x = x.to(tl.float32)
    return x.to(tl.float64)


@triton.jit
def _begun(constant, cells, inside, ks, K, FIRST: tl.constexpr):
    """Return the scores so far: the constants of the classes, before the FIRST form."""
    if FIRST:
        return tl.where(inside, tl.load(constant + ks, ks < K, 0.0)[None, :], 0.0)
    else:  # noqa: RET505
        return tl.load(cells, inside, 0.0)


@triton.jit
def add_terms(
    X, row_step, column_step, index, at, A, B, mu, s, weight, constant, joint, n, m, K,
    FIRST: tl.constexpr, FORM: tl.constexpr, CENTRED: tl.constexpr, HALF: tl.constexpr,
    R: tl.constexpr, P: tl.constexpr,
):  # fmt: skip
    """Add the terms of quadratics, students and lines, by row, column and class.

    Of lines, ``mu`` holds the lowest cell, and ``s`` the step above which a cell is 1.
    """
    i = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)
    there = i < n
    rows = tl.load(index + i, there, -1)
    there = rows >= 0
    ks = tl.program_id(1) * P + tl.arange(0, P)
    inside = ks < K
    cells = joint + i[:, None] * K + ks[None, :]
    total = _begun(constant, cells, there[:, None] & inside[None, :], ks, K, FIRST)
    for j in range(tl.where(tl.max(rows, 0) < 0, 0, m)):  # nothing to do where no row is there
        x = _column(X, rows, row_step, tl.load(at + j), column_step, there, HALF)[:, None]
        a = tl.load(A + j * K + ks, inside, 0.0)[None, :]
        b = tl.load(B + j * K + ks, inside, 0.0)[None, :]
        if FORM == "lines":
            term = tl.where(x >= tl.load(mu), a + b * x, 0.0)
            term = tl.where(x - x == 0.0, term, x - x)  # NaN at infinity
        elif FORM == "steps":
            term = a + tl.where(x > tl.load(s), b, 0.0)
            term = tl.where(x - x == 0.0, term, x - x)  # NaN at infinity
        else:
            z = x - tl.load(mu + j * K + ks, inside, 0.0)[None, :]
            z = z * tl.load(s + j * K + ks, inside, 0.0)[None, :]
            term = a - b * tl.log(1.0 + z * z) if FORM == "students" else a - z * b * z
        term = tl.where(x == x, term, 0.0)
        if CENTRED:
            mean = tl.sum(tl.where(inside[None, :], term, 0.0), 1) / K
            term = (term - mean[:, None]) * tl.load(weight + j * K + ks, inside, 0.0)[None, :]
        total += term
    tl.store(cells, total, there[:, None] & inside[None, :])


@triton.jit
def add_pieces(
    X, row_step, column_step, index, at, knots, values, constant, joint, n, m, K, n_knots, n_steps,
    FIRST: tl.constexpr, HALF: tl.constexpr, R: tl.constexpr, P: tl.constexpr,
):  # fmt: skip
    """Add values between knots, found by halving: flat before the first and after the last."""
    i = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)
    there = i < n
    rows = tl.load(index + i, there, -1)
    there = rows >= 0
    ks = tl.program_id(1) * P + tl.arange(0, P)
    inside = there[:, None] & (ks < K)[None, :]
    cells = joint + i[:, None] * K + ks[None, :]
    total = _begun(constant, cells, inside, ks, K, FIRST)
    for j in range(m):
        x = _column(X, rows, row_step, tl.load(at + j), column_step, there, HALF)
        low = tl.full([R], 0, tl.int64)  # how many knots are below x
        high = low + n_knots
        for _ in range(n_steps):
            middle = (low + high) // 2
            below = tl.load(knots + j * n_knots + middle, middle < n_knots, float("inf")) < x
            low, high = tl.where(below, middle + 1, low), tl.where(below, high, middle)
        first = tl.maximum(low - 1, 0)
        second = tl.minimum(low, n_knots - 1)
        a = tl.load(knots + j * n_knots + first)
        way = 0.5 * tl.load(knots + j * n_knots + second) - 0.5 * a
        share = tl.where(second > first, (0.5 * x - 0.5 * a) / tl.where(way > 0.0, way, 1.0), 0.0)
        share = tl.where(x - x == 0.0, share, x - x)  # NaN at infinity
        start = tl.load(values + ((j * n_knots + first) * K)[:, None] + ks[None, :], inside, 0.0)
        end = tl.load(values + ((j * n_knots + second) * K)[:, None] + ks[None, :], inside, 0.0)
        term = start + share[:, None] * (end - start)
        total += tl.where((x == x)[:, None], term, 0.0)
    tl.store(cells, total, inside)


@triton.jit
def add_tables(
    X, row_step, column_step, index, offsets, values, constant, joint, n, m, K,
    FIRST: tl.constexpr, HALF: tl.constexpr, R: tl.constexpr, P: tl.constexpr,
):  # fmt: skip
    """Add values of codes; one that was never seen has the last. A negative one makes it NaN."""
    i = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)
    there = i < n
    rows = tl.load(index + i, there, -1)
    there = rows >= 0
    ks = tl.program_id(1) * P + tl.arange(0, P)
    inside = there[:, None] & (ks < K)[None, :]
    cells = joint + i[:, None] * K + ks[None, :]
    total = _begun(constant, cells, inside, ks, K, FIRST)
    for j in range(m):
        x = _column(X, rows, row_step, j, column_step, there, HALF)
        start = tl.load(offsets + j)
        last = tl.load(offsets + j + 1) - start - 1
        known = (x > -1.0) & (x < last.to(tl.float64))  # codes are whole parts
        code = start + tl.where(known, tl.where(known, x, 0.0).to(tl.int64), last)
        term = tl.load(values + code[:, None] * K + ks[None, :], inside, 0.0)
        odd = (x <= -1.0) | (tl.abs(x) == float("inf"))
        term = tl.where(odd[:, None], float("nan"), term)
        total += tl.where((x == x)[:, None], term, 0.0)
    tl.store(cells, total, inside)


@triton.jit
def finish(
    joint, possible, names, index, out, bad, n_bad, n, K,
    WANT: tl.constexpr, R: tl.constexpr, P: tl.constexpr,
):  # fmt: skip
    """Write what is wanted of rows, and list those of which a score is no ordinary number."""
    i = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)
    there = i < n
    rows = tl.load(index + i, there, -1)
    there = rows >= 0
    best = tl.full([R], float("-inf"), tl.float64)
    label = tl.full([R], 0, tl.int64)
    odd = tl.full([R], 0, tl.int32)
    for first in range(0, K, P):
        ks = first + tl.arange(0, P)
        inside = there[:, None] & (ks < K)[None, :]
        s = tl.load(joint + i[:, None] * K + ks[None, :], inside, float("-inf"))
        can = tl.load(possible + ks, ks < K, 0)[None, :] > 0
        odd += tl.sum((inside & ((s != s) | (can & (tl.abs(s) > 1e290)))).to(tl.int32), 1)
        s = tl.where(s == s, s, float("-inf"))
        top = tl.max(s, 1)
        at = first + tl.argmax(s, 1)
        label = tl.where(top > best, at.to(tl.int64), label)
        best = tl.maximum(top, best)
    strange = (there & ((odd > 0) | ~(best > float("-inf")))).to(tl.int32)
    if tl.sum(strange, 0) > 0:
        place = tl.atomic_add(n_bad, tl.sum(strange, 0))
        tl.store(bad + place + tl.cumsum(strange, 0) - strange, rows, strange > 0)
    best = tl.where(best > float("-inf"), best, 0.0)
    if WANT == "labels":
        tl.store(out + rows, tl.load(names + label, there, 0), there)
    else:
        total = tl.full([R], 0.0, tl.float64)
        for first in range(0, K, P):
            ks = first + tl.arange(0, P)
            inside = there[:, None] & (ks < K)[None, :]
            s = tl.load(joint + i[:, None] * K + ks[None, :], inside, float("-inf"))
            total += tl.sum(tl.exp(s - best[:, None]), 1)
        evidence = best + tl.log(total)
        if WANT == "evidence":
            tl.store(out + rows, evidence, there)
        else:
            for first in range(0, K, P):
                ks = first + tl.arange(0, P)
                inside = there[:, None] & (ks < K)[None, :]
                s = tl.load(joint + i[:, None] * K + ks[None, :], inside, float("-inf"))
                if WANT == "proba":
                    s = tl.exp(s - best[:, None]) / total[:, None]
                elif WANT == "log_proba":
                    s = s - evidence[:, None]
                tl.store(out + rows[:, None] * K + ks[None, :], s, inside)


# --- Gaussian rows by matrix products -------------------------------------------------------------


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
