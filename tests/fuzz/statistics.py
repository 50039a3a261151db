"""Sums, differences and multiples of summaries against exact fractions.

Rows are drawn by class, with offsets up to 1e9 spreads from zero and weights over many powers of
two. A summary is built by operations, and beside it the multiset of rows that it stands for; at
the end, the moments of those rows in fractions are the truth.
"""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from naively import summarize
from tests import oracles

N_COLUMNS = 2
EPS = np.finfo(float).eps
cells = st.integers(-1000, 1000).map(lambda n: n / 8) | st.floats(-1.0, 1.0) | st.just(np.nan)
weights = st.sampled_from([0.0, 1.0, 1.0, 2.0, 0.1, 1e-6, 2.0**-40, 1e5])
rows = st.tuples(st.sampled_from("abc"), weights, st.tuples(*[cells] * N_COLUMNS))
batches = st.lists(rows, max_size=12)
factors = st.sampled_from([0.0, 0.5, 1.0, 0.9, 3.0, 1e-3, 2.0**20])
steps = st.tuples(st.sampled_from(["add", "add", "take back", "scale"]), batches, factors)
CASES = st.tuples(
    st.sampled_from([0.0, 1.0, -1e3, 1e6, 2.0**30, 1e9]), st.lists(steps, min_size=1, max_size=6)
)


def measured(batch, offset):
    X = np.array([[cell + offset for cell in row[2]] for row in batch]).reshape(-1, N_COLUMNS)
    y = np.array([label for label, *_ in batch], dtype="<U1")
    return summarize(X, y, sample_weight=np.array([weight for _, weight, _ in batch], float))


def check(case):
    """Add, scale, and take the last batch back, in both worlds; then compare them."""
    offset, operations = case
    summary, truth, lost = measured([], offset), [], [Fraction(0)]
    last = None  # a batch can be taken back while nothing has been scaled since
    for name, batch, factor in operations:
        if name == "add":
            part = measured(batch, offset)
            summary, last = summary + part, (part, len(truth))
            truth += [(y, Fraction(w), x) for y, w, x in batch if w > 0]
        elif name == "scale":
            summary, last = factor * summary, None
            truth = [(y, w * Fraction(factor), x) for y, w, x in truth if factor]
            lost = [w * Fraction(factor) for w in lost]  # what rounding took is scaled, too
        elif last is not None:
            lost.append(weight_of(truth))
            summary, truth, last = summary - last[0], truth[: last[1]], None
    lost.append(weight_of(truth))
    compare(summary, truth, offset, float(max(lost)))


def weight_of(truth):
    """Return the sum of weights, by which a difference is as exact as what was there before."""
    return sum((w for _, w, _ in truth), Fraction(0))


def compare(summary, truth, offset, heaviest):
    """Compare with fractions, to ulps of what was summed.

    Every operation rounds a weight to half an ulp of it, a mean to an ulp of the largest cell,
    and m2 to some ulps of itself and of weight times spread times an ulp of the cells.
    """
    assert {y for y, _, _ in truth} <= set(summary.classes.tolist())
    for k, label in enumerate(summary.classes.tolist()):
        for j in range(N_COLUMNS):
            present = [
                (Fraction(x[j] + offset), w)
                for y, w, x in truth
                if y == label and not np.isnan(x[j])
            ]
            compare_cell(summary.moments, (k, j), exact(present), heaviest, abs(offset) + 125)


def exact(present):
    weight = sum((w for _, w in present), Fraction(0))
    if not weight:
        return oracles.NOTHING
    mean = sum(w * x for x, w in present) / weight
    return oracles.Exact(weight, mean, sum(w * (x - mean) ** 2 for x, w in present))


def compare_cell(moments, at, truth, heaviest, size):
    weight, mean, m2 = (float(part[at]) for part in (moments.weight, moments.mean, moments.m2))
    assert np.isfinite([weight, mean, m2]).all()
    assert weight >= 0
    assert m2 >= 0
    ulp = 64 * EPS * heaviest
    assert abs(weight - float(truth.weight)) <= ulp, (weight, float(truth.weight))
    if truth.weight > 0 and weight > 0:
        worse = heaviest / float(truth.weight)  # what a difference has cancelled
        assert abs(mean - float(truth.mean)) <= 64 * EPS * size * worse, (mean, float(truth.mean))
        spread = 250.0
        bound = 64 * EPS * heaviest * (spread**2 + spread * EPS * size * worse) + ulp * spread**2
        assert abs(m2 - float(truth.m2)) <= bound, (m2, float(truth.m2))
