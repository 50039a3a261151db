"""The kernels of the five forms, in float64: each adds its terms to a table of rows and classes."""

# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl


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
