"""The sum of batches is that of ``+``, whatever waits."""

import numpy as np
import pytest

from naively import summarize
from naively.data.schema import Schema
from naively.engines.files.piece_summary import BatchSum


@pytest.mark.parametrize("size", [0, 5, 1000], ids=lambda n: f"a sample of {n}")
def test_batches_add_up_as_by_plus(size):
    rng = np.random.default_rng(0)
    schema = Schema(2, sample=size)
    X, y = rng.integers(9, size=(400, 2)).astype(float), rng.integers(3, size=400)
    y[:50] = 0  # then there are more classes
    total, expected = BatchSum(schema), summarize(X[:0], y[:0], schema=schema)
    for start in range(0, 400, 20):
        part = summarize(X[start : start + 20], y[start : start + 20], schema=schema)
        total.add(part)
        expected = expected + part
    assert total.total() == expected
    assert expected.sample is None or total.bound == expected.sample.bound


def test_a_sum_of_no_batches_is_zero():
    assert BatchSum(Schema(2)).total() == summarize(np.empty((0, 2)), np.empty(0, int))
